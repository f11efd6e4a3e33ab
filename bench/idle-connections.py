#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What idle keep-alive connections cost: the growth of the front's resident memory.

usage: idle-connections.py PORT PID [CONNECTIONS [PATH]]

PID is the front's. Each connection makes one request, then stays. Loopback only. It fails when a
connection does not get its 200, or when the growth is 20 MB or more per 2,000 connections.
"""
import resource
import socket
import sys
import time

LIMIT_KIB = 20e6 / 2000 / 1024  # per connection


def rss_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def open_one(port, path):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        got = s.recv(65536)
        if not got:
            raise OSError("closed before an answer")
        answer += got
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise OSError(head.split(b"\r\n")[0].decode())
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                  if line.startswith(b"content-length:"))
    while len(body) < length:
        got = s.recv(65536)
        if not got:
            raise OSError("closed within an answer")
        body += got
    return s


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    port, pid = int(sys.argv[1]), int(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    path = sys.argv[4] if len(sys.argv) > 4 else "/hello.php"
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 100), hard))
    for _ in range(50):  # what the first requests allocate is no cost of a connection
        open_one(port, path).close()
    time.sleep(0.5)
    before = rss_kib(pid)
    began = time.monotonic()
    held = [open_one(port, path) for _ in range(count)]
    took = time.monotonic() - began
    time.sleep(1)
    grown = rss_kib(pid) - before
    held[0].sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    alive = held[0].recv(64).startswith(b"HTTP/1.1 200")
    for s in held:
        s.close()
    time.sleep(1)
    left = rss_kib(pid) - before
    ok = alive and grown < LIMIT_KIB * count
    print(f"{count} connections in {took:.1f} s: front {before} KiB + {grown} KiB, "
          f"{grown * 1024 / count:.0f} bytes each; {left} KiB stay after they close; "
          f"{'ok' if ok else 'MISSED'}")
    sys.exit(0 if ok else 1)


main()
