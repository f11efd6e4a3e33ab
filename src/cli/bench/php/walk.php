<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// A walk through folders with opendir(), is_dir() and filesize().
function bench_walk(string $folder, int &$files, int &$bytes): void
{
    $dir = opendir($folder);
    while (($name = readdir($dir)) !== false) {
        if ($name === '.' || $name === '..') {
            continue;
        }
        $path = "$folder/$name";
        if (is_dir($path)) {
            bench_walk($path, $files, $bytes);
        } else {
            $files++;
            $bytes += filesize($path);
        }
    }
    closedir($dir);
}

return function (string $folder): string {
    $files = 0;
    $bytes = 0;
    bench_walk("$folder/tree", $files, $bytes);
    clearstatcache();
    return "$files files, $bytes bytes";
};
