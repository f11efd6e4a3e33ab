<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Data structures by hand: sorts, heaps, hash maps, strings byte by byte, a dictionary, dynamic programming, graphs.
function quick(array $a): array
{
    if (count($a) < 2)
        return $a;
    $pivot = array_shift($a);
    $less = $more = [];
    foreach ($a as $v)
        if ($v < $pivot)
            $less[] = $v;
        else
            $more[] = $v;
    return [...quick($less), $pivot, ...quick($more)];
}

function heap(array &$a): void
{
    $down = static function (int $i, int $n) use (&$a): void {
        while (($child = 2 * $i + 1) < $n) {
            if ($child + 1 < $n && $a[$child + 1] > $a[$child])
                $child++;
            if ($a[$i] >= $a[$child])
                return;
            $t = $a[$i];
            $a[$i] = $a[$child];
            $a[$child] = $t;
            $i = $child;
        }
    };
    $n = count($a);
    for ($i = intdiv($n, 2); $i >= 0; $i--)
        $down($i, $n);
    while (--$n > 0) {
        [$a[0], $a[$n]] = [$a[$n], $a[0]];
        $down(0, $n);
    }
}

function bubble(array $a): array
{
    for ($n = count($a); $n > 1; $n = $last) {
        $last = 0;
        for ($i = 1; $i < $n; $i++)
            if ($a[$i - 1] > $a[$i]) {
                $t = $a[$i];
                $a[$i] = $a[$i - 1];
                $a[$i - 1] = $t;
                $last = $i;
            }
    }
    return $a;
}

function common(string $a, string $b): int
{
    $row = array_fill(0, strlen($b) + 1, 0);
    for ($i = 0, $la = strlen($a); $i < $la; $i++) {
        $diagonal = 0;
        for ($j = 1, $lb = strlen($b); $j <= $lb; $j++) {
            $up = $row[$j];
            $row[$j] = $a[$i] === $b[$j - 1] ? $diagonal + 1 : max($up, $row[$j - 1]);
            $diagonal = $up;
        }
    }
    return $row[strlen($b)];
}

function paths(int $size): array
{
    $queue = new SplQueue();
    $queue->enqueue([0, 0]);
    $distance = ['0:0' => 0];
    while (!$queue->isEmpty()) {
        [$x, $y] = $queue->dequeue();
        foreach ([[1, 0], [0, 1], [-1, 0], [0, -1]] as [$dx, $dy]) {
            $nx = $x + $dx;
            $ny = $y + $dy;
            $key = "$nx:$ny";
            if ($nx < 0 || $ny < 0 || $nx >= $size || $ny >= $size || isset($distance[$key]) || ($nx * 7 + $ny * 3) % 5 === 0)
                continue;
            $distance[$key] = $distance["$x:$y"] + 1;
            $queue->enqueue([$nx, $ny]);
        }
    }
    return $distance;
}

return static fn (): Closure => static function (): string {
    $seed = 1;
    $numbers = [];
    for ($i = 0; $i < 1200; $i++)
        $numbers[] = $seed = $seed * 16807 % 2147483647;
    $sorted = $heaped = $numbers;
    sort($sorted);
    heap($heaped);
    $out = [quick($numbers) === $sorted, $heaped === $sorted, bubble(array_slice($numbers, 0, 120))[0]];

    $text = '';
    for ($i = 0; $i < 600; $i++)
        $text .= chr(97 + $numbers[$i] % 26) . ($i % 6 ? '' : ' ');
    $frequency = [];
    for ($i = 0, $n = strlen($text); $i < $n; $i++) {
        $c = $text[$i];
        $frequency[$c] = ($frequency[$c] ?? 0) + 1;
    }
    arsort($frequency);
    $out[] = implode('', array_keys($frequency));
    $rotated = '';
    foreach (str_split($text) as $c)
        $rotated .= ctype_lower($c) ? chr((ord($c) - 97 + 13) % 26 + 97) : $c;
    $out[] = md5($rotated . strrev($text));
    $out[] = common(substr($text, 0, 150), substr($rotated, 50, 150));
    $table = [];
    for ($i = 0; $i < 6000; $i++) {
        $key = 'k' . $numbers[$i % 1200] % 997;
        if (isset($table[$key]))
            $table[$key] += $i;
        else
            $table[$key] = $i;
        if ($i % 11 === 0)
            unset($table[$key]);
    }
    $out[] = count($table) . ':' . array_sum($table);
    $counts = array_fill(0, 500, 0);
    $counts[0] = 1;
    foreach ([1, 2, 5, 10, 20, 50] as $coin)
        for ($i = $coin; $i < 500; $i++)
            $counts[$i] = ($counts[$i] + $counts[$i - $coin]) % 1000003;
    $out[] = $counts[499];
    $distance = paths(24);
    $out[] = count($distance) . ':' . max($distance);
    $grid = [];
    for ($y = 0; $y < 24; $y++)
        $grid[] = array_map(static fn (int $x): int => (int) ($numbers[$x + $y * 24] % 3 === 0), range(0, 23));
    for ($generation = 0; $generation < 6; $generation++) {
        $next = $grid;
        foreach ($grid as $y => $line)
            foreach ($line as $x => $alive) {
                $around = 0;
                for ($dy = -1; $dy <= 1; $dy++)
                    for ($dx = -1; $dx <= 1; $dx++)
                        $around += $grid[$y + $dy][$x + $dx] ?? 0;
                $around -= $alive;
                $next[$y][$x] = (int) ($around === 3 || ($alive && $around === 2));
            }
        $grid = $next;
    }
    $out[] = array_sum(array_map('array_sum', $grid));
    return json_encode($out, JSON_THROW_ON_ERROR);
};
