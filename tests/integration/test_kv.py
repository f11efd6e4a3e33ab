# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The key-value store of a site, over HTTP: one for all workers, and what it outlives."""
import os
import pathlib
import re
import signal
import threading
import time

import pytest

import ephpm

KV = """<?php
header('Content-Type: application/json');
$call = json_decode(file_get_contents('php://input'), true);
echo json_encode(['pid' => getmypid(), 'result' => ('ephpm_kv_' . $call[0])(...$call[1])]);
"""
HAS = "<?php var_dump(function_exists('ephpm_kv_get'));"
# Two of them end together.
BOTH = "<?php $n = ephpm_kv_incr('both'); while (ephpm_kv_get('both') < 2) usleep(2000); echo getmypid(), ' ', $n;"
# Writes for as long as it is let: values that say what they must be.
WRITE = """<?php
for ($i = 0; ; $i++) {
    $n = $i % 50;
    $bytes = str_repeat(chr(65 + $i % 26), 1000 + 100 * $n);
    ephpm_kv_set("torn:$n", md5($bytes) . $bytes);
    ephpm_kv_incr('rounds');
}
"""
CHECK = """<?php
$bad = 0;
foreach (ephpm_kv_keys('torn:', 1000) as $key) {
    $value = ephpm_kv_get($key);
    $bad += md5(substr($value, 32)) !== substr($value, 0, 32);
}
echo $bad, ' ', ephpm_kv_get('rounds');
"""
FILES = {"kv.php": KV, "has.php": HAS, "both.php": BOTH, "write.php": WRITE, "check.php": CHECK,
         "index.php": "<?php echo 'ok';"}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server({"php": {"max_execution_time": 60}}, FILES) as s:
        yield s


def call(server, name, *args, host="localhost"):
    r = server.post("/kv.php", ephpm.json.dumps([name, args]).encode(), headers={"Host": host})
    assert r.status == 200, r.text
    return ephpm.json.loads(r.text)["result"]


def segments(pid):
    """The stat of each store that a process has a descriptor of."""
    found = []
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            if "memfd:ephpm-kv" in os.readlink(fd):
                found.append(fd.stat())
        except FileNotFoundError:
            pass
    return found


def mapped(pid):
    return len(set(re.findall(r"(\d+)\s+/memfd:ephpm-kv", pathlib.Path(f"/proc/{pid}/maps")
                              .read_text())))


def test_all_workers_have_the_same_store(server):
    answers = [None, None]

    def ask(i):
        answers[i] = server.get("/both.php").text.split()

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert answers[0][0] != answers[1][0], "both ran in one worker"
    assert {a[1] for a in answers} == {"1", "2"}


def test_values_come_back_as_they_were(server):
    for value in "text", 12, 1.5, True, None, [1, {"a": "b"}]:
        assert call(server, "set", "value", value) is True
        assert call(server, "get", "value") == value
    assert call(server, "ttl", "value") == -1
    assert call(server, "expire", "value", 100) is True
    assert 50 < call(server, "ttl", "value") <= 100


@pytest.mark.parametrize("command", [["deploy"], ["cache", "reset"], ["reload"]])
def test_a_new_generation_has_the_same_store(server, command):
    before = server.status()["generations"][-1]["id"]
    call(server, "set", "kept", command[0])
    done = server.cli(*command)
    assert done.returncode == 0, done.stderr
    assert server.status()["generations"][-1]["id"] > before
    assert call(server, "get", "kept") == command[0]


def test_kills_in_the_middle_of_writes(serve):
    s = serve({"php": {"crash_loop_count": 1000}}, FILES)
    call(s, "set", "rounds", 0)
    killed, before = set(), 0
    for i in range(12):
        with s.connect() as c:
            c.send(b"GET /write.php HTTP/1.1\r\nHost: localhost\r\n\r\n")
            # It writes: a worker that is killed before it begins hands its request on.
            assert ephpm.wait_for(lambda: call(s, "get", "rounds") > before)
            busy = [w["pid"] for w in s.workers()
                    if "write" in w.get("uri", "") and w["pid"] not in killed]
            time.sleep(0.02 + 0.007 * i)
            os.kill(busy[0], signal.SIGKILL)
            killed.add(busy[0])
            assert c.read_response().status == 502
        bad, rounds = s.get("/check.php").text.split()
        assert bad == "0" and int(rounds) > before
        before = int(rounds)
    assert ephpm.wait_for(lambda: len(s.workers()) == 2)


def test_an_unused_store_costs_nothing(serve):
    s = serve({}, FILES)
    store, = segments(s.pid)
    assert store.st_size == 256 << 20
    assert store.st_blocks * 512 < 1 << 20, store
    call(s, "set", "big", "x" * (4 << 20))
    store, = segments(s.pid)
    assert 4 << 20 <= store.st_blocks * 512 < 8 << 20, store


def test_a_worker_has_no_descriptor_of_the_store(server):
    pids = [w["pid"] for w in server.workers()]
    pids.append(server.status()["generations"][-1]["prototype_pid"])
    assert len(pids) == 3
    for pid in pids:
        assert not segments(pid) and mapped(pid) == 1


def test_sites_have_stores_of_their_own(serve):
    s = serve({"server": {"sites_dir": "{root}/sites"}, "php": {"workers_min": 1}},
              {"kv.php": KV, "sites/alpha/kv.php": KV, "sites/beta/kv.php": KV})
    for host in "alpha", "beta", "localhost":
        assert call(s, "set", "mine", host, host=host) is True
        assert call(s, "set", f"only:{host}", 1, host=host) is True
    for host in "alpha", "beta", "localhost":
        assert call(s, "get", "mine", host=host) == host
        assert sorted(call(s, "keys", "", 100, host=host)) == ["mine", f"only:{host}"]
    assert len(segments(s.pid)) == 3
    assert all(mapped(w["pid"]) == 1 for w in s.workers())
    assert call(s, "flush_all", host="alpha") is True
    assert call(s, "get", "mine", host="beta") == "beta"
    assert s.cli("deploy", "--site", "beta").returncode == 0
    assert call(s, "get", "mine", host="beta") == "beta"


@pytest.mark.parametrize("policy", ["noeviction", "allkeys-lru", "volatile-lru", "allkeys-random"])
def test_eviction_policy(serve, policy):
    fill = """<?php
    $full = 0;
    for ($i = 0; $i < 4000; $i++)
        $full += !ephpm_kv_set("k$i", str_repeat('x', 4000));
    echo $full > 0 ? 'full' : 'fits', ' ', ephpm_kv_exists('k3999') ? 'there' : 'gone';
    """
    s = serve({"kv": {"memory_limit": "4MB", "eviction_policy": policy}}, {"fill.php": fill})
    evicts = policy.startswith("allkeys")
    assert s.get("/fill.php").text == ("fits there" if evicts else "full gone")


def test_a_server_without_stores(serve):
    s = serve({"kv": {"enabled": False}}, FILES)
    assert s.get("/has.php").text == "bool(false)\n"
    assert not segments(s.pid)


def test_dev_has_a_store(serve):
    s = serve({}, FILES, mode="dev")
    assert s.get("/has.php").text == "bool(true)\n"
    assert call(s, "incr", "n") == 1 and call(s, "incr", "n") == 2


def test_the_php_command_has_none(server):
    for command in ["php", "-r", "var_dump(function_exists('ephpm_kv_get'));"], ["cgi", "-v"]:
        done = ephpm.subprocess.run([ephpm.EPHPM, *command], capture_output=True, text=True)
        assert done.returncode == 0 and "bool(true)" not in done.stdout


def kv(server, site="default"):
    return {s["site"]: s for s in server.status()["kv"]["sites"]}[site]


def test_status_shows_the_stores(serve):
    s = serve({"kv": {"memory_limit": "8MB"}}, FILES)
    assert kv(s)["keys"] == 0 and kv(s)["memory"] == 8 << 20
    call(s, "set", "a", "x" * 100000)
    call(s, "get", "a")
    call(s, "get", "b")
    st = kv(s)
    assert (st["keys"], st["hits"], st["misses"], st["evicted"]) == (1, 1, 1, 0)
    assert 100000 <= st["used"] <= 200000
    text = s.cli("status").stdout
    assert re.search(r"store default  keys 1  memory \d+ KB of 8.0 MB  hits 1  misses 1  evicted 0  "
                     r"repaired 0\n", text), text


def test_expired_keys_go_by_themselves(serve):
    fill = "<?php for ($i = 0; $i < 20000; $i++) ephpm_kv_set(\"k$i\", 'x', $i < 19000 ? 1 : 0);"
    s = serve({"kv": {"memory_limit": "4MB"}}, {"fill.php": fill})
    s.get("/fill.php")
    assert ephpm.wait_for(lambda: kv(s)["expired"] > 500, 30, 0.5), kv(s)

    def together():
        now = kv(s)
        return now["keys"] + now["expired"] == 20000
    assert ephpm.wait_for(together), kv(s)


def role(server):
    return (server.status()["kv"] or {}).get("pid")


def test_a_dead_role_is_replaced_and_requests_go_on(serve):
    s = serve({}, FILES)
    call(s, "set", "kept", 1)
    first = role(s)
    for i in range(3):
        old = ephpm.wait_for(lambda: role(s))
        os.kill(old, signal.SIGKILL)
        assert call(s, "get", "kept") == 1
        assert ephpm.wait_for(lambda: role(s) not in (None, old))
    s.wait_log("role_died role=kv")
    assert kv(s)["keys"] == 1
    assert ephpm.family(s.pid).get(first) is None


def test_a_role_that_hangs_does_not_keep_status_from_answering(serve):
    s = serve({}, FILES)
    pid = role(s)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert s.status()["kv"] is None
        assert s.get("/").text == "ok"
        assert s.cli("deploy").returncode == 0
    finally:
        os.kill(pid, signal.SIGCONT)
    assert ephpm.wait_for(lambda: role(s) == pid)


def test_the_role_ends_with_the_server(serve):
    s = serve({}, FILES)
    pid = role(s)
    assert pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ephpm: kv")
    s.process.kill()
    assert ephpm.wait_for(lambda: not ephpm.alive(pid))
    s.kill()


def test_the_role_does_not_grow(serve):
    s = serve({"kv": {"memory_limit": "16MB"}}, FILES)
    pid = role(s)

    def anonymous():
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", text)[1])

    for _ in range(20):
        s.status()
    before = anonymous()
    for i in range(300):
        s.status()
    for i in range(3):
        assert s.cli("deploy").returncode == 0
    # (The address sanitizer keeps freed memory for a while: quarantine_size_mb of Server.)
    assert anonymous() <= before + (16384 if ephpm.SANITIZED else 200)


def redis(server, *command, port=None, args=()):
    """What redis-cli prints."""
    where = ["-p", str(port)] if port else ["-s", str(server.dir / "redis.sock")]
    done = ephpm.subprocess.run(["redis-cli", *where, *args, *command], text=True, timeout=60,
                                capture_output=True)
    return done.stdout.strip() or done.stderr.strip()


def redis_port(server):
    return int(server.wait_log(r"redis_listens listen=127.0.0.1:(\d+)")[1])


REDIS = {"enabled": True, "listen": "127.0.0.1:0", "socket": "{dir}/redis.sock"}


def test_redis_clients_see_what_php_sees(serve):
    s = serve({"kv": {"redis_compat": REDIS}}, FILES)
    port = redis_port(s)
    call(s, "set", "from:php", "text")
    assert redis(s, "get", "from:php", port=port) == redis(s, "get", "from:php") == "text"
    assert redis(s, "set", "from:redis", "12") == "OK"
    assert call(s, "get", "from:redis") == "12"
    assert call(s, "incr", "from:redis") == 13
    old = role(s)
    os.kill(old, signal.SIGKILL)
    assert ephpm.wait_for(lambda: role(s) not in (None, old))
    assert redis(s, "get", "from:redis", port=port) == "13"
    s.stop()
    assert not (s.dir / "redis.sock").exists()


def test_redis_password(serve):
    s = serve({"kv": {"redis_compat": {**REDIS, "password": "sesame"}}}, FILES)
    assert "NOAUTH" in redis(s, "get", "a")
    assert "WRONGPASS" in redis(s, "auth", "other")
    assert redis(s, "set", "a", "1", args=["--no-auth-warning", "-a", "sesame"]) == "OK"
    dump = s.cli("config").stdout
    assert "sesame" not in dump and "***" in dump


def test_redis_clients_of_many_sites(serve):
    import hashlib
    import hmac
    s = serve({"server": {"sites_dir": "{root}/sites"}, "php": {"workers_min": 1},
               "kv": {"secret": "s3cret", "redis_compat": REDIS}},
              {"sites/alpha/kv.php": KV, "sites/beta/kv.php": KV})

    def as_site(site, *command):
        proof = hmac.new(b"s3cret", site.encode(), hashlib.sha256).hexdigest()
        return redis(s, *command, args=["--no-auth-warning", "--user", site, "--pass", proof])

    for site in "alpha", "beta":
        call(s, "set", "mine", site, host=site)
    assert "NOAUTH" in redis(s, "get", "mine")
    assert as_site("alpha", "get", "mine") == "alpha"
    assert as_site("beta", "get", "mine") == "beta"
    assert "NOAUTH" in as_site("gamma", "get", "mine")


@pytest.mark.parametrize("key,value,text", [
    ("listen", "127.0.0.1:{port}", "kv.redis_compat.listen"),
    ("listen", "192.0.2.1:6379", "kv.redis_compat.listen"),
    ("socket", "/nowhere/redis.sock", "kv.redis_compat.socket"),
])
def test_no_place_for_redis_clients(serve, key, value, text):
    with ephpm.socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        value = value.replace("{port}", str(taken.getsockname()[1]))
        s = serve({"kv": {"redis_compat": {**REDIS, key: value}}}, FILES, start=False)
        done = s.cli("serve")
    assert done.returncode == 1 and text in done.stderr, done.stderr


@pytest.mark.parametrize("limit,text", [
    ("1MB", "2097152"), ("64GB", "34359738368"), (0, "2097152")])
def test_memory_limit_out_of_bounds(serve, limit, text):
    s = serve({"kv": {"memory_limit": limit}}, FILES, start=False)
    done = s.cli("serve")
    assert done.returncode == 1
    assert "kv.memory_limit" in done.stderr and text in done.stderr, done.stderr


def test_memory_limit_beyond_the_machine(serve):
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if total > 31 << 30:
        pytest.skip("a store as large as this machine's memory is out of bounds anyway")
    s = serve({"kv": {"memory_limit": total + (1 << 30)}}, FILES, start=False)
    done = s.cli("serve")
    assert done.returncode == 1
    assert "kv.memory_limit" in done.stderr and "of this machine" in done.stderr, done.stderr


def test_reload_says_what_needs_a_restart(serve):
    s = serve({"kv": {"memory_limit": "8MB"}}, FILES)
    call(s, "set", "kept", 1)
    s.write_config({"kv": {"memory_limit": "16MB", "eviction_policy": "noeviction"}})
    done = s.cli("reload")
    assert done.returncode == 0, done.stderr
    for key in "kv.memory_limit", "kv.eviction_policy":
        assert f"{key} changed: it needs a restart, the old value stays" in done.stderr
    assert call(s, "get", "kept") == 1
    assert segments(s.pid)[0].st_size == 8 << 20


@pytest.mark.parametrize("algorithm", ["gzip", "brotli", "zstd"])
def test_values_are_compressed(algorithm):
    config = {"kv": {"memory_limit": "2MB", "compression": algorithm, "compression_level": 3}}
    with ephpm.Server(config, FILES) as s:
        text = "the same again and again, " * 60000
        assert call(s, "set", "large", text)
        assert call(s, "get", "large") == text
        assert call(s, "set", "array", {"of": ["many", "words"] * 500})
        assert call(s, "get", "array") == {"of": ["many", "words"] * 500}
