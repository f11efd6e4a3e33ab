# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Redis clients and PHP see the same keys: redis-cli, phpredis, Predis; sites, passwords, restarts."""
import hashlib
import hmac
import os
import signal
import subprocess

import pytest

import ephpm
from resp import Resp
from test_php_extensions import folder

KV = """<?php
$call = json_decode(file_get_contents('php://input'), true);
echo json_encode(('ephpm_kv_' . $call[0])(...$call[1]));
"""
ENV = """<?php
foreach (['HOST', 'PORT', 'SOCKET', 'USERNAME', 'PASSWORD'] as $name)
    echo $name, '=', getenv("EPHPM_REDIS_$name"), "\\n";
"""
CONNECT = """
$auth = getenv('EPHPM_REDIS_PASSWORD');
$user = getenv('EPHPM_REDIS_USERNAME');
"""
PHPREDIS = "<?php" + CONNECT + """
$r = new Redis();
$r->connect(getenv('EPHPM_REDIS_HOST'), (int)getenv('EPHPM_REDIS_PORT'));
if ($auth !== false && $auth !== '')
    $r->auth([$user, $auth]);
ephpm_kv_set('native', 41);
$out = [$r->ping(), $r->incr('native'), ephpm_kv_get('native'), $r->set('phpredis', "a\\0b"),
    bin2hex(ephpm_kv_get('phpredis')), $r->set('short', 'x', ['nx', 'ex' => 100]),
    $r->ttl('short') > 98, $r->set('short', 'y', ['nx']), $r->mget(['native', 'nope']),
    $r->mset(['m1' => '1', 'm2' => '2']), $r->del('m1', 'm2'), $r->exists('short')];
$it = null;
$keys = [];
while (($some = $r->scan($it, 'phpr*')) !== false)
    array_push($keys, ...$some);
$out[] = $keys;
$r->watch('native');
ephpm_kv_incr('native');
$out[] = $r->multi()->get('native')->exec();
$out[] = $r->multi()->get('native')->incr('native')->exec();
$out[] = $r->multi(Redis::PIPELINE)->set('p', 1)->incrByFloat('p', 0.5)->get('p')->exec();
try {
    $r->rawCommand('nope');
} catch (RedisException $e) {
    $out[] = $e->getMessage();
}
$out[] = $r->getLastError();
$out[] = $r->info('server')['redis_version'];
echo json_encode($out);
"""
PREDIS = "<?php require 'Predis/Autoloader.php'; Predis\\\\Autoloader::register();".replace("\\\\", "\\") + CONNECT + """
$c = new Predis\\Client(['scheme' => 'unix', 'path' => getenv('EPHPM_REDIS_SOCKET')]
    + ($auth ? ['username' => $user, 'password' => $auth] : []));
$c->set('predis', 'v');
$out = [(string)$c->ping(), ephpm_kv_get('predis'), $c->incrby('pn', 5), $c->get('nope'),
    $c->pipeline(function ($p) { $p->set('a', 1); $p->incr('a'); $p->get('a'); })[2]];
$out[] = $c->transaction(function ($t) { $t->incr('a'); $t->incr('a'); });
try {
    $c->executeRaw(['nope']);
    $c->incr('predis');
} catch (Predis\\Response\\ServerException $e) {
    $out[] = $e->getMessage();
}
echo json_encode($out);
"""
FILES = {"kv.php": KV, "env.php": ENV, "phpredis.php": PHPREDIS, "predis.php": PREDIS,
         "index.php": "<?php echo 'ok';"}


HAS_PHPREDIS = (folder() / "redis.so").exists()


def mac(secret, site):
    return hmac.new(secret.encode(), site.encode(), hashlib.sha256).hexdigest()


def config(port, **redis):
    return {"php": {"extensions": ["redis"] if HAS_PHPREDIS else []},
            "kv": {"redis_compat": {"enabled": True, "listen": f"127.0.0.1:{port}",
                                    "socket": "{dir}/redis.sock", **redis}}}


@pytest.fixture(scope="module")
def server():
    port = ephpm.free_port()
    with ephpm.Server(config(port, password="pass word"), FILES) as s:
        s.redis_port = port
        yield s


def kv(server, name, *args):
    r = server.post("/kv.php", ephpm.json.dumps([name, args]).encode())
    assert r.status == 200, r.text
    return ephpm.json.loads(r.text)


def cli(server, *args, stdin=None, auth=True):
    words = ["redis-cli", "-p", str(server.redis_port)]
    if auth:
        words += ["-a", "pass word", "--no-auth-warning"]
    r = subprocess.run([*words, *args], input=stdin, capture_output=True, text=True, timeout=60)
    return r.stdout


def test_php_is_told_how_to_reach_it(server):
    assert server.get("/env.php").text == (
        f"HOST=127.0.0.1\nPORT={server.redis_port}\nSOCKET={server.dir}/redis.sock\n"
        "USERNAME=default\nPASSWORD=pass word\n")


def test_redis_cli_and_php_see_the_same_keys(server):
    kv(server, "set", "int", 7)
    kv(server, "set", "float", 0.5)
    assert cli(server, "incrby", "int", "3") == "10\n"
    assert cli(server, "get", "float") == "0.5\n"
    assert kv(server, "get", "int") == 10
    assert cli(server, "set", "from-cli", "x", "px", "100000") == "OK\n"
    assert kv(server, "get", "from-cli") == "x" and kv(server, "ttl", "from-cli") > 95
    kv(server, "del", "from-cli")
    assert cli(server, "exists", "from-cli") == "0\n"
    assert cli(server, "get", "int", auth=False).startswith("NOAUTH")
    assert cli(server, "-3", "hello", "3").count("proto")
    assert cli(server, "--scan", "--pattern", "fl*") == "float\n"
    assert "redis_version:7" in cli(server, "info")
    assert cli(server, stdin="set q \"a b\\n\"\nget q\n") == "OK\na b\n\n"
    many = "".join(f"*3\r\n$3\r\nSET\r\n${len(f'b{i}')}\r\nb{i}\r\n$1\r\nx\r\n" for i in range(1000))
    assert "replies: 1000" in cli(server, "--pipe", stdin=many)


@pytest.mark.skipif(not HAS_PHPREDIS, reason="there is no phpredis for this PHP")
def test_phpredis_works(server):
    r = server.get("/phpredis.php")
    assert r.status == 200, r.text
    assert ephpm.json.loads(r.text) == [
        True, 42, 42, True, "610062", True, True, False, ["42", False], True, 2, 1, ["phpredis"],
        False, ["43", 44], [True, 1.5, "1.5"],
        "ERR unknown command 'nope', with args beginning with: ", "7.0.15"]


def test_predis_works_on_the_unix_socket(server):
    r = server.get("/predis.php")
    assert r.status == 200, r.text
    assert ephpm.json.loads(r.text) == [
        "PONG", "v", 5, None, "2", [3, 4], "ERR value is not an integer or out of range"]


def test_transactions_notice_what_php_changes(server):
    with Resp(server.redis_port, "pass word") as c:
        c.call("SET", "watched", "1")
        c.call("WATCH", "watched")
        kv(server, "set", "watched", "2")
        assert c.call("MULTI") == "OK" and c.call("GET", "watched") == "QUEUED"
        assert c.call("EXEC") is None


def test_clients_come_back_after_the_role_died(server):
    with Resp(server.redis_port, "pass word") as c:
        c.call("SET", "kept", "1")
        pid = server.status()["kv"]["pid"]
        os.kill(pid, signal.SIGKILL)
        assert c.closed()
    assert ephpm.wait_for(lambda: (server.status().get("kv") or {}).get("pid") not in (None, pid))
    with Resp(server.redis_port, "pass word") as c:
        assert c.call("GET", "kept") == b"1"


def test_sites_prove_themselves_and_are_apart(tmp_path):
    port = ephpm.free_port()
    conf = config(port)
    conf["kv"]["secret"] = "geheim"
    conf["server"] = {"sites_dir": "{root}/sites"}
    files = {f"sites/{n}/{k}": v for n in ("alpha", "beta") for k, v in FILES.items()}
    with ephpm.Server(conf, {**files, "index.php": "<?php echo 'default';"}) as s:
        for site in ("alpha", "beta"):
            assert s.post("/kv.php", ephpm.json.dumps(["set", ["who", site]]).encode(),
                          headers={"Host": site}).status == 200
        env = s.get("/env.php", headers={"Host": "alpha"}).text
        assert f"USERNAME=alpha\nPASSWORD={mac('geheim', 'alpha')}\n" in env
        with Resp(port) as c:
            assert c.error("GET", "who").startswith("NOAUTH")
            assert c.error("AUTH", "alpha", mac("geheim", "beta")).startswith("WRONGPASS")
            assert c.error("AUTH", "gamma", mac("geheim", "gamma")).startswith("LOADING")
            for site in ("alpha", "beta"):
                assert c.call("AUTH", site, mac("geheim", site)) == "OK"
                assert c.call("GET", "who") == site.encode()
            # Messages do not leave the site either.
            with Resp(port) as other:
                other.call("AUTH", "alpha", mac("geheim", "alpha"))
                other.call("SUBSCRIBE", "x")
                assert c.call("PUBLISH", "x", "m") == 0
        if HAS_PHPREDIS:
            assert s.get("/phpredis.php", headers={"Host": "alpha"}).status == 200


@pytest.mark.parametrize("redis, message", [
    ({"listen": ""}, "kv.redis_compat.listen is empty"),
    ({"socket": "/nowhere/redis.sock"}, "kv.redis_compat.socket: /nowhere/redis.sock"),
    ({"listen": "192.0.2.1:6379"}, "kv.redis_compat.listen: 192.0.2.1:6379"),
])
def test_what_cannot_be_listened_on_is_named(redis, message):
    conf = config(ephpm.free_port(), **redis)
    if redis.get("listen") == "":
        del conf["kv"]["redis_compat"]["socket"]
    s = ephpm.Server(conf, {"index.php": ""}, start=False)
    try:
        with pytest.raises(AssertionError, match="exited with 1"):
            s.start()
        assert message in s.log()
    finally:
        s.kill()
        ephpm.shutil.rmtree(s.dir, ignore_errors=True)


def test_an_open_port_without_password_is_warned_about():
    port = ephpm.free_port()
    conf = config(port)
    conf["kv"]["redis_compat"]["listen"] = f"0.0.0.0:{port}"
    with ephpm.Server(conf, FILES) as s:
        s.wait_log("redis_open_to_all")
        assert "HOST=127.0.0.1\n" in s.get("/env.php").text
