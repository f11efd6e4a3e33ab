# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The servers that ephpm is compared with, and what comes of a request at each of them.

    with nginx(root) as peer: ...     nginx and php-fpm
    with apache(root) as peer: ...    Apache httpd with mod_php

Both are started by the scripts in ../shared/apps. A peer has a name, an address and a url.
answer() sends the bytes of a case and gives what came back as lines, without what may differ.
"""
import contextlib
import gzip
import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import zlib

import pytest

import ephpm
from httpc import Connection, ProtocolError

sys.path.insert(0, str(ephpm.REPOSITORY / "tests/integration/apps"))

from application import SHARED, free_port, run_script  # noqa: E402

NEEDED = {"nginx": ["nginx", f"php-fpm{ephpm.php_minor()}"], "apache": ["apache2"]}


class Peer:
    def __init__(self, name, address):
        self.name, self.address = name, address
        self.url = f"http://{address[0]}:{address[1]}"


def need(*names):
    """Skips the test when one of these peers cannot be had."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} does not exist: nothing starts the peers")
    for program in sum((NEEDED[n] for n in names), []):
        if not shutil.which(program):
            pytest.skip(f"no {program}")


def _reload(pid):
    """Returns when no process with the old configuration is left."""
    def children():
        return {p for p, (_, parent, _) in ephpm.processes().items() if parent == pid}

    before = children()
    os.kill(pid, signal.SIGHUP)
    assert ephpm.wait_for(lambda: children() and not children() & before, 20), "no reload"


@contextlib.contextmanager
def _serve(name, script, root, env, config, change):
    need(name)
    port = free_port()
    # It holds sockets, and is for www-data too.
    state = pathlib.Path(f"/tmp/ephpm-test-peer-{port}")
    env = {"PEER_STATE": str(state), **(env or {})}
    run_script(script, root, port, env=env)
    try:
        if change:
            for path in state.glob(f"*/{config}.conf"):
                path.write_text(change(path.read_text()))
            for pidfile in state.glob(f"*/{config}.pid"):
                _reload(int(pidfile.read_text()))
        yield Peer(name, ("127.0.0.1", port))
    finally:
        run_script(script, "stop", port, env=env)
        shutil.rmtree(state, ignore_errors=True)


def nginx(root, env=None, change=None):
    """change: gets the text of nginx.conf, gives another."""
    return _serve("nginx", "serve-nginx-fpm.sh", root, env, "nginx", change)


def apache(root, env=None, change=None):
    """change: gets the text of httpd.conf, gives another."""
    return _serve("apache", "serve-apache.sh", root, env, "httpd", change)


# --- answers -------------------------------------------------------------------------------------

# How a server frames and dates an answer is its own affair.
FREE = {"date", "server", "connection", "keep-alive", "transfer-encoding", "vary", "expires"}
FOLLOW = b"GET /static/follow.txt HTTP/1.1\r\nHost: conf.test\r\nConnection: close\r\n\r\n"
PAGE = re.compile(
    rb"(?s)(<!DOCTYPE HTML PUBLIC[^>]*>\s*<html><head>.*</html>\s*"
    rb"|<html>\s*<head><title>[^<]*</title></head>.*</html>\s*"
    rb"|<!DOCTYPE html>\n<html lang=\"en\">.*<small>Request [0-9a-f]{16}</small>.*</html>\n?"
    rb"|\d{3} [^\n]*\nRequest [0-9a-f]{16}\n"
    rb"|\{[^{}]*\"request_id\":[^{}]*\}\n?)$")


def _field_lines(r, topic):
    free = FREE
    if topic != "static" or r.status >= 300:
        free = free | {"content-length"}
    if topic == "coding":
        free = free - {"vary"}
    lines = []
    for name, value in r.headers:
        name = name.lower()
        if name in free:
            continue
        if name == "etag":
            value = ("W/" if value.startswith("W/") else "") + "{etag}"
        value = re.sub(r"boundary=\S+", "boundary={boundary}", value)
        lines.append(f"{name}: {value}")
    return sorted(lines)


def _body_lines(body):
    if not body:
        return []
    if PAGE.match(body):
        return ["(error page)"]
    if len(body) > 60000 or b"\0" in body:
        return [f"({len(body)} bytes, {zlib.crc32(body):x})"]
    body = re.sub(rb"(?m)^--[0-9A-Za-z]+", b"--{boundary}", body)
    return body.decode("utf-8", "backslashreplace").splitlines()


def _read(c, method):
    """An answer that may be no HTTP at all: the lines of it."""
    try:
        r = c.read_response(method)
    except ProtocolError as e:
        return None, ["closed" if "closed before" in str(e) else f"not HTTP: {e}"]
    except socket.timeout:
        return None, ["no answer"]
    return r, [f"status: {r.status}"]


def answer(peer, case):
    """What a peer (anything with an address) answers to a case of walk_cases.py."""
    data = case.data.replace(b"{etag}", getattr(peer, "etag", b""))
    with Connection(peer.address, timeout=case.timeout) as c:
        try:
            first, *rest = data.split(case.pause) if case.pause else [data]
            c.send(first)
            for piece in rest:
                c.silent(2)  # until something comes
                c.send(piece)
            if case.follow:
                c.send(FOLLOW)
        except OSError:
            pass  # refused before all was sent: the answer is there
        r, lines = _read(c, case.method)
        if r is None:
            return lines
        lines += [f"interim: {i.status}" for i in r.infos]
        topic = "static" if "/static/" in case.name else case.name.split("/")[0]
        lines += _field_lines(r, topic)
        if r.get("Content-Encoding") == "gzip" and r.body and r.status != 206:
            r.body = gzip.decompress(r.body)
        lines += ["", *_body_lines(r.body)]
        if case.follow:
            r, _ = _read(c, "GET")
            lines.append("then: " + (str(r.status) if r else "closed"))
        return lines
