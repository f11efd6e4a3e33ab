<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Recursion and calls: the functions every language is measured with, queens, permutations, methods, references, variadics.
function fib(int $n): int
{
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

function ackermann(int $m, int $n): int
{
    if ($m === 0)
        return $n + 1;
    return ackermann($m - 1, $n === 0 ? 1 : ackermann($m, $n - 1));
}

function hanoi(int $n, array &$pegs, int $from, int $to, int $by): int
{
    if ($n === 0)
        return 0;
    $moves = hanoi($n - 1, $pegs, $from, $by, $to);
    $pegs[$to][] = array_pop($pegs[$from]);
    return $moves + 1 + hanoi($n - 1, $pegs, $by, $to, $from);
}

function queens(int $n, int $row = 0, int $columns = 0, int $left = 0, int $right = 0): int
{
    if ($row === $n)
        return 1;
    $found = 0;
    for ($free = ~($columns | $left | $right) & ((1 << $n) - 1); $free; $free &= $free - 1) {
        $bit = $free & -$free;
        $found += queens($n, $row + 1, $columns | $bit, ($left | $bit) << 1, ($right | $bit) >> 1);
    }
    return $found;
}

function permutations(array $items): Generator
{
    if (count($items) < 2) {
        yield $items;
        return;
    }
    foreach ($items as $i => $item) {
        $rest = $items;
        unset($rest[$i]);
        foreach (permutations(array_values($rest)) as $p)
            yield [$item, ...$p];
    }
}

abstract class Node
{
    private static int $made = 0;

    public function __construct(protected ?Node $left = null, protected ?Node $right = null)
    {
        self::$made++;
    }

    abstract public function value(): int;

    public static function tree(int $depth): Node
    {
        return $depth === 0 ? new Leaf($depth) : new Sum(self::tree($depth - 1), self::tree($depth - 1));
    }
}

final class Leaf extends Node
{
    public function __construct(private int $n)
    {
        parent::__construct();
    }

    public function value(): int
    {
        return $this->n + 1;
    }
}

final class Sum extends Node
{
    public function value(): int
    {
        return $this->left->value() + $this->right->value();
    }
}

function add(int ...$n): int
{
    $sum = 0;
    foreach ($n as $one)
        $sum += $one;
    return $sum;
}

function swap(mixed &$a, mixed &$b): void
{
    [$a, $b] = [$b, $a];
}

return static fn (): Closure => static function (): string {
    $pegs = [range(8, 1), [], []];
    $moves = hanoi(8, $pegs, 0, 2, 1);
    $sum = 0;
    foreach (permutations([1, 2, 3, 4, 5]) as $i => $p)
        $sum += $p[0] * $p[4];
    [$a, $b] = ['x', 'y'];
    for ($i = 0; $i < 3001; $i++) {
        swap($a, $b);
        $sum += add($i, 1, 2) + call_user_func('add', $i) + (static fn (int $n): int => $n * 2)($i);
        $name = $i & 1 ? 'strlen' : 'intval';
        $sum += $name("12$i");
    }
    return implode('|', [fib(20), ackermann(2, 40), $moves, count($pegs[2]), queens(7), $sum, $a, Node::tree(10)->value()]);
};
