<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

/**
 * One cache's part of the store: keys that start with its name and a colon. Checks keys and lifetimes as both PSR
 * caches want it.
 */
final class Space
{
    private const RESERVED = '{}()/\\@:';
    private const KEY_MAX = 32768;

    private readonly string $prefix;

    /** @param class-string<\InvalidArgumentException> $error what is thrown for bad keys and lifetimes */
    public function __construct(string $name, private readonly string $error)
    {
        Store::need('The cache "' . $name . '"');
        if (strpbrk($name, self::RESERVED) !== false) {
            throw new $error('The name of a cache has none of ' . self::RESERVED . ': "' . $name . '"');
        }
        $this->prefix = $name . ':';
    }

    public function key(mixed $key): string
    {
        if (!\is_string($key)) {
            throw new $this->error('A key is a string, not ' . get_debug_type($key));
        }
        if ($key === '') {
            throw new $this->error('A key is not empty');
        }
        if (strpbrk($key, self::RESERVED) !== false) {
            throw new $this->error('A key has none of ' . self::RESERVED . ': "' . $key . '"');
        }
        if (\strlen($this->prefix) + \strlen($key) > self::KEY_MAX) {
            throw new $this->error('A key with the name of its cache has at most ' . self::KEY_MAX . ' bytes');
        }

        return $this->prefix . $key;
    }

    /** The key of the lock for a key; no valid key is the same. */
    public function lock(string $key): string
    {
        return substr($this->key($key), 0, self::KEY_MAX - 5) . ':lock';
    }

    /** Seconds; null: for ever. 0 and less: it is over. */
    public function seconds(mixed $ttl): ?int
    {
        if ($ttl === null || \is_int($ttl)) {
            return $ttl;
        }
        if ($ttl instanceof \DateInterval) {
            $now = new \DateTimeImmutable();

            return $now->add($ttl)->getTimestamp() - $now->getTimestamp();
        }
        throw new $this->error('A lifetime is null, an int or a DateInterval, not ' . get_debug_type($ttl));
    }

    /** Stores it, or deletes what is there when its lifetime is over. */
    public function set(string $full, mixed $value, ?int $seconds): bool
    {
        if ($seconds !== null && $seconds <= 0) {
            ephpm_kv_del($full);

            return true;
        }

        return Store::set($full, $value, $seconds ?? 0);
    }

    public function clear(): void
    {
        Store::clear($this->prefix);
    }
}
