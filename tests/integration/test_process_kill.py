# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""kill -9 of every role: who notices, who goes on, what the clients see."""
import hashlib
import os
import random
import signal
import threading
import time

import pytest

from ephpm import alive, family, wait_for
from httpc import Connection, ProtocolError, build
from scripts import HELD, gate

FILES = {
    "index.php": "<?php echo 'ok';",
    "pid.php": "<?php echo getmypid(), ' ', $_SERVER['EPHPM_GENERATION'];",
    "sleep.php": "<?php usleep((int)($_GET['ms'] * 1000)); echo 'slept ', getmypid();",
    # A body that tells whose it is: the request's own id and a checksum over all before it.
    "sum.php": """<?php
        $n = (int)$_GET['n'];
        $body = str_repeat($_GET['id'] . '|', $n);
        if (isset($_GET['flush'])) {
            foreach (str_split($body, 4096) as $part) { echo $part; flush(); usleep(500); }
        } else {
            echo $body;
        }
        echo md5($body);""",
    "upload.php": "<?php $h = hash_init('md5'); $in = fopen('php://input', 'r'); $n = 0;"
                  "while (!feof($in)) { $d = fread($in, 8192); $n += strlen($d);"
                  "hash_update($h, $d); } echo $n, ' ', hash_final($h);",
    "held.php": HELD,
    "endless.php": "<?php while (true) { echo str_repeat('x', 1000); flush(); usleep(10000); }",
}
CONFIG = {"php": {"workers": 4, "workers_min": 4, "worker_idle_secs": 1, "crash_loop_count": 1000},
          "server": {"request": {"streaming_paths": ["/upload.php"]}}}


@pytest.fixture
def server(serve):
    return serve(CONFIG, FILES)


def busy(s, n=1):
    """Worker numbers that run something, once there are n."""
    def look():
        found = [w for w in s.workers() if w["state"] == "busy"]
        return found if len(found) >= n else None
    found = wait_for(look)
    assert found, s.status()
    return found


def whole(s, n=4):
    """All workers are there and idle."""
    return wait_for(lambda: [w["state"] for w in s.workers()] == ["idle"] * n)


def in_background(fn, *args):
    out = {}

    def run():
        try:
            out["value"] = fn(*args)
        except Exception as e:  # noqa: BLE001 (given back to the test)
            out["error"] = e

    t = threading.Thread(target=run)
    t.start()
    out["thread"] = t
    return out


def result(out, timeout=60):
    out["thread"].join(timeout)
    assert not out["thread"].is_alive(), "no answer"
    if "error" in out:
        raise out["error"]
    return out["value"]


def test_kill_master_ends_everything(server):
    slow = in_background(server.get, "/sleep.php?ms=100000")
    busy(server)
    pids = family(server.pid)
    assert len(pids) >= 6
    os.kill(server.pid, signal.SIGKILL)
    server.process.wait()
    left = wait_for(lambda: not [p for p in pids if alive(p)])
    assert left, f"still there: {[p for p in pids if alive(p)]}"
    with pytest.raises((ProtocolError, OSError)):
        result(slow)
    server.kill()


def test_kill_front_is_replaced_and_serves_again(server):
    old = server.front()["front_pid"]
    slow = in_background(server.get, "/sleep.php?ms=100000")
    busy(server)
    os.kill(old, signal.SIGKILL)
    with pytest.raises((ProtocolError, OSError)):
        result(slow)
    # The listening socket lives on in the master: a connection waits for the next front.
    assert server.get("/").text == "ok"
    st = server.status()
    assert st["front"]["front_pid"] != old
    assert whole(server), server.status()
    server.wait_log("role_died role=front")


def test_kill_front_again_and_again_is_braked(server):
    started = time.monotonic()
    for _ in range(3):
        pid = wait_for(lambda: (server.status()["front"] or {}).get("front_pid"))
        os.kill(pid, signal.SIGKILL)
        assert wait_for(lambda: (server.status()["front"] or {}).get("front_pid") not in (
            pid, None))
    assert time.monotonic() - started >= 0.2 + 0.4 + 0.6, "no back-off"
    assert server.get("/").text == "ok"
    assert whole(server)


def test_kill_prototype_leads_to_a_new_generation(server):
    generation = [g for g in server.status()["generations"] if g["state"] == "active"][0]
    slow = in_background(server.get, "/sleep.php?ms=1000")
    busy(server)
    os.kill(generation["prototype_pid"], signal.SIGKILL)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        assert server.get("/").text == "ok"
    assert result(slow).text.startswith("slept")
    now = wait_for(lambda: [g for g in server.status()["generations"]
                            if g["state"] == "active" and g["id"] > generation["id"]])
    assert now and now[0]["prototype_pid"]
    assert wait_for(lambda: len(server.status()["generations"]) == 1), "old one is left"
    assert server.get("/pid.php").text.split()[1] == str(now[0]["id"])


def test_kill_prototype_during_a_deploy(server):
    """The running one dies while the next one boots: whoever wins, a whole generation serves."""
    for _ in range(3):
        pid = [g for g in server.status()["generations"] if g["state"] == "active"][0][
            "prototype_pid"]
        deploy = in_background(server.cli, "deploy")
        time.sleep(random.uniform(0, 0.05))
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        result(deploy)
        assert server.get("/").text == "ok"
        assert wait_for(lambda: [g["prototype_pid"] for g in server.status()["generations"]
                                 if g["state"] == "active" and g["prototype_pid"]])
        assert wait_for(lambda: len(server.status()["generations"]) == 1), server.status()


def test_kill_next_prototype_refuses_the_deploy(server):
    deploy = in_background(server.cli, "deploy")
    booting = wait_for(lambda: [g for g in server.status()["generations"]
                                if g["state"] in ("booting", "warming") and g["prototype_pid"]], 5,
                       0.001)
    if not booting:
        pytest.skip("the deploy was too quick to be caught")
    os.kill(booting[0]["prototype_pid"], signal.SIGKILL)
    p = result(deploy)
    if p.returncode:
        assert "prototype ended" in p.stderr
    assert server.get("/").text == "ok"


def test_kill_idle_worker_costs_no_request(server):
    for _ in range(20):
        victim = random.choice(server.workers())["pid"]
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue  # reaped already, and the front is just being told
        assert server.get("/").text == "ok"
    assert whole(server)
    assert len(server.log_lines("worker_died")) >= 5


def test_kill_busy_worker_costs_its_request_alone(server):
    go = gate(server)
    one = in_background(server.get, "/sleep.php?ms=100000")
    victim = busy(server)[0]
    others = [in_background(server.get, f"/held.php?go={go}") for _ in range(3)]
    busy(server, 4)
    os.kill(victim["pid"], signal.SIGKILL)
    assert result(one).status == 502
    # Another takes its place, and works, while the others are still at it.
    assert wait_for(lambda: victim["id"] not in {w["id"] for w in server.workers()} and len(
        server.workers()) == 4)
    assert server.get("/").text == "ok"
    go.touch()
    for o in others:
        assert result(o).status == 200
    line = server.wait_log(r"worker_died.*").group(0)
    assert "SIGKILL" in line and "/sleep.php?ms=100000" in line and "sleep.php" in line
    assert whole(server)


def test_kill_worker_in_a_streamed_response_cuts_it(server):
    with server.connect() as c:
        c.send(build(target="/endless.php"))
        head = c.read_head()
        assert head.status == 200 and head.get("Transfer-Encoding") == "chunked"
        c.read_chunk()
        os.kill(busy(server)[0]["pid"], signal.SIGKILL)
        with pytest.raises(ProtocolError):
            while c.read_chunk():
                pass
    assert whole(server)


def test_kill_worker_in_a_streamed_upload(server):
    with server.connect() as c:
        c.send(b"POST /upload.php HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        c.send(b"x" * 100000)
        os.kill(busy(server)[0]["pid"], signal.SIGKILL)
        try:
            assert c.read_response().status == 502
        except (ProtocolError, OSError):
            pass  # cut: allowed, what follows of the body is in nobody's interest
    assert whole(server)
    body = os.urandom(300000)
    r = server.post("/upload.php", body)
    assert r.text == f"{len(body)} {hashlib.md5(body).hexdigest()}"
    for left in server.tmp.glob("php*"):  # PHP's own temporary file of the killed worker
        left.unlink()


def test_upload_that_php_does_not_read_frees_the_worker(server):
    """The script answers and ends while the client still sends: the worker serves others."""
    server.write("deaf.php", "<?php echo 'no, thanks';")
    server.write_config({**CONFIG, "server": {"request": {"streaming_paths": ["/deaf.php"]}}})
    assert server.cli("reload").returncode == 0
    slow = []
    for _ in range(6):  # more than there are workers
        c = server.connect()
        c.send(b"POST /deaf.php HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        c.send(b"x" * 300000)
        slow.append(c)
        assert c.read_response().text == "no, thanks"
    assert whole(server), server.status()
    assert server.get("/").text == "ok"
    for c in slow:
        c.close()


def test_kill_workers_in_a_loop_is_no_fork_storm(server):
    first = max(w["id"] for w in server.workers())
    killed, end = 0, time.monotonic() + 2
    while time.monotonic() < end:
        for w in server.workers():
            try:
                os.kill(w["pid"], signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    assert whole(server), server.status()
    started = max(w["id"] for w in server.workers()) - first
    assert started <= killed + 8, f"{started} started for {killed} killed"
    assert server.get("/").text == "ok"


def torture(s, seconds, clients, victims):
    """Clients on keep-alive connections; every answer is right, 502/503, or visibly cut."""
    end = time.monotonic() + seconds
    seen, wrong = {}, []
    lock = threading.Lock()

    def client(k):
        c, n = None, 0
        while time.monotonic() < end:
            n += 1
            ident, size = f"{k}-{n}-{random.random()}", random.choice((1, 50, 3000, 20000))
            try:
                c = c or Connection(s.address)
                r = c.request("GET", f"/sum.php?id={ident}&n={size}" + random.choice(
                    ("", "", "&flush=1")))
                body = f"{ident}|" * size
                kind = r.status
                if r.status == 200 and r.text != body + hashlib.md5(body.encode()).hexdigest():
                    wrong.append((ident, r))
                elif r.status not in (200, 502, 503):
                    wrong.append((ident, r))
                if not r.keep_alive:
                    c.close()
                    c = None
            except TimeoutError:
                wrong.append((ident, "hung"))
                c = None
            except (ProtocolError, ConnectionError) as e:
                kind = "cut"
                if c:
                    c.close()
                c = None
                if "closed" not in str(e) and not isinstance(e, ConnectionError):
                    wrong.append((ident, e))
            with lock:
                seen[kind] = seen.get(kind, 0) + 1
        if c:
            c.close()

    threads = [threading.Thread(target=client, args=(k,)) for k in range(clients)]
    for t in threads:
        t.start()
    kills = 0
    while time.monotonic() < end - 0.3:
        time.sleep(random.uniform(0.01, 0.08))
        pids = victims()
        if pids:
            try:
                os.kill(random.choice(pids), signal.SIGKILL)
                kills += 1
            except ProcessLookupError:
                pass
    for t in threads:
        t.join(90)
        assert not t.is_alive(), "a client hangs"
    assert not wrong, wrong[:3]
    return seen, kills


def test_torture_random_kills_under_load(server):
    before = len(family(server.pid))
    seen, kills = torture(server, 60, 20, lambda: [w["pid"] for w in server.workers()])
    assert kills >= 30 and seen.get(200, 0) > 200, (seen, kills)
    bad = seen.get(502, 0) + seen.get("cut", 0)
    assert bad <= kills, f"{kills} kills cost {seen}"
    assert whole(server), server.status()
    assert len(family(server.pid)) == before
    assert server.settled(), server.descriptors()
