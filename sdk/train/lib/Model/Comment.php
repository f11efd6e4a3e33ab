<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Model;

use Train\Orm\{BelongsTo, Model};

final class Comment extends Model
{
    protected static string $table = 'comments';
    protected static array $casts = ['id' => 'int', 'article_id' => 'int', 'written' => 'date', 'score' => 'int'];

    public function article(): BelongsTo
    {
        return $this->belongsTo(Article::class, 'article_id');
    }
}
