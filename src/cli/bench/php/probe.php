<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// What this PHP is and what became of the settings that it got, as one line of JSON.
$status = function_exists('opcache_get_status') ? @opcache_get_status(false) : false;
$jit = $status['jit'] ?? [];
echo json_encode(['probe' => 'ephpm', 'php' => PHP_VERSION, 'sapi' => PHP_SAPI, 'zts' => (bool) PHP_ZTS,
    'debug' => (bool) PHP_DEBUG, 'opcache' => (bool) ($status['opcache_enabled'] ?? false),
    'jit' => ($jit['on'] ?? false) && ($jit['buffer_size'] ?? 0) > 0,
    'opcache_file' => is_file(ini_get('extension_dir') . '/opcache.so'),
    'opcache_builtin' => extension_loaded('Zend OPcache')]), "\n";
