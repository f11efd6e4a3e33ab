# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What applications rely on beyond the request itself, here and under nginx and php-fpm: environment,
header callbacks, sessions, prepended files, sections of php.ini, upload errors that need a broken
disk or an extension. Each expected value holds for both."""
import json
import os
import re
import threading
import time

import pytest

import ephpm
import peer
from scripts import snippet
from test_php_extensions import build
from test_php_input import B, parts
from test_process_system import root_only, tiny  # noqa: F401 (a fixture)

INI = """
[HOST=a.test]
precision = 5
user_agent = host
[PATH={root}/p]
precision = 6
memory_limit = 77M
"""
# Not by a literal name: php-fpm's OPcache keeps the first host's value in the code then.
SHOW = "<?php echo json_encode([...array_map('ini_get', ['precision', 'user_agent']), " \
       "ini_set('precision', '9'), ini_get_all()['precision']['access']]);"
VALUES = {"display_errors": "0", "variables_order": "EGPCS", "output_buffering": "4096",
          "session.save_path": "{dir}/sessions", "register_argc_argv": "0", "memory_limit": "128M"}
ENV = {"APP": "x", "FROM": "$TMPDIR", "NONE": "$NO_SUCH_VARIABLE", "PART": "a$TMPDIR", "SIGN": "a$"}
FILES = {
    "show.php": SHOW, "p/show.php": SHOW, "p/q/show.php": SHOW,
    "pre/.user.ini": "auto_prepend_file = before.inc\nauto_append_file = after.inc\n",
    "pre/before.inc": "<?php if (isset($_GET['stop'])) { echo 'stopped'; exit; } "
                      "header('X-Pre: 1'); echo '['; $set = 'seen';",
    "pre/after.inc": "<?php echo ']';",
    "pre/index.php": "<?php echo $set, count(get_included_files()), basename(get_included_files()[0]); "
                     "if (isset($_GET['exit'])) exit; if (isset($_GET['die'])) nope();",
    "lost/.user.ini": "auto_prepend_file = no-such-file.inc\n",
    "lost/index.php": "<?php echo 'main';",
    "auto/.user.ini": "session.auto_start = 1\nsession.name = AUTO\n",
    "auto/index.php": "<?php $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1; echo $_SESSION['n'];",
    "count.php": "<?php session_id('counter'); session_start(); $n = ($_SESSION['n'] ?? 0) + 1; "
                 "usleep(20000); $_SESSION['n'] = $n; echo $n;",
    "hold.php": "<?php session_id('held'); session_start(); touch($_GET['mark']); "
                "if (isset($_GET['close'])) session_write_close(); "
                "if (isset($_GET['finish'])) fastcgi_finish_request(); "
                "for ($i = 0; $i < 9000 && file_exists($_GET['mark']); $i++) { usleep(10000); clearstatcache(); } "
                "echo 'held';",
    "peek.php": "<?php session_id('held'); session_start(); echo 'got it';",
}


@pytest.fixture(scope="module", params=["ephpm", "nginx"])
def server(request):
    values = dict(VALUES)
    if request.param == "nginx":
        if not peer.AVAILABLE:
            pytest.skip("needs nginx, php-fpm and root")
        s = peer.Peer(values, FILES, env=ENV, ini=INI)
    else:
        s = ephpm.Server(start=False)
        (s.dir / "php.ini").write_text(INI.replace("{root}", str(s.root)))
        for path, text in FILES.items():
            s.write(path, text)
        s.write_config({"php": {"ini_file": "{dir}/php.ini", "values": values, "env": ENV}})
        s.start()
    (s.dir / "sessions").mkdir()
    (s.dir / "sessions").chmod(0o777)
    with s:
        yield s


def run(server, code, method="GET", headers=(), query="?q=1"):
    return server.request(method, snippet(server, code) + query, headers)


# --- environment ----------------------------------------------------------------------------------

def test_environment(server):
    got = json.loads(run(server, """echo json_encode([getenv('APP'), getenv('APP', true),
        $_SERVER['APP'] ?? null, $_ENV['APP'] ?? null, isset(getenv()['REQUEST_URI']),
        getenv('QUERY_STRING'), getenv('REQUEST_METHOD', true), isset($_ENV['SCRIPT_NAME']),
        getenv('nope')]);""").text)
    assert got == ["x", "x", "x", "x", True, "q=1", False, True, False]


def test_variables_of_the_server_are_passed_on_by_name(server):
    got = run(server, "echo json_encode(array_map('getenv', ['FROM', 'NONE', 'PART', 'SIGN']));").text
    assert json.loads(got) == [str(server.tmp), "", "a$TMPDIR", "a$"]


def test_putenv(server):
    for _ in range(3):
        got = json.loads(run(server, """putenv('APP=y'); putenv('QUERY_STRING=z'); putenv('NEW=1');
            echo json_encode([getenv('APP'), getenv('QUERY_STRING'), getenv('NEW'), $_SERVER['APP'],
                shell_exec('echo $APP$NEW'), putenv('APP'), getenv('APP')]);""").text)
        assert got == ["y", "q=1", "1", "x", "y1\n", True, False]
    assert run(server, "echo getenv('APP'), var_export(getenv('NEW'), true);").text == "xfalse"


def test_what_php_is(server):
    got = json.loads(run(server, """echo json_encode([PHP_SAPI, is_executable(PHP_BINARY),
        defined('STDIN'), file_get_contents('php://stdin'), isset($_SERVER['argv']),
        ini_get('html_errors'), ini_get('implicit_flush'), ini_get('max_input_time'),
        sprintf('%o', umask()), function_exists('dl'), function_exists('apache_note')]);""").text)
    assert got == ["fpm-fcgi", True, False, "", False, "1", "0", "-1", "22", False, False]


def test_arguments_of_the_query(server):
    """register_argc_argv: a query without "=" is split at "+"."""
    server.write("args/.user.ini", "register_argc_argv = 1\n")
    server.write("args/x.php", "<?php echo json_encode([$_SERVER['argv'] ?? null, $_SERVER['argc'] ?? null]);")
    assert json.loads(server.get("/args/x.php?a+b%20c").text) == [["a", "b%20c"], 2]
    assert json.loads(server.get("/args/x.php").text) == [[], 0]


def test_names_of_headers(server):
    r = run(server, "echo json_encode(array_diff_key(getallheaders(), array_flip(['Host', 'Connection', "
                    "'Content-Length', 'Content-Type'])));",
            headers={"sec-ch-ua": "1", "DNT": "1", "X-FORWARDED-for": "2", "x-9a-b": "3", "ETag": "4"})
    assert json.loads(r.text) == {"Sec-Ch-Ua": "1", "Dnt": "1", "X-Forwarded-For": "2", "X-9a-B": "3",
                                  "Etag": "4"}


def test_time_zone_is_the_settings_not_the_environments(server):
    assert run(server, "putenv('TZ=Asia/Tokyo'); echo date_default_timezone_get(), date('H', 0);").text == "UTC00"


@pytest.mark.parametrize("code, status, body", [
    # A fiber and a generator that are not finished, at the end of the script and of a fatal one.
    ("class D { function __destruct() { echo 'end'; } } $f = new Fiber(function () { $d = new D; "
     "try { Fiber::suspend(); } finally { echo 'finally '; } }); $f->start(); echo 'main ';", 200,
     "main finally end"),
    ("function g() { try { yield 1; } finally { echo 'closed'; } } $g = g(); $g->current();", 200, "closed"),
    ("declare(ticks=1); register_tick_function(function () { static $n = 0; if (++$n == 2) echo 't'; }); "
     "$a = 1; $b = 2;", 200, "t"),
    ("$f = new Fiber(function () { nope(); }); $f->start();", 500, ""),
    ("$f = new Fiber(function () { Fiber::suspend(); }); $f->start(); "
     "register_shutdown_function(function () use ($f) { $f->resume(); echo 'resumed'; });", 200, "resumed"),
])
def test_what_is_unfinished_at_the_end(server, code, status, body):
    for _ in range(2):
        r = run(server, code)
        assert (r.status, r.text) == (status, body)


# --- headers --------------------------------------------------------------------------------------

@pytest.mark.parametrize("code, status, body, late", [
    ("header_register_callback(fn() => header('X-L: ' . http_response_code())); exit;", 200, "", "200"),
    ("header_register_callback(fn() => header('X-L: ' . http_response_code())); nope();", 500, "", "500"),
    ("header_register_callback(fn() => http_response_code(418)); echo 'x';", 418, "x", None),
    ("header_register_callback(fn() => header('X-L: 1')); "
     "header_register_callback(fn() => header('X-L: 2', false)); echo 'x';", 200, "x", "2"),
    ("header_register_callback(function () { throw new Exception; }); echo 'x';", 500, "", None),
    ("header_register_callback(function () { static $n = 0; header('X-L: ' . ++$n); }); "
     "echo 'x'; ob_flush(); flush(); echo 'y';", 200, "xy", "1"),
    ("header_register_callback(fn() => header('Location: /x')); echo 'x';", 302, "x", None),
    ("ob_start(function ($b) { header('X-L: ob'); return strtoupper($b); }); echo 'x';", 200, "X", "ob"),
])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_header_callbacks(server, method, code, status, body, late):
    r = run(server, code, method)
    assert (r.status, r.text, r.get("X-L")) == (status, body if method == "GET" else "", late)


def test_last_content_type_counts(server):
    if isinstance(server, peer.Peer) and peer.nginx_version() >= (1, 23):
        pytest.skip("nginx keeps the first one from 1.23 on, whatever PHP means")
    r = run(server, "header('Content-Type: text/plain'); header('Content-Type: text/css', false);")
    assert r.all("Content-Type") == ["text/css;charset=UTF-8"]


# --- prepended files ------------------------------------------------------------------------------

@pytest.mark.parametrize("target, status, body, pre", [
    ("/pre/", 200, "[seen2before.inc]", "1"),
    ("/pre/?exit", 200, "[seen2before.inc", "1"),
    ("/pre/?stop", 200, "stopped", None),
    ("/pre/?die", 500, "[seen2before.inc", "1"),
    ("/lost/", 500, "", None),
])
def test_prepended_and_appended_files(server, target, status, body, pre):
    r = server.get(target)
    assert (r.status, r.text, r.get("X-Pre")) == (status, body, pre)


# --- sections of php.ini --------------------------------------------------------------------------

@pytest.mark.parametrize("host, path, want", [
    ("a.test", "/show.php", ["5", "host", False, 4]),
    ("b.test", "/show.php", ["14", "", "14", 7]),
    ("A.TEST:81", "/show.php", ["5", "host", False, 4]),
    ("b.test", "/p/show.php", ["6", "", False, 4]),
    ("a.test", "/p/q/show.php", ["6", "host", False, 4]),
    ("b.test", "/show.php", ["14", "", "14", 7]),
])
def test_sections_of_host_and_path(server, host, path, want):
    for _ in range(3):
        assert json.loads(server.get(path, {"Host": host}).text) == want


# --- sessions -------------------------------------------------------------------------------------

def test_session_is_locked_from_start_to_end(server):
    got, threads = [], []
    for _ in range(8):
        threads.append(threading.Thread(target=lambda: got.append(int(server.get("/count.php").text))))
        threads[-1].start()
    for t in threads:
        t.join()
    assert sorted(got) == list(range(1, 9))


@pytest.mark.parametrize("query, waits", [("", True), ("&close", False), ("&finish", True),
                                          ("&close&finish", False)])
def test_session_lock_ends_with_the_script_or_when_it_is_closed(server, query, waits):
    mark, got = server.tmp / "mark", []  # the holder's script runs as long as its mark is there
    threads = [threading.Thread(target=lambda: server.get(f"/hold.php?mark={mark}{query}"))]
    threads[0].start()
    try:
        assert ephpm.wait_for(mark.exists)
        threads.append(threading.Thread(target=lambda: got.append(server.get("/peek.php").text)))
        threads[1].start()
        if waits:
            time.sleep(0.5)
            assert got == []
        else:
            assert ephpm.wait_for(lambda: got) == ["got it"]
    finally:
        mark.unlink(missing_ok=True)
        for t in threads:
            t.join()
    assert got == ["got it"]


def session_cookie(r):
    found = [re.match(r"(?:PHPSESSID|AUTO)=([^;]+)", v) for v in r.all("Set-Cookie")]
    return [m.group(1) for m in found if m]


def test_session_life(server):
    path = snippet(server, "session_start(); $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1; echo $_SESSION['n'];")
    r = server.get(path)
    (sid,) = session_cookie(r)
    assert r.text == "1" and r.get("Cache-Control") == "no-store, no-cache, must-revalidate"
    assert r.get("Pragma") == "no-cache" and r.get("Expires") == "Thu, 19 Nov 1981 08:52:00 GMT"
    assert [server.get(path, {"Cookie": f"PHPSESSID={sid}"}).text for _ in range(3)] == ["2", "3", "4"]
    assert session_cookie(server.get(path, {"Cookie": f"PHPSESSID={sid}"})) == []
    assert server.get(path).text == "1"
    mode = (server.dir / "sessions" / f"sess_{sid}").stat().st_mode
    assert mode & 0o777 == 0o600


@pytest.mark.parametrize("sid", ["../../x", "a/b", "%00", "x" * 300, "a b", "..%2f"])
def test_session_id_of_a_client_that_is_none_is_not_used(server, sid):
    path = snippet(server, "$ok = @session_start(); echo json_encode([$ok, session_id()]);")
    before = {p.name for p in (server.dir / "sessions").iterdir()}
    ok, used = json.loads(server.get(path, {"Cookie": f"PHPSESSID={sid}"}).text)
    assert used != sid and not ({p.name for p in (server.dir / "sessions").iterdir()} - before
                                - {f"sess_{used}"})
    assert not (server.dir / "x").exists()


def test_strict_session_ids(server):
    path = snippet(server, "session_start(['use_strict_mode' => 1]); echo session_id();")
    assert server.get(path, {"Cookie": "PHPSESSID=chosenbyclient"}).text != "chosenbyclient"
    path = snippet(server, "session_start(['use_strict_mode' => 0]); echo session_id();")
    assert server.get(path, {"Cookie": "PHPSESSID=chosenbyclient"}).text == "chosenbyclient"


def test_session_survives_a_fatal_error(server):
    assert run(server, "session_id('fatal'); session_start(); $_SESSION['n'] = 5; nope();").status == 500
    assert run(server, "session_id('fatal'); session_start(); echo $_SESSION['n'];").text == "5"


def test_session_that_starts_by_itself(server):
    r = server.get("/auto/")
    (sid,) = session_cookie(r)
    assert r.text == "1" and server.get("/auto/", {"Cookie": f"AUTO={sid}"}).text == "2"


def test_new_session_id_and_the_cache_limiter(server):
    r = run(server, "session_start(); session_regenerate_id(true); session_regenerate_id(true);")
    assert len(session_cookie(r)) == 1
    r = run(server, "session_cache_limiter('public'); session_cache_expire(5); session_start();")
    assert r.get("Cache-Control") == "public, max-age=300" and "Last-Modified" in r
    r = run(server, "session_start(['read_and_close' => true]); echo session_status();")
    assert r.text == "1" and len(session_cookie(r)) == 1


def test_session_garbage_is_collected(server):
    old = server.dir / "sessions/sess_old"
    run(server, "session_id('old'); session_start(); $_SESSION['x'] = 1;")
    assert old.exists()
    os.utime(old, (1, 1))
    run(server, "session_id('new'); session_start(['gc_probability' => 1, 'gc_divisor' => 1]);")
    assert ephpm.wait_for(lambda: not old.exists())


def test_progress_of_an_upload_is_in_the_session(server):
    path = snippet(server, "session_id('up'); session_start(); "
                           "echo $_SESSION['upload_progress_p']['done'] ?? 'none';")
    body = parts(("PHP_SESSION_UPLOAD_PROGRESS", None, b"p", None), ("f", "x", b"y" * 20000, "a/b"))
    r = server.request("POST", path, {"Content-Type": f"multipart/form-data; boundary={B}",
                                      "Cookie": "PHPSESSID=up"}, body)
    assert r.status == 200 and r.text == "none"  # cleaned up once the upload is read


# --- uploads that fail for reasons of the server ----------------------------------------------------

ERRORS = "<?php $f = $_FILES['f']; echo json_encode([$f['error'], $f['size'], $f['tmp_name'], $_POST['a']]);"
CALLBACK = """
#include "php.h"
#include "rfc1867.h"
static int refuse(unsigned int event, void *data, void **extra)
{
    return event == MULTIPART_EVENT_FILE_DATA ? FAILURE : SUCCESS;
}
static PHP_MINIT_FUNCTION(refuse) { php_rfc1867_callback = refuse; return SUCCESS; }
static zend_module_entry entry = {STANDARD_MODULE_HEADER, "refuse", NULL, PHP_MINIT(refuse), NULL, NULL,
    NULL, NULL, "1", STANDARD_MODULE_PROPERTIES};
zend_module_entry *get_module(void) { return &entry; }
"""


def upload(s):
    r = s.request("POST", "/e.php", {"Content-Type": f"multipart/form-data; boundary={B}"},
                  parts(("a", None, b"kept", None), ("f", "x", b"y" * 50000, "a/b")))
    assert r.status == 200, r
    return json.loads(r.text)


def each(values, extensions, act):
    """act(server) on both servers."""
    with ephpm.Server({"php": {"workers": 1, "workers_min": 1, "values": values,
                               "extensions": extensions}}, {"e.php": ERRORS}) as s:
        act(s)
    if peer.AVAILABLE:
        with peer.Peer(values, {"e.php": ERRORS}, ini="".join(f"extension={x}\n" for x in extensions)) as p:
            act(p)


@root_only
def test_upload_to_a_full_disk_is_error_7(tiny):  # noqa: F811
    (tiny / "filler").write_bytes(b"x" * ((1 << 20) - 16384))

    def act(s):
        for _ in range(2):
            assert upload(s) == [7, 0, "", "kept"]
            assert ephpm.wait_for(lambda: [p.name for p in tiny.iterdir()] == ["filler"])

    each({"upload_tmp_dir": str(tiny), "display_errors": "0"}, [], act)


def test_upload_that_an_extension_stops_is_error_8(tmp_path):
    library = build(tmp_path, code=CALLBACK, name="refuse")

    def act(s):
        for _ in range(2):
            assert upload(s) == [8, 0, "", "kept"]
        assert not list(s.tmp.iterdir())

    each({"display_errors": "0", "upload_tmp_dir": "{dir}/tmp"}, [str(library)], act)


# --- request_parse_body() ---------------------------------------------------------------------------

PARSE = """<?php
if (!function_exists('request_parse_body')) die('none');
try {
    [$post, $files] = request_parse_body(isset($_GET['small']) ? ['upload_max_filesize' => 2] : null);
    echo json_encode([$post, array_map(fn ($f) => [$f['error'], $f['size'],
        $f['tmp_name'] === '' ? '' : file_get_contents($f['tmp_name']),
        is_uploaded_file($f['tmp_name'])], $files), $_POST, $_FILES]);
} catch (Throwable $e) { echo json_encode(get_class($e)); }
"""


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
def test_request_parse_body(server, method):
    server.write("parse.php", PARSE)
    kind = f"multipart/form-data; boundary={B}"
    body = parts(("a", None, b"1", None), ("f", "x", b"data", "a/b"))
    r = server.request(method, "/parse.php", {"Content-Type": kind}, body)
    if r.text == "none":
        pytest.skip("PHP before 8.4")
    if method != "POST":
        assert json.loads(r.text) == [{"a": "1"}, {"f": [0, 4, "data", True]}, [], []]
        r = server.request(method, "/parse.php?small", {"Content-Type": kind}, body)
        assert json.loads(r.text)[1]["f"][:2] == [1, 0]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    r = server.request("PUT", "/parse.php", form, b"a=1&b[]=2")
    assert json.loads(r.text)[:2] == [{"a": "1", "b": ["2"]}, []]
    r = server.request("PUT", "/parse.php", {"Content-Type": "text/plain"}, b"a=1")
    assert json.loads(r.text) == "RequestParseBodyException"
    if method == "POST":  # parsed a second time: PHP forgets the first one's file, under php-cgi too
        for path in server.tmp.glob("php*"):
            path.unlink()
