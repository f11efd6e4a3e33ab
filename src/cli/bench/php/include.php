<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// 500 small files included: a map, as language and configuration files are.
return function (string $folder): string {
    $sum = 0;
    for ($i = 0; $i < 500; $i++) {
        $map = include "$folder/include/i$i.php";
        $sum += $map['id'] + count($map);
    }
    return (string) $sum;
};
