<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Integer and float loops: counting, a sieve, a fractal, matrices, bodies that attract each other, a generator of numbers.
function collatz(int $below): array
{
    $best = [0, 0];
    for ($i = 1; $i < $below; $i++) {
        for ($n = $i, $steps = 0; $n !== 1; $steps++)
            $n = $n & 1 ? 3 * $n + 1 : $n >> 1;
        if ($steps > $best[1])
            $best = [$i, $steps];
    }
    return $best;
}

function sieve(int $n): int
{
    $prime = array_fill(0, $n + 1, true);
    for ($i = 2; $i * $i <= $n; $i++)
        if ($prime[$i])
            for ($j = $i * $i; $j <= $n; $j += $i)
                $prime[$j] = false;
    $count = 0;
    for ($i = 2; $i <= $n; $i++)
        $count += (int) $prime[$i];
    return $count;
}

function fractal(int $size): string
{
    $out = '';
    for ($y = 0; $y < $size; $y++) {
        for ($x = 0; $x < $size; $x++) {
            $cr = 2.8 * $x / $size - 2.1;
            $ci = 2.4 * $y / $size - 1.2;
            $zr = $zi = 0.0;
            for ($i = 0; $i < 40 && $zr * $zr + $zi * $zi < 4.0; $i++) {
                $t = $zr * $zr - $zi * $zi + $cr;
                $zi = 2 * $zr * $zi + $ci;
                $zr = $t;
            }
            $out .= $i === 40 ? '#' : ($i > 10 ? '+' : '.');
        }
        $out .= "\n";
    }
    return $out;
}

function multiply(array $a, array $b): array
{
    $n = count($b);
    $columns = count($b[0]);
    $c = [];
    foreach ($a as $i => $row)
        for ($j = 0; $j < $columns; $j++) {
            $sum = 0;
            for ($k = 0; $k < $n; $k++)
                $sum += $row[$k] * $b[$k][$j];
            $c[$i][$j] = $sum % 1009;
        }
    return $c;
}

final class Body
{
    public float $vx = 0.0;
    public float $vy = 0.0;

    public function __construct(public float $x, public float $y, public float $m)
    {
    }
}

function attract(int $steps): float
{
    $bodies = [];
    for ($i = 0; $i < 5; $i++)
        $bodies[] = new Body($i * 1.5, $i * $i * 0.7, 1.0 + $i);
    while ($steps-- > 0) {
        foreach ($bodies as $i => $a)
            for ($j = $i + 1; $j < 5; $j++) {
                $b = $bodies[$j];
                $dx = $a->x - $b->x;
                $dy = $a->y - $b->y;
                $d = $dx * $dx + $dy * $dy + 0.01;
                $f = 0.001 / ($d * sqrt($d));
                $a->vx -= $dx * $b->m * $f;
                $a->vy -= $dy * $b->m * $f;
                $b->vx += $dx * $a->m * $f;
                $b->vy += $dy * $a->m * $f;
            }
        foreach ($bodies as $a) {
            $a->x += $a->vx * 0.1;
            $a->y += $a->vy * 0.1;
        }
    }
    return array_sum(array_map(static fn (Body $b): float => $b->vx + $b->vy, $bodies));
}

return static fn (): Closure => static function (): string {
    $x = 0;
    for ($i = 0; $i < 100000; $i++) {
        $x += $i ^ ($i >> 3);
        if ($i % 7 === 0)
            $x &= 0xffffff;
    }
    $text = '';
    for ($i = 0; $i < 8000; $i++)
        $text .= $i % 10;
    $m = [];
    for ($i = 0; $i < 30; $i++)
        for ($j = 0; $j < 30; $j++)
            $m[$i][$j] = $i * $j % 17;
    return $x . strlen($text) . implode(',', collatz(1500)) . sieve(20000) . md5(fractal(36)) . json_encode(multiply($m, $m)) . round(attract(300), 9);
};
