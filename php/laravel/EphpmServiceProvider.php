<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Laravel;

use Ephpm\Cache\Store;
use Illuminate\Session\CacheBasedSessionHandler;
use Illuminate\Support\ServiceProvider;

/** Adds the driver "ephpm" of caches, and of sessions in the cache store of that name. */
final class EphpmServiceProvider extends ServiceProvider
{
    /* Managers bind what they are given to themselves, so it is not static. */
    public function register(): void
    {
        $this->callAfterResolving('cache', static function ($caches): void {
            $caches->extend('ephpm', function ($app, array $config) use ($caches) {
                $prefix = $config['prefix'] ?? $app['config']['cache.prefix'] ?? '';

                return $caches->repository(Store::isThere() ? new EphpmStore($prefix) : new ForgetfulStore(), $config);
            });
        });
        $this->callAfterResolving('session', static function ($sessions): void {
            $sessions->extend('ephpm', fn ($app): CacheBasedSessionHandler => new CacheBasedSessionHandler(
                clone $app['cache']->store('ephpm'),
                (int) $app['config']['session.lifetime'],
            ));
        });
    }
}
