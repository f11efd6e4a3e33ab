<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Orm;

use Train\Support\Arr;

final class Collection implements \ArrayAccess, \IteratorAggregate, \Countable, \JsonSerializable
{
    public function __construct(private array $items = [])
    {
    }

    public static function make(iterable $items): self
    {
        return new self(is_array($items) ? $items : iterator_to_array($items));
    }

    public function all(): array
    {
        return $this->items;
    }

    public function first(?callable $test = null): mixed
    {
        foreach ($this->items as $key => $item)
            if ($test === null || $test($item, $key))
                return $item;
        return null;
    }

    public function map(callable $fn): self
    {
        $keys = array_keys($this->items);
        return new self(array_combine($keys, array_map($fn, $this->items, $keys)));
    }

    public function filter(?callable $test = null): self
    {
        return new self($test ? array_filter($this->items, $test, ARRAY_FILTER_USE_BOTH) : array_filter($this->items));
    }

    public function reduce(callable $fn, mixed $start = null): mixed
    {
        return array_reduce($this->items, $fn, $start);
    }

    public function pluck(string $path, ?string $key = null): self
    {
        $out = [];
        foreach ($this->items as $item)
            if ($key === null)
                $out[] = Arr::get($item, $path);
            else
                $out[Arr::get($item, $key)] = Arr::get($item, $path);
        return new self($out);
    }

    public function keyBy(string|callable $key): self
    {
        $out = [];
        foreach ($this->items as $item)
            $out[is_string($key) ? Arr::get($item, $key) : $key($item)] = $item;
        return new self($out);
    }

    public function groupBy(string|callable $key): self
    {
        $out = [];
        foreach ($this->items as $item)
            $out[(string) (is_string($key) ? Arr::get($item, $key) : $key($item))][] = $item;
        return new self(array_map(static fn (array $g): self => new self($g), $out));
    }

    public function sortBy(string|callable $key, bool $descending = false): self
    {
        $by = [];
        foreach ($this->items as $i => $item)
            $by[$i] = is_string($key) ? Arr::get($item, $key) : $key($item);
        $descending ? arsort($by) : asort($by);
        $out = [];
        foreach ($by as $i => $_)
            $out[] = $this->items[$i];
        return new self($out);
    }

    public function unique(?string $path = null): self
    {
        $seen = $out = [];
        foreach ($this->items as $key => $item) {
            $value = $path === null ? $item : Arr::get($item, $path);
            if (in_array($value, $seen, true))
                continue;
            $seen[] = $value;
            $out[$key] = $item;
        }
        return new self($out);
    }

    public function chunk(int $size): self
    {
        return new self(array_map(static fn (array $c): self => new self($c), array_chunk($this->items, $size, true)));
    }

    public function sum(string|callable $of): int|float
    {
        $sum = 0;
        foreach ($this->items as $item)
            $sum += is_string($of) ? Arr::get($item, $of) : $of($item);
        return $sum;
    }

    public function values(): self
    {
        return new self(array_values($this->items));
    }

    public function implode(string $glue): string
    {
        return implode($glue, $this->items);
    }

    public function toArray(): array
    {
        return array_map(static fn (mixed $v): mixed => $v instanceof Model || $v instanceof self ? $v->toArray() : $v, $this->items);
    }

    public function jsonSerialize(): array
    {
        return $this->toArray();
    }

    public function getIterator(): \ArrayIterator
    {
        return new \ArrayIterator($this->items);
    }

    public function count(): int
    {
        return count($this->items);
    }

    public function offsetExists(mixed $offset): bool
    {
        return isset($this->items[$offset]);
    }

    public function offsetGet(mixed $offset): mixed
    {
        return $this->items[$offset];
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
        if ($offset === null)
            $this->items[] = $value;
        else
            $this->items[$offset] = $value;
    }

    public function offsetUnset(mixed $offset): void
    {
        unset($this->items[$offset]);
    }
}
