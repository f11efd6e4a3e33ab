<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// The same walk with RecursiveDirectoryIterator and isFile().
return function (string $folder): string {
    $files = 0;
    $bytes = 0;
    $all = new RecursiveIteratorIterator(
        new RecursiveDirectoryIterator("$folder/tree", FilesystemIterator::SKIP_DOTS));
    foreach ($all as $entry) {
        if ($entry->isFile()) {
            $files++;
            $bytes += $entry->getSize();
        }
    }
    return "$files files, $bytes bytes";
};
