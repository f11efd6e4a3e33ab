<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

declare(strict_types=1);
require __DIR__ . '/../lib/page.php';

$errors = [
    UPLOAD_ERR_INI_SIZE => 'larger than upload_max_filesize (' . ini_get('upload_max_filesize') . ')',
    UPLOAD_ERR_FORM_SIZE => 'larger than the form allows',
    UPLOAD_ERR_PARTIAL => 'arrived in part only',
    UPLOAD_ERR_NO_FILE => 'no file chosen',
    UPLOAD_ERR_NO_TMP_DIR => 'no folder for temporary files',
    UPLOAD_ERR_CANT_WRITE => 'could not be written',
    UPLOAD_ERR_EXTENSION => 'stopped by an extension',
];
$posted = $_SERVER['REQUEST_METHOD'] === 'POST';
$file = $_FILES['file'] ?? null;
$single = is_array($file) && is_string($file['name']) ? $file : null;

page_start('Form and upload');
?>
<form method="post" enctype="multipart/form-data" class="card">
  <label>Your name <input name="name" maxlength="100" required></label>
  <label>A file <input type="file" name="file"></label>
  <button>Send</button>
</form>
<?php if ($posted) { ?>
<h2>Received</h2>
<table>
  <tr><th>name</th><td><?= e(is_string($_POST['name'] ?? null) ? $_POST['name'] : '') ?></td></tr>
  <tr><th>body</th><td><?= e(bytes((int) ($_SERVER['CONTENT_LENGTH'] ?? 0))) ?></td></tr>
<?php if ($single && $single['error'] === UPLOAD_ERR_OK && is_uploaded_file($single['tmp_name'])) { ?>
  <tr><th>file</th><td><?= e($single['name']) ?></td></tr>
  <tr><th>type, as sent</th><td><?= e($single['type']) ?></td></tr>
  <tr><th>size</th><td><?= e(bytes($single['size'])) ?></td></tr>
  <tr><th>SHA-256</th><td><code><?= e(hash_file('sha256', $single['tmp_name'])) ?></code></td></tr>
  <tr><th>starts with</th><td><code><?=
    e(bin2hex((string) file_get_contents($single['tmp_name'], false, null, 0, 16))) ?></code></td></tr>
<?php } else { ?>
  <tr><th>file</th><td><?= e($errors[$single['error'] ?? UPLOAD_ERR_NO_FILE] ?? 'not usable') ?></td></tr>
<?php } ?>
</table>
<p>The server took the body in completely before a worker saw it, so a slow upload holds none.
The file is deleted when this page ends.</p>
<?php
}
page_end();
