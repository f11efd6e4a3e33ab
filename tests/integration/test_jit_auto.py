# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""php.opcache_jit = "auto": a site's JIT is decided by what its requests cost."""
import json
import os
import signal
import threading
import time

import pytest

from ephpm import wait_for
from httpc import Connection

# What the JIT makes many times faster, and what it only makes dearer.
LOOP = """<?php
function f($n) { $s = 0; for ($i = 0; $i < $n; $i++) { $s = ($s * 31 + $i) & 0xffffff; } return $s; }
echo f(200000), ' ', $_SERVER['EPHPM_GENERATION'];"""
HELLO = "<?php echo 'hello ', $_SERVER['EPHPM_GENERATION'];"
# Dies where there is a JIT.
CRASH = """<?php
if ((opcache_get_status(false)['jit']['on'] ?? false)) { posix_kill(getmypid(), SIGSEGV); }
echo 'alive';"""


def config(secs=600, **php):
    return {"php": {"opcache_jit": "auto", "opcache_jit_auto_secs": secs,
                    "opcache_jit_auto_file": "{dir}/jit.json", **php},
            "server": {"metrics": {"enabled": True}}}


def jit(s):
    found = s.status()["jit_auto"]
    assert len(found) == 1, found
    return found[0]


def generations(s):
    return [(g["state"], g["jit"]) for g in s.status()["generations"]]


def only_one(s, mode):
    """The other generation is gone, and the one that serves has the JIT like that."""
    assert wait_for(lambda: generations(s) == [("active", mode)]), s.status()


def wait_state(s, *states, timeout=60):
    assert wait_for(lambda: jit(s)["state"] in states, timeout), (jit(s), s.log())
    return jit(s)


def ask(s, until, timeout=300, target="/"):
    """Requests on one connection until something is so; each must be answered well."""
    end = time.monotonic() + timeout
    with s.connect() as c:
        while not until():
            assert time.monotonic() < end, (jit(s), s.log()[-4000:])
            for _ in range(100):
                assert c.request("GET", target).status == 200


def decide(s, **more):
    ask(s, lambda: jit(s)["state"] in ("decided", "undecided"), **more)
    return jit(s)


class Load:
    """Clients that ask all the time, and what they got besides 200."""

    def __init__(self, s, clients=4, target="/"):
        self.stop, self.bad, self.n, self.by = False, [], 0, set()

        def run():
            try:
                with Connection(s.address) as c:
                    while not self.stop:
                        r = c.request("GET", target)
                        if r.status != 200:
                            self.bad.append(r)
                        self.by.add(r.text.split()[-1])
                        self.n += 1
                        time.sleep(.002)
            except Exception as e:  # noqa: BLE001 (no request may fail)
                self.bad.append(e)

        self.threads = [threading.Thread(target=run, daemon=True) for _ in range(clients)]
        for t in self.threads:
            t.start()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop = True
        for t in self.threads:
            t.join(90)
            assert not t.is_alive()


def test_jit_auto_keeps_the_jit_where_it_gains(serve):
    s = serve(config(), {"index.php": LOOP})
    j = decide(s)
    assert (j["state"], j["jit"], j["remembered"]) == ("decided", "on", False), j
    assert j["on_us"] < j["off_us"] and j["saves_percent"] > 10, j
    assert j["on_samples"] >= 200 and j["off_samples"] >= 200 and j["kinds"] == 1
    assert j["covered_percent"] > 50
    only_one(s, "tracing")
    line = s.wait_log(r"jit_auto site=default generation=1 state=decided jit=on .*")[0]
    assert "saves_percent=" in line and "on_samples=" in line, line
    assert "jit auto default  decided on: requests take" in s.cli("status").stdout
    ready = json.loads(s.get("/_ephpm/ready?verbose").text)
    assert ready["jit_auto"] == [j]
    metrics = s.get("/metrics").text
    assert 'ephpm_opcache_jit_auto_decisions_total{site="default",decision="on"} 1' in metrics
    assert 'ephpm_opcache_jit_auto_cpu_seconds{site="default",jit="on"} 0.0' in metrics
    assert 'ephpm_opcache_jit_auto_measuring{site="default"} 0' in metrics


def test_jit_auto_drops_the_jit_where_it_loses_and_remembers(serve):
    s = serve(config(), {"index.php": HELLO})
    j = decide(s)
    assert (j["state"], j["jit"]) == ("decided", "off"), j
    assert j["on_us"] > j["off_us"], j
    only_one(s, "off")
    assert s.get("/").text == "hello 2"

    # A reload and a restart of the same code need not measure again.
    assert s.cli("reload").returncode == 0
    j = wait_state(s, "decided")
    assert j["jit"] == "off" and j["remembered"] and j["off_us"] > 0, j
    only_one(s, "off")
    s.stop()
    s.start()
    j = jit(s)
    assert j["jit"] == "off" and j["remembered"], j
    assert generations(s) == [("active", "off")]
    assert os.stat(s.dir / "jit.json").st_mode & 0o777 == 0o600

    # Another program, another start; a file that is not understood is as good as none.
    (s.dir / "jit.json").write_text("{")
    s.stop()
    s.start()
    wait_state(s, "waiting", "starting", "measuring")
    assert "jit_auto_file_failed" in s.log()


def test_jit_auto_measures_each_release_and_knows_old_ones(serve):
    s = serve({**config(), "server": {"document_root": "{dir}/current"}}, start=False)
    for name in "r1", "r2":
        s.write(s.dir / name / "index.php", HELLO)

    def point(name):
        (s.dir / "new").symlink_to(name)
        (s.dir / "new").rename(s.dir / "current")

    point("r1")
    s.start()
    assert decide(s)["jit"] == "off"
    point("r2")
    assert s.cli("deploy", "--rev", "two").returncode == 0
    j = jit(s)
    assert j["state"] != "decided" and j["on_samples"] == 0, j
    point("r1")
    assert s.cli("deploy").returncode == 0
    assert jit(s)["remembered"] and jit(s)["jit"] == "off"
    # The same place with other code: nobody says that it is what it was.
    assert s.cli("deploy").returncode == 0
    assert jit(s)["state"] != "decided"


def test_jit_auto_without_traffic_is_undecided(serve):
    s = serve(config(secs=1), {"index.php": HELLO})
    j = wait_state(s, "undecided")
    assert "php.opcache_jit_auto_secs is over after 0 requests" in j["reason"], j
    only_one(s, "tracing")
    assert not (s.dir / "jit.json").exists()


def test_jit_auto_deploy_and_kills_while_it_measures_lose_nothing(serve):
    s = serve(config(workers=4, workers_min=2), {"index.php": LOOP.replace("200000", "2000")})

    def measuring():
        wait_state(s, "measuring")
        st = s.status()
        rival = jit(s)["rival"]
        by_id = {g["id"]: g for g in st["generations"]}
        assert by_id[rival]["state"] == "trial" and by_id[rival]["jit"] == "off"
        active = next(g for g in st["generations"] if g["state"] == "active")
        load.by.clear()
        assert wait_for(lambda: {str(rival), str(active["id"])} <= load.by), load.by
        return by_id[rival], active

    with Load(s) as load:
        measuring()
        assert s.cli("deploy").returncode == 0
        rival, _ = measuring()
        os.kill(rival["prototype_pid"], signal.SIGKILL)
        s.wait_log(r'jit_auto_interrupted .*its prototype ended')
        _, active = measuring()
        os.kill(active["prototype_pid"], signal.SIGKILL)
        s.wait_log(r'generation_active .*operation=recovery')
        measuring()
        assert s.cli("reload").returncode == 0
        measuring()
    assert not load.bad, (load.bad[:3], s.log()[-6000:])
    assert load.n > 100
    s.stop()


def test_jit_auto_stop_while_it_measures_answers_what_runs(serve):
    s = serve(config(), {"index.php": "<?php usleep(400000); echo $_SERVER['EPHPM_GENERATION'];"})
    wait_state(s, "measuring")
    got = []
    threads = [threading.Thread(target=lambda: got.append(s.get("/"))) for _ in range(4)]
    for t in threads:
        t.start()

    def taken():
        """Requests that have arrived: of a connection without one the end is no fault."""
        return len(got) + sum(g["queued"] + sum(w["state"] == "busy" for w in g["workers"])
                              for g in s.front()["generations"])

    assert wait_for(lambda: taken() >= 4)
    s.stop()
    for t in threads:
        t.join()
    assert [r.status for r in got] == [200] * 4, got


def test_jit_auto_front_that_dies_begins_anew(serve):
    s = serve(config(), {"index.php": HELLO})
    wait_state(s, "measuring")
    os.kill(s.front()["front_pid"], signal.SIGKILL)
    s.wait_log(r"jit_auto_interrupted .*the front ended")
    assert wait_for(lambda: s.status().get("front") and jit(s)["state"] == "measuring")
    assert decide(s)["jit"] == "off"
    only_one(s, "off")


@pytest.mark.parametrize("where", ["measuring", "before"])
def test_jit_auto_crash_loop_is_a_decision(serve, where):
    s = serve(config(crash_loop_count=3, crash_loop_seconds=60), {"index.php": CRASH})
    if where == "measuring":
        wait_state(s, "measuring")
    end = time.monotonic() + 120
    while jit(s)["state"] != "decided" and time.monotonic() < end:
        assert s.get("/").status in (200, 502)
    j = wait_state(s, "decided")
    assert j["jit"] == "off" and "crashed in a loop" in j["reason"], j
    only_one(s, "off")
    assert s.get("/").text == "alive"
    s.stop()
    s.start()
    assert jit(s)["remembered"] and generations(s) == [("active", "off")]


def budget_mb():
    with open("/proc/meminfo") as f:
        return int(f.readline().split()[1]) // 1024


def test_jit_auto_needs_memory_for_two(serve):
    s = serve(config(opcache_memory_consumption=min(budget_mb() * 6 // 10, 65536)),
              {"index.php": HELLO})
    j = wait_state(s, "undecided")
    assert "needs more memory than there is" in j["reason"], j
    assert "php.opcache_memory_consumption" in j["reason"]
    assert s.wait_log("warn master: jit_auto_not_measured")
    only_one(s, "tracing")


@pytest.mark.parametrize("php,reason", [
    ({"ini_overrides": [["opcache.jit", "tracing"]]}, "of the ini settings decides"),
    ({"opcache_jit_buffer_size": 0}, "there is no JIT to measure"),
])
def test_jit_auto_says_why_it_measures_nothing(serve, php, reason):
    s = serve(config(**php), {"index.php": HELLO})
    j = wait_state(s, "undecided")
    assert reason in j["reason"], j
    assert wait_for(lambda: len(generations(s)) == 1)


def test_jit_auto_secs_must_make_sense(serve):
    s = serve(config(secs=0), {"index.php": HELLO}, start=False)
    r = s.cli("serve")
    assert r.returncode != 0 and "php.opcache_jit_auto_secs" in r.stderr, r
