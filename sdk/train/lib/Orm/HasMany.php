<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Orm;

final class HasMany extends Relation
{
    public function results(): Collection
    {
        return $this->class::query()->where($this->key, $this->owner->id)->orderBy('id')->get();
    }

    public function attach(array $models, string $name, array $with): void
    {
        $ids = array_map(static fn (Model $m): int => $m->id, $models);
        $groups = [];
        foreach ($this->class::query()->whereIn($this->key, $ids)->orderBy('id')->with(...$with)->get() as $related)
            $groups[$related->raw($this->key)][] = $related;
        foreach ($models as $model)
            $model->setRelation($name, new Collection($groups[$model->id] ?? []));
    }
}
