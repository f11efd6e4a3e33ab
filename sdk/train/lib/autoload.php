<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// A class per file, found the way Composer's autoloader finds them: a map of known classes first,
// then the folder of the namespace.
spl_autoload_register(static function (string $class): void {
    static $prefix = ['Train\\' => __DIR__];

    $length = strlen($class);
    for ($at = strrpos($class, '\\'); $at !== false; $at = strrpos($class, '\\', $at - $length - 1)) {
        $start = substr($class, 0, $at + 1);
        if (!isset($prefix[$start]))
            continue;
        $file = $prefix[$start] . '/' . str_replace('\\', '/', substr($class, $at + 1)) . '.php';
        if (is_file($file)) {
            include $file;
            return;
        }
    }
});
