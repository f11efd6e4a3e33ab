#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""CPU time per request of servers, request by request in turn, so that whatever else the machine
does falls on all of them alike.

    bench/interleave.py [-n ROUNDS] [-b REQUESTS] -f PATHS NAME=URL,PIDFILE[,PIDFILE] ...

In a round each server gets a batch of requests over one kept connection, one after the other; the
time is that of all its processes (the pid files name the first ones). The first server is the one
that the others are compared with; the ratio is the median of the rounds' ratios. Exits 1 when the
servers do not answer alike (status; size within 5 %), or with an error.
"""
import argparse
import http.client
import pathlib
import statistics
import sys
import time
import urllib.parse

SETTLE = 0.002  # seconds for what a server does after its last byte


def family(pid):
    """A process and all below it."""
    out = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            out += family(int(child))
    return out


class Server:
    def __init__(self, text):
        self.name, _, rest = text.partition("=")
        url, *files = rest.split(",")
        self.address = urllib.parse.urlsplit(url)
        self.pids = sorted({p for f in files for p in family(int(pathlib.Path(f).read_text()))})
        self.connection = None
        self.spent = []

    def get(self, path):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port,
                                                         timeout=60)
        self.connection.request("GET", path)
        r = self.connection.getresponse()
        size = len(r.read())
        if r.will_close:
            self.connection.close()
            self.connection = None
        return r.status, size

    def cpu(self):
        """Nanoseconds that its processes ran."""
        return sum(int((task / "schedstat").read_text().split()[0])
                   for pid in self.pids for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


def measure(servers, path, rounds, batch):
    """False when the answers differ."""
    answers = []
    for s in servers:
        s.spent = []
        for _ in range(20):
            answer = s.get(path)
        answers.append(answer)
    status, size = answers[0]
    alike = status < 400 and all(a[0] == status and abs(a[1] - size) <= size * 0.05 for a in answers)
    for i in range(rounds):
        for s in servers if i % 2 == 0 else servers[::-1]:
            before = s.cpu()
            for _ in range(batch):
                alike = s.get(path)[0] == status and alike
            time.sleep(SETTLE)
            s.spent.append((s.cpu() - before) / batch / 1000)
    print(f"\n{path}   ({status}, {size} bytes)")
    print("  server         cpu-us/req   p25     min   cpu-ratio")
    for s in servers:
        ratio = statistics.median(a / b for a, b in zip(s.spent, servers[0].spent))
        ordered = sorted(s.spent)
        print(f"  {s.name:12} {statistics.median(ordered):10.1f} {ordered[len(ordered) // 4]:9.1f}"
              f" {ordered[0]:9.1f} {ratio:8.3f}" + ("" if alike else "   BAD"))
    return alike


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("-n", type=int, default=100, help="rounds")
    p.add_argument("-b", type=int, default=4, help="requests of a round")
    p.add_argument("-f", type=argparse.FileType(), required=True, help="paths, one per line")
    p.add_argument("servers", nargs="+", metavar="NAME=URL,PIDFILE")
    a = p.parse_args()
    servers = [Server(s) for s in a.servers]
    print(f"# in turn, {a.n} rounds of {a.b} requests, one connection each")
    paths = [line.strip() for line in a.f if line.strip() and not line.startswith("#")]
    return 0 if all([measure(servers, path, a.n, a.b) for path in paths]) else 1


if __name__ == "__main__":
    sys.exit(main())
