<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Container;

#[\Attribute(\Attribute::TARGET_PARAMETER)]
final class Inject
{
    public function __construct(public readonly string $id)
    {
    }
}
