<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Symfony;

use Ephpm\Cache\Store;
use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\Key;

/** Locks of symfony/lock in the key-value store, between all workers of the site. A lock ends with its lifetime. */
final class LockStore implements BlockingStoreInterface
{
    private const PREFIX = 'symfony-lock:';
    private const WAIT_MS = 1000;

    /** @param int $ttl seconds that a lock lives unless it says otherwise */
    public function __construct(private readonly int $ttl = 300)
    {
        Store::need('The lock store');
        if ($ttl < 1) {
            throw new \InvalidArgumentException('The lifetime of locks is at least 1 second, not ' . $ttl);
        }
    }

    public function save(Key $key): void
    {
        $key->reduceLifetime($this->ttl);
        if (!ephpm_kv_setnx(self::name($key), self::token($key), $this->ttl)) {
            $this->prolong($key, $this->ttl);
        }
        $this->refuseExpired($key);
    }

    public function waitAndSave(Key $key): void
    {
        for (;;) {
            $seen = ephpm_kv_wait(self::name($key), 0, 0);
            try {
                $this->save($key);

                return;
            } catch (LockConflictedException) {
                ephpm_kv_wait(self::name($key), $seen['version'] ?? 0, self::WAIT_MS);
            }
        }
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $key->reduceLifetime($ttl);
        $this->prolong($key, max(1, (int) ceil($ttl)));
        $this->refuseExpired($key);
    }

    public function delete(Key $key): void
    {
        ephpm_kv_cas(self::name($key), self::token($key), null);
    }

    public function exists(Key $key): bool
    {
        return ephpm_kv_get(self::name($key)) === self::token($key);
    }

    private function prolong(Key $key, int $seconds): void
    {
        $token = self::token($key);
        if (!ephpm_kv_cas(self::name($key), $token, $token, $seconds)) {
            throw new LockConflictedException();
        }
    }

    private function refuseExpired(Key $key): void
    {
        if ($key->isExpired()) {
            $this->delete($key);
            throw new LockExpiredException('The lock "' . $key . '" has expired while it was taken.');
        }
    }

    private static function name(Key $key): string
    {
        return self::PREFIX . hash('sha256', (string) $key);
    }

    private static function token(Key $key): string
    {
        if (!$key->hasState(self::class)) {
            $key->setState(self::class, bin2hex(random_bytes(16)));
        }

        return $key->getState(self::class);
    }
}
