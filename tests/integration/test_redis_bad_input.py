# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Redis clients that send garbage, too much or too little, that do not read, or are too many."""
import os
import socket
import threading
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
    with ephpm.Server(config(port, idle_timeout_secs=2), INDEX):
        began = time.monotonic()
        with Resp(port) as idle, Resp(port) as subscriber, Resp(port) as half:
            subscriber.call("SUBSCRIBE", "x")
            half.raw(b"*2\r\n$3\r\nGET\r\n")
            assert idle.closed() and half.closed()
            assert time.monotonic() - began > 1.9
            time.sleep(0.5)
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


# --- what takes long ---------------------------------------------------------------------------

def served_meanwhile(server, client, send, read):
    """How many of another client's PINGs were answered while the client's request was worked on."""
    count, done = 0, threading.Event()

    def work():
        try:
            send(client)
            read(client)
        finally:
            done.set()

    thread = threading.Thread(target=work)
    with Resp(server.redis_port, timeout=60) as other:
        thread.start()
        while not done.is_set():
            other.call("PING")
            count += 1
        thread.join()
    return count


@pytest.mark.parametrize("command, answers", [
    ("SUBSCRIBE", 100000), ("PSUBSCRIBE", 100000), ("WATCH", 1)])
def test_names_by_the_hundred_thousand_do_not_stop_others(server, command, answers):
    with Resp(server.redis_port, timeout=60) as c:
        names = [f"name:{i}" for i in range(100000)]
        # Each name would take as long as there are names, and that would be minutes in one go.
        assert served_meanwhile(server, c, lambda c: c.send(command, *names),
                                lambda c: [c.read() for _ in range(answers)]) >= 2
    with Resp(server.redis_port) as c:
        assert c.call("PUBLISH", "name:5", "x") == 0  # they are gone with the client


def test_a_row_of_slow_commands_delays_others_by_one(server):
    with Resp(server.redis_port, timeout=60) as c:
        c.call("SET", "slow", b"x" * 4000)
        # One after each of them, or nearly; one or two if they were worked off in one go.
        assert served_meanwhile(server, c, lambda c: c.raw(b"LCS slow slow LEN\r\n" * 30),
                                lambda c: [c.read() for _ in range(30)]) >= 6
        # Their order stays, whatever came before and after.
        c.raw(b"SET n 1\r\n" + b"LCS slow slow LEN\r\nINCR n\r\n" * 5 + b"GET n\r\nQUIT\r\n")
        got = [c.read() for _ in range(13)]
        assert got == ["OK", *[x for i in range(5) for x in (4000, 2 + i)], b"6", "OK"]
        assert c.closed()


def test_a_client_that_leaves_in_the_middle_of_its_commands_does_no_harm(server):
    for _ in range(5):
        with Resp(server.redis_port) as c:
            c.call("SET", "slow", b"x" * 4000)
            c.raw(b"LCS slow slow LEN\r\n" * 100)
    with Resp(server.redis_port, timeout=60) as c:
        assert c.call("PING") == "PONG"


def test_commands_without_replies_are_bounded_too(server):
    with Resp(server.redis_port, timeout=60) as c, Resp(server.redis_port) as other:
        c.call("SET", "big", b"x" * 3 * MIB)
        c.send("CLIENT", "REPLY", "OFF")
        c.send("MGET", *["big"] * 10000)
        assert c.closed()
        assert other.call("PING") == "PONG"


def test_a_key_named_many_times_is_bounded(server):
    with Resp(server.redis_port, timeout=60) as c:
        c.call("SET", "big", b"x" * 3 * MIB)
        assert c.error("BITOP", "AND", "to", *["big"] * 10000) == \
            "ERR the values of BITOP are too large together"
        assert c.call("EXISTS", "to") == 0


def test_sort_that_would_give_too_much_is_refused(server):
    with Resp(server.redis_port, timeout=60) as c:
        c.call("DEL", "list")
        c.call("RPUSH", "list", *["x"] * 20000)
        gets = ["GET", "#"] * 50000
        error = "ERR SORT would look up or give too much"
        assert c.error("SORT", "list", "ALPHA", *gets) == error
        assert c.error("SORT", "list", "ALPHA", *gets, "STORE", "to") == error
        # Every element is looked up as the same large value.
        c.call("SET", "big_x", b"x" * MIB)
        assert c.error("SORT", "list", "ALPHA", "BY", "big_*") == error
        assert c.error("SORT", "list", "ALPHA", "GET", "big_*") == error
        assert c.error("SORT", "list", "ALPHA", "GET", "big_*", "STORE", "to") == error
        assert c.call("EXISTS", "to") == 0
        assert c.call("SORT", "list", "ALPHA", "LIMIT", "0", "2", "GET", "#") == [b"x", b"x"]


def test_a_pattern_that_takes_too_long_is_given_up(server):
    with Resp(server.redis_port, timeout=60) as c:
        for i in range(200):
            c.call("SET", b"a" * 32000 + b"%d" % i, "v")
        for command in ("KEYS", b"*" + b"a" * 16000 + b"b"), \
                       ("SCAN", "0", "COUNT", "1000", "MATCH", b"*" + b"a" * 16000 + b"b"):
            # Without end it would be minutes: the client does not wait for that.
            assert c.error(*command) == "ERR the pattern takes too long for these keys"
        c.call("FLUSHALL")
        assert c.error("PSUBSCRIBE", "a", b"*a" * 513) == \
            "ERR pattern exceeds maximum allowed size (1024 bytes)"
        assert c.error("PUBSUB", "CHANNELS", b"*a" * 513) == \
            "ERR pattern exceeds maximum allowed size (1024 bytes)"


def test_random_members_without_end_are_refused(server):
    with Resp(server.redis_port, timeout=60) as c:
        c.call("DEL", "h", "s", "z")
        c.call("HSET", "h", "f", "v")
        c.call("SADD", "s", "m")
        c.call("ZADD", "z", "1", "m")
        for command in ("HRANDFIELD", "h"), ("SRANDMEMBER", "s"), ("ZRANDMEMBER", "z"):
            assert c.error(*command, "-2147483648") == \
                "ERR value is out of range, at most 1048576 members may come repeatedly"
            assert len(c.call(*command, "-1000")) == 1000


def test_a_pattern_that_takes_too_long_for_members_is_given_up(server):
    with Resp(server.redis_port, timeout=60) as c:
        c.call("DEL", "s")
        for i in range(1000):
            c.call("SADD", "s", b"a" * 8000 + b"%d" % i)
        assert c.error("SSCAN", "s", "0", "COUNT", "9223372036854775807", "MATCH",
                       b"*" + b"a" * 4000 + b"b") == \
            "ERR the pattern takes too long for these members"
        assert c.call("SSCAN", "s", "0", "COUNT", "5000", "MATCH", b"*" + b"a" * 10 + b"1")[1]
        c.call("DEL", "s")
