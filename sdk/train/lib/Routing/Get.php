<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Routing;

#[\Attribute(\Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
class Get
{
    public array $methods = ['GET', 'HEAD'];

    public function __construct(public readonly string $path, public readonly ?string $name = null,
        public readonly array $where = [])
    {
    }
}
