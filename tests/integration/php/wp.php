<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
//
// What wp-content/object-cache.php needs of WordPress, for a multisite of which this is blog 1.

define('ABSPATH', __DIR__ . '/');
define('DB_NAME', $_GET['db'] ?? 'wordpress');
$table_prefix = 'wp_';
$wrong = [];

function is_multisite()
{
    return true;
}

function get_current_blog_id()
{
    return 1;
}

function wp_suspend_cache_addition()
{
    return $GLOBALS['suspended'] ?? false;
}

function _doing_it_wrong($function, $message, $version)
{
    $GLOBALS['wrong'][] = "$function $message";
}

require __DIR__ . '/adapters/wordpress/object-cache.php';
wp_cache_init();
