<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Hash maps: words counted, numbers grouped, keys looked up and taken out.
return function (): string {
    $counts = [];
    for ($i = 0; $i < 30000; $i++) {
        $key = 'k' . ($i * 7919 % 2003);
        $counts[$key] = ($counts[$key] ?? 0) + 1;
    }
    $groups = [];
    for ($i = 0; $i < 20000; $i++) {
        $groups[$i % 97][] = $i;
    }
    $sum = 0;
    foreach ($groups as $k => $members) {
        $sum += $k * count($members);
    }
    $found = 0;
    for ($i = 0; $i < 10000; $i++) {
        if (isset($counts["k$i"])) {
            $found++;
            unset($counts["k$i"]);
        }
    }
    return "$sum $found " . count($counts);
};
