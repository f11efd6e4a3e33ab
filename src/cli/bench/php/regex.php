<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Regular expressions: finding, replacing with a callback, splitting, a router's alternatives.
return function (): string {
    $text = '';
    for ($i = 0; $i < 400; $i++) {
        $text .= "user$i@example.org wrote on 2024-0" . (1 + $i % 9) . "-1" . ($i % 10)
            . " about [[Page $i|a page]] and https://example.org/p/$i?x=$i\n";
    }
    $mails = preg_match_all('/\b[\w.]+@[\w.]+\.\w{2,}\b/', $text);
    $dates = preg_replace('/(\d{4})-(\d\d)-(\d\d)/', '$3.$2.$1', $text);
    $links = preg_replace_callback('/\[\[([^\]|]+)\|([^\]]+)\]\]/',
        fn (array $m): string => '<a href="/' . strtolower($m[1]) . '">' . $m[2] . '</a>', $dates);
    $words = preg_split('/[\s,.:\/]+/', $links, -1, PREG_SPLIT_NO_EMPTY);
    $router = '~^/(?|blog/(\d+)|shop/([a-z]+)/\d+|user/(\w+)/edit|(about))$~';
    $routed = 0;
    for ($i = 0; $i < 3000; $i++) {
        $path = ['/blog/' . $i, '/shop/shoes/7', "/user/u$i/edit", '/about', '/none'][$i % 5];
        $routed += preg_match($router, $path, $m) ? strlen($m[1]) : 0;
    }
    return "$mails " . count($words) . ' ' . crc32($links) . " $routed";
};
