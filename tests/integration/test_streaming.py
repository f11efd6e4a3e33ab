# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Answers that come in pieces: flush(), event streams, slow readers, clients that leave."""
import os
import signal

import pytest

import ephpm
import scripts
from ephpm import SANITIZED
from httpc import ProtocolError, build, wait_for

MB = 1 << 20

WAIT = "while (!file_exists($_GET['go'])) { usleep(2000); clearstatcache(); }"

FILES = {
    "index.php": "<?php echo 'front';", "pid.php": scripts.PID, "drip.php": scripts.DRIP,
    "big.php": scripts.BIG, "a.txt": "static\n",
    # Each line but the first is written when the client has said, by a file, that it has the one before.
    "step.php": """<?php while (ob_get_level()) ob_end_flush();
for ($i = 0; $i < 20; $i++) {
    while ($i && !file_exists("$_GET[go]$i")) { usleep(1000); clearstatcache(); }
    echo "piece $i\\n"; flush();
}""",
    "sse.php": """<?php header('Content-Type: text/event-stream');
header('Cache-Control: no-cache');
while (ob_get_level()) ob_end_flush();
register_shutdown_function(function () {
    file_put_contents($_GET['f'], connection_status() . ' ' . connection_aborted()); });
for ($i = 0; ; $i++) { echo "data: $i\\n\\n"; flush(); usleep(5000); }""",
    "endless.php": """<?php set_time_limit(0); while (ob_get_level()) ob_end_flush();
$s = str_repeat('x', 65536); while (true) { echo $s; flush(); }""",
    "early.php": f"<?php flush(); {WAIT} echo 'late';",
    "unbuffered.php": f"""<?php while (ob_get_level()) ob_end_flush();
header('X-Accel-Buffering: ' . $_GET['b']);
echo str_repeat('x', 40000); {WAIT} echo 'end';""",
    "begun.php": scripts.BEGUN,
    "hold.php": "<?php echo 'a'; usleep(200000); echo 'b';",
    "ignore.php": """<?php ignore_user_abort(true); while (ob_get_level()) ob_end_flush();
for ($i = 0; $i < 30; $i++) { echo str_repeat('x', 100000); flush(); usleep(10000); }
file_put_contents($_GET['f'], 'ran to the end ' . connection_aborted());""",
    "finish.php": f"<?php echo 'done'; fastcgi_finish_request(); {WAIT}" """
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
        go = scripts.gate(server)
        c.send(build(target=f"/step.php?go={go}"))
        r = c.read_head()
        for i in range(20):
            assert c.read_chunk() == f"piece {i}\n".encode()
            go.with_name(f"{go.name}{i + 1}").touch()
        assert c.read_chunk() == b"" and r.get("Content-Length") is None
        assert c.request(target="/a.txt").status == 200


def test_without_flush_the_answer_is_one_piece(server):
    with server.connect() as c:
        r = c.request(target="/hold.php")
        assert r.get("Content-Length") == "2" and not r.chunked


def test_flush_before_output_sends_the_head(server):
    with server.connect() as c:
        go = scripts.gate(server)
        c.send(build(target=f"/early.php?go={go}"))
        assert c.read_head().status == 200
        go.touch()
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
        assert wait_for(lambda: f.exists() and f.read_text()) == "1 1"
        f.unlink()
        assert idle(server)


def test_quiet_client_loss_is_noticed(server):
    """A stream that writes little: its script learns of the loss without filling a buffer."""
    f = server.tmp / "quiet"
    c = server.connect()
    c.send(build(target=f"/quiet.php?f={f}"))
    c.read_head()
    c.close()
    assert wait_for(f.exists)
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
        assert wait_for(lambda: s.front()["connections"] == 0, 30, 0.1)
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
        assert server.get("/pid.php").status == 200
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
    assert wait_for(lambda: f.exists() and f.read_text()) == "ran to the end 1"
    f.unlink()


def test_finished_request_goes_on(server):
    f = server.tmp / "finished"
    with server.connect() as c:
        go = scripts.gate(server)
        assert c.request(target=f"/finish.php?f={f}&go={go}").text == "done"
        assert c.request(target="/a.txt").text == "static\n"
        assert not f.exists()
        go.touch()
    assert wait_for(lambda: f.exists() and f.read_text()).startswith("0")
    f.unlink()


def test_worker_that_dies_in_its_answer_cuts_the_connection(server):
    with server.connect() as c:
        c.send(build(target="/die.php"))
        assert c.read_head().status == 200
        with pytest.raises(ProtocolError):
            while c.read_chunk():
                pass
    assert wait_for(lambda: len(server.workers()) == 2)
    assert server.get("/pid.php").status == 200


def test_many_streams_at_once(serve):
    s = serve({"php": {"workers": 8, "workers_min": 8}}, FILES)
    go, streams = scripts.gate(s), [s.connect() for _ in range(16)]
    try:
        for c in streams:
            c.send(build(target=f"/begun.php?go={go}"))
        first = wait_for(lambda: len(begun := [c for c in streams if c.has_more()]) == 8 and begun)
        assert first, "they do not run at the same time"
        go.touch()
        for c in streams:
            assert c.read_response().text == "begun\nheld\n"
    finally:
        for c in streams:
            c.close()


def test_stop_lets_a_running_request_finish(serve):
    s = serve("[server.timeouts]\nshutdown = 30", FILES)
    with s.connect() as c, s.connect() as waiting:
        waiting.send(b"")
        c.send(build(target="/drip.php?n=5&ms=100"))
        c.read_head()
        s.signal(signal.SIGTERM)
        text = b"".join(iter(c.read_chunk, b""))
        assert text.endswith(b"piece 4\n")
        assert c.at_end() and waiting.at_end()
    assert s.process.wait(60) == 0
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
        go = scripts.gate(s)
        busy.send(build(target=f"/begun.php?go={go}"))
        assert busy.read_head().status == 200
        gone = [s.connect() for _ in range(5)]
        for c in gone:
            c.send(build(target="/pid.php"))
        assert wait_for(lambda: s.front()["generations"][0]["queued"] == 5)
        for c in gone:
            c.close()
        assert wait_for(lambda: s.front()["connections"] == 1)
        go.touch()
        assert b"held" in b"".join(iter(busy.read_chunk, b""))
        assert busy.request(target="/pid.php").status == 200
    assert s.front()["php_executed"] == 2


def test_unbuffered_answer_is_not_held(server):
    """A page below the hold's size: with buffering it leaves at its end, without at once."""
    for buffered in "no", "yes":
        with server.connect() as c:
            go = scripts.gate(server)
            c.send(build("GET", f"/unbuffered.php?b={buffered}&go={go}"))
            if buffered == "yes":
                assert c.silent(0.3)
            else:
                assert c.read_head().status == 200
            go.touch()
            c.read_until(b"end")
