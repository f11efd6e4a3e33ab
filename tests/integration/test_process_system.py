# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The server among others: systemd, ps, full disks, what is left at the end."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from ephpm import EPHPM, SANITIZED, alive, family, free_port, wait_for
from httpc import ProtocolError, build
from scripts import HELD, gate

FILES = {
    "index.php": "<?php echo 'ok';",
    "held.php": HELD,
    "slow.php": "<?php usleep((int)($_GET['ms'] * 1000)); echo 'slept';",
    "big.php": "<?php for ($i = 0; $i < 320; $i++) echo str_repeat(chr(97 + $i % 26), 65536);",
    "length.php": "<?php echo strlen(file_get_contents('php://input'));",
    "exec.php": "<?php echo 'pid ', getmypid(); exec('sleep 0.1; true');",
}
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")


class Notify:
    """A socket that hears what the service manager would."""

    def __init__(self, directory):
        self.path = str(directory / "notify.sock")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)
        self.heard = []

    def read(self):
        self.sock.settimeout(0.01)
        try:
            while True:
                self.heard.append((time.monotonic(), self.sock.recv(4096).decode()))
        except (BlockingIOError, TimeoutError):
            pass
        return [text for _, text in self.heard]

    def wait(self, what):
        found = wait_for(lambda: [t for t in self.read() if what in t])
        assert found, self.heard
        return found


@pytest.fixture
def notify(tmp_path):
    n = Notify(tmp_path)
    yield n
    n.sock.close()


def test_service_manager_hears_of_each_step(serve, notify):
    s = serve({}, FILES, env={"NOTIFY_SOCKET": notify.path, "WATCHDOG_USEC": "400000"})
    ready = notify.wait("READY=1")[0]
    assert "STATUS=" in ready
    assert s.get("/").text == "ok"
    notify.heard.clear()
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    s.signal(signal.SIGHUP)
    reloading = notify.wait("RELOADING=1")[0]
    usec = int(re.search(r"^MONOTONIC_USEC=(\d+)$", reloading, re.M).group(1))
    assert before <= usec <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    notify.wait("READY=1")
    texts = notify.read()
    assert texts.index(reloading) < next(i for i, t in enumerate(texts) if "READY=1" in t)
    assert s.log_lines("generation_active")[-1].count("operation=reload")
    # A refused reload is over, too.
    notify.heard.clear()
    good = s.config_path.read_text()
    s.config_path.write_text("[nonsense")
    s.signal(signal.SIGHUP)
    notify.wait("RELOADING=1")
    notify.wait("READY=1")
    s.config_path.write_text(good)
    since = time.monotonic()
    notify.heard.clear()
    assert wait_for(lambda: len([t for t in notify.read() if t == "WATCHDOG=1"]) >= 5)
    # Twice in the time that the manager grants.
    assert len(notify.wait("WATCHDOG=1")) <= (time.monotonic() - since) / 0.2 + 2
    s.stop()
    notify.wait("STOPPING=1")


def test_php_is_not_told_of_the_service_manager(serve, notify):
    s = serve({}, {"index.php": "<?php var_dump(getenv('NOTIFY_SOCKET'));"},
              env={"NOTIFY_SOCKET": notify.path})
    assert "false" in s.get("/").text


def title(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0 ").decode()


def test_titles_say_what_runs(serve):
    s = serve({}, FILES)
    st = s.status()
    assert title(s.pid) == f"ephpm: master serve 127.0.0.1:{s.port}"
    assert title(st["front"]["front_pid"]) == "ephpm: front"
    assert title(st["generations"][0]["prototype_pid"]) == "ephpm: prototype default/1"
    go = gate(s)
    t = threading.Thread(target=lambda: s.get(f"/held.php?go={go}"))
    t.start()
    worker = wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])[0]
    # A title of every request would cost; what runs for longer than a moment is shown.
    assert wait_for(lambda: f"/held.php?go={go}" in title(worker["pid"])), title(worker["pid"])
    assert title(worker["pid"]).startswith("ephpm: worker default/1 GET /held.php")
    go.touch()
    t.join()
    assert wait_for(lambda: title(worker["pid"]) == "ephpm: worker default/1 idle"), title(
        worker["pid"])


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_stop_leaves_nothing(serve, sig):
    s = serve({"server": {"pid_file": "{dir}/ephpm.pid"}}, FILES)
    pid_file = s.dir / "ephpm.pid"
    assert int(pid_file.read_text()) == s.pid
    assert s.get("/").text == "ok"
    s.stop(sig)
    assert not pid_file.exists()


def test_stop_waits_for_running_requests(serve):
    s = serve({}, FILES)
    answers = []
    t = threading.Thread(target=lambda: answers.append(s.get("/slow.php?ms=800")))
    t.start()
    worker = wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])[0]
    p = s.cli("stop")
    assert not alive(worker["pid"]), "the command did not wait"
    t.join()
    assert answers[0].text == "slept"
    assert p.returncode == 0 and "stopped" in p.stdout, p
    assert s.process.wait(60) == 0
    s.stop()


@pytest.mark.parametrize("proxy", ["off", "on"])
def test_stop_answers_those_who_have_just_connected(serve, proxy):
    """Who has connected is about to send, and has had no answer yet to be content with."""
    for _ in range(5):
        if stop_with_the_just_connected(serve, proxy):
            return
    pytest.skip("the machine stands still too often: these clients have a second to send")


def stop_with_the_just_connected(serve, proxy):
    """False when too much time passed for the clients to be asked for an answer."""
    s = serve({"server": {"security": {"trusted_proxies": ["127.0.0.1"], "proxy_protocol": proxy}}},
              FILES)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    if proxy == "on":
        request = b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n" + request
    served, fresh, half, silent = (s.connect() for _ in range(4))
    served.send(request)
    assert served.read_response().status == 200
    half.send(request[:-10])
    time.sleep(0.1)
    front = s.status()["front"]["front_pid"]
    os.kill(front, signal.SIGSTOP)  # what follows waits in the listener's queue
    try:
        queued = [s.connect() for _ in range(100)]
        for c in queued[:50]:
            c.send(request)
        s.signal(signal.SIGTERM)
        s.wait_log("stopping")
    finally:
        continued = time.monotonic()
        os.kill(front, signal.SIGCONT)
    at_once = served.at_end(0.9)
    try:
        for c in [fresh, *queued[50:]]:
            c.send(request)
        half.send(request[-10:])
    except OSError:
        assert time.monotonic() - continued > 0.8
    if time.monotonic() - continued > 0.8:
        assert s.process.wait(60) == 0
        s.stop()
        return False
    assert at_once, "an idle connection is closed at once"
    for c in [fresh, half, *queued]:
        r = c.read_response()
        assert (r.status, r.text, r.get("Connection")) == (200, "ok", "close")
        c.close()
    with pytest.raises(OSError):
        s.connect()
    assert silent.at_end(), "the stop waits for it as long as for a request"
    assert s.process.wait(60) == 0
    s.stop()
    assert not s.log_lines("stop_forced"), s.log()
    return True


def test_stop_is_forced_when_its_time_is_over(serve):
    s = serve({"server": {"timeouts": {"shutdown": "500ms"}}}, FILES)
    answers = []

    def ask():
        try:
            answers.append(s.get("/slow.php?ms=100000").status)
        except (ProtocolError, OSError):
            answers.append("cut")

    t = threading.Thread(target=ask)
    t.start()
    assert wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])
    s.stop()
    t.join()
    assert s.log_lines("stop_forced")
    assert answers[0] in ("cut", 502, 503)


def test_second_signal_stops_at_once(serve):
    s = serve({}, FILES)
    t = threading.Thread(target=lambda: s.curl("/slow.php?ms=100000"))
    t.start()
    assert wait_for(lambda: [w for w in s.workers() if w["state"] == "busy"])
    s.signal(signal.SIGTERM)
    s.wait_log("stopping")
    s.stop()
    t.join()
    assert "told to stop a second time" in s.log() and "shutdown is over" not in s.log(), s.log()


def test_children_of_php_are_reaped(serve):
    """What PHP leaves behind becomes the master's child, over and over."""
    s = serve({}, {"index.php": "<?php exec('(sleep 0.05 &) >/dev/null 2>&1'); echo 'ok';",
                   "die.php": "<?php posix_kill(getmypid(), 9);"})
    for _ in range(100):
        assert s.get("/").text == "ok"
    assert wait_for(lambda: not [p for p, state in family(s.pid).items() if state == "Z"])
    # A worker that dies as such strangers do is still missed.
    assert s.get("/die.php").status == 502
    assert wait_for(lambda: len(s.workers()) == 2)
    assert s.get("/").text == "ok"


def test_workers_have_no_descriptors_of_others(serve):
    s = serve({}, FILES)
    if os.geteuid() != 0:
        pytest.skip("reads other users' descriptors")
    for w in s.workers():
        fds = [os.readlink(f.path) for f in os.scandir(f"/proc/{w['pid']}/fd")]
        assert len([f for f in fds if f.startswith("socket:")]) <= 1, fds
        listening = {line.split()[9] for line in pathlib.Path("/proc/net/tcp").read_text(
            ).splitlines()[1:] if line.split()[3] == "0A"}
        assert not [f for f in fds if f.strip("socket:[]") in listening], fds


# --- full disks --------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path):
    """A file system of 1 MiB."""
    at = tmp_path / "tiny"
    at.mkdir()
    tmp_path.chmod(0o755)
    for p in tmp_path.parents:
        if p == pathlib.Path("/tmp"):
            break
        p.chmod(0o755)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=1777", "none", at],
                      capture_output=True).returncode:
        pytest.skip("cannot mount")
    yield at
    subprocess.run(["umount", "-l", at], check=True)


@root_only
def test_upload_to_a_full_disk(serve, tiny):
    s = serve({"server": {"request": {"spool_dir": str(tiny), "max_body_size": "20M",
                                      "memory_buffer": "64K"}}}, FILES)
    r = s.post("/length.php", b"x" * 500000)
    assert r.text == "500000"
    with s.connect() as c:
        c.send(build("POST", "/length.php", {"Content-Length": "5000000"}))
        try:
            c.send(b"x" * 5000000)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert c.read_response().status in (500, 507)
    line = s.wait_log(r".*spool.*").group(0)
    assert "server.request.spool_dir" in s.log(), line
    assert not list(tiny.iterdir())
    assert s.post("/length.php", b"x" * 500000).text == "500000", "the room did not come back"


@root_only
def test_big_answer_with_a_full_disk_completes(serve, tiny):
    s = serve({"server": {"request": {"spool_dir": str(tiny)}}}, FILES)
    with s.connect(rcvbuf=16384, timeout=30) as c:
        c.send(build(target="/big.php", headers={"Connection": "close"}))
        time.sleep(0.5)
        assert s.get("/").text == "ok"
        r = c.read_response()
    want = b"".join(bytes([97 + i % 26]) * 65536 for i in range(320))
    assert r.status == 200 and r.body == want
    assert not list(tiny.iterdir())


# --- commands ----------------------------------------------------------------------------------


ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("EPHPM_")}


def command(*args, cwd="/", env=None):
    return subprocess.run([EPHPM, *args], cwd=cwd, text=True, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL, env={**ENVIRONMENT, **(env or {})})


@pytest.mark.parametrize("args, code, says", [
    (["--version"], 0, "ephpm "),
    (["--help"], 0, "deploy"),
    (["help"], 0, "deploy"),
    (["--help"], 0, "  php ..."),
    (["nonsense"], 2, "nonsense"),
    (["serve", "--nonsense"], 2, "--nonsense"),
    (["serve", "extra"], 2, "extra"),
    (["serve", "-c"], 2, "-c"),
    (["dev", "-p", "99999999"], 2, "99999999"),
    (["dev", "-p", "http"], 2, "http"),
    (["serve", "-p", "1"], 2, "--listen"),
    (["cache"], 2, "cache reset"),
    (["config", "nonsense"], 2, "nonsense"),
    (["config", "check"], 0, "right"),
    (["config", "reference"], 0, "document_root"),
    (["deploy", "-c", "/nonexistent/e.toml"], 1, "/nonexistent/e.toml"),
])
def test_command_line(tmp_path, args, code, says):
    p = command(*args, cwd=tmp_path)
    assert p.returncode == code, p
    assert says in p.stdout + p.stderr, p
    assert p.stdout if code == 0 else p.stderr, "said in the wrong place"


@pytest.mark.parametrize("args", [["deploy"], ["reload"], ["status"], ["stop"],
                                  ["cache", "reset"]])
def test_command_without_a_server(tmp_path, args):
    path = tmp_path / "none.sock"
    p = command(*args, cwd=tmp_path, env={"EPHPM_SERVER__CONTROL_SOCKET": str(path)})
    assert p.returncode == 1
    assert "no server" in p.stderr and str(path) in p.stderr, p.stderr
    assert "EPHPM_SERVER__CONTROL_SOCKET" in p.stderr, p.stderr


def test_command_after_a_change_of_listen_names_the_setting(tmp_path):
    (tmp_path / "ephpm.toml").write_text('[server]\nlisten = "127.0.0.1:1"\n')
    p = command("reload", cwd=tmp_path)
    assert p.returncode == 1
    assert 'server.listen = "127.0.0.1:1" (ephpm.toml:2:1)' in p.stderr, p.stderr


def test_address_of_another_machine_is_named_so(tmp_path):
    p = command("dev", "-l", "192.0.2.1:8080", "-d", str(tmp_path))
    assert p.returncode == 1
    assert "server.listen: 192.0.2.1:8080: this machine has no such address" in p.stderr, p.stderr


@pytest.mark.parametrize("by_file", [True, False])
def test_dev_listens_where_file_or_environment_say(tmp_path, by_file):
    tmp_path.chmod(0o755)
    listen = f"127.0.0.1:{free_port()}"
    (tmp_path / "dev.toml").write_text('[server]\nlisten = "%s"\n' % listen if by_file else "")
    env = {} if by_file else {"EPHPM_SERVER__LISTEN": listen}
    p = subprocess.Popen([EPHPM, "dev", "-c", "dev.toml"], cwd=tmp_path, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, env={**ENVIRONMENT, **env})
    try:
        text = ""
        while "http://" not in text:
            line = p.stdout.readline()
            assert line, text
            text += line
        assert "http://%s/" % listen in text
    finally:
        p.terminate()
        p.communicate(timeout=60)


def test_commands_at_the_control_socket_that_are_none(serve):
    s = serve({}, FILES)

    def say(data, wait=True):
        with socket.socket(socket.AF_UNIX) as c:
            c.settimeout(8)
            c.connect(str(s.control))
            c.sendall(data)
            return c.makefile().read() if wait else None

    for data in b"\n", b"hello\n", b"[]\n", b'{"cmd":7}\n', b'{"cmd":"boom"}\n', b"x" * 5000:
        assert '"ok":false' in say(data), data
    # What follows a command is not a second one.
    assert say(b'{"cmd":"status"}\n{"cmd":"stop"}\n').count('"ok":true') == 1
    assert s.get("/").text == "ok"
    mute = []
    for _ in range(20):  # more than it keeps: those who say nothing are dropped in time
        c = socket.socket(socket.AF_UNIX)
        c.connect(str(s.control))
        mute.append(c)
    assert wait_for(lambda: s.cli("status").returncode == 0, 30, 0.5)
    for c in mute:
        c.close()


def test_config_check_tells_the_place(tmp_path):
    (tmp_path / "ephpm.toml").write_text("[server]\nlisten = 5\n")
    p = command("config", "check", cwd=tmp_path)
    assert p.returncode == 1 and "ephpm.toml:2:" in p.stderr


# --- dev ---------------------------------------------------------------------------------------


def test_dev_shows_changes_at_once(serve):
    s = serve({}, {"index.php": "<?php echo 'one', require 'part.php';",
                   "part.php": "<?php return 'A';"}, mode="dev")
    for i in range(5):
        assert s.get("/").text.startswith("one")
        s.write("part.php", f"<?php return 'version {i}';")
        assert s.get("/").text == f"oneversion {i}"
    s.write("new.php", "<?php echo 'new';")
    assert s.get("/new.php").text == "new"
    s.write("new.php", "<?php echo $undefined;")
    assert "Undefined variable" in s.get("/new.php").text


def test_dev_takes_the_next_free_port_and_ends_with_ctrl_c(tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "index.php").write_text("<?php echo 'dev';")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        p = subprocess.Popen([EPHPM, "dev", "-p", str(port)], cwd=tmp_path, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, start_new_session=True,
                             env={**ENVIRONMENT, "EPHPM_SERVER__CONTROL_SOCKET": str(
                                 tmp_path / "c.sock")})
        try:
            text = ""
            while "http://" not in text:
                line = p.stdout.readline()
                assert line, text
                text += line
            url = re.search(r"http://127\.0\.0\.1:(\d+)/", text)
            assert port < int(url.group(1)) < port + 50
            got = subprocess.run(["curl", "-s", url.group(0)], capture_output=True, timeout=60)
            assert got.stdout == b"dev"
            pids = family(p.pid)
            os.killpg(p.pid, signal.SIGINT)  # as a terminal does: to everyone
            assert p.wait(60) == 0
            assert wait_for(lambda: not [x for x in pids if alive(x)])
            assert not (tmp_path / "c.sock").exists()
        finally:
            if p.poll() is None:
                p.kill()
            p.stdout.close()


@pytest.mark.skipif(os.geteuid() != 0 or SANITIZED,
                    reason="needs root, and sanitizers want to trace the front")
def test_php_cannot_signal_or_read_other_roles(serve):
    s = serve("", {"index.php": """<?php $pid = (int)$_GET['pid'];
        var_dump(posix_kill($pid, 9), @file_get_contents("/proc/$pid/environ"),
                 @scandir("/proc/$pid/fd"));"""})
    front, kv = s.front()["front_pid"], s.status()["kv"]["pid"]
    for pid in front, kv:
        assert s.get(f"/?pid={pid}").text.split() == ["bool(false)"] * 3
    assert (s.front()["front_pid"], s.status()["kv"]["pid"]) == (front, kv)


# --- huge pages -----------------------------------------------------------------------------------

HUGE_MODE = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
HUGE = {"huge.php": "<?php $a = []; for ($i = 0; $i < 200000; $i++) $a[] = \"string $i\";"
                    "preg_match_all('/^AnonHugePages:\\s+(\\d+)/m',"
                    " file_get_contents('/proc/self/smaps'), $m);"
                    "echo array_sum($m[1]), ' ', var_export(getenv('USE_ZEND_ALLOC_HUGE_PAGES'));"}


HUGE_HERE = pytest.mark.skipif(
    SANITIZED or not HUGE_MODE.exists() or "[madvise]" not in HUGE_MODE.read_text(),
    reason="huge pages are not given on request here")


def huge_kib(pid):
    """KiB in huge pages by what they are for: "code", "shared", "heap", "other"."""
    kib = {"code": 0, "shared": 0, "heap": 0, "other": 0}
    kind = None
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if m := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) ", line):
            kind = ("code" if m[1] == "r-xp" else "shared" if m[1] == "rw-s" else
                    "heap" if line.endswith("[heap]") else "other")
        elif m := re.match(r"(?:AnonHugePages|ShmemPmdMapped): +(\d+)", line):
            kib[kind] += int(m[1])
    return kib


@HUGE_HERE
@pytest.mark.parametrize("on", [True, False])
def test_workers_get_huge_pages_and_the_prototypes_memory_none(serve, on):
    s = serve({"php": {"huge_pages": on, "workers": 1, "workers_min": 1, "clear_env": False}}, HUGE)
    kib, env = s.get("/huge.php").body.decode().split()
    assert (int(kib) > 0) == on
    assert env == "false", "programs that scripts start must not inherit the wish"
    prototype = huge_kib(s.status()["generations"][0]["prototype_pid"])
    assert prototype["heap"] == prototype["other"] == 0, "its children would copy them"
    if not on:
        assert set(prototype.values()) == {0}


def collapses():
    """Does the kernel make huge pages of memory that is there (6.1 and newer), and has it some left?"""
    import ctypes
    if "[deny]" in (HUGE_MODE.parent / "shmem_enabled").read_text():
        return False
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    size = 2 << 20
    at = (libc.mmap(None, ctypes.c_size_t(2 * size), 3, 0x22, -1, ctypes.c_long(0)) + size - 1) & -size
    ctypes.memset(at, 1, size)
    return libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 25) == 0


@HUGE_HERE
@pytest.mark.parametrize("on", [True, False])
def test_opcaches_memory_gets_huge_pages_once_it_is_filled(serve, on):
    """And works as before: what is cached, what is cached later, a reset, another generation."""
    if not collapses():
        pytest.skip("this kernel does not")
    files = {f"f{i}.php": f"<?php function f{i}() {{ return 'f{i}'; }} echo f{i}(), __LINE__;" for i in range(40)}
    s = serve({"php": {"huge_pages": on, "workers": 1, "workers_min": 1}},
              {**files, "reset.php": "<?php var_dump(opcache_reset());",
               "hits.php": "<?php echo opcache_get_status(false)['opcache_statistics']['num_cached_scripts'];"})
    worker = s.workers()[0]["pid"]

    def all_answer():
        for i in range(40):
            assert s.get(f"/f{i}.php").text == f"f{i}1"
        return True

    all_answer()
    assert int(s.get("/hits.php").text) >= 40
    if on:
        wait_for(lambda: all_answer() and huge_kib(worker)["shared"] > 0, 10)
        kib = huge_kib(worker)
        assert kib["shared"] > 0 and kib["heap"] == 0
    else:
        assert set(huge_kib(worker).values()) == {0}
    assert "true" in s.get("/reset.php").text
    all_answer()
    s.write("late.php", "<?php echo 'late';")
    assert s.get("/late.php").text == "late"
    assert s.cli("deploy").returncode == 0
    all_answer()
    assert s.get("/late.php").text == "late"
