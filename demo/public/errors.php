<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

declare(strict_types=1);
require __DIR__ . '/../lib/page.php';

switch ($_GET['do'] ?? '') {
case 'exception':
    throw new RuntimeException('an exception that nobody catches');
case 'fatal':
    call_undefined_function_on_purpose();
    break;
case 'memory':
    $eater = [];
    while (true) {
        $eater[] = str_repeat('x', 1 << 20);
    }
    break;
case 'status':
    http_response_code(418);
    break;
}

page_start('Errors');
?>
<p>Each of these ends one request and nothing else. Look at the server's log, then reload the first page.
Where errors are shown (<code>display_errors</code>, on in <code>dev</code>) PHP answers with 200 and the message;
where they are not, with 500.</p>
<ul class="links">
  <li><a href="/errors.php?do=exception">An uncaught exception</a>.</li>
  <li><a href="/errors.php?do=fatal">A call of a function that does not exist</a>.</li>
  <li><a href="/errors.php?do=memory">More memory than memory_limit</a>.</li>
  <li><a href="/errors.php?do=status">A status of your own</a>: 418.</li>
  <li><a href="/no-such-file.css">A file that is not there</a>: the front controller answers.</li>
  <li><a href="/.hidden">A dot file</a>: 403.</li>
</ul>
<?php
page_end();
