<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Container;

final class NotFound extends \RuntimeException
{
    public function __construct(public readonly string $id, ?\Throwable $previous = null)
    {
        parent::__construct(sprintf('Nothing is known as "%s".', $id), 404, $previous);
    }
}
