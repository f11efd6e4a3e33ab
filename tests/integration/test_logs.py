# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Access log, request ids, server log."""
import json
import os
import re
import signal
import time

import pytest

import ephpm
import scripts
from httpc import build, wait_for

FILES = {"index.php": "<?php echo $_SERVER['REQUEST_ID'];", "a.txt": "static\n",
         "log.php": "<?php error_log('hello from php'); echo $_SERVER['REQUEST_ID'];",
         "big.php": scripts.BIG, "sleep.php": scripts.SLEEP,
         "long.php": "<?php error_log(str_repeat('x', 1900) . 'END');",
         "lines.php": "<?php error_log(\"one\\ntwo info front: forged\\x1b[31m\");",
         "stderr.php": "<?php fwrite(fopen('php://stderr', 'w'), \"to stderr\\n\"); echo 'ok';",
         "warn.php": "<?php echo $undefined; echo 'ok';",
         "crash.php": "<?php posix_kill(getmypid(), SIGSEGV);"}

COMBINED = re.compile(
    r'^(\S+) - (\S+) \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "([^"]*)" (\d{3}) (\d+|-) '
    r'"((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"')


def config(access_format="combined", fmt="text"):
    return {"server": {"logging": {"access": "{dir}/logs/access.log", "format": fmt,
                                   "access_format": access_format}}}


@pytest.fixture(scope="module")
def combined():
    with ephpm.Server(config(), FILES) as s:
        yield s


@pytest.fixture(scope="module")
def as_json():
    with ephpm.Server(config("json", "json"), FILES) as s:
        yield s


def lines(server, n, start=0, name="access.log"):
    """At least n new lines of the access log. Lines are gathered for a second; a reopen writes
    them."""
    path = server.logs / name

    def read():
        server.signal(signal.SIGUSR1)
        text = path.read_text(errors="surrogateescape") if path.exists() else ""
        got = text.splitlines()[start:]
        return got if len(got) >= n and text.endswith("\n") else None

    got = wait_for(read, 30, 0.05)
    assert got, f"no {n} lines: {path.read_text() if path.exists() else None}"
    return got


def count(server):
    """The number of lines after one that marks this moment."""
    mark = f"/a.txt?mark{time.monotonic_ns()}"
    server.get(mark)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        for i, line in enumerate(lines(server, 1)):
            if mark in line:
                return i + 1
        time.sleep(0.05)
    raise AssertionError("the mark is not in the access log")


def test_combined_lines(combined):
    start = count(combined)
    combined.get("/a.txt?x=1", {"Referer": "http://r/", "User-Agent": "agent/1"})
    combined.request("HEAD", "/a.txt")
    combined.get("/")
    combined.get("/%zz")
    got = [COMBINED.match(x) for x in lines(combined, 4, start)]
    assert all(got)
    assert [m[4] for m in got] == ["GET /a.txt?x=1 HTTP/1.1", "HEAD /a.txt HTTP/1.1",
                                   "GET / HTTP/1.1", "GET /%zz HTTP/1.1"]
    assert [m[5] for m in got] == ["200", "200", "200", "400"]
    assert [m[6] for m in got[:3]] in (["7", "0", "16"], ["7", "-", "16"])
    assert (got[0][7], got[0][8]) == ("http://r/", "agent/1") and got[1][7] in ("-", "")
    assert all(m[1] == "127.0.0.1" for m in got)
    t = time.mktime(time.strptime(got[0][3].split()[0], "%d/%b/%Y:%H:%M:%S"))
    assert abs(t - time.mktime(time.gmtime())) < 60 or abs(t - time.time()) < 60


def test_log_cannot_be_forged(combined):
    start = count(combined)
    combined.get('/a.txt?"\\x', {"User-Agent": 'a" 200 "b\\', "Referer": "\xff\xfe\t"})
    combined.raw(b"GET /\x1b[31m HTTP/1.1\r\nHost: x\r\n\r\n")
    got = lines(combined, 1, start)
    assert COMBINED.match(got[0]) and COMBINED.match(got[0])[5] == "200"
    assert all("\x1b" not in x and "\t" not in x for x in got)


def test_refused_requests_are_logged(combined):
    start = count(combined)
    combined.raw(b"GARBAGE\r\n\r\n")
    combined.get("/?" + "a" * 9000)
    got = lines(combined, 2, start)
    assert '" 400 ' in got[0] and '" 414 ' in got[1]


def test_client_that_left_is_logged_once(combined):
    start = count(combined)
    c = combined.connect()
    c.send(build(target="/big.php?n=20000000"))
    c.read_head()
    c.reset()
    assert combined.settled()
    assert count(combined) == start + 2  # its line, and the mark


def test_json_lines(as_json):
    start = count(as_json)
    rid = as_json.get("/?q=%22", {"User-Agent": 'we "quote" \xe9', "Referer": "r"}).text
    as_json.get("/a.txt")
    a, b = [json.loads(x) for x in lines(as_json, 2, start)]
    assert a["request_id"] == rid and a["status"] == 200 and a["method"] == "GET"
    assert a["target"] == "/?q=%22" and a["protocol"] == "HTTP/1.1" and a["bytes"] == 16
    assert a["remote"] == "127.0.0.1" and a["host"] == "localhost" and a["site"] == "default"
    assert a["user_agent"].startswith('we "quote"') and a["referer"] == "r"
    assert a["duration_ms"] > 0 and "php_ms" in a and "worker" in a
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$", a["time"])
    assert "php_ms" not in b and b["request_id"] != rid and b["bytes"] == 7


def test_duration_covers_the_wait(as_json):
    start = count(as_json)
    as_json.get("/sleep.php?ms=150")
    a = json.loads(lines(as_json, 1, start)[0])
    assert 150 <= a["duration_ms"] < 50000 and 140 <= a["php_ms"] < 50000  # ms, and no other unit


def test_server_log_is_json_too(as_json):
    for line in as_json.log().splitlines():
        v = json.loads(line)
        assert v["level"] and v["time"], line


def test_request_id_is_the_same_everywhere(combined):
    with combined.connect() as c:
        ids = [c.request(target="/log.php").text for _ in range(5)]
    assert len(set(ids)) == 5 and all(re.fullmatch("[0-9a-f]{16}", i) for i in ids)
    for i in ids:
        assert combined.wait_log(f"hello from php.*{i}")


def test_request_id_of_the_client_is_not_taken(combined):
    rid = combined.get("/", {"X-Request-Id": "evil", "Request-Id": "evil"}).text
    assert re.fullmatch("[0-9a-f]{16}", rid)


def test_php_messages_reach_the_log_whole(combined):
    size = len(combined.log())
    combined.get("/long.php")
    combined.wait_log("x{1900}END", start=size)
    combined.get("/stderr.php")
    combined.wait_log("to stderr", start=size)
    assert combined.get("/warn.php").text == "ok"  # display_errors is off
    combined.wait_log("Undefined variable.*warn.php", start=size)


def test_php_messages_cannot_forge_lines(combined):
    size = len(combined.log())
    combined.get("/lines.php")
    combined.wait_log("forged", start=size)
    new = combined.log()[size:]
    assert "\x1b" not in new and not re.search("^two", new, re.M)


def test_crash_is_logged_with_its_request(combined):
    size = len(combined.log())
    assert combined.get("/crash.php?secret").status in (500, 502)
    line = combined.wait_log("worker_died.*", start=size).group()
    assert "crash.php" in line and "SIGSEGV" in line
    assert wait_for(lambda: len(combined.workers()) == 2)


def test_reopen_on_sigusr1(serve):
    s = serve(config(), FILES)
    s.get("/a.txt?1")
    assert wait_for(lambda: "a.txt?1" in (s.logs / "access.log").read_text())
    os.rename(s.logs / "access.log", s.logs / "old.log")
    s.get("/a.txt?2")
    s.signal(signal.SIGUSR1)
    assert wait_for((s.logs / "access.log").exists)
    s.get("/a.txt?3")
    assert [x.split('"')[1] for x in lines(s, 1)] == ["GET /a.txt?3 HTTP/1.1"]
    assert [x.split('"')[1] for x in lines(s, 2, name="old.log")] == [
        "GET /a.txt?1 HTTP/1.1", "GET /a.txt?2 HTTP/1.1"]


def test_lines_are_flushed_at_the_stop(serve):
    s = serve(config(), FILES)
    for i in range(50):
        s.get(f"/a.txt?{i}")
    s.stop()
    assert len((s.logs / "access.log").read_text().splitlines()) == 50


def test_no_access_log_by_default(serve):
    s = serve("", FILES)
    s.get("/a.txt")
    assert not list(s.logs.iterdir()) and "a.txt" not in s.log()


def test_level(serve):
    s = serve({"server": {"logging": {"level": "error"}}}, FILES)
    s.raw(b"GARBAGE\r\n\r\n")
    assert s.log() == ""
    s = serve({"server": {"logging": {"level": "debug"}}}, FILES)
    s.get("/a.txt")
    s.wait_log("debug front: connection_closed")


def test_request_ring_in_dev(serve):
    s = serve("", FILES, mode="dev")
    rid = s.get("/?ring").text
    got = json.loads(s.get("/_ephpm/requests").text)
    assert got[0]["request_id"] == rid and got[0]["uri"] == "/?ring" and got[0]["status"] == 200


def test_no_request_ring_in_serve(combined):
    r = combined.get("/_ephpm/requests")
    assert not r.text.startswith("[")


def test_health_and_ready(combined):
    for path, text in ("/_ephpm/health", "ok\n"), ("/_ephpm/ready", "ready\n"):
        r = combined.get(path)
        assert (r.status, r.text) == (200, text)
        assert combined.request("HEAD", path).body == b""
        assert combined.request("POST", path, (), "x").status != 500


def test_internal_paths_are_reserved(combined):
    assert combined.get("/_ephpm/nosuch").status == 404
    r = combined.request("POST", "/_ephpm/health", body=b"x")
    assert r.status == 405 and r.get("Allow") == "GET, HEAD"
