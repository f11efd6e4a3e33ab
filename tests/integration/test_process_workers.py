# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The pool: growing, shrinking, recycling, queueing, timeouts, clients that go."""
import os
import pathlib
import re
import threading
import time

import pytest

from ephpm import SANITIZED, alive, php_version, wait_for
from httpc import ProtocolError, build
from scripts import HELD, gate

FILES = {
    "index.php": "<?php echo 'ok';",
    "pid.php": "<?php echo getmypid();",
    "held.php": HELD,
    "sleep.php": "<?php usleep((int)($_GET['ms'] * 1000)); echo 'slept';",
    "self.php": "<?php echo 'self:', file_get_contents("
                "'http://' . $_SERVER['HTTP_HOST'] . '/index.php');",
    "loop.php": "<?php function spin() { while (1); } spin();",
    "stuck.php": "<?php sleep(100); echo 'late';",
    "blocked.php": "<?php $p = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);"
                   "stream_set_timeout($p[0], 100); fread($p[0], 1);",
    "deaf.php": "<?php pcntl_signal(SIGUSR1, SIG_IGN); pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1]);"
                "while (true) { sleep(1); }",
    "endless.php": "<?php file_put_contents($_GET['f'], getmypid()); register_shutdown_function("
                   "fn() => file_put_contents($_GET['f'] . '.end', (string)connection_status()));"
                   "while (true) { echo str_repeat('x', 8192); usleep(5000); }",
    "stubborn.php": "<?php ignore_user_abort(true); for ($i = 0; $i < 60; $i++) {"
                    "echo str_repeat('x', 8192); flush(); usleep(10000); }"
                    "file_put_contents($_GET['f'], connection_aborted());",
    "finish.php": "<?php echo 'done'; fastcgi_finish_request(); echo 'unseen';"
                  "while (!file_exists($_GET['go'])) { usleep(2000); clearstatcache(); }"
                  "file_put_contents($_GET['f'], 'after');",
}


class Many:
    """The same request from n threads at once."""

    def __init__(self, s, target, n):
        self.answers = [None] * n

        def run(i):
            try:
                with s.connect() as c:
                    self.answers[i] = c.request("GET", target, {"Connection": "close"})
            except Exception as e:  # noqa: BLE001 (looked at by the test)
                self.answers[i] = e

        self.threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
        for t in self.threads:
            t.start()

    def statuses(self):
        for t in self.threads:
            t.join(90)
            assert not t.is_alive(), "no answer"
        return sorted(getattr(a, "status", repr(a)) for a in self.answers)


def config(**php):
    server = php.pop("server", {})
    return {"php": {"workers": 2, "workers_min": 1, **php}, "server": server}


def idle(s, n):
    return wait_for(lambda: [w["state"] for w in s.workers()] == ["idle"] * n)


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return int(fields[11]) + int(fields[12])


# --- size ------------------------------------------------------------------------------------


def test_pool_grows_under_load_and_shrinks_when_idle(serve):
    s = serve(config(workers=5, worker_idle_secs=1), FILES)
    assert len(s.workers()) == 1
    go = gate(s)
    many = Many(s, f"/held.php?go={go}", 5)
    assert wait_for(lambda: [w["state"] for w in s.workers()] == ["busy"] * 5), s.workers()
    go.touch()
    assert many.statuses() == [200] * 5
    assert idle(s, 1), s.workers()
    assert not s.log_lines("worker_died")


def test_max_requests_recycles_without_losing_one(serve):
    s = serve(config(max_requests=5, workers_min=2), FILES)
    pids = {}
    for _ in range(60):
        r = s.get("/pid.php")
        assert r.status == 200
        pids[r.text] = pids.get(r.text, 0) + 1
    assert max(pids.values()) == 5
    assert Many(s, "/pid.php", 40).statuses() == [200] * 40
    assert idle(s, 2)
    assert not s.log_lines("worker_died") and s.front()["workers_replaced"] >= 15


def test_memory_ceiling_recycles_between_requests(serve):
    s = serve(config(workers=1, max_worker_memory="1M"), {
        **FILES, "hoard.php": "<?php echo getmypid();"})
    with s.connect() as c:
        pids = {c.request("GET", "/hoard.php").text for _ in range(250)}
    assert len(pids) >= 2, "never replaced"
    assert not s.log_lines("worker_died")


# --- queue -----------------------------------------------------------------------------------


def test_full_queue_is_refused_with_retry_after(serve):
    s = serve(config(workers=1, queue_size=3, worker_idle_secs=1), FILES)
    go = gate(s)
    many = Many(s, f"/held.php?go={go}", 8)
    assert wait_for(lambda: s.front()["shed"] == 4), s.front()
    go.touch()
    assert many.statuses() == [200] * 4 + [503] * 4
    refused = [a for a in many.answers if a.status == 503]
    assert all(a.get("Retry-After") for a in refused)
    assert "php.queue_size" in s.log_lines("request_shed")[0]
    assert idle(s, 1) and s.front()["shed"] == 4


def test_request_that_waits_too_long_is_shed(serve):
    s = serve(config(workers=1, shed_after_ms=300), FILES)
    go = gate(s)
    slow = Many(s, f"/held.php?go={go}", 1)
    assert wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])
    began = time.monotonic()
    r = s.get("/")
    assert r.status == 503 and r.get("Retry-After") and time.monotonic() - began > 0.25
    go.touch()
    assert slow.statuses() == [200]
    assert "php.shed_after_ms" in s.log_lines("request_shed")[0]


def test_policy_wait_waits(serve):
    s = serve(config(workers=1, shed_after_ms=200, overload_policy="wait"), FILES)
    assert Many(s, "/sleep.php?ms=300", 4).statuses() == [200] * 4


def test_waiting_client_that_goes_is_forgotten(serve):
    s = serve(config(workers=1), FILES)
    go = gate(s)
    slow = Many(s, f"/held.php?go={go}", 1)
    assert wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])
    for _ in range(5):
        with s.connect() as c:
            c.send(build(target="/index.php"))
    assert wait_for(lambda: s.front()["connections"] == 1)
    go.touch()
    assert slow.statuses() == [200]
    assert idle(s, 1)
    assert s.front()["php_executed"] <= 3, "abandoned requests ran"


def test_pool_of_one_answers_its_own_php(serve):
    s = serve(config(workers=1, worker_idle_secs=1,
                     server={"listen": "127.0.0.1:0"}), FILES)
    r = s.get("/self.php", {"Host": f"127.0.0.1:{s.port}"})
    assert r.text == "self:ok"
    assert s.log_lines("reserve_worker")
    assert idle(s, 1), "the reserve stayed"


def test_reserve_does_not_keep_a_retired_generation(serve):
    s = serve(config(workers=1), FILES)
    assert s.get("/self.php", {"Host": f"127.0.0.1:{s.port}"}).text == "self:ok"
    assert s.cli("deploy").returncode == 0
    assert wait_for(lambda: len(s.status()["generations"]) == 1), s.status()


# --- timeouts --------------------------------------------------------------------------------


def reached(s, script):
    """The script is ended by the interrupt of the request's time limit. Who does not heed that within a
    second is killed; a machine that stands still may have that happen, but not each time."""
    for n in range(3):
        assert s.get(f"/{script}.php").status == 504
        assert wait_for(lambda: len(s.log_lines("php_timeout")) > n and idle(s, len(s.workers())))
        if len(s.log_lines("worker_killed")) <= n:
            return True
    return False


@pytest.mark.parametrize("jit", ["tracing", "function", "disable"])
def test_request_timeout_interrupts_a_loop_that_is_compiled(serve, jit):
    s = serve(config(opcache_jit=jit, server={"timeouts": {"request": "300ms"}}), {
        **FILES, "loop.php": "<?php $i = 0; while (1) { $i = ($i + 1) % 7; }"})
    assert reached(s, "loop"), "the interrupt did not reach it"
    s.wait_log(r"loop\.php\(\d+\): \{main\}")


@pytest.mark.parametrize("script", ["loop", "stuck", "blocked", "deaf"])
def test_request_timeout_ends_the_script(serve, script):
    s = serve(config(server={"timeouts": {"request": "2500ms"}}), FILES)
    if script == "deaf" and "undefined function" in s.get("/deaf.php").text:
        pytest.skip("no pcntl")
    before = {w["pid"] for w in s.workers()}
    began = time.monotonic()
    if script in ("loop", "stuck"):
        assert reached(s, script), "the interrupt did not reach it"
    else:
        assert s.get(f"/{script}.php").status == 504
    assert time.monotonic() - began > 2.4
    assert f"{script}.php" in s.log_lines("php_timeout")[0]
    assert idle(s, len(s.workers()))


    def quiet():
        ticks = {p: cpu(p) for p in before if alive(p)}
        time.sleep(0.2)
        return all(cpu(p) == t for p, t in ticks.items() if alive(p))
    assert wait_for(quiet), "it still burns CPU"
    if script == "blocked" and not SANITIZED:
        s.wait_log(r"blocked\.php\(\d+\): fread\(\)")
    if script in ("loop", "stuck"):
        s.wait_log(rf"{script}\.php\(\d+\): (spin\(\)|{{main}})")
    assert s.get("/").text == "ok"


def test_pool_is_whole_after_many_timeouts(serve):
    s = serve(config(workers=4, workers_min=4, worker_idle_secs=1,
                     server={"timeouts": {"request": "2500ms"}}), FILES)
    assert set(Many(s, "/loop.php", 50).statuses()) == {504}
    assert idle(s, 4), s.status()
    assert Many(s, "/", 20).statuses() == [200] * 20
    st = s.front()["generations"][0]
    assert st["requests"] == 0 and st["queued"] == 0


# --- clients that go -------------------------------------------------------------------------


def file_for(s, name):
    return s.tmp / name


def test_abort_ends_an_endless_script(serve):
    s = serve(config(), FILES)
    f = file_for(s, "endless")
    with s.connect() as c:
        c.send(build(target=f"/endless.php?f={f}"))
        assert c.read_head().status == 200
        c.read_some()
    end = pathlib.Path(f"{f}.end")
    assert wait_for(end.exists), "the script runs on"
    assert wait_for(end.read_text) == "1", "connection_status() in shutdown"
    assert idle(s, len(s.workers()))
    assert not s.log_lines("worker_died")
    f.unlink(), end.unlink()


def test_ignore_user_abort_runs_on(serve):
    s = serve(config(), FILES)
    f = file_for(s, "stubborn")
    with s.connect() as c:
        c.send(build(target=f"/stubborn.php?f={f}"))
        assert c.read_head().status == 200
    assert wait_for(f.exists) and wait_for(lambda: f.read_text() == "1")
    assert idle(s, len(s.workers()))
    f.unlink()


def test_finish_request_frees_the_client_and_not_the_worker(serve):
    s = serve(config(workers=1), FILES)
    f = file_for(s, "finished")
    go = gate(s)
    assert s.get(f"/finish.php?f={f}&go={go}").text == "done"
    assert [w["state"] for w in s.workers()] == ["busy"] and not f.exists()
    with s.connect() as c:
        c.send(build(target="/"))
        assert c.silent(0.2)
        go.touch()
        assert c.read_response().text == "ok"
    assert f.read_text() == "after"
    f.unlink()


# --- what a request can do to its worker -------------------------------------------------------

ODD = {
    "exit in a function": "<?php function f() { echo 'a'; exit; } f(); echo 'b';",
    "exit in a destructor": "<?php class D { function __destruct() { echo 'd'; exit(3); } }"
                            "$d = new D; echo 'a';",
    "exit in shutdown": "<?php register_shutdown_function(function () { echo 's'; exit(1); });"
                        "register_shutdown_function(fn() => print('no'));echo 'a';",
    "exit in an output handler": "<?php ob_start(function ($b) { exit; }); echo 'a';",
    "exit in a generator": "<?php function g() { yield 1; exit('g'); } foreach (g() as $x) echo $x;",
    "throw in shutdown": "<?php register_shutdown_function(function () { throw new Exception('x'); "
                         "}); echo 'a';",
    "error in shutdown": "<?php register_shutdown_function(function () { undefined_fn(); }); "
                         "echo 'a';",
    "memory in shutdown": "<?php register_shutdown_function(function () { "
                          "str_repeat('x', 1 << 30); }); echo 'a';",
    "exit in a session handler": "<?php session_set_save_handler(fn() => true, fn() => true, "
                                 "fn() => '', function () { exit; }, fn() => true, fn() => true);"
                                 "session_start(); $_SESSION['a'] = 1; echo 'a';",
    "exit in autoload": "<?php spl_autoload_register(function () { echo 'l'; exit; }); new Nope;",
    "exit in a handler": "<?php set_error_handler(function () { echo 'h'; exit; }); echo $nope;",
}


def test_odd_ends_leave_the_worker_usable(serve):
    s = serve(config(workers=1), {**FILES, **{
        f"odd{i}.php": code for i, code in enumerate(ODD.values())}})
    pid = s.get("/pid.php").text
    for i, what in enumerate(ODD):
        r = s.get(f"/odd{i}.php")
        assert r.status in (200, 500), (what, r)
        again = s.get("/pid.php")
        assert again.status == 200, what
        assert again.text == pid or what.startswith("memory"), f"{what}: the worker was lost"
        pid = again.text
    assert not s.log_lines("worker_died"), s.log()


FATAL = {
    "segv.php": ("<?php function f() { posix_kill(getmypid(), SIGSEGV); } f();", "SIGSEGV"),
    "abrt.php": ("<?php function f() { posix_kill(getmypid(), SIGABRT); } f();", "SIGABRT"),
    "kill.php": ("<?php posix_kill(getmypid(), SIGKILL);", "SIGKILL"),
    "deep.php": ("<?php class A { public $a; function __destruct() {} }"
                 "function f($n) { return preg_replace_callback('/./', fn() => f($n + 1), 'x'); }"
                 "f(0);", "SIGSEGV"),
}


@pytest.mark.parametrize("script", FATAL)
def test_dying_worker_costs_one_request(serve, script):
    code, signal_name = FATAL[script]
    s = serve(config(workers=3, workers_min=3), {**FILES, script: code.replace(
        "SIGSEGV", "11").replace("SIGABRT", "6").replace("SIGKILL", "9")})
    go = gate(s)
    others = Many(s, f"/held.php?go={go}", 2)
    assert wait_for(lambda: len([w for w in s.workers() if w["state"] == "busy"]) == 2)
    r = s.get(f"/{script}?secret=1")
    if "posix_kill()" in r.text:
        pytest.skip("no posix")
    if script == "deep.php" and r.status == 500:
        assert "memory" in s.log().lower() or "nesting" in s.log().lower()
    else:
        assert r.status == 502, r
        line = s.wait_log(r"worker_died.*").group(0)
        assert signal_name in line and script in line and f"/{script}?secret=1" in line
        if signal_name != "SIGKILL" and not SANITIZED:
            assert re.search(r"#\d+ .*" + re.escape(script), s.log()), "no PHP backtrace"
    go.touch()
    assert others.statuses() == [200, 200]
    assert idle(s, 3)
    assert s.get("/").text == "ok"


def test_died_worker_says_nothing_of_earlier_requests(serve):
    s = serve(config(workers=1), FILES)
    assert s.get("/index.php?earlier").text == "ok"
    os.kill(s.workers()[0]["pid"], 9)
    assert "earlier" not in s.wait_log(r"worker_died.*").group(0)


def test_memory_exhaustion_and_recursion_are_500(serve):
    # The function JIT of 8.4, stock php's too, ends the process when the memory ends in a call.
    jit = "disable" if (8, 4, 24) <= php_version() < (8, 5) else "auto"
    s = serve(config(workers=1, opcache_jit=jit), {
        **FILES, "big.php": "<?php $a = []; while (true) $a[] = str_repeat('x', 1 << 20);",
        # 8.5 would write a trace of a million calls.
        "rec.php": "<?php ini_set('fatal_error_backtraces', 0); "
                   "function f($n) { return f($n + 1) + 1; } f(0);"})
    for script in "big.php", "rec.php":
        assert s.get(f"/{script}").status == 500
        assert s.get("/").text == "ok"
    assert len(s.log_lines("Allowed memory size")) >= 2
    assert not s.log_lines("worker_died")


def test_crash_after_output_cuts_and_does_not_end_well(serve):
    s = serve(config(), {**FILES, "late.php": "<?php echo 'begun'; flush(); usleep(50000);"
                         "posix_kill(getmypid(), 11);"})
    with s.connect() as c:
        c.send(build(target="/late.php"))
        with pytest.raises(ProtocolError):
            r = c.read_response()
            assert r.closed is False
    assert idle(s, 1)


def test_crash_loop_ends_in_a_generation_without_jit(serve):
    s = serve(config(workers=2, workers_min=2, crash_loop_count=4, crash_loop_seconds=20),
              {**FILES, "die.php": "<?php posix_kill(getmypid(), 11);",
               "gen.php": "<?php echo $_SERVER['EPHPM_GENERATION'];"})
    assert s.status()["generations"][0]["jit"] != "off"
    for _ in range(4):
        assert s.get("/die.php").status == 502
    s.wait_log("crash_loop")
    assert wait_for(lambda: [g["jit"] for g in s.status()["generations"]] == ["off"]), s.status()
    assert s.get("/gen.php").text == "2"
    line = s.wait_log("generation_active.*operation=recovery.*").group(0)
    assert "jit=off" in line and "crashed in a loop" in line
    assert s.cli("deploy").returncode == 0
    assert wait_for(lambda: s.status()["generations"][-1]["jit"] != "off"), "off for ever"


def test_two_tenths_of_a_second_of_crashes_do_not_stop_service(serve):
    s = serve(config(workers=2, workers_min=2, crash_loop_count=3),
              {**FILES, "die.php": "<?php posix_kill(getmypid(), 11);"})
    dying = Many(s, "/die.php", 12)
    good = Many(s, "/", 12)
    assert set(dying.statuses()) == {502}
    assert good.statuses() == [200] * 12
