# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Hashes, lists, sets and sorted sets: PHP and Redis clients see the same ones; the answers to random
commands are those of redis-server; clients that wait are woken."""
import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess

import pytest

import ephpm
from resp import Error, Resp

KV = """<?php
$call = json_decode(file_get_contents('php://input'), true);
echo json_encode(('ephpm_kv_' . $call[0])(...$call[1]));
"""
PHPREDIS = """<?php
$r = new Redis();
$r->connect(getenv('EPHPM_REDIS_HOST'), (int)getenv('EPHPM_REDIS_PORT'));
$r->hMSet('h', ['a' => 1, 'b' => 'two']);
$r->hIncrBy('h', 'a', 4);
$r->hIncrByFloat('h', 'f', 1.5);
ephpm_kv_hset('h', 'php', 7);
$all = $r->hGetAll('h');
ksort($all);
$out = [$all, ephpm_kv_hget('h', 'a'), $r->hLen('h'), $r->hExists('h', 'php')];
$r->rPush('l', 'a', 'b', 'c');
$r->lPush('l', 'x');
array_push($out, $r->lRange('l', 0, -1), $r->lPop('l'), $r->lIndex('l', 1), $r->lLen('l'));
$r->sAdd('s1', 'a', 'b', 'c');
$r->sAdd('s2', 'b', 'c', 'd');
$both = $r->sInter('s1', 's2');
sort($both);
array_push($out, $both, $r->sCard('s1'), $r->sIsMember('s1', 'z'));
$r->zAdd('z', 1, 'one', 3, 'three', 2, 'two');
array_push($out, $r->zRange('z', 0, -1, true), $r->zRank('z', 'two'),
    $r->zRangeByScore('z', '(1', '+inf'), $r->zPopMax('z'), $r->zIncrBy('z', 0.5, 'one'));
$seen = [];
$it = null;
for ($i = 0; $i < 1000; $i++)
    $r->sAdd('many', "m$i");
while (($some = $r->sScan('many', $it, '*', 100)) !== false)
    array_push($seen, ...$some);
$out[] = count(array_unique($seen));
$out[] = $r->lPush('h', 1);
$out[] = substr($r->getLastError(), 0, 9);
echo json_encode($out);
"""
FILES = {"kv.php": KV, "phpredis.php": PHPREDIS, "index.php": "<?php echo 'ok';"}
COMMANDS = 4000


@pytest.fixture(scope="module")
def server():
    port = ephpm.free_port()
    config = {"php": {"extensions": ["redis"]},
              "kv": {"redis_compat": {"enabled": True, "listen": f"127.0.0.1:{port}"}}}
    with ephpm.Server(config, FILES) as s:
        s.redis_port = port
        yield s


def kv(server, name, *args):
    r = server.post("/kv.php", ephpm.json.dumps([name, args]).encode())
    assert r.status == 200, r.text
    return ephpm.json.loads(r.text)


def test_php_and_clients_see_the_same_hash(server):
    with Resp(server.redis_port) as c:
        assert kv(server, "hset", "hash", "n", 5) is True
        assert kv(server, "hset", "hash", "list", [1, 2]) is True
        assert c.call("HINCRBY", "hash", "n", 2) == 7
        assert c.call("HSET", "hash", "cli", "text") == 1
        assert kv(server, "hget", "hash", "n") == 7
        assert kv(server, "hgetall", "hash") == {"n": 7, "list": [1, 2], "cli": "text"}
        assert c.call("HDEL", "hash", "list") == 1
        assert kv(server, "hdel", "hash", "cli") == 1
        assert kv(server, "get", "hash") is None
        c.call("RPUSH", "list", "a")
        assert kv(server, "hget", "list", "a") is None
        assert kv(server, "hset", "list", "a", 1) is False
        assert c.call("LRANGE", "list", 0, -1) == [b"a"]


def test_getex_gives_what_get_gives_and_nothing_changes_without(server):
    with Resp(server.redis_port) as c:
        for value in True, False, None, 5, 1.5, "text", [1]:
            assert kv(server, "set", "x", value) is True
            got = c.call("GET", "x")
            assert got and c.call("GETEX", "x", "EX", 100) == got
            assert 90 < c.call("TTL", "x") <= 100
            assert kv(server, "get", "x") == value
        c.call("DEL", "x")
        for make in (("RPUSH", "x", "a"), ("HSET", "x", "f", "v"), ("SADD", "x", "a"),
                     ("ZADD", "x", 1, "a")):
            c.call(*make)
            for option in ("EX", 100), ("PXAT", 1), ("PERSIST",):
                with pytest.raises(Error, match="WRONGTYPE"):
                    c.call("GETEX", "x", *option)
                assert c.call("TTL", "x") == -1
            c.call("DEL", "x")


def test_phpredis_works(server):
    r = server.get("/phpredis.php")
    assert r.status == 200, r.text
    assert ephpm.json.loads(r.text) == [
        {"a": "5", "b": "two", "f": "1.5", "php": "7"}, 5, 4, True,
        ["x", "a", "b", "c"], "x", "b", 3, ["b", "c"], 3, False,
        {"one": 1, "two": 2, "three": 3}, 1, ["two", "three"], {"three": 3}, 1.5, 1000, False,
        "WRONGTYPE"]


# --- waiting --------------------------------------------------------------------------------------

def blocked(client):
    return int(re.search(rb"blocked_clients:(\d+)", client.call("INFO", "clients"))[1])


def waits(client):
    client.socket.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        return client.read() and False
    client.socket.settimeout(60)
    client.file = client.socket.makefile("rb")
    return True


@pytest.mark.parametrize("command, write, answer", [
    (["BLPOP", "q1", "q2", "q2", "q1", 0], ["RPUSH", "q2", "x"], [b"q2", b"x"]),
    (["BRPOP", "q1", 0], ["RPUSH", "q1", "x", "y"], [b"q1", b"y"]),
    (["BLMOVE", "q1", "q1", "LEFT", "RIGHT", 0], ["RPUSH", "q1", "x"], b"x"),
    (["BRPOPLPUSH", "q1", "q2", 0], ["RPUSH", "q1", "x"], b"x"),
    (["BLMPOP", 0, 2, "q1", "q2", "LEFT", "COUNT", 5], ["RPUSH", "q2", "x", "y"],
     [b"q2", [b"x", b"y"]]),
    (["BZPOPMIN", "z1", "z2", 0], ["ZADD", "z2", 2, "b", 1, "a"], [b"z2", b"a", b"1"]),
    (["BZMPOP", 0, 1, "z1", "MAX"], ["ZADD", "z1", 1, "a"], [b"z1", [[b"a", b"1"]]]),
])
def test_who_waits_is_woken(server, command, write, answer):
    with Resp(server.redis_port) as waiting, Resp(server.redis_port) as c:
        c.call("DEL", "q1", "q2", "z1", "z2")
        waiting.send(*command)
        assert waits(waiting)
        # A key of another type is nothing to be woken by.
        c.call("SET", command[1] if command[1] else command[3], "string")
        assert waits(waiting)
        c.call("DEL", "q1", "q2", "z1", "z2")
        c.call(*write)
        assert waiting.read() == answer


def test_the_first_to_wait_is_the_first_to_get(server):
    with Resp(server.redis_port) as a, Resp(server.redis_port) as b, Resp(server.redis_port) as c:
        for client in a, b:
            before = blocked(c)
            client.send("BLPOP", "turn", 0)
            assert ephpm.wait_for(lambda: blocked(c) == before + 1)
        c.call("RPUSH", "turn", "1")
        assert a.read() == [b"turn", b"1"]
        assert waits(b)
        c.call("RPUSH", "turn", "2")
        assert b.read() == [b"turn", b"2"]
        b.send("BLPOP", "turn", 0.05)
        assert b.read() is None


# --- redis-server as the peer ---------------------------------------------------------------------

UNORDERED = {"hkeys", "hvals", "smembers", "sinter", "sunion", "sdiff"}


class Commands:
    """Random ones; most of their words make sense."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def key(self, kinds):
        if self.random.random() < 0.03:
            kinds = "hlszk"
        return self.random.choice(kinds) + str(self.random.randrange(3))

    def keys(self, kinds):
        return [self.key(kinds) for _ in range(self.random.randrange(1, 4))]

    def counted(self, kinds):
        keys = self.keys(kinds)
        n = len(keys) if self.random.random() < 0.95 else self.random.choice([0, -1, 10, "x"])
        return [n, *keys]

    def member(self):
        return f"m{self.random.randrange(self.random.choice([4, 30]))}"

    def value(self):
        return self.random.choice([f"v{self.random.randrange(10)}", "7", "1.5", "", "x" * 50])

    def int(self):
        return self.random.choice([0, 1, -1, 2, 3, -3, 5, 10, -100, 100, "x", 2**63 - 1])

    def score(self):
        some = [0, 1, 2, 3, -1, 1.5, 0.1, "inf", "-inf", "1e3", self.random.randrange(-10, 10)]
        return self.random.choice(some + (["nan", "abc"] if self.random.random() < 0.1 else []))

    def bound(self):
        return self.random.choice(["-inf", "+inf", "(1", "(2.5", self.score(), self.score()])

    def lex(self):
        return self.random.choice(["-", "+", "[m1", "(m1", "[m2", "(m20", "[m", "x", "["])

    def end(self):
        return self.random.choice(["LEFT", "RIGHT", "left"])

    def maybe(self, chance, *words):
        return list(words) if self.random.random() < chance else []

    def limit(self):
        return self.maybe(.3, "LIMIT", self.int(), self.int())

    def many(self, one):
        return [w for _ in range(self.random.randrange(1, 4)) for w in one()]

    def hash(self):
        k, m = self.key("h"), self.member()
        return self.random.choice([
            ["hset", k, *self.many(lambda: [self.member(), self.value()]), *self.maybe(.03, "odd")],
            ["hmset", k, m, self.value()], ["hsetnx", k, m, self.value()], ["hget", k, m],
            ["hmget", k, m, self.member()], ["hdel", k, m, self.member()], ["hlen", k],
            ["hexists", k, m], ["hkeys", k], ["hvals", k], ["hgetall", k], ["hstrlen", k, m],
            ["hincrby", k, m, self.int()], ["hscan", k, 0, "count", 1000],
            ["hincrbyfloat", k, m, self.random.choice(["1.5", "-2.25", "3e2", "inf", "x"])],
            ["hrandfield", "none", *self.maybe(.5, self.int()), *self.maybe(.3, "withvalues")]])

    def list(self):
        k, v = self.key("l"), self.value()
        count = self.maybe(.3, "COUNT", self.int())
        return self.random.choice([
            ["lpush", k, v, self.value()], ["rpush", k, v, self.value()], ["lpushx", k, v],
            ["rpushx", k, v], ["lpop", k, *self.maybe(.3, self.int())],
            ["rpop", k, *self.maybe(.3, self.int())], ["llen", k], ["lindex", k, self.int()],
            ["lset", k, self.int(), v], ["lrange", k, self.int(), self.int()],
            ["linsert", k, self.random.choice(["before", "AFTER", "x"]), v, self.value()],
            ["lrem", k, self.int(), v], ["ltrim", k, 0, self.random.choice([-1, self.int()])],
            ["lpos", k, v, *self.maybe(.3, "RANK", self.int()), *count,
             *self.maybe(.3, "MAXLEN", self.int())],
            ["lmove", k, self.key("l"), self.end(), self.end()], ["rpoplpush", k, self.key("l")],
            ["lmpop", *self.counted("l"), self.end(), *count],
            ["blpop", *self.keys("l"), self.random.choice([0.01, -1, "x"])],
            ["blmove", k, self.key("l"), self.end(), self.end(), 0.01],
            ["blmpop", 0.01, *self.counted("l"), self.end(), *count]])

    def set(self):
        k, m = self.key("s"), self.member()
        return self.random.choice([
            ["sadd", k, m, self.member()], ["sadd", k, m, self.member(), self.member()],
            ["srem", k, m, self.member()], ["sismember", k, m], ["smismember", k, m, "x"],
            ["smembers", k], ["scard", k], ["smove", k, self.key("s"), m],
            ["sscan", k, 0, "count", 1000], ["spop", "none", *self.maybe(.5, self.int())],
            ["srandmember", "none", *self.maybe(.5, self.int())], ["sinter", *self.keys("s")],
            ["sunion", *self.keys("s")], ["sdiff", *self.keys("s")],
            ["sinterstore", k, *self.keys("s")], ["sunionstore", k, *self.keys("s")],
            ["sdiffstore", k, *self.keys("s")],
            ["sintercard", *self.counted("s"), *self.maybe(.3, "LIMIT", self.int())]])

    def zset(self):
        k, m, pair = self.key("z"), self.member(), [self.bound(), self.bound()]
        scores = self.maybe(.3, "WITHSCORES")
        options = [w for w in ("NX", "XX", "GT", "LT", "CH", "INCR") if self.random.random() < .1]
        pairs = self.many(lambda: [self.score(), self.member()])
        return self.random.choice([
            ["zadd", k, *options, *pairs], ["zadd", k, *pairs], ["zadd", k, *pairs],
            ["zrem", k, m, self.member()], ["zscore", k, m], ["zmscore", k, m, "x"],
            ["zincrby", k, self.score(), m], ["zcard", k], ["zcount", k, *pair], ["zrank", k, m],
            ["zrevrank", k, m], ["zrange", k, self.int(), self.int(), *self.maybe(.3, "REV"),
                                 *self.limit(), *scores],
            ["zrange", k, *pair, "BYSCORE", *self.maybe(.3, "REV"), *self.limit(), *scores],
            ["zrangestore", k, self.key("z"), *pair, "BYSCORE", *self.limit()],
            ["zrevrange", k, self.int(), self.int(), *scores],
            ["zrangebyscore", k, *pair, *self.limit(), *scores],
            ["zrevrangebyscore", k, *pair, *self.limit(), *scores],
            ["zremrangebyrank", k, self.int(), self.int()], ["zremrangebyscore", k, *pair],
            ["zpopmin", k, *self.maybe(.3, self.int())], ["zpopmax", k, *self.maybe(.3, self.int())],
            ["zmpop", *self.counted("z"), self.random.choice(["MIN", "max", "x"])],
            ["bzpopmin", *self.keys("z"), 0.01], ["zscan", k, 0, "count", 1000],
            ["zrandmember", "none", *self.maybe(.5, self.int())]])

    def lex_set(self):
        k, pair = f"y{self.random.randrange(3)}", [self.lex(), self.lex()]
        return self.random.choice([
            ["zadd", k, 0, self.member(), 0, self.member()], ["zrangebylex", k, *pair, *self.limit()],
            ["zrevrangebylex", k, *pair, *self.limit()], ["zlexcount", k, *pair],
            ["zrange", k, *pair, "BYLEX", *self.maybe(.3, "REV"), *self.limit()],
            ["zremrangebylex", k, *pair]])

    def zset_many(self):
        keys = self.keys("zs" if self.random.random() < .2 else "z")
        op = self.random.choice(["zunion", "zinter", "zdiff"])
        options = []
        if op != "zdiff" or self.random.random() < .05:
            options = self.maybe(.3, "WEIGHTS", *(self.score() for _ in keys))
            options += self.maybe(.3, "AGGREGATE", self.random.choice(["sum", "MIN", "max", "x"]))
        return self.random.choice([
            [op, len(keys), *keys, *options, *self.maybe(.5, "WITHSCORES")],
            [op + "store", self.key("z"), len(keys), *keys, *options],
            ["zintercard", *self.counted("z"), *self.maybe(.3, "LIMIT", self.int())]])

    def any_type(self):
        k = self.key("hlsz")
        return self.random.choice([
            ["rename", k, self.key("hlsz")], ["copy", k, self.key("hlsz"), *self.maybe(.5, "REPLACE")],
            ["del", k], ["type", k], ["exists", k], ["get", self.key("hlszk")],
            ["append", self.key("k"), "x"], ["incr", self.key("k")], ["strlen", self.key("k")],
            ["getrange", self.key("k"), 0, -1], ["setrange", self.key("k"), 1, "yy"]])

    def next(self):
        command = self.random.choice([self.hash, self.list, self.set, self.zset, self.zset,
                                      self.lex_set, self.zset_many, self.any_type])()
        return command[:-1] if self.random.random() < .01 else command


@pytest.fixture(scope="module")
def redis_server():
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server")
    port = ephpm.free_port()
    process = subprocess.Popen(["redis-server", "--port", str(port), "--save", "", "--bind",
                                "127.0.0.1"], stdout=subprocess.DEVNULL)

    def answers():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True

    try:
        assert ephpm.wait_for(answers)
        yield port
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait()


def normal(name, reply):
    """What does not depend on the order of members."""
    if isinstance(reply, Error):
        return f"-{reply}"
    if name in ("hscan", "sscan", "zscan") and isinstance(reply, list):
        return sorted(reply[1])
    if name == "hgetall" and isinstance(reply, list):
        return dict(zip(reply[::2], reply[1::2], strict=True))
    return sorted(reply) if name in UNORDERED and isinstance(reply, list) else reply


@pytest.mark.parametrize("seed, version", [(1, 2), (2, 2), (3, 3), (4, 3)])
def test_random_commands_are_answered_as_redis_does(server, redis_server, seed, version):
    commands = Commands(seed)
    with Resp(server.redis_port) as ours, Resp(redis_server) as theirs:
        for c in ours, theirs:
            c.call("HELLO", version)
            c.call("FLUSHALL")
        for i in range(COMMANDS):
            words = commands.next()
            replies = []
            for c in ours, theirs:
                c.send(*words)
                replies.append(normal(words[0], c._item()))
            assert replies[0] == replies[1], f"command {i} of seed {seed}: {words}"
