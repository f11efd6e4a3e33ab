# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""ephpm kv: over the control socket, over TCP, over a Unix socket."""
import re
import threading
import time

import pytest

import ephpm

SET = "<?php ephpm_kv_set('from:php', 'text'); ephpm_kv_set('n', 40); echo 'ok';"
FILES = {"index.php": SET, "get.php": "<?php ephpm_kv_get('n'); ephpm_kv_get('no');"}
REDIS = {"enabled": True, "listen": "127.0.0.1:0", "socket": "{dir}/redis.sock",
         "password": "sesame"}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server({"kv": {"redis_compat": REDIS}}, FILES) as s:
        s.get("/")
        yield s


def port(server):
    return server.wait_log(r"redis_listens listen=127.0.0.1:(\d+)")[1]


def kv(server, *args, **more):
    done = server.cli("kv", *args, **more)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(params=["control", "tcp", "socket", "name"])
def way(request, server):
    """Flags that lead to the store."""
    return {"control": [],
            "tcp": ["--port", port(server), "--password", "sesame"],
            "socket": ["--socket", str(server.dir / "redis.sock"), "--password", "sesame"],
            "name": ["--host", "localhost", "--port", port(server), "--user", "default",
                     "--password", "sesame"]}[request.param]


def test_commands(server, way):
    assert kv(server, "ping", *way) == (0, "PONG\n", "")
    assert kv(server, "set", "a", "b c", *way) == (0, "OK\n", "")
    assert kv(server, "get", "a", *way) == (0, "b c\n", "")
    assert kv(server, "ttl", "a", *way) == (0, "-1\n", "")
    assert kv(server, "set", "a", "1", "--ttl", "100", *way) == (0, "OK\n", "")
    assert kv(server, "ttl", "a", *way)[1] in ("99\n", "100\n")
    assert kv(server, "incr", "a", *way) == (0, "2\n", "")
    assert kv(server, "incr", "a", "--by", "-5", *way) == (0, "-3\n", "")
    assert kv(server, "set", "b", "1", *way)[0] == 0
    assert kv(server, "keys", "[ab]", *way)[1].split() in (["a", "b"], ["b", "a"])
    assert kv(server, "del", "a", "b", "c", *way) == (0, "2\n", "")
    assert kv(server, "get", "from:php", *way) == (0, "text\n", "")
    assert set(kv(server, "keys", *way)[1].split()) == {"from:php", "n"}


def test_what_is_not_there(server, way):
    for command in "get", "ttl":
        assert kv(server, command, "no", *way) == (
            1, "", f"ephpm: kv {command}: there is no such key\n")
    assert kv(server, "del", "no", *way) == (0, "0\n", "")
    code, out, err = kv(server, "incr", "from:php", *way)
    assert (code, out) == (1, "") and "not an integer" in err


def test_words_like_flags(server):
    def run(*args):
        return ephpm.subprocess.run([ephpm.EPHPM, "-c", server.config_path, "kv", *args], text=True,
                                    env=server.env, cwd=server.dir, capture_output=True).stdout

    assert run("set", "--", "--ttl", "-5") == "OK\n"
    assert run("get", "--", "--ttl") == "-5\n"
    assert run("del", "--", "--ttl") == "1\n"


def test_many_keys(serve):
    s = serve({}, {"fill.php": "<?php for ($i = 0; $i < 5000; $i++) ephpm_kv_set(\"k$i\", 1);"})
    s.get("/fill.php")
    assert sorted(kv(s, "keys")[1].split()) == sorted(f"k{i}" for i in range(5000))


def test_large_values(server):
    value = "x" * 100000
    assert kv(server, "set", "large", value)[0] == 0
    assert kv(server, "get", "large")[1] == value + "\n"
    kv(server, "del", "large")


def test_password(server):
    where = ["--port", port(server)]
    code, _, err = kv(server, "get", "n", *where)
    assert code == 1 and "NOAUTH" in err
    code, _, err = kv(server, "get", "n", *where, "--password", "wrong")
    assert code == 1 and "WRONGPASS" in err
    assert kv(server, "get", "n", *where, env={"EPHPM_KV_PASSWORD": "sesame"})[1] == "40\n"


def test_top(server):
    stop = threading.Event()

    def load():
        while not stop.is_set():
            server.get("/get.php")

    t = threading.Thread(target=load)
    t.start()
    began = time.monotonic()
    code, out, err = kv(server, "top", "--count", "3")
    took = time.monotonic() - began
    stop.set()
    t.join()
    assert (code, err) == (0, "") and took >= 3
    lines, rates = out.splitlines(), []
    assert len(lines) == 3
    for line in lines:
        m = re.fullmatch(r"keys (\d+)  memory [\d.]+ KB of 256 MB  gets/s (\d+)  hit (?:([\d.]+)%|-)  "
                         r"commands/s \d+  evicted/s 0  clients \d+", line)
        assert m and int(m[1]) == 2, line
        if m[3]:
            rates.append((int(m[2]), float(m[3])))
    # Half of them hit; a line may begin or end between the two of a request.
    assert any(gets > 0 and 30 < hit < 70 for gets, hit in rates), out


def test_without_redis_compat_and_without_a_store(serve):
    s = serve({}, FILES)
    s.get("/")
    assert kv(s, "get", "n") == (0, "40\n", "")
    s = serve({"kv": {"enabled": False}}, {"index.php": "<?php echo 1;"})
    code, _, err = kv(s, "ping")
    assert code == 1 and "kv.enabled is false" in err


def test_sites(serve):
    s = serve({"server": {"sites_dir": "{root}/sites"}, "php": {"workers_min": 1}},
              {"sites/alpha/index.php": SET, "sites/beta/index.php": SET,
               "index.php": "<?php echo 1;"})
    for host in "alpha", "beta":
        s.get("/", headers={"Host": host})
    assert kv(s, "incr", "n", "--site", "alpha")[1] == "41\n"
    assert kv(s, "get", "n", "--site", "beta")[1] == "40\n"
    assert kv(s, "keys")[1] == ""
    code, _, err = kv(s, "get", "n", "--site", "gamma")
    assert code == 1 and 'no site "gamma" runs' in err


@pytest.mark.parametrize("args,text", [
    ([], "kv knows keys, get, set, del, incr, ttl, ping and top"),
    (["mget", "a"], "kv knows"),
    (["get"], "kv get KEY"),
    (["get", "a", "b"], "kv get KEY"),
    (["set", "a"], "kv set KEY VALUE"),
    (["del"], "kv del KEY..."),
    (["get", "a", "--ttl", "5"], "--ttl"),
    (["top", "--count", "0"], "--count"),
    (["ping", "--port", "0"], "--port"),
    (["ping", "--port", "x"], "--port"),
])
def test_wrong_command_lines(server, args, text):
    code, out, err = kv(server, *args)
    assert (code, out) == (2, "") and text in err, err


@pytest.mark.parametrize("args,text", [
    (["--port", "1"], "no server answers at 127.0.0.1 port 1"),
    (["--host", "no.such.host.invalid"], "no server answers at no.such.host.invalid"),
    (["--socket", "/nowhere/redis.sock"], "no server answers at /nowhere/redis.sock"),
])
def test_no_server(server, args, text):
    code, _, err = kv(server, "ping", *args)
    assert code == 1 and text in err, err


def test_flags_of_other_commands(server):
    for args in ["status", "--ttl", "5"], ["reload", "--host", "x"], ["deploy", "--by", "5"], [
            "serve", "--port", "80"], ["cache", "reset", "--rev", "1"]:
        done = server.cli(*args)
        assert done.returncode == 2 and args[-2] in done.stderr, done.stderr


def test_a_server_that_is_none(server):
    with ephpm.socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def answer():
            c, _ = listener.accept()
            with c:
                c.recv(1000)
                c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        t = threading.Thread(target=answer)
        t.start()
        code, _, err = kv(server, "ping", "--port", str(listener.getsockname()[1]))
        t.join()
    assert code == 1 and "not of the Redis protocol" in err


def test_the_example_of_the_documentation(serve):
    text = (ephpm.REPOSITORY / "docs/kv.md").read_text()
    s = serve({}, {"index.php": re.search(r"```php\n(.*?)```", text, re.S)[1]})
    first, second = s.get("/").text.splitlines(), s.get("/").text.splitlines()
    assert first[0] == "visit 1" and second[0] == "visit 2"
    assert first[1] == second[1] and first[1].startswith("made at ")
    assert sorted(kv(s, "keys")[1].split()) == ["news", "visits"]
    assert kv(s, "incr", "visits", "--by", "10")[1] == "12\n"
