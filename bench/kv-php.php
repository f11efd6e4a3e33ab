<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
//
// What a call costs, as bench/kv-php.sh asks for it:
//   ?do=cost&keys=N&redis=PORT   nanoseconds of CPU for each operation, the least of ROUNDS; of phpredis: of the clock
//   ?do=hammer&part=I&seconds=S&write=PERCENT
//                                operations per second of this process, ns of CPU for each
//   ?do=stall&seconds=S&with=get|md5
//                                the longest call, and how many of how many took over 1 ms
//   ?do=fill&keys=N              N keys; ?do=flush

const ROUNDS = 9;
const VALUE = 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv';

set_time_limit(0);
ini_set('memory_limit', '2G');

function cpu_ns(): float
{
    $r = getrusage();

    return 1e9 * ($r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec']) + 1e3 * ($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']);
}

/** Keys are made anew for each call, as applications do; the loop and that are subtracted with the empty function. */
function loop(string $what, array $numbers, int $times, ?Redis $redis): void
{
    for ($t = 0; $t < $times; $t++) {
        switch ($what) {
            case 'empty':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    gc_enabled();
                }
                break;
            case 'ephpm_kv_get':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    ephpm_kv_get($key);
                }
                break;
            case 'ephpm_kv_set':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    ephpm_kv_set($key, VALUE);
                }
                break;
            case 'apcu_fetch':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    apcu_fetch($key);
                }
                break;
            case 'apcu_store':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    apcu_store($key, VALUE);
                }
                break;
            case 'Redis::get':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    $redis->get($key);
                }
                break;
            case 'Redis::set':
                foreach ($numbers as $i) {
                    $key = 'user:' . $i;
                    $redis->set($key, VALUE);
                }
                break;
        }
    }
}

function cost(int $n, int $port): void
{
    $redis = new Redis();
    $redis->connect('127.0.0.1', $port);
    $numbers = range(1000000, 1000000 + $n - 1);
    mt_srand(7);
    shuffle($numbers);
    loop('ephpm_kv_set', $numbers, 1, null);
    loop('apcu_store', $numbers, 1, null);
    $few = array_slice($numbers, 0, 2000);
    loop('Redis::set', $few, 1, $redis);
    $best = [];
    $times = max(1, intdiv(200000, $n));
    for ($round = 0; $round < ROUNDS; $round++) {
        foreach (['empty', 'ephpm_kv_get', 'apcu_fetch', 'ephpm_kv_set', 'apcu_store'] as $what) {
            $from = cpu_ns();
            loop($what, $numbers, $times, null);
            $best[$what] = min($best[$what] ?? INF, (cpu_ns() - $from) / $n / $times);
        }
        foreach (['Redis::get', 'Redis::set'] as $what) {
            $from = hrtime(true);
            loop($what, $few, 1, $redis);
            $best[$what] = min($best[$what] ?? INF, (hrtime(true) - $from) / count($few));
        }
    }
    foreach ($best as $what => $ns) {
        $more = $ns - $best['empty'];
        $ours = $best[str_contains(strtolower($what), 'et') && !str_contains($what, 'store') && !str_contains($what, 'fetch')
            ? (str_ends_with($what, 'get') ? 'ephpm_kv_get' : 'ephpm_kv_set')
            : (str_ends_with($what, 'fetch') ? 'ephpm_kv_get' : 'ephpm_kv_set')] - $best['empty'];
        printf("%7d keys  %-13s %8.0f ns beyond an empty function", $n, $what, $more);
        echo str_starts_with($what, 'ephpm') || $what === 'empty' ? "\n" : sprintf("  %6.1f times ours\n", $more / $ours);
    }
}

function hammer(int $part, float $seconds, int $write): void
{
    $numbers = range(1000000, 1099999);
    mt_srand($part);
    shuffle($numbers);
    $done = 0;
    $at = 0;
    $cpu = cpu_ns();
    $end = hrtime(true) + $seconds * 1e9;
    do {
        for ($i = 0; $i < 1000; $i++) {
            $key = 'user:' . $numbers[$at++ % 100000];
            $at % 100 < $write ? ephpm_kv_set($key, VALUE) : ephpm_kv_get($key);
        }
        $done += 1000;
    } while (hrtime(true) < $end);
    echo $done / $seconds, ' ', (cpu_ns() - $cpu) / $done;
}

function stall(float $seconds, string $with): void
{
    $end = hrtime(true) + $seconds * 1e9;
    $n = $long = $worst = 0;
    do {
        $key = 'user:' . (1000000 + $n % 1000);
        $from = hrtime(true);
        $with === 'get' ? ephpm_kv_get($key) : md5(VALUE);
        $now = hrtime(true);
        $n++;
        $long += $now - $from > 1e6 ? 1 : 0;
        $worst = max($worst, $now - $from);
    } while ($now < $end);
    printf("%d of %d over 1 ms, longest %.3f ms", $long, $n, $worst / 1e6);
}

match ($_GET['do']) {
    'cost' => cost((int) $_GET['keys'], (int) $_GET['redis']),
    'hammer' => hammer((int) $_GET['part'], (float) $_GET['seconds'], (int) $_GET['write']),
    'stall' => stall((float) $_GET['seconds'], $_GET['with']),
    'fill' => loop('ephpm_kv_set', range(1000000, 1000000 + $_GET['keys'] - 1), 1, null),
    'flush' => ephpm_kv_flush_all(),
};
