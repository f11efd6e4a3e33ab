<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

use Psr\SimpleCache\CacheInterface;

/**
 * A PSR-16 cache in the key-value store, shared by all workers of the site. Works with versions 1 to 3 of
 * psr/simple-cache, which is why parameters have no types.
 *
 *     $cache = new Ephpm\Cache\SimpleCache('shop');
 */
final class SimpleCache implements CacheInterface
{
    private readonly Space $space;

    /** @param int|\DateInterval|null $ttl of what is set without one */
    public function __construct(string $name = 'cache', private readonly int|\DateInterval|null $ttl = null)
    {
        $this->space = new Space($name, SimpleCacheError::class);
    }

    public function get($key, $default = null): mixed
    {
        return Store::unpack(ephpm_kv_get($this->space->key($key)) ?? $default);
    }

    public function set($key, $value, $ttl = null): bool
    {
        return $this->space->set($this->space->key($key), $value, $this->seconds($ttl));
    }

    public function delete($key): bool
    {
        ephpm_kv_del($this->space->key($key));

        return true;
    }

    public function clear(): bool
    {
        $this->space->clear();

        return true;
    }

    /** @return array<string, mixed> */
    public function getMultiple($keys, $default = null): array
    {
        $full = [];
        foreach (self::each($keys) as $key) {
            $full[$key] = $this->space->key($key);
        }

        return array_map(
            static fn (mixed $value): mixed => Store::unpack($value ?? $default),
            ephpm_kv_mget($full),
        );
    }

    public function setMultiple($values, $ttl = null): bool
    {
        $seconds = $this->seconds($ttl);
        $full = [];
        foreach (self::each($values) as $key => $value) {
            $full[$this->space->key(\is_int($key) ? (string) $key : $key)] = $value;
        }
        $all = true;
        foreach ($full as $key => $value) {
            $all = $this->space->set($key, $value, $seconds) && $all;
        }

        return $all;
    }

    public function deleteMultiple($keys): bool
    {
        $full = [];
        foreach (self::each($keys) as $key) {
            $full[] = $this->space->key($key);
        }
        array_map(ephpm_kv_del(...), $full);

        return true;
    }

    public function has($key): bool
    {
        return ephpm_kv_exists($this->space->key($key));
    }

    /**
     * Adds at once; a missing key counts as 0 and gets no deadline, an existing one keeps its own.
     *
     * @return int|false the sum; false when the value is no integer, or it would not fit
     */
    public function increment(string $key, int $by = 1): int|false
    {
        return ephpm_kv_incr_by($this->space->key($key), $by);
    }

    public function decrement(string $key, int $by = 1): int|false
    {
        return ephpm_kv_decr_by($this->space->key($key), $by);
    }

    /**
     * The value, made by $make() when it is missing. Of those who miss it at once one makes it, the others wait for
     * that, $patience seconds at most; then they make it themselves.
     */
    public function remember(
        string $key,
        callable $make,
        int|\DateInterval|null $ttl = null,
        int $patience = 10,
    ): mixed {
        $full = $this->space->key($key);
        $value = ephpm_kv_get($full);
        if ($value !== null) {
            return Store::unpack($value);
        }
        $lock = $this->space->lock($key);
        $token = bin2hex(random_bytes(8));
        if (!ephpm_kv_setnx($lock, $token, max(1, $patience))) {
            self::await($lock, $patience);
        }
        try {
            $value = ephpm_kv_get($full);
            if ($value === null) {
                $value = $make();
                $this->set($key, $value, $ttl);
            }
        } finally {
            ephpm_kv_cas($lock, $token, null);
        }

        return Store::unpack($value);
    }

    private static function await(string $lock, int $patience): void
    {
        $end = hrtime(true) + $patience * 1_000_000_000;
        $version = 0;
        do {
            $left = max(0, intdiv($end - hrtime(true), 1_000_000));
            $seen = ephpm_kv_wait($lock, $version, $left);
            $version = $seen['version'] ?? 0;
        } while ($seen && $seen['value'] !== null && $left > 0);
    }

    private function seconds(mixed $ttl): ?int
    {
        return $this->space->seconds($ttl ?? $this->ttl);
    }

    private static function each(mixed $list): iterable
    {
        if (!is_iterable($list)) {
            throw new SimpleCacheError('Keys or values are an array or Traversable, not ' . get_debug_type($list));
        }

        return $list;
    }
}
