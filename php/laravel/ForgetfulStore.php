<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Laravel;

use Ephpm\Cache\Store;
use Illuminate\Cache\ArrayStore;

/**
 * The cache of a PHP that has no key-value store, such as artisan's: it lasts as long as the process. Locks are refused,
 * since they would lock nobody out.
 */
final class ForgetfulStore extends ArrayStore
{
    public function lock($name, $seconds = 0, $owner = null): never
    {
        Store::need('The lock "' . $name . '"');
        throw new \LogicException('The store of a PHP without a key-value store is used where there is one.');
    }
}
