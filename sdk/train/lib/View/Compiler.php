<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\View;

/** {{ value|filter }}, {! raw !}, @if/@for/@section/@include on lines of their own or within a line. */
final class Compiler
{
    private const BLOCKS = ['if' => 'if (%s):', 'elseif' => 'elseif (%s):', 'else' => 'else:', 'endif' => 'endif;',
        'endfor' => 'endforeach;', 'extends' => '$this->extend(%s);', 'section' => '$this->start(%s);',
        'endsection' => '$this->stop();', 'yield' => 'echo $this->section(%s);', 'set' => '%s;',
        'include' => 'echo $this->render(%s, get_defined_vars());'];

    public function compile(string $source): string
    {
        $source = (string) preg_replace('/\{#.*?#\}/s', '', $source);
        $source = (string) preg_replace_callback('/\{!\s*(.+?)\s*!\}/s',
            fn (array $m): string => '<?= ' . $this->expression($m[1]) . ' ?>', $source);
        $source = (string) preg_replace_callback('/\{\{\s*(.+?)\s*\}\}(\n)?/s',
            fn (array $m): string => '<?= $this->escape(' . $this->expression($m[1]) . ') ?>' . (isset($m[2]) ? "\n\n" : ''), $source);
        return (string) preg_replace_callback('/@(\w+)(\s*(\((?:[^()]++|(?3))*\)))?/', $this->block(...), $source);
    }

    private function block(array $m): string
    {
        $argument = isset($m[3]) ? trim(substr($m[3], 1, -1)) : '';
        if ($m[1] === 'for') {
            [$list, $as] = array_map('trim', explode(' as ', $argument, 2));
            $key = '$__k';
            if (str_contains($as, '=>'))
                [$key, $as] = array_map('trim', explode('=>', $as));
            return '<?php foreach ($this->loop(' . $this->path($list) . ") as $key => [$as, \$loop]): ?>";
        }
        if (!isset(self::BLOCKS[$m[1]]))
            return $m[0];
        return '<?php ' . sprintf(self::BLOCKS[$m[1]], $this->path($argument)) . ' ?>';
    }

    /** value|filter:argument|filter */
    private function expression(string $text): string
    {
        $parts = preg_split('/\|(?=\w+(?::|\||$))/', $text);
        $out = $this->path(array_shift($parts));
        foreach ($parts as $filter) {
            [$name, $arguments] = explode(':', $filter, 2) + [1 => ''];
            $out = "\$this->apply('$name', $out" . ($arguments === '' ? '' : ", $arguments") . ')';
        }
        return $out;
    }

    /** $a.b.c reads an array's element or an object's property. */
    private function path(string $text): string
    {
        return (string) preg_replace_callback('/(\$\w+)((?:\.[a-z_]\w*)+)/i', static function (array $m): string {
            return '\Train\Support\Arr::get(' . $m[1] . ", '" . substr($m[2], 1) . "')";
        }, $text);
    }
}
