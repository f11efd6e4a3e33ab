# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Many sites: a folder of sites_dir per host, each with processes, deploys and limits of its own."""
import json
import os
import signal
import threading

import pytest

import ephpm

WHO = """<?php
header('Content-Type: text/plain');
echo basename(__DIR__), ' ', $_SERVER['SERVER_NAME'], "\\n";
echo ini_get('open_basedir'), "\\n", session_save_path(), "\\n", sys_get_temp_dir(), "\\n";
"""
PEEK = """<?php
header('Content-Type: text/plain');
$other = dirname(__DIR__) . '/alpha/secret.txt';
var_dump(@file_get_contents($other), function_exists('shell_exec'), function_exists('opcache_reset'));
"""

CONFIG = """
[server]
sites_dir = "{root}/sites"
[php]
workers = 2
workers_min = 1
"""

FILES = {
    "index.php": "<?php echo 'the default site';",
    "sites/alpha/index.php": WHO,
    "sites/alpha/secret.txt": "of alpha",
    "sites/alpha/pid.php": "<?php echo getmypid();",
    "sites/beta.test/index.php": WHO,
    "sites/beta.test/peek.php": PEEK,
    "sites/beta.test/pid.php": "<?php echo getmypid();",
    "sites/broken/index.php": "<?php this is no PHP",
    "sites/.hidden/index.php": "<?php echo 'hidden';",
}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def get(server, host, target="/"):
    return server.get(target, headers={"Host": host})


def test_each_host_has_its_folder(server):
    a, b = get(server, "alpha"), get(server, "beta.test:8080")
    assert a.status == b.status == 200
    assert a.text.splitlines()[0] == "alpha alpha"
    assert b.text.splitlines()[0] == "beta.test beta.test"


def test_host_is_normalised(server):
    assert get(server, "ALPHA.").text.startswith("alpha ")


def test_other_hosts_get_the_document_root(server):
    assert get(server, "nosuch").text == "the default site"


@pytest.mark.parametrize("host", ["..", "-x", ".hidden", "[::1]", "a/b", ""])
def test_hosts_that_are_no_folder_name(server, host):
    assert get(server, host).status in (400, 404), host


def test_a_site_is_kept_to_itself(server):
    lines = get(server, "alpha").text.splitlines()
    assert "/sites/alpha" in lines[1] and "beta" not in lines[1]
    assert lines[2].endswith("/alpha/sessions") and lines[3].endswith("/alpha/tmp")
    peek = get(server, "beta.test", "/peek.php").text
    assert peek.split() == ["bool(false)"] * 3, peek


def test_requests_wait_for_a_site_that_starts(server):
    server.write("sites/gamma/index.php", WHO)
    got = []
    threads = [threading.Thread(target=lambda: got.append(get(server, "gamma").status))
               for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [200] * 8
    assert sum(g["site"] == "gamma" for g in server.status()["generations"]) == 1


def test_broken_site_harms_no_other(server):
    assert get(server, "broken").status == 500
    assert get(server, "alpha").status == 200


def test_crash_of_one_site(server):
    alpha = get(server, "alpha", "/pid.php").text
    os.kill(int(get(server, "beta.test", "/pid.php").text), signal.SIGKILL)
    assert get(server, "beta.test").status == 200
    assert get(server, "alpha", "/pid.php").text == alpha
    assert get(server, "alpha").status == 200


def test_first_request_of_a_site_that_starts_slowly_is_answered(serve):
    s = serve({"server": {"sites_dir": "{root}/sites"},
               "php": {"workers": 1, "workers_min": 1, "ini_overrides": [
                   ["opcache.preload", "{root}/slow.php"], ["opcache.preload_user", "www-data"]]}},
              {**FILES, "slow.php": "<?php usleep(1500000);"})
    assert get(s, "alpha").status == 200
    assert not s.log_lines("reserve_worker")


def test_deploy_of_one_site(server):
    def active():
        return {g["site"]: g["id"] for g in server.status()["generations"]
                if g["state"] == "active"}

    get(server, "alpha"), get(server, "beta.test")
    # A first answer can be there before the master has taken note of who gave it.
    assert ephpm.wait_for(lambda: {"alpha", "beta.test"} <= set(active()))
    before = active()
    done = server.cli("deploy", "--site", "alpha")
    assert done.returncode == 0, done.stderr
    after = active()
    assert after["alpha"] > before["alpha"] and after["beta.test"] == before["beta.test"]
    missing = server.cli("deploy", "--site", "nosuch")
    assert missing.returncode == 1 and "nosuch" in missing.stderr


def test_deploy_of_all_reports_the_broken_one(server):
    get(server, "alpha"), get(server, "broken")
    done = server.cli("deploy")
    assert done.returncode == 1
    assert "  broken: " in done.stderr or "refused: broken: " in done.stderr, done.stderr
    assert "refused: generation" not in done.stderr, "another site's success is shown as the error"
    assert get(server, "alpha").status == 200


@pytest.mark.skipif("EPHPM_MANY_SITES" not in os.environ, reason="takes minutes and gigabytes")
def test_status_of_very_many_sites(serve):
    n = int(os.environ["EPHPM_MANY_SITES"])
    s = serve({"server": {"sites_dir": "{root}/sites"}, "kv": {"persist": "{dir}/kept"},
               "php": {"workers_min": 1, "workers": 1}},
              {f"sites/s{i}/index.php": "<?php echo 'ok';" for i in range(n)})
    for i in range(n):
        assert get(s, f"s{i}").text == "ok"
    check_status(s, {f"s{i}" for i in range(n)})


def check_status(s, names):
    """Every site is in every part of the status."""
    assert ephpm.wait_for(lambda: {g["site"] for g in s.status()["generations"]} >= names)
    done = s.cli("status", "--json")
    assert done.returncode == 0, done.stderr
    for status in json.loads(done.stdout), s.status():
        assert {g["site"] for g in status["front"]["generations"]} >= names
        assert {k["site"] for k in status["kv"]["sites"]} >= names


def test_status_longer_than_a_message(serve):
    """A few sites whose roots have very long names give as much text as some hundreds do."""
    s = serve({"server": {"sites_dir": "{root}/sites"}, "php": {"workers_min": 1, "workers": 1}},
              {"sites/alpha/index.php": WHO})
    names = {f"s{i}" for i in range(20)}
    deep = s.root.joinpath(*["d" * 250] * 15)
    for name in names:
        os.makedirs(deep / name)
        (deep / name / "index.php").write_text("<?php echo 'ok';")
        os.symlink(deep / name, s.root / "sites" / name)
        assert get(s, name).text == "ok"
    check_status(s, names)
    assert len(json.dumps(s.status()["front"])) > 65536


KEPT = {"server": {"sites_dir": "{root}/sites", "metrics": {"enabled": True}},
        "kv": {"persist": "{dir}/kept", "persist_interval": "1h"},
        "php": {"workers_min": 1, "workers": 2}}
COUNT = "<?php echo ephpm_kv_incr('n');"


def stores(server):
    """How many stores the server has in memory, by what its processes map."""
    found = set()
    for pid in ephpm.family(server.pid):
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
                found.update(line.split()[4] for line in f if "memfd:ephpm-kv" in line)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    return len(found)


def is_known(s, name):
    status = s.status()
    return name in {g["site"] for g in status["generations"] + status["front"]["generations"]} \
        or name in {k["site"] for k in status["kv"]["sites"]}


def test_removed_site_is_ended_by_a_reload(serve):
    s = serve(KEPT, {"sites/alpha/index.php": COUNT, "sites/beta/index.php": COUNT,
                     "index.php": "<?php echo 'the default site';"})
    assert [get(s, "alpha").text, get(s, "alpha").text, get(s, "beta").text] == ["1", "2", "1"]
    assert stores(s) == 3
    os.rename(s.root / "sites/alpha", s.root / "alpha-was")
    done = s.cli("reload")
    assert done.returncode == 0, done.stderr
    assert s.wait_log("site_gone.*alpha")
    assert ephpm.wait_for(lambda: not is_known(s, "alpha")), s.status()
    assert ephpm.wait_for(lambda: stores(s) == 2)
    assert (s.dir / "kept/alpha.kv").exists()
    assert s.cli("reload", "--site", "alpha").returncode == 1
    assert ephpm.wait_for(lambda: get(s, "alpha").text == "the default site")
    assert 'site="alpha"' not in "\n".join(
        line for line in s.get("/metrics").text.splitlines() if "_kv_keys" in line)
    assert int(get(s, "beta").text) >= 2  # the reload asked, too
    # It comes back as it was.
    os.rename(s.root / "alpha-was", s.root / "sites/alpha")
    assert ephpm.wait_for(lambda: get(s, "alpha").text == "3")
    assert stores(s) == 3


def kept_open(server):
    """How many stores the master holds."""
    fds = f"/proc/{server.pid}/fd"
    return sum("memfd:ephpm-kv" in os.readlink(f"{fds}/{n}") for n in os.listdir(fds))


def test_removed_site_is_saved_when_the_one_who_saves_it_dies(serve):
    s = serve(KEPT, {"sites/alpha/index.php": COUNT, "sites/beta/index.php": COUNT})
    assert [get(s, "alpha").text, get(s, "alpha").text, get(s, "beta").text] == ["1", "2", "1"]
    assert s.wait_log("generation_active site=beta")
    role = s.status()["kv"]["pid"]
    os.kill(role, signal.SIGSTOP)
    os.rename(s.root / "sites/alpha", s.root / "alpha-was")
    done = s.cli("reload")
    assert done.returncode == 0, done.stderr
    assert s.wait_log("site_gone.*alpha")
    os.kill(role, signal.SIGKILL)
    assert s.wait_log("kv_snapshot_saved.*alpha")
    assert ephpm.wait_for(lambda: kept_open(s) == stores(s)), (kept_open(s), stores(s))
    os.rename(s.root / "alpha-was", s.root / "sites/alpha")
    assert ephpm.wait_for(lambda: get(s, "alpha").text == "3")
    assert int(get(s, "beta").text) >= 2
    s.stop()


def test_removed_site_ends_by_itself(serve):
    files = {"sites/alpha/index.php": COUNT, "sites/beta/index.php": COUNT}
    s, unmounted = serve(KEPT, files), serve(KEPT, files)
    for server in s, unmounted:
        assert get(server, "alpha").text == get(server, "beta").text == "1"
    # What is missing with all the rest may be a mount: it stays.
    os.rename(unmounted.root / "sites", unmounted.root / "sites-was")
    os.mkdir(unmounted.root / "sites")
    os.rename(s.root / "sites/alpha", s.root / "alpha-was")
    assert s.wait_log("site_gone.*alpha", 30)
    assert ephpm.wait_for(lambda: not is_known(s, "alpha"))
    assert is_known(s, "beta") and get(s, "beta").text == "2"
    assert is_known(unmounted, "alpha") and not unmounted.log_lines("site_leaves")
    os.rmdir(unmounted.root / "sites")
    os.rename(unmounted.root / "sites-was", unmounted.root / "sites")
    assert get(unmounted, "alpha").text == "2"


def test_site_that_leaves_and_comes_at_once(serve):
    """The same name again and again, each time with what was counted before."""
    s = serve(KEPT, {"sites/alpha/index.php": COUNT})
    for n in range(1, 6):
        assert ephpm.wait_for(lambda: get(s, "alpha").text == str(n))
        os.rename(s.root / "sites/alpha", s.root / "alpha-was")
        assert s.cli("reload").returncode == 0
        os.rename(s.root / "alpha-was", s.root / "sites/alpha")


def test_dev_serves_folders_as_localhost_names():
    s = ephpm.Server(None, {"a/index.php": WHO, "b/index.php": WHO}, mode="dev", start=False)
    s.args = ["-s", str(s.root)]
    s.start()
    with s:
        assert get(s, "a.localhost").text.startswith("a a.localhost")
        s.write("b/index.php", "<?php echo 'changed';")
        assert get(s, "b.localhost").text == "changed"
        s.write("late/index.php", "<?php echo 'late';")
        assert get(s, "late.localhost:%d" % s.port).text == "late"
        assert os.path.isdir(s.root)
