# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Deploys by the Redis protocol: a version that a client sets makes a new generation."""
import hashlib
import hmac
import subprocess
import time

import pytest

import ephpm
from resp import Resp

REDIS = {"enabled": True, "listen": "127.0.0.1:0", "socket": "{dir}/redis.sock"}
CONFIG = {"kv": {"redis_compat": REDIS}}
PAGE = "<?php echo 'release {}';"
MANY = {"server": {"sites_dir": "{root}/sites"}, "php": {"workers_min": 1},
        "kv": {"secret": "s3cret", "redis_compat": {**REDIS, "password": "sesame"}}}
SITES = {"sites/alpha/index.php": PAGE, "sites/beta/index.php": PAGE, "index.php": PAGE}


def port(server):
    return server.wait_log(r"redis_listens listen=127.0.0.1:(\d+)")[1]


def redis(server):
    return Resp(server.dir / "redis.sock")


def active(server, site="default"):
    return ephpm.wait_for(lambda: [g["id"] for g in server.status()["generations"]
                                   if g["state"] == "active" and g["site"] == site], 10)[0]


def begun(server):
    return len(server.log_lines("deploy_began"))


def settle(server, least=0):
    """The number of operations, at least those, once no more begins."""
    ephpm.wait_for(lambda: begun(server) >= least)
    n, since = begun(server), time.monotonic()
    while time.monotonic() - since < 1.5:
        time.sleep(0.05)
        if begun(server) != n:
            n, since = begun(server), time.monotonic()
    return n


@pytest.mark.parametrize("name, before", [("default", ["SET"]), ("_default", ["SET"]), ("_all", ["SET"]),
                                          ("default", ["MSET", "other", "1"])])
def test_a_version_makes_a_generation(serve, name, before):
    s = serve(CONFIG, {"index.php": PAGE.format(1)})
    assert s.get("/").text == "release 1"
    s.write("index.php", PAGE.format(2))
    assert s.get("/").text == "release 1"
    with redis(s) as r:
        assert r.call(*before, f"opcache:version:{name}", "1700000000000") == "OK"
    assert ephpm.wait_for(lambda: s.get("/").text == "release 2")
    s.wait_log(f"deploy_announced site=default version=1700000000000")


def test_the_same_version_again_makes_none(serve):
    s = serve(CONFIG, {"index.php": PAGE.format(1)})
    with redis(s) as r:
        for _ in range(3):
            r.call("SET", "opcache:version:default", "7")
        assert settle(s, 2) == 2
        r.call("SET", "opcache:version:default", "7")
        r.call("SET", "opcache:revision:default", "x")
        r.call("DEL", "opcache:version:default")
        r.call("SET", "opcache:version:nosuch", "8")
        assert settle(s) == 2
        s.wait_log("deploy_event_ignored key=opcache:version:nosuch")
        r.call("INCR", "opcache:version:default")
        assert settle(s, 3) == 3


def test_a_burst_makes_few(serve):
    s = serve(CONFIG, {"index.php": PAGE.format(1)})
    before = begun(s)
    with redis(s) as r:
        for i in range(100):
            r.call("SET", "opcache:version:_default", i)
            time.sleep(0.002)
    s.write("index.php", PAGE.format(2))
    with redis(s) as r:
        r.call("SET", "opcache:version:_all", "last")
    assert ephpm.wait_for(lambda: s.get("/").text == "release 2")
    assert settle(s) - before <= 50  # what comes while one is made counts together
    s = serve(CONFIG, {"index.php": PAGE.format(1)})
    subprocess.run(["redis-cli", "-s", s.dir / "redis.sock"], check=True, stdout=subprocess.DEVNULL,
                   text=True, input="".join(f"SET opcache:version:_all {i}\n" for i in range(100)))
    assert 2 <= settle(s) <= 10


def test_broken_code_is_refused(serve):
    s = serve(CONFIG, {"index.php": PAGE.format(1)})
    assert s.get("/").text == "release 1"
    s.write("index.php", "<?php this is no PHP")
    with redis(s) as r:
        r.call("SET", "opcache:version:default", "1")
    s.wait_log("deploy_refused")
    assert s.get("/").text == "release 1"


def test_php_code_announces_nothing(serve):
    s = serve(CONFIG, {"index.php": "<?php ephpm_kv_set('opcache:version:default', 'x'); echo 1;"})
    assert s.get("/").text == "1"
    assert settle(s) == 1


def test_commands_reach_a_server_elsewhere(serve):
    s = serve({"kv": {"redis_compat": {**REDIS, "password": "sesame"}}},
              {"index.php": PAGE.format(1)})
    s.write("index.php", PAGE.format(2))
    where = ["--host", "127.0.0.1", "--port", port(s)]
    done = s.cli("deploy", *where)
    assert done.returncode == 1 and "NOAUTH" in done.stderr
    done = s.cli("deploy", *where, "--rev", "v2.0", env={"EPHPM_KV_PASSWORD": "sesame"})
    assert done.returncode == 0, done.stderr
    assert "opcache:version:_default" in done.stdout
    assert ephpm.wait_for(lambda: s.get("/").text == "release 2")
    assert s.cli("kv", "get", "opcache:revision:_default").stdout == "v2.0\n"
    s.write("index.php", PAGE.format(3))
    done = s.cli("cache", "reset", "--socket", str(s.dir / "redis.sock"), "--user", "default",
                 "--password", "sesame", "--all")
    assert done.returncode == 0 and "opcache:version:_all" in done.stdout
    assert ephpm.wait_for(lambda: s.get("/").text == "release 3")


def test_a_local_deploy_keeps_the_revision(serve):
    s = serve({}, {"index.php": PAGE.format(1)})
    assert s.cli("deploy", "--rev", "abc 123").returncode == 0
    assert s.cli("kv", "get", "opcache:revision:_default").stdout == "abc 123\n"
    s.wait_log('generation_active .*operation=deploy .*revision="abc 123"')
    s.write("index.php", "<?php broken(")
    assert s.cli("deploy", "--rev", "bad").returncode == 1
    assert s.cli("kv", "get", "opcache:revision:_default").stdout == "abc 123\n"
    s = serve({"kv": {"enabled": False}}, {"index.php": PAGE.format(1)})
    done = s.cli("deploy", "--rev", "x")
    assert done.returncode == 1 and "kv.enabled is false" in done.stderr


def test_sites(serve):
    s = serve(MANY, SITES)
    proof = hmac.new(b"s3cret", b"alpha", hashlib.sha256).hexdigest()
    for host in "alpha", "beta":
        s.get("/", headers={"Host": host})
    first = {site: active(s, site) for site in ("alpha", "beta", "default")}
    where = ["--port", port(s)]
    # A site may name itself alone; _all is itself then.
    done = s.cli("deploy", *where, "--user", "alpha", "--password", proof, "--site", "alpha")
    assert done.returncode == 0, done.stderr
    assert ephpm.wait_for(lambda: active(s, "alpha") > first["alpha"])
    s.cli("deploy", *where, "--user", "alpha", "--password", proof, "--site", "beta")
    s.wait_log("deploy_event_ignored key=opcache:version:beta client_of=alpha")
    second = active(s, "alpha")
    s.cli("deploy", *where, "--user", "alpha", "--password", proof, "--all")
    assert ephpm.wait_for(lambda: active(s, "alpha") > second)
    assert (active(s, "beta"), active(s)) == (first["beta"], first["default"])
    # The user default may name any.
    s.cli("deploy", *where, "--password", "sesame", "--site", "beta")
    assert ephpm.wait_for(lambda: active(s, "beta") > first["beta"])
    assert active(s) == first["default"]
    now = {site: active(s, site) for site in first}
    s.cli("deploy", *where, "--password", "sesame", "--all", "--rev", "9")
    assert ephpm.wait_for(lambda: all(active(s, x) > now[x] for x in now))


def test_no_way_to_deploy_is_said(serve):
    config = {"server": {"control_socket": ""}}
    s = serve(config, {"index.php": PAGE}, start=False)
    with open(s.log_path, "wb") as log:
        p = subprocess.Popen([ephpm.EPHPM, "serve", "-c", s.config_path], env=s.env, cwd=s.dir,
                             stdout=log, stderr=log)
    try:
        s.wait_log("only SIGHUP or a restart changes code")
        s.wait_log("serving .*control=none")
        done = s.cli("deploy")
        assert done.returncode == 1 and "server.control_socket is empty" in done.stderr
        done = s.cli("config", "check")
        assert "only SIGHUP or a restart changes code" in done.stderr
    finally:
        p.terminate()
        assert p.wait(20) == 0
