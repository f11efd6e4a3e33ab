<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;

/**
 * A PSR-6 pool in the key-value store, shared by all workers of the site. Works with versions 1 to 3 of psr/cache.
 *
 *     $pool = new Ephpm\Cache\Pool('shop');
 */
final class Pool implements CacheItemPoolInterface
{
    private readonly Space $space;

    /** @var array<string, Item> by full key */
    private array $deferred = [];

    public function __construct(string $name = 'pool')
    {
        $this->space = new Space($name, PoolError::class);
    }

    public function __destruct()
    {
        $this->commit();
    }

    public function getItem($key): CacheItemInterface
    {
        $full = $this->space->key($key);

        return $this->ofDeferred($full) ?? self::item($key, ephpm_kv_get($full));
    }

    /** @return array<string, CacheItemInterface> */
    public function getItems(array $keys = []): iterable
    {
        $full = [];
        foreach ($keys as $key) {
            $full[$key] = $this->space->key($key);
        }
        $items = [];
        foreach (ephpm_kv_mget($full) as $key => $stored) {
            $items[$key] = $this->ofDeferred($full[$key]) ?? self::item((string) $key, $stored);
        }

        return $items;
    }

    public function hasItem($key): bool
    {
        $full = $this->space->key($key);

        return $this->ofDeferred($full) !== null || ephpm_kv_exists($full);
    }

    public function clear(): bool
    {
        $this->deferred = [];
        $this->space->clear();

        return true;
    }

    public function deleteItem($key): bool
    {
        return $this->deleteItems([$key]);
    }

    public function deleteItems(array $keys): bool
    {
        foreach (array_map($this->space->key(...), $keys) as $full) {
            unset($this->deferred[$full]);
            ephpm_kv_del($full);
        }

        return true;
    }

    public function save(CacheItemInterface $item): bool
    {
        $item = self::own($item);
        $full = $this->space->key($item->getKey());
        unset($this->deferred[$full]);

        return $this->space->set($full, $item->get(), $item->left());
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        $item = self::own($item);
        $this->deferred[$this->space->key($item->getKey())] = $item->saved();

        return true;
    }

    public function commit(): bool
    {
        $all = true;
        foreach ($this->deferred as $item) {
            $all = $this->save($item) && $all;
        }

        return $all;
    }

    private static function own(CacheItemInterface $item): Item
    {
        return $item instanceof Item ? $item : throw new PoolError('The item is of another pool: ' . $item::class);
    }

    private static function item(string $key, mixed $stored): Item
    {
        return new Item($key, Store::unpack($stored), $stored !== null);
    }

    private function ofDeferred(string $full): ?Item
    {
        $item = $this->deferred[$full] ?? null;
        if ($item !== null && ($item->left() ?? 1) <= 0) {
            $this->save($item);
            $item = null;
        }

        return $item?->saved();
    }
}
