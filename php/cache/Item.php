<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

use Psr\Cache\CacheItemInterface;

/** An item of a Pool. */
final class Item implements CacheItemInterface
{
    /** When it ends, in seconds since 1970; null: never. */
    private ?float $end = null;

    /** @internal of the pool, which has checked the key */
    public function __construct(
        private readonly string $key,
        private mixed $value,
        private readonly bool $hit,
    ) {
    }

    public function getKey(): string
    {
        return $this->key;
    }

    public function get(): mixed
    {
        return $this->value;
    }

    public function isHit(): bool
    {
        return $this->hit;
    }

    public function set($value): static
    {
        $this->value = $value;

        return $this;
    }

    public function expiresAt($expiration): static
    {
        if ($expiration !== null && !$expiration instanceof \DateTimeInterface) {
            throw new PoolError('An end is null or a DateTimeInterface, not ' . get_debug_type($expiration));
        }
        $this->end = $expiration === null ? null : (float) $expiration->format('U.u');

        return $this;
    }

    public function expiresAfter($time): static
    {
        if ($time instanceof \DateInterval) {
            $this->end = (float) (new \DateTimeImmutable())->add($time)->format('U.u');
        } elseif ($time === null || \is_int($time)) {
            $this->end = $time === null ? null : microtime(true) + $time;
        } else {
            throw new PoolError('A lifetime is null, an int or a DateInterval, not ' . get_debug_type($time));
        }

        return $this;
    }

    /** @internal seconds that are left, null: without end; 0 and less: over */
    public function left(): ?int
    {
        return $this->end === null ? null : (int) ceil(min($this->end - microtime(true), 1e15));
    }

    /** @internal as it is found by others once it is saved */
    public function saved(): self
    {
        $item = new self($this->key, $this->value, true);
        $item->end = $this->end;

        return $item;
    }
}
