<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Support;

final class Str
{
    private static array $snake = [];
    private static array $studly = [];

    public static function snake(string $text): string
    {
        return self::$snake[$text] ??= strtolower((string) preg_replace('/(?<!^)[A-Z]/', '_$0', $text));
    }

    public static function studly(string $text): string
    {
        return self::$studly[$text] ??= str_replace(' ', '', ucwords(str_replace(['-', '_'], ' ', $text)));
    }

    public static function slug(string $text): string
    {
        $text = strtr($text, ['ä' => 'ae', 'ö' => 'oe', 'ü' => 'ue', 'ß' => 'ss', 'é' => 'e', 'è' => 'e', 'ñ' => 'n', 'ç' => 'c']);
        $text = (string) preg_replace('~[^\pL\d]+~u', '-', mb_strtolower($text));
        return trim((string) preg_replace('~-{2,}~', '-', $text), '-');
    }

    public static function limit(string $text, int $length, string $end = '…'): string
    {
        if (mb_strlen($text) <= $length)
            return $text;
        return rtrim(mb_substr($text, 0, $length)) . $end;
    }

    public static function excerpt(string $html, int $words): string
    {
        $text = trim((string) preg_replace('/\s+/', ' ', strip_tags($html)));
        $list = explode(' ', $text, $words + 1);
        if (count($list) > $words)
            $list[$words] = '…';
        return implode(' ', $list);
    }

    public static function plural(string $word, int $n): string
    {
        if ($n === 1)
            return $word;
        foreach (['/(quiz)$/' => '\1zes', '/([^aeiou])y$/' => '\1ies', '/(s|x|ch|sh)$/' => '\1es', '/$/' => 's'] as $from => $to)
            if (preg_match($from, $word))
                return (string) preg_replace($from, $to, $word, 1);
        return $word;
    }

    public static function is(string $pattern, string $value): bool
    {
        if ($pattern === $value)
            return true;
        return (bool) preg_match('#^' . str_replace('\*', '.*', preg_quote($pattern, '#')) . '\z#u', $value);
    }
}
