<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// 300,000 integer operations and 20,000 appends to a string.
return function (): string {
    $sum = 0;
    for ($i = 0; $i < 300000; $i++) {
        $sum = ($sum * 31 + $i) & 0xffffff;
    }
    $text = '';
    for ($i = 0; $i < 20000; $i++) {
        $text .= chr(97 + $i % 26);
    }
    return $sum . ' ' . crc32($text);
};
