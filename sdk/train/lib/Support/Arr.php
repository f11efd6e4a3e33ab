<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Support;

final class Arr
{
    public static function get(mixed $from, string $path, mixed $default = null): mixed
    {
        foreach (explode('.', $path) as $step) {
            if (is_array($from) || $from instanceof \ArrayAccess) {
                if (!isset($from[$step]))
                    return $from instanceof \ArrayAccess && method_exists($from, '__get') ? $from->$step : $default;
                $from = $from[$step];
            } elseif (is_object($from)) {
                $from = $from->$step ?? null;
            } else {
                return $default;
            }
        }
        return $from;
    }

    public static function set(array &$into, string $path, mixed $value): void
    {
        $at = &$into;
        $steps = explode('.', $path);
        $last = array_pop($steps);
        foreach ($steps as $step) {
            if (!isset($at[$step]) || !is_array($at[$step]))
                $at[$step] = [];
            $at = &$at[$step];
        }
        $at[$last] = $value;
    }

    public static function dot(array $values, string $prefix = ''): array
    {
        $out = [];
        foreach ($values as $key => $value)
            if (is_array($value) && $value !== [])
                $out += self::dot($value, "$prefix$key.");
            else
                $out[$prefix . $key] = $value;
        return $out;
    }

    public static function merge(array $a, array $b): array
    {
        foreach ($b as $key => $value)
            if (is_int($key))
                $a[] = $value;
            elseif (is_array($value) && isset($a[$key]) && is_array($a[$key]))
                $a[$key] = self::merge($a[$key], $value);
            else
                $a[$key] = $value;
        return $a;
    }
}
