# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""PHP scripts that several test modules put into their document root."""

# What a request looks like to PHP, as JSON. The body comes as its length, hash and first bytes.
ECHO = """<?php
$b = file_get_contents('php://input');
header('Content-Type: application/json');
header('X-Pid: ' . getmypid());
echo json_encode([
    'server' => $_SERVER, 'get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE,
    'files' => $_FILES, 'length' => strlen($b), 'md5' => md5($b), 'body' => substr($b, 0, 2000),
    'pid' => getmypid(),
], JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR);
"""

# ?n=bytes: a body of that size, in pieces of 64 KiB, after the headers of ?h[]=
BIG = """<?php
foreach ($_GET['h'] ?? [] as $h) header($h);
header('X-Pid: ' . getmypid());
$left = (int)($_GET['n'] ?? 0);
$piece = str_repeat('0123456789abcdef', 4096);
while ($left > 0) { echo substr($piece, 0, min($left, 65536)); $left -= 65536; }
"""

# Sends the headers of ?h[]=, the status of ?s=, then the body ?b=
HEADERS = """<?php
foreach ($_GET['h'] ?? [] as $h) header($h, false);
if (isset($_GET['s'])) http_response_code((int)$_GET['s']);
echo $_GET['b'] ?? 'body';
"""

PID = "<?php echo getmypid();"

# Sleeps ?ms=
SLEEP = "<?php usleep((int)($_GET['ms'] ?? 100) * 1000); echo 'slept ', getmypid();"

# Goes on once the file ?go= is there, so that a test decides what comes before what.
HELD = """<?php
while (!file_exists($_GET['go'])) { usleep(2000); clearstatcache(); }
echo 'held ', getmypid();
"""

# As HELD, with "begun" sent before.
BEGUN = """<?php
while (ob_get_level()) ob_end_flush();
echo "begun\\n"; flush();
while (!file_exists($_GET['go'])) { usleep(2000); clearstatcache(); }
echo "held\\n";
"""

# ?n= pieces, ?ms= apart, each flushed
DRIP = """<?php
foreach ($_GET['h'] ?? [] as $h) header($h);
while (ob_get_level()) ob_end_flush();
for ($i = 0; $i < (int)($_GET['n'] ?? 3); $i++) {
    if ($i) usleep((int)($_GET['ms'] ?? 100) * 1000);
    echo "piece $i\\n";
    flush();
}
"""


def gate(server):
    """The file that HELD and BEGUN shall wait for, as a path that is not there yet: touch() it."""
    server.gates = getattr(server, "gates", 0) + 1
    return server.dir / f"gate{server.gates}"


def snippet(server, code, folder=""):
    """Puts "<?php code" into a file of its own below the root, since code is taken to be immutable;
    returns its path. The opening tag is on the first line of code."""
    server.snippets = getattr(server, "snippets", 0) + 1
    path = f"{folder}/s{server.snippets}.php"
    server.write(path.lstrip("/"), "<?php " + code)
    return path
