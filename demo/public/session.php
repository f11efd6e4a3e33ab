<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

declare(strict_types=1);
require __DIR__ . '/../lib/page.php';

$started = @session_start(['cookie_httponly' => true, 'cookie_samesite' => 'Lax']);
if ($started) {
    if (isset($_POST['reset'])) {
        $_SESSION = [];
        header('Location: /session.php', true, 303);
        return;
    }
    $_SESSION['count'] = ($_SESSION['count'] ?? 0) + 1;
    $_SESSION['workers'][getmypid()] = ($_SESSION['workers'][getmypid()] ?? 0) + 1;
    $count = $_SESSION['count'];
    $workers = $_SESSION['workers'];
    session_write_close();
}

page_start('Session');
if (!$started) {
    echo '<p>No session: ', e(error_get_last()['message'] ?? 'it could not be started'), '</p>';
    page_end();
    return;
}
?>
<p class="big"><?= e($count) ?></p>
<p>visits of this page in your session. Answered by these workers:</p>
<table>
  <tr><th>process</th><th>times</th></tr>
<?php foreach ($workers as $pid => $times) { ?>
  <tr><td><?= e($pid) ?></td><td><?= e($times) ?></td></tr>
<?php } ?>
</table>
<form method="post">
  <a class="button" href="/session.php">Once more</a>
  <button name="reset" value="1">Start again</button>
</form>
<?php
page_end();
