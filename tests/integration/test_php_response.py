# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What PHP's header functions make of a response: statuses, fields, early hints, internal files."""
import json

import pytest

import ephpm
from scripts import snippet

CONFIG = {"php": {"values": {"output_buffering": "4096", "expose_php": "0",
                             "default_charset": "UTF-8"}}}
FILES = {"files/secret.txt": b"0123456789" * 100, "files/b c.txt": b"space",
         "index.php": "<?php echo 'front ', $_SERVER['REQUEST_URI'];"}
# Of the connection, the server and the framing: the same for every answer.
OURS = {"date", "server", "content-length", "transfer-encoding", "connection", "vary"}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def run(server, code, method="GET", headers=(), **more):
    return server.request(method, snippet(server, code), headers, **more)


def fields(r):
    return [(n, v) for n, v in r.headers if n.lower() not in OURS]


HTML = ("Content-Type", "text/html; charset=UTF-8")


@pytest.mark.parametrize("code, status, want", [
    ("echo 1;", 200, [HTML]),
    ("header('X-A: 1'); header('x-a: 2');", 200, [("x-a", "2"), HTML]),
    ("header('X-A: 1'); header('X-A: 2', false);", 200, [("X-A", "1"), ("X-A", "2"), HTML]),
    ("header('X-A: 1'); header_remove('x-a');", 200, [HTML]),
    ("header('X-A: 1'); header_remove();", 200, [HTML]),
    ("header('X-Spaces:  a  b  ');", 200, [("X-Spaces", "a  b"), HTML]),
    ("header('X-Case-KEPT: v');", 200, [("X-Case-KEPT", "v"), HTML]),
    ("setcookie('a', '1'); setcookie('b', 'ü ;');", 200,
     [("Set-Cookie", "a=1"), ("Set-Cookie", "b=%C3%BC%20%3B"), HTML]),
    ("header('Location: /x');", 302, [("Location", "/x"), HTML]),
    ("header('Location: /x', true, 301);", 301, [("Location", "/x"), HTML]),
    ("header('Location: /x', true, 200);", 302, [("Location", "/x"), HTML]),
    ("header('Location: /x'); header('HTTP/1.1 200 OK');", 302, [("Location", "/x"), HTML]),
    ("header('Location: /x', true, 200); header('Status: 200 OK');", 200,
     [("Location", "/x"), HTML]),
    ("http_response_code(201); header('Location: /x');", 201, [("Location", "/x"), HTML]),
    ("http_response_code(404); header('Location: /x');", 302, [("Location", "/x"), HTML]),
    ("header('WWW-Authenticate: Basic realm=x');", 401, [("WWW-Authenticate", "Basic realm=x"), HTML]),
    ("header('HTTP/1.1 404 Nix Da');", 404, [HTML]),
    ("header('HTTP/1.0 299 Foo Bar');", 299, [HTML]),
    ("header('HTTP/');", 200, [HTML]),
    ("header('Status: 404 Not Found');", 404, [HTML]),
    ("header('X-A: 1', true, 418);", 418, [("X-A", "1"), HTML]),
    ("http_response_code(599);", 599, [HTML]),
    ("http_response_code(999);", 500, [HTML]),
    ("http_response_code(-1);", 500, [HTML]),
    ("http_response_code(100);", 500, [HTML]),
    ("http_response_code(204);", 204, [HTML]),
    ("http_response_code(304); header('ETag: \"x\"');", 304, [("ETag", '"x"')]),
    ("header('Content-Type: text/plain');", 200, [("Content-Type", "text/plain;charset=UTF-8")]),
    ("header('content-type: TEXT/x');", 200, [("Content-Type", "TEXT/x")]),
    ("header('Content-Type: image/png');", 200, [("Content-Type", "image/png")]),
    ("header('Content-Type: text/html; charset=latin1');", 200,
     [("Content-Type", "text/html; charset=latin1")]),
    ("header('Content-Type:');", 200, []),
    ("ini_set('default_charset', '');", 200, [("Content-Type", "text/html")]),
    ("header('NoColon'); header(': empty');", 200, [HTML]),
    ("@header(\"X-A: 1\\r\\nX-B: 2\");", 200, [HTML]),
    ("header('Connection: close, x'); header('Transfer-Encoding: chunked'); header('X-A: 1');", 200,
     [("X-A", "1"), HTML]),
    ("header_register_callback(function () { header('X-Late: 1'); header_remove('X-Early'); });"
     "header('X-Early: 1'); echo 1;", 200, [("X-Late", "1"), HTML]),
    ("ob_start(); echo 'x'; header('X-A: 1'); ob_end_flush();", 200, [("X-A", "1"), HTML]),
])
def test_fields(server, code, status, want):
    r = run(server, code)
    assert r.status == status
    assert sorted(fields(r)) == sorted(want)


@pytest.mark.parametrize("code, reason", [
    ("header('HTTP/1.1 404 Nix Da');", "Nix Da"), ("http_response_code(404);", "Not Found"),
    ("header('Status: 410 Away');", "Away"),
    ("http_response_code(599);", "Unknown")])
def test_reason(server, code, reason):
    assert run(server, code).reason == reason


def test_http_response_code_in_php(server):
    r = run(server, """$a = [http_response_code()]; $a[] = http_response_code(404);
        $a[] = http_response_code(); header('Status: 503 x'); $a[] = http_response_code();
        echo json_encode($a);""")
    assert json.loads(r.text) == [200, 200, 404, 404] and r.status == 503


def test_headers_list_and_sent(server):
    r = run(server, """header('X-A: 1'); $l = headers_list(); $b = headers_sent();
        echo json_encode([$l, $b, apache_response_headers()['X-A']]); while (ob_get_level()) ob_end_flush();
        flush(); echo json_encode([headers_sent($f, $n), basename($f), $n]);
        $ok = @header('X-Late: 1'); echo json_encode(error_get_last()['message']);""")
    assert "X-Late" not in r and r.get("X-A") == "1"
    first, second, third = r.text.partition("]][")[0], r.text, r.text.rpartition('"Cannot')[2]
    assert '"X-A: 1"' in first and "false" in first
    assert "[true," in second and "headers already sent" in third


def test_expose_php(serve):
    s = serve({"php": {"values": {"expose_php": "1"}}}, {"x.php": "<?php echo 1;"})
    assert s.get("/x.php").get("X-Powered-By").startswith("PHP/")


def test_session_headers(server):
    r = run(server, "ini_set('session.save_path', sys_get_temp_dir()); session_start(); echo 1; "
                    "session_destroy();")
    assert r.get("Expires") == "Thu, 19 Nov 1981 08:52:00 GMT" and r.get("Pragma") == "no-cache"
    assert r.get("Cache-Control") == "no-store, no-cache, must-revalidate"
    assert r.get("Set-Cookie").startswith("PHPSESSID=")


@pytest.mark.parametrize("code, body, length", [
    ("header('Content-Length: 5'); echo 'hello';", "hello", "5"),
    ("echo 'hello';", "hello", "5"),
    ("header('Content-Length: abc'); echo 'hello';", "hello", "5"),
    ("", "", "0"),
])
def test_content_length(server, code, body, length):
    r = run(server, code)
    assert r.text == body and r.get("Content-Length") == length


def test_long_page_without_flush_is_chunked(server):
    r = run(server, "for ($i = 0; $i < 3000; $i++) echo str_repeat('x', 100);")
    assert len(r.body) == 300_000 and r.chunked
    r = run(server, "for ($i = 0; $i < 3000; $i++) echo str_repeat('x', 100);",
            headers={"Accept-Encoding": "gzip"})
    assert r.get("Content-Encoding") == "gzip" and len(r.body) < 3000


def test_flushed_stream_is_not_compressed(server):
    r = run(server, "while (ob_get_level()) ob_end_flush(); for ($i = 0; $i < 3; $i++) "
                    "{ echo str_repeat('x', 5000); flush(); }", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in r and len(r.body) == 15_000


def test_head_runs_the_script_without_body(server):
    mark = server.tmp / "head-ran"
    r = run(server, f"header('X-A: 1'); header('Content-Length: 7'); echo 'x'; "
                    f"file_put_contents('{mark}', $_SERVER['REQUEST_METHOD']);", "HEAD")
    assert (r.status, r.body, r.get("X-A"), r.get("Content-Length")) == (200, b"", "1", "7")
    assert ephpm.wait_for(mark.exists)
    mark.unlink()


@pytest.mark.parametrize("status", [204, 304])
def test_statuses_without_body_drop_it(server, status):
    with server.connect() as c:
        path = snippet(server, f"http_response_code({status}); echo 'never';")
        for _ in range(2):
            r = c.request("GET", path)
            assert r.status == status and r.body == b"" and r.keep_alive


def test_early_hints(server):
    r = run(server, """header('Link: </a.css>; rel=preload'); $n = headers_send(103);
        header('X-Final: 1'); echo $n;""")
    assert r.status == 200 and r.text == "103" and r.get("X-Final") == "1"
    assert [i.status for i in r.infos] == [103]
    assert r.infos[0].headers == [("Link", "</a.css>; rel=preload")]
    assert r.get("Link") == "</a.css>; rel=preload"


def test_early_hints_only_before_the_answer(server):
    r = run(server, "while (ob_get_level()) ob_end_flush(); echo 'x'; flush(); "
                    "echo headers_send(103);")
    assert r.infos == [] and r.text == "x0"


def test_no_early_hints_for_http_1_0(server):
    path = snippet(server, "header('Link: </a>'); headers_send(103); echo 'fine';")
    answer = server.raw(f"GET {path} HTTP/1.0\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"fine")


@pytest.mark.parametrize("code, status, body", [
    ("header('X-Accel-Redirect: /files/secret.txt');", 200, b"0123456789" * 100),
    ("header('X-Accel-Redirect: /files/b%20c.txt');", 200, b"space"),
    ("header('X-Sendfile: ' . __DIR__ . '/files/secret.txt');", 200, b"0123456789" * 100),
    ("header('X-Accel-Redirect: /../etc/passwd');", 404, None),
    ("header('X-Accel-Redirect: /files/none');", 404, None),
    ("header('X-Sendfile: /etc/passwd');", 404, None),
    ("header('X-Sendfile: relative.txt');", 404, None),
])
def test_internal_files(server, code, status, body):
    r = run(server, code + " header('Content-Type: application/x-thing'); "
                           "header('Content-Disposition: attachment'); echo 'replaced';")
    assert r.status == status
    assert "X-Accel-Redirect" not in r and "X-Sendfile" not in r
    assert b"root:" not in r.body and b"replaced" not in r.body
    if body is not None:
        assert r.body == body
        assert r.get("Content-Type") == "application/x-thing"
        assert r.get("Content-Disposition") == "attachment"


def test_internal_file_with_range_and_head(server):
    code = "header('X-Sendfile: ' . __DIR__ . '/files/secret.txt');"
    r = run(server, code, headers={"Range": "bytes=5-14"})
    assert (r.status, r.body) == (206, b"5678901234")
    assert r.get("Content-Range") == "bytes 5-14/1000"
    r = run(server, code, "HEAD")
    assert r.get("Content-Length") == "1000" and r.body == b""


def test_instructions_to_the_server_stay_here(server):
    r = run(server, "header('X-Accel-Buffering: no'); header('X-Accel-Expires: 5'); echo 1;")
    assert not [n for n, _ in r.headers if n.lower().startswith("x-accel")]


def test_dropped_fields_are_logged(server):
    start = len(server.log())
    run(server, "header('NoColonHere');")
    server.wait_log("NoColonHere", start=start)
