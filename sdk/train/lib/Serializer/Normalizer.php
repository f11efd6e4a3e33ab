<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Serializer;

use Train\Support\Str;

/** Objects to arrays and back, by their properties' types and attributes. */
final class Normalizer
{
    /** @var array<class-string, array<string, array{\ReflectionProperty, Field, ?string}>> */
    private array $known = [];

    public function normalize(mixed $value, string $group = 'default', ?string $format = null): mixed
    {
        if ($value === null || is_scalar($value))
            return $value;
        if ($value instanceof \DateTimeInterface)
            return $value->format($format ?? DATE_ATOM);
        if ($value instanceof \BackedEnum)
            return $value->value;
        if (is_iterable($value)) {
            $out = [];
            foreach ($value as $key => $item)
                $out[$key] = $this->normalize($item, $group, $format);
            return $out;
        }
        $out = [];
        foreach ($this->fields($value::class) as $name => [$property, $field])
            if (in_array($group, $field->groups, true) && $property->isInitialized($value))
                $out[$name] = $this->normalize($property->getValue($value), $group, $field->format);
        return $out;
    }

    public function denormalize(array $data, string $class): object
    {
        $reflection = new \ReflectionClass($class);
        $object = $reflection->newInstanceWithoutConstructor();
        foreach ($this->fields($class) as $name => [$property, $field, $type]) {
            if (!array_key_exists($name, $data))
                continue;
            $value = $data[$name];
            if ($type !== null && $value !== null)
                $value = match (true) {
                    is_a($type, \DateTimeInterface::class, true) => new \DateTimeImmutable($value),
                    is_subclass_of($type, \BackedEnum::class) => $type::from($value),
                    default => $this->denormalize($value, $type),
                };
            $property->setValue($object, $value);
        }
        return $object;
    }

    private function fields(string $class): array
    {
        if (isset($this->known[$class]))
            return $this->known[$class];
        $fields = [];
        foreach ((new \ReflectionClass($class))->getProperties() as $property) {
            $attributes = $property->getAttributes(Field::class);
            if (!$attributes)
                continue;
            $field = $attributes[0]->newInstance();
            $type = $property->getType();
            $fields[$field->name ?? Str::snake($property->getName())] = [$property, $field,
                $type instanceof \ReflectionNamedType && !$type->isBuiltin() ? $type->getName() : null];
        }
        return $this->known[$class] = $fields;
    }
}
