<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// What the language itself offers objects: enums, readonly, traits, magic, closures, generators, exceptions, iterators.
enum Suit: int
{
    case Clubs = 1;
    case Hearts = 2;
    case Spades = 3;

    public static function of(string $letter): self
    {
        foreach (self::cases() as $case)
            if ($case->name[0] === $letter)
                return $case;
        throw new DomainException("no suit $letter");
    }

    public function colour(): string
    {
        return match ($this) { self::Hearts => 'red', default => 'black' };
    }
}

trait Counts
{
    private int $counted = 0;
    private static int $all = 0;

    public function counted(int $by = 1): static
    {
        $this->counted += $by;
        self::$all += $by;
        return $this;
    }

    abstract public function name(): string;

    public function report(): string
    {
        return static::class . ':' . $this->name() . ':' . $this->counted;
    }
}

interface Shape
{
    public function area(): float;
}

abstract class Named implements Shape, Stringable
{
    use Counts;

    public function __construct(protected readonly string $name)
    {
    }

    public function name(): string
    {
        return $this->name;
    }

    public function __toString(): string
    {
        return sprintf('%s(%.2f)', $this->name, $this->area());
    }

    public function __clone()
    {
        $this->counted = 0;
    }
}

final class Circle extends Named
{
    public function __construct(string $name, private float $radius)
    {
        parent::__construct($name);
    }

    public function area(): float
    {
        return M_PI * $this->radius ** 2;
    }
}

final class Box extends Named
{
    private array $data = [];

    public function __construct(string $name, public readonly int $w = 1, public readonly int $h = 1)
    {
        parent::__construct($name);
    }

    public function area(): float
    {
        return $this->w * $this->h;
    }

    public function __get(string $key): mixed
    {
        return $this->data[$key] ?? "no $key";
    }

    public function __set(string $key, mixed $value): void
    {
        $this->data[$key] = $value;
    }

    public function __call(string $name, array $arguments): string
    {
        return $name . '/' . implode(',', $arguments);
    }

    public static function __callStatic(string $name, array $arguments): self
    {
        return new self($name, ...$arguments);
    }

    public function __invoke(int $n): int
    {
        return $n * $this->w;
    }
}

final class Lazy implements IteratorAggregate
{
    public function __construct(private Closure $source)
    {
    }

    public static function range(int $from, int $to): self
    {
        return new self(static function () use ($from, $to): Generator {
            for ($i = $from; $i <= $to; $i++)
                yield $i;
        });
    }

    public function getIterator(): Generator
    {
        yield from ($this->source)();
    }

    public function map(callable $fn): self
    {
        return new self(function () use ($fn): Generator {
            foreach ($this as $key => $value)
                yield $key => $fn($value);
        });
    }

    public function filter(callable $fn): self
    {
        return new self(function () use ($fn): Generator {
            foreach ($this as $key => $value)
                if ($fn($value))
                    yield $key => $value;
        });
    }

    public function take(int $n): self
    {
        return new self(function () use ($n): Generator {
            foreach ($this as $key => $value) {
                if ($n-- <= 0)
                    return;
                yield $key => $value;
            }
        });
    }
}

function deep(int $n): int
{
    if ($n === 0)
        throw new InvalidArgumentException('the bottom', 7);
    try {
        return deep($n - 1) + 1;
    } finally {
        $n--;
    }
}

return static fn (): Closure => static function (): string {
    $out = [];
    for ($i = 0; $i < 60; $i++) {
        $shapes = [new Circle("c$i", $i), new Box(name: "b$i", h: $i + 1), Box::made($i, 2)];
        usort($shapes, static fn (Shape $a, Shape $b): int => $a->area() <=> $b->area());
        $out[] = implode(' ', $shapes);
        $box = $shapes[0] instanceof Box ? $shapes[0] : $shapes[2];
        if ($box instanceof Box) {
            $box->colour = Suit::tryFrom($i % 4)?->colour() ?? 'none';
            $out[] = $box->colour . $box->size . $box->paint('a', $i) . $box($i);
        }
        foreach ($shapes as $shape)
            $out[] = (clone $shape->counted()->counted($i))->counted()->report();
        try {
            $out[] = $i % 3 ? Suit::of('HCSX'[$i % 4])->name : (string) deep($i % 9);
        } catch (DomainException $e) {
            $out[] = get_class($e) . $e->getMessage();
        } catch (LogicException $e) {
            $out[] = $e->getCode() . count($e->getTrace()) . (new RuntimeException('outer', 1, $e))->getPrevious()->getMessage();
        }
        try {
            $box->name = 'x';
            (static fn (int ...$n): int => array_sum($n))('a');
        } catch (TypeError) {
            $out[] = 'type';
        } catch (Error $e) {
            $out[] = $e::class;
        }
    }
    $lazy = Lazy::range(1, 2000)->map(static fn (int $n): int => $n * $n)->filter(static fn (int $n): bool => $n % 3 === 1)->take(400);
    $out[] = array_sum(iterator_to_array($lazy, false));
    $average = (static function (): Generator {
        $sum = $n = 0;
        while (null !== $value = yield $n ? $sum / $n : 0) {
            $sum += $value;
            $n++;
        }
        return $sum;
    })();
    foreach (range(1, 100) as $n)
        $average->send($n);
    $out[] = $average->current();
    $average->send(null);
    $out[] = $average->getReturn();
    $compose = static fn (callable ...$f): Closure => static fn (mixed $x): mixed => array_reduce($f, static fn (mixed $v, callable $g): mixed => $g($v), $x);
    $out[] = $compose('trim', strrev(...), ucfirst(...), fn (string $s): string => "$s!")('  olleh ');
    $counter = function (): int {
        return ++$this->counted;
    };
    $bound = Closure::bind($counter, new Circle('z', 1), Named::class);
    for ($i = 0; $i < 50; $i++)
        $out[] = $bound();
    $objects = new SplObjectStorage();
    $heap = new SplPriorityQueue();
    $list = new ArrayObject(['b' => 2, 'a' => 1]);
    $weak = new WeakMap();
    $kept = [];
    foreach (range(1, 60) as $n) {
        $kept[] = $o = new Box("o$n", $n);
        $objects[$o] = $n;
        $weak[$o] = $n;
        $heap->insert($o, $n * 7 % 61);
        $list["k$n"] = $n;
    }
    while (!$heap->isEmpty())
        $out[] = $objects[$heap->extract()];
    $list->ksort();
    $out[] = count($list) . implode(',', array_keys($list->getArrayCopy())) . count($weak);
    $iterator = new LimitIterator(new CallbackFilterIterator(new ArrayIterator(range(1, 200)), static fn (int $n): bool => $n % 7 === 0), 2, 10);
    $out[] = implode(',', iterator_to_array($iterator, false));
    foreach (new RecursiveIteratorIterator(new RecursiveArrayIterator([1, [2, [3, 4]], 5])) as $leaf)
        $out[] = $leaf;
    $fibers = [];
    foreach ([3, 5] as $steps)
        $fibers[] = new Fiber(static function () use ($steps): void {
            for ($i = 0; $i < $steps; $i++)
                Fiber::suspend("$steps:$i");
        });
    foreach ($fibers as $fiber)
        $out[] = $fiber->start();
    for ($running = true; $running;) {
        $running = false;
        foreach ($fibers as $fiber)
            if (!$fiber->isTerminated()) {
                $out[] = $fiber->resume();
                $running = true;
            }
    }
    return implode("\n", array_map('strval', $out));
};
