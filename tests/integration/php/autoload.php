<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

spl_autoload_register(static function (string $class): void {
    if (preg_match('~^Ephpm\\\\(\w+)\\\\(\w+)$~', $class, $m)) {
        require_once __DIR__ . '/adapters/' . strtolower($m[1]) . "/$m[2].php";
    }
});
