#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What slow clients cost the others: latency of a normal client without and with them.

usage: slow-clients.py PORT [SECONDS [PATH [BIG-PATH]]]

1,000 clients send a header byte every second or so; 200 ask for BIG-PATH (default
/static/10m.bin) and take 4 KiB of it now and then. Phases of SECONDS (default 4) without and with
them alternate, as other load of the machine drifts. Loopback only; ends by itself.
It fails when a request fails, or the median of a phase with them is more than 1.5 times and 1 ms
above the median without.
"""
import http.client
import resource
import socket
import statistics
import sys
import threading
import time

SLOW_HEADERS, SLOW_READERS, ROUNDS = 1000, 200, 3
HEAD = b"GET /hello.php HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"a" * 400


class Slow(threading.Thread):
    """All slow clients, in one thread."""

    def __init__(self, port, big):
        super().__init__(daemon=True)
        self.stop = threading.Event()
        self.lost = 0
        self.headers = [self.connect(port) for _ in range(SLOW_HEADERS)]
        self.readers = [self.connect(port, 4096) for _ in range(SLOW_READERS)]
        for s in self.readers:
            s.sendall(f"GET {big} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    @staticmethod
    def connect(port, room=0):
        s = socket.socket()
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.settimeout(10)
        s.connect(("127.0.0.1", port))
        s.setblocking(False)
        return s

    def step(self, at):
        for s in self.headers[at % 10::10]:
            try:
                s.send(HEAD[at // 10:at // 10 + 1])
            except OSError:
                self.lost += 1
        for s in self.readers[at % 10::10]:
            try:
                s.recv(4096)
            except BlockingIOError:
                pass
            except OSError:
                self.lost += 1

    def run(self):
        at = 0
        while not self.stop.wait(0.1):
            self.step(at)
            at += 1

    def close(self):
        self.stop.set()
        self.join()
        for s in self.headers + self.readers:
            s.close()


def latencies(port, path, seconds):
    """Milliseconds of each request of one keep-alive client."""
    out = []
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        c.request("GET", path)
        r = c.getresponse()
        r.read()
        if r.status != 200:
            sys.exit(f"status {r.status}")
        out.append((time.monotonic() - began) * 1000)
        time.sleep(0.002)
    c.close()
    return out


def describe(name, values):
    q = statistics.quantiles(values, n=100)
    print(f"{name}: {len(values)} requests, p50 {q[49]:.2f} ms, p90 {q[89]:.2f} ms, "
          f"p99 {q[98]:.2f} ms", flush=True)
    return q[49]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    port = int(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 4
    path = sys.argv[3] if len(sys.argv) > 3 else "/hello.php"
    big = sys.argv[4] if len(sys.argv) > 4 else "/static/10m.bin"
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    alone, beside, lost = [], [], 0
    for _ in range(ROUNDS):
        alone += latencies(port, path, seconds)
        slow = Slow(port, big)
        slow.start()
        time.sleep(0.5)
        beside += latencies(port, path, seconds)
        lost += slow.lost
        slow.close()
        time.sleep(0.5)
    a = describe("alone ", alone)
    b = describe(f"beside {SLOW_HEADERS} slow headers and {SLOW_READERS} slow readers", beside)
    ok = lost == 0 and (b <= 1.5 * a or b <= a + 1)
    print(f"{lost} slow clients refused or cut; {'ok' if ok else 'MISSED'}")
    sys.exit(0 if ok else 1)


main()
