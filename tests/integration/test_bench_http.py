# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""`ephpm bench http`: what it counts of servers that answer well, badly and not at all."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

import ephpm

PAGES = {
    "hello.php": "<?php echo 'hello';",
    "random.php": "<?php echo str_repeat('x', mt_rand(1, 50));",
    "status.php": "<?php http_response_code((int) $_GET['code']); echo 'x';",
    "header.php": "<?php if (($_SERVER['HTTP_X_PASS'] ?? '') !== 'one, two') http_response_code(403);",
    "count.php": "<?php file_put_contents(__DIR__ . '/count.txt', '.', FILE_APPEND); echo 'x';",
    "slow.php": "<?php usleep(200000); echo 'slow';",
    "flush.php": "<?php for ($i = 0; $i < 5; $i++) { echo 'part'; flush(); }",
}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server({"php": {"workers": 2}}, PAGES) as s:
        yield s


def run(url, *args, code=0):
    r = subprocess.run([ephpm.EPHPM, "bench", "http", url, *args], capture_output=True, text=True, timeout=120)
    assert r.returncode == code, r.stdout + r.stderr
    return r


def figures(url, *args, code=0):
    """Of a run in which something happened: a machine that stands still has nothing to show."""
    for _ in range(5):
        r = run(url, "--json", "-d", "0.4", *args, code=code)
        assert (r.stderr == "") == (code == 0)
        d = json.loads(r.stdout)
        if d["requests"] or any(d["errors"].values()):
            break
    return d


def until(fits, *args, **more):
    """Figures that fit, of one run in five: for what depends on the machine going on."""
    for _ in range(5):
        d = figures(*args, **more)
        if fits(d):
            break
    assert fits(d), d
    return d


def of(server, target):
    return f"http://127.0.0.1:{server.port}{target}"


def test_figures(server):
    # Little's law: four requests are under way all the time.
    d = until(lambda d: d["latency_us"]["mean"] == pytest.approx(4 / d["requests_per_second"] * 1e6, rel=0.25),
              of(server, "/hello.php"), "-c", "4", "-d", "0.8")
    assert d["statuses"] == {"200": d["requests"]}
    assert d["bodies"] == {"count": d["requests"], "first": 5, "min": 5, "max": 5, "differ": 0}
    assert d["errors"] == {"connect": 0, "cut": 0, "timeout": 0, "protocol": 0}
    t = d["latency_us"]
    assert 0 < t["min"] <= t["p50"] <= t["p90"] <= t["p99"] <= t["p99.9"] <= t["max"]
    assert t["min"] <= t["mean"] <= t["max"]
    assert d["seconds"] >= 0.4
    assert d["requests_per_second"] == pytest.approx(d["requests"] / d["seconds"], rel=0.01)
    assert d["connections_made"] == 4
    assert d["bytes_received"] > 5 * d["requests"]
    assert 0 < d["generator_busy"] <= 1.1


def test_server_saw_as_many(server):
    """What the generator counts, the server has answered."""
    count = server.root / "count.txt"
    count.touch()
    count.chmod(0o666)
    d = figures(of(server, "/count.php"), "-c", "3")
    assert ephpm.wait_for(lambda: all(w["state"] == "idle" for w in server.workers()))  # those under way
    seen = count.stat().st_size
    assert d["requests"] <= seen <= d["requests"] + 3


def test_table(server):
    r = run(of(server, "/hello.php"), "--duration=1", "--connections=2")
    for word in ("machine ", "per second", "p50 ", "p90 ", "p99 ", "max ", "200: ", "5 bytes, all alike",
                 "errors    none", "of CPU per request"):
        assert word in r.stdout


def test_sizes_that_differ_are_told(server):
    d = until(lambda d: d["requests"] > 20, of(server, "/random.php"))
    assert d["bodies"]["min"] < d["bodies"]["max"] <= 50 and d["bodies"]["differ"] > 0
    assert "are not as long as the first one" in run(of(server, "/random.php"), "-d", "1").stdout


def test_statuses(server):
    assert set(figures(of(server, "/status.php?code=302"))["statuses"]) == {"302"}
    r = run(of(server, "/status.php?code=503"), "-d", "1", code=1)
    assert " 503: " in r.stdout and "had a status of 4xx or 5xx" in r.stderr
    d = figures(of(server, "/none.php"), code=1)
    assert set(d["statuses"]) == {"404"} and d["bodies"]["count"] == 0


def test_headers(server):
    url = of(server, "/header.php")
    figures(url, code=1)
    figures(url, "-H", "X-Pass: one", "--header=X-Pass: two")


def test_chunked_and_streamed(server):
    d = figures(of(server, "/flush.php"), "-c", "3")
    assert d["bodies"]["first"] == 20 and d["bodies"]["differ"] == 0


def test_latency_is_what_the_page_takes(server):
    d = figures(of(server, "/slow.php"), "-c", "2", "-d", "2")
    assert 200_000 <= d["latency_us"]["min"] and d["latency_us"]["max"] <= (d["seconds"] + 1) * 1e6
    assert d["requests"] <= 2 * d["seconds"] / 0.2 + 2


def test_rate(server):
    d = until(lambda d: d["requests"] >= 85, of(server, "/hello.php"), "--rate", "50", "-d", "2")
    assert d["requests"] <= 50 * d["seconds"] + 2
    # Two workers that take 200 ms answer 10 a second: the others wait, which the latencies show.
    d = figures(of(server, "/slow.php"), "-c", "2", "--rate", "40", "-d", "2")
    assert d["late"] > 30 and d["latency_us"]["max"] > 700_000


def test_timeout(server):
    with listening(lambda c: time.sleep(60)) as url:
        d = figures(url, "-c", "2", "--timeout", "1", "-d", "2", code=1)
    assert d["requests"] == 0 and d["errors"]["timeout"] >= 2


def test_late_are_all_that_were_due_but_one():
    with listening(lambda c: time.sleep(60)) as url:
        d = figures(url, "-c", "1", "--rate", "700000", "-d", "1", code=1)
    # Request i is due at a whole millisecond; the first was sent.
    assert d["late"] // 700 in (int(d["seconds"] * 1000) - 1, int(d["seconds"] * 1000)), d
    assert d["late"] % 700 == 0


# --- servers that do what ours does not -----------------------------------------------------------

@contextlib.contextmanager
def listening(answer):
    """A server whose connections answer() gets, each in a thread of its own."""
    server = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve(c):
        with c, contextlib.suppress(OSError):
            answer(c)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def once(data):
    def answer(c):
        if c.recv(65536):
            c.sendall(data)
            c.shutdown(socket.SHUT_WR)
            c.recv(1)
    return answer


def always(data):
    def answer(c):
        while c.recv(65536):
            c.sendall(data)
    return answer


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("data, kind", [
    (OK + b"Content-Length: 10\r\n\r\nshort", "cut"),
    (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "cut"),
    (b"", "cut"),
    (b"HTTP/1.1 20", "cut"),
    (b"SSH-2.0-OpenSSH_9.2\r\n", "protocol"),
    (OK + b"Content-Length: 1\r\n\r\nx" + OK, "protocol"),
    (OK + b"Content-Length: x\r\n\r\n", "protocol"),
])
def test_bad_answers_are_errors(data, kind):
    with listening(once(data)) as url:
        d = figures(url, "-c", "2", code=1)
    assert d["requests"] == 0 and d["statuses"] == {}
    assert {k for k, n in d["errors"].items() if n} == {kind}


def test_connections_that_do_not_stay():
    with listening(once(OK + b"\r\nuntil the end")) as url:
        d = figures(url, "-c", "2")
    assert d["bodies"]["first"] == 13 and d["bodies"]["differ"] == 0
    assert d["connections_made"] >= d["requests"]
    with listening(once(OK + b"Connection: close\r\nContent-Length: 1\r\n\r\nx")) as url:
        assert figures(url, "-c", "2")["connections_made"] > 2


def test_announcements_are_no_answers():
    with listening(always(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No\r\n\r\n")) as url:
        d = figures(url, "-c", "2")
    assert d["statuses"] == {"204": d["requests"]} and d["connections_made"] == 2


def test_a_server_that_goes_away():
    """Errors are counted without hammering it, and what was answered stays."""
    count = [0]

    def answer(c):
        while c.recv(65536) and count[0] < 20:
            count[0] += 1
            c.sendall(OK + b"Content-Length: 0\r\n\r\n")
    with listening(answer) as url:
        d = figures(url, "-c", "2", "-d", "1", code=1)
    assert d["requests"] == 20 and 2 <= d["errors"]["cut"] < 500


def test_nginx(tmp_path):
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not nginx:
        pytest.skip("there is no nginx")
    (tmp_path / "file.txt").write_text("x" * 2000)
    port = ephpm.free_port()
    (tmp_path / "nginx.conf").write_text(f"""
daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log;
events {{}}
http {{ access_log {tmp_path}/access.log; client_body_temp_path {tmp_path}/b; proxy_temp_path {tmp_path}/p;
  fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u; scgi_temp_path {tmp_path}/s;
  keepalive_requests 50; server {{ listen 127.0.0.1:{port}; root {tmp_path}; }} }}
""")
    p = subprocess.Popen([nginx, "-c", f"{tmp_path}/nginx.conf", "-e", f"{tmp_path}/error.log"])
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        d = figures(f"http://localhost:{port}/file.txt", "-c", "4")
    finally:
        p.terminate()
        p.wait(60)
    assert d["bodies"]["first"] == 2000 and d["bodies"]["differ"] == 0
    logged = (tmp_path / "access.log").read_text().count('" 200 ')
    assert d["requests"] <= logged <= d["requests"] + 4
    assert d["connections_made"] >= d["requests"] // 50


def test_interrupt_shows_what_there_is(server):
    before = server.front()["php_executed"]
    p = subprocess.Popen([ephpm.EPHPM, "bench", "http", of(server, "/hello.php"), "-d", "60"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert ephpm.wait_for(lambda: server.front()["php_executed"] > before + 10)
    p.send_signal(signal.SIGINT)
    out, errors = p.communicate(timeout=60)
    assert p.returncode == 0 and errors == ""
    assert "It was stopped early." in out and " 200: " in out


@pytest.mark.parametrize("args, code, words", [
    ([], 2, ["the address is missing"]),
    (["http://a/", "http://b/"], 2, ["too many arguments: http://b/"]),
    (["http://a/", "-x"], 2, ["unknown flag: -x"]),
    (["http://a/", "-c", "0"], 2, ["--connections wants a number from 1 to 20000, not: 0"]),
    (["http://a/", "-d", "0"], 2, ["--duration wants seconds from 0.001 to 86400, not: 0"]),
    (["http://a/", "-d", "1.x"], 2, ["--duration", "1.x"]),
    (["http://a/", "-d", "."], 2, ["--duration", "."]),
    (["http://a/", "-d", "86401"], 2, ["--duration", "86401"]),
    (["http://a/", "-d"], 2, ["a value is missing after: -d"]),
    (["http://a/", "--rate=fast"], 2, ["--rate", "fast"]),
    (["https://a/"], 1, ["https is not possible yet"]),
    (["localhost"], 1, ["it starts with http://"]),
    (["http://a:99999/"], 1, ["the port is no number"]),
    (["http://a/", "-H", "nonsense"], 1, ["-H wants 'Name: value', not 'nonsense'"]),
    (["http://no-such-host.invalid/"], 1, ["there is no host no-such-host.invalid"]),
    (["http://127.0.0.1:1/"], 1, ["no connection to 127.0.0.1, port 1: connection refused"]),
])
def test_refused(args, code, words):
    r = subprocess.run([ephpm.EPHPM, "bench", "http", *args], capture_output=True, text=True, timeout=60)
    assert (r.returncode, r.stdout) == (code, "")
    assert r.stderr.startswith("ephpm bench http: ")
    for word in words:
        assert word in r.stderr


def test_too_many_connections():
    r = subprocess.run(["sh", "-c", f'ulimit -n 100; exec "{ephpm.EPHPM}" bench http http://127.0.0.1:1/ -c 90'],
                       capture_output=True, text=True)
    assert r.returncode == 1 and "90 connections are more than" in r.stderr and "ulimit -n" in r.stderr
