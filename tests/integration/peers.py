# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The servers that ephpm is compared with, and what comes of a request at each of them.

    with nginx(root) as peer: ...     nginx and php-fpm
    with apache(root) as peer: ...    Apache httpd with mod_php
    with ours(root) as server: ...    ephpm with the same settings of PHP

The first two are started by the scripts in ../shared/apps, and have a name, an address and a url.
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
import tempfile
import types
import zlib

import pytest

import ephpm
from ephpm import free_port
from httpc import Connection, ProtocolError

sys.path.insert(0, str(ephpm.REPOSITORY / "tests/integration/apps"))

from application import SHARED, run_script  # noqa: E402

NEEDED = {"nginx": ["nginx", f"php-fpm{ephpm.php_minor()}"], "apache": ["apache2"]}


NOTHING = types.MappingProxyType({})


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
    assert ephpm.wait_for(lambda: children() and not children() & before), "no reload"


@contextlib.contextmanager
def _serve(name, script, root, ini, config, change):
    need(name)
    port = free_port()
    # It holds sockets, and is for www-data too.
    state = pathlib.Path(f"/tmp/ephpm-test-peer-{port}")
    env = {"PEER_STATE": str(state), "INI_EXTRA": "\n".join(f"{k}={v}" for k, v in ini.items())}
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


def nginx(root, ini=NOTHING, change=None):
    """ini: more settings of PHP. change: gets the text of nginx.conf, gives another."""
    return _serve("nginx", "serve-nginx-fpm.sh", root, ini, "nginx", change)


def apache(root, ini=NOTHING, change=None):
    return _serve("apache", "serve-apache.sh", root, ini, "httpd", change)


def ours(root, ini=NOTHING, config=NOTHING):
    """config: more configuration of ephpm."""
    s = ephpm.Server(start=False, env={"PHP_INI_SCAN_DIR": f":{SHARED}/ini/prod"})
    s.root = root
    like = {"php": {"memory_limit": None, "ini_overrides": [list(i) for i in ini.items()]}}
    if os.getuid() == 0:
        like["server"] = {"run_as_user": "www-data"}
    s.write_config(ephpm.merge(like, config))
    try:
        s.start()
    except BaseException:
        s.__exit__(AssertionError)
        raise
    return s


@contextlib.contextmanager
def document_root(files, mtime=1704067200):
    """A folder that other users can read, with {path: text or bytes}, all as old."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ephpm-test-walk-"))
    folder.chmod(0o755)
    try:
        for name, data in files.items():
            path = folder / "public" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else data)
            os.utime(path, (mtime, mtime))
        yield folder / "public"
    finally:
        shutil.rmtree(folder)


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


def lines(r, topic):
    """An answer's fields and body, without what may differ."""
    if r.get("Content-Encoding") == "gzip" and r.body and r.status != 206:
        r.body = gzip.decompress(r.body)
    return [*_field_lines(r, topic), "", *_body_lines(r.body)]


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
                c.silent(20)  # until something comes
                c.send(piece)
            if case.follow:
                c.send(FOLLOW)
        except OSError:
            pass  # refused before all was sent: the answer is there
        r, found = _read(c, case.method)
        if r is None:
            return found
        found += [f"interim: {i.status}" for i in r.infos]
        found += lines(r, "static" if "/static/" in case.name else case.name.split("/")[0])
        if case.follow:
            r, _ = _read(c, "GET")
            found.append("then: " + (str(r.status) if r else "closed"))
        return found
