<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Sorting 4,000 numbers: a quicksort in PHP, sort(), usort() with a callback.
function bench_quicksort(array &$v, int $low, int $high): void
{
    while ($low < $high) {
        $pivot = $v[($low + $high) >> 1];
        $i = $low;
        $j = $high;
        while ($i <= $j) {
            while ($v[$i] < $pivot) {
                $i++;
            }
            while ($v[$j] > $pivot) {
                $j--;
            }
            if ($i <= $j) {
                $t = $v[$i];
                $v[$i++] = $v[$j];
                $v[$j--] = $t;
            }
        }
        if ($j - $low < $high - $i) {
            bench_quicksort($v, $low, $j);
            $low = $i;
        } else {
            bench_quicksort($v, $i, $high);
            $high = $j;
        }
    }
}

return function (): string {
    $numbers = [];
    $x = 12345;
    for ($i = 0; $i < 4000; $i++) {
        $x = ($x * 1103515245 + 12345) & 0x7fffffff;
        $numbers[] = $x >> 8;
    }
    $ours = $theirs = $called = $numbers;
    bench_quicksort($ours, 0, count($ours) - 1);
    sort($theirs);
    usort($called, fn ($a, $b) => $b <=> $a);
    return ($ours === $theirs && $ours === array_reverse($called) ? 'same ' : 'different ')
        . $ours[0] . ' ' . $ours[3999];
};
