<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// The product of two matrices of 50 by 50.
function bench_matrix(int $n, int $seed): array
{
    $rows = [];
    for ($i = 0; $i < $n; $i++) {
        $row = [];
        for ($j = 0; $j < $n; $j++) {
            $row[] = ($i * 7 + $j * 3 + $seed) % 11;
        }
        $rows[] = $row;
    }
    return $rows;
}

return function (): string {
    $n = 50;
    $a = bench_matrix($n, 1);
    $b = bench_matrix($n, 5);
    $trace = 0;
    $all = 0;
    for ($i = 0; $i < $n; $i++) {
        $row = $a[$i];
        for ($j = 0; $j < $n; $j++) {
            $sum = 0;
            for ($k = 0; $k < $n; $k++) {
                $sum += $row[$k] * $b[$k][$j];
            }
            $all = ($all * 17 + $sum) & 0xffffff;
            if ($i === $j) {
                $trace += $sum;
            }
        }
    }
    return "$trace $all";
};
