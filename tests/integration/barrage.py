# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Sends mutated requests (mutation.py) to a server over several connections, and finds out whether
it stays itself.

Behind every mutated request comes a sentinel, a plain request with a token of its own. A mutated
request may be refused, swallow the sentinel, or end the connection. But a response that carries a
token is that of the sentinel, in order and complete; every response is well-formed; and every
connection comes to an end. Sentinels on connections of their own are always answered.

Barrage.run() raises Failure at the first thing that must not be. finish() looks at the server
itself afterwards: log, processes, descriptors, files.
"""
import collections
import gzip
import random
import re
import selectors
import socket
import time

import ephpm
from mutation import mutated

PATIENCE = 2  # seconds that the server waits for a client
GROWTH = 32 << 20  # bytes that the front may take on after the first 5,000 requests
STUCK = 60  # seconds without a byte on a connection; the server's own limits are PATIENCE
FILES = {
    "index.php": "<?php require 'echo.php';",
    "token.php": "<?php $t = $_GET['t'] ?? $_POST['t'] ?? ''; if ($t === '') exit;"
                 "header('X-Token: ' . $t); echo 'token=', $t;",
    "echo.php": """<?php
$item = $_SERVER['HTTP_X_ITEM'] ?? '';
if (ctype_digit($item)) header('X-Item: ' . $item);
$files = [];
array_walk_recursive($_FILES, function ($v, $k) use (&$files) { $files[] = $v; });
foreach ($files as $f) if (is_string($f) && is_uploaded_file($f)) hash_file('crc32b', $f);
$in = file_get_contents('php://input');
foreach ([$_GET, $_POST, $files, $_COOKIE, $_SERVER, getallheaders(), $_REQUEST, getenv()] as $a)
    echo count($a), ' ', strlen(serialize($a)), ' ';
echo strlen($in), ' ', crc32($in);
""",
    "stream.php": "<?php $n = 0; $in = fopen('php://input', 'r');"
                  "while (!feof($in)) $n += strlen(fread($in, 777)); echo $n, ' ', count($_FILES);",
    "big.php": """<?php
$n = min(200000, max(0, (int)($_GET['n'] ?? 10)));
while (ob_get_level()) ob_end_flush();
for (; $n > 0; $n -= 5000) {
    echo str_repeat('x', min($n, 5000));
    if (isset($_GET['flush'])) flush();
}
""",
    # A length that is longer than the body cuts the connection, and rightly.
    "headers.php": r"""<?php
foreach ((array)($_GET['h'] ?? []) as $h)
    if (is_string($h) && !preg_match('/x-token|x-item|content-length:(?!4$)/i', $h))
        header($h, false);
if (isset($_GET['s'])) http_response_code((int)$_GET['s']);
echo 'body';
""",
    "finish.php": "<?php header('X-A: b'); echo 'first'; fastcgi_finish_request();"
                  "echo str_repeat('x', 20000), file_get_contents('php://input');",
    "hints.php": "<?php header('Link: </a>; rel=preload'); if (function_exists('headers_send'))"
                 "headers_send(103); ob_start('ob_gzhandler'); echo str_repeat('y', 3000);",
    "static.txt": "0123456789" * 500,
    "static.txt.gz": gzip.compress(b"0123456789" * 500, mtime=0),
    "sub/index.php": "<?php echo 'sub';",
    ".hidden": "hidden",
}
CONFIG = {
    "server": {
        "timeouts": {"header_read": PATIENCE, "idle": PATIENCE, "body": PATIENCE,
                     "send": "20s", "request": "60s"},
        "request": {"max_body_size": 1 << 20, "memory_buffer": 4096, "spool_dir": "{dir}/tmp",
                    "streaming_paths": ["/stream.php"]},
        "response": {"buffer_memory": 65536},
        "security": {"trusted_proxies": ["127.0.0.1"]},
    },
    "php": {"workers": 3, "workers_min": 3, "max_requests": 0, "shed_after_ms": 60000,
            "ini_overrides": [["upload_tmp_dir", "{dir}/tmp"], ["post_max_size", "256K"],
                              ["log_errors", "0"]]},
}
# On top of it: everything spills over early.
TIGHT = {
    "server": {
        "request": {"max_body_size": 3000, "memory_buffer": 16, "max_header_size": 1200,
                    "max_headers": 20, "max_uri": 300},
        "response": {"buffer_memory": 4096, "max_spool": 4096, "compression_streaming": "all",
                     "compression_min_size": 1, "headers": [["X-Added", "1"]]},
        "file_cache": {"max_entries": 2, "inline_threshold": 0, "precompress": False},
        "limits": {"max_connections": 1000, "per_ip_max_connections": 1000,
                   "per_site_rate": 1000000.0, "per_site_burst": 100000},
        "static": {"hidden_files": "ignore"},
    },
}
# Log lines that say that a process ended or had to.
DEATHS = re.compile(r"\b(worker_(died|failed|killed|abandoned|channel_broken|channel_refused"
                    r"|message_unexpected)|role_died|crash_loop)\b")


class Failure(AssertionError):
    pass


def start_server(tight=False):
    return ephpm.Server(ephpm.merge(CONFIG, TIGHT) if tight else CONFIG, FILES)


# --- responses -----------------------------------------------------------------------------------

STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9]) [\t -~\x80-\xff]*")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*)")
START = b"HTTP/1."


class Malformed(Exception):
    pass


def read_chunked(buf, at):
    """(body, end), or None while it is incomplete."""
    parts = []
    while True:
        eol = buf.find(b"\r\n", at)
        if eol < 0:
            return None
        line = bytes(buf[at:eol])
        if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", line):
            raise Malformed(f"chunk size {line[:40]!r}")
        n, at = int(line, 16), eol + 2
        if len(buf) < at + n + 2:
            return None
        if buf[at + n:at + n + 2] != b"\r\n":
            raise Malformed("chunk without end of line")
        if n == 0:
            return b"".join(parts), at + 2
        parts.append(bytes(buf[at:at + n]))
        at += n + 2


def read_head(buf):
    """(status, fields, length of the head), or None."""
    end = buf.find(b"\r\n\r\n")
    if end < 0:
        if len(buf) > 100000 or buf[:len(START)] != START[:len(buf)]:
            raise Malformed(f"no head: {bytes(buf[:200])!r}")
        return None
    lines = bytes(buf[:end]).split(b"\r\n")
    m = STATUS.fullmatch(lines[0])
    if not m:
        raise Malformed(f"status line {lines[0][:200]!r}")
    fields = {}
    for line in lines[1:]:
        f = FIELD.fullmatch(line)
        if not f:
            raise Malformed(f"header line {line[:200]!r}")
        name = f[1].lower()
        if name in fields and name in (b"content-length", b"transfer-encoding", b"x-token"):
            raise Malformed(f"{name} twice")
        fields[name] = f[2]
    return int(m[1]), fields, end + 4


def read_response(buf, eof, perhaps_head):
    """(status, fields, body, length) of the first response in buf, or None while it is incomplete.
    perhaps_head: the request may have been HEAD, so a body is announced but need not come."""
    head = read_head(buf)
    if head is None:
        return None
    status, fields, at = head
    te, cl = fields.get(b"transfer-encoding"), fields.get(b"content-length")
    if te is not None and (te != b"chunked" or cl is not None):
        raise Malformed(f"Transfer-Encoding {te!r}, Content-Length {cl!r}")
    if cl is not None and not cl.isdigit():
        raise Malformed(f"Content-Length {cl!r}")
    if status < 200 or status in (204, 304):
        if te is not None or (cl is not None and status != 304):
            raise Malformed(f"{status} announces a body")
        return status, fields, b"", at
    if perhaps_head and (te is not None or cl not in (None, b"0")):
        rest = bytes(buf[at:at + len(START)])
        if rest == START or (eof and not rest):
            return status, fields, b"", at
        if START.startswith(rest):
            return None
    if te is not None:
        chunked = read_chunked(buf, at)
        return chunked and (status, fields, *chunked)
    if cl is not None:
        end = at + int(cl)
        return (status, fields, bytes(buf[at:end]), end) if len(buf) >= end else None
    return (status, fields, bytes(buf[at:]), len(buf)) if eof else None


# --- one connection ------------------------------------------------------------------------------

def sentinel(token, way):
    if way == 0:
        return b"GET /token.php?t=%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % token
    body = b"t=" + token
    head = (b"POST /token.php HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n")
    if way == 1:
        return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return head + b"Transfer-Encoding: chunked\r\n\r\n1\r\nt\r\n%x\r\n%s\r\n0\r\n\r\n" % (
        len(body) - 1, body[1:])


class Client:
    """A connection and what was sent on it. items: indices of mutated requests; none: the sentinel
    alone. manner: how it behaves, "well" for most."""

    def __init__(self, barrage, items, rng):
        self.barrage, self.items, self.manner = barrage, list(items), "well"
        if items:
            self.manner = rng.choices(["well", "drip", "abort", "half", "slow"],
                                      [90, 4, 2, 2, 2])[0]
        self.tokens, parts = [], []
        for i in items:
            self._add(parts, mutated(barrage.seed, i), rng)
        if not items:
            self._add(parts, b"", rng)
        self.sent = b"".join(parts)
        self.perhaps_head = b"HEAD" in self.sent
        self.at = self.answered = 0
        self.buf, self.eof = bytearray(), False
        self.rng = rng
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.sock.setblocking(False)
        self.sock.connect_ex(barrage.server.address)
        self.opened = self.touched = time.monotonic()

    def _add(self, parts, data, rng):
        token = b"%d-%x" % (len(self.barrage.used), rng.getrandbits(40))
        self.barrage.used.append(token)
        self.tokens.append(token)
        parts += [data, sentinel(token, rng.randrange(3))]

    def close(self):
        if self.manner == "abort":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()

    @property
    def done(self):
        return self.eof or self.answered == len(self.tokens)

    def write(self):
        """False when there is no more to send."""
        n = self.rng.randrange(1, 400) if self.manner == "drip" else 1 << 18
        try:
            self.at += self.sock.send(self.sent[self.at:self.at + n])
        except BlockingIOError:
            return True
        except (ConnectionResetError, BrokenPipeError):
            return False
        if self.at < len(self.sent):
            return True
        if self.manner == "abort":
            self.eof = True
        elif self.manner == "half":
            try:
                self.sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # reset already
        return False

    def read(self):
        try:
            data = self.sock.recv(3000 if self.manner == "slow" else 1 << 18)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data, self.barrage.stats["reset"] = b"", self.barrage.stats["reset"] + 1
        self.touched = time.monotonic()
        self.eof = not data
        self.buf += data
        while self.buf:
            r = read_response(self.buf, self.eof, self.perhaps_head)
            if r is None:
                break
            del self.buf[:r[3]]
            self._on_response(*r[:3])
        if self.eof and self.buf and self.manner != "half":
            raise Malformed(f"closed within a response: {bytes(self.buf[:300])!r}")
        if self.answered == len(self.tokens) and self.buf:
            raise Malformed(f"more responses than requests: {bytes(self.buf[:300])!r}")

    def _on_response(self, status, fields, body):
        self.barrage.stats[status] += 1
        item, token = fields.get(b"x-item"), fields.get(b"x-token")
        self.barrage.stats["scripts"] += item is not None
        if item is not None and item not in self.sent:
            raise Malformed(f"the answer to another request: X-Item {item!r}")
        if token is None:
            if self.answered == len(self.tokens):
                raise Malformed(f"a {status} that nobody asked for")
            return
        if token not in self.tokens[self.answered:]:
            raise Malformed(f"a token that is not awaited: {token!r}, not in {self.tokens}")
        if status != 200 or body != b"token=" + token:
            raise Malformed(f"token {token!r} in a {status} with the body {body[:200]!r}")
        self.answered = self.tokens.index(token) + 1


# --- all of them ---------------------------------------------------------------------------------

class Barrage:
    """One run. stats: statuses and how connections ended."""

    def __init__(self, server, seed, connections=200, progress=None):
        self.server, self.seed, self.progress = server, seed, progress
        self.limit = connections
        self.rng = random.Random(seed)
        self.stats, self.used, self.rss = collections.Counter(), [], []
        self.selector = selectors.DefaultSelector()
        self.clients = set()

    def run(self, indices):
        self.pids = {w["pid"] for w in self.server.workers()}
        self.queue = collections.deque(indices)
        self.total, self.taken, self.due = len(self.queue), 0, 0
        swept = time.monotonic()
        try:
            while self.queue or self.clients:
                self._fill()
                for key, events in self.selector.select(1):
                    self._step(key.data, events)
                if time.monotonic() - swept > 1:
                    swept = time.monotonic()
                    self._sweep(swept)
        finally:
            for c in self.clients:
                c.sock.close()
            self.selector.close()

    def _fill(self):
        while len(self.clients) < self.limit and (self.queue or self.due):
            items = []
            if self.due:
                self.due = 0
            else:
                n = min(self.rng.choice([1, 2, 4, 6]), len(self.queue))
                items = [self.queue.popleft() for _ in range(n)]
            c = Client(self, items, self.rng)
            self.clients.add(c)
            self.selector.register(c.sock, selectors.EVENT_READ | selectors.EVENT_WRITE, c)

    def _step(self, c, events):
        try:
            if events & selectors.EVENT_WRITE and not c.write():
                self.selector.modify(c.sock, selectors.EVENT_READ, c)
            if events & selectors.EVENT_READ and not c.done:
                c.read()
        except Malformed as e:
            raise Failure(self._describe(c, str(e))) from None
        if c.done:
            self._end(c)

    def _describe(self, c, what):
        names = ", ".join(map(str, c.items)) or "none, a sentinel alone"
        return (f"{what}\nseed {self.seed}, connection of the requests: {names} ({c.manner}), "
                f"{c.answered} sentinels answered\nsent: {c.sent[:3000]!r}")

    def _end(self, c):
        self.selector.unregister(c.sock)
        c.close()
        self.clients.discard(c)
        if not c.items:
            # On a busy machine this client may have come too late with its request.
            late = not c.buf and time.monotonic() - c.opened >= PATIENCE
            self.due = c.answered != 1
            if self.due and not late:
                raise Failure(self._describe(c, "a plain request was not answered"))
            return
        before, n = self.taken, len(c.items)
        if c.answered < n and c.manner == "well":
            # The first that was not answered has ended the connection; those behind it come again.
            n = c.answered + 1
            self.queue.extendleft(reversed(c.items[n:]))
            self.stats["closed"] += 1
        elif c.answered < n:
            self.stats[c.manner] += 1
        self.taken += n
        if self.taken // 20 != before // 20:
            self.due = 1
        if self.taken // 5000 != before // 5000:
            self.rss.append(self.server.rss())
            if self.progress:
                self.progress(self)

    def _sweep(self, now):
        for c in self.clients:
            if now - c.touched > STUCK:
                raise Failure(self._describe(c, f"nothing came for {STUCK} seconds"))

    def finish(self):
        """What must hold when all requests are through. The server runs on."""
        s = self.server
        s.check()
        deaths = [line for line in s.log().splitlines() if DEATHS.search(line)]
        if deaths:
            raise Failure("a process ended:\n" + "\n".join(deaths[:20]))
        now = {w["pid"] for w in s.workers()}
        if not self.pids <= now:  # one in reserve may have come
            raise Failure(f"other workers than before: {self.pids}, now {now}")
        if self.rss and s.rss() - self.rss[0] > GROWTH:
            raise Failure(f"the front grew from {self.rss[0]} to {s.rss()} bytes")
        left = [p.name for p in s.tmp.iterdir()]
        if left:
            raise Failure(f"files left in the upload and spool directory: {left[:20]}")
        r = s.get("/token.php?t=end")
        if (r.status, r.body) != (200, b"token=end"):
            raise Failure(f"the server answers {r}")
