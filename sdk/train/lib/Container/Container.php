<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Container;

/** Makes objects from their constructors' types; knows factories, aliases, tags and decorators. */
final class Container implements \ArrayAccess
{
    /** @var array<string, \Closure> */
    private array $factories = [];
    /** @var array<string, object|array|scalar|null> */
    private array $shared = [];
    /** @var array<string, string> */
    private array $aliases = [];
    /** @var array<string, list<string>> */
    private array $tags = [];
    /** @var array<string, list<\Closure>> */
    private array $decorators = [];
    /** @var array<string, true> */
    private array $making = [];
    /** @var array<string, list<array{string, ?string, bool, mixed}>> */
    private array $plans = [];

    public function set(string $id, mixed $value): static
    {
        if ($value instanceof \Closure)
            $this->factories[$id] = $value;
        else
            $this->shared[$id] = $value;
        return $this;
    }

    public function alias(string $from, string $to): static
    {
        $this->aliases[$from] = $to;
        return $this;
    }

    public function tag(string $tag, string ...$ids): static
    {
        foreach ($ids as $id)
            $this->tags[$tag][] = $id;
        return $this;
    }

    /** @return iterable<string, mixed> */
    public function tagged(string $tag): iterable
    {
        foreach ($this->tags[$tag] ?? [] as $id)
            yield $id => $this->get($id);
    }

    public function decorate(string $id, \Closure $by): static
    {
        $this->decorators[$id][] = $by;
        return $this;
    }

    public function has(string $id): bool
    {
        $id = $this->aliases[$id] ?? $id;
        return isset($this->shared[$id]) || isset($this->factories[$id]) || class_exists($id);
    }

    public function get(string $id): mixed
    {
        while (isset($this->aliases[$id]))
            $id = $this->aliases[$id];
        if (array_key_exists($id, $this->shared))
            return $this->shared[$id];
        if (isset($this->making[$id]))
            throw new \LogicException("$id needs itself: " . implode(' > ', array_keys($this->making)));
        $this->making[$id] = true;
        try {
            $made = isset($this->factories[$id]) ? ($this->factories[$id])($this) : $this->make($id);
            foreach ($this->decorators[$id] ?? [] as $decorator)
                $made = $decorator($made, $this);
        } finally {
            unset($this->making[$id]);
        }
        return $this->shared[$id] = $made;
    }

    /** @param array<string, mixed> $with */
    public function make(string $class, array $with = []): object
    {
        $arguments = [];
        foreach ($this->plans[$class] ??= $this->plan($class) as [$name, $type, $optional, $default]) {
            if (array_key_exists($name, $with))
                $arguments[] = $with[$name];
            elseif ($type !== null && (!$optional || $this->has($type)))
                $arguments[] = $this->get($type);
            elseif ($optional)
                $arguments[] = $default;
            else
                throw new NotFound("$class::\$$name");
        }
        return new $class(...$arguments);
    }

    /** @param array<string, mixed> $with */
    public function call(callable $fn, array $with = []): mixed
    {
        $reflection = new \ReflectionFunction($fn instanceof \Closure ? $fn : \Closure::fromCallable($fn));
        $arguments = [];
        foreach ($reflection->getParameters() as $p) {
            $type = $p->getType();
            if (array_key_exists($p->getName(), $with)) {
                $value = $with[$p->getName()];
                if ($type instanceof \ReflectionNamedType && $type->getName() === 'int')
                    $value = (int) $value;
                $arguments[$p->getName()] = $value;
            } elseif ($type instanceof \ReflectionNamedType && !$type->isBuiltin()) {
                $arguments[$p->getName()] = $this->get($type->getName());
            } elseif ($p->isDefaultValueAvailable()) {
                $arguments[$p->getName()] = $p->getDefaultValue();
            }
        }
        return $fn(...$arguments);
    }

    /** @return list<array{string, ?string, bool, mixed}> */
    private function plan(string $class): array
    {
        if (!class_exists($class))
            throw new NotFound($class);
        $reflection = new \ReflectionClass($class);
        if (!$reflection->isInstantiable())
            throw new NotFound($class);
        $plan = [];
        foreach ($reflection->getConstructor()?->getParameters() ?? [] as $p) {
            $type = $p->getType();
            $name = $type instanceof \ReflectionNamedType && !$type->isBuiltin() ? $type->getName() : null;
            foreach ($p->getAttributes(Inject::class) as $attribute)
                $name = $attribute->newInstance()->id;
            $optional = $p->isDefaultValueAvailable();
            $plan[] = [$p->getName(), $name, $optional, $optional ? $p->getDefaultValue() : null];
        }
        return $plan;
    }

    public function offsetExists(mixed $offset): bool
    {
        return $this->has($offset);
    }

    public function offsetGet(mixed $offset): mixed
    {
        return $this->get($offset);
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
        $this->set($offset, $value);
    }

    public function offsetUnset(mixed $offset): void
    {
        unset($this->shared[$offset], $this->factories[$offset]);
    }
}
