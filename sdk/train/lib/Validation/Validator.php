<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Validation;

use Train\Support\{Arr, Str};

/** 'name' => 'required|string|max:40', with lists by 'items.*.quantity'. */
final class Validator
{
    private array $errors = [];

    public function __construct(private array $messages = [])
    {
    }

    public function validate(array $data, array $rules): array
    {
        $this->errors = [];
        $valid = [];
        foreach ($rules as $field => $list) {
            foreach ($this->expand($data, $field) as $path) {
                $value = Arr::get($data, $path);
                $ok = $this->check($path, $value, is_string($list) ? explode('|', $list) : $list, $data);
                if ($ok && $value !== null)
                    Arr::set($valid, $path, $value);
            }
        }
        if ($this->errors)
            throw new ValidationException($this->errors);
        return $valid;
    }

    private function expand(array $data, string $field): array
    {
        if (!str_contains($field, '*'))
            return [$field];
        $paths = [''];
        foreach (explode('.', $field) as $step) {
            $next = [];
            foreach ($paths as $path) {
                if ($step !== '*') {
                    $next[] = ltrim("$path.$step", '.');
                    continue;
                }
                foreach (array_keys((array) Arr::get($data, $path, [])) as $key)
                    $next[] = "$path.$key";
            }
            $paths = $next;
        }
        return $paths;
    }

    private function check(string $path, mixed $value, array $rules, array $data): bool
    {
        $empty = $value === null || $value === '' || $value === [];
        if ($empty && !in_array('required', $rules, true))
            return true;
        $ok = true;
        foreach ($rules as $rule) {
            if ($rule instanceof \Closure) {
                $passed = $rule($value, $data);
                $name = 'custom';
                $arguments = [];
            } else {
                [$name, $text] = explode(':', $rule, 2) + [1 => null];
                $arguments = $text === null ? [] : ($name === 'regex' ? [$text] : str_getcsv($text, ',', '"', '\\'));
                $passed = $this->{'rule' . Str::studly($name)}($value, ...$arguments);
            }
            if (!$passed) {
                $this->errors[$path][] = $this->message($name, $path, $arguments);
                $ok = false;
            }
        }
        return $ok;
    }

    private function message(string $rule, string $path, array $arguments): string
    {
        $text = $this->messages["$path.$rule"] ?? $this->messages[$rule] ?? ':field fails :rule (:arguments)';
        return strtr($text, [':field' => str_replace(['.', '_'], ' ', $path), ':rule' => $rule, ':arguments' => implode(', ', $arguments),
            ':min' => $arguments[0] ?? '', ':max' => $arguments[1] ?? $arguments[0] ?? '']);
    }

    private function ruleRequired(mixed $v): bool
    {
        return is_string($v) ? trim($v) !== '' : $v !== null && $v !== [];
    }

    private function ruleString(mixed $v): bool
    {
        return is_string($v);
    }

    private function ruleInt(mixed $v): bool
    {
        return filter_var($v, FILTER_VALIDATE_INT) !== false;
    }

    private function ruleEmail(mixed $v): bool
    {
        return filter_var($v, FILTER_VALIDATE_EMAIL) !== false;
    }

    private function ruleUrl(mixed $v): bool
    {
        return filter_var($v, FILTER_VALIDATE_URL) !== false;
    }

    private function ruleIn(mixed $v, string ...$of): bool
    {
        return in_array((string) $v, $of, true);
    }

    private function ruleMin(mixed $v, string $min): bool
    {
        return $this->size($v) >= (float) $min;
    }

    private function ruleMax(mixed $v, string $max): bool
    {
        return $this->size($v) <= (float) $max;
    }

    private function ruleBetween(mixed $v, string $min, string $max): bool
    {
        return $this->ruleMin($v, $min) && $this->ruleMax($v, $max);
    }

    private function ruleRegex(mixed $v, string $pattern): bool
    {
        return is_string($v) && preg_match($pattern, $v) === 1;
    }

    private function ruleDate(mixed $v, string $format = 'Y-m-d'): bool
    {
        $date = is_string($v) ? \DateTimeImmutable::createFromFormat('!' . $format, $v) : false;
        return $date !== false && $date->format($format) === $v;
    }

    private function ruleArray(mixed $v): bool
    {
        return is_array($v);
    }

    private function size(mixed $v): float
    {
        return (float) match (true) {
            is_int($v), is_float($v) => $v,
            is_array($v), $v instanceof \Countable => count($v),
            default => mb_strlen((string) $v),
        };
    }
}
