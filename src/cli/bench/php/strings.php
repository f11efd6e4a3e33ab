<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Building and taking apart strings: appends, substrings, search and replace, case, trims.
return function (): string {
    $out = '';
    for ($i = 0; $i < 6000; $i++) {
        $word = 'item-' . $i;
        $out .= '<li class="' . ($i & 1 ? 'odd' : 'even') . '">' . strtoupper(substr($word, 0, 4)) . "$i</li>\n";
        if (strpos($word, '99') !== false) {
            $out = rtrim($out) . str_repeat('*', 3) . "\n";
        }
    }
    $lines = explode("\n", $out);
    $shout = str_replace(['odd', 'even'], ['o', 'e'], implode('|', $lines));
    $reversed = '';
    for ($i = strlen($shout) - 1; $i >= 0; $i -= 7) {
        $reversed .= $shout[$i];
    }
    return count($lines) . ' ' . crc32($shout) . ' ' . crc32($reversed);
};
