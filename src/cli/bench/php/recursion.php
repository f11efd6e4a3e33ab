<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Calls of functions: Fibonacci numbers, the towers of Hanoi, Ackermann's function.
function bench_fib(int $n): int
{
    return $n < 2 ? $n : bench_fib($n - 1) + bench_fib($n - 2);
}

function bench_hanoi(int $n, int $from, int $to, int $over): int
{
    if ($n === 0) {
        return 0;
    }
    return bench_hanoi($n - 1, $from, $over, $to) + 1 + bench_hanoi($n - 1, $over, $to, $from);
}

function bench_ackermann(int $m, int $n): int
{
    if ($m === 0) {
        return $n + 1;
    }
    return $n === 0 ? bench_ackermann($m - 1, 1) : bench_ackermann($m - 1, bench_ackermann($m, $n - 1));
}

return fn (): string => bench_fib(21) . ' ' . bench_hanoi(14, 1, 3, 2) . ' ' . bench_ackermann(2, 60);
