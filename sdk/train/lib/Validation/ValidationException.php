<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Validation;

final class ValidationException extends \DomainException
{
    public function __construct(public readonly array $errors)
    {
        $n = array_sum(array_map('count', $errors));
        parent::__construct(sprintf('%d %s not valid', $n, $n === 1 ? 'value is' : 'values are'), 422);
    }
}
