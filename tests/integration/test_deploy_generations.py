# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Deploys: one generation takes over from the other, or nothing happens at all."""
import json
import os
import pathlib
import re
import signal
import socket
import threading
import time

import pytest

from ephpm import SANITIZED, wait_for
from httpc import Connection, build
from scripts import HELD, gate

# The release says its number from four files; they must agree, and so must DOCUMENT_ROOT.
PAGE = """<?php
$a = require __DIR__ . '/one.php';
usleep(random_int(0, 4000));
$b = require __DIR__ . '/lib/two.php';
usleep(random_int(0, 4000));
$c = (require $_SERVER['DOCUMENT_ROOT'] . '/lib/three.php')();
echo "$a $b $c ", %d, ' ', basename(dirname($_SERVER['DOCUMENT_ROOT'])),
    ' ', $_SERVER['EPHPM_GENERATION'];
"""


def write_release(base, number, **extra):
    """A release folder; returns its path."""
    top = base / "releases" / f"r{number}" / "public"
    files = {"index.php": PAGE % number, "one.php": f"<?php return {number};",
             "lib/two.php": f"<?php return {number};",
             "lib/three.php": f"<?php return function () {{ return {number}; }};",
             "slow.php": f"<?php usleep((int)($_GET['ms'] * 1000)); echo {number};",
             "held.php": HELD.replace("'held ', getmypid()", str(number)),
             "gen.php": "<?php echo $_SERVER['EPHPM_GENERATION'];",
             "upload.php": f"<?php echo {number}, ' ', strlen(file_get_contents('php://input'));",
             "stats.php": "<?php $s = opcache_get_status(); echo json_encode([$s['memory_usage'],"
                          "$s['opcache_statistics']['num_cached_scripts']]);", **extra}
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top.parent


def point(base, release):
    """current -> release, at once."""
    new = base / "current.new"
    new.symlink_to(release)
    new.rename(base / "current")


class Site:
    """A server whose document root is current/public, current being a link."""

    def __init__(self, serve, config=None, **extra):
        php = {"workers": 3, "workers_min": 3, **(config or {}).pop("php", {})}
        cfg = {"php": php, "server": {"document_root": "{dir}/current/public"}}
        for k, v in (config or {}).items():
            cfg[k] = {**cfg.get(k, {}), **v}
        self.s = serve(cfg, start=False)
        self.base = self.s.dir
        self.release(1, **extra)
        self.s.start()

    def release(self, number, **extra):
        point(self.base, write_release(self.base, number, **extra))

    def deploy(self):
        return self.s.cli("deploy")

    def generations(self):
        return self.s.status()["generations"]

    def only(self, n=1):
        return wait_for(lambda: len(self.generations()) == n)


@pytest.fixture
def site(serve):
    return Site(serve)


class Load:
    """Clients that ask as fast as they can and check each page."""

    def __init__(self, address, clients, target="/"):
        self.stop, self.bad, self.seen, self.n = False, [], set(), 0
        lock = threading.Lock()

        def run():
            c = None
            while not self.stop and len(self.bad) < 20:
                try:
                    c = c or Connection(address)
                    r = c.request("GET", target)
                    words = r.text.split()
                    fine = r.status == 200 and len(set(words[:4])) == 1 and words[4] == "r" + words[0]
                    with lock:
                        self.n += 1
                        if fine:
                            self.seen.add((int(words[0]), int(words[5])))
                        else:
                            self.bad.append(r)
                    if not r.keep_alive:
                        c.close()
                        c = None
                except Exception as e:  # noqa: BLE001 (no request may fail)
                    self.bad.append(e)
                    if c:
                        c.close()
                    c = None
            if c:
                c.close()

        self.threads = [threading.Thread(target=run, daemon=True) for _ in range(clients)]
        for t in self.threads:
            t.start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop = True

    def end(self):
        self.stop = True
        for t in self.threads:
            t.join(90)
            assert not t.is_alive()
        return self


def test_deploys_under_load_lose_and_mix_nothing(serve):
    site = Site(serve, {"php": {"workers": 4, "workers_min": 2}})
    with Load(site.s.address, 50) as load:
        for number in range(2, 22):
            site.release(number)
            p = site.deploy()
            assert p.returncode == 0, p.stderr
            # What is asked from now on is answered by the new release.
            assert site.s.get("/").text.split()[0] == str(number)
    load.end()
    assert not load.bad, load.bad[:3]
    assert load.n > 300 and {r for r, _ in load.seen} >= set(range(2, 22))
    assert len({g for _, g in load.seen}) >= 20
    assert not site.s.log_lines(" error ")
    assert site.only(), site.generations()


def test_release_with_a_parse_error_is_refused(site):
    site.s.get("/"), site.s.get("/gen.php")
    site.release(2, **{"lib/two.php": "<?php\n\nreturn 2 2;\n"})
    p = site.deploy()
    assert p.returncode == 1
    assert re.search(r"two\.php.*line 3|two\.php:3", p.stderr), p.stderr
    assert site.s.get("/").text.startswith("1 1 1 1 r1 ")
    assert site.only() and site.generations()[0]["state"] == "active"
    site.release(3)
    assert site.deploy().returncode == 0
    assert site.s.get("/").text.startswith("3 3 3 3 r3 ")


def test_release_that_dies_on_its_first_page_is_refused(site):
    site.release(2, **{"index.php": "<?php\necho 'x';\nundefined_function();"})
    p = site.deploy()
    assert p.returncode == 1
    assert "undefined_function" in p.stderr and "index.php" in p.stderr, p.stderr
    assert re.search(r"index\.php(:| on line |\()3", p.stderr), p.stderr
    assert site.s.get("/").text.startswith("1 1 1 1 r1 ")


@pytest.mark.parametrize("code, says", [
    ("<?php http_response_code(503); echo 'maintenance';", "503"),
    ("<?php posix_kill(getmypid(), 9);", "502"),
    ("<?php sleep(60);", "deploy.timeout"),
])
def test_release_that_fails_its_check_is_refused(serve, code, says):
    site = Site(serve, {"deploy": {"timeout": 4}})
    site.release(2, **{"index.php": code})
    p = site.deploy()
    assert p.returncode == 1 and says in p.stderr, p.stderr
    assert site.s.get("/").text.startswith("1 ")
    assert site.only(), site.generations()


def test_deploy_without_the_root_is_refused(site):
    (site.base / "current").unlink()
    p = site.deploy()
    assert p.returncode == 1 and "document_root" in p.stderr
    assert site.s.get("/").text.startswith("1 ")


def test_long_request_ends_in_its_own_generation(site):
    answers = []

    def ask():
        with site.s.connect() as c:
            answers.append(c.request(target=f"/held.php?go={go}"))

    go = gate(site.s)
    t = threading.Thread(target=ask)
    t.start()
    assert wait_for(lambda: [w for w in site.s.workers() if w["state"] == "busy"])
    site.release(2)
    assert site.deploy().returncode == 0
    assert site.s.get("/slow.php?ms=1").text == "2"
    assert [g["state"] for g in site.generations()] == ["draining", "active"]
    time.sleep(0.5)
    assert not answers and len(site.generations()) == 2
    go.touch()
    t.join()
    assert answers[0].status == 200 and answers[0].text == "1"
    assert site.only(), site.generations()
    assert not site.s.log_lines("drain_timeout")


def test_drain_time_ends_a_request_that_goes_on(serve):
    site = Site(serve, {"deploy": {"drain": 1}})
    answers = []
    t = threading.Thread(target=lambda: answers.append(site.s.get("/slow.php?ms=50000")))
    t.start()
    assert wait_for(lambda: [w for w in site.s.workers() if w["state"] == "busy"])
    site.release(2)
    assert site.deploy().returncode == 0
    t.join()
    assert answers and answers[0].status == 502
    assert site.only(), site.generations()
    assert site.s.log_lines("drain_timeout")


def test_queued_requests_of_the_old_generation_are_served(serve):
    site = Site(serve, {"php": {"workers": 1, "workers_min": 1}})
    answers, threads = [], []
    go = gate(site.s)
    for _ in range(5):
        t = threading.Thread(target=lambda: answers.append(site.s.get(f"/held.php?go={go}")))
        t.start()
        threads.append(t)
    assert wait_for(lambda: site.s.front()["generations"][0]["queued"] == 4)
    site.release(2)
    assert site.deploy().returncode == 0
    go.touch()
    for t in threads:
        t.join()
    assert [(a.status, a.text) for a in answers] == [(200, "1")] * 5
    assert site.only()


def test_upload_over_a_deploy_is_answered_by_its_generation(site):
    """The body takes longer than everything else in the old generation: it must still be there."""
    with site.s.connect() as c:
        c.send(b"POST /upload.php HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n" + b"x" * 999)
        time.sleep(0.1)
        for number in 2, 3:
            site.release(number)
            assert site.deploy().returncode == 0
        time.sleep(0.3)
        assert len(site.generations()) == 2
        c.send(b"x" * 1001)
        r = c.read_response()
        assert (r.status, r.text) == (200, "1 2000")
    assert site.only(), site.generations()


def test_upload_over_the_drain_time_is_refused(serve):
    site = Site(serve, {"deploy": {"drain": 1}})
    with site.s.connect() as c:
        c.send(b"POST /upload.php HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n" + b"x" * 999)
        time.sleep(0.1)
        assert site.deploy().returncode == 0
        site.s.wait_log("drain_timeout")
        c.send(b"x" * 1001)
        assert c.read_response().status == 503
    assert site.only(), site.generations()


def test_many_deploys_give_their_memory_back(site):
    def pss():
        total = 0
        for g in site.generations():
            rollup = pathlib.Path(f"/proc/{g['prototype_pid']}/smaps_rollup").read_text()
            total += int(re.search(r"^Pss: +(\d+) kB", rollup, re.M).group(1))
        return total

    def opcache():
        memory, scripts = json.loads(site.s.get("/stats.php").text)
        return memory["used_memory"], memory["wasted_memory"], scripts

    if os.geteuid() != 0:
        pytest.skip("reads other users' memory maps")
    site.s.get("/"), site.s.get("/stats.php")
    site.release(2)
    assert site.deploy().returncode == 0 and site.only()
    site.s.get("/")
    first, first_cache, first_rss = pss(), opcache(), site.s.rss(site.s.pid)
    for number in range(3, 53):
        site.release(number)
        assert site.deploy().returncode == 0
        site.s.get("/")
    assert site.only()
    last, last_cache = pss(), opcache()
    assert last < first * 1.25 + 2000, (first, last)
    assert last_cache[1] == 0 and last_cache[0] < first_cache[0] * 1.05
    assert abs(last_cache[2] - first_cache[2]) <= 1, "scripts of old releases"
    # (The address sanitizer keeps freed memory for a while: quarantine_size_mb of Server.)
    more = 16 if SANITIZED else 2
    assert site.s.rss(site.s.pid) < first_rss + (more << 20), "the master grew"


def test_warm_up_compiles_what_was_cached(site):
    for page in "/", "/gen.php", "/stats.php":
        site.s.get(page)
    site.release(2)
    p = site.deploy()
    assert p.returncode == 0
    # index, one, two, three, gen, stats: each once, although index is in the cache and an index
    assert int(re.search(r"(\d+) scripts warmed", p.stdout).group(1)) == 6, p.stdout
    assert json.loads(site.s.get("/stats.php").text)[1] >= 6


def test_two_deploys_at_once(serve):
    site = Site(serve)
    go = gate(site.s)
    site.release(2, **{"index.php": HELD.replace("$_GET['go']", f"'{go}'")})
    first = []
    t = threading.Thread(target=lambda: first.append(site.deploy()))
    t.start()
    assert wait_for(lambda: len(site.generations()) == 2)
    p = site.deploy()
    assert p.returncode == 1 and "running already" in p.stderr
    for command in ("reload",), ("cache", "reset"):
        assert site.s.cli(*command).returncode == 1
    go.touch()
    t.join()
    assert first[0].returncode == 0
    assert site.only()


def test_client_of_a_deploy_may_go(site):
    site.release(2)
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(str(site.s.control))
        c.sendall(b'{"cmd":"deploy"}\n')
    assert wait_for(lambda: site.s.get("/gen.php").text == "2")
    assert site.only()


def test_deploy_while_the_server_stops(site):
    t = threading.Thread(target=lambda: site.s.get("/slow.php?ms=1000"))
    t.start()
    assert wait_for(lambda: [w for w in site.s.workers() if w["state"] == "busy"])
    site.s.signal(signal.SIGTERM)
    site.s.wait_log("stopping")
    p = site.deploy()
    assert p.returncode == 1 and ("stopping" in p.stderr or "no server" in p.stderr), p.stderr
    t.join()
    site.s.stop()


def test_stop_during_a_deploy(site):
    site.release(2, **{"index.php": "<?php sleep(60);"})
    out = []
    t = threading.Thread(target=lambda: out.append(site.deploy()))
    t.start()
    assert wait_for(lambda: len(site.generations()) == 2)
    site.s.stop()
    t.join()
    assert out[0].returncode == 1 and "stopping" in out[0].stderr


def test_cache_reset_brings_new_code_without_a_check(site):
    site.s.get("/gen.php")
    top = site.base / "releases" / "r1" / "public"
    (top / "gen.php").write_text("<?php echo 'new code';")
    assert site.s.get("/gen.php").text == "1", "code changed without a deploy"
    (top / "index.php").write_text("<?php broken(")
    p = site.s.cli("cache", "reset")
    assert p.returncode == 0, p.stderr
    assert site.s.get("/gen.php").text == "new code"
    assert site.s.get("/").status == 500


def test_opcache_functions_work(site):
    top = site.base / "releases" / "r1" / "public"
    (top / "reset.php").write_text("<?php var_dump(opcache_reset());")
    (top / "drop.php").write_text(
        "<?php var_dump(opcache_invalidate(__DIR__ . '/gen.php', true));")
    assert site.s.get("/gen.php").text == "1"
    (top / "gen.php").write_text("<?php echo 'second';")
    assert "true" in site.s.get("/drop.php").text
    assert wait_for(lambda: {site.s.get("/gen.php").text for _ in range(6)} == {"second"})
    (top / "gen.php").write_text("<?php echo 'third';")
    assert "true" in site.s.get("/reset.php").text
    assert wait_for(lambda: {site.s.get("/gen.php").text for _ in range(6)} == {"third"})
    assert site.s.log_lines("opcache_reset")


def test_status_shows_generations(site):
    out = site.s.cli("status").stdout
    assert re.search(r"generation 1 +active +php 8\.\d+\.\d+ .*workers 3/3 .*r1/public", out), out
    site.release(2)
    site.deploy()
    st = json.loads(site.s.cli("status", "--json").stdout)
    assert st["generations"][-1]["id"] == 2 and st["generations"][-1]["root"].endswith("r2/public")


# --- reload ----------------------------------------------------------------------------------


def header_config(workers, value):
    return {"php": {"workers": workers, "workers_min": workers},
            "server": {"response": {"headers": [["X-Test", value]]}}}


@pytest.mark.parametrize("way", ["command", "signal"])
def test_reload_applies_a_changed_config(serve, way):
    s = serve(header_config(2, "a"), {"index.php": "<?php echo ini_get('memory_limit');"})
    assert (s.get("/").get("X-Test"), s.get("/").text) == ("a", "128M")
    changed = header_config(3, "b")
    changed["php"]["memory_limit"] = "96M"
    s.write_config(changed)
    if way == "command":
        p = s.cli("reload")
        assert p.returncode == 0, p.stderr
    else:
        s.signal(signal.SIGHUP)
        assert wait_for(lambda: s.get("/").text == "96M")
    r = s.get("/")
    assert (r.get("X-Test"), r.text) == ("b", "96M")
    assert wait_for(lambda: len(s.workers()) == 3)
    s.idle = s.descriptors()


@pytest.mark.parametrize("way", ["command", "signal"])
def test_reload_refuses_a_broken_config(serve, way):
    s = serve(header_config(2, "a"), {"index.php": "<?php echo 'ok';"})
    good = s.config_path.read_text()
    s.config_path.write_text(good + '\n[deploy]\nworkers_of_the_world = 3\n')
    line = len(good.splitlines()) + 3
    if way == "command":
        p = s.cli("reload")
        assert p.returncode == 1 and f":{line}:" in p.stderr, p.stderr
    else:
        s.signal(signal.SIGHUP)
        assert f":{line}:" in s.wait_log("reload_refused.*").group(0)
    assert s.get("/").get("X-Test") == "a"
    assert len(s.status()["generations"]) == 1


def test_reload_with_a_header_that_cannot_be_is_refused(serve):
    s = serve(header_config(2, "a"), {"index.php": "<?php echo 'ok';"})
    s.write_config(header_config(2, "b\nc"))
    assert s.cli("reload").returncode == 1
    assert s.get("/").get("X-Test") == "a"


def test_reload_says_what_needs_a_restart(serve):
    s = serve({}, {"index.php": "<?php echo 'ok';"})
    s.write_config({"server": {"listen": "127.0.0.1:1"}})
    p = s.cli("reload")
    assert p.returncode == 0, p.stderr
    assert "server.listen" in p.stderr and "restart" in p.stderr
    assert s.get("/").text == "ok"
    assert s.log_lines("server.listen changed")


def test_reload_to_fewer_workers(serve):
    s = serve(header_config(5, "a"), {"index.php": "<?php echo 'ok';"})
    s.write_config(header_config(2, "a"))
    assert s.cli("reload").returncode == 0
    assert wait_for(lambda: len(s.workers()) == 2)
    s.idle = s.descriptors()


def test_reload_under_load(serve):
    s = serve(header_config(3, "a"), {"index.php": "<?php echo '7 7 7 7 r7 1';"})
    with Load(s.address, 20) as load:
        for i in range(5):
            s.write_config(header_config(3, f"v{i}"))
            p = s.cli("reload")
            assert p.returncode == 0, p.stderr
    load.end()
    assert not load.bad, load.bad[:3]
    assert s.get("/").get("X-Test") == "v4"


def test_signals_in_a_row(serve):
    s = serve({}, {"index.php": "<?php echo 'ok';"})
    for sig in [signal.SIGHUP] * 10 + [signal.SIGUSR1] * 3:
        s.signal(sig)
        time.sleep(0.01)
    assert wait_for(lambda: len(s.status()["generations"]) == 1 and not [
        g for g in s.status()["generations"] if g["state"] != "active"], 5)
    assert s.get("/").text == "ok"


def test_broken_pages_of_a_first_start_can_be_deployed_away(serve):
    """A server that starts with a page that fails still takes the release that mends it."""
    site = Site(serve, **{"index.php": "<?php broken("})
    assert site.s.get("/").status == 500
    site.release(2)
    assert site.deploy().returncode == 0
    assert site.s.get("/").text.startswith("2 ")


def test_probe_goes_to_the_new_generation_alone(site):
    site.release(2, **{"index.php": "<?php usleep(300000); echo '2 2 2 2 r2 ',"
                                    "$_SERVER['EPHPM_GENERATION'];"})
    with Load(site.s.address, 4) as load:
        p = site.deploy()
    load.end()
    assert p.returncode == 0 and not load.bad, load.bad[:3]
    assert (2, 1) not in load.seen and (1, 2) not in load.seen


def test_keep_alive_connection_moves_to_the_new_generation(site):
    with site.s.connect() as c:
        assert c.request("GET", "/gen.php").text == "1"
        site.release(2)
        assert site.deploy().returncode == 0
        assert c.request("GET", "/gen.php").text == "2"
        c.send(build(target="/gen.php") + build(target="/slow.php?ms=1"))
        assert c.read_response().text == "2" and c.read_response().text == "2"


def test_sighup_during_a_deploy_is_not_lost(serve):
    s = serve("[server.response]\nheaders = [[\"X-C\", \"old\"]]\n", {"index.php":
              "<?php usleep(str_starts_with($_SERVER['HTTP_USER_AGENT'] ?? '', 'ephpm-probe')"
              " ? 500000 : 0); echo 'ok';"})
    s.write_config("[server.response]\nheaders = [[\"X-C\", \"new\"]]\n")
    deploy = threading.Thread(target=lambda: s.cli("deploy"))
    deploy.start()
    s.wait_log("deploy_began.*operation=deploy")
    s.signal(signal.SIGHUP)
    deploy.join()
    assert wait_for(lambda: s.get("/").get("X-C") == "new")
