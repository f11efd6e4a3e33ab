<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Laravel;

use Illuminate\Cache\Lock;

final class EphpmLock extends Lock
{
    public function acquire(): bool
    {
        return ephpm_kv_setnx($this->name, $this->owner, max(0, (int) $this->seconds));
    }

    /** False: it was another one's, or had ended. */
    public function release(): bool
    {
        return ephpm_kv_cas($this->name, $this->owner, null);
    }

    public function forceRelease(): void
    {
        ephpm_kv_del($this->name);
    }

    protected function getCurrentOwner(): string
    {
        return (string) ephpm_kv_get($this->name);
    }
}
