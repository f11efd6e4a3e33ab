<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Orm;

final class BelongsTo extends Relation
{
    public function results(): ?Model
    {
        return $this->class::query()->find((int) $this->owner->raw($this->key));
    }

    public function attach(array $models, string $name, array $with): void
    {
        $ids = [];
        foreach ($models as $model)
            if (null !== $id = $model->raw($this->key))
                $ids[$id] = true;
        $found = $this->class::query()->whereIn('id', array_keys($ids))->with(...$with)->get()->keyBy('id');
        foreach ($models as $model)
            $model->setRelation($name, $found[$model->raw($this->key)] ?? null);
    }
}
