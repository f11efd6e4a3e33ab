# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""/metrics: what is counted, in both formats, through crashes, and who may see it."""
import os
import signal
import socket
import subprocess
import threading
import time

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

import ephpm
import scripts

ON = {"server": {"metrics": {"enabled": True}}}
OPENMETRICS = ("application/openmetrics-text;version=1.0.0;q=0.5,"
               "text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
FILES = {
    "index.php": "<?php echo 'hello';",
    "big.php": "<?php echo str_repeat('0123456789', 20000);",
    "echo.php": "<?php echo strlen(file_get_contents('php://input'));",
    "fatal.php": "<?php nonsense();",
    "status.php": "<?php http_response_code((int)$_GET['s']); echo 'x';",
    "held.php": scripts.HELD,
    "sleep.php": "<?php usleep((int)$_GET['ms'] * 1000); echo 'slept';",
    "segv.php": "<?php posix_kill(getmypid(), 11); usleep(100000);",
    "pid.php": "<?php echo getmypid();",
    "a.txt": "text " * 2000,
}


class Scrape:
    """The samples of one scrape: {(name, labels as sorted pairs): value}."""

    def __init__(self, text, parse=parse_text):
        self.text, self.values, self.types = text, {}, {}
        for family in parse(text):
            self.types[family.name] = family.type
            for s in family.samples:
                key = s.name, tuple(sorted(s.labels.items()))
                assert key not in self.values, f"twice: {key}"
                self.values[key] = s.value

    def get(self, name, default=0, **labels):
        return self.values.get((name, tuple(sorted(labels.items()))), default)

    def sum(self, name, **labels):
        return sum(v for (n, have), v in self.values.items()
                   if n == name and labels.items() <= dict(have).items())

    def counters(self):
        return {k: v for k, v in self.values.items()
                if k[0].endswith(("_total", "_count", "_sum", "_bucket"))}


def scrape(server, target="/metrics", **more):
    r = server.get(target, **more)
    assert r.status == 200, r
    assert r.get("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    return Scrape(r.text)


def settled(server, predicate, timeout=30):
    """The first scrape that fulfils it: what is counted at an answer's end may come after it."""
    end = time.monotonic() + timeout
    while True:
        s = scrape(server)
        if predicate(s):
            return s
        assert time.monotonic() < end, s.text
        time.sleep(0.05)


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(ON, FILES) as s:
        yield s


def traffic(server):
    """What every handler does, once at least."""
    for _ in range(3):
        assert server.get("/").status == 200
    assert server.request("HEAD", "/").status == 200
    assert server.post("/echo.php", b"x" * 3000).text == "3000"
    assert server.get("/a.txt").status == 200
    assert server.get("/a.txt", headers={"Accept-Encoding": "gzip"}).get("Content-Encoding")
    assert server.get("/big.php").status == 200
    assert server.get("/fatal.php").status == 500
    assert server.get("/.env").status == 403
    assert server.get("/_ephpm/health").status == 200
    server.raw(b"GET / HTTP/1.1\r\nBad Header: x\r\n\r\n")


def promtool(text):
    return subprocess.run(["promtool", "check", "metrics"], input=text.encode(),
                          capture_output=True, timeout=60)


def test_promtool_has_no_complaint(server):
    traffic(server)
    text = settled(server, lambda s: s.sum("ephpm_opcache_used_bytes") > 0).text
    out = promtool(text)
    assert out.returncode == 0 and not out.stdout and not out.stderr, (out.stdout, out.stderr)
    assert promtool("ephpm_http_requests_total 1\n").stderr  # it would say something


def test_openmetrics_parses_and_says_the_same(server):
    traffic(server)
    r = server.get("/metrics", headers={"Accept": OPENMETRICS})
    assert r.get("Content-Type") == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert r.text.endswith("\n# EOF\n")
    new, old = Scrape(r.text, parse_openmetrics), scrape(server)
    assert {n for n, _ in new.values} <= {n for n, _ in old.values}
    for key, value in new.counters().items():
        assert old.values[key] >= value, key
    assert new.types["ephpm_http_requests"] == "counter"
    assert "# TYPE ephpm_http_requests counter" in r.text


@pytest.mark.parametrize("accept, wanted", [
    (None, "text/plain"),
    ("*/*", "text/plain"),
    ("text/html", "text/plain"),
    ("application/openmetrics-text", "application/openmetrics-text"),
    ("application/openmetrics-text;q=0", "text/plain"),
    ("application/openmetrics-text;q=0.2, text/plain;q=0.8", "text/plain"),
    (OPENMETRICS, "application/openmetrics-text"),
])
def test_format_is_negotiated(server, accept, wanted):
    r = server.get("/metrics", headers={"Accept": accept} if accept else {})
    assert r.get("Content-Type").split(";")[0] == wanted


def test_scrape_is_compressed_like_other_answers(server):
    r = server.get("/metrics", headers={"Accept-Encoding": "gzip"})
    assert r.get("Content-Encoding") == "gzip" and len(r.body) < 10000


def test_head_and_other_methods(server):
    assert server.request("HEAD", "/metrics").status == 200
    r = server.post("/metrics", b"x")
    assert r.status == 405 and r.get("Allow") == "GET, HEAD"


def test_several_scrapes_on_one_connection(server):
    with server.connect() as c:
        c.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        for _ in range(3):
            Scrape(c.read_response().text)
        assert c.request("GET", "/").text == "hello"


def test_counters_match_the_requests(server):
    before = scrape(server)
    for _ in range(7):
        assert server.get("/").text == "hello"
    for _ in range(2):
        server.request("HEAD", "/")
    server.post("/echo.php", b"y" * 20000)
    for _ in range(5):
        server.get("/a.txt")
    server.get("/status.php?s=404")
    server.get("/.env")
    server.get("/_ephpm/health")
    server.get("/fatal.php")

    def grown(s, name, **labels):
        return s.get(name, **labels) - before.get(name, **labels)

    total = "ephpm_http_requests_total"
    s = settled(server, lambda s: grown(
        s, total, method="GET", status="500", handler="php") == 1)
    assert grown(s, total, method="GET", status="200", handler="php") == 7
    assert grown(s, total, method="HEAD", status="200", handler="php") == 2
    assert grown(s, total, method="POST", status="200", handler="php") == 1
    assert grown(s, total, method="GET", status="200", handler="static") == 5
    assert grown(s, total, method="GET", status="404", handler="php") == 1
    assert grown(s, total, method="GET", status="403", handler="error") == 1
    assert grown(s, total, method="GET", status="200", handler="internal") >= 2
    site = "ephpm_site_requests_total"
    assert grown(s, site, site="default", status="2xx") == 15
    assert grown(s, site, site="default", status="4xx") == 2
    assert grown(s, site, site="default", status="5xx") == 1

    php = "ephpm_php_execution"
    assert grown(s, f"{php}s_total", site="default", status="ok") == 11
    assert grown(s, f"{php}s_total", site="default", status="error") == 1
    assert grown(s, f"{php}_duration_seconds_count", site="default") == 12
    assert grown(s, "ephpm_worker_request_wait_seconds_count", site="default") == 12
    assert grown(s, "ephpm_php_output_bytes_count", site="default") == 12
    assert grown(s, "ephpm_http_request_body_bytes_count", method="POST") == 1
    assert grown(s, "ephpm_http_request_body_bytes_sum", method="POST") == 20000
    assert grown(s, "ephpm_http_response_body_bytes_sum", handler="static") == 5 * 10000
    assert grown(s, "ephpm_http_requests_in_flight") == 0


def test_durations_are_those_of_the_requests(server):
    before = scrape(server)
    for _ in range(3):
        server.get("/sleep.php?ms=120")
    name = "ephpm_php_execution_duration_seconds"
    s = settled(server, lambda s: s.get(f"{name}_count", site="default")
                == before.get(f"{name}_count", site="default") + 3)

    def grown(n, **labels):
        return s.get(n, **labels) - before.get(n, **labels)

    assert 0.36 <= grown(f"{name}_sum", site="default") < 100  # seconds
    assert grown(f"{name}_bucket", site="default", le="0.1") == 0
    assert grown(f"{name}_bucket", site="default", le="+Inf") == 3
    http = "ephpm_http_request_duration_seconds"
    assert grown(f"{http}_sum", method="GET", handler="php") >= grown(f"{name}_sum", site="default")
    assert grown(f"{http}_bucket", method="GET", handler="php", le="+Inf") == 3


def test_in_flight_and_busy_while_requests_run(server):
    go = scripts.gate(server)
    threads = [threading.Thread(target=server.get, args=(f"/held.php?go={go}",)) for _ in range(4)]
    for t in threads:
        t.start()
    s = settled(server, lambda s: s.get("ephpm_http_requests_in_flight") == 4)
    assert s.get("ephpm_worker_busy", site="default") == 2  # as many as there are
    assert s.get("ephpm_worker_idle", site="default") == 0
    assert s.get("ephpm_worker_dispatch_queue_depth", site="default") == 2
    assert s.get("ephpm_fpm_pool_queue_depth", site="default") == 2
    assert s.get("ephpm_fpm_pool_size", site="default") == 2
    time.sleep(0.2)
    go.touch()
    for t in threads:
        t.join()
    s = settled(server, lambda s: s.get("ephpm_worker_idle", site="default") == 2)
    assert s.get("ephpm_http_requests_in_flight") == 0
    assert s.get("ephpm_worker_request_wait_seconds_sum", site="default") > 0.3


def test_odd_methods_and_statuses_do_not_grow_it(server):
    server.request("BREW", "/")
    server.get("/status.php?s=299")
    lines = len(scrape(server).values)
    with server.connect() as c:
        for i in range(5000):
            c.request(f"M{i:04}", "/")
    for i in range(600, 1000, 7):
        server.get(f"/status.php?s={i}")
    with server.connect() as c:
        for i in range(5000):
            c.request("GET", f"/status.php?s={200 + i % 400}&{i}")
    s = scrape(server)
    assert s.get("ephpm_http_requests_total", method="OTHER", status="200", handler="php") >= 5001
    assert s.get("ephpm_http_requests_total", method="GET", status="other", handler="php") > 1000
    # Each status with a place of its own may have come up, no more.
    assert len(s.values) <= lines + 40


def test_scrapes_while_under_load(server):
    stop, failed = threading.Event(), []

    def load():
        with server.connect() as c:
            while not stop.is_set():
                if c.request("GET", "/").text != "hello":
                    failed.append("load")

    threads = [threading.Thread(target=load) for _ in range(3)]
    for t in threads:
        t.start()
    try:
        last = {}
        for _ in range(30):
            now = scrape(server).counters()
            assert all(now[k] >= v for k, v in last.items())
            last = now
    finally:
        stop.set()
        for t in threads:
            t.join()
    assert not failed


def test_client_that_leaves_during_a_scrape(server):
    for _ in range(20):
        with socket.create_connection(server.address) as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    assert server.get("/").text == "hello"


def test_processes_and_generations(server):
    s = settled(server, lambda s: s.get("ephpm_processes", role="worker") == 2)
    for role in "master", "front", "prototype", "worker":
        assert s.get("ephpm_processes", role=role) >= 1
        assert s.get("ephpm_process_resident_memory_bytes", role=role) > 1e6
        assert s.get("ephpm_process_proportional_memory_bytes", role=role) > 1e5
        assert s.get("ephpm_process_open_fds", role=role) > 3
    assert s.sum("ephpm_process_cpu_seconds_total") > 0
    assert s.get("ephpm_generations", site="default", state="active") == 1
    assert s.get("ephpm_build_info", version=server.status()["version"]) == 1
    assert abs(s.get("ephpm_deploy_last_time_seconds", site="default") - time.time()) < 600
    assert s.get("ephpm_opcache_jit_buffer_size_bytes", site="default") > 15e6
    assert 0 < s.get("ephpm_opcache_jit_buffer_free_bytes", site="default") <= 16 << 20


def test_store_of_the_site(server):
    before = scrape(server)
    server.write("kv.php", """<?php
        ephpm_kv_set("counted", "value");
        for ($i = 0; $i < 10; $i++) ephpm_kv_get("counted");
        for ($i = 0; $i < 4; $i++) ephpm_kv_get("nothing");
        echo "done";""")
    assert server.get("/kv.php").text == "done"
    s = scrape(server)

    def grown(name):
        return s.get(name, site="default") - before.get(name, site="default")

    assert grown("ephpm_kv_hits_total") == 10
    assert grown("ephpm_kv_misses_total") == 4
    assert grown("ephpm_kv_keys") == 1
    assert 0 < s.get("ephpm_kv_used_bytes", site="default") < s.get(
        "ephpm_kv_memory_bytes", site="default")
    assert s.get("ephpm_processes", role="kv") == 1


def test_redis_clients_and_commands():
    port = ephpm.free_port()
    config = ephpm.merge(ON, {"kv": {"redis_compat": {
        "enabled": True, "listen": f"127.0.0.1:{port}"}}})
    with ephpm.Server(config, FILES) as s:
        before = scrape(s)
        with socket.create_connection(("127.0.0.1", port)) as c:
            c.sendall(b"SET counted 1\r\nGET counted\r\nNONSENSE\r\n")
            answer = b""
            while answer.count(b"\n") < 4:
                answer += c.recv(4096)
            now = scrape(s)
            assert now.get("ephpm_redis_connections_active") == 1
        name = "ephpm_redis_commands_total"
        assert now.get(name) - before.get(name) >= 2
        assert now.get("ephpm_redis_errors_total") == 1
        assert now.get("ephpm_redis_connections_total") == 1
        assert now.get("ephpm_redis_received_bytes_total") == 38
        os.kill(next(p for p in ephpm.family(s.pid) if is_kv(p)), signal.SIGKILL)
        assert ephpm.wait_for(lambda: scrape(s).get("ephpm_role_restarts_total", role="kv") == 1)
        later = settled(s, lambda m: m.get("ephpm_processes", role="kv") == 1)
        assert not {k: v for k, v in now.counters().items() if later.values.get(k, -1) < v}
        assert not promtool(later.text).stderr


def is_kv(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as f:
            return f.read().startswith("ephpm: kv")
    except OSError:
        return False


def test_without_a_store_its_families_are_absent():
    with ephpm.Server(ephpm.merge(ON, {"kv": {"enabled": False}}), FILES) as s:
        text = scrape(s).text
        assert "ephpm_kv_" not in text and "ephpm_redis_" not in text
        assert 'ephpm_processes{role="kv"}' not in text


def test_workers_have_no_way_to_the_figures(server):
    """They run what tenants wrote."""
    for worker in server.workers():
        with open(f"/proc/{worker['pid']}/maps") as f:
            assert "ephpm-metrics" not in f.read()
        folder = f"/proc/{worker['pid']}/fd"
        assert not [fd for fd in os.listdir(folder)
                    if "ephpm-metrics" in os.readlink(f"{folder}/{fd}")]
    with open(f"/proc/{server.front()['front_pid']}/maps") as f:
        assert "ephpm-metrics" in f.read()


# --- crashes and deploys ----------------------------------------------------------------------

@pytest.fixture
def own():
    with ephpm.Server(ON, FILES) as s:
        yield s


def test_totals_survive_a_killed_front(own):
    traffic(own)
    before = scrape(own).counters()
    pid = own.front()["front_pid"]
    os.kill(pid, signal.SIGKILL)

    def back():
        try:
            return own.front()["front_pid"] != pid and own.get("/").status == 200
        except (OSError, TypeError, AssertionError):
            return False

    assert ephpm.wait_for(back, 30, 0.1)
    s = scrape(own)
    now = s.counters()
    assert not {k: (v, now.get(k)) for k, v in before.items() if now.get(k, -1) < v}
    assert s.get("ephpm_role_restarts_total", role="front") == 1
    assert s.get("ephpm_http_requests_in_flight") == 0
    own.idle = own.descriptors()


def test_killed_workers_are_counted_and_totals_stay(own):
    traffic(own)
    before = scrape(own).counters()
    for _ in range(3):
        assert own.get("/segv.php").status == 502
        assert own.get("/").status == 200
    os.kill(int(own.get("/pid.php").text), signal.SIGKILL)
    s = settled(own, lambda s: s.sum("ephpm_worker_crashes_total") == 4)
    assert s.get("ephpm_worker_crashes_total", site="default", signal="SIGSEGV") == 3
    assert s.get("ephpm_worker_crashes_total", site="default", signal="SIGKILL") == 1
    assert s.get("ephpm_fpm_pool_contained_crashes_total", site="default") == 4
    now = s.counters()
    assert not {k: (v, now.get(k)) for k, v in before.items() if now.get(k, -1) < v}
    s = settled(own, lambda s: s.get("ephpm_worker_pool_size", site="default") == 2)
    assert s.get("ephpm_worker_boot_duration_seconds_count", site="default") >= 6


def test_master_that_does_not_answer_holds_nothing_up(own):
    assert scrape(own).get("ephpm_generation_id", site="default") == 1
    own.get("/")
    os.kill(own.pid, signal.SIGSTOP)
    try:
        begin = time.monotonic()
        s = scrape(own)
        assert time.monotonic() - begin > 0.3
        assert own.get("/").text == "hello"
    finally:
        os.kill(own.pid, signal.SIGCONT)
    assert s.get("ephpm_generation_id", site="default") == 1  # the last that was known
    assert s.get("ephpm_http_requests_total", method="GET", status="200", handler="php") >= 1
    assert own.get("/metrics").status == 200


def test_deploys_and_refused_deploys(own):
    assert own.cli("deploy").returncode == 0
    own.write("index.php", "<?php this is not PHP")
    assert own.cli("deploy").returncode != 0
    own.write("index.php", FILES["index.php"])
    assert own.cli("cache", "reset").returncode == 0
    s = settled(own, lambda s: s.get("ephpm_generations", site="default", state="draining") == 0)

    def deploys(operation, result):
        return s.get("ephpm_deploys_total", site="default", operation=operation, result=result)

    assert deploys("start", "ok") == deploys("deploy", "ok") == deploys("cache reset", "ok") == 1
    assert deploys("deploy", "failed") == 1
    for trigger, times in ("start", 0), ("deploy", 1), ("cache reset", 1):
        assert s.get("ephpm_opcache_invalidations_total", vhost="default", trigger=trigger) == times
    assert s.get("ephpm_generation_id", site="default") == 4
    assert s.get("ephpm_deploy_last_duration_seconds", site="default") > 0


def test_recycles_shed_and_timeouts_by_reason():
    config = """
    [server]
    metrics = {enabled = true}
    request = {max_body_size = 1000}
    timeouts = {request = 3, header_read = 3}
    limits = {per_ip_rate = 1000.0}
    [php]
    workers = 1
    workers_min = 1
    max_requests = 5
    queue_size = 1
    shed_after_ms = 300
    """
    with ephpm.Server(config, FILES) as s:
        for _ in range(12):
            assert s.get("/").status == 200
        got = settled(s, lambda m: m.get("ephpm_worker_recycles_total", site="default",
                                         reason="max_requests") == 2)
        assert got.get("ephpm_worker_recycles_total", site="default", reason="hung") == 0
        assert s.post("/echo.php", b"x" * 2000).status == 413
        go = scripts.gate(s)
        threads = [threading.Thread(target=s.get, args=(f"/held.php?go={go}",)) for _ in range(3)]
        for t in threads:
            t.start()
        settled(s, lambda m: m.get("ephpm_php_shed_total", site="default", engine="pool") == 2)
        go.touch()
        for t in threads:
            t.join()
        assert s.get("/sleep.php?ms=60000").status == 504
        with s.connect() as c:
            c.send(b"GET / HT")
            assert c.read_response().status == 408
        got = settled(s, lambda m: m.get("ephpm_http_timeouts_total", stage="header_read") == 1)
        assert got.get("ephpm_http_timeouts_total", stage="worker") == 1
        assert got.get("ephpm_http_body_overflow_total") == 1
        assert got.get("ephpm_php_shed_total", site="default", engine="pool") == 2
        assert not promtool(got.text).stderr


# --- who sees it, and where -------------------------------------------------------------------

def test_off_by_default_the_path_is_the_applications():
    with ephpm.Server({}, {"index.php": "<?php echo 'app ', $_SERVER['REQUEST_URI'];"}) as s:
        assert s.get("/metrics").text == "app /metrics"


def test_a_reload_turns_it_on_and_off():
    with ephpm.Server({}, FILES) as s:
        assert s.get("/metrics").text == "hello"
        s.write_config({"server": {"metrics": {"enabled": True, "path": "/stats"}}})
        assert s.cli("reload").returncode == 0
        assert s.get("/metrics").text == "hello"
        assert scrape(s, "/stats").get("ephpm_generation_id", site="default") == 2
        s.write_config({})
        assert s.cli("reload").returncode == 0
        assert s.get("/stats").text == "hello"
        s.idle = s.descriptors()


def test_scrapes_are_not_among_the_last_requests():
    config = ephpm.merge(ON, {"server": {"diagnostics": {"request_log": True}}})
    with ephpm.Server(config, FILES) as s:
        s.get("/")
        scrape(s)
        text = s.get("/_ephpm/requests").text
        assert '"uri":"/"' in text.replace(" ", "") and "/metrics" not in text


def test_own_listener_shows_metrics_alone():
    port = ephpm.free_port()
    config = {"server": {"metrics": {"enabled": True, "listen": f"127.0.0.1:{port}"}}}
    with ephpm.Server(config, FILES) as s:
        assert s.get("/metrics").text == "hello"  # the application's
        with ephpm.Connection(("127.0.0.1", port)) as c:
            r = c.request("GET", "/metrics")
            assert r.status == 200
            assert Scrape(r.text).get("ephpm_http_connections_total") >= 1
            assert c.request("GET", "/").status == 404
            assert c.request("GET", "/a.txt").status == 404
            assert c.request("GET", "/_ephpm/health").text == "ok\n"
            # On this listener a proxy may stand before it.
            r = c.request("GET", "/metrics", {"X-Forwarded-For": "192.0.2.1"})
            assert r.status == 200


def test_taken_address_of_the_listener_is_named():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        server = ephpm.Server(
            {"server": {"metrics": {"enabled": True, "listen": f"127.0.0.1:{port}"}}}, FILES,
            start=False)
        try:
            with pytest.raises(AssertionError):
                server.start()
            assert f"server.metrics.listen: 127.0.0.1:{port}: address in use" in server.log()
        finally:
            server.kill()


@pytest.mark.parametrize("metrics, headers, status", [
    ({}, {}, 200),
    ({}, {"X-Forwarded-For": "192.0.2.1"}, 403),  # through a proxy on this machine
    ({}, {"Via": "1.1 proxy"}, 403),
    ({"allow": ["192.0.2.0/24"]}, {}, 200),
    ({"allow": ["127.0.0.0/8"]}, {"X-Forwarded-For": "192.0.2.1"}, 403),
])
def test_who_may_see_it(metrics, headers, status):
    config = {"server": {"metrics": {"enabled": True, **metrics}}}
    with ephpm.Server(config, FILES) as s:
        assert s.get("/metrics", headers=headers).status == status


def test_clients_behind_a_trusted_proxy_are_judged_themselves():
    config = {"server": {"metrics": {"enabled": True, "allow": ["192.0.2.0/24"]},
                         "security": {"trusted_proxies": ["127.0.0.1"]}}}
    with ephpm.Server(config, FILES) as s:
        assert s.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"}).status == 200
        assert s.get("/metrics", headers={"X-Forwarded-For": "198.51.100.7"}).status == 403


@pytest.mark.parametrize("config, message", [
    ('path = "metrics"', "server.metrics.path"),
    ('path = "/_ephpm/health"', "server.metrics.path"),
    ('listen = "nowhere"', "server.metrics.listen"),
    ('allow = ["10.0.0.0/99"]', "server.metrics.allow"),
    ('enabled = "perhaps"', "server.metrics.enabled"),
])
def test_bad_settings_are_named(config, message):
    s = ephpm.Server(start=False)
    try:
        s.config_path.write_text(f"[server.metrics]\n{config}\n")
        out = s.cli("config")
        assert out.returncode != 0 and message in out.stderr, out
    finally:
        s.kill()


def test_two_sites_have_their_own_series():
    config = """
    [server]
    sites_dir = "{root}/sites"
    metrics = {enabled = true}
    [php]
    workers = 2
    workers_min = 1
    """
    files = {"index.php": "<?php echo 'default';", "sites/alpha/index.php": "<?php echo 'a';",
             "sites/beta.test/index.php": "<?php echo 'bb';"}
    with ephpm.Server(config, files) as server:
        for _ in range(3):
            assert server.get("/", headers={"Host": "alpha"}).text == "a"
        assert server.get("/", headers={"Host": "beta.test"}).text == "bb"
        s = settled(server, lambda s: s.sum("ephpm_opcache_used_bytes", site="beta.test") > 0)
        ran = "ephpm_php_executions_total"
        assert s.get(ran, site="alpha", status="ok") == 3
        assert s.get(ran, site="beta.test", status="ok") == 1
        assert s.get("ephpm_php_output_bytes_sum", site="beta.test") == 2
        for site in "alpha", "beta.test":
            assert s.get("ephpm_generations", site=site, state="active") == 1
            assert s.get("ephpm_opcache_cached_scripts", site=site) >= 1
            assert s.get("ephpm_worker_pool_size", site=site) >= 1
        assert not promtool(s.text).stderr
        server.idle = server.descriptors()
