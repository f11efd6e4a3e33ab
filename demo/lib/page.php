<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* What the demo's pages share: escaping, the frame around a page, facts about where it runs. */

declare(strict_types=1);

function e(mixed $value): string
{
    return htmlspecialchars((string) $value, ENT_QUOTES | ENT_SUBSTITUTE);
}

function page_start(string $title): void
{
    $links = [
        '/' => 'Where it runs',
        '/upload.php' => 'Form and upload',
        '/session.php' => 'Session',
        '/stream.php' => 'Live stream',
        '/errors.php' => 'Errors',
    ];
    $here = $_SERVER['SCRIPT_NAME'] === '/index.php' ? '/' : $_SERVER['SCRIPT_NAME'];
    ?>
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title><?= e($title) ?> - ephpm</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
</head>
<body>
<header>
  <a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28"> ephpm</a>
  <nav>
    <?php foreach ($links as $path => $text) { ?>
    <a href="<?= e($path) ?>"<?= $path === $here ? ' aria-current="page"' : '' ?>><?= e($text) ?></a>
    <?php } ?>
  </nav>
</header>
<main>
<h1><?= e($title) ?></h1>
    <?php
}

function page_end(): void
{
    $ms = (microtime(true) - $_SERVER['REQUEST_TIME_FLOAT']) * 1000;
    ?>
</main>
<footer>
  Made by worker <?= getmypid() ?> in <?= number_format($ms, 2) ?> ms,
  <?= e(bytes(memory_get_peak_usage())) ?> at its peak.
</footer>
</body>
</html>
    <?php
}

function bytes(int|float $n): string
{
    foreach (['B', 'KiB', 'MiB'] as $unit) {
        if ($n < 1024) {
            return round($n, 1) . ' ' . $unit;
        }
        $n /= 1024;
    }
    return round($n, 1) . ' GiB';
}

/*
 * How many requests this worker process has served here. PHP forgets everything between two
 * requests except persistent connections, so the count lives in one: a database in memory.
 */
function worker_request_number(): ?int
{
    if (!extension_loaded('pdo_sqlite')) {
        return null;
    }
    try {
        $db = new PDO('sqlite::memory:', null, null, [
            PDO::ATTR_PERSISTENT => true,
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
        ]);
        $db->exec('CREATE TABLE IF NOT EXISTS seen (n INTEGER)');
        $db->exec('INSERT INTO seen SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM seen)');
        $db->exec('UPDATE seen SET n = n + 1');
        return (int) $db->query('SELECT n FROM seen')->fetchColumn();
    } catch (PDOException) {
        return null;
    }
}

/* OPcache's and the JIT's state: [text, text]. */
function opcache_texts(): array
{
    $status = function_exists('opcache_get_status') ? @opcache_get_status(false) : false;
    if (!$status || !$status['opcache_enabled']) {
        return ['off', 'off'];
    }
    $scripts = $status['opcache_statistics']['num_cached_scripts'];
    $used = bytes($status['memory_usage']['used_memory']);
    $jit = $status['jit'] ?? [];
    $on = ($jit['on'] ?? false) && ($jit['buffer_size'] ?? 0) > 0;
    return [
        "on, $scripts scripts in $used",
        $on ? 'on (' . ini_get('opcache.jit') . '), buffer ' . bytes($jit['buffer_size']) : 'off',
    ];
}
