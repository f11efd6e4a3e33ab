# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Hostile scripts, clients and surroundings: each costs its own request at most, and afterwards the
server is what it was before. FFI gives the scripts all that a bug in native code could do."""
import os
import random
import re
import signal
import socket
import threading
import time

import pytest

from ephpm import family, wait_for
from httpc import Connection, ProtocolError, build
from scripts import snippet

FFI = """<?php
$c = FFI::cdef('int close(int); long write(int, const void *, size_t); int fcntl(int, int, ...);
    int shutdown(int, int); int ftruncate(int, long); int sigprocmask(int, const void *, void *);');
"""
# The memory that the worker shares with the front.
CHANNEL = FFI + r"""
foreach (file('/proc/self/maps') as $l)
    if (str_contains($l, 'memfd:') && preg_match('/^([0-9a-f]+)-([0-9a-f]+) rw-s/', $l, $m))
        $maps[] = [FFI::cast('char *', hexdec($m[1])), hexdec($m[2]) - hexdec($m[1])];
"""
# Of this server alone, which has a session of its own: others may run as the same user.
ROLE_KILL = r"""<?php
foreach (glob('/proc/[0-9]*/cmdline') as $f) {
    $pid = (int)explode('/', $f)[2];
    if ($pid != getmypid() && posix_getsid($pid) === posix_getsid(0)
        && str_starts_with((string)@file_get_contents($f), 'ephpm: %s'))
        posix_kill($pid, %d);
}
echo 'killed';
"""
FILES = {
    "index.php": "<?php echo 'ok';",
    "sleep.php": "<?php usleep((int)$_GET['ms'] * 1000); echo 'slept';",
    "pid.php": "<?php echo getmypid();",
    "form.php": "<?php echo count($_FILES), ' ', count($_POST), ' ', $_POST['a'] ?? '';",
    "upload.php": "<?php $n = 0; $in = fopen('php://input', 'r');"
                  "while (!feof($in)) $n += strlen(fread($in, 8192)); echo $n;",
    "session.php": "<?php ini_set('session.save_handler', $_GET['in']); session_id('one');"
                   "ini_set('session.save_path', sys_get_temp_dir());"
                   "session_start(); $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1; usleep(10000);"
                   "echo $_SESSION['n'];",
    "static.txt": "s" * 100000,
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CONFIG = {"php": {"workers": 2, "workers_min": 2, "crash_loop_count": 1000,
                  "ini_overrides": [["ffi.enable", "1"]]},
          "server": {"timeouts": {"request": "3s"},
                     "request": {"streaming_paths": ["/upload.php"]}}}


def answers(s):
    for _ in range(6):
        r = s.get("/")
        assert (r.status, r.text) == (200, "ok"), r


def comes_back(s):
    """Answers again, all workers are there and idle."""
    def look():
        try:
            return s.get("/").text == "ok" and [
                w["state"] for w in s.workers() if not w.get("reserve")] == ["idle"] * 2
        except (OSError, ProtocolError, TypeError):
            return False
    assert wait_for(look), s.status()
    answers(s)


def attempt(s, target):
    """The status, or None for a connection that was cut."""
    try:
        return s.get(target).status
    except (OSError, ProtocolError):
        return None


# --- what a script leaves in its process ---------------------------------------------------------

@pytest.mark.parametrize("code", [
    "posix_setrlimit(POSIX_RLIMIT_NOFILE, 3, 3);", "pcntl_setpriority(19);", "proc_nice(19);",
    "pcntl_alarm(1);", "pcntl_sigprocmask(SIG_BLOCK, [SIGUSR1, SIGPROF]);",
    "pcntl_signal(SIGUSR1, fn() => 0);"], ids=lambda c: c[:c.index("(")])
def test_worker_that_a_script_spoiled_serves_nobody_else(serve, code):
    s = serve({**CONFIG, "php": {**CONFIG["php"], "workers": 1, "workers_min": 1}}, FILES)
    bad = snippet(s, f"if (!function_exists('{code[:code.index('(')]}')) die('none'); {code}"
                     "echo getmypid();")
    spoiled = s.get(bad).text
    if spoiled == "none":
        pytest.skip("this PHP has no such function")
    for _ in range(4):
        r = s.get("/pid.php")
        assert r.status == 200 and r.text != spoiled, r
    assert s.get("/sleep.php?ms=1300").text == "slept"
    assert not s.log_lines("worker_died"), s.log()


def test_ends_of_forked_children_are_noticed_by_an_idle_worker(serve):
    s = serve(CONFIG, FILES)
    path = snippet(s, "for ($i = 0; $i < 5; $i++) if (!pcntl_fork()) { usleep(200000); exit; }"
                      "echo 'x';")
    assert s.get(path).text == "x"
    time.sleep(0.3)
    assert wait_for(lambda: "Z" not in family(s.pid).values()), family(s.pid)


# --- what surrounds the server -------------------------------------------------------------------

def test_log_that_is_a_pipe_without_reader_does_not_stop_the_server(serve):
    s = serve(CONFIG, FILES)
    os.mkfifo(s.logs / "pipe")
    (s.logs / "pipe").chmod(0o666)
    s.write_config({**CONFIG, "server": {"logging": {"access": "{dir}/logs/pipe"}}})
    s.cli("reload")
    answers(s)
    s.wait_log("access_log_failed")
    reader = os.open(s.logs / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert s.cli("reload").returncode == 0
    for _ in range(60):  # more than a pipe holds
        assert s.get("/?" + "x" * 3000).text == "ok"
    os.close(reader)
    answers(s)
    s.write_config(CONFIG)
    assert s.cli("reload").returncode == 0


def test_log_on_a_full_disk_does_not_stop_the_server(serve):
    s = serve({**CONFIG, "server": {"logging": {"access": "/dev/full"}}}, FILES)
    answers(s)
    s.signal(signal.SIGUSR1)
    answers(s)


def test_root_that_became_a_file_is_refused(serve):
    s = serve(CONFIG, FILES)
    aside = s.dir / "aside"
    s.root.rename(aside)
    s.root.write_text("a file")
    for command in "deploy", "reload":
        done = s.cli(command)
        assert done.returncode == 1 and "not a directory" in done.stderr, done
    s.root.unlink()
    s.root.symlink_to(s.root)
    assert s.cli("deploy").returncode == 1
    s.root.unlink()
    aside.rename(s.root)
    answers(s)


def test_prototype_that_hangs_does_not_keep_a_deploy_out(serve):
    s = serve({**CONFIG, "deploy": {"timeout": "4s"}}, FILES)
    hanging = s.status()["generations"][0]["prototype_pid"]
    os.kill(hanging, signal.SIGSTOP)
    done = s.cli("deploy")
    assert done.returncode == 0, done
    s.wait_log("deploy_list_failed")
    comes_back(s)
    assert wait_for(lambda: len(s.status()["generations"]) == 1), s.status()


def test_prototype_that_dies_at_the_start_ends_it_cleanly(serve):
    s = serve(CONFIG, FILES, start=False)

    def kill():
        def prototype():
            for pid in family(s.process.pid) if s.process else ():
                try:
                    with open(f"/proc/{pid}/cmdline") as f:
                        if f.read().startswith("ephpm: prototype"):
                            return pid
                except OSError:
                    pass
            return None
        pid = wait_for(prototype, 30, 0.002)
        if pid:
            os.kill(pid, signal.SIGKILL)

    t = threading.Thread(target=kill)
    t.start()
    with pytest.raises(AssertionError, match="exited with 1"):
        s.start()
    t.join()
    s.check_log()
    s.kill()


@pytest.mark.parametrize("who", ["worker", "front", "kv", "master"])
def test_role_that_was_stopped_goes_on(serve, who):
    s = serve({"php": CONFIG["php"]}, FILES)
    pid = {"worker": s.workers()[0]["pid"], "front": s.front()["front_pid"],
           "kv": s.status()["kv"]["pid"], "master": s.pid}[who]
    got = []
    os.kill(pid, signal.SIGSTOP)
    threads = [threading.Thread(target=lambda: got.append(attempt(s, "/"))) for _ in range(6)]
    for t in threads:
        t.start()
    time.sleep(1.5)
    os.kill(pid, signal.SIGCONT)
    for t in threads:
        t.join()
    assert got == [200] * 6
    comes_back(s)


# --- what a script can reach ---------------------------------------------------------------------

@pytest.mark.parametrize("code", [
    FFI + "for ($i = 3; $i < 4096; $i++) $c->close($i); echo 'x';",
    FFI + "for ($i = 3; $i < 4096; $i++) $c->shutdown($i, 2); echo 'x';",
    FFI + "for ($i = 3; $i < 4096; $i++) $c->ftruncate($i, 0); echo 'x';",
    FFI + "$g = random_bytes(60000); for ($i = 3; $i < 4096; $i++) { $c->fcntl($i, 4, 2048);"
          "$c->write($i, $g, 512); $c->write($i, $g, 60000); } echo 'x';",
    FFI + "$v = pack('P', -2); for ($i = 3; $i < 4096; $i++) { $c->fcntl($i, 4, 2048);"
          "$c->write($i, $v, 8); $c->fcntl($i, 4, 0); } echo 'x';",
    "<?php for ($i = 3; $i < 30; $i++) if ($f = @fopen(\"php://fd/$i\", 'r+')) {"
    "stream_set_blocking($f, false); @fwrite($f, random_bytes(64)); } echo 'x';",
], ids=["close", "shutdown", "truncate", "garbage", "full_bell", "php_fd"])
def test_script_that_spoils_all_descriptors_hurts_itself_alone(serve, code):
    s = serve(CONFIG, {**FILES, "bad.php": code})
    for _ in range(3):
        attempt(s, "/bad.php")
        comes_back(s)
        assert s.post("/form.php", b"a=1", FORM).text == "0 1 1"


@pytest.mark.parametrize("code", [
    "foreach ($maps as [$p, $n]) FFI::memset($p, 0, $n);",
    "foreach ($maps as [$p, $n]) FFI::memset($p, 255, $n);",
    "foreach ($maps as [$p, $n]) for ($i = 0; $i < $n; $i += 65536)"
    "FFI::memcpy($p + $i, random_bytes(min($n - $i, 65536)), min($n - $i, 65536));",
    "foreach ($maps as [$p, $n]) for ($i = 0; $i < 2000; $i++)"
    "$p[random_int(64, 600)] = chr(random_int(0, 255));",
], ids=["zeros", "ones", "random", "cursors"])
def test_script_that_overwrites_the_channel_hurts_itself_alone(serve, code):
    s = serve(CONFIG, {**FILES, "bad.php": CHANNEL + code + "echo 'x';"})
    for _ in range(4):
        attempt(s, "/bad.php")
        comes_back(s)


@pytest.mark.parametrize("code", [
    "set_time_limit(0); pcntl_async_signals(true); foreach ([SIGUSR1, SIGABRT, SIGPROF] as $n)"
    "pcntl_signal($n, fn() => 0); while (true);",
    "while (true) try { while (true) usleep(100); } finally { while (true) usleep(100); }",
    "register_shutdown_function(function () { while (true) usleep(1000); }); while (true);",
    "set_time_limit(0); ignore_user_abort(true); $c = FFI::cdef('int sigprocmask(int, const void *,"
    "void *);'); $m = FFI::cdef('')->new('char[128]'); FFI::memset($m, 255, 128);"
    "$c->sigprocmask(2, $m, null); while (true);",
], ids=["handlers", "finally", "shutdown", "blocked"])
def test_script_that_ignores_its_end_is_ended(serve, code):
    s = serve(CONFIG, FILES)
    assert s.get(snippet(s, code)).status == 504
    comes_back(s)


@pytest.mark.parametrize("who,sig", [("worker", 9), ("worker", 15), ("prototype", 9), ("front", 9)])
def test_script_that_kills_a_role_is_survived(serve, who, sig):
    s = serve(CONFIG, {**FILES, "kill.php": ROLE_KILL % (who, sig)})
    attempt(s, "/kill.php")
    comes_back(s)


@pytest.mark.parametrize("code", [
    "class N { public $n; } $h = null; for ($i = 0; $i < 400000; $i++) { $x = new N; $x->n = $h;"
    "$h = $x; } unset($x); $h = null;",
    "ob_start(fn($b) => exit('in')); echo 'x';",
    "function f($b) { ob_start('f'); return $b; } ob_start('f'); echo 'x'; ob_end_flush();",
    "for ($i = 0; $i < 20000; $i++) ob_start(fn($b) => $b); echo 'x';",
    "header('X-A: ' . str_repeat('a', 1 << 20)); echo 'x';",
    "for ($i = 0; $i < 10000; $i++) header(\"X-$i: $i\"); echo 'x';",
    "for ($i = 0; $i < 256; $i++) { @header('X-' . chr($i) . ':' . chr($i)); } echo 'x';",
    "$n = 0; function s() { global $n; if ($n++ < 100000) register_shutdown_function('s'); }"
    "register_shutdown_function('s');",
    "foreach (ini_get_all(null, false) as $k => $v) @ini_set($k, '-1'); echo 'x';",
    "echo 'x'; fastcgi_finish_request(); posix_kill(getmypid(), SIGSEGV);",
    "if (!pcntl_fork()) { echo str_repeat('child', 100000); flush(); } else echo 'x';",
], ids=["long_list", "exit_in_ob", "ob_recursion", "ob_deep", "header_1mb", "headers_10000",
        "header_bytes", "shutdown", "ini_all", "finish_and_die", "fork_echo"])
def test_script_with_an_odd_end_hurts_itself_alone(serve, code):
    s = serve(CONFIG, FILES)
    path = snippet(s, code)
    for _ in range(2):
        attempt(s, path)
        comes_back(s)


@pytest.mark.parametrize("kept_in", ["files", "ephpm"])
def test_session_that_many_wait_for_does_not_lock_the_pool(serve, kept_in):
    s = serve({"php": {"workers": 2}}, FILES)
    got = []
    threads = [threading.Thread(target=lambda: got.extend(
        attempt(s, f"/session.php?in={kept_in}") for _ in range(4))) for _ in range(15)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(30)
    assert got == [200] * 60
    assert s.get(f"/session.php?in={kept_in}").text == "61"
    (s.tmp / "sess_one").unlink(missing_ok=kept_in == "ephpm")


# --- clients -------------------------------------------------------------------------------------

REQUESTS = [
    build("POST", "/form.php", {"Expect": "100-continue", **FORM}, b"a=1&b=2"),
    build("POST", "/upload.php", {"Transfer-Encoding": "chunked", "Trailer": "x"})
    + b"5;ext=1\r\nhello\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n",
    build("GET", "/static.txt", {"Range": "bytes=0-1,5-9,-3"}) + build("GET", "/index.php"),
    build("POST", "/form.php", {"Content-Type": "multipart/form-data; boundary=b"},
          b'--b\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\ndata\r\n--b--\r\n'),
]


def test_request_that_is_cut_at_any_byte_leaves_nothing(serve):
    s = serve(CONFIG, FILES)
    for request in REQUESTS:
        for cut in range(len(request) + 1):
            c = Connection(s.address)
            c.send(request[:cut])
            if cut % 3 == 2:
                c.sock.shutdown(socket.SHUT_WR)
            (c.close if cut % 3 else c.reset)()
    comes_back(s)


def test_mutated_requests_get_an_answer_and_leave_nothing(serve):
    s = serve(CONFIG, FILES)
    rnd = random.Random(7)
    for _ in range(1000):
        b = bytearray(rnd.choice(REQUESTS) + rnd.choice(REQUESTS))
        for _ in range(rnd.randint(1, 6)):
            p, kind = rnd.randrange(len(b)), rnd.random()
            if kind < 0.4:
                b[p] = rnd.choice(b"\r\n\0 :;,\x80\xff\t09afAF-")
            elif kind < 0.6:
                del b[p:p + rnd.randint(1, 10)]
            else:
                b[p:p] = rnd.choice([b"\r\n", b"\n", b"Content-Length: 5\r\n",
                                     b"Transfer-Encoding: chunked\r\n", bytes(b[p:p + 20])])
        with Connection(s.address) as c:
            c.send(bytes(b))
            c.sock.shutdown(socket.SHUT_WR)
            data = c.read_all()
        assert not data or re.match(rb"HTTP/1\.1 [1-5]\d\d ", data), (bytes(b), data[:200])
    comes_back(s)


def test_thousand_connections_in_every_state_leave_nothing(serve):
    s = serve(CONFIG, FILES)
    starts = [b"", b"GET / HT", build("GET", "/index.php"), build("GET", "/static.txt") * 20,
              build("POST", "/form.php", {"Content-Length": "1000"}) + b"abc",
              build("POST", "/form.php", {"Transfer-Encoding": "chunked"}) + b"5\r\nab",
              build("POST", "/upload.php", {"Content-Length": "900000"}) + b"x" * 100000]
    connections = [Connection(s.address, rcvbuf=4096) for _ in range(1000)]
    for i, c in enumerate(connections):
        c.send(starts[i % len(starts)])
    for i, c in enumerate(connections):
        (c.reset if i % 2 else c.close)()
    comes_back(s)


# --- operations ----------------------------------------------------------------------------------

def test_garbage_at_the_control_socket_is_shaken_off(serve):
    s = serve(CONFIG, FILES)
    held = []
    for data in (b"", b"x" * 100000, b"\0" * 5000, b"[" * 4000 + b"\n",
                 b'{"cmd":"status"}\n' * 500, b'{"cmd":"reload","site":5}\n') * 3:
        c = socket.socket(socket.AF_UNIX)
        held.append(c)
        c.settimeout(0.3)
        try:
            c.connect(str(s.control))
            c.sendall(data)
        except OSError:
            pass  # refused or closed: that is its right
    answers(s)

    def status():
        try:
            return s.status()
        except OSError:
            return None
    assert wait_for(status), "silent clients hold the control socket"
    for c in held:
        c.close()
    comes_back(s)


def test_operations_while_workers_are_killed_cost_no_other_request(serve):
    s = serve(CONFIG, FILES)
    stop, got, kills = threading.Event(), [], []

    def load():
        while not stop.is_set():
            got.append(attempt(s, "/"))

    def kill():
        while not stop.is_set():
            try:
                os.kill(random.choice(s.workers())["pid"], signal.SIGKILL)
                kills.append(1)
            except (OSError, TypeError, IndexError):
                pass
            time.sleep(0.15)

    threads = [threading.Thread(target=f) for f in (load, load, kill)]
    for t in threads:
        t.start()
    for i in range(9):  # a deploy whose own worker is killed may be refused
        s.cli(*[["deploy"], ["cache", "reset"], ["reload"]][i % 3])
    stop.set()
    for t in threads:
        t.join()
    assert set(got) <= {200, 502} and len(got) > 100
    assert got.count(502) <= len(kills)
    comes_back(s)
