# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""How scripts end: fatal errors with and without display, exit, shutdown functions, and what the log
says of it."""
import os
import re

import pytest

import ephpm
from scripts import snippet

VALUES = {"output_buffering": "4096", "html_errors": "0", "error_reporting": "E_ALL",
          "max_execution_time": "5"}


@pytest.fixture(scope="module")
def hidden():
    with ephpm.Server({"php": {"values": {**VALUES, "display_errors": "0"}}}) as s:
        yield s


@pytest.fixture(scope="module")
def shown():
    with ephpm.Server({"php": {"values": {**VALUES, "display_errors": "1"}}}) as s:
        yield s


# The function JIT of 8.4, stock php's too, ends the process when the memory ends in a call.
CALLS_END_PHP = (8, 4, 24) <= ephpm.php_version() < (8, 5)

FATAL = [
    ("throw new Exception('boom');", "Uncaught Exception: boom"),
    ("no_such_function();", "Call to undefined function no_such_function()"),
    ("trigger_error('mine', E_USER_ERROR);", "Fatal error:  mine"),
    ("require 'no/such/file';", "Failed opening required 'no/such/file'"),
    ("eval('if (1');", "Unclosed '('"),
    ("ini_set('memory_limit', '8M'); $s = str_repeat('x', 64 << 20);", "Allowed memory size of 8388608"),
    ("set_time_limit(1); while (true);", "Maximum execution time of 1 second exceeded"),
    # The stack trace of PHP 8.5.7 crashes when the memory ends in a call, in every SAPI.
    pytest.param("ini_set('fatal_error_backtraces', 0); ini_set('memory_limit', '8M'); "
                 "function f($x) { return f($x . 'y') . 'z'; } f('');",
                 "Allowed memory size of 8388608",
                 marks=pytest.mark.skipif(CALLS_END_PHP, reason="a fault of PHP 8.4's function JIT")),
    ("abstract class A {} new A;", "Cannot instantiate abstract class A"),
    ("interface I { function m(); } class C implements I {}", "contains 1 abstract method"),
]


@pytest.mark.parametrize("code, message", FATAL)
def test_fatal_is_500_and_silent(hidden, code, message):
    start = len(hidden.log())
    r = hidden.get(snippet(hidden, f"header('X-Before: 1'); {code}"))
    assert (r.status, r.body) == (500, b"")
    assert r.get("X-Before") == "1"
    hidden.wait_log(re.escape(message), start=start)
    assert hidden.get(snippet(hidden, "echo 'alive';")).text == "alive"


@pytest.mark.parametrize("code, message", FATAL)
def test_fatal_that_is_shown_stays_200(shown, code, message):
    r = shown.get(snippet(shown, code))
    assert r.status == 200 and message.replace("error:  ", "error: ") in r.text


def test_parse_error_of_the_script_itself(hidden, shown):
    assert hidden.get(snippet(hidden, "header('X-A: 1'); echo +;")).headers[0][0] != "X-A"
    r = hidden.get(snippet(hidden, "echo +;"))
    assert (r.status, r.body) == (500, b"")
    r = shown.get(snippet(shown, "echo +;"))
    assert r.status == 200 and "syntax error" in r.text


@pytest.mark.parametrize("code, status, body", [
    ("http_response_code(404); throw new Exception;", 404, ""),
    ("echo 'part'; throw new Exception;", 500, "part"),
    ("echo 'part'; ob_flush(); flush(); throw new Exception;", 200, "part"),
    ("echo 'part'; flush(); throw new Exception;", 200, "part"),
    ("exit(3);", 200, ""),
    ("exit('bye');", 200, "bye"),
    ("http_response_code(403); exit;", 403, ""),
    ("register_shutdown_function(function () { echo http_response_code(); }); throw new Exception;",
     500, "500"),
    ("register_shutdown_function(function () { http_response_code(503); echo 'sorry'; }); nope();",
     503, "sorry"),
    ("register_shutdown_function(function () { throw new Exception; }); echo 'x';", 500, "x"),
    ("set_exception_handler(function ($e) { http_response_code(418); echo 'caught'; }); "
     "throw new Exception;", 418, "caught"),
    ("set_error_handler(function () { echo 'handled'; return true; }); echo $undefined;", 200,
     "handled"),
    ("class D { function __destruct() { echo 'end'; } } $d = new D; exit;", 200, "end"),
])
def test_ends(hidden, code, status, body):
    r = hidden.get(snippet(hidden, code))
    assert (r.status, r.text) == (status, body)


def test_warnings_are_logged_and_not_shown(hidden):
    start = len(hidden.log())
    r = hidden.get(snippet(hidden, "\n\necho $undefined, 'x'; error_log('a line of my own');") + "?q=1")
    assert (r.status, r.text) == (200, "x")
    line = hidden.wait_log(r".*Undefined variable \$undefined.*", start=start).group(0)
    own = hidden.wait_log(r".*a line of my own.*", start=start).group(0)
    for text in line, own:
        assert re.search(r"request_id=[0-9a-f]{16}", text)
        assert re.search(r'uri="/s\d+\.php\?q=1"', text)
        assert re.search(r"script=\S+/s\d+\.php line=3", text)
    assert " php_message " in line and " php_error_log " in own


def test_request_id_of_the_log_is_the_one_in_php(hidden):
    start = len(hidden.log())
    r = hidden.get(snippet(hidden, "error_log('find me'); echo $_SERVER['REQUEST_ID'];"))
    assert f"request_id={r.text} " in hidden.wait_log(".*find me.*", start=start).group(0) + " "


def test_messages_cannot_forge_log_lines(hidden):
    start = len(hidden.log())
    hidden.get(snippet(hidden, r'error_log("one\n2026-01-01T00:00:00.000Z alert forged: x\0y");'))
    hidden.wait_log("forged", start=start)
    assert not re.search(r"^2026-01-01T00:00:00.000Z", hidden.log()[start:], re.M)


def test_error_log_to_a_file(hidden):
    path = hidden.tmp / "app.log"
    hidden.get(snippet(hidden, f"error_log(\"to file\\n\", 3, '{path}'); "
                               f"ini_set('error_log', '{path}'); error_log('by ini');"))
    assert ephpm.wait_for(lambda: path.exists() and "by ini" in path.read_text())
    assert path.read_text().startswith("to file\n")
    path.unlink()


def test_php_stderr(hidden):
    start = len(hidden.log())
    hidden.get(snippet(hidden, "file_put_contents('php://stderr', \"through stderr\\n\");"))
    hidden.wait_log("through stderr", start=start)


@pytest.mark.parametrize("path, files, status, body", [
    ("/none.php", {}, 404, None),
    ("/dir.php", {"dir.php/x": "1"}, 404, None),
    ("/image.jpg/x.php", {"image.jpg": "<?php echo 'executed';"}, 404, None),
])
def test_what_is_no_script_is_not_run(serve, path, files, status, body):
    s = serve({"server": {"fallback": ["$uri", "=404"]}}, files)
    r = s.get(path)
    assert "executed" not in r.text
    assert r.status == status


def test_unreadable_script_is_403(serve):
    user = {"run_as_user": "www-data"} if os.getuid() == 0 else {}
    s = serve({"server": user}, {"secret.php": "<?php echo 'executed';"})
    (s.root / "secret.php").chmod(0)
    r = s.get("/secret.php")
    assert (r.status, r.text) == (403, "Access denied.\n")


def test_memory_limit_does_not_cost_the_worker(hidden):
    pids = {w["pid"] for w in hidden.workers()}
    for _ in range(4):
        assert hidden.get(snippet(
            hidden, "ini_set('memory_limit', '8M'); str_repeat('x', 64 << 20);")).status == 500
    assert {w["pid"] for w in hidden.workers()} == pids


@pytest.mark.parametrize("display", "01")
def test_body_without_room_in_the_memory_limit_is_500_and_leaves_no_file(serve, display):
    """PHP gave up before the script: 502, a broken channel in the log, and the body's temporary file
    stayed for ever."""
    s = serve({"php": {"workers": 1, "workers_min": 1, "values": {
        "memory_limit": "3M", "post_max_size": "64M", "display_errors": display}}},
        {"x.php": "<?php echo 'fine';"})
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for _ in range(3):
        r = s.post("/x.php", b"x=" + b"y" * 9_000_000, form)
        assert r.status == 500, r
        assert s.get("/x.php").text == "fine"
    assert not list(s.tmp.iterdir())
    assert "worker_channel_broken" not in s.log() and "worker_died" not in s.log()
