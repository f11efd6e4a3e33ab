<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\View;

/** Templates become PHP once; a page extends a layout by sections. */
final class Engine
{
    private array $sections = [];
    private array $open = [];
    private ?string $layout = null;
    private array $shared = [];
    private array $files = [];
    private array $filters;
    private array $loops = [];

    public function __construct(private Compiler $compiler, private string $folder, private string $cache)
    {
        $this->filters = [
            'upper' => mb_strtoupper(...), 'lower' => mb_strtolower(...), 'nl2br' => static fn (string $s): string => nl2br($s),
            'money' => static fn (int|float $n): string => number_format($n / 100, 2, ',', '.') . ' €',
            'date' => static fn (\DateTimeInterface $d, string $f = 'j. F Y'): string => $d->format($f),
            'join' => static fn (iterable $l, string $g = ', '): string => implode($g, is_array($l) ? $l : iterator_to_array($l)),
            'limit' => \Train\Support\Str::limit(...), 'label' => static fn (\BackedEnum $e): string => $e->label(), 'title' => static fn (string $s): string => ucwords($s),
        ];
    }

    public function share(string $name, mixed $value): void
    {
        $this->shared[$name] = $value;
    }

    public function filter(string $name, callable $fn): void
    {
        $this->filters[$name] = $fn;
    }

    public function render(string $name, array $data = []): string
    {
        $outer = [$this->sections, $this->layout];
        [$this->sections, $this->layout] = [[], null];
        $html = $this->evaluate($name, $data);
        while ($this->layout !== null) {
            $layout = $this->layout;
            $this->layout = null;
            $this->sections['content'] ??= $html;
            $html = $this->evaluate($layout, $data);
        }
        [$this->sections, $this->layout] = $outer;
        return $html;
    }

    private function evaluate(string $__name, array $__data): string
    {
        $__file = $this->files[$__name] ??= $this->compiled($__name);
        extract($this->shared, EXTR_SKIP);
        extract($__data, EXTR_SKIP);
        $__level = ob_get_level();
        ob_start();
        try {
            include $__file;
        } catch (\Throwable $e) {
            while (ob_get_level() > $__level)
                ob_end_clean();
            throw $e;
        }
        return (string) ob_get_clean();
    }

    private function compiled(string $name): string
    {
        $source = "$this->folder/" . str_replace('.', '/', $name) . '.html';
        $target = "$this->cache/" . md5($source) . '.php';
        if (!is_file($target) || filemtime($target) < filemtime($source)) {
            $text = $this->compiler->compile((string) file_get_contents($source));
            $temporary = $target . '.' . getmypid();
            file_put_contents($temporary, $text);
            rename($temporary, $target);
        }
        return $target;
    }

    public function escape(mixed $value): string
    {
        if ($value === null || $value === false)
            return '';
        return htmlspecialchars((string) $value, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }

    public function apply(string $filter, mixed ...$arguments): mixed
    {
        return ($this->filters[$filter])(...$arguments);
    }

    private function extend(string $layout): void
    {
        $this->layout = $layout;
    }

    private function start(string $section): void
    {
        $this->open[] = $section;
        ob_start();
    }

    private function stop(): void
    {
        $this->sections[array_pop($this->open)] = ob_get_clean();
    }

    private function section(string $name, string $default = ''): string
    {
        return $this->sections[$name] ?? $default;
    }

    private function loop(iterable $items): \Generator
    {
        $count = is_countable($items) ? count($items) : null;
        $loop = new \stdClass();
        $loop->parent = end($this->loops) ?: null;
        $this->loops[] = $loop;
        $i = 0;
        foreach ($items as $key => $item) {
            $loop->index = $i;
            $loop->first = $i === 0;
            $loop->last = $count !== null && $i === $count - 1;
            $loop->odd = (bool) ($i++ & 1);
            yield $key => [$item, $loop];
        }
        array_pop($this->loops);
    }
}
