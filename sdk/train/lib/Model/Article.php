<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Model;

use Train\Orm\{BelongsTo, HasMany, Model};
use Train\Support\Str;

final class Article extends Model
{
    protected static string $table = 'articles';
    protected static array $casts = ['id' => 'int', 'author_id' => 'int', 'price' => 'int', 'status' => Status::class,
        'published' => 'date', 'tags' => 'json'];

    public function author(): BelongsTo
    {
        return $this->belongsTo(Author::class, 'author_id');
    }

    public function comments(): HasMany
    {
        return $this->hasMany(Comment::class, 'article_id');
    }

    protected function setTitle(string $title): string
    {
        return trim($title);
    }

    protected function getSlug(): string
    {
        return $this->id . '-' . Str::slug($this->title);
    }

    protected function getTeaser(): string
    {
        return Str::excerpt($this->body, 24);
    }
}
