# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Clients behind proxies: X-Forwarded-*, Forwarded, the PROXY protocol; believed from some only."""
import json
import socket
import struct

import pytest

import ephpm
import scripts
from httpc import build

FILES = {"index.php": scripts.ECHO, "a.txt": "static\n"}

TRUSTED = """
[server.security]
trusted_proxies = ["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"]
[server.logging]
access = "{dir}/logs/access.log"
"""


@pytest.fixture(scope="module")
def trusted():
    with ephpm.Server(TRUSTED, FILES) as s:
        yield s


@pytest.fixture(scope="module")
def untrusted():
    with ephpm.Server("", FILES) as s:
        yield s


@pytest.fixture(scope="module")
def proxied():
    with ephpm.Server(TRUSTED.replace("[server.logging]",
                                      'proxy_protocol = "on"\n[server.logging]'), FILES) as s:
        yield s


def seen(server, headers, **more):
    r = server.get("/", headers, **more)
    assert r.status == 200, r
    return json.loads(r.text)["server"]


@pytest.mark.parametrize("headers, addr", [
    ({"X-Forwarded-For": "9.9.9.9"}, "9.9.9.9"),
    ({"X-Forwarded-For": "1.1.1.1, 9.9.9.9"}, "9.9.9.9"),
    ({"X-Forwarded-For": "9.9.9.9, 10.1.2.3"}, "9.9.9.9"),
    ({"X-Forwarded-For": "6.6.6.6, 9.9.9.9, 10.1.2.3, 127.0.0.1"}, "9.9.9.9"),
    ({"X-Forwarded-For": "9.9.9.9:1234"}, "9.9.9.9"),
    ({"X-Forwarded-For": "2001:db9::1"}, "2001:db9::1"),
    ({"X-Forwarded-For": "[2001:db9::1]:80, 2001:db8::2"}, "2001:db9::1"),
    ({"X-Forwarded-For": "10.1.1.1, 10.2.2.2"}, "10.1.1.1"),
    ({"X-Forwarded-For": ""}, "127.0.0.1"), ({"X-Forwarded-For": "unknown"}, "127.0.0.1"),
    ({"X-Forwarded-For": "9.9.9.9, garbage"}, "127.0.0.1"),
    ({"Forwarded": "for=9.9.9.9;proto=https"}, "9.9.9.9"),
    ({"Forwarded": 'for="[2001:db9::1]:4711"'}, "2001:db9::1"),
    ({"Forwarded": "for=1.1.1.1, for=9.9.9.9, for=10.0.0.1"}, "9.9.9.9"),
    ({"Forwarded": "for=_hidden"}, "127.0.0.1"), ({}, "127.0.0.1")])
def test_client_address(trusted, headers, addr):
    assert seen(trusted, headers)["REMOTE_ADDR"] == addr


def test_several_lines_are_one_list(trusted):
    v = seen(trusted, [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "9.9.9.9"),
                       ("X-Forwarded-For", "10.0.0.1")])
    assert v["REMOTE_ADDR"] == "9.9.9.9"


def test_scheme(trusted):
    for headers in {"X-Forwarded-Proto": "https"}, {"X-Forwarded-Proto": "HTTPS"}, {
            "Forwarded": "for=9.9.9.9;proto=https"}:
        v = seen(trusted, headers)
        assert v["HTTPS"] == "on" and v["REQUEST_SCHEME"] == "https", headers
    for headers in {"X-Forwarded-Proto": "http"}, {"X-Forwarded-Proto": "gopher"}, {}:
        v = seen(trusted, headers)
        assert "HTTPS" not in v and v["REQUEST_SCHEME"] == "http", headers


def test_forwarded_host(trusted):
    v = seen(trusted, {"X-Forwarded-Host": "public.example:8443"}, host="internal")
    assert v["HTTP_HOST"] in ("public.example:8443", "internal")
    for bad in "a b", "a/b", "x\"y", "":
        r = trusted.get("/", {"X-Forwarded-Host": bad})
        assert r.status in (200, 400)
        if r.status == 200:
            assert json.loads(r.text)["server"]["HTTP_HOST"] == "localhost"


def test_port_is_the_real_one(trusted):
    v = seen(trusted, {"X-Forwarded-For": "9.9.9.9", "X-Forwarded-Port": "443"})
    assert v["SERVER_PORT"] in (str(trusted.port), "443") and v["SERVER_ADDR"] == "127.0.0.1"


def test_untrusted_peer_is_not_believed(untrusted):
    v = seen(untrusted, {"X-Forwarded-For": "9.9.9.9", "X-Forwarded-Proto": "https",
                         "Forwarded": "for=8.8.8.8;proto=https;host=evil",
                         "X-Forwarded-Host": "evil"}, host="good")
    assert v["REMOTE_ADDR"] == "127.0.0.1" and "HTTPS" not in v and v["HTTP_HOST"] == "good"
    assert v["SERVER_NAME"] == "good" and v["REQUEST_SCHEME"] == "http"


def test_untrusted_address_of_a_configured_server(trusted):
    with trusted.connect(source="127.0.0.7") as c:
        r = c.request(target="/", headers={"X-Forwarded-For": "9.9.9.9",
                                           "X-Forwarded-Proto": "https"})
        v = json.loads(r.text)["server"]
        assert v["REMOTE_ADDR"] == "127.0.0.7" and "HTTPS" not in v


def test_redirect_behind_tls_proxy_is_relative(trusted):
    trusted.write("dir/index.html", "x")
    r = trusted.get("/dir", {"X-Forwarded-Proto": "https"})
    assert r.get("Location") == "/dir/"


def test_access_log_and_limits_use_the_client(serve):
    s = serve(TRUSTED + "[server.limits]\nper_ip_rate = 1.0\nper_ip_burst = 2\n", FILES)

    def status(addr):
        return s.get("/a.txt", {"X-Forwarded-For": addr}).status

    assert [status("9.9.9.9") for _ in range(3)] == [200, 200, 429]
    assert [status("8.8.8.8") for _ in range(3)] == [200, 200, 429]
    log = s.logs / "access.log"
    lines = ephpm.wait_for(lambda: (t := log.read_text().splitlines()) and len(t) >= 6 and t)
    assert [x.split()[0] for x in lines] == ["9.9.9.9"] * 3 + ["8.8.8.8"] * 3


# --- PROXY protocol ------------------------------------------------------------------------------

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def v2(src, dst, sport, dport, command=1, tlv=b""):
    if ":" in src:
        family, body = 0x21, socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(
            socket.AF_INET6, dst)
    else:
        family, body = 0x11, socket.inet_aton(src) + socket.inet_aton(dst)
    body += struct.pack(">HH", sport, dport) + tlv
    return SIGNATURE + bytes([0x20 | command, family]) + struct.pack(">H", len(body)) + body


@pytest.mark.parametrize("header, addr, port", [
    (b"PROXY TCP4 9.9.9.9 5.5.5.5 4711 443\r\n", "9.9.9.9", "4711"),
    (b"PROXY TCP6 2001:db9::1 2001:db9::2 4711 443\r\n", "2001:db9::1", "4711"),
    (b"PROXY UNKNOWN\r\n", "127.0.0.1", None),
    (b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", "127.0.0.1", None),
    (v2("9.9.9.9", "5.5.5.5", 4711, 443), "9.9.9.9", "4711"),
    (v2("2001:db9::1", "2001:db9::2", 4711, 443), "2001:db9::1", "4711"),
    (v2("9.9.9.9", "5.5.5.5", 4711, 443, tlv=b"\x04\x00\x03abc"), "9.9.9.9", "4711"),
    (v2("9.9.9.9", "5.5.5.5", 4711, 443, command=0), "127.0.0.1", None)])
def test_proxy_header(proxied, header, addr, port):
    with proxied.connect() as c:
        c.send(header + build(target="/"))
        for _ in range(2):
            v = json.loads(c.read_response().text)["server"]
            assert v["REMOTE_ADDR"] == addr and (port is None or v["REMOTE_PORT"] == port)
            c.send(build(target="/"))
        c.read_response()
    if port:
        assert v["SERVER_PORT"] == "443"


def test_proxy_header_in_single_bytes(proxied):
    for header in b"PROXY TCP4 9.9.9.9 5.5.5.5 4711 443\r\n", v2("9.9.9.9", "5.5.5.5", 1, 2):
        with proxied.connect() as c:
            for b in header:
                c.send(bytes([b]))
            assert json.loads(c.request().text)["server"]["REMOTE_ADDR"] == "9.9.9.9"


@pytest.mark.parametrize("header", [
    build(target="/"), b"PROXY TCP4 9.9.9.9 5.5.5.5 4711\r\n",
    b"PROXY TCP4 999.9.9.9 5.5.5.5 1 2\r\n",
    b"PROXY TCP4 9.9.9.9 5.5.5.5 70000 2\r\n", b"PROXY  TCP4 9.9.9.9 5.5.5.5 1 2\r\n",
    b"PROXY TCP4 9.9.9.9 5.5.5.5 1 2\n", b"PROXY " + b"x" * 200,
    SIGNATURE + b"\x11\x11\0\x0c" + b"x" * 12,
    SIGNATURE + b"\x21\x11\0\x04abcd"])
def test_bad_proxy_header_is_cut(proxied, header):
    before = proxied.front()["php_executed"]
    with proxied.connect() as c:
        c.send(header + build(target="/"))
        assert b" 200 " not in c.read_all()
    assert proxied.front()["php_executed"] == before


def test_proxy_header_of_untrusted_peer_is_no_request(proxied):
    with proxied.connect(source="127.0.0.7") as c:
        c.send(b"PROXY TCP4 9.9.9.9 5.5.5.5 4711 443\r\n" + build(target="/"))
        assert c.read_response().status == 400
    with proxied.connect(source="127.0.0.7") as c:
        assert json.loads(c.request().text)["server"]["REMOTE_ADDR"] == "127.0.0.7"


def test_proxy_header_without_the_setting_is_400(trusted):
    with trusted.connect() as c:
        c.send(b"PROXY TCP4 9.9.9.9 5.5.5.5 4711 443\r\n" + build(target="/"))
        assert c.read_response().status == 400


def test_connections_are_counted_per_proxied_client(serve):
    s = serve({"server": {"security": {"trusted_proxies": ["127.0.0.1"], "proxy_protocol": "on"},
                          "limits": {"per_ip_max_connections": 2}}}, FILES)

    def client(addr):
        c = s.connect()
        c.send(f"PROXY TCP4 {addr} 5.5.5.5 4711 443\r\n".encode() + build(target="/a.txt"))
        return c

    for _ in range(3):  # also: what was counted is given back
        conns = [client("9.9.9.9"), client("9.9.9.9"), client("8.8.8.8"), client("7.7.7.7")]
        for c in conns:
            assert c.read_response().status == 200
        with client("9.9.9.9") as c:
            assert b" 200 " not in c.read_all()
        for c in conns:
            c.close()
        assert s.settled()
