<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

declare(strict_types=1);
require __DIR__ . '/../lib/page.php';

[$opcache, $jit] = opcache_texts();
$serverMs = (microtime(true) - $_SERVER['REQUEST_TIME_FLOAT']) * 1000;
$facts = [
    'PHP' => [PHP_VERSION, PHP_ZTS ? 'thread-safe build' : 'distribution build, not thread-safe'],
    'SAPI' => [PHP_SAPI, 'as applications see it'],
    'Server' => [$_SERVER['SERVER_SOFTWARE'] ?? 'unknown', $_SERVER['SERVER_PROTOCOL'] ?? ''],
    'Generation' => [$_SERVER['EPHPM_GENERATION'] ?? 'none', 'one more with every deploy'],
    'Worker' => [
        $_SERVER['EPHPM_WORKER'] ?? 'none',
        'process ' . getmypid() . ', reload to meet the others',
    ],
    'Request' => [
        worker_request_number() ?? 'not counted',
        'served by this worker so far, this page only',
    ],
    'OPcache' => [$opcache, ini_get('opcache.validate_timestamps')
        ? 'looks for changed files' : 'code goes live by deploy'],
    'JIT' => [$jit, 'decided by the mode and the version of PHP'],
    'Memory' => [bytes(memory_get_usage()), 'limit ' . ini_get('memory_limit')],
    'Time' => [number_format($serverMs, 2) . ' ms', 'from arrival to this line'],
];

page_start('It runs');
?>
<p class="lead">This page was made by PHP <?= e(PHP_VERSION) ?>, in a process of its own, behind one
server that needs no nginx and no FastCGI.</p>
<dl class="facts">
<?php foreach ($facts as $name => [$value, $note]) { ?>
  <div>
    <dt><?= e($name) ?></dt>
    <dd><strong><?= e($value) ?></strong><small><?= e($note) ?></small></dd>
  </div>
<?php } ?>
</dl>

<h2>Try</h2>
<ul class="links">
  <li><a href="/upload.php">A form and an upload</a>: what PHP receives of it.</li>
  <li><a href="/session.php">A session</a> that counts, whichever worker answers.</li>
  <li><a href="/stream.php">A live stream</a>: <code>flush()</code> reaches the browser at once.</li>
  <li><a href="/index.php/some/path?x=1">A path after the script</a>: see <code>PATH_INFO</code>.</li>
  <li><a href="/errors.php">Errors</a>: what happens to a request that fails, and to the next one.</li>
  <li><a href="/_ephpm/health">Health</a> and <a href="/_ephpm/ready">readiness</a>, for load balancers.</li>
</ul>

<h2>What the server says</h2>
<table>
<?php foreach (['REQUEST_METHOD', 'REQUEST_URI', 'SCRIPT_NAME', 'PATH_INFO', 'QUERY_STRING',
    'DOCUMENT_ROOT', 'HTTP_HOST', 'REMOTE_ADDR', 'HTTP_USER_AGENT'] as $key) { ?>
  <tr><th><?= e($key) ?></th><td><?= e($_SERVER[$key] ?? '(not set)') ?></td></tr>
<?php } ?>
</table>
<?php
page_end();
