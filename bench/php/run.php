<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// php run.php PROGRAM ROUNDS: one round to warm up, then so many that are timed. Prints the CPU time of a round in
// microseconds, and a hash of what the rounds found; they must all find the same.
date_default_timezone_set('UTC');
mb_internal_encoding('UTF-8');

function cpu(): float
{
    $u = getrusage();
    return ($u['ru_utime.tv_sec'] + $u['ru_stime.tv_sec']) * 1e6 + $u['ru_utime.tv_usec'] + $u['ru_stime.tv_usec'];
}

[, $program, $rounds] = $argv;
$round = (require is_file($program) ? $program : __DIR__ . "/$program.php")();
$first = md5($round());
gc_collect_cycles();
$before = cpu();
for ($i = 0; $i < (int) $rounds; $i++)
    if (md5($round()) !== $first)
        exit("$program does not find the same each time\n");
printf("%.3f %s\n", (cpu() - $before) / max(1, (int) $rounds), $first);
