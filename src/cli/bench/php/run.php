<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// run.php NAME WARM-UP REPEATS FOLDER: runs a benchmark and prints what it took, as one line of JSON.
[, $name, $warmup, $repeats, $folder] = $argv;
$run = require __DIR__ . "/$name.php";

function cpu_us(): int
{
    $r = getrusage();
    return ($r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec']) * 1000000
        + $r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec'];
}

$check = $run($folder);
for ($i = 1; $i < $warmup; $i++) {
    $run($folder);
}
$steady = true;
$before = cpu_us();
for ($i = 0; $i < $repeats; $i++) {
    $steady = $run($folder) === $check && $steady;
}
$us = cpu_us() - $before;
echo json_encode(['bench' => $name, 'us' => $us, 'repeats' => (int) $repeats,
    'check' => $steady ? $check : 'varies']), "\n";
