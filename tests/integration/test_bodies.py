# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Request bodies: complete before PHP sees them, in memory or spooled; or streamed."""
import hashlib
import json
import os
import socket
import time

import pytest

import ephpm
import scripts
from httpc import ProtocolError, build, chunked, wait_for

MB = 1 << 20

CONFIG = """
[server.request]
max_body_size = "8MB"
streaming_paths = ["/stream/*"]
[server.timeouts]
body = 20
[php]
ini_overrides = [["post_max_size", "6M"], ["upload_max_filesize", "2M"]]
"""

STREAM = """<?php
$in = fopen('php://input', 'r');
header('Content-Type: text/plain');
echo "start\\n"; while (ob_get_level()) ob_end_flush(); flush();
$n = 0;
while (!feof($in)) { $d = fread($in, 65536); if ($d === false) break;
    $n += strlen($d); if ($d !== '') { echo 'got ', strlen($d), "\\n"; flush(); } }
echo "end $n\\n";
"""

FILES = {"echo.php": scripts.ECHO, "pid.php": scripts.PID, "index.php": "<?php echo 'front';",
         "stream/s.php": STREAM, "a.txt": "static", "up.php": """<?php
$f = $_FILES['f'] ?? null;
if ($f && $f['tmp_name']) { $f['ok'] = is_uploaded_file($f['tmp_name']);
    $f['md5'] = md5_file($f['tmp_name']); $f['moved'] = move_uploaded_file($f['tmp_name'],
    sys_get_temp_dir() . '/ephpm-test-' . getmypid()); unlink(sys_get_temp_dir() . '/ephpm-test-' .
    getmypid()); }
echo json_encode(['f' => $f, 'post' => $_POST,
    'input' => strlen(file_get_contents('php://input'))]);
""", "ignore.php": "<?php echo 'ignored';", "exit.php": "<?php exit('bye');"}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def body_of(n):
    return (hashlib.sha256(str(n).encode()).digest() * (n // 32 + 1))[:n]


@pytest.mark.parametrize("size", [0, 1, 1000, 65535, 65536, 65537, 200000, 3 * MB])
@pytest.mark.parametrize("coding", ["length", "chunked"])
def test_body_arrives_whole(server, size, coding):
    data = body_of(size)
    with server.connect() as c:
        for _ in range(2):
            if coding == "length":
                r = c.request("PUT", "/echo.php", {"Content-Type": "a/b"}, data)
            else:
                pieces = [data[i:i + 9999] for i in range(0, size, 9999)]
                r = c.request("PUT", "/echo.php",
                              {"Transfer-Encoding": "chunked", "Content-Type": "a/b"},
                              chunked(*pieces))
            v = json.loads(r.text)
            assert (v["length"], v["md5"]) == (size, hashlib.md5(data).hexdigest())
            assert v["server"].get("CONTENT_LENGTH", "0") == str(size)
            assert v["server"]["CONTENT_TYPE"] == "a/b"


def test_get_with_body(server):
    with server.connect() as c:
        assert json.loads(c.request("GET", "/echo.php", (), "abc").text)["body"] == "abc"
        assert c.request(target="/a.txt").text == "static"


def test_forms(server):
    for type_ in "application/x-www-form-urlencoded", "Application/X-WWW-Form-URLencoded; a=b":
        r = server.post("/echo.php", "a=1&b[]=2&b[]=3&c.d=4", {"Content-Type": type_})
        v = json.loads(r.text)
        assert v["post"] == {"a": "1", "b": ["2", "3"], "c_d": "4"}
    v = json.loads(server.post("/echo.php", '{"a":1}', {"Content-Type": "application/json"}).text)
    assert v["post"] == [] and v["body"] == '{"a":1}'
    r = server.request("POST", "/echo.php", {
        "Content-Type": "application/x-www-form-urlencoded", "Transfer-Encoding": "chunked"},
        chunked(b"a=1", b"&b=2"))
    v = json.loads(r.text)
    assert v["post"] == {"a": "1", "b": "2"} and v["server"]["CONTENT_LENGTH"] == "7"


def multipart(data, name="../x.bin"):
    return (b"--B\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n--B\r\n"
            b"Content-Disposition: form-data; name=\"f\"; filename=\"" + name.encode() + b"\"\r\n"
            b"Content-Type: a/b\r\n\r\n" + data + b"\r\n--B--\r\n")


TYPE = {"Content-Type": "multipart/form-data; boundary=B"}


@pytest.mark.parametrize("size", [10, 100000, 1500000])
@pytest.mark.parametrize("how", ["length", "chunked"])
def test_upload(server, size, how):
    data = body_of(size)
    body = multipart(data)
    if how == "length":
        r = server.post("/up.php", body, TYPE)
    else:
        r = server.request("POST", "/up.php", TYPE | {"Transfer-Encoding": "chunked"},
                           chunked(body[:50], body[50:]))
    v = json.loads(r.text)
    assert v["f"]["error"] == 0 and v["f"]["size"] == size and v["f"]["name"] == "x.bin"
    assert v["f"]["ok"] and v["f"]["moved"] and v["f"]["md5"] == hashlib.md5(data).hexdigest()
    assert v["post"] == {"t": "text"} and v["input"] == 0


def test_upload_over_phps_limits(server):
    v = json.loads(server.post("/up.php", multipart(body_of(3 * MB)), TYPE).text)
    assert v["f"]["error"] == 1 and v["f"]["size"] == 0
    v = json.loads(server.post("/up.php", multipart(b"", ""), TYPE).text)
    assert v["f"]["error"] == 4 and v["f"]["tmp_name"] == ""
    r = server.post("/up.php", multipart(body_of(7 * MB)), TYPE)  # over post_max_size
    assert r.status == 200 and json.loads(r.text[r.text.index("{"):])["post"] == []


def test_body_over_the_limit_is_413_before_it_is_read(server):
    php = server.front()["php_executed"]
    size = len(server.log())
    for extra in {}, {"Expect": "100-continue"}:
        with server.connect() as c:
            c.send(build("POST", "/echo.php", {"Content-Length": str(9 * MB), **extra}))
            r = c.read_response()
            assert r.status == 413 and not r.infos and not r.keep_alive
            assert c.at_end()
    assert server.front()["php_executed"] == php
    line = server.wait_log("body_too_large", start=size).string
    assert "server.request.max_body_size" in line and "8388608" in line


def test_chunked_body_over_the_limit_is_413(server):
    with server.connect() as c:
        c.send(build("POST", "/echo.php", {"Transfer-Encoding": "chunked"}))
        try:
            for _ in range(9):
                c.send(b"%x\r\n" % MB + b"x" * MB + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert c.read_response().status == 413


def test_client_that_keeps_sending_still_reads_the_413(server):
    """The answer must not be lost to a reset because the client is in the middle of its body."""
    out = server.curl("/echo.php", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary",
                      f"@{server.write(server.dir / 'huge', b'x' * (20 * MB))}", "-H", "Expect:")
    assert out.stdout == b"413", out.stderr


@pytest.mark.parametrize("limit", [30, 1])
def test_slow_body_holds_no_worker(serve, limit):
    s = serve({"server": {"timeouts": {"body": limit}}}, FILES)
    idle = [s.connect() for _ in range(8)]
    try:
        for c in idle:
            c.send(build("POST", "/echo.php", {"Content-Length": "50"}) + b"abc")
        if limit > 1:
            for _ in range(4):
                assert s.get("/pid.php").status == 200
            assert s.front()["connections"] == 8  # and all of them still wait
            assert all(w["state"] == "idle" for w in s.workers())
            return
        for c in idle:
            r = c.read_response()
            assert r.status == 408 and not r.keep_alive
    finally:
        for c in idle:
            c.close()


def test_body_timeout_counts_from_the_last_piece(serve):
    s = serve({"server": {"timeouts": {"body": 3}}}, FILES)
    with s.connect() as c:
        c.send(build("POST", "/echo.php", {"Content-Length": "8"}))
        for _ in range(4):
            time.sleep(0.8)
            c.send(b"ab")
        assert json.loads(c.read_response().text)["length"] == 8


def test_client_that_leaves_within_the_body_runs_nothing(server):
    php = server.front()["php_executed"]
    for size in 100, 200000:
        c = server.connect()
        c.send(build("POST", "/echo.php", {"Content-Length": str(size)}) + b"x" * (size - 1))
        c.close()
    assert wait_for(lambda: server.front()["connections"] == 0)
    assert server.front()["php_executed"] == php


def test_spooled_body_is_bounded_memory_and_leaves_no_file(server):
    before = server.rss()
    with server.connect() as c:
        c.send(build("PUT", "/echo.php", {"Content-Length": str(8 * MB)}))
        for _ in range(8):
            c.send(b"z" * MB)
        assert json.loads(c.read_response().text)["length"] == 8 * MB
    assert server.rss() - before < 3 * MB
    assert not list(server.tmp.iterdir())


def test_unread_body_keeps_the_connection(server):
    with server.connect() as c:
        for target, text in ("/ignore.php", "ignored"), ("/exit.php", "bye"):
            for size in 10, 100000, MB:
                assert c.request("POST", target, (), body_of(size)).text == text
        assert c.request("PUT", "/ignore.php", {"Transfer-Encoding": "chunked"},
                         chunked(body_of(100000))).text == "ignored"


def test_body_for_a_file_or_nothing_is_passed_over(server):
    with server.connect() as c:
        assert c.request("POST", "/a.txt", (), b"x" * 1000).status == 405
        r = c.request("GET", "/a.txt", (), b"x" * 1000)
        assert r.status == 200 and r.keep_alive
        assert c.request("GET", "/a.txt").text == "static"


def test_expect_for_what_takes_no_body_is_answered_without_it(server):
    for method, target, status in ("POST", "/a.txt", 405), ("PUT", "/.env", 403), (
            "POST", "/%zz", 400):
        with server.connect() as c:
            c.send(build(method, target, {"Content-Length": "100", "Expect": "100-continue"}))
            r = c.read_response()
            assert r.status == status and not r.infos and not r.keep_alive
            assert c.at_end()


def test_big_body_for_a_file_is_answered(server):
    out = server.curl("/a.txt", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST",
                      "--data-binary", f"@{server.write(server.dir / 'big', b'x' * (5 * MB))}")
    assert out.stdout == b"405", out.stderr


def test_spool_dir_that_is_missing_is_a_clean_error(serve):
    s = serve({"server": {"request": {"spool_dir": "{dir}/nothere"}}}, FILES)
    r = s.post("/echo.php", b"x" * 200000)
    assert r.status in (500, 503, 507)
    assert s.post("/echo.php", b"x").status == 200
    s.wait_log("body_spool_failed")


# --- streaming_paths -----------------------------------------------------------------------------


BLOCK = 16384  # PHP asks for blocks of this size and takes a shorter one for the end


def test_streamed_body_reaches_php_as_it_comes(server):
    with server.connect() as c:
        c.send(build("POST", "/stream/s.php", {"Content-Length": str(3 * BLOCK + 5)}))
        r = c.read_head()
        assert c.read_chunk() == b"start\n"
        for _ in range(3):
            c.send(b"x" * BLOCK)
            got = 0
            while got < BLOCK:
                got += int(c.read_chunk().split()[1])
        c.send(b"12345")
        assert c.read_chunk() == b"got 5\n"
        assert c.read_chunk() == b"end 49157\n" and c.read_chunk() == b""
        # The answer began before the body was there, so it could not promise to go on.
        assert r.status == 200 and not r.keep_alive and c.at_end()


def test_streamed_chunked_body(server):
    with server.connect() as c:
        c.send(build("POST", "/stream/s.php", {"Transfer-Encoding": "chunked"}))
        assert c.read_head().status == 200 and c.read_chunk() == b"start\n"
        c.send(b"5\r\nhello\r\n")
        time.sleep(0.05)
        c.send(b"0\r\n\r\n")
        assert b"".join(iter(c.read_chunk, b"")) == b"got 5\nend 5\n"


def test_streamed_large_body(server):
    for size in 100000, 5 * MB:
        r = server.post("/stream/s.php", body_of(size))
        assert r.text.endswith(f"end {size}\n")


def test_streamed_body_with_expect(server):
    with server.connect() as c:
        c.send(build("POST", "/stream/s.php", {"Content-Length": "3", "Expect": "100-continue"}))
        assert c.read_head().status == 100
        c.send(b"abc")
        assert c.read_response().text.endswith("end 3\n")


def test_client_that_leaves_a_streamed_body_frees_the_worker(server):
    for _ in range(3):
        c = server.connect()
        c.send(build("POST", "/stream/s.php", {"Content-Length": "1000"}) + b"abc")
        assert c.read_head().status == 200
        c.reset()
    assert wait_for(lambda: all(w["state"] == "idle" for w in server.workers()))
    assert server.post("/stream/s.php", "abc").text.endswith("end 3\n")


def test_stalled_streamed_body_ends(serve):
    """The body timeout holds for a streamed body too: it must not hold a worker for ever."""
    server = serve(CONFIG.replace("body = 20", "body = 2"), FILES)
    with server.connect() as c:
        c.send(build("POST", "/stream/s.php", {"Content-Length": "1000"}) + b"abc")
        assert c.read_head().status == 200
        with pytest.raises(ProtocolError):
            while c.read_chunk():
                pass
    assert wait_for(lambda: all(w["state"] == "idle" for w in server.workers()))


def test_too_large_streamed_body(server):
    assert server.request("POST", "/stream/s.php", {"Content-Length": str(9 * MB)}).status == 413
    with server.connect() as c:
        c.send(build("POST", "/stream/s.php", {"Transfer-Encoding": "chunked"}))
        assert c.read_head().status == 200
        with pytest.raises((ProtocolError, ConnectionError, BrokenPipeError)):
            for _ in range(20):
                c.send(b"%x\r\n" % MB + b"x" * MB + b"\r\n")
            while c.read_chunk():
                pass
