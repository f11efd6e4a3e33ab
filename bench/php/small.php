<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// What interpreters are compared with: short loops over integers, strings, arrays, calls and properties, other ones than training has.
namespace Held\Small;

final class Vector
{
    public function __construct(public float $x = 0.0, public float $y = 0.0)
    {
    }

    public function add(Vector $o): Vector
    {
        return new Vector($this->x + $o->x, $this->y + $o->y);
    }

    public function length(): float
    {
        return sqrt($this->x * $this->x + $this->y * $this->y);
    }
}

function tak(int $x, int $y, int $z): int
{
    return $y >= $x ? $z : tak(tak($x - 1, $y, $z), tak($y - 1, $z, $x), tak($z - 1, $x, $y));
}

function gcd(int $a, int $b): int
{
    while ($b !== 0) {
        $t = $a % $b;
        $a = $b;
        $b = $t;
    }
    return $a;
}

function merge(array $a): array
{
    $n = count($a);
    if ($n < 2)
        return $a;
    $l = merge(array_slice($a, 0, $n >> 1));
    $r = merge(array_slice($a, $n >> 1));
    $out = [];
    for ($i = $j = 0; isset($l[$i]) && isset($r[$j]);)
        $out[] = $l[$i] <= $r[$j] ? $l[$i++] : $r[$j++];
    for (; isset($l[$i]); $i++)
        $out[] = $l[$i];
    for (; isset($r[$j]); $j++)
        $out[] = $r[$j];
    return $out;
}

function interpret(string $program): string
{
    $cells = [0];
    $p = 0;
    $out = '';
    $stack = $jump = [];
    for ($i = 0, $n = strlen($program); $i < $n; $i++)
        if ($program[$i] === '[') {
            $stack[] = $i;
        } elseif ($program[$i] === ']') {
            $o = array_pop($stack);
            $jump[$o] = $i;
            $jump[$i] = $o;
        }
    for ($i = 0; $i < $n; $i++)
        switch ($program[$i]) {
        case '>': if (!isset($cells[++$p])) $cells[$p] = 0; break;
        case '<': $p--; break;
        case '+': $cells[$p] = ($cells[$p] + 1) & 255; break;
        case '-': $cells[$p] = ($cells[$p] - 1) & 255; break;
        case '.': $out .= chr($cells[$p]); break;
        case '[': if (!$cells[$p]) $i = $jump[$i]; break;
        case ']': if ($cells[$p]) $i = $jump[$i]; break;
        }
    return $out;
}

return static fn (): \Closure => static function (): string {
    $sum = 0;
    for ($i = 0; $i < 60000; $i++)
        $sum = ($sum + $i * 3 % 7) ^ $i;
    $text = '';
    for ($i = 0; $i < 4000; $i++)
        $text .= 'x' . $i;
    $g = 0;
    for ($i = 1; $i < 120; $i++)
        for ($j = 1; $j < 40; $j++)
            $g += gcd($i, $j);
    $v = new Vector();
    for ($i = 0; $i < 3000; $i++)
        $v = $v->add(new Vector($i & 3, 0.5));
    $numbers = [];
    for ($i = 0; $i < 1500; $i++)
        $numbers[] = $i * 7919 % 1543;
    $words = [];
    for ($i = 0; $i < 5000; $i++)
        $words['w' . $i % 700] = ($words['w' . $i % 700] ?? 0) + 1;
    $hello = '++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++.';
    return implode('|', [$sum, md5($text), tak(10, 6, 2), $g, round($v->length(), 6), md5(implode(',', merge($numbers))), count($words), interpret($hello)]);
};
