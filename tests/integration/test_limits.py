# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Bounds and timeouts: sizes, counts, connections, rates, slow clients, slow scripts."""
import re
import time

import pytest

import ephpm
import scripts
from httpc import build, wait_for

FILES = {"index.php": "<?php echo 'front';", "echo.php": scripts.ECHO, "pid.php": scripts.PID,
         "sleep.php": scripts.SLEEP, "big.php": scripts.BIG, "a.txt": "static\n",
         "drip.php": scripts.DRIP, "held.php": scripts.HELD, "spin.php": "<?php set_time_limit(0); while (true);"}

CONFIG = """
[server.request]
max_header_size = 4096
max_headers = 20
max_uri = 1000
[server.limits]
max_connections = 30
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


@pytest.fixture(scope="module")
def hasty():
    """For requests that take too long, and no others: even these may find the machine standing still."""
    with ephpm.Server("""[server.timeouts]
header_read = 1
request = 2
send = 1
[server.response]
buffer_memory = "64K"
""", FILES) as s:
        yield s


def whole(server):
    """All workers are there and idle. A third one is the reserve for requests of own PHP."""
    return wait_for(lambda: len(server.workers()) in (2, 3) and all(
        w["state"] == "idle" for w in server.workers()))


# --- sizes ---------------------------------------------------------------------------------------


def test_uri_length(server):
    assert server.get("/?" + "a" * 990).status == 200
    for n in 999, 3000, 100000:
        r = server.get("/?" + "a" * n)
        assert r.status == 414 and not r.keep_alive, n


def test_header_block_size(server):
    with server.connect() as c:
        assert c.request(target="/", headers={"X": "a" * 3000}).status == 200
        assert c.request(target="/", headers={"X": "a" * 4100}).status == 431
        assert c.at_end()


def test_header_count(server):
    with server.connect() as c:
        assert c.request(target="/", headers=[(f"X-{i}", "1") for i in range(19)]).status == 200
        assert c.request(target="/", headers=[(f"X-{i}", "1") for i in range(25)]).status == 431
        assert c.at_end()


def test_endless_header_is_refused_early(server):
    with server.connect() as c:
        c.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
        sent = 0
        try:
            while sent < 1 << 20:
                c.send(b"X-Y: " + b"z" * 500 + b"\r\n")
                sent += 507
                if sent > 8192:
                    time.sleep(0.002)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 1 << 20
    assert server.get("/").status == 200


def test_default_limits(serve):
    s = serve("", FILES)
    assert s.get("/", {"Cookie": "a" * 20000}).status == 200
    assert s.get("/", {"Cookie": "a" * 40000}).status == 431
    assert s.get("/?" + "a" * 8000).status == 200
    assert s.get("/?" + "a" * 9000).status == 414
    assert s.get("/", [(f"X-{i}", "1") for i in range(90)]).status == 200
    assert s.get("/", [(f"X-{i}", "1") for i in range(110)]).status == 431
    assert s.request("POST", "/", {"Content-Length": str((10 << 20) + 1)}).status == 413


def test_huge_chunk_size_and_extension(server):
    for line in b"f" * 40, b"5;" + b"e" * 100000, b"0" * 10000 + b"5":
        data = server.raw(build("POST", "/echo.php", {"Transfer-Encoding": "chunked"}) + line +
                          b"\r\nabcde\r\n0\r\n\r\n")
        assert data.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 ", b"HTTP/1.1 431 "))


def test_huge_trailer_is_refused(server):
    data = server.raw(build("POST", "/echo.php", {"Transfer-Encoding": "chunked"}) +
                      b"1\r\na\r\n0\r\n" + b"X: y\r\n" * 50000 + b"\r\n")
    assert data.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 ", b"HTTP/1.1 413 "))


# --- timeouts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nHo"])
def test_header_read_timeout_is_408(hasty, start):
    t = time.monotonic()
    with hasty.connect() as c:
        c.send(start)
        r = c.read_response()
        assert r.status == 408 and not r.keep_alive and c.at_end()
        assert time.monotonic() - t > 0.8


def test_dripping_headers_do_not_extend_the_timeout(hasty):
    with hasty.connect(timeout=0.05) as c:
        t = time.monotonic()
        data = b""
        while not data and time.monotonic() - t < 30:
            c.send(b"X")
            try:
                data = c.sock.recv(4096)
            except TimeoutError:
                pass
        assert data.startswith(b"HTTP/1.1 408 ")


def test_silent_connection_is_closed(hasty):
    t = time.monotonic()
    with hasty.connect() as c:
        assert c.at_end() and time.monotonic() - t > 0.8


def test_idle_timeout(serve):
    s = serve("[server.timeouts]\nidle = 2", FILES)
    with s.connect() as c:
        t = time.monotonic()
        assert c.request(target="/a.txt").status == 200
        assert c.at_end() and time.monotonic() - t > 1.8


def test_slow_headers_of_many_do_not_delay_others(serve):
    s = serve("[server.timeouts]\nheader_read = 100", FILES)
    slow = [s.connect() for _ in range(400)]
    try:
        for c in slow:
            c.send(b"GET / HTTP/1.1\r\nHost:")
        for _ in range(5):
            assert s.get("/pid.php").status == 200
        assert s.front()["connections"] == 400
    finally:
        for c in slow:
            c.close()


def test_send_timeout_cuts_a_client_that_takes_nothing(hasty):
    server = hasty
    size = len(server.log())
    for target in "/big.php?n=30000000", "/large.bin":
        if target.endswith("bin"):
            server.write("large.bin", b"x" * 30000000)
        with server.connect(rcvbuf=4096) as c:
            c.send(build(target=target))
            assert wait_for(lambda: server.front()["connections"] == 0), target
    assert len(re.findall("stage=send", server.log()[size:])) == 2


def test_slow_but_steady_client_is_not_cut(serve):
    server = serve("[server.timeouts]\nsend = 3\n[server.response]\nbuffer_memory = '64K'", FILES)
    with server.connect(rcvbuf=8192) as c:
        c.send(build(target="/big.php?n=10000000"))
        r = c.read_head()
        left = int(r.get("Content-Length") or 0)
        got, t = 0, time.monotonic()
        while time.monotonic() - t < 3.5:  # longer than the timeout
            got += len(c.read_some())
            time.sleep(0.02)
        while data := (c.read_some() if not left or got < left else b""):
            got += len(data)
            if not left and data.endswith(b"0\r\n\r\n"):
                break
        assert got >= 10000000


def test_request_timeout_is_504_and_frees_the_worker(hasty):
    server = hasty
    old = {w["pid"] for w in server.workers()}
    t = time.monotonic()
    assert server.get("/spin.php").status == 504 and time.monotonic() - t > 1.5
    assert whole(server)
    new = {w["pid"] for w in server.workers()}
    gone = old - new
    assert wait_for(lambda: not any(ephpm.alive(p) for p in gone))
    server.wait_log("php_timeout.*spin.php")
    assert server.get("/pid.php").status == 200


def test_request_timeout_within_an_answer_cuts_it(hasty):
    server = hasty
    with server.connect() as c:
        c.send(build(target="/drip.php?n=500&ms=100"))
        assert c.read_head().status == 200
        with pytest.raises(ephpm.httpc.ProtocolError):
            while c.read_chunk():
                pass
    assert wait_for(lambda: all(w["state"] == "idle" for w in server.workers()))


def test_many_timeouts_at_once_leave_the_pool_whole(hasty):
    """More than there are workers: those that wait time out in the queue."""
    server = hasty
    conns = [server.connect() for _ in range(12)]
    try:
        for c in conns:
            c.send(build(target="/sleep.php?ms=50000"))
        for c in conns:
            assert c.read_response().status in (503, 504)
    finally:
        for c in conns:
            c.close()
    assert whole(server)
    assert server.get("/pid.php").status == 200


# --- connections and rates -----------------------------------------------------------------------


def test_max_connections_is_503(server):
    conns = [server.connect() for _ in range(30)]
    try:
        for c in conns:
            assert c.request(target="/a.txt").status == 200
        with server.connect() as c:
            r = c.request(target="/a.txt")
            assert r.status == 503 and r.get("Retry-After") and not r.keep_alive
        for _ in range(10):
            with server.connect() as c:
                c.send(build(target="/a.txt") * 3)
                assert c.read_all().startswith(b"HTTP/1.1 503 ")
        for c in conns:
            assert c.request(target="/a.txt").status == 200
    finally:
        for c in conns:
            c.close()
    assert wait_for(lambda: server.front()["connections"] == 0)
    assert server.get("/a.txt").status == 200


def test_connections_per_address(serve):
    s = serve("[server.limits]\nper_ip_max_connections = 3", FILES)
    conns = [s.connect() for _ in range(3)]
    try:
        for c in conns:
            assert c.request(target="/a.txt").status == 200
        with s.connect() as c:
            assert c.read_all().startswith(b"HTTP/1.1 503 ")
        with s.connect(source="127.0.0.9") as c:
            assert c.request(target="/a.txt").status == 200
    finally:
        for c in conns:
            c.close()
    assert wait_for(lambda: s.front()["connections"] == 0)
    assert s.get("/a.txt").status == 200


def test_rate_per_address(serve):
    s = serve("[server.limits]\nper_ip_rate = 0.25\nper_ip_burst = 4", FILES)
    with s.connect() as c:
        answers = [c.request(target="/a.txt") for _ in range(8)]
        assert [r.status for r in answers[:4]] == [200] * 4
        refused = [r for r in answers if r.status == 429]
        assert len(refused) >= 3 and all(int(r.get("Retry-After")) >= 1 for r in refused)
        assert s.get("/a.txt").status == 429
        with s.connect(source="127.0.0.9") as other:
            assert other.request(target="/a.txt").status == 200
        assert wait_for(lambda: c.request(target="/a.txt").status == 200, 30, 0.2)


def test_rate_counts_bodies_and_php(serve):
    s = serve("[server.limits]\nper_ip_rate = 0.05\nper_ip_burst = 2", FILES)
    with s.connect() as c:
        assert c.request("POST", "/echo.php", (), b"x" * 100000).status == 200
        assert c.request("POST", "/echo.php", (), b"x" * 100000).status == 200
        assert c.request("POST", "/echo.php", (), b"x" * 100000).status == 429
    assert s.front()["php_executed"] == 2


def test_rate_per_site_is_for_php(serve):
    s = serve("[server.limits]\nper_site_rate = 0.05\nper_site_burst = 3", FILES)
    statuses = [s.get("/pid.php").status for _ in range(8)]
    assert statuses[:3] == [200] * 3 and 429 in statuses and set(statuses) <= {200, 429}
    assert s.get("/a.txt").status == 200


def test_trusted_hosts_421(serve):
    s = serve('[server.request]\ntrusted_hosts = ["example.org", "*.example.net"]', FILES)
    for host, status in [("example.org", 200), ("EXAMPLE.org:8080", 200), ("example.org.", 200),
                         ("a.example.net", 200), ("evil.example", 421), ("xexample.org", 421),
                         ("example.org.evil", 421), ("127.0.0.1", 421)]:
        r = s.get("/", host=host)
        assert r.status == status, host
    assert s.get("http://evil.example/", host="example.org").status == 421
    assert s.get("/", version="HTTP/1.0", host=None).status == 421
    assert s.get("/_ephpm/health", host="10.0.0.1").status == 200  # probes come by address


# --- queue ---------------------------------------------------------------------------------------


def test_full_queue_is_shed_with_retry_after(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1, "queue_size": 2, "shed_after_ms": 300}},
              FILES)
    conns = [s.connect() for _ in range(8)]
    try:
        go = scripts.gate(s)
        conns[0].send(build(target=f"/held.php?go={go}"))
        assert wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])
        for c in conns[1:]:
            c.send(build(target="/pid.php"))
        answers = [c.read_response() for c in conns[1:]]
        go.touch()
        assert conns[0].read_response().text.startswith("held")
    finally:
        for c in conns:
            c.close()
    assert all(r.status == 503 and r.get("Retry-After") for r in answers)
    assert s.front()["shed"] == 7
    assert s.get("/a.txt").status == 200


def test_overload_policy_wait(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1, "overload_policy": "wait",
                       "shed_after_ms": 50}}, FILES)
    conns = [s.connect() for _ in range(4)]
    try:
        for c in conns:
            c.send(build(target="/sleep.php?ms=150"))
        assert [c.read_response().status for c in conns] == [200] * 4
    finally:
        for c in conns:
            c.close()


def test_descriptors_run_out_and_come_back(serve):
    s = serve("", FILES, descriptors=60)
    conns = [s.connect() for _ in range(100)]
    try:
        served = conns[:10]
        for c in served:
            assert c.request(target="/pid.php").status == 200
            assert c.request(target="/a.txt").status in (200, 503)
        time.sleep(0.5)
        assert len(s.log_lines("accept_failed")) <= 10
    finally:
        for c in conns:
            c.close()
    assert wait_for(lambda: s.front()["connections"] == 0)
    assert s.get("/a.txt").status == 200 and s.get("/pid.php").status == 200
