<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// php cli.php PROGRAM ROUNDS CACHE: runs a program of web/ or loops/ so often and prints what it found. A program is a file
// that returns a closure; one call is one round and returns text that is the same each time.
[, $program, $rounds, $cache] = $argv + [1 => '', 2 => '1', 3 => sys_get_temp_dir()];
error_reporting(E_ALL);
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    throw new ErrorException($message, 0, $level, $file, $line);
});
date_default_timezone_set('UTC');
mb_internal_encoding('UTF-8');
require __DIR__ . '/lib/autoload.php';

$file = __DIR__ . "/$program.php";
if (!is_file($file)) {
    fwrite(STDERR, "cli.php: no program $program\n");
    exit(2);
}
$round = (require $file)($cache);
$first = null;
for ($i = 0; $i < (int) $rounds; $i++) {
    $found = md5($round());
    $first ??= $found;
    if ($found !== $first) {
        fwrite(STDERR, "cli.php: $program: round $i found $found, the first $first\n");
        exit(1);
    }
}
echo $first, "\n";
