# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""`php -S`: what the stock command's development server answers, and a router's say in it."""
import os
import re
import socket
import subprocess
import threading

import pytest

import ephpm
from test_cli import STOCK

FILES = {
    "index.php": "<?php echo 'index ', $_SERVER['SCRIPT_NAME'], ' ', $_SERVER['PATH_INFO'] ?? '-', ' ',"
                 " PHP_SAPI, ' ', $_SERVER['REQUEST_URI'], ' ', json_encode([$_GET, $_POST, $_COOKIE]), ' ',"
                 " strlen(file_get_contents('php://input'));",
    "page.php": "<?php header('X-A: b'); http_response_code(201); echo getcwd() === __DIR__ ? 'here' : 'there';",
    "own.php": "<?php header('Date: Mon, 25 Mar 1985 00:20:00 GMT'); echo $_SERVER['HTTP_X_FORWARDED_FOR'];",
    "fatal.php": "<?php nosuch();",
    "style.css": "body {}",
    "wait.php": "<?php touch(\"$_GET[f].begun\"); for ($i = 0; $i < 6000 && !file_exists($_GET['f']); $i++) { usleep(10000); clearstatcache(); }"
                " echo getmypid(), $i < 6000 ? ' met' : ' alone';",
    "make.php": "<?php touch($_GET['f']); echo getmypid();",
    "dir/index.html": "<p>html",
    "empty/x.txt": "x",
    "router.inc": "<?php if (str_ends_with($_SERVER['REQUEST_URI'], '.css')) { echo 'lost'; header('X-Lost: 1');"
                  " return false; } if (preg_match('#^/(page|index)[.]php$#', $_SERVER['REQUEST_URI'])) return false;"
                  " echo 'router ', $_SERVER['REQUEST_URI'], ' ', $_SERVER['SCRIPT_NAME'];",
}


class CliServer:
    def __init__(self, program, folder, *args, **env):
        self.process = subprocess.Popen(
            [program, "-n", "-S", "127.0.0.1:0", "-t", folder, *args], cwd=folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, **env})
        line = self.process.stderr.readline()
        found = re.search(r"^(?:\[\d+\] )?\[.*\] PHP \S+ Development Server \(http://127\.0\.0\.1:(\d+)\) started", line)
        assert found, line
        self.port = int(found[1])

    def ask(self, data):
        """The whole answer to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as s:
            s.sendall(data)
            parts = []
            while part := s.recv(65536):
                parts.append(part)
        return b"".join(parts)

    def get(self, path, method="GET", head="", body=b""):
        text = f"{method} {path} HTTP/1.1\r\nHost: h\r\n{head}\r\n"
        answer = self.ask(text.encode() + body)
        first, _, rest = answer.partition(b"\r\n\r\n")
        return int(first.split()[1]), first, rest

    def stop(self):
        self.process.terminate()
        return self.process.communicate(timeout=60)[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    d = tmp_path_factory.mktemp("serve")
    for name, text in FILES.items():
        (d / name).parent.mkdir(exist_ok=True)
        (d / name).write_text(text)
    return d


@pytest.fixture(scope="module")
def server(folder):
    s = CliServer(ephpm.EPHPM_PHP, folder)
    yield s
    s.stop()


@pytest.fixture(scope="module")
def routed(folder):
    s = CliServer(ephpm.EPHPM_PHP, folder, folder / "router.inc")
    yield s
    s.stop()


@pytest.fixture(scope="module")
def stock(folder):
    if not STOCK:
        pytest.skip("no stock php")
    s = CliServer(STOCK, folder)
    yield s
    s.stop()


@pytest.mark.parametrize("path", [
    "/", "/index.php", "/index.php/a/b", "/?a=1&b[]=2", "/no/such", "/no/such.css", "/style.css", "/page.php",
    "/dir", "/dir/", "/empty", "/empty/", "/a%20b", "/page.php?x", "/no.php", "/no.php/x",
    "/dir/no.css", "/dir/a.b/c", "/empty/x", "/empty/x.css", "/index.php/a.css", "/page.php/x",
])
def test_paths_as_stock(server, stock, path):
    status, _, body = server.get(path)
    want, _, stock_body = stock.get(path)
    assert status == want
    assert status == 404 or body == stock_body


def test_post(server):
    assert server.get("/", "POST", "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n",
                      b"a=1")[2].endswith(b'[[],{"a":"1"},[]] 3')
    assert server.get("/", "POST", "Content-Type: application/x-www-form-urlencoded\r\n"
                      "Transfer-Encoding: chunked\r\n", b"3\r\na=1\r\n0\r\n\r\n")[2].endswith(b'{"a":"1"},[]] 3')
    assert server.get("/", "PUT", "Content-Length: 300000\r\n", b"x" * 300000)[2].endswith(b" 300000")


def test_continue(server):
    answer = server.ask(b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1\r\n\r\nx")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_head(server):
    status, head, body = server.get("/style.css", "HEAD")
    assert (status, body) == (200, b"") and b"Content-Length: 7" in head
    assert server.get("/", "HEAD")[2] == b""
    assert server.get("/style.css", "POST")[0] == 405


def test_repeated_request_header_is_joined_and_a_date_of_the_script_is_the_only_one(server):
    status, head, body = server.get(
        "/own.php", head="X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-For: 192.168.1.254\r\n")
    assert (status, body) == (200, b"127.0.0.1, 192.168.1.254")
    assert re.findall(rb"(?m)^Date: (.*?)\r?$", head) == [b"Mon, 25 Mar 1985 00:20:00 GMT"]


def test_a_fatal_error_is_one_request(server):
    assert server.get("/fatal.php")[0] in (200, 500)  # shown, so 200, unless display_errors is off
    assert server.get("/")[0] == 200


def test_connection_without_a_request_holds_nobody_up(server):
    """A browser opens connections ahead."""
    with socket.create_connection(("127.0.0.1", server.port)) as idle:
        idle.sendall(b"GET / HT")
        assert server.get("/")[0] == 200
        idle.sendall(b"TP/1.1\r\nHost: h\r\n\r\n")
        assert idle.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("data", [
    b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: h\r\n\r\n", b"GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: " + b"x" * 70000 + b"\r\n\r\n",
], ids=["nonsense", "two lengths", "leaves the root", "NUL", "escape", "asterisk", "too long"])
def test_bad_requests(server, data):
    assert server.ask(data).split()[1] in (b"400", b"431")
    assert server.get("/")[0] == 200


def test_lines_that_end_in_a_bare_lf(server):
    """As people type them, and PHP's own tests send them; the body stays as it is."""
    answer = server.ask(b"POST / HTTP/1.1\nHost: h\nContent-Length: 4\n\na\n\nb")
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b" 4")
    assert server.ask(b"GET / HTTP/1.0\n\n").startswith(b"HTTP/1.0 200")


def test_many_idle_connections(server):
    """The oldest make room."""
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    assert server.get("/")[0] == 200
    for s in idle:
        s.close()
    assert server.get("/")[0] == 200


def test_router(routed):
    assert routed.get("/no/such")[2] == b"router /no/such /index.php"
    status, head, body = routed.get("/style.css")
    assert (status, body) == (200, b"body {}"), "what it declined is served, without its output"
    assert b"X-Lost" not in head
    assert routed.get("/page.php")[0] == 201
    assert routed.get("/empty/no.css")[0] == 404


@pytest.mark.parametrize("head, body", [
    ("Content-Length: 3\r\n", b"a=1"), ("Transfer-Encoding: chunked\r\n", b"3\r\na=1\r\n0\r\n\r\n"),
], ids=["length", "chunked"])
def test_body_is_there_after_a_router_declined(routed, head, body):
    head += "Content-Type: application/x-www-form-urlencoded\r\n"
    assert routed.get("/index.php", "POST", head, body)[2].endswith(b'[[],{"a":"1"},[]] 3')


def test_log(folder):
    """The lines that `artisan serve` reads."""
    s = CliServer(ephpm.EPHPM_PHP, folder)
    s.get("/style.css?a")
    s.get("/empty/nosuch.css")
    log = s.stop()
    assert re.search(r"^\[\w+ \w+ [ \d]+ \d+:\d+:\d+ \d+\] 127\.0\.0\.1:\d+ Accepted$", log, re.M)
    assert re.search(r"\] 127\.0\.0\.1:\d+ \[200\]: GET /style\.css\?a$", log, re.M)
    assert re.search(r"\] 127\.0\.0\.1:\d+ \[404\]: GET /empty/nosuch\.css$", log, re.M)
    assert re.search(r"\] 127\.0\.0\.1:\d+ Closing$", log, re.M)


def test_workers_serve_side_by_side(folder, tmp_path):
    """The first client waits for the second one."""
    s = CliServer(ephpm.EPHPM_PHP, folder, PHP_CLI_SERVER_WORKERS="2")
    got = []
    first = threading.Thread(target=lambda: got.append(s.get(f"/wait.php?f={tmp_path}/f")[2]))
    first.start()
    assert ephpm.wait_for((tmp_path / "f.begun").exists)
    second = s.get(f"/make.php?f={tmp_path}/f")[2]
    first.join()
    assert got[0].endswith(b" met") and got[0].split()[0] != second
    assert len(set(re.findall(r"^\[(\d+)\] \[.*\] 127\.0\.0\.1:\d+ Accepted$", s.stop(), re.M))) == 2
    assert ephpm.wait_for(lambda: not listens(s.port)), "workers outlive the first process"


def listens(port):
    with socket.socket() as c:
        return c.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("args, says", [
    (["-S", "nonsense"], "Invalid address: nonsense"), (["-S", "127.0.0.1:99999"], "Invalid address"),
    (["-S", "127.0.0.1:0", "-t", "/nosuch"], "/nosuch does not exist"),
    (["-S", "127.0.0.1:0", "-t", "index.php"], "index.php is not a directory"),
    (["-S", "127.0.0.1:0", "nosuch.php"], "nosuch.php does not exist"),
])
def test_cannot_start(folder, args, says):
    p = subprocess.run([ephpm.EPHPM_PHP, "-n", *args], cwd=folder, capture_output=True, text=True, timeout=60)
    assert p.returncode == 1 and says in p.stderr


def test_port_in_use(folder, server):
    p = subprocess.run([ephpm.EPHPM_PHP, "-n", "-S", f"127.0.0.1:{server.port}"], cwd=folder, text=True,
                       capture_output=True, timeout=60)
    assert p.returncode == 1 and "Failed to listen on" in p.stderr and "address in use" in p.stderr
