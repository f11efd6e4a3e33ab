<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// 2,000 times file_exists(); half of the files are missing.
return function (string $folder): string {
    $found = 0;
    for ($i = 0; $i < 2000; $i++) {
        $name = $i % 2 ? 'none' : 'file';
        $found += file_exists("$folder/tree/d" . ($i % 100) . "/$name" . intdiv($i, 100) . '.txt') ? 1 : 0;
    }
    clearstatcache();
    return "$found of 2000";
};
