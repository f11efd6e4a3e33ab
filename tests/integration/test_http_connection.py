# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""HTTP/1.1 on the wire: connections, pipelining, targets, and what is refused."""
import random
import socket
import time

import pytest

import ephpm
import scripts
from httpc import build, chunked

FILES = {
    "index.php": "<?php echo 'index ', $_SERVER['REQUEST_URI'];",
    "echo.php": scripts.ECHO,
    "pid.php": scripts.PID,
    "sleep.php": scripts.SLEEP,
    "h.php": scripts.HEADERS,
    "big.php": scripts.BIG,
    "touch.php": "<?php touch($_GET['f']); echo 'touched';",
    "a.txt": "static\n",
}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server("", FILES) as s:
        yield s


# --- keep-alive ----------------------------------------------------------------------------------


def test_keep_alive_serves_many_requests_on_one_connection(server):
    with server.connect() as c:
        for i in range(50):
            r = c.request(target=f"/?{i}")
            assert (r.status, r.text) == (200, f"index /?{i}")
            assert r.keep_alive and r.version == "HTTP/1.1"
        for _ in range(3):
            assert c.request(target="/a.txt").text == "static\n"
            assert c.request("HEAD", "/a.txt").body == b""


def test_connection_close_is_honoured(server):
    for target in "/", "/a.txt", "/_ephpm/health", "/nope.php":
        with server.connect() as c:
            r = c.request(target=target, headers={"Connection": "close"})
            assert r.get("Connection") == "close"
            assert c.at_end()


def test_http_1_0_closes_unless_asked(server):
    with server.connect() as c:
        r = c.request(target="/", version="HTTP/1.0")
        assert r.status == 200 and not r.chunked and c.at_end()
    with server.connect() as c:
        for _ in range(3):
            r = c.request(target="/", version="HTTP/1.0", headers={"Connection": "keep-alive"})
            assert r.get("Connection").lower() == "keep-alive" and not r.closed


def test_http_1_0_without_host_works(server):
    with server.connect() as c:
        assert c.request(target="/", version="HTTP/1.0", host=None).status == 200


def test_http_1_0_never_gets_chunks(server):
    with server.connect() as c:
        r = c.request(target="/big.php?n=300000", version="HTTP/1.0",
                      headers={"Connection": "keep-alive"})
        assert not r.chunked and len(r.body) == 300000


def test_half_closed_client_still_gets_its_file(server):
    with server.connect() as c:
        c.send(build(target="/a.txt"))
        c.sock.shutdown(socket.SHUT_WR)
        assert c.read_response().text == "static\n"
        assert c.at_end()


def test_empty_line_before_a_request_is_skipped(server):
    with server.connect() as c:
        for _ in range(2):
            c.send(b"\r\n" + build(target="/"))
            assert c.read_response().status == 200


def test_request_in_single_bytes(server):
    with server.connect() as c:
        for b in build("POST", "/echo.php", {"Content-Type": "text/plain"}, "abc"):
            c.send(bytes([b]))
        assert c.read_response().text.count('"body":"abc"') == 1


# --- pipelining ----------------------------------------------------------------------------------


def test_pipelined_answers_come_in_order(server):
    with server.connect() as c:
        c.send(b"".join([
            build(target="/sleep.php?ms=120"), build(target="/a.txt"), build(target="/?x"),
            build("HEAD", "/a.txt"), build("POST", "/echo.php", (), "first"),
            build("POST", "/echo.php", {"Transfer-Encoding": "chunked"}, chunked(b"se", b"cond")),
            build(target="/nope.txt%"), ]))
        assert c.read_response().text.startswith("slept")
        assert c.read_response().text == "static\n"
        assert c.read_response().text == "index /?x"
        assert c.read_response("HEAD").get("Content-Length") == "7"
        assert '"body":"first"' in c.read_response().text
        assert '"body":"second"' in c.read_response().text
        assert c.read_response().status == 400


def test_two_hundred_pipelined_requests(server):
    with server.connect() as c:
        c.send(b"".join(build(target=f"/?{i}") for i in range(200)))
        for i in range(200):
            assert c.read_response().text == f"index /?{i}"


def test_pipelining_after_close_is_not_answered(server):
    data = server.raw(build(target="/", headers={"Connection": "close"}) + build(target="/a.txt"))
    assert data.count(b"HTTP/1.1 ") == 1


# --- bodies on the wire --------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [[b"hello"], [b"a"] * 30, [b"x" * 5000, b"y" * 70000]])
def test_chunked_request(server, parts):
    with server.connect() as c:
        r = c.request("POST", "/echo.php", {"Transfer-Encoding": "chunked"}, chunked(*parts))
        total = sum(map(len, parts))
        assert f'"length":{total},' in r.text and f'"CONTENT_LENGTH":"{total}"' in r.text
        assert "HTTP_TRANSFER_ENCODING" not in r.text
        assert c.request(target="/a.txt").status == 200


def test_chunk_extensions_and_trailers_are_ignored(server):
    body = b"3;a=b\r\nabc\r\n2 ;q=\"x\"\r\nde\r\n0\r\nX-Trailer: evil\r\nContent-Length: 5\r\n\r\n"
    with server.connect() as c:
        r = c.request("POST", "/echo.php", {"Transfer-Encoding": "chunked"}, body)
        if r.status == 400:  # the space before ';' is bad whitespace, which may be refused
            return
        assert '"body":"abcde"' in r.text and "TRAILER" not in r.text
        assert c.request(target="/a.txt").status == 200


def test_expect_continue_is_answered_at_once(server):
    with server.connect() as c:
        head = build("POST", "/echo.php", {"Expect": "100-continue", "Content-Length": "5"})
        c.send(head)
        assert c.read_head().status == 100
        c.send(b"12345")
        assert '"body":"12345"' in c.read_response().text
        assert c.request(target="/a.txt").status == 200


def test_expect_continue_is_not_sent_when_the_body_is_there(server):
    with server.connect() as c:
        r = c.request("POST", "/echo.php", {"Expect": "100-continue"}, "12345")
        assert r.status == 200 and len(r.infos) <= 1
        assert c.request(target="/a.txt").status == 200


def test_unknown_expectation_is_417_or_ignored(server):
    with server.connect() as c:
        r = c.request("POST", "/echo.php", {"Expect": "200-ok"}, "x")
        assert r.status in (200, 417) and not r.infos


def test_curl_posts_a_megabyte_without_delay(server):
    up = server.write("up.bin", b"z" * (1 << 20))
    # It gives up before it would send the body without having been told to.
    out = server.curl("/echo.php", "--data-binary", f"@{up}", "-H", "Content-Type: a/b", "-H",
                      "Expect: 100-continue", "--expect100-timeout", "120")
    assert b'"length":1048576' in out.stdout, out


# --- HEAD, OPTIONS, targets ----------------------------------------------------------------------


@pytest.mark.parametrize("target", ["/", "/a.txt", "/big.php?n=100000", "/nope.php",
                                    "/_ephpm/health", "/h.php?h[]=Content-Length:%204"])
def test_head_has_no_body_and_keeps_the_connection(server, target):
    with server.connect() as c:
        get = c.request("GET", target)
        head = c.request("HEAD", target)
        assert head.status == get.status
        assert head.get("Content-Type") == get.get("Content-Type")
        if target == "/a.txt":
            assert head.get("Content-Length") == get.get("Content-Length")
        assert c.request(target="/a.txt").text == "static\n"


def test_head_keeps_the_applications_content_length(server):
    r = server.request("HEAD", "/h.php?h[]=Content-Length:%2012345&b=x")
    assert r.get("Content-Length") == "12345"


def test_options_asterisk(server):
    with server.connect() as c:
        r = c.request("OPTIONS", "*")
        assert r.status in (200, 204) and "GET" in r.get("Allow")
        assert c.request(target="/a.txt").status == 200


def test_asterisk_is_for_options_only(server):
    assert server.get("*").status == 400


def test_options_reaches_php(server):
    r = server.request("OPTIONS", "/echo.php")
    assert '"REQUEST_METHOD":"OPTIONS"' in r.text


def test_unknown_methods_reach_php(server):
    for m in "PROPFIND", "QUERY", "FooBar", "M-SEARCH", "PURGE":
        r = server.request(m, "/echo.php")
        assert (r.status, f'"REQUEST_METHOD":"{m}"' in r.text) == (200, True), m


def test_absolute_form_target(server):
    r = server.request("GET", "http://example.org:81/echo.php/x?a=1", host="other.example")
    text = r.text.replace("\\/", "/")
    assert '"REQUEST_URI":"/echo.php/x?a=1"' in text
    assert '"HTTP_HOST":"example.org:81"' in text and "other.example" not in text
    assert server.get("http://example.org").text == "index /"
    assert server.get("http://example.org?q").text in ("index /?q", "index ?q")


def test_connect_is_refused(server):
    assert server.request("CONNECT", "example.org:443").status in (400, 405, 501)


def test_trace_reaches_no_script(server):
    for target in "/", "/echo.php", "/a.txt":
        assert server.request("TRACE", target, {"Cookie": "secret=1"}).status == 405


def test_fragment_and_space_in_target_are_400(server):
    for target in "/a b", "a.txt", "/a\tb", "ftp://x/", "/\x7f":
        assert server.get(target).status == 400, target


# --- upgrade -------------------------------------------------------------------------------------


@pytest.mark.parametrize("upgrade", ["websocket", "h2c", "TLS/1.0", "foo/1"])
def test_upgrade_is_refused_cleanly(server, upgrade):
    headers = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": upgrade,
               "HTTP2-Settings": "AAMAAABkAAQAAP__", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    with server.connect() as c:
        r = c.request("GET", "/", headers)
        assert r.status in (200, 400, 426, 501) and "Upgrade" not in r
        if r.keep_alive:
            assert c.request(target="/a.txt").status == 200


def test_http_2_preface_is_refused(server):
    data = server.raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert data.startswith((b"HTTP/1.1 505 ", b"HTTP/1.1 400 ", b"")) and b" 200 " not in data


def test_tls_hello_is_refused(server):
    data = server.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 60)
    assert b" 200 " not in data


# --- refused: smuggling and broken syntax --------------------------------------------------------

PROBE = "GET /touch.php?f={dir}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

BAD = {
    "two lengths": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n"
                   "abc",
    "list of lengths": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 4\r\n\r\nabc",
    "length and chunked": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "empty length": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
    "plus length": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nabcde",
    "hex length": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nabcde",
    "negative length": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "huge length": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "unknown coding": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "chunked not last": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
    "chunked twice": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
    "coding in 1.0": "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "obfuscated coding": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
    "bare lf": "GET / HTTP/1.1\nHost: x\n\n",
    "bare lf in a field": "GET / HTTP/1.1\r\nHost: x\r\nA: b\nC: d\r\n\r\n",
    "bare cr in a field": "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
    "space before colon": "GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
    "no colon": "GET / HTTP/1.1\r\nHost: x\r\nAbc\r\n\r\n",
    "empty name": "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
    "folded": "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "space first": "GET / HTTP/1.1\r\n Host: x\r\n\r\n",
    "nul in a value": "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n",
    "odd name": "GET / HTTP/1.1\r\nHost: x\r\nA(b): c\r\n\r\n",
    "no host": "GET / HTTP/1.1\r\n\r\n",
    "two hosts": "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    "bad host": "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "host with path": "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "bad port": "GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n",
    "two spaces": "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    "no version": "GET /\r\nHost: x\r\n\r\n",
    "garbage": "\x00\x01\x02garbage\r\n\r\n",
    "bad method": "G(T / HTTP/1.1\r\nHost: x\r\n\r\n",
    "bad escape": "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
    "nul escape": "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n",
    "above the root": "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "above the root, encoded": "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "two types": "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n"
                 "Content-Length: 0\r\n\r\n",
    "two authorizations": "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTpi\r\n"
                          "Authorization: Basic Yzpk\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD)
def test_ambiguous_request_is_400_and_close(server, name):
    probe = PROBE.replace("{dir}", str(server.tmp))
    before = server.front()["php_executed"]
    data = server.raw(BAD[name] + probe)
    assert data.startswith(b"HTTP/1.1 400 "), data[:200]
    assert data.count(b"HTTP/1.1 ") == 1
    assert server.front()["php_executed"] == before
    assert not (server.tmp / "smuggled").exists()


BAD_CHUNKS = {
    "no digits": b"\r\nabc\r\n0\r\n\r\n",
    "not hex": b"xyz\r\nabc\r\n0\r\n\r\n",
    "prefix": b"0x3\r\nabc\r\n0\r\n\r\n",
    "negative": b"-3\r\nabc\r\n0\r\n\r\n",
    "too short": b"3\r\nab\r\n0\r\n\r\n",
    "too long": b"3\r\nabcd\r\n0\r\n\r\n",
    "overflow": b"ffffffffffffffff1\r\nabc\r\n0\r\n\r\n",
    "bare lf": b"3\nabc\n0\n\n",
    "lf in extension": b"3;a\nb\r\nabc\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD_CHUNKS)
def test_bad_chunk_is_400_and_close(server, name):
    before = server.front()["php_executed"]
    data = server.raw(b"POST /echo.php HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                      + BAD_CHUNKS[name] + build(target="/"))
    assert data.startswith(b"HTTP/1.1 400 ") and data.count(b"HTTP/1.1 ") == 1, data[:300]
    assert server.front()["php_executed"] == before


def test_http_version_2_in_request_line_is_505(server):
    assert server.get("/", version="HTTP/2.0").status == 505
    assert server.get("/", version="HTTP/1.2").status in (200, 505)


def test_same_length_twice_is_refused_or_taken_as_one(server):
    with server.connect() as c:
        c.send(b"POST /echo.php HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n"
               b"\r\nabc")
        r = c.read_response()
        assert r.status == 400 or '"body":"abc"' in r.text


# --- noise ---------------------------------------------------------------------------------------


def test_clients_that_vanish_leave_nothing(server):
    size = len(server.log())
    for how in "close", "reset":
        for stop in b"", b"GE", b"GET / HTTP/1.1\r\nHo", build("POST", "/echo.php", {
                "Content-Length": "10"}) + b"123":
            c = server.connect()
            c.send(stop)
            getattr(c, how)()
        for _ in range(5):
            c = server.connect()
            c.send(build(target="/big.php?n=3000000"))
            c.sock.recv(1000)
            getattr(c, how)()
    assert server.settled()
    assert " warn " not in server.log()[size:] and " error " not in server.log()[size:]


def test_answers_say_date_and_server(server):
    for target in "/", "/a.txt", "/nope.php", "/_ephpm/health":
        r = server.get(target)
        assert r.get("Server") == "ephpm"
        assert abs(time.mktime(time.strptime(r.get("Date"), "%a, %d %b %Y %H:%M:%S GMT"))
                   - time.mktime(time.gmtime())) < 5


def test_mutated_requests_do_no_harm(server):
    """Valid requests with bytes changed, doubled, dropped: every answer is sound HTTP, no process
    dies."""
    rnd = random.Random(7)
    pids = {w["pid"] for w in server.workers()}
    sound = [
        build("POST", "/echo.php/a%20b?x=%41", {"Transfer-Encoding": "chunked", "Cookie": "a=b"},
              chunked(b"hello", b"world" * 20)),
        build("POST", "/echo.php", {"Content-Type": "application/x-www-form-urlencoded"}, "a=1"),
        build("GET", "/a.txt", {"Range": "bytes=0-2,4-", "If-None-Match": '"x"',
                                "Accept-Encoding": "gzip;q=0.5, br"}),
        build("HEAD", "http://localhost/index.php", {"Expect": "100-continue"}),
    ]
    for i in range(400):
        data = bytearray(rnd.choice(sound) + rnd.choice(sound))
        for _ in range(rnd.randint(1, 4)):
            at = rnd.randrange(len(data))
            how = rnd.randrange(4)
            if how == 0:
                data[at] = rnd.randrange(256)
            elif how == 1:
                del data[at:at + rnd.randint(1, 9)]
            elif how == 2:
                data[at:at] = rnd.choice([b"\r\n", b"\n", b"\0", b" ", b":", b"%", b"/../", b"0"])
            else:
                data[at:at] = data[at:at + rnd.randint(1, 30)]
        with server.connect() as c:
            c.send(bytes(data))
            if i % 4:
                c.sock.shutdown(socket.SHUT_WR)
                got = c.read_all()
            else:  # time for PHP
                c.sock.settimeout(0.02)
                try:
                    got = c.read_all()
                except TimeoutError:
                    got = c.pending
        assert not got or got.startswith(b"HTTP/1.1 "), (i, bytes(data), got[:100])
    assert server.get("/a.txt").text == "static\n"
    assert {w["pid"] for w in server.workers()} >= pids
