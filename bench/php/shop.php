<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// A shop's API: money, carts, rules for prices, events that are replayed, an index to search in, stock, invoices as text and CSV.
namespace Held\Shop;

final class Money implements \JsonSerializable
{
    private static array $known = [];

    private function __construct(private int $cents, private string $currency)
    {
    }

    public static function of(int $cents, string $currency = 'EUR'): self
    {
        return $cents < 100 ? self::$known[$currency][$cents] ??= new self($cents, $currency) : new self($cents, $currency);
    }

    public function plus(self ...$others): self
    {
        $sum = $this->cents;
        foreach ($others as $other) {
            if ($other->currency !== $this->currency)
                throw new \DomainException("$other->currency is not $this->currency");
            $sum += $other->cents;
        }
        return self::of($sum, $this->currency);
    }

    public function times(int|float $n): self
    {
        return self::of((int) round($this->cents * $n), $this->currency);
    }

    public function cents(): int
    {
        return $this->cents;
    }

    public function __toString(): string
    {
        return ($this->cents < 0 ? '-' : '') . intdiv(abs($this->cents), 100) . '.' . str_pad((string) (abs($this->cents) % 100), 2, '0', STR_PAD_LEFT) . " $this->currency";
    }

    public function jsonSerialize(): array
    {
        return ['amount' => $this->cents, 'currency' => $this->currency];
    }
}

enum Kind: string
{
    case Book = 'book';
    case Music = 'music';
    case Tool = 'tool';

    public function tax(): float
    {
        return match ($this) { self::Book => 0.07, self::Music, self::Tool => 0.19 };
    }
}

final class Product
{
    public function __construct(public string $sku, public string $name, public Kind $kind, public Money $price, public string $about)
    {
    }
}

abstract class Rule
{
    /** @param array<string, Line> $lines */
    abstract public function apply(array $lines, Money $sum): ?Money;

    public function name(): string
    {
        return strtolower(preg_replace('/.*\\\\/', '', static::class));
    }
}

final class Volume extends Rule
{
    public function apply(array $lines, Money $sum): ?Money
    {
        $off = Money::of(0);
        foreach ($lines as $line)
            if ($line->quantity >= 5)
                $off = $off->plus($line->total()->times(-0.1));
        return $off->cents() ? $off : null;
    }
}

final class Threshold extends Rule
{
    public function __construct(private int $from, private float $part)
    {
    }

    public function apply(array $lines, Money $sum): ?Money
    {
        return $sum->cents() >= $this->from ? $sum->times(-$this->part) : null;
    }
}

final class Bundle extends Rule
{
    private array $kinds;

    public function __construct(Kind ...$kinds)
    {
        $this->kinds = $kinds;
    }

    public function apply(array $lines, Money $sum): ?Money
    {
        $have = [];
        foreach ($lines as $line)
            $have[$line->product->kind->value] = true;
        foreach ($this->kinds as $kind)
            if (!isset($have[$kind->value]))
                return null;
        return Money::of(-500);
    }
}

final class Line
{
    public function __construct(public readonly Product $product, public int $quantity)
    {
    }

    public function total(): Money
    {
        return $this->product->price->times($this->quantity);
    }
}

final class Cart implements \Countable, \IteratorAggregate
{
    /** @var array<string, Line> */
    private array $lines = [];
    /** @var list<array{string, array}> */
    private array $events = [];

    public static function replay(iterable $events, Catalogue $catalogue): self
    {
        $cart = new self();
        foreach ($events as [$type, $data])
            $cart->on($type, $data, $catalogue);
        return $cart;
    }

    public function record(string $type, array $data, Catalogue $catalogue): void
    {
        $this->on($type, $data, $catalogue);
        $this->events[] = [$type, $data];
    }

    private function on(string $type, array $data, Catalogue $catalogue): void
    {
        switch ($type) {
        case 'added':
            $sku = $data['sku'];
            if (isset($this->lines[$sku]))
                $this->lines[$sku]->quantity += $data['n'];
            else
                $this->lines[$sku] = new Line($catalogue->get($sku), $data['n']);
            break;
        case 'removed':
            unset($this->lines[$data['sku']]);
            break;
        case 'cleared':
            $this->lines = [];
            break;
        default:
            throw new \LogicException("unknown event $type");
        }
    }

    public function lines(): array
    {
        return $this->lines;
    }

    public function events(): array
    {
        return $this->events;
    }

    public function getIterator(): \Iterator
    {
        yield from $this->lines;
    }

    public function count(): int
    {
        return array_sum(array_map(static fn (Line $l): int => $l->quantity, $this->lines));
    }
}

final class Catalogue
{
    /** @var array<string, Product> */
    private array $products = [];
    /** @var array<string, array<string, int>> */
    private array $index = [];
    private array $lengths = [];

    public function add(Product $p): void
    {
        $this->products[$p->sku] = $p;
        $words = self::words("$p->name $p->name $p->about");
        $this->lengths[$p->sku] = count($words);
        foreach ($words as $word)
            $this->index[$word][$p->sku] = ($this->index[$word][$p->sku] ?? 0) + 1;
    }

    public function get(string $sku): Product
    {
        return $this->products[$sku] ?? throw new \OutOfBoundsException("no product $sku");
    }

    /** @return array<string, float> */
    public function search(string $text, int $n = 10): array
    {
        $scores = [];
        $total = count($this->products);
        foreach (array_unique(self::words($text)) as $word) {
            $hits = $this->index[$word] ?? [];
            if (!$hits)
                continue;
            $rarity = log(1 + $total / count($hits));
            foreach ($hits as $sku => $times)
                $scores[$sku] = ($scores[$sku] ?? 0.0) + $rarity * $times * 2.2 / ($times + 1.2 * (0.25 + 0.75 * $this->lengths[$sku] / 20));
        }
        uksort($scores, static fn (string $a, string $b): int => $scores[$b] <=> $scores[$a] ?: strcmp($a, $b));
        return array_slice($scores, 0, $n, true);
    }

    public function filter(callable ...$tests): \Generator
    {
        foreach ($this->products as $sku => $product) {
            foreach ($tests as $test)
                if (!$test($product))
                    continue 2;
            yield $sku => $product;
        }
    }

    private static function words(string $text): array
    {
        $words = [];
        foreach (preg_split('/\W+/u', mb_strtolower($text), -1, PREG_SPLIT_NO_EMPTY) as $word)
            $words[] = strlen($word) > 4 && str_ends_with($word, 's') ? substr($word, 0, -1) : $word;
        return $words;
    }
}

final class Checkout
{
    /** @param list<Rule> $rules */
    public function __construct(private array $rules, private Stock $stock)
    {
    }

    public function order(Cart $cart, string $customer): array
    {
        $sum = Money::of(0)->plus(...array_map(static fn (Line $l): Money => $l->total(), array_values($cart->lines())));
        $discounts = $taxes = [];
        foreach ($this->rules as $rule)
            if (null !== $off = $rule->apply($cart->lines(), $sum))
                $discounts[$rule->name()] = $off;
        foreach ($cart as $line) {
            $rate = $line->product->kind->tax();
            $key = sprintf('%.0f%%', $rate * 100);
            $taxes[$key] = ($taxes[$key] ?? Money::of(0))->plus($line->total()->times($rate));
        }
        ksort($taxes);
        $missing = $this->stock->reserve($cart);
        if ($missing)
            throw new OutOfStock($missing);
        return ['customer' => $customer, 'lines' => $cart->lines(), 'sum' => $sum, 'discounts' => $discounts, 'taxes' => $taxes,
            'total' => $sum->plus(...array_values($discounts))];
    }
}

final class OutOfStock extends \RuntimeException
{
    public function __construct(public readonly array $missing)
    {
        parent::__construct('out of stock: ' . implode(', ', array_keys($missing)));
    }
}

final class Stock
{
    private \SplFixedArray $slots;
    private array $places = [];

    public function __construct(array $stock)
    {
        $this->slots = new \SplFixedArray(count($stock));
        foreach ($stock as $sku => $n) {
            $this->places[$sku] = count($this->places);
            $this->slots[$this->places[$sku]] = $n;
        }
    }

    public function reserve(Cart $cart): array
    {
        $missing = [];
        foreach ($cart as $sku => $line)
            if (($have = $this->slots[$this->places[$sku]]) < $line->quantity)
                $missing[$sku] = $line->quantity - $have;
        return $missing;
    }
}

final class Invoice
{
    public function text(array $order): string
    {
        $rows = [['Item', 'n', 'Each', 'Total']];
        foreach ($order['lines'] as $line)
            $rows[] = [$line->product->name, (string) $line->quantity, (string) $line->product->price, (string) $line->total()];
        $widths = [0, 0, 0, 0];
        foreach ($rows as $row)
            foreach ($row as $i => $cell)
                $widths[$i] = max($widths[$i], mb_strlen($cell));
        $text = "Invoice for $order[customer]\n";
        foreach ($rows as $row) {
            foreach ($row as $i => $cell)
                $text .= str_pad($cell, $widths[$i] + 2, ' ', $i ? STR_PAD_LEFT : STR_PAD_RIGHT);
            $text .= "\n";
        }
        foreach ($order['discounts'] as $name => $off)
            $text .= sprintf("%-20s %12s\n", ucfirst($name), $off);
        return $text . str_repeat('=', 33) . "\n" . sprintf("%-20s %12s\n", 'Total', $order['total']);
    }

    public function csv(array $order): string
    {
        $file = fopen('php://memory', 'w+');
        foreach ($order['lines'] as $sku => $line)
            fputcsv($file, [$sku, $line->product->name, $line->quantity, $line->total()->cents()], ';', '"', '\\');
        rewind($file);
        $text = stream_get_contents($file);
        fclose($file);
        return $text;
    }
}

/** Services by closures, made when first asked for. */
final class Services
{
    private array $made = [];

    public function __construct(private array $recipes)
    {
    }

    public function __get(string $name): object
    {
        return $this->made[$name] ??= $this->recipes[$name]($this);
    }
}

final class Api
{
    public function __construct(private Services $services)
    {
    }

    public function handle(string $line): string
    {
        [$verb, $path, $body] = explode(' ', $line, 3) + [2 => ''];
        try {
            $data = $body === '' ? [] : json_decode($body, true, 16, JSON_THROW_ON_ERROR);
            $result = match (true) {
                $path === '/search' => $this->search($data),
                $path === '/orders' && $verb === 'POST' => $this->order($data),
                str_starts_with($path, '/products/') => $this->services->catalogue->get(substr($path, 10)),
                $path === '/products' => iterator_to_array($this->services->catalogue->filter(
                    static fn (Product $p): bool => $p->kind === (Kind::tryFrom($data['kind'] ?? '') ?? $p->kind),
                    static fn (Product $p): bool => $p->price->cents() <= ($data['max'] ?? PHP_INT_MAX))),
                default => throw new \OutOfBoundsException("no $path"),
            };
            return json_encode(['status' => 200, 'result' => $result], JSON_UNESCAPED_UNICODE);
        } catch (OutOfStock $e) {
            return json_encode(['status' => 409, 'missing' => $e->missing]);
        } catch (\OutOfBoundsException | \JsonException $e) {
            return json_encode(['status' => 404, 'error' => $e->getMessage()]);
        }
    }

    private function search(array $data): array
    {
        $out = [];
        foreach ($this->services->catalogue->search($data['q']) as $sku => $score)
            $out[] = ['score' => round($score, 4)] + (array) $this->services->catalogue->get($sku);
        return $out;
    }

    private function order(array $data): array
    {
        $cart = new Cart();
        foreach ($data['items'] as ['sku' => $sku, 'n' => $n])
            $cart->record('added', compact('sku', 'n'), $this->services->catalogue);
        foreach ($data['drop'] ?? [] as $sku)
            $cart->record('removed', ['sku' => $sku], $this->services->catalogue);
        $again = Cart::replay(unserialize(serialize($cart->events())), $this->services->catalogue);
        $order = $this->services->checkout->order($again, $data['customer']);
        return [count($again), $this->services->invoice->text($order), $this->services->invoice->csv($order), $order['total'], $order['taxes']];
    }
}

return static function (): \Closure {
    $words = ['garden', 'hammers', 'songs', 'Brücke', 'winter', 'letters', 'silver', 'guide', 'history', 'steel', 'light', 'quiet', 'engines', 'travel'];
    $catalogue = new Catalogue();
    $stock = [];
    for ($i = 0; $i < 90; $i++) {
        $name = ucfirst($words[$i % 14]) . ' ' . $words[$i * 5 % 13] . " $i";
        $about = '';
        for ($j = 0; $j < 12; $j++)
            $about .= $words[($i * 7 + $j * $j) % 14] . ' ';
        $catalogue->add(new Product("sku-$i", $name, Kind::cases()[$i % 3], Money::of(199 + $i * 137 % 5000), trim($about)));
        $stock["sku-$i"] = $i % 17 ? 50 : 1;
    }
    $services = new Services([
        'catalogue' => static fn (): Catalogue => $catalogue,
        'stock' => static fn (): Stock => new Stock($stock),
        'checkout' => static fn (Services $s): Checkout => new Checkout([new Volume(), new Threshold(10000, 0.03), new Bundle(Kind::Book, Kind::Music)], $s->stock),
        'invoice' => static fn (): Invoice => new Invoice(),
    ]);
    $requests = ['GET /products/sku-3', 'GET /products/sku-999', 'GET /nowhere', 'POST /orders {"broken"', 'GET /products {"kind":"book","max":2500}', 'GET /products {"kind":"tool"}'];
    foreach (['silver garden', 'history of steel engines', 'winter letters', 'brücke', 'nothing known'] as $q)
        $requests[] = 'GET /search ' . json_encode(['q' => $q]);
    for ($i = 0; $i < 12; $i++) {
        $items = [];
        for ($j = 0; $j <= $i; $j++)
            $items[] = ['sku' => 'sku-' . ($i * 11 + $j * 3) % 90, 'n' => $j % 6 + 1];
        $requests[] = 'POST /orders ' . json_encode(['customer' => "Customer $i", 'items' => $items, 'drop' => $i % 4 ? [] : [$items[0]['sku']]]);
    }
    $api = new Api($services);
    return static fn (): string => implode("\n", array_map($api->handle(...), $requests));
};
