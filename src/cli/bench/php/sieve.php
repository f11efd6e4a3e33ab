<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// The sieve of Eratosthenes up to 50,000.
return function (): string {
    $limit = 50000;
    $composite = array_fill(0, $limit + 1, false);
    $count = 0;
    $last = 0;
    for ($i = 2; $i <= $limit; $i++) {
        if ($composite[$i]) {
            continue;
        }
        $count++;
        $last = $i;
        for ($j = $i * $i; $j <= $limit; $j += $i) {
            $composite[$j] = true;
        }
    }
    return "$count $last";
};
