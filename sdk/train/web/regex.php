<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Regular expressions as lexers, routers, shortcodes and highlighters use them.
return static fn (): Closure => static function (): string {
    $out = [];
    $source = '';
    for ($i = 0; $i < 30; $i++)
        $source .= "if (\$user" . $i . "->isAllowed('edit', \$post[$i]) && count(\$list) >= $i.5) { return \"yes $i\"; } // note $i\n";
    $lexer = '~(?<comment>//[^\n]*)|(?<string>"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\')|(?<variable>\$\w+)|(?<number>\d+(?:\.\d+)?)'
        . '|(?<name>[a-z_]\w*)|(?<op>->|&&|>=|[-+*/(){}\[\];,])|(?<space>\s+)~iAS';
    $at = 0;
    $kinds = [];
    while ($at < strlen($source) && preg_match($lexer, $source, $m, PREG_UNMATCHED_AS_NULL, $at)) {
        foreach (['comment', 'string', 'variable', 'number', 'name', 'op', 'space'] as $kind)
            if (isset($m[$kind])) {
                $kinds[$kind] = ($kinds[$kind] ?? 0) + 1;
                break;
            }
        $at += strlen($m[0]);
    }
    $out[] = $kinds;

    $page = str_repeat("Text [gallery ids=\"1,2,3\" columns='2'] more [quote by=Ada]Words [b]here[/b][/quote] and **strong** or _soft_ `code`\n", 12);
    $tags = ['gallery' => static fn (array $a): string => '<ul class="c' . ($a['columns'] ?? 3) . '">' . count(explode(',', $a['ids'])) . '</ul>',
        'quote' => static fn (array $a, string $body): string => "<blockquote>$body<cite>$a[by]</cite></blockquote>",
        'b' => static fn (array $a, string $body): string => "<b>$body</b>"];
    $expand = static function (string $text) use (&$expand, $tags): string {
        return (string) preg_replace_callback('/\[(\w+)((?:\s+\w+=(?:"[^"]*"|\'[^\']*\'|[^\s\]]+))*)\](?:(.*?)\[\/\1\])?/s',
            static function (array $m) use ($expand, $tags): string {
                if (!isset($tags[$m[1]]))
                    return $m[0];
                preg_match_all('/(\w+)=(?:"([^"]*)"|\'([^\']*)\'|(\S+))/', $m[2], $pairs, PREG_SET_ORDER);
                $attributes = [];
                foreach ($pairs as $pair)
                    $attributes[$pair[1]] = end($pair);
                return $tags[$m[1]]($attributes, $expand($m[3] ?? ''));
            }, $text);
    };
    $out[] = md5($expand($page));
    $out[] = md5((string) preg_replace(['/\*\*(.+?)\*\*/', '/\b_(.+?)_\b/', '/`([^`]+)`/', '/\R/'], ['<b>$1</b>', '<i>$1</i>', '<code>\1</code>', "<br>\n"], $page));
    foreach (['2024-02-29', '29.2.2024', 'nope', '1999-12-31T23:59:59Z'] as $date)
        $out[] = preg_match('/^(?<y>\d{4})-(?<m>0\d|1[0-2])-(?<d>[0-2]\d|3[01])(?:T(\d\d):(\d\d):(\d\d)(Z)?)?$/', $date, $m) ? array_filter($m, 'is_string', ARRAY_FILTER_USE_KEY) : null;
    foreach (['someName', 'XMLHttpRequest', 'with_underscore', 'Train\\Routing\\Router'] as $name)
        $out[] = strtolower((string) preg_replace(['/([A-Z]+)([A-Z][a-z])/', '/([a-z\d])([A-Z])/', '~\\\\~'], ['\1_\2', '\1_\2', '.'], $name));
    $out[] = preg_split('/[\s,;]+/', "a, b;c  d,\te", -1, PREG_SPLIT_NO_EMPTY);
    $out[] = preg_grep('/^\p{Lu}\p{Ll}+$/u', ['Über', 'alle', 'Élan', 'ABC', 'Ñandú']);
    $out[] = preg_match_all('/(?<=\$)\w+(?=->)/', $source) . preg_quote('a.b*c?[d]') . preg_last_error_msg();
    $out[] = preg_replace_callback_array(['/\d+/' => static fn (array $m): string => (string) ($m[0] + 1), '/[aeiou]/' => static fn (array $m): string => strtoupper($m[0])], 'a1 bee 22 i333');
    for ($i = 0; $i < 120; $i++) {
        $path = '/blog/2024/' . sprintf('%02d', $i % 12 + 1) . "/post-$i.html";
        if (preg_match('#^/blog/(\d{4})/(\d{2})/([a-z0-9-]+)\.(html|json)$#D', $path, $m))
            $out[] = $m[3] . $m[2];
        $out[] = preg_match('/^[\w.+-]+@\w+(?:\.\w{2,})+$/', "user.$i@mail$i.example") + preg_match('/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/', "10.0.$i." . $i * 3);
    }
    return json_encode($out, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
};
