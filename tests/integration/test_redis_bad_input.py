# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Redis clients that send garbage, too much or too little, that do not read, or are too many."""
import os
import socket
import time

import pytest

import ephpm
from resp import Resp

INDEX = {"index.php": "<?php echo 'ok';"}
MIB = 1 << 20


def config(port, **redis):
    return {"kv": {"memory_limit": "64MB",
                   "redis_compat": {"enabled": True, "listen": f"127.0.0.1:{port}", **redis}}}


@pytest.fixture(scope="module")
def server():
    port = ephpm.free_port()
    with ephpm.Server(config(port, max_input_buffer=4 * MIB, max_connections=20), INDEX) as s:
        s.redis_port = port
        yield s


@pytest.fixture
def client(server):
    with Resp(server.redis_port) as c:
        yield c


@pytest.mark.parametrize("sent, answer", [
    (b"*x\r\n", "Protocol error: invalid multibulk length"),
    (b"*1048577\r\n", "Protocol error: invalid multibulk length"),
    (b"*1\r\n$x\r\n", "Protocol error: invalid bulk length"),
    (b"*1\r\n$-5\r\n", "Protocol error: invalid bulk length"),
    (b"*1\r\n$536870913\r\n", "Protocol error: invalid bulk length"),
    (b"*2\r\n$3\r\nGET\r\n:1\r\n", "Protocol error: expected '$', got ':'"),
    (b"GET \"a\r\n", "Protocol error: unbalanced quotes in request"),
    (b"x" * 70000, "Protocol error: too big inline request"),
    (b"*1\r\n$" + b"1" * 100, "Protocol error: too big bulk count string"),
    (b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4194304\r\n",
     "Protocol error: request larger than max_input_buffer"),
])
def test_what_is_no_request_is_answered_and_closed(client, sent, answer):
    client.raw(sent)
    with pytest.raises(Exception, match="ERR " + answer.replace("$", r"\$")):
        client.read()
    assert client.closed()


def test_random_bytes_do_no_harm(server):
    for n in range(50):
        with Resp(server.redis_port) as c:
            try:
                c.raw(os.urandom(1 + 37 * n) + b"\r\n")
                c.socket.shutdown(socket.SHUT_WR)
                c.closed()
            except OSError:
                pass
    with Resp(server.redis_port) as c:
        assert c.call("PING") == "PONG"


def test_a_request_may_come_byte_by_byte(client):
    for byte in b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\na\r\n\r\nGET k\r\n":
        client.raw(bytes([byte]))
    assert client.read() == "OK" and client.read() == b"a\r\n"


def test_half_a_request_has_no_effect(server):
    with Resp(server.redis_port) as c:
        c.raw(b"*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$100\r\nabc")
    with Resp(server.redis_port) as c:
        assert c.call("GET", "half") is None


def test_limits_are_errors_not_ends(client):
    assert client.error("SET", b"k" * 32769, "v") == \
        "ERR key exceeds maximum allowed size (32768 bytes)"
    assert client.error("SETRANGE", "k", 68 * MIB, "v") == \
        "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
    assert client.error("INCRBY", "n", "9223372036854775808") == \
        "ERR value is not an integer or out of range"
    client.call("SET", "n", "9223372036854775807")
    assert client.error("INCR", "n") == "ERR increment or decrement would overflow"
    assert client.error("SET", "n", "1", "EX", "0") == "ERR invalid expire time in 'set' command"
    assert client.error("SET", "n", "1", "EX", "-5") == "ERR invalid expire time in 'set' command"
    assert client.error("SETBIT", "b", "4294967296", "1") == \
        "ERR bit offset is not an integer or out of range"
    assert client.error("GET") == "ERR wrong number of arguments for 'get' command"
    assert client.error("SELECT", "1") == "ERR DB index is out of range"
    assert client.call("KEYS", "[") == [] and client.call("PING") == "PONG"
    assert client.error("NOPE", "a", "b").startswith("ERR unknown command 'NOPE', with args")


def test_a_full_store_says_so():
    port = ephpm.free_port()
    conf = config(port, max_input_buffer=4 * MIB)
    conf["kv"].update(memory_limit="2MB", eviction_policy="noeviction")
    with ephpm.Server(conf, INDEX) as s, Resp(port) as c:
        answers = set()
        for i in range(100):
            c.send("SET", f"k{i}", b"x" * 60000)
            try:
                answers.add(c.read())
            except Exception as e:
                answers.add(str(e))
        assert answers == {"OK", "OOM command not allowed when used memory > 'maxmemory'."}
        assert c.call("GET", "k0") == b"x" * 60000
        assert s.get("/").text == "ok"


def test_who_does_not_read_is_closed(server):
    with Resp(server.redis_port) as c:
        assert c.call("SET", "big", b"x" * MIB) == "OK"
        c.raw(b"GET big\r\n" * 300)
        server.wait_log("redis_client_too_slow")
        assert c.closed()
    with Resp(server.redis_port) as c:
        assert c.call("PING") == "PONG"


def test_a_subscriber_that_does_not_read_is_closed_and_others_go_on(server):
    start = len(server.log())
    with Resp(server.redis_port) as lazy, Resp(server.redis_port) as other, \
            Resp(server.redis_port) as c:
        lazy.call("SUBSCRIBE", "news")
        other.call("SUBSCRIBE", "news")
        got = 0
        for _ in range(100):
            n = c.call("PUBLISH", "news", b"m" * (MIB // 2))
            assert other.read()[2] == b"m" * (MIB // 2)
            got += n
        assert c.call("PUBLISH", "news", b"end") == 1 and other.read()[2] == b"end"
        assert 100 < got < 200
        server.wait_log("redis_client_too_slow", start=start)


def test_too_many_clients_are_told(server):
    def connected():
        with Resp(server.redis_port) as c:
            return f"connected_clients:1\r".encode() in c.call("INFO", "clients")

    assert ephpm.wait_for(connected)
    clients = [Resp(server.redis_port) for _ in range(20)]
    try:
        for c in clients:
            assert c.call("PING") == "PONG"
        with Resp(server.redis_port) as c:
            with pytest.raises(Exception, match="ERR max number of clients reached"):
                c.read()
            assert c.closed()
    finally:
        for c in clients:
            c.close()
    assert ephpm.wait_for(connected)


def test_idle_clients_are_closed_and_subscribers_are_not():
    port = ephpm.free_port()
    with ephpm.Server(config(port, idle_timeout_secs=1), INDEX), Resp(port) as idle, \
            Resp(port) as subscriber, Resp(port) as half:
        subscriber.call("SUBSCRIBE", "x")
        half.raw(b"*2\r\n$3\r\nGET\r\n")
        began = time.monotonic()
        assert idle.closed() and half.closed()
        assert 0.9 < time.monotonic() - began < 4
        time.sleep(1.2)
        with Resp(port) as c:
            assert c.call("PUBLISH", "x", "still there") == 1
        assert subscriber.read() == [b"message", b"x", b"still there"]


def test_transactions_with_errors_are_not_run(client):
    client.call("DEL", "t")
    assert client.call("MULTI") == "OK"
    assert client.call("SET", "t", "1") == "QUEUED"
    assert client.error("NOPE").startswith("ERR unknown command")
    assert client.error("EXEC") == "EXECABORT Transaction discarded because of previous errors."
    assert client.call("EXISTS", "t") == 0
    assert client.error("EXEC") == "ERR EXEC without MULTI"


def test_resp3_has_maps_pushes_and_nulls(client):
    hello = client.call("HELLO", "3")
    assert hello[b"proto"] == 3 and hello[b"server"] == b"redis"
    assert client.call("GET", "missing") is None
    assert client.call("CONFIG", "GET", "maxclients") == {b"maxclients": b"20"}
    assert client.call("SUBSCRIBE", "c") == [b"subscribe", b"c", 1]
    assert client.call("PING") == "PONG"  # RESP3 lets a subscriber do anything
    assert client.error("HELLO", "4") == "NOPROTO unsupported protocol version"
