# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""One request after another in one process: nothing lives on; finishing early; clients that leave."""
import json

import pytest

import ephpm
from scripts import gate, snippet

CONFIG = {"php": {"workers": 1, "workers_min": 1,
                  "env": {"FIXED": "site"},
                  "values": {"output_buffering": "4096", "variables_order": "EGPCS"}}}
STATE = """
function counted() { static $n = 0; return ++$n; }
class Kept { public static $n = 0; }
$seen = [
    'global' => $GLOBALS['kept'] ?? null, 'static' => counted(), 'class' => ++Kept::$n,
    'constant' => defined('KEPT'), 'function' => function_exists('kept_function'),
    'putenv' => getenv('KEPT'), 'fixed' => getenv('FIXED'), 'tz_env' => getenv('TZ'),
    'ini' => ini_get('precision'), 'reporting' => error_reporting(),
    'timezone' => date_default_timezone_get(), 'locale' => setlocale(LC_ALL, 0),
    'umask' => umask(), 'mb' => mb_internal_encoding(), 'cwd' => getcwd(),
    'libxml' => libxml_use_internal_errors(), 'include_path' => get_include_path(),
    'limit' => ini_get('max_execution_time'), 'memory' => ini_get('memory_limit'),
    'error' => error_get_last(), 'level' => ob_get_level(), 'headers' => headers_list(),
    'status' => http_response_code(), 'post' => $_POST, 'files' => $_FILES, 'cookie' => $_COOKIE,
    'session' => session_status(), 'name' => session_name(), 'aborted' => connection_status(),
    'wrapper' => in_array('kept', stream_get_wrappers()), 'autoload' => count(spl_autoload_functions()),
    'included' => count(get_included_files()), 'assert' => ini_get('zend.assertions'),
    'gc' => gc_enabled(), 'env' => $_ENV['KEPT'] ?? null,
];
$GLOBALS['kept'] = 1; define('KEPT', 1); putenv('KEPT=1'); putenv('FIXED=changed'); putenv('TZ=Asia/Tokyo');
ini_set('precision', '3'); error_reporting(0); date_default_timezone_set('Asia/Tokyo');
setlocale(LC_ALL, 'C.UTF-8'); umask(0); mb_internal_encoding('ISO-8859-1'); chdir('/');
libxml_use_internal_errors(true); set_include_path('/kept'); set_time_limit(3);
ini_set('memory_limit', '99M'); @$x->y; ob_start(); header('X-Kept: 1'); http_response_code(299);
session_name('KEPT'); gc_disable(); $_ENV['KEPT'] = 1;
class KeptWrapper { public $context; } stream_wrapper_register('kept', 'KeptWrapper');
spl_autoload_register(fn () => null); set_error_handler(fn () => true);
register_shutdown_function(fn () => null); eval('function kept_function() {}'); mt_srand(1);
ob_end_clean(); echo json_encode($seen);
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG) as s:
        yield s


def test_nothing_lives_on(server):
    path = snippet(server, STATE)
    first = server.get(path)
    assert first.status == 299
    want = json.loads(first.text)
    assert (want["fixed"], want["static"], want["putenv"], want["umask"]) == ("site", 1, False, 0o022)
    for n in range(5):
        body = b"a=1" if n % 2 else None
        r = server.request("POST" if body else "GET", path, {
            "Cookie": "c=1", "Content-Type": "application/x-www-form-urlencoded"}, body)
        got = json.loads(r.text)
        assert got.pop("post") == ({"a": "1"} if body else []) and got.pop("cookie") == {"c": "1"}
        assert got == {k: v for k, v in want.items() if k not in ("post", "cookie")}
    assert len({w["pid"] for w in server.workers()}) == 1


def test_random_numbers_are_not_repeated(server):
    path = snippet(server, "echo mt_rand(), ' ', rand(), ' ', lcg_value(), ' ', uniqid('', true);")
    seen = [server.get(path).text.split() for _ in range(5)]
    for column in zip(*seen):
        assert len(set(column)) == 5


def test_random_numbers_differ_between_workers(serve):
    s = serve({"php": {"workers": 4, "workers_min": 4}},
              {"r.php": "<?php usleep(200000); echo mt_rand();"})
    open_ = [s.connect() for _ in range(4)]
    for c in open_:
        c.send(b"GET /r.php HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert len({c.read_response().text for c in open_}) == 4
    for c in open_:
        c.close()


def test_constants_of_a_fatal_request_are_gone(server):
    bad = snippet(server, "define('LEFT', 1); ob_start(); ob_start(); class Left {} nope();")
    good = snippet(server, "echo json_encode([defined('LEFT'), class_exists('Left'), ob_get_level()]);")
    for _ in range(3):
        assert server.get(bad).status == 500
        assert json.loads(server.get(good).text) == [False, False, 1]


# Goes on once a file is there.
WAIT = "while (!file_exists('{}')) {{ usleep(2000); clearstatcache(); }}"


def test_finish_request(server):
    go = gate(server)
    mark = server.tmp / "finished"
    path = snippet(server, f"""echo 'answer'; header('X-A: 1'); $a = fastcgi_finish_request();
        $b = fastcgi_finish_request(); echo str_repeat('discarded', 10000); flush();
        {WAIT.format(go)} header('X-Late: 1');
        register_shutdown_function(fn () => file_put_contents('{mark}', json_encode(
            [$a, $b, connection_status(), connection_aborted(), headers_sent()])));""")
    r = server.get(path)
    assert r.text == "answer" and r.get("X-A") == "1" and r.get("Content-Length") == "6"
    assert not mark.exists()  # the script is not at its end
    go.touch()
    assert ephpm.wait_for(lambda: mark.exists() and mark.read_text())
    assert json.loads(mark.read_text()) == [True, False, 0, 0, True]
    mark.unlink()


def test_fatal_after_finish_does_not_hurt(server):
    start = len(server.log())
    r = server.get(snippet(server, "echo 'fine'; fastcgi_finish_request(); nope();"))
    assert (r.status, r.text) == (200, "fine")
    server.wait_log(r"undefined function nope", start=start)
    assert server.get(snippet(server, "echo 1;")).text == "1"


def leave(server, path):
    c = server.connect()
    c.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
    c.read_until(b"\r\n\r\n")
    c.reset()


def test_abort_ends_the_script(server):
    mark = server.tmp / "aborted"
    leave(server, snippet(server, f"""while (ob_get_level()) ob_end_flush();
        register_shutdown_function(fn () => file_put_contents('{mark}',
            json_encode([connection_status(), connection_aborted(), $GLOBALS['i']])));
        for ($i = 0; $i < 4000; $i++) {{ echo 'x'; flush(); usleep(10000); }} $i = 'whole';"""))
    assert ephpm.wait_for(lambda: mark.exists() and mark.read_text())
    status, aborted, i = json.loads(mark.read_text())
    assert (status, aborted) == (1, 1) and i != "whole"
    mark.unlink()


def test_abort_can_be_ignored(server):
    mark = server.tmp / "ignored"
    leave(server, snippet(server, f"""while (ob_get_level()) ob_end_flush(); ignore_user_abort(true);
        for ($i = 0; $i < 4000 && !connection_aborted(); $i++) {{ echo 'x'; flush(); usleep(10000); }}
        usleep(50000); file_put_contents('{mark}', json_encode([connection_aborted(), $i < 4000]));"""))
    assert ephpm.wait_for(lambda: mark.exists() and mark.read_text())
    assert json.loads(mark.read_text()) == [1, True]
    mark.unlink()
    assert server.get(snippet(server, "echo connection_aborted();")).text == "0"


def test_flush_reaches_the_client_at_once(server):
    go = gate(server)
    path = snippet(server, f"echo 'one'; ob_flush(); flush(); {WAIT.format(go)} echo 'two';")
    with server.connect() as c:
        c.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        c.read_head()
        assert c.read_chunk() == b"one"
        go.touch()
        assert c.read_chunk() == b"two" and c.read_chunk() == b""


def test_flush_without_output_sends_the_head(server):
    go = gate(server)
    path = snippet(server, f"header('X-A: 1'); flush(); {WAIT.format(go)} echo 'late';")
    with server.connect() as c:
        c.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        r = c.read_head()
        assert r.get("X-A") == "1"
        go.touch()
        assert c.read_chunk() == b"late" and c.read_chunk() == b""


def test_sleep_is_no_execution_time(server):
    r = server.get(snippet(server, "set_time_limit(1); usleep(1500000); echo 'rested';"))
    assert (r.status, r.text) == (200, "rested")


def test_time_limit_is_per_request(server):
    """The limit that one request used up, or set, is not the next one's."""
    busy = snippet(server, "set_time_limit(2); $t = microtime(true); "
                           "while (microtime(true) - $t < 0.8); echo 'done';")
    for _ in range(4):
        assert server.get(busy).text == "done"
    long = snippet(server, "$t = microtime(true); while (microtime(true) - $t < 2.3); echo 'long';")
    assert server.get(long).text == "long"


def test_child_of_the_script_ends_with_its_request(server):
    """It neither answers in the place of its parent nor takes requests."""
    if "pcntl" not in server.get(snippet(server, "echo implode(' ', get_loaded_extensions());")).text:
        pytest.skip("this PHP has no pcntl")
    code = """$t = $_FILES['f']['tmp_name'] ?? ''; $p = pcntl_fork();
        if ($p === 0) { echo 'child'; header('X-Child: 1'); flush(); error_log('of the child');
            fastcgi_finish_request(); trigger_error('also of the child');
            END; }
        pcntl_waitpid($p, $s); echo 'parent ', pcntl_wifexited($s) ? pcntl_wexitstatus($s) : -1,
            $t === '' ? '' : (file_exists($t) ? ' kept' : ' lost');"""
    for end, status in ("exit(7)", 7), ("exit", 0), ("nope()", 255), ("return", 0):
        path = snippet(server, code.replace("END", end))
        pids = {w["pid"] for w in server.workers()}
        for _ in range(2):
            r = server.get(path)
            assert (r.status, r.text) == (200, f"parent {status}") and "X-Child" not in r
        body = (b'--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\ny\r\n--B--\r\n')
        r = server.request("POST", path, {"Content-Type": "multipart/form-data; boundary=B"}, body)
        assert r.text == f"parent {status} kept"
        assert {w["pid"] for w in server.workers()} == pids
    server.wait_log("of the child")
    # One that outlives the request of its parent.
    mark = server.tmp / "outlived"
    r = server.get(snippet(server, f"if (pcntl_fork() === 0) {{ usleep(200000); echo 'child'; flush(); "
                                   f"file_put_contents('{mark}', 1); exit; }} echo 'parent';"))
    assert r.text == "parent"
    assert server.get(snippet(server, "echo 'next';")).text == "next"
    assert ephpm.wait_for(mark.exists)
    mark.unlink()
    # The next request takes what is left of it, so that no zombies gather.
    assert ephpm.wait_for(lambda: server.get("/s1.php") and "Z" not in ephpm.family(
        server.pid).values())


def test_child_processes_have_default_signals(server):
    r = server.get(snippet(server, "echo shell_exec('trap - PIPE; kill -PIPE $$; echo survived'), '|', "
                                   "trim(file_get_contents('/proc/self/status') ? 'ok' : '');"))
    assert r.text == "|ok"
