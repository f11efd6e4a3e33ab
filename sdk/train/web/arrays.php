<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Arrays as configuration trees, menus, carts and reports use them.
use Train\Orm\Collection;
use Train\Support\Arr;

return static fn (): Closure => static function (): string {
    $rows = [];
    for ($i = 0; $i < 400; $i++)
        $rows[] = ['id' => $i, 'parent' => $i ? intdiv($i - 1, 5) : null, 'name' => 'item ' . ($i * 37 % 400), 'price' => ($i * 7919) % 1000 / 4,
            'tags' => ['t' . $i % 7, 't' . $i % 11], 'meta' => ['weight' => $i % 13, 'colour' => ['red', 'green', 'blue'][$i % 3]]];

    $children = [];
    foreach ($rows as $row)
        $children[$row['parent'] ?? -1][] = $row;
    $tree = static function (int $id, int $depth) use (&$tree, $children): array {
        $out = [];
        foreach ($children[$id] ?? [] as $row)
            $out[] = ['name' => $row['name'], 'depth' => $depth, 'children' => $tree($row['id'], $depth + 1)];
        usort($out, static fn (array $a, array $b): int => strcmp($a['name'], $b['name']));
        return $out;
    };
    $flat = [];
    $walk = static function (array $nodes) use (&$walk, &$flat): void {
        foreach ($nodes as ['name' => $name, 'depth' => $depth, 'children' => $below]) {
            $flat[] = str_repeat(' ', $depth) . $name;
            $walk($below);
        }
    };
    $walk($tree(-1, 0));

    $out = [count($flat), md5(implode("\n", $flat))];
    $out[] = array_sum(array_column($rows, 'price'));
    $byColour = [];
    foreach ($rows as $row) {
        $c = &$byColour[$row['meta']['colour']];
        $c['n'] = ($c['n'] ?? 0) + 1;
        $c['sum'] = ($c['sum'] ?? 0) + $row['price'];
        $c['max'] = max($c['max'] ?? 0, $row['price']);
        unset($c);
    }
    ksort($byColour);
    $out[] = $byColour;
    $out[] = (new Collection($rows))->filter(static fn (array $r): bool => $r['price'] > 100)->groupBy('meta.weight')
        ->map(static fn (Collection $g): float => (float) $g->sum('price'))->sortBy(static fn (float $s): float => $s, true)->all();
    $out[] = (new Collection($rows))->pluck('price', 'name')->chunk(90)->map(static fn (Collection $c): int => count($c))->all();
    array_multisort(array_column($rows, 'price'), SORT_DESC, array_column($rows, 'id'), SORT_ASC, $rows);
    $out[] = array_column(array_slice($rows, 0, 10), 'name', 'id');
    $tags = array_unique(array_merge(...array_column($rows, 'tags')));
    natsort($tags);
    $out[] = array_values($tags);
    $config = ['app' => ['name' => 'x', 'debug' => false, 'paths' => ['a', 'b']], 'db' => ['hosts' => ['r' => ['h1', 'h2']]]];
    for ($i = 0; $i < 60; $i++) {
        $config = Arr::merge($config, ['app' => ['debug' => $i % 2 === 0, "k$i" => $i], 'cache' => ['stores' => ["s$i" => ['ttl' => $i]]]]);
        Arr::set($config, "deep.level$i.value", Arr::get($config, "cache.stores.s$i.ttl"));
    }
    $out[] = array_sum(array_filter(Arr::dot($config), 'is_int'));
    $a = range(1, 300);
    $b = range(150, 450, 3);
    $out[] = [array_sum(array_intersect($a, $b)), count(array_diff($a, $b)), array_search(200, $a, true), array_product([1, 2, 3]),
        count(array_intersect_key(array_flip($a), array_flip($b))), array_key_last($a), array_is_list($a), min($b), max($a)];
    $stack = [];
    for ($i = 0; $i < 300; $i++) {
        array_push($stack, $i, $i * 2);
        if ($i % 3 === 0)
            array_pop($stack);
        if ($i % 5 === 0)
            array_unshift($stack, array_shift($stack));
    }
    $out[] = array_sum($stack);
    [$first, , $third] = $a;
    ['app' => ['name' => $name]] = $config;
    $out[] = [$first, $third, $name, ...array_splice($a, 2, 3), ...array_map(null, [1, 2], ['x', 'y'])];
    array_walk_recursive($config, static function (mixed &$value): void {
        $value = is_string($value) ? strtoupper($value) : $value;
    });
    $out[] = md5(serialize($config)) . md5(var_export($byColour, true)) . strlen(print_r($rows[3], true));
    $copy = unserialize(serialize($rows));
    $copy[5]['tags'][] = 'more';
    $out[] = [$copy == $rows, count($copy, COUNT_RECURSIVE)];
    return json_encode($out, JSON_PRETTY_PRINT | JSON_THROW_ON_ERROR);
};
