<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Events;

final class Dispatcher
{
    /** @var array<string, array<int, list<callable>>> */
    private array $listeners = [];
    /** @var array<string, list<callable>> */
    private array $sorted = [];

    public function listen(string $event, callable $listener, int $priority = 0): void
    {
        $this->listeners[$event][$priority][] = $listener;
        unset($this->sorted[$event]);
    }

    public function dispatch(object $event, ?string $name = null): object
    {
        foreach ($this->of($name ?? $event::class) as $listener) {
            if ($event instanceof Event && $event->stopped)
                break;
            $listener($event, $name, $this);
        }
        return $event;
    }

    /** @return list<callable> */
    private function of(string $name): array
    {
        if (isset($this->sorted[$name]))
            return $this->sorted[$name];
        $all = $this->listeners[$name] ?? [];
        krsort($all);
        return $this->sorted[$name] = array_merge(...array_values($all) ?: [[]]);
    }
}
