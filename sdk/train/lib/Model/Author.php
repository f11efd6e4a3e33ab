<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Model;

use Train\Orm\{HasMany, Model};

final class Author extends Model
{
    protected static string $table = 'authors';
    protected static array $casts = ['id' => 'int', 'settings' => 'json', 'joined' => 'date'];
    protected static array $hidden = ['email'];

    public function articles(): HasMany
    {
        return $this->hasMany(Article::class, 'author_id');
    }

    protected function getInitials(): string
    {
        return implode('', array_map(static fn (string $w): string => mb_substr($w, 0, 1), explode(' ', $this->name)));
    }
}
