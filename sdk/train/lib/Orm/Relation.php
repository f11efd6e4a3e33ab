<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Orm;

abstract class Relation
{
    /** @param class-string<Model> $class */
    public function __construct(protected Model $owner, protected string $class, protected string $key)
    {
    }

    abstract public function results(): mixed;

    /** Loads the relation of many models by one query. */
    abstract public function attach(array $models, string $name, array $with): void;
}
