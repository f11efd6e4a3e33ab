<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Closures and generators: array_map, array_filter, a pipeline of functions, lazy sequences.
function bench_numbers(int $n): Generator
{
    for ($i = 0; $i < $n; $i++) {
        yield $i => $i * 3;
    }
}

function bench_even(iterable $in): Generator
{
    foreach ($in as $k => $v) {
        if ($v % 2 === 0) {
            yield $k => $v;
        }
    }
}

return function (): string {
    $factor = 3;
    $mapped = array_map(fn (int $x): int => $x * $factor, range(0, 9999));
    $odd = array_filter($mapped, function (int $x) use ($factor): bool {
        return ($x & 1) === 1 && $x > $factor;
    });
    $steps = [fn ($x) => $x + 1, fn ($x) => $x * 2, strlen(...), fn ($x) => $x - 1];
    $sum = 0;
    for ($i = 0; $i < 5000; $i++) {
        $v = $i;
        foreach ($steps as $step) {
            $v = $step((string) $v);
        }
        $sum += $v;
    }
    foreach (bench_even(bench_numbers(10000)) as $k => $v) {
        $sum += $v - $k;
    }
    return count($odd) . " $sum";
};
