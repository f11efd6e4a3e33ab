<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Model;

enum Status: string
{
    case Draft = 'draft';
    case Published = 'published';
    case Archived = 'archived';

    public const DEFAULT = self::Draft;

    public static function visible(): array
    {
        return array_filter(self::cases(), static fn (self $s): bool => $s->isVisible());
    }

    public function isVisible(): bool
    {
        return $this === self::Published;
    }

    public function label(): string
    {
        return match ($this) {
            self::Draft => 'Being written',
            self::Published => 'For all to read',
            self::Archived => 'Kept',
        };
    }
}
