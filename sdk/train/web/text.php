<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Strings as pages are made of them: escaping, slugs, wrapping, replacing, comparing, formatting, multibyte.
use Train\Support\Str;

final class Prose
{
    public const TEXT = "The harbour was quiet. Über den Dächern lag Nebel, and the café's owner said: \"Nothing happens — until it does.\"\n\n"
        . "A list follows:\n* first <em>item</em> & more\n* second item, http://shop.example/a?b=1&c=2\n\n"
        . "Some code: `echo 'x';` and a price of 1234.5 EUR. Καλημέρα κόσμε. 今日は世界。\n";

    public static function paragraphs(string $text): string
    {
        $html = '';
        foreach (preg_split('/\n{2,}/', trim($text)) as $block) {
            if (preg_match_all('/^\* (.+)$/m', $block, $items)) {
                $html .= strtok($block, "\n") . '<ul>';
                foreach ($items[1] as $item)
                    $html .= "<li>$item</li>";
                $html .= "</ul>\n";
            } else {
                $html .= '<p>' . str_replace("\n", "<br>\n", $block) . "</p>\n";
            }
        }
        return $html;
    }

    public static function links(string $html): string
    {
        return (string) preg_replace_callback('~\bhttps?://[^\s<>"]+~i', static function (array $m): string {
            $host = parse_url($m[0], PHP_URL_HOST);
            return sprintf('<a href="%s" rel="nofollow">%s</a>', htmlspecialchars($m[0]), $host);
        }, $html);
    }

    public static function entities(string $text): string
    {
        return strtr(htmlspecialchars($text, ENT_QUOTES), ['...' => '…', ' -- ' => ' – ', '(c)' => '©', '->' => '→']);
    }
}

return static fn (): Closure => static function (): string {
    $out = [];
    for ($i = 0; $i < 24; $i++) {
        $text = str_repeat(Prose::TEXT, 1 + $i % 3) . " $i";
        $out[] = Prose::links(Prose::paragraphs($text));
        $out[] = strlen(Prose::entities($text));
        $out[] = Str::slug(substr($text, 0, 60) . $i) . '|' . Str::limit($text, 30 + $i) . '|' . Str::excerpt($text, 9);
        $out[] = ucwords(strtolower(trim("  HELLO world $i \t\n"))) . lcfirst('Abc') . strrev((string) $i) . str_pad((string) $i, 6, '0', STR_PAD_LEFT);
        $out[] = wordwrap(strip_tags($text), 40, "\n", true);
        $words = str_word_count(strtolower($text), 1);
        $counts = array_count_values($words);
        arsort($counts);
        $out[] = implode(',', array_slice(array_keys($counts), 0, 5));
        $out[] = sprintf('%05.1f|%-10s|%+d|%x|%b|%e|%\'*10s|%2$s', $i / 3, "w$i", $i, $i * 99, $i, $i * 1.5, 'r');
        $out[] = number_format($i * 1234.567, 2) . number_format($i * 99999, 0, ',', '.');
        $out[] = similar_text('harbour', "harb$i") . levenshtein('kitten', "sit$i") . soundex("Quiet$i") . metaphone('Thumb');
        $out[] = mb_strtoupper(mb_substr($text, 20, 30)) . mb_strpos($text, 'Nebel') . mb_strlen($text) . mb_convert_case('élan vital', MB_CASE_TITLE);
        $out[] = bin2hex(substr(mb_convert_encoding('Grüße', 'ISO-8859-1', 'UTF-8'), 0, 8)) . mb_strwidth('今日 abc') . mb_detect_encoding($text, ['ASCII', 'UTF-8'], true);
        $out[] = strcmp("a$i", 'a12') <=> 0;
        $out[] = strncasecmp('HeLLo', 'hello w', 5) . substr_count($text, 'e') . stripos($text, 'NOTHING') . ucfirst(nl2br("x\ny"));
        $out[] = implode('-', str_split(md5((string) $i), 4)) . crc32("$i") . base64_encode(sha1("$i", true)) . urlencode("a b&$i=ü") . rawurlencode('ä/ö');
        $out[] = html_entity_decode('&lt;p&gt; &eacute; &amp; &#8364; &quot;') . addslashes("O'Re\"il\\ly") . stripslashes('a\\\'b') . quotemeta('1+1=2?');
        $out[] = vsprintf('%2$s %1$04d', [$i, chr(65 + $i)]) . implode(' ', sscanf("12 apples $i", '%d %s %d')) . ltrim("0$i", '0') . rtrim('1.500', '0');
        $out[] = substr_replace('Hello World', "PHP$i", 6, 5) . strpbrk('This is', 'st') . strstr('user@host', '@') . strrchr('a/b/c', '/') . ucwords('a-b c_d', '-_');
        $csv = str_getcsv("a,\"b \"\"q\"\" $i\",c;d", ',', '"', '\\');
        $out[] = implode('|', $csv) . http_build_query(['a' => [$i, 'b' => ['c' => 'd e']], 'f' => null, 'g' => true]);
        parse_str("a[]=1&a[]=2&b[x][y]=$i&c=%C3%BC", $parsed);
        $out[] = json_encode($parsed) . version_compare("8.$i.1", '8.10.0') . strnatcmp("img$i", 'img10');
    }
    return implode("\n", array_map('strval', $out));
};
