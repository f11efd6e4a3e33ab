<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

/** What all adapters need of the store beyond its functions. */
final class Store
{
    private const BATCH = 10000;

    public static function isThere(): bool
    {
        return \function_exists('ephpm_kv_get');
    }

    /** @throws \LogicException when this PHP has no store */
    public static function need(string $who): void
    {
        if (!self::isThere()) {
            throw new \LogicException($who . ' needs the key-value store of ephpm: this PHP (' . \PHP_SAPI
                . ') has no ephpm_kv_get(). Is it another program than ephpm, or is [kv] off?');
        }
    }

    /** What is stored for a value: null stands for a missing key there. */
    public static function pack(mixed $value): mixed
    {
        return $value ?? Nothing::Value;
    }

    public static function unpack(mixed $stored): mixed
    {
        return $stored === Nothing::Value ? null : $stored;
    }

    /** False when it could not be stored: no memory, or too large. An old value is gone then. */
    public static function set(string $key, mixed $value, int $ttl): bool
    {
        try {
            $done = ephpm_kv_set($key, self::pack($value), $ttl);
        } catch (\ValueError) {
            $done = false;
        }
        if (!$done) {
            ephpm_kv_del($key);
        }

        return $done;
    }

    /** Deletes the keys that start with the prefix. */
    public static function clear(string $prefix): void
    {
        do {
            $keys = ephpm_kv_keys($prefix, self::BATCH);
            foreach ($keys as $key) {
                ephpm_kv_del($key);
            }
        } while (\count($keys) === self::BATCH);
    }
}
