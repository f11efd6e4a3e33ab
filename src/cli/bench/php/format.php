<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Formatting: sprintf, number_format, dates, padding, HTML escapes.
return function (): string {
    $out = '';
    for ($i = 0; $i < 4000; $i++) {
        $out .= sprintf("%05d %-8s|%8.2f|%x %'*10s\n", $i, "n$i", $i / 8, $i * 255, 'x' . $i);
        $out .= number_format($i * 12.5, 2, ',', '.') . str_pad((string) $i, 8, '.', STR_PAD_BOTH);
        if ($i % 8 === 0) {
            $out .= gmdate('D, d M Y H:i:s', 1700000000 + $i * 3600);
        }
        $out .= htmlspecialchars("<b title=\"$i\">&amp;</b>", ENT_QUOTES);
    }
    return strlen($out) . ' ' . crc32($out);
};
