# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Header fields both ways: what PHP is told, and what of PHP's answer goes on the wire."""
import gzip
import json
import subprocess
import urllib.parse

import pytest

import ephpm
import scripts
from httpc import build

FILES = {
    "index.php": "<?php echo 'front';", "echo.php": scripts.ECHO, "h.php": scripts.HEADERS,
    "big.php": scripts.BIG, "drip.php": scripts.DRIP, "a.txt": "static\n", "t.txt": "text " * 1000,
    "raw.php": "<?php\n@header(\"X-A: a\\r\\nX-Evil: b\"); @header(\"X-B: b\\nX-Evil: c\");\n"
               "@header(\"X-C: c\\0d\");\n"
               "try { @setrawcookie('c', \"a\\r\\nX-Evil: d\"); }\n"
               "catch (ValueError) {}\necho 'ok';",
    "html.php": "<?php foreach ($_GET['h'] ?? [] as $h) header($h);\n"
                "echo str_repeat('<p>hello world</p>', 500);",
    "jpg.php": "<?php header('Content-Type: image/jpeg'); echo str_repeat('a', 5000);",
    "zlib.php": "<?php ini_set('zlib.output_compression', '1'); echo str_repeat('hello ', 2000);",
    "s304.php": "<?php http_response_code(304); header('ETag: \"x\"'); echo 'SMUGGLED';",
    "cookies.php": "<?php setcookie('a', '1'); setcookie('b', '2'); header('X-M: 1');"
                   "header('X-M: 2', false); echo 'c';",
    "fatal.php": "<?php header('X-Before: 1'); nope();",
    "finish.php": "<?php header('Location: /r', true, 302); fastcgi_finish_request();"
                  "echo 'X-Risky: yes';",
    "late.php": "<?php echo str_repeat('x', 100000); flush(); @header('X-Late: 1'); echo 'end';",
    "sendfile.php": "<?php header(($_GET['k'] ?? 'X-Accel-Redirect') . ': ' . $_GET['f']);"
                    "if (isset($_GET['t'])) header('Content-Type: ' . $_GET['t']); echo 'unused';",
    "hints.php": "<?php header('Link: </a.css>; rel=preload'); headers_send(103); echo 'ok';",
    "private/f.txt": "private file",
    "errors/404.html": "<h1>not here</h1>", "errors/503.html": "busy",
}

CONFIG = """
[server.response]
headers = [["X-Frame-Options", "DENY"], ["X-Powered-By", "us"]]
error_pages = [["404", "/errors/404.html"]]
compression_streaming = "all"
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def h(*headers, script="h.php", **more):
    q = [("h[]", x) for x in headers] + list(more.items())
    return f"/{script}?" + urllib.parse.urlencode(q)


def seen(server, headers):
    r = server.get("/echo.php", headers)
    assert r.status == 200, r
    return json.loads(r.text)["server"]


# --- to PHP --------------------------------------------------------------------------------------


def test_request_fields_reach_php(server):
    v = seen(server, {"X-Bd": "0", "X-E": "", "X-Sp": "  a  b\t", "Accept": "*/*", "X-Caf": "\xe9",
                      "X-Long": "v" * 8000})
    assert v["HTTP_X_BD"] == "0" and v["HTTP_X_E"] == "" and v["HTTP_X_SP"] == "a  b"
    assert v["HTTP_ACCEPT"] == "*/*" and v["HTTP_X_LONG"] == "v" * 8000 and "HTTP_X_CAF" in v


def test_repeated_fields_are_joined(server):
    v = seen(server, [("X-A", "1"), ("X-B", "x"), ("x-a", "2"), ("Cookie", "a=1"),
                      ("Cookie", "b=2"), ("X-Forwarded-For", "9.9.9.9")])
    assert v["HTTP_X_A"] == "1, 2" and v["HTTP_COOKIE"] == "a=1; b=2"
    assert v["REMOTE_ADDR"] == "127.0.0.1"


def test_dangerous_fields_are_dropped(server):
    v = seen(server, {"Proxy": "http://evil", "X_Under": "1", "X-Und": "ok", "X_Forwarded_For": "1",
                      "Content_Length": "99", "X.Dot": "1", "X!Bang": "1"})
    for name in "HTTP_PROXY", "HTTP_X_UNDER", "HTTP_X_FORWARDED_FOR", "CONTENT_LENGTH", \
            "HTTP_CONTENT_LENGTH":
        assert name not in v, name
    assert v["HTTP_X_UND"] == "ok"
    assert all(c.isalnum() or c == "_" for k in v if k.startswith("HTTP_") for c in k)


def test_underscores_can_be_accepted(serve):
    s = serve("[server.request]\nunderscores_in_headers = true", FILES)
    assert seen(s, {"X_Under": "1"})["HTTP_X_UNDER"] == "1"


def test_basic_auth(server):
    v = seen(server, {"Authorization": "Basic dTpwOjE="})
    assert v["PHP_AUTH_USER"] == "u" and v["PHP_AUTH_PW"] == "p:1"
    assert v["HTTP_AUTHORIZATION"] == "Basic dTpwOjE=" and "REMOTE_USER" not in v
    for bad in "Basic", "Basic !!!", "Basic dTpwOjE", "Bearer x":
        v = seen(server, {"Authorization": bad})
        assert "PHP_AUTH_USER" not in v or bad == "Basic dTpwOjE", bad
        assert v["HTTP_AUTHORIZATION"] == bad
    assert "PHP_AUTH_USER" not in seen(server, {})


# --- from PHP ------------------------------------------------------------------------------------


def test_injected_lines_never_reach_the_wire(server):
    r = server.get("/raw.php")
    assert r.status == 200 and "X-Evil" not in r and r.text.endswith("ok")
    for name in "X-A", "X-B", "X-C":
        assert name not in r


@pytest.mark.parametrize("line", ["NoColon", ": empty", "Bad Name: x", "Bad(Name): x", "X:\x01y"])
def test_malformed_fields_of_php_are_dropped(server, line):
    size = len(server.log())
    with server.connect() as c:
        r = c.request(target=h(line, "X-Good: 1"))
        assert r.status == 200 and r.text == "body" and r.get("X-Good") == "1"
        for bad in b"NoColon", b"\n:", b"Bad", b"X:":
            assert bad not in r.raw_head
        assert c.request(target="/a.txt").status == 200
    server.wait_log("dropped", start=size)


@pytest.mark.parametrize("line", [
    "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Connection: keep-alive, X-A",
    "Keep-Alive: timeout=5", "Upgrade: h2c", "Trailer: X", "Content-Length: abc",
    "Content-Length: -1", "Content-Length: +4", "TE: trailers", "Proxy-Connection: close"])
def test_framing_fields_of_php_are_not_trusted(server, line):
    with server.connect() as c:
        r = c.request(target=h(line))
        assert (r.status, r.text) == (200, "body")
        assert c.request(target="/a.txt").text == "static\n"


@pytest.mark.parametrize("status", [204, 304])
def test_bodyless_status_sends_no_body(server, status):
    with server.connect() as c:
        r = c.request(target=f"/h.php?s={status}&b=SMUGGLED%0d%0aHTTP/1.1%20200%20OK")
        assert r.status == status and (status == 204 or "Content-Type" not in r)
        assert c.silent(0.05)
        assert c.request(target="/a.txt").text == "static\n"


def test_304_keeps_validators(server):
    r = server.get("/s304.php")
    assert r.status == 304 and r.get("ETag") == '"x"' and "Content-Type" not in r


def test_205_has_an_empty_body(server):
    with server.connect() as c:
        r = c.request(target="/h.php?s=205&b=")
        assert r.status == 205 and r.body == b""
        assert c.request(target="/a.txt").status == 200


@pytest.mark.parametrize("length, sent", [(5, 10), (10, 5), (0, 5), (100, 0)])
def test_wrong_content_length_of_php(server, length, sent):
    data = server.raw(build(target=h(f"Content-Length: {length}", b="x" * sent)) +
                      build(target="/a.txt"))
    head, _, body = data.partition(b"\r\n\r\n")
    assert body == b"x" * min(length, sent), data
    assert f"Content-Length: {length}".encode() in head and b"Transfer-Encoding" not in head


def test_right_content_length_with_flush_is_kept(server):
    r = server.get(h("Content-Length: 24", script="drip.php", n=3, ms=1))
    assert not r.chunked and r.get("Content-Length") == "24" and len(r.body) == 24


def test_two_content_lengths(server):
    with server.connect() as c:
        r = c.request(target=h("Content-Length: 4", "Content-Length: 5"))
        assert r.text == "body"
        assert c.request(target="/a.txt").status == 200


@pytest.mark.parametrize("lines, status, reason", [
    (["HTTP/1.1 299 Foo Bar"], 299, "Foo Bar"), (["HTTP/"], 200, None),
    (["Status: 404 Not Found"], 404, "Not Found"), (["HTTP/1.0 404"], 404, None),
    (["Location: /x"], 302, None), (["WWW-Authenticate: Basic"], 401, None)])
def test_status_lines(server, lines, status, reason):
    r = server.get(h(*lines))
    assert r.status == status and (reason is None or r.reason == reason)
    assert r.version == "HTTP/1.1" and "Status" not in r


@pytest.mark.parametrize("code, status", [(201, 201), (418, 418), (599, 599), (999, 500), (-1, 500),
                                          (42, 500), (600, 500)])
def test_response_codes(server, code, status):
    with server.connect() as c:
        assert c.request(target=f"/h.php?s={code}").status == status
        assert c.request(target="/h.php").status == 200


def test_code_100_is_no_answer(server):
    with server.connect() as c:
        r = c.request(target="/h.php?s=100")
        assert r.status >= 200 and not r.infos
        assert c.request(target="/a.txt").text == "static\n"


def test_set_cookie_and_repeated_fields_stay_apart(server):
    r = server.get("/cookies.php")
    assert r.all("Set-Cookie") == ["a=1", "b=2"] and r.all("X-M") == ["1", "2"]


def test_content_type_rules(server):
    assert server.get("/h.php").get("Content-Type") == "text/html; charset=UTF-8"
    assert server.get(h("Content-Type: application/json")).get("Content-Type") == "application/json"
    assert server.get(h("Content-Type:")).get("Content-Type") in (None, "text/html; charset=UTF-8")
    assert server.get(h("Content-Type: text/plain")).get(
        "Content-Type").lower().replace(" ", "") == "text/plain;charset=utf-8"


def test_fatal_error_is_500_and_the_next_request_200(server):
    with server.connect() as c:
        r = c.request(target="/fatal.php")
        assert r.status == 500 and r.get("X-Before") == "1" and "nope" not in r.text
        assert c.request(target="/h.php").status == 200


def test_output_after_finish_is_discarded(server):
    with server.connect() as c:
        for _ in range(3):
            r = c.request(target="/finish.php")
            assert r.status == 302 and r.get("Location") == "/r" and r.body == b""
            assert c.request(target="/a.txt").text == "static\n"


def test_late_header_is_ignored(server):
    r = server.get("/late.php")
    assert r.status == 200 and "X-Late" not in r and len(r.body) == 100003


def test_many_and_long_response_fields(server):
    server.write("many.php", "<?php for ($i = 0; $i < 150; $i++) header(\"X-$i: \" . "
                             "str_repeat('v', 50)); echo 'ok';")
    r = server.get("/many.php")
    assert r.status == 200 and r.get("X-149") == "v" * 50
    server.write("long.php", "<?php header('X-L: ' . str_repeat('v', 20000)); echo 'ok';")
    r = server.get("/long.php")
    assert r.status == 200 and r.get("X-L") in (None, "v" * 20000)


def test_huge_response_head_is_a_clean_error(server):
    server.write("huge.php", "<?php for ($i = 0; $i < 3000; $i++) header(\"X-$i: \" . "
                             "str_repeat('v', 1000)); echo 'ok';")
    with server.connect() as c:
        assert c.request(target="/huge.php").status in (200, 500, 502)
    assert server.get("/h.php").status == 200


def test_early_hints(server):
    with server.connect() as c:
        r = c.request(target="/hints.php")
        assert r.status == 200 and r.text == "ok"
        assert [(i.status, i.get("Link")) for i in r.infos] == [(103, "</a.css>; rel=preload")]
        assert c.request(target="/a.txt").status == 200


# --- files for PHP -------------------------------------------------------------------------------


def test_accel_redirect_and_sendfile(server):
    for k, f in ("X-Accel-Redirect", "/private/f.txt"), ("X-Sendfile",
                                                         f"{server.root}/private/f.txt"):
        with server.connect() as c:
            r = c.request(target=f"/sendfile.php?k={k}&f={f}&t=application/x-own")
            assert r.text == "private file" and k not in r
            assert r.get("Content-Type") == "application/x-own"
            r = c.request(target=f"/sendfile.php?k={k}&f={f}", headers={"Range": "bytes=0-6"})
            assert (r.status, r.text) == (206, "private")
            assert c.request("HEAD", f"/sendfile.php?k={k}&f={f}").body == b""
            assert c.request(target="/a.txt").text == "static\n"


def test_sendfile_stays_in_the_root(server):
    server.write(server.dir / "outside.txt", "outside")
    for k, f in [("X-Sendfile", "/etc/passwd"), ("X-Sendfile", f"{server.root}/../outside.txt"),
                 ("X-Accel-Redirect", "/../outside.txt"), ("X-Accel-Redirect", "/nothing"),
                 ("X-Sendfile", "relative"), ("X-Accel-Redirect", "/%2e%2e/outside.txt"),
                 ("X-Accel-Redirect", "/private")]:
        r = server.get(f"/sendfile.php?k={k}&f={urllib.parse.quote(f)}")
        assert r.status in (403, 404, 500) and "outside" not in r.text and "root:" not in r.text


# --- configured ----------------------------------------------------------------------------------


def test_custom_headers_on_every_answer(server):
    for target in "/", "/a.txt", "/nope/", "/nope.txt", "/_ephpm/health", "/h.php?s=204", "/%zz":
        assert server.get(target).get("X-Frame-Options") == "DENY", target
    assert len(server.get("/").all("X-Powered-By")) == 1


def test_error_page_of_the_site(serve):
    s = serve(CONFIG + '\n[server]\nfallback = ["$uri", "=404"]', FILES)
    r = s.get("/nope")
    assert r.status == 404 and r.text == "<h1>not here</h1>"
    assert r.get("Content-Type").startswith("text/html")
    assert s.request("HEAD", "/nope").body == b""
    assert s.get(h(s="404", b="own page")).text == "own page"  # the application's stays


def test_default_error_page_follows_accept(serve):
    s = serve('[server]\nfallback = ["=404"]', {"x": "x"})
    assert "<html" in s.get("/nope", {"Accept": "text/html"}).text.lower()
    r = s.get("/nope", {"Accept": "application/json"})
    assert r.get("Content-Type").startswith("application/json") and json.loads(r.text)


def test_server_header_can_go(serve):
    s = serve('[server.response]\nserver_header = ""', FILES)
    for target in "/", "/a.txt":
        assert "Server" not in s.get(target)


# --- compression ---------------------------------------------------------------------------------


def plain(r):
    coding = r.get("Content-Encoding")
    if coding == "gzip":
        return gzip.decompress(r.body)
    if coding in ("br", "zstd"):
        program = {"br": ["brotli", "-dc"], "zstd": ["zstd", "-dc"]}[coding]
        try:
            return subprocess.run(program, input=r.body, capture_output=True, check=True).stdout
        except FileNotFoundError:
            return None  # no such tool here: the coding's name was checked
    return r.body


HTML = b"<p>hello world</p>" * 500


@pytest.mark.parametrize("accept, codings", [
    ("gzip", ["gzip"]), ("br", ["br"]), ("zstd", ["zstd"]),
    ("gzip, deflate, br, zstd", ["br", "zstd"]),
    ("gzip;q=1.0, br;q=0.5", ["gzip"]), ("br;q=0, gzip;q=0.001", ["gzip"]), ("GZIP", ["gzip"]),
    ("x-gzip", ["gzip", None]), ("identity", [None]), ("", [None]), ("*", ["br", "zstd", "gzip"]),
    ("*;q=0", [None]), ("gzip;q=0", [None]), ("identity;q=0.5, gzip;q=0.4", [None, "gzip"]),
    ("deflate", [None]), ("gzip;q=abc", [None, "gzip"]), ("nonsense,,;;", [None])])
def test_compression_by_quality(server, accept, codings):
    r = server.get("/html.php", {"Accept-Encoding": accept})
    assert r.status == 200 and r.get("Content-Encoding") in codings
    assert plain(r) in (HTML, None)
    assert "accept-encoding" in r.get("Vary", "").lower()
    if r.get("Content-Encoding"):
        assert len(r.body) < 1000


def test_not_compressed(server):
    ae = {"Accept-Encoding": "gzip"}
    assert "Content-Encoding" not in server.get("/h.php", ae)  # too small
    assert "Content-Encoding" not in server.get("/jpg.php", ae)  # is already
    for line in "Cache-Control: no-transform", "HTTP/1.1 206 Partial Content":
        r = server.get(h(line, script="html.php"), ae)
        assert r.body == HTML, line
    r = server.get(h("Content-Encoding: foo", script="html.php"), ae)
    assert r.get("Content-Encoding") == "foo" and r.body == HTML
    r = server.request("HEAD", "/html.php", ae)
    assert r.body == b""


def test_php_compression_is_not_repeated(server):
    r = server.get("/zlib.php", {"Accept-Encoding": "gzip, br"})
    assert gzip.decompress(r.body) if r.get("Content-Encoding") == "gzip" else plain(r) is not None
    assert r.get("Content-Encoding") in ("gzip", "br", "zstd")


def test_vary_and_etag_under_compression(server):
    r = server.get(h("Vary: Cookie", 'ETag: "abc"', "Content-Length: 9000", script="html.php"),
                   {"Accept-Encoding": "gzip"})
    assert r.get("Content-Encoding") == "gzip" and plain(r) == HTML
    vary = ", ".join(r.all("Vary")).lower()
    assert "cookie" in vary and "accept-encoding" in vary
    assert r.get("ETag") == 'W/"abc"'


def test_compressed_stream_is_flushed(server):
    import zlib
    with server.connect() as c:
        c.send(build(target="/drip.php?n=3&ms=150", headers={"Accept-Encoding": "gzip"}))
        r = c.read_head()
        assert r.get("Content-Encoding") == "gzip"
        d, text = zlib.decompressobj(31), b""
        while b"piece 0" not in text:
            text += d.decompress(c.read_chunk())
        assert b"piece 1" not in text  # it came before the next one was written
        while chunk := c.read_chunk():
            text += d.decompress(chunk)
        assert text == b"piece 0\npiece 1\npiece 2\n"


def test_large_body_is_compressed_whole(server):
    r = server.get("/big.php?n=3000000", {"Accept-Encoding": "gzip"})
    assert len(plain(r)) == 3000000


def test_compression_can_be_switched_off(serve):
    s = serve("[server.response]\ncompression = false", FILES)
    for target in "/html.php", "/t.txt":
        r = s.get(target, {"Accept-Encoding": "gzip, br"})
        assert "Content-Encoding" not in r and "Vary" not in r


def test_minimum_size(serve):
    s = serve("[server.response]\ncompression_min_size = 1", FILES)
    assert s.get("/h.php", {"Accept-Encoding": "gzip"}).get("Content-Encoding") == "gzip"
