# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Sessions in the store (session.save_handler = ephpm), the handler of serve: what a visitor with a
cookie jar sees, what parallel requests do to one session, and what is left when a worker dies."""
import json
import os
import random
import re
import signal
import threading
import time

import pytest

import ephpm

LOGIN = """<?php
session_start();
if ($_SERVER['REQUEST_METHOD'] == 'POST' && $_POST['password'] == 'right') {
    session_regenerate_id(true);
    $_SESSION['user'] = $_POST['user'];
    header('Location: /login.php', true, 303);
    exit;
}
if (isset($_GET['logout'])) {
    $_SESSION = [];
    session_destroy();
    header('Location: /login.php', true, 303);
    exit;
}
echo isset($_SESSION['user']) ? "hello $_SESSION[user]" : 'log in';
"""
# The data carries a digest, so that a torn one would show.
COUNT = """<?php
if (isset($_GET['id'])) session_id($_GET['id']);
session_start();
$n = ($_SESSION['n'] ?? 0) + 1;
if (isset($_SESSION['pad']) && md5($_SESSION['pad']) != $_SESSION['sum']) exit('torn');
$_SESSION = ['n' => $n, 'pad' => str_repeat(chr(97 + $n % 26), $n * 37 % 3000)];
$_SESSION['sum'] = md5($_SESSION['pad']);
usleep((int)($_GET['us'] ?? 0));
echo $n;
"""
# Holds the session until it is killed, or its mark is gone.
HOLD = """<?php
session_id('held');
session_start();
$_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
file_put_contents($_GET['mark'], getmypid());
while (file_exists($_GET['mark'])) { usleep(10000); clearstatcache(); }
echo 'held';
"""
FILES = {
    "login.php": LOGIN,
    "count.php": COUNT,
    "hold.php": HOLD,
    "peek.php": "<?php session_id('held'); session_start();"
                "echo getmypid(), ' ', $_SESSION['n'] ?? 0;",
    "pid.php": "<?php echo getmypid();",
    "keys.php": "<?php $k = ephpm_kv_keys(); sort($k); echo json_encode($k);",
}
CONFIG = {"php": {"workers": 4, "workers_min": 4, "crash_loop_count": 1000}}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def keys(s, **more):
    return json.loads(s.get("/keys.php", **more).text)


def cookie(r, name="PHPSESSID"):
    (value,) = [m[1] for m in (re.match(name + "=([^;]+)", v) for v in r.all("Set-Cookie")) if m]
    return value


def in_threads(n, fn):
    threads = [threading.Thread(target=fn, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
        assert not t.is_alive()


class Holder:
    """A request that has the session "held" for as long as the block runs."""

    def __init__(self, server, target="/hold.php"):
        self.server, self.mark = server, server.tmp / f"mark{time.monotonic_ns()}"
        self.got, self.target = [], target

    def __enter__(self):
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert ephpm.wait_for(lambda: self.mark.exists() and self.mark.read_text())
        self.pid = int(self.mark.read_text())
        return self

    def _run(self):
        try:
            self.got.append(self.server.get(f"{self.target}?mark={self.mark}").status)
        except OSError:
            self.got.append(None)

    def __exit__(self, *_):
        self.mark.unlink(missing_ok=True)
        self.thread.join(90)
        assert not self.thread.is_alive()


# --- which handler --------------------------------------------------------------------------------

SHOW = {"index.php": "<?php echo session_module_name();"}


def handler(serve, php=None, mode="serve", config=None, env=None, files=None):
    s = serve({"php": php or {}, **(config or {})}, {**SHOW, **(files or {})}, mode=mode, env=env)
    return s, s.get("/").text


def test_serve_keeps_sessions_in_the_store_and_says_so(serve):
    s, name = handler(serve)
    assert name == "ephpm"
    (line,) = s.log_lines(" sessions ")
    assert "info" in line and "kv.persist" in line and "kv.eviction_policy" in line
    assert s.cli("reload").returncode == 0 and s.cli("deploy").returncode == 0
    assert len(s.log_lines(" sessions ")) == 1 and s.get("/").text == "ephpm"


def test_a_policy_that_evicts_no_session_is_not_said(serve):
    s, _ = handler(serve, config={"kv": {"eviction_policy": "noeviction"}})
    (line,) = s.log_lines(" sessions ")
    assert "kv.persist" in line and "eviction" not in line


@pytest.mark.parametrize("php", [
    {"values": {"session.save_handler": "files"}},
    {"admin_values": {"session.save_handler": "files"}},
    {"ini_overrides": [["session.save_handler", "files"]]},
    {"values": {"session.save_path": "/tmp"}},
    {"site": [{"site": "default", "values": {"session.save_handler": "files"}}]},
], ids=["values", "admin", "override", "path", "site"])
def test_files_when_the_user_says_so(serve, php):
    s, name = handler(serve, php)
    assert name == "files" and not s.log_lines(" sessions ")


def test_php_ini_that_is_named_wins_and_one_that_is_found_does_not(serve, tmp_path):
    ini = tmp_path / "php.ini"
    ini.write_text("session.save_handler = files\n")
    assert handler(serve, {"ini_file": str(ini)})[1] == "files"
    assert handler(serve, env={"PHP_INI_SCAN_DIR": f":{tmp_path}"})[1] == "files"
    ini.write_text("session.gc_maxlifetime = 5\n")
    assert handler(serve, {"ini_file": str(ini)})[1] == "ephpm"


def test_files_in_dev_and_without_a_store(serve):
    s, name = handler(serve, mode="dev")
    assert name == "files" and not s.log_lines(" sessions ")
    s.stop()
    s, name = handler(serve, config={"kv": {"enabled": False}})
    assert name == "files" and not s.log_lines(" sessions ")


def test_dev_can_have_it(serve):
    assert handler(serve, {"values": {"session.save_handler": "ephpm"}}, "dev")[1] == "ephpm"


def test_user_ini_and_script_can_choose(serve):
    s = serve({}, {**SHOW, "f/.user.ini": "session.save_handler = files\n",
                   "f/index.php": SHOW["index.php"],
                   "set.php": "<?php session_module_name('files'); echo session_module_name();"})
    assert s.get("/f/").text == "files"
    assert s.get("/set.php").text == "files"
    assert s.get("/").text == "ephpm"


# --- a visitor ------------------------------------------------------------------------------------

def test_login_with_a_cookie_jar(server):
    jar = server.tmp / "jar"

    def curl(target, *args):
        r = server.curl(target, "-L", "-b", jar, "-c", jar, *args)
        assert r.returncode == 0, r.stderr
        return r.stdout.decode()

    assert curl("/login.php") == "log in"
    before = re.search(r"PHPSESSID\s+(\S+)", jar.read_text())[1]
    assert curl("/login.php", "-d", "user=ada", "-d", "password=wrong") == "log in"
    assert curl("/login.php", "-d", "user=ada", "-d", "password=right") == "hello ada"
    after = re.search(r"PHPSESSID\s+(\S+)", jar.read_text())[1]
    assert before != after
    assert f"session:{before}" not in keys(server) and f"session:{after}" in keys(server)
    assert [curl("/login.php") for _ in range(5)] == ["hello ada"] * 5
    assert curl("/login.php?logout") == "log in"
    assert not [k for k in keys(server) if k.startswith("session_lock:")]
    jar.unlink()


def test_session_outlives_deploys_reloads_and_workers(serve):
    s = serve(CONFIG, FILES)
    sid = cookie(s.get("/count.php"))

    def count():
        return s.get("/count.php", {"Cookie": f"PHPSESSID={sid}"}).text

    assert count() == "2"
    assert s.cli("deploy").returncode == 0
    assert count() == "3"
    assert s.cli("reload").returncode == 0
    assert count() == "4"
    assert ephpm.wait_for(lambda: len(s.status()["generations"]) == 1)
    for w in s.workers():
        os.kill(w["pid"], signal.SIGKILL)
    assert ephpm.wait_for(lambda: sum(w["state"] == "idle" for w in s.workers()) == 4)
    assert count() == "5"


def test_session_outlives_a_restart_with_kv_persist(serve):
    s = serve({"kv": {"persist": "{dir}/kv"}}, FILES, start=False)
    (s.dir / "kv").mkdir()
    (s.dir / "kv").chmod(0o777)
    s.start()
    sid = cookie(s.get("/count.php"))
    (line,) = s.log_lines(" sessions ")
    assert "end with the server" not in line and "kv.eviction_policy" in line
    s.stop()
    s.start()
    assert s.get("/count.php", {"Cookie": f"PHPSESSID={sid}"}).text == "2"


def test_session_ends_after_its_lifetime(serve):
    s = serve({"php": {"values": {"session.gc_maxlifetime": "1"}}}, FILES)
    sid = cookie(s.get("/count.php"))
    for want in "2", "3", "4":  # each use makes it last longer
        time.sleep(0.5)
        assert s.get("/count.php", {"Cookie": f"PHPSESSID={sid}"}).text == want
    assert keys(s) == [f"session:{sid}"]
    time.sleep(1.1)
    assert keys(s) == []
    assert s.get("/count.php", {"Cookie": f"PHPSESSID={sid}"}).text == "1"


def test_sites_do_not_share_sessions(serve):
    site = {f"sites/{name}/{f}": FILES[f] for name in ("a", "b") for f in ("count.php", "keys.php")}
    s = serve({"server": {"sites_dir": "{root}/sites"}}, site)

    def get(host, target):
        return s.get(target, {"Host": host}).text

    assert [get("a", "/count.php?id=same") for _ in range(3)] == ["1", "2", "3"]
    assert get("b", "/count.php?id=same") == "1"
    assert get("a", "/count.php?id=same") == "4"
    assert json.loads(get("b", "/keys.php")) == ["session:same"]
    assert len(s.log_lines(" sessions ")) == 1


def test_upload_progress_is_in_the_session(serve):
    s = serve({"php": {"values": {"session.upload_progress.enabled": "1",
                                  "session.upload_progress.cleanup": "0"}}},
              {"up.php": "<?php session_start(); echo json_encode(array_keys($_SESSION));"})
    part = '--x\r\nContent-Disposition: form-data; name='
    body = (f'{part}"PHP_SESSION_UPLOAD_PROGRESS"\r\n\r\none\r\n{part}"f"; filename="f"\r\n\r\n'
            + "y" * 300000 + "\r\n--x--\r\n").encode()
    r = s.post("/up.php", body, {"Content-Type": "multipart/form-data; boundary=x",
                                 "Cookie": "PHPSESSID=up"})
    assert json.loads(r.text) == ["upload_progress_one"]


# --- many at once ---------------------------------------------------------------------------------

def test_parallel_requests_of_one_session_lose_nothing(server):
    got = []
    in_threads(20, lambda i: got.extend(
        int(server.get("/count.php?id=par&us=2000").text) for _ in range(5)))
    assert sorted(got) == list(range(1, 101))


def test_read_and_close_and_write_close_let_others_in(server):
    codes = {"rc": "session_start(['read_and_close' => true]);",
             "wc": "session_start(); session_write_close();",
             "ab": "session_start(); session_abort();"}
    for name, code in codes.items():
        server.write(f"{name}.php", HOLD.replace("session_start();", code))
        with Holder(server, f"/{name}.php"):
            assert server.get("/peek.php").status == 200
            assert server.get(f"/{name}.php?mark=/dev/null/x").text.endswith("held")


def test_lock_is_between_workers_and_costs_no_time_while_waiting(server):
    with Holder(server) as h:
        got = []
        t = threading.Thread(target=lambda: got.append(server.get("/peek.php").text.split()))
        t.start()
        (pid,) = ephpm.wait_for(lambda: [
            w["pid"] for w in server.workers() if w["state"] == "busy" and w["pid"] != h.pid], 10)
        before, sleeps, begin = cpu(pid), slept(pid), time.monotonic()
        time.sleep(1)
        assert not got
        # It looks at the owner a few times a second and sleeps between.
        after, sleeps, took = cpu(pid), slept(pid) - sleeps, time.monotonic() - begin
        assert 1 <= sleeps <= 20 * took + 20 and after - before < 50 * took, (sleeps, after - before)
    t.join(90)
    assert got[0][0] == str(pid)


def slept(pid):
    """How often it went to sleep."""
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M)[1])


def cpu(pid):
    """Hundredths of a second."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_killed_owner_frees_the_session(server):
    for _ in range(3):
        with Holder(server) as h:
            got = []
            threads = [threading.Thread(target=lambda: got.append(
                server.get("/peek.php").status)) for _ in range(2)]
            for t in threads:
                t.start()
            time.sleep(0.3)
            assert not got
            os.kill(h.pid, signal.SIGKILL)
            for t in threads:
                t.join()
            assert got == [200, 200]  # nothing else would have ended their wait


def test_lock_of_the_dead_that_nobody_waits_for_is_taken_away(serve):
    s = serve(CONFIG, FILES)
    with Holder(s) as h:
        os.kill(h.pid, signal.SIGKILL)
    assert keys(s) == ["session:held", "session_lock:held"]
    os.kill(s.status()["kv"]["pid"], signal.SIGKILL)  # it looks when it starts, then once a minute
    assert ephpm.wait_for(lambda: keys(s) == ["session:held"]), keys(s)


def test_child_of_a_script_leaves_the_lock_to_it(server):
    server.write("fork.php", """<?php
        session_id('forked');
        session_start();
        $_SESSION['by'] = 'parent';
        if (pcntl_fork() == 0) {
            $_SESSION['by'] = 'child';
            session_write_close();          // not what lets others in
            exit;
        }
        pcntl_wait($status);
        echo ephpm_kv_exists('session_lock:forked') ? 'locked ' : 'free ';
        echo ephpm_kv_get('session:forked');""")
    assert server.get("/fork.php").text == 'locked by|s:5:"child";'
    server.write("after.php", "<?php session_id('forked'); session_start(); echo $_SESSION['by'];")
    assert server.get("/after.php").text == "parent"
    assert [k for k in keys(server) if k.startswith("session_lock:")] == []


def test_waiting_ends_with_max_execution_time(serve):
    s = serve({"php": {"workers": 3, "workers_min": 3, "max_execution_time": 1}}, FILES)
    with Holder(s):
        begin = time.monotonic()
        assert s.get("/peek.php").status == 500
        assert time.monotonic() - begin > 0.9
        s.wait_log("Maximum execution time of 1 second exceeded")
    assert s.get("/peek.php").text.split()[1] == "1"


def test_waiting_ends_with_the_time_of_the_server(serve):
    s = serve({"php": {"workers": 3, "workers_min": 3},
               "server": {"timeouts": {"request": "1s"}}}, {**FILES, "hold.php": (
                   "<?php session_id('held'); session_start(); file_put_contents($_GET['mark'],"
                   "getmypid()); fastcgi_finish_request(); sleep(100);")})
    mark = s.tmp / "mark"
    s.get(f"/hold.php?mark={mark}")
    assert s.get("/peek.php").status in (200, 504)  # the holder's time is over too
    mark.unlink()
    assert ephpm.wait_for(lambda: s.get("/peek.php").status == 200)


def test_clients_that_went_away_do_not_keep_workers(server):
    with Holder(server):
        for _ in range(6):
            c = server.connect()
            c.send(b"GET /peek.php HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(0.05)
            c.close()
        assert server.get("/pid.php").status == 200
        assert ephpm.wait_for(
            lambda: len([w for w in server.workers() if w["state"] != "idle"]) == 1)
    assert server.get("/peek.php").status == 200
    assert [k for k in keys(server) if k.startswith("session_lock:")] == []


def metric(s, name):
    return float(re.search(rf'^{name}{{site="default"}} (\S+)$', s.get("/metrics").text, re.M)[1])


def test_metrics_of_sessions(serve):
    s = serve({**CONFIG, "server": {"metrics": {"enabled": True}}}, FILES)
    assert metric(s, "ephpm_sessions_opened_total") == 0
    for _ in range(3):
        s.get("/count.php")
    s.get("/pid.php")
    begin = time.monotonic()
    with Holder(s) as h:
        t = threading.Thread(target=lambda: s.get("/peek.php"))
        t.start()
        assert ephpm.wait_for(lambda: len([w for w in s.workers() if w["state"] == "busy"]) == 2)
        time.sleep(0.3)
        os.kill(h.pid, signal.SIGKILL)
        t.join(90)
    assert metric(s, "ephpm_sessions_opened_total") == 4  # without the killed one
    assert metric(s, "ephpm_sessions_taken_over_total") == 1
    assert metric(s, "ephpm_sessions_not_written_total") == 0
    assert metric(s, "ephpm_session_wait_seconds_count") == 4
    assert 0 < metric(s, "ephpm_session_wait_seconds_sum") <= time.monotonic() - begin


# --- when the store is full, or compresses -------------------------------------------------------

def test_full_store_is_a_warning_and_the_request_goes_on(serve):
    s = serve({"kv": {"memory_limit": "2MB", "eviction_policy": "noeviction"}}, {
        **FILES,
        "fill.php": "<?php for ($i = 0; ephpm_kv_set(\"f$i\", str_repeat('x', 900)); $i++);"
                    "for ($i = 0; ephpm_kv_set(\"g$i\", ''); $i++); echo 'full';",
        "big.php": "<?php session_id('big'); session_start(); $_SESSION['x'] ="
                   "str_repeat('x', 200000); session_write_close(); echo 'went on';"})
    assert s.get("/fill.php").text == "full"
    assert s.get("/big.php").text == "went on"
    s.wait_log("The session could not be written: no room for 20001")
    s.get("/keys.php")
    assert s.get("/login.php").text == "log in"


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_data_that_is_compressed_comes_back(serve, how):
    s = serve({"kv": {"compression": how, "compression_min_size": 64}}, FILES)
    sid = cookie(s.get("/count.php"))
    assert [s.get("/count.php", {"Cookie": f"PHPSESSID={sid}"}).text for _ in range(60)] == [
        str(n) for n in range(2, 62)]


# --- torture --------------------------------------------------------------------------------------

SECONDS = float(os.environ.get("EPHPM_TORTURE_SECONDS", "15"))


def test_kills_while_sessions_count(serve):
    """Workers are killed at random while clients count in sessions: no count comes twice or goes
    back, no data is torn, and nobody waits for ever for a session whose owner is dead."""
    s = serve(CONFIG, FILES)
    seed = random.randrange(1 << 32)
    print("seed", seed)
    end, faults, done = time.monotonic() + SECONDS, [], [0] * 6
    seen = {f"c{i}": set() for i in range(3)}

    def goes_on():
        """Until the time is over, and longer where a slow machine has done little in it."""
        now = time.monotonic()
        return now < end or now < end + 120 and not faults and (min(done) <= 20 or len(kills) <= 20)

    def client(i):
        name, last = f"c{i % 3}", 0
        while goes_on():
            try:
                with s.connect() as c:
                    r = c.request("GET", f"/count.php?id={name}&us=500", [("Connection", "close")])
            except OSError as e:
                if isinstance(e, TimeoutError):
                    faults.append(f"client {i} waited in vain")
                continue  # its worker was killed
            if r.status in (502, 503):
                continue
            if r.status != 200 or not r.text.isdigit():
                faults.append((i, r.status, r.text[:100]))
            elif int(r.text) <= last or int(r.text) in seen[name]:
                faults.append(f"client {i}: {r.text} after {last}, or again")
            else:
                last, done[i] = int(r.text), done[i] + 1
                seen[name].add(last)

    def killer():
        rng = random.Random(seed)
        while goes_on():
            time.sleep(rng.uniform(0.005, 0.08))
            pids = [w["pid"] for w in s.workers() if w["pid"]]
            if pids:
                try:
                    os.kill(rng.choice(pids), signal.SIGKILL)
                    kills.append(1)
                except ProcessLookupError:
                    pass

    kills = []
    threads = [threading.Thread(target=client, args=(i,)) for i in range(6)]
    threads.append(threading.Thread(target=killer))
    for t in threads:
        t.start()
    for t in threads:
        t.join(SECONDS + 300)
        assert not t.is_alive()
    print("counted", done, "killed", len(kills))
    assert not faults, faults[:10]
    assert min(done) > 20 and len(kills) > 20
    assert ephpm.wait_for(lambda: len([w for w in s.workers() if w["state"] == "idle"]) == 4)
    for name in "c0", "c1", "c2":
        assert s.get(f"/count.php?id={name}").status == 200
    assert not [k for k in keys(s) if k.startswith("session_lock:")]
