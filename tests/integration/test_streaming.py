# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Answers that come in pieces: flush(), event streams, slow readers, clients that leave."""
import os
import signal
import threading
import time

import pytest

import ephpm
import scripts
from ephpm import SANITIZED
from httpc import ProtocolError, build, wait_for

MB = 1 << 20

FILES = {
    "index.php": "<?php echo 'front';", "pid.php": scripts.PID, "drip.php": scripts.DRIP,
    "big.php": scripts.BIG, "a.txt": "static\n",
    # Each line says when it was written, so that the way to the client can be timed.
    "clock.php": """<?php while (ob_get_level()) ob_end_flush();
for ($i = 0; $i < 20; $i++) { usleep(10000); printf("%.6f\\n", microtime(true)); flush(); }""",
    "sse.php": """<?php header('Content-Type: text/event-stream');
header('Cache-Control: no-cache');
while (ob_get_level()) ob_end_flush();
register_shutdown_function(function () {
    file_put_contents($_GET['f'], connection_status() . ' ' . connection_aborted()); });
for ($i = 0; ; $i++) { echo "data: $i\\n\\n"; flush(); usleep(5000); }""",
    "endless.php": """<?php set_time_limit(0); while (ob_get_level()) ob_end_flush();
$s = str_repeat('x', 65536); while (true) { echo $s; flush(); }""",
    "early.php": "<?php flush(); usleep(600000); echo 'late';",
    "unbuffered.php": """<?php while (ob_get_level()) ob_end_flush();
header('X-Accel-Buffering: ' . $_GET['b']);
echo str_repeat('x', 40000); usleep(800000); echo 'end';""",
    "hold.php": "<?php echo 'a'; usleep(200000); echo 'b';",
    "ignore.php": """<?php ignore_user_abort(true); while (ob_get_level()) ob_end_flush();
for ($i = 0; $i < 30; $i++) { echo str_repeat('x', 100000); flush(); usleep(10000); }
file_put_contents($_GET['f'], 'ran to the end ' . connection_aborted());""",
    "finish.php": """<?php echo 'done'; fastcgi_finish_request(); usleep(600000);
file_put_contents($_GET['f'], connection_status() . getmypid());""",
    "quiet.php": """<?php set_time_limit(0); register_shutdown_function(function () {
    file_put_contents($_GET['f'], 'stopped'); });
while (true) { usleep(20000); if (connection_aborted()) exit; echo ' '; flush(); }""",
    "die.php": """<?php echo str_repeat('x', 100000); flush(); usleep(50000);
posix_kill(getmypid(), SIGKILL);""",
}

CONFIG = """
[server.response]
buffer_memory = "256K"
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def idle(server):
    return wait_for(lambda: all(w["state"] == "idle" for w in server.workers()))


def test_flushed_pieces_come_one_by_one(server):
    with server.connect() as c:
        c.send(build(target="/drip.php?n=4&ms=100"))
        r, times = c.read_head(), []
        for i in range(4):
            assert c.read_chunk() == f"piece {i}\n".encode()
            times.append(time.monotonic())
        assert c.read_chunk() == b"" and r.get("Content-Length") is None
        gaps = [b - a for a, b in zip(times, times[1:])]
        assert all(0.04 < g < 0.5 for g in gaps), gaps
        assert c.request(target="/a.txt").status == 200


def test_flush_reaches_the_client_in_milliseconds(server):
    late = []
    with server.connect() as c:
        c.send(build(target="/clock.php"))
        c.read_head()
        while chunk := c.read_chunk():
            late.append(time.time() - float(chunk))
    late.sort()
    assert len(late) == 20 and late[len(late) // 2] < 0.005 and late[-1] < 0.25, late


def test_without_flush_the_answer_is_one_piece(server):
    with server.connect() as c:
        r = c.request(target="/hold.php")
        assert r.get("Content-Length") == "2" and not r.chunked


def test_flush_before_output_sends_the_head(server):
    with server.connect() as c:
        t = time.monotonic()
        c.send(build(target="/early.php"))
        assert c.read_head().status == 200
        assert time.monotonic() - t < 0.5
        assert c.read_chunk() == b"late" and c.read_chunk() == b""


def test_flush_over_http_1_0_ends_with_the_connection(server):
    with server.connect() as c:
        c.send(build(target="/drip.php?n=2&ms=50", version="HTTP/1.0"))
        r = c.read_head()
        assert not r.all("Transfer-Encoding") and not r.keep_alive
        assert c.read_all() == b"piece 0\npiece 1\n"


def test_head_of_a_stream(server):
    with server.connect() as c:
        r = c.request("HEAD", "/drip.php?n=2&ms=10")
        assert r.status == 200 and r.body == b""
        assert c.request(target="/a.txt").status == 200


def test_event_stream_ends_when_the_client_leaves(server):
    for how in "close", "reset":
        f = server.tmp / f"sse-{how}"
        c = server.connect()
        c.send(build(target=f"/sse.php?f={f}"))
        assert c.read_head().get("Content-Type").startswith("text/event-stream")
        for i in range(10):
            assert c.read_chunk() == f"data: {i}\n\n".encode()
        getattr(c, how)()
        assert wait_for(lambda: f.exists() and f.read_text(), 5) == "1 1"
        f.unlink()
        assert idle(server)


def test_quiet_client_loss_is_noticed(server):
    """A stream that writes little: its script learns of the loss without filling a buffer."""
    f = server.tmp / "quiet"
    c = server.connect()
    c.send(build(target=f"/quiet.php?f={f}"))
    c.read_head()
    c.close()
    assert wait_for(f.exists, 5)
    assert idle(server)
    f.unlink()


def test_endless_stream_has_flat_memory(server):
    front = server.front()["front_pid"]
    with server.connect() as c:
        c.send(build(target="/endless.php"))
        c.read_head()
        c.read_exactly(20 * MB)
        before = server.rss(front)
        c.read_exactly(150 * MB)
        # (The address sanitizer keeps freed memory for a while: quarantine_size_mb of Server.)
        assert server.rss(front) - before < (16 if SANITIZED else 4) * MB
    assert idle(server)


def test_endless_stream_to_a_stalled_client_is_bounded(serve):
    """Memory and spool are bounded; then the worker waits and the send timeout ends it."""
    s = serve('[server.timeouts]\nsend = 2\n[server.response]\nbuffer_memory = "256K"', FILES)
    before = s.rss()
    with s.connect(rcvbuf=4096) as c:
        c.send(build(target="/endless.php"))
        assert c.read_head().status == 200
        assert wait_for(lambda: s.front()["connections"] == 0, 20, 0.1)
        assert s.rss() - before < 16 * MB
    s.wait_log("stage=send")


def test_slow_reader_holds_no_worker(server):
    readers = [server.connect(rcvbuf=4096) for _ in range(4)]
    before = server.rss()
    try:
        for c in readers:
            c.send(build(target=f"/big.php?n={10 * MB}"))
        assert wait_for(lambda: all(w["state"] == "idle" for w in server.workers()) and
                        server.front()["php_executed"] > 0, 10)
        t = time.monotonic()
        assert server.get("/pid.php").status == 200
        assert time.monotonic() - t < 0.5
        assert server.rss() - before < 8 * MB
        for c in readers:
            r = c.read_response()
            assert len(r.body) == 10 * MB
            assert r.body == (b"0123456789abcdef" * 4096 * 160)[:10 * MB]
    finally:
        for c in readers:
            c.close()


def test_slow_reader_that_leaves_gives_the_spool_back(server):
    for _ in range(3):
        with server.connect(rcvbuf=4096) as c:
            c.send(build(target=f"/big.php?n={20 * MB}"))
            c.read_head()
    assert server.settled() and not list(server.tmp.iterdir())


def test_ignore_user_abort_runs_to_the_end(server):
    f = server.tmp / "ignored"
    c = server.connect()
    c.send(build(target=f"/ignore.php?f={f}"))
    c.read_head()
    c.reset()
    assert wait_for(lambda: f.exists() and f.read_text(), 5) == "ran to the end 1"
    f.unlink()


def test_finished_request_goes_on(server):
    f = server.tmp / "finished"
    with server.connect() as c:
        t = time.monotonic()
        assert c.request(target=f"/finish.php?f={f}").text == "done"
        assert time.monotonic() - t < 0.5
        assert c.request(target="/a.txt").text == "static\n"
    assert wait_for(lambda: f.exists() and f.read_text(), 5).startswith("0")
    f.unlink()


def test_worker_that_dies_in_its_answer_cuts_the_connection(server):
    with server.connect() as c:
        c.send(build(target="/die.php"))
        assert c.read_head().status == 200
        with pytest.raises(ProtocolError):
            while c.read_chunk():
                pass
    assert wait_for(lambda: len(server.workers()) == 2, 5)
    assert server.get("/pid.php").status == 200


def test_many_streams_at_once(serve):
    s = serve({"php": {"workers": 8, "workers_min": 8}}, FILES)
    got = []

    def one():
        with s.connect() as c:
            got.append(c.request(target="/drip.php?n=5&ms=50").text)

    threads = [threading.Thread(target=one) for _ in range(16)]
    t = time.monotonic()
    for th in threads:
        th.start()
    for th in threads:
        th.join()
    assert got == ["".join(f"piece {i}\n" for i in range(5))] * 16
    assert time.monotonic() - t < 2


def test_stop_lets_a_running_request_finish(serve):
    s = serve("[server.timeouts]\nshutdown = 5", FILES)
    with s.connect() as c, s.connect() as waiting:
        waiting.send(b"")
        c.send(build(target="/drip.php?n=5&ms=100"))
        c.read_head()
        s.signal(signal.SIGTERM)
        text = b"".join(iter(c.read_chunk, b""))
        assert text.endswith(b"piece 4\n")
        assert c.at_end() and waiting.at_end()
    assert s.process.wait(10) == 0
    s.process, pid = None, s.pid
    ephpm.Server.live.remove(s)
    assert not os.path.exists(f"/proc/{pid}")


def coding_of(s, target):
    with s.connect() as c:
        c.send(build(target=target, headers={"Accept-Encoding": "gzip"}))
        return c.read_head().get("Content-Encoding")


def test_streams_are_compressed_as_configured(server, serve):
    events = "/drip.php?n=1&h[]=Content-Type:%20text/event-stream"
    assert coding_of(server, "/drip.php?n=1") is None and coding_of(server, events) is None
    for value, plain, sse in ("sse", None, "gzip"), ("all", "gzip", "gzip"):
        s = serve({"server": {"response": {"compression_streaming": value}}}, FILES)
        assert (coding_of(s, "/drip.php?n=1"), coding_of(s, events)) == (plain, sse), value


def test_answers_follow_one_another_after_streams(server):
    """Chunked, spooled, plain and empty answers on one connection, none leaking into the next."""
    with server.connect() as c:
        for _ in range(3):
            c.send(build(target="/drip.php?n=2&ms=5") + build(target=f"/big.php?n={3 * MB}") +
                   build("HEAD", "/big.php?n=70000") + build(target="/a.txt"))
            assert c.read_response().body == b"piece 0\npiece 1\n"
            assert len(c.read_response().body) == 3 * MB
            assert c.read_response("HEAD").status == 200
            assert c.read_response().text == "static\n"


def test_client_that_leaves_the_queue_runs_nothing(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1}}, FILES)
    with s.connect() as busy:
        busy.send(build(target="/drip.php?n=4&ms=100"))
        assert busy.read_head().status == 200
        gone = [s.connect() for _ in range(5)]
        for c in gone:
            c.send(build(target="/pid.php"))
        time.sleep(0.05)
        for c in gone:
            c.close()
        assert b"piece 3" in b"".join(iter(busy.read_chunk, b""))
        assert busy.request(target="/pid.php").status == 200
    assert s.front()["php_executed"] == 2


def test_unbuffered_answer_is_not_held(server):
    """A page below the hold's size: with buffering it leaves at its end, without at once."""
    def first_byte(b):
        with server.connect() as c:
            began = time.monotonic()
            c.send(build("GET", f"/unbuffered.php?b={b}"))
            c.sock.recv(1)
            return time.monotonic() - began

    assert first_byte("no") < 0.6
    assert first_byte("yes") > 0.6
