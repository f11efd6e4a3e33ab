<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Laravel;

use Ephpm\Cache\Store;
use Illuminate\Cache\TaggableStore;
use Illuminate\Contracts\Cache\LockProvider;

/** Laravel's cache in the key-value store, with tags, counters and locks. */
final class EphpmStore extends TaggableStore implements LockProvider
{
    private readonly string $prefix;

    public function __construct(string $prefix = '')
    {
        Store::need('The cache store');
        $this->prefix = 'laravel:' . $prefix . ':';
    }

    public function get($key): mixed
    {
        return Store::unpack(ephpm_kv_get($this->prefix . $key));
    }

    public function many(array $keys): array
    {
        $full = [];
        foreach ($keys as $key) {
            $full[$key] = $this->prefix . $key;
        }

        return array_map(Store::unpack(...), ephpm_kv_mget($full));
    }

    public function put($key, $value, $seconds): bool
    {
        return Store::set($this->prefix . $key, $value, max(1, (int) $seconds));
    }

    public function putMany(array $values, $seconds): bool
    {
        $all = true;
        foreach ($values as $key => $value) {
            $all = $this->put($key, $value, $seconds) && $all;
        }

        return $all;
    }

    /** Only if it is missing, at once. */
    public function add($key, $value, $seconds): bool
    {
        return ephpm_kv_setnx($this->prefix . $key, Store::pack($value), max(1, (int) $seconds));
    }

    public function increment($key, $value = 1): int|false
    {
        return ephpm_kv_incr_by($this->prefix . $key, (int) $value);
    }

    public function decrement($key, $value = 1): int|false
    {
        return ephpm_kv_decr_by($this->prefix . $key, (int) $value);
    }

    public function forever($key, $value): bool
    {
        return Store::set($this->prefix . $key, $value, 0);
    }

    public function touch($key, $seconds): bool
    {
        return ephpm_kv_expire($this->prefix . $key, max(1, (int) $seconds));
    }

    public function forget($key): bool
    {
        return ephpm_kv_del($this->prefix . $key) > 0;
    }

    /** Only what has the prefix. */
    public function flush(): bool
    {
        Store::clear($this->prefix);

        return true;
    }

    public function getPrefix(): string
    {
        return $this->prefix;
    }

    public function lock($name, $seconds = 0, $owner = null): EphpmLock
    {
        return new EphpmLock($this->prefix . $name, $seconds, $owner);
    }

    public function restoreLock($name, $owner): EphpmLock
    {
        return $this->lock($name, 0, $owner);
    }
}
