<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Serializer;

#[\Attribute(\Attribute::TARGET_PROPERTY)]
final class Field
{
    public function __construct(public readonly ?string $name = null, public readonly array $groups = ['default'],
        public readonly ?string $format = null)
    {
    }
}
