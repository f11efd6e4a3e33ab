# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A small Redis client for tests: RESP2 and RESP3, bytes as they are."""
import socket


class Error(Exception):
    pass


class Resp:
    def __init__(self, where, password=None, timeout=60):
        """where: a port of 127.0.0.1, or the path of a Unix socket."""
        if isinstance(where, int):
            self.socket = socket.create_connection(("127.0.0.1", where), timeout)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(str(where))
        self.file = self.socket.makefile("rb")
        if password is not None:
            assert self.call("AUTH", password) == "OK"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def raw(self, data):
        self.socket.sendall(data)

    def send(self, *words):
        out = [b"*%d\r\n" % len(words)]
        for w in words:
            w = w if isinstance(w, bytes) else str(w).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(w), w))
        self.raw(b"".join(out))

    def read(self):
        """One reply. Simple strings are str, bulks bytes, errors are raised."""
        line = self.file.readline()
        if not line:
            raise EOFError
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise Error(rest.decode())
        if kind == b":":
            return int(rest)
        if kind in b"$=":
            n = int(rest)
            return None if n < 0 else self.file.read(n + 2)[:-2]
        if kind in b"*~>":
            n = int(rest)
            return None if n < 0 else [self._item() for _ in range(n)]
        if kind == b"%":
            return {self._item(): self._item() for _ in range(int(rest))}
        if kind == b"_":
            return None
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        raise AssertionError(f"not a reply: {line!r}")

    def _item(self):
        try:
            return self.read()
        except Error as e:
            return e

    def call(self, *words):
        self.send(*words)
        return self.read()

    def error(self, *words):
        """The text of the error that a command is answered with."""
        self.send(*words)
        try:
            got = self.read()
        except Error as e:
            return str(e)
        raise AssertionError(f"{words} gave {got!r}")

    def closed(self):
        """Waits for the end of the connection, and passes over what comes before."""
        try:
            while self.file.read(65536):
                pass
        except ConnectionResetError:
            pass
        return True
