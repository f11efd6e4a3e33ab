# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A small HTTP/1.1 client that shows what is on the wire.

Connection: one socket and what was read ahead of use. Response: one parsed answer. Nothing is
followed, decoded or repaired; a malformed answer raises ProtocolError, so tests see it.
"""
import socket
import time

# How long a client waits before it takes silence for an error. No test asserts a time of its own: the
# machine may be slow or stand still for seconds. Time bounds are far from what a fault would take.
TIMEOUT = 60


class ProtocolError(AssertionError):
    """The server sent what HTTP/1.1 does not allow, or ended in the middle of it."""


class Response:
    """status, reason, version, headers (list of pairs), body, chunks, raw_head, infos (1xx answers
    before it), closed (the body ended with the connection)."""

    def __init__(self, version, status, reason, headers, raw_head):
        self.version, self.status, self.reason = version, status, reason
        self.headers, self.raw_head = headers, raw_head
        self.body, self.chunks, self.infos = b"", [], []
        self.chunked = self.closed = False

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def get(self, name, default=None):
        """The value of a field that may appear once at most."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} repeated: {values}"
        return values[0] if values else default

    def __contains__(self, name):
        return bool(self.all(name))

    @property
    def text(self):
        return self.body.decode("utf-8", "surrogateescape")

    @property
    def keep_alive(self):
        tokens = [t.strip().lower() for v in self.all("Connection") for t in v.split(",")]
        if "close" in tokens:
            return False
        return self.version == "HTTP/1.1" or "keep-alive" in tokens

    def __repr__(self):
        return f"<Response {self.status} {self.headers} {self.body[:200]!r}>"


def build(method="GET", target="/", headers=(), body=None, version="HTTP/1.1", host="localhost"):
    """The bytes of a request. headers: dict or pairs. Host and Content-Length are added when they
    are not given; host=None leaves Host out."""
    pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
    names = {n.lower() for n, _ in pairs}
    if host is not None and "host" not in names:
        pairs.insert(0, ("Host", host))
    if isinstance(body, str):
        body = body.encode()
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("Content-Length", str(len(body))))
    head = f"{method} {target} {version}\r\n" + "".join(f"{n}: {v}\r\n" for n, v in pairs) + "\r\n"
    return head.encode("latin-1") + (body or b"")


def chunked(*parts):
    """A chunked body of these parts."""
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts if p) + b"0\r\n\r\n"


class Connection:
    """A client connection. Use as a context manager."""

    def __init__(self, address, timeout=TIMEOUT, rcvbuf=None, source=None):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if rcvbuf:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        if source:
            self.sock.bind((source, 0))
        self.sock.settimeout(timeout)
        self.sock.connect(address)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pending = b""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.sock.close()

    def reset(self):
        """Closes with RST instead of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()

    @property
    def port(self):
        return self.sock.getsockname()[1]

    def send(self, data):
        self.sock.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def _fill(self):
        """Reads more; False at the end of the stream."""
        try:
            data = self.sock.recv(262144)
        except ConnectionResetError:
            data = b""
        self.pending += data
        return bool(data)

    def read_until(self, mark):
        """Bytes up to and including mark."""
        while mark not in self.pending:
            if not self._fill():
                raise ProtocolError(f"closed before {mark!r}, had {self.pending[:300]!r}")
        end = self.pending.index(mark) + len(mark)
        data, self.pending = self.pending[:end], self.pending[end:]
        return data

    def read_exactly(self, n):
        parts, have = [self.pending[:n]], len(self.pending[:n])
        self.pending = self.pending[n:]
        while have < n:
            try:
                data = self.sock.recv(min(n - have, 1 << 20))
            except ConnectionResetError:
                data = b""
            if not data:
                raise ProtocolError(f"closed after {have} of {n} bytes")
            parts.append(data)
            have += len(data)
        return b"".join(parts)

    def read_some(self):
        """At least one byte, or b"" at the end."""
        if not self.pending:
            self._fill()
        data, self.pending = self.pending, b""
        return data

    def read_all(self):
        """Everything until the server closes."""
        while self._fill():
            pass
        data, self.pending = self.pending, b""
        return data

    def at_end(self, timeout=TIMEOUT):
        """The server closed, with nothing more sent."""
        old = self.sock.gettimeout()
        self.sock.settimeout(timeout)
        try:
            return not self.pending and not self._fill()
        except socket.timeout:
            return False
        finally:
            self.sock.settimeout(old)

    def silent(self, seconds):
        """Nothing arrives for this long, and the connection stays open."""
        self.sock.settimeout(seconds)
        try:
            return not self.pending and self._fill() and False
        except socket.timeout:
            return True
        finally:
            self.sock.settimeout(TIMEOUT)

    def has_more(self):
        """Something has arrived."""
        self.sock.setblocking(False)
        try:
            return bool(self.pending) or self._fill()
        except BlockingIOError:
            return False
        finally:
            self.sock.settimeout(TIMEOUT)

    def read_head(self):
        """Status line and header fields, without the body."""
        raw = self.read_until(b"\r\n\r\n")
        lines = raw[:-4].decode("latin-1").split("\r\n")
        parts = lines[0].split(" ", 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
            raise ProtocolError(f"status line {lines[0]!r}")
        headers = []
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip() or "\n" in line or "\r" in line:
                raise ProtocolError(f"header line {line!r}")
            headers.append((name, value.strip(" \t")))
        return Response(parts[0], int(parts[1]), parts[2] if len(parts) > 2 else "", headers, raw)

    def read_chunk(self):
        """One chunk; b"" is the last one."""
        size = int(self.read_until(b"\r\n").split(b";")[0], 16)
        if size == 0:
            if self.read_until(b"\r\n") != b"\r\n":
                raise ProtocolError("trailer fields")
            return b""
        data = self.read_exactly(size)
        if self.read_exactly(2) != b"\r\n":
            raise ProtocolError("chunk without end of line")
        return data

    def read_response(self, method="GET"):
        """The next final answer; 1xx before it are in .infos."""
        infos = []
        while True:
            r = self.read_head()
            if r.status >= 200 or r.status == 101:
                break
            infos.append(r)
        r.infos = infos
        te, cl = r.get("Transfer-Encoding"), r.get("Content-Length")
        if te is not None and cl is not None:
            raise ProtocolError("Transfer-Encoding and Content-Length")
        if r.status in (204, 304) or r.status < 200:
            if te is not None or (cl is not None and r.status != 304):
                raise ProtocolError(f"{r.status} announces a body")
        elif method == "HEAD":
            pass
        elif te is not None:
            if te != "chunked":
                raise ProtocolError(f"Transfer-Encoding {te}")
            r.chunked = True
            while chunk := self.read_chunk():
                r.chunks.append(chunk)
            r.body = b"".join(r.chunks)
        elif cl is not None:
            r.body = self.read_exactly(int(cl))
        else:
            r.body, r.closed = self.read_all(), True
        return r

    def request(self, method="GET", target="/", headers=(), body=None, **more):
        self.send(build(method, target, headers, body, **more))
        return self.read_response(method)


def wait_for(what, timeout=30.0, step=0.02):
    """Calls what() until it is true; returns its last value."""
    end = time.monotonic() + timeout
    while True:
        value = what()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)
