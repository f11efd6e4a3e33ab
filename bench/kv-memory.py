#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""kv-memory.py [KEYS]  Memory per key of the store and of redis-server, the same commands for both.

Both get KEYS keys (1,000,000) by `redis-cli --pipe` on a Unix socket, once for each kind of value.
What is counted is what the system gave: for ephpm the pages of the store's shared memory, for
redis-server its resident memory, less what both had before. EPHPM_BIN_DIR says where ephpm is
(build/release/bin). Needs redis-server and redis-cli; ends what it starts.
"""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("EPHPM_BIN_DIR", ROOT / "build/release/bin"))


def command(*parts):
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def strings(n, size):
    return (command(b"SET", b"user:%010d" % i, (b"%d:" % i).ljust(size, b"v")) for i in range(n))


KINDS = {
    "counter": lambda n: (command(b"INCRBY", b"user:%010d" % i, b"%d" % (i + 100000))
                          for i in range(n)),
    "string of 64 bytes": lambda n: strings(n, 64),
    "string of 500 bytes": lambda n: strings(n, 500),
    "with a deadline": lambda n: (command(b"SET", b"user:%010d" % i, b"v" * 64, b"EX", b"100000")
                                  for i in range(n)),
    "hash of 10 fields": lambda n: (
        command(b"HSET", b"user:%010d" % i, *[x for f in range(10)
                                              for x in (b"field:%d" % f, b"value %08d" % i)])
        for i in range(n // 10)),
    "sorted set of 10": lambda n: (
        command(b"ZADD", b"user:%010d" % i, *[x for f in range(10)
                                              for x in (b"%d" % f, b"member:%08d" % (i + f))])
        for i in range(n // 10)),
}


def fill(path, commands):
    p = subprocess.Popen(["redis-cli", "-s", path, "--pipe"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    for c in commands:
        p.stdin.write(c)
    out, _ = p.communicate()
    assert b"errors: 0" in out, out.decode()


def ask(path, *words):
    return subprocess.run(["redis-cli", "-s", path, *words], capture_output=True, text=True,
                          check=True).stdout.strip()


def wait_for(path):
    for _ in range(500):
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
                return
        except OSError:
            time.sleep(0.02)
    sys.exit(f"nothing listens at {path}")


def resident(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("Rss:"))


class Redis:
    def __init__(self, folder):
        self.path = f"{folder}/redis.sock"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--dir",
             folder], stdout=subprocess.DEVNULL)
        wait_for(self.path)

    def memory(self):
        return resident(self.process.pid)


class Ephpm:
    def __init__(self, folder):
        self.path = f"{folder}/ephpm.sock"
        root = pathlib.Path(folder) / "root"
        root.mkdir()
        config = pathlib.Path(folder) / "ephpm.toml"
        config.write_text(f"""
[server]
listen = "127.0.0.1:0"
document_root = "{root}"
control_socket = "{folder}/control.sock"
[php]
workers = 1
[kv]
memory_limit = "1GB"
eviction_policy = "noeviction"
redis_compat = {{ enabled = true, listen = "", socket = "{self.path}" }}
""")
        # EPHPM_* are configuration to the server, and unknown ones an error.
        env = {k: v for k, v in os.environ.items() if not k.startswith("EPHPM_")}
        self.log = open(f"{folder}/log", "wb")
        self.process = subprocess.Popen([BIN / "ephpm", "serve", "-c", config], env=env,
                                        stdout=self.log, stderr=self.log)
        wait_for(self.path)
        for _ in range(500):
            if ask(self.path, "ping") == "PONG":
                return
            time.sleep(0.02)
        sys.exit("ephpm does not answer")

    def memory(self):
        """The store's pages, as any process that maps it sees them."""
        for fd in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir():
            if "memfd:ephpm-kv" in os.readlink(fd):
                return fd.stat().st_blocks * 512
        return sys.exit("the server has no store")


def measure(kind, commands, n):
    with tempfile.TemporaryDirectory(prefix="ephpm-bench-") as folder:
        os.chmod(folder, 0o755)
        server = kind(folder)
        try:
            before = server.memory()
            fill(server.path, commands(n))
            keys = int(ask(server.path, "dbsize"))
            return (server.memory() - before) / keys
        finally:
            server.process.terminate()
            server.process.wait()


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    print(f"{n} keys of 15 bytes (hashes, sorted sets: {n // 10}); bytes of memory for each")
    print(f"{'value':22} {'ephpm':>8} {'redis':>8} {'ratio':>7}")
    for name, commands in KINDS.items():
        ours, theirs = (measure(kind, commands, n) for kind in (Ephpm, Redis))
        print(f"{name:22} {ours:8.0f} {theirs:8.0f} {ours / theirs:7.2f}", flush=True)


if __name__ == "__main__":
    main()
