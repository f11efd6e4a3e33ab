<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Orm;

/** Rows as objects: attributes behind __get, casts, accessors, relations, changed values. */
abstract class Model implements \ArrayAccess, \JsonSerializable
{
    protected static string $table = '';
    protected static array $casts = [];
    protected static array $hidden = [];
    private static ?Connection $connection = null;

    private array $attributes = [];
    private array $original = [];
    private array $cached = [];
    private array $relations = [];

    final public function __construct(array $attributes = [])
    {
        $this->fill($attributes);
    }

    public static function connect(Connection $connection): void
    {
        self::$connection = $connection;
    }

    public static function query(): Builder
    {
        return new Builder(self::$connection, static::$table, static::class);
    }

    public static function hydrate(array $row): static
    {
        $model = new static();
        $model->attributes = $model->original = $row;
        return $model;
    }

    public static function __callStatic(string $method, array $arguments): mixed
    {
        return static::query()->$method(...$arguments);
    }

    public function fill(array $attributes): static
    {
        foreach ($attributes as $key => $value)
            $this->__set($key, $value);
        return $this;
    }

    public function __get(string $key): mixed
    {
        if (array_key_exists($key, $this->cached))
            return $this->cached[$key];
        if (array_key_exists($key, $this->attributes))
            return $this->cached[$key] = $this->cast($key, $this->attributes[$key]);
        if (method_exists($this, $accessor = 'get' . str_replace('_', '', ucwords($key, '_'))))
            return $this->$accessor();
        if (array_key_exists($key, $this->relations))
            return $this->relations[$key];
        if (method_exists($this, $key))
            return $this->relations[$key] = $this->$key()->results();
        throw new \OutOfBoundsException(static::class . " has no $key");
    }

    public function __set(string $key, mixed $value): void
    {
        if (method_exists($this, $mutator = 'set' . str_replace('_', '', ucwords($key, '_'))))
            $value = $this->$mutator($value);
        if ($value instanceof \DateTimeInterface)
            $value = $value->format('Y-m-d H:i:s');
        elseif ($value instanceof \BackedEnum)
            $value = $value->value;
        elseif (is_array($value))
            $value = json_encode($value);
        $this->attributes[$key] = $value;
        unset($this->cached[$key]);
    }

    public function __isset(string $key): bool
    {
        return isset($this->attributes[$key]) || isset($this->relations[$key]);
    }

    public function setRelation(string $name, mixed $value): void
    {
        $this->relations[$name] = $value;
    }

    public function raw(string $key): mixed
    {
        return $this->attributes[$key] ?? null;
    }

    public function dirty(): array
    {
        $dirty = [];
        foreach ($this->attributes as $key => $value)
            if (!array_key_exists($key, $this->original) || $this->original[$key] !== $value)
                $dirty[$key] = $value;
        return $dirty;
    }

    public function save(): bool
    {
        $dirty = $this->dirty();
        if (!$dirty)
            return false;
        if (isset($this->original['id']))
            static::query()->where('id', $this->original['id'])->update($dirty);
        else
            $this->attributes['id'] = static::query()->insert($this->attributes);
        $this->original = $this->attributes;
        return true;
    }

    protected function hasMany(string $class, string $key): HasMany
    {
        return new HasMany($this, $class, $key);
    }

    protected function belongsTo(string $class, string $key): BelongsTo
    {
        return new BelongsTo($this, $class, $key);
    }

    private function cast(string $key, mixed $value): mixed
    {
        $type = static::$casts[$key] ?? null;
        if ($type === null || $value === null)
            return $value;
        return match ($type) {
            'int' => (int) $value,
            'float' => (float) $value,
            'bool' => (bool) $value,
            'json' => json_decode($value, true),
            'date' => new \DateTimeImmutable($value, new \DateTimeZone('UTC')),
            default => is_subclass_of($type, \BackedEnum::class) ? $type::from($value) : new $type($value),
        };
    }

    public function toArray(): array
    {
        $out = [];
        foreach (array_diff_key($this->attributes, array_flip(static::$hidden)) as $key => $_) {
            $value = $this->__get($key);
            $out[$key] = match (true) {
                $value instanceof \DateTimeInterface => $value->format(DATE_ATOM),
                $value instanceof \BackedEnum => $value->value,
                default => $value,
            };
        }
        foreach ($this->relations as $name => $related)
            $out[$name] = $related instanceof self || $related instanceof Collection ? $related->toArray() : $related;
        return $out;
    }

    public function jsonSerialize(): array
    {
        return $this->toArray();
    }

    public function offsetExists(mixed $offset): bool
    {
        return $this->__isset($offset);
    }

    public function offsetGet(mixed $offset): mixed
    {
        return $this->__get($offset);
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
        $this->__set($offset, $value);
    }

    public function offsetUnset(mixed $offset): void
    {
        unset($this->attributes[$offset], $this->cached[$offset]);
    }
}
