<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\I18n;

final class Translator
{
    /** @param array<string, array<string, string>> $texts */
    public function __construct(private array $texts, private string $locale = 'en')
    {
    }

    public function locale(string $locale): static
    {
        $clone = clone $this;
        $clone->locale = isset($this->texts[$locale]) ? $locale : 'en';
        return $clone;
    }

    public function get(string $id, array $with = []): string
    {
        $text = $this->texts[$this->locale][$id] ?? $this->texts['en'][$id] ?? $id;
        if (isset($with['%count%']) && str_contains($text, '|'))
            $text = $this->choose($text, (int) $with['%count%']);
        return $with ? strtr($text, array_map('strval', $with)) : $text;
    }

    private function choose(string $text, int $n): string
    {
        $forms = explode('|', $text);
        foreach ($forms as $form)
            if (preg_match('/^\{(\d+)\}\s*(.*)$/s', $form, $m) && (int) $m[1] === $n)
                return $m[2];
        $forms = array_values(array_filter($forms, static fn (string $f): bool => $f[0] !== '{'));
        $i = match ($this->locale) {
            'pl' => $n === 1 ? 0 : ($n % 10 >= 2 && $n % 10 <= 4 && ($n % 100 < 10 || $n % 100 >= 20) ? 1 : 2),
            'fr' => $n > 1 ? 1 : 0,
            default => $n === 1 ? 0 : 1,
        };
        return $forms[min($i, count($forms) - 1)];
    }
}
