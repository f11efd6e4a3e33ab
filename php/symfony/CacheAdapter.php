<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Symfony;

use Ephpm\Cache\Store;
use Symfony\Component\Cache\Adapter\AbstractAdapter;

/**
 * Symfony's cache in the key-value store: app, pools, with tags. Without a store, as on the command line of another PHP,
 * nothing is kept, so that console commands work.
 */
final class CacheAdapter extends AbstractAdapter
{
    private const PREFIX = 'symfony:';

    public function __construct(string $namespace = '', int $defaultLifetime = 0)
    {
        $this->maxIdLength = 4096;
        parent::__construct($namespace, $defaultLifetime);
    }

    public static function isSupported(): bool
    {
        return Store::isThere();
    }

    protected function doFetch(array $ids): iterable
    {
        if (!self::isSupported()) {
            return [];
        }
        $keys = [];
        foreach ($ids as $id) {
            $keys[$id] = self::PREFIX . $id;
        }
        $found = array_filter(ephpm_kv_mget($keys), static fn (mixed $stored): bool => $stored !== null);

        return array_map(Store::unpack(...), $found);
    }

    protected function doHave(string $id): bool
    {
        return self::isSupported() && ephpm_kv_exists(self::PREFIX . $id);
    }

    protected function doClear(string $namespace): bool
    {
        if (self::isSupported()) {
            Store::clear(self::PREFIX . $namespace);
        }

        return true;
    }

    protected function doDelete(array $ids): bool
    {
        if (self::isSupported()) {
            foreach ($ids as $id) {
                ephpm_kv_del(self::PREFIX . $id);
            }
        }

        return true;
    }

    /** @return list<string>|bool the ids that could not be stored */
    protected function doSave(array $values, int $lifetime): array|bool
    {
        if (!self::isSupported()) {
            return true;
        }
        $failed = [];
        foreach ($values as $id => $value) {
            if (!Store::set(self::PREFIX . $id, $value, max(0, $lifetime))) {
                $failed[] = (string) $id;
            }
        }

        return $failed;
    }
}
