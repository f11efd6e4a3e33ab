<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Http;

final class HeaderBag implements \IteratorAggregate
{
    private const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ_';
    private const LOWER = 'abcdefghijklmnopqrstuvwxyz-';

    /** @var array<string, list<string>> */
    private array $headers = [];

    public function __construct(array $headers = [])
    {
        foreach ($headers as $name => $value)
            $this->set((string) $name, $value);
    }

    public static function fromServer(array $server): self
    {
        $headers = new self();
        foreach ($server as $key => $value) {
            if (str_starts_with($key, 'HTTP_'))
                $headers->set(substr($key, 5), (string) $value);
            elseif (in_array($key, ['CONTENT_TYPE', 'CONTENT_LENGTH', 'CONTENT_MD5'], true) && $value !== '')
                $headers->set($key, (string) $value);
        }
        return $headers;
    }

    public function set(string $name, string|array $value, bool $replace = true): void
    {
        $name = strtr($name, self::UPPER, self::LOWER);
        $values = array_values((array) $value);
        if ($replace || !isset($this->headers[$name]))
            $this->headers[$name] = $values;
        else
            $this->headers[$name] = array_merge($this->headers[$name], $values);
    }

    public function get(string $name, ?string $default = null): ?string
    {
        return $this->headers[strtr($name, self::UPPER, self::LOWER)][0] ?? $default;
    }

    public function has(string $name): bool
    {
        return isset($this->headers[strtr($name, self::UPPER, self::LOWER)]);
    }

    /** The media types of an Accept header, the wanted first. */
    public function accepted(string $name): array
    {
        $weights = [];
        foreach (explode(',', $this->get($name, '')) as $index => $item) {
            $parts = array_map('trim', explode(';', $item));
            $q = 1.0;
            foreach (array_slice($parts, 1) as $parameter)
                if (sscanf($parameter, 'q=%f', $weight) === 1)
                    $q = (float) $weight;
            if ($parts[0] !== '')
                $weights[$parts[0]] = [$q, $index];
        }
        uasort($weights, static fn (array $a, array $b): int => $b[0] <=> $a[0] ?: $a[1] <=> $b[1]);
        return array_keys($weights);
    }

    public function getIterator(): \Generator
    {
        foreach ($this->headers as $name => $values)
            yield implode('-', array_map('ucfirst', explode('-', $name))) => $values;
    }

    public function __toString(): string
    {
        $lines = '';
        foreach ($this as $name => $values)
            foreach ($values as $value)
                $lines .= sprintf("%-16s %s\r\n", $name . ':', $value);
        return $lines;
    }
}
