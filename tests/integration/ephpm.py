# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Runs the server for tests.

    with Server('[php]\\nworkers = 2', {"index.php": "<?php echo 1;"}) as s:
        assert s.get("/").text == "1"

Every server has a directory of its own below /tmp, which other users can read, since the server
drops root: root/ (document root), logs/, tmp/ (its TMPDIR), ephpm.toml, log, control.sock.
The binaries come from $EPHPM_BIN (or $EPHPM_BIN_DIR), or build/dev/bin.
"""
import functools
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import tomllib

import httpc
from httpc import Connection, Response, wait_for  # noqa: F401 (for the tests)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("EPHPM_BIN") or os.environ.get("EPHPM_BIN_DIR")
                   or REPOSITORY / "build/dev/bin").resolve()
EPHPM, EPHPM_PHP = BIN / "ephpm", BIN / "ephpm-php"

# Below those that connections get from the kernel, and others in each process of a parallel run.
PORTS = itertools.count(
    12000 + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")))

START_TIMEOUT = 90
STOP_TIMEOUT = 60
SETTLE_TIMEOUT = 30

# Workers are fixed unless a test says otherwise, so that the front's descriptors are comparable.
DEFAULTS = {
    "server": {
        "listen": "127.0.0.1:0",
        "document_root": "{root}",
        "control_socket": "{dir}/control.sock",
    },
    "php": {"workers": 2, "workers_min": 2, "memory_limit": "128M",
            "opcache_memory_consumption": 64, "opcache_jit_buffer_size": 16},
}

ALERT = re.compile(r'^\S+ alert |"level":\s*"alert"', re.M)
# The programs are built with the address sanitizer, whose allocator takes the place of PHP's.
SANITIZED = b"__asan_init" in EPHPM_PHP.read_bytes()
SANITIZER = re.compile(r"(Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer|runtime error: ")


def free_port():
    """A port of 127.0.0.1 at which nobody listens; another one each time."""
    for port in PORTS:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


@functools.cache
def php_version():
    """(8, 4, 27) of PHP in the tested program, for what differs between versions."""
    out = subprocess.run([EPHPM_PHP, "--version"], stdout=subprocess.PIPE, text=True).stdout
    return tuple(map(int, re.search(r"PHP (\d+)\.(\d+)\.(\d+)", out).groups()))


def php_minor():
    """"8.4": PHP of the tested program, which its peers shall have too."""
    return "%d.%d" % php_version()[:2]


def _toml_value(v):
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(_toml_value(x) for x in v) + "]"
    if isinstance(v, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {_toml_value(x)}" for k, x in v.items()) + "}"
    return json.dumps(v)  # strings, numbers and booleans read the same in both


def toml_text(table, prefix=""):
    """A nested dict as TOML."""
    own = [f"{k} = {_toml_value(v)}\n" for k, v in table.items() if not isinstance(v, dict)]
    text = f"[{prefix}]\n" if prefix and own else ""
    text += "".join(own)
    for k, v in table.items():
        if isinstance(v, dict):
            text += toml_text(v, f"{prefix}.{k}" if prefix else k)
    return text


def merge(base, over):
    """over on top of base, table by table; neither is changed. A value of None removes a key."""
    out = dict(base)
    for k, v in over.items():
        if isinstance(v, dict) and isinstance(out.get(k), dict):
            out[k] = merge(out[k], v)
        elif v is None:
            out.pop(k, None)
        else:
            out[k] = v
    return out


def _stat(pid):
    """(state, parent, session) of a process, or None when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2:].split()
    return fields[0], int(fields[1]), int(fields[3])


def processes():
    """{pid: (state, parent, session)} of everything that runs."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            st = _stat(int(name))
            if st:
                found[int(name)] = st
    return found


def family(pid):
    """{pid: state} of a process and all below it, and of its session."""
    table, out, grew = processes(), {}, True
    members = {pid}
    while grew:
        new = {p for p, (_, parent, sid) in table.items() if parent in members or sid == pid}
        grew = not new <= members
        members |= new
    for p in members:
        if p in table:
            out[p] = table[p][0]
    return out


def alive(pid):
    st = _stat(pid)
    return st is not None and st[0] != "Z"


def shm_files():
    """Named shared memory that is the server's."""
    return {n for n in os.listdir("/dev/shm") if "ephpm" in n}


class Server:
    """One running server. config: TOML text or dict, on top of DEFAULTS; "{root}" and "{dir}" in it
    are replaced. files: {path below the root: text or bytes}. mode: serve or dev."""

    live = []  # started and not stopped; conftest checks them after each test

    def __init__(self, config=None, files=None, mode="serve", env=None, args=(), start=True,
                 descriptors=None):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ephpm-test-"))
        self.dir.chmod(0o755)
        self.root, self.logs, self.tmp = self.dir / "root", self.dir / "logs", self.dir / "tmp"
        self.root.mkdir(mode=0o755)
        for d in self.logs, self.tmp:
            d.mkdir()
            d.chmod(0o777)
        self.config_path, self.log_path = self.dir / "ephpm.toml", self.dir / "log"
        self.control = self.dir / "control.sock"
        self.mode, self.args = mode, list(args)
        # EPHPM_* are configuration to the server, and unknown ones an error.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("EPHPM_")}
        # Scripts crash on purpose: that shall look as it does without a sanitizer.
        asan = [self.env.get("ASAN_OPTIONS", "detect_leaks=0")] + [
            f"handle_{x}=0" for x in ("segv", "sigbus", "sigfpe", "sigill", "abort")]
        asan.append("quarantine_size_mb=8")  # freed memory counts in tests of growth
        self.env.update({"TMPDIR": str(self.tmp), "ASAN_OPTIONS": ":".join(asan), **(env or {})})
        self.limit = descriptors  # RLIMIT_NOFILE of the server
        self.process = None
        self.shm_before = shm_files()
        self.write_config(config or {})
        for path, data in (files or {}).items():
            self.write(path, data)
        if start:
            try:
                self.start()
            except BaseException:
                self.kill()
                shutil.rmtree(self.dir, ignore_errors=True)
                raise

    # --- files --------------------------------------------------------------------------------

    def write_config(self, config):
        if isinstance(config, str):
            config = tomllib.loads(config)
        config = merge(DEFAULTS, config)
        self.workers_min = config["php"].get("workers_min", 1)
        text = toml_text(config)
        text = text.replace("{root}", str(self.root)).replace("{dir}", str(self.dir))
        self.config_path.write_text(text)

    def write(self, path, data, mtime=None):
        """Writes a file below the root (or an absolute path)."""
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(data.encode() if isinstance(data, str) else data)
        if mtime is not None:
            os.utime(full, (mtime, mtime))
        return full

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_lines(self, word):
        return [line for line in self.log().splitlines() if word in line]

    def wait_log(self, pattern, timeout=30.0, start=0):
        """Waits for a match in the log after position start; fails when none comes."""
        found = wait_for(lambda: re.search(pattern, self.log()[start:], re.M), timeout)
        assert found, f"no {pattern!r} in the log:\n{self.log()[start:]}"
        return found

    # --- life ---------------------------------------------------------------------------------

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [EPHPM, self.mode, "-c", self.config_path, *self.args], cwd=self.dir, env=self.env,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=self._limit if self.limit else None)
        Server.live.append(self)
        end = time.monotonic() + START_TIMEOUT
        while not self._is_ready():
            code = self.process.poll()
            assert code is None, f"the server exited with {code}:\n{self.log()}"
            assert time.monotonic() < end, f"the server is not ready:\n{self.log()}"
            time.sleep(0.02)
        self.idle = self.descriptors()
        while self.idle[1] < self.workers_min and time.monotonic() < end:
            time.sleep(0.01)
            self.idle = self.descriptors()

    def _limit(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.limit, self.limit))

    def _is_ready(self):
        try:
            st = self.status()
        except OSError:
            return False
        if not st.get("front") or not any(g["state"] == "active" for g in st["generations"]):
            return False
        host, _, port = st["listen"].rpartition(":")
        self.address = (host.strip("[]"), int(port))
        self.port = self.address[1]
        self.url = f"http://{st['listen']}"
        return True

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
        finally:
            self.kill()
            shutil.rmtree(self.dir, ignore_errors=True)

    @property
    def pid(self):
        return self.process.pid

    def stop(self, sig=signal.SIGTERM, code=0):
        """Stops and requires: the exit code, no process, socket, segment or temporary file left."""
        if self.process is None:
            return
        pids = family(self.pid)
        self.process.send_signal(sig)
        try:
            got = self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the server did not stop:\n{self.log()}") from None
        left = wait_for(lambda: not [p for p in pids if alive(p)]) or [
            p for p in pids if alive(p)]
        self.kill()
        assert got == code, f"exit code {got}:\n{self.log()}"
        assert left is True, f"processes left: {left}\n{self.log()}"
        assert not self.control.exists(), "control socket left"
        assert not shm_files() - self.shm_before, "shared memory left"
        assert not list(self.tmp.iterdir()), f"left in TMPDIR: {list(self.tmp.iterdir())}"
        self.check_log()

    def kill(self):
        """Ends whatever still runs; for the failure paths and after a stop."""
        if self.process is None:
            return
        if self in Server.live:
            Server.live.remove(self)
        for pid in family(self.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process = None

    # --- control ------------------------------------------------------------------------------

    def status(self):
        """The answer of `ephpm status --json`, over the control socket."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(str(self.control))
            s.sendall(b'{"cmd":"status"}\n')
            data = b""
            while not data.endswith(b"\n"):
                part = s.recv(1 << 20)
                if not part:
                    raise OSError("the control socket closed")
                data += part
        return json.loads(data)

    def front(self):
        return self.status()["front"]

    def workers(self):
        """The front's view of all workers: dicts with id, pid, state, served."""
        return [w for g in self.front()["generations"] for w in g["workers"]]

    def descriptors(self):
        """(front's open descriptors, workers, generations): comparable when the latter agree.
        Files that may be served are not counted, since the front keeps some open on purpose."""
        st = self.status()
        f, n = st["front"], 0
        folder = f"/proc/{f['front_pid']}/fd"
        for fd in os.listdir(folder):
            try:
                name = os.readlink(f"{folder}/{fd}")
                n += name.startswith(f"{self.tmp}/") or not name.startswith(
                    (f"{self.dir}/", f"{self.root}/"))
            except FileNotFoundError:
                pass
        return n, sum(len(g["workers"]) for g in f["generations"]), len(st["generations"])

    def cli(self, *args, timeout=120, env=None):
        """Runs `ephpm ARGS -c <config>`; returns the completed process with text output."""
        return subprocess.run([EPHPM, *args, "-c", self.config_path], cwd=self.dir,
                              env={**self.env, **(env or {})}, timeout=timeout, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def signal(self, sig):
        self.process.send_signal(sig)

    def rss(self, pid=None):
        """Resident bytes of a process (the front when none is given)."""
        pid = pid or self.front()["front_pid"]
        with open(f"/proc/{pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    # --- requests -----------------------------------------------------------------------------

    def connect(self, **more):
        return Connection(self.address, **more)

    def request(self, method="GET", target="/", headers=(), body=None, **more):
        """One request on a connection of its own."""
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        if "connection" not in {n.lower() for n, _ in pairs}:
            pairs.append(("Connection", "close"))
        with self.connect() as c:
            return c.request(method, target, pairs, body, **more)

    def get(self, target="/", headers=(), **more):
        return self.request("GET", target, headers, **more)

    def post(self, target, body, headers=(), **more):
        return self.request("POST", target, headers, body, **more)

    def raw(self, data, timeout=httpc.TIMEOUT):
        """Sends bytes, returns everything until the server closes."""
        with self.connect(timeout=timeout) as c:
            c.send(data)
            return c.read_all()

    def curl(self, target, *args, timeout=60):
        """Runs curl; returns the completed process (bytes)."""
        return subprocess.run(["curl", "-sS", "--max-time", str(timeout), *args, self.url + target],
                              capture_output=True, timeout=timeout + 5)

    # --- checks -------------------------------------------------------------------------------

    def check_log(self):
        text = self.log()
        assert not ALERT.search(text), f"alert in the log:\n{text}"
        assert not SANITIZER.search(text), f"sanitizer report in the log:\n{text}"

    def _settled(self):
        st = self.status()
        f = st["front"]
        if f["connections"] or any(
                w["state"] not in ("idle", "free") for g in f["generations"] for w in g["workers"]):
            return False
        now = self.descriptors()
        return now[1:] != self.idle[1:] or now[0] <= self.idle[0]

    def settled(self, timeout=SETTLE_TIMEOUT):
        """True once no client is connected, no worker is busy and the descriptors are back."""
        return wait_for(self._settled, timeout)

    def check(self):
        """What must hold after every test."""
        self.check_log()
        if self.process is None:
            return
        assert self.process.poll() is None, f"the server ended by itself:\n{self.log()}"
        assert self.settled(), (
            f"not idle: started with {self.idle}, now {self.descriptors()}: {self.status()}\n"
            f"{self.log()[-8000:]}")
        zombies = wait_for(lambda: not [p for p, s in family(self.pid).items() if s == "Z"])
        assert zombies, f"zombies: {family(self.pid)}"
