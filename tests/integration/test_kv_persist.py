# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Snapshots of the key-value stores: what is in them outlives the server."""
import fcntl
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import time

import pytest

import ephpm
from test_kv import KV, call

FILES = {"kv.php": KV, "index.php": "<?php echo 'ok';"}
FILL = "<?php for ($i = 0; $i < 300; $i++) ephpm_kv_set(\"k$i\", random_bytes(200000));"
CONFIG = {"kv": {"persist": "{dir}/kept", "persist_interval": "1h"}, "php": {"workers_min": 1}}


def with_interval(text, **more):
    return ephpm.merge(CONFIG, {"kv": {"persist_interval": text, **more}})


def kept(s, name="default"):
    return s.dir / "kept" / f"{name}.kv"


def saved(s, site=0):
    return s.status()["kv"]["sites"][site]["snapshot"]


def wait_saved(s, keys):
    assert ephpm.wait_for(lambda: saved(s)["keys"] == keys), s.log()


def restart(s, sig=signal.SIGTERM):
    s.stop(sig)
    s.start()


def role(s):
    return s.status()["kv"]["pid"]


def test_values_outlive_the_server(serve):
    s = serve(CONFIG, FILES)
    values = {"text": "long " * 1000, "int": -5, "float": 0.1, "array": {"a": [1, None, "x"]}}
    for key, value in values.items():
        assert call(s, "set", key, value)
    call(s, "hset", "hash", "field", "value")
    begin = time.monotonic()
    assert call(s, "set", "short", "x", 2)
    assert call(s, "set", "long", "x", 100)
    s.stop()
    keys = int(re.search(r'kv_snapshot_saved.*keys[=": ]+(\d+)', s.log())[1])
    assert keys == 7 or keys == 6 and time.monotonic() - begin > 2, s.log()
    s.start()
    assert re.search(r"kv_snapshot_loaded", s.log())
    for key, value in values.items():
        assert call(s, "get", key) == value
    assert 80 < call(s, "ttl", "long") <= 100
    assert call(s, "hget", "hash", "field") == "value"
    assert ephpm.wait_for(lambda: call(s, "get", "short") is None)
    assert call(s, "set", "short", "x", 1)
    s.stop()
    time.sleep(1.1)
    s.start()
    assert call(s, "get", "short") is None
    assert call(s, "exists", "short") is False


def test_ctrl_c_keeps_them_too(serve):
    s = serve(CONFIG, FILES)
    call(s, "set", "a", 1)
    os.killpg(s.pid, signal.SIGINT)
    assert s.process.wait(60) == 0, s.log()
    s.kill()
    s.start()
    assert call(s, "get", "a") == 1


def test_deploys_and_reloads_read_nothing_again(serve):
    s = serve(CONFIG, FILES)
    call(s, "set", "a", 1)
    restart(s)
    call(s, "set", "a", 2)
    for command in (["cache", "reset"], ["reload"], ["deploy"]):
        p = s.cli(*command)
        assert p.returncode == 0, p.stderr + p.stdout
    assert call(s, "get", "a") == 2
    os.kill(role(s), signal.SIGKILL)
    assert ephpm.wait_for(lambda: "kv" in s.status() and (s.status()["kv"] or {}).get("pid"))
    assert call(s, "get", "a") == 2
    assert len(s.log_lines("kv_snapshot_loaded")) == 1
    restart(s)
    assert call(s, "get", "a") == 2


def test_saved_from_time_to_time_when_something_changed(serve):
    s = serve(with_interval("1s"), FILES)
    call(s, "set", "a", 1)
    wait_saved(s, 1)
    was = kept(s).stat()
    assert was.st_mode & 0o7777 == 0o600
    time.sleep(2.5)
    assert kept(s).stat().st_ino == was.st_ino, "saved without a change"
    call(s, "set", "b", 1)
    wait_saved(s, 2)
    # What a killed server had saved is there.
    s.kill()
    s.start()
    assert call(s, "get", "b") == 1
    assert saved(s)["state"] == "good"
    assert re.search(r"snapshot good  keys 2  saved 20\S+Z  " + str(kept(s)), s.cli("status").stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")
def test_files_belong_to_the_user_of_php(serve):
    s = serve(ephpm.merge(CONFIG, {"server": {"run_as_user": "www-data"}}), FILES)
    call(s, "set", "a", 1)
    s.stop()
    owner = pwd.getpwnam("www-data").pw_uid
    assert (kept(s).parent.stat().st_uid, kept(s).parent.stat().st_mode & 0o7777) == (owner, 0o700)
    # The lock, too, also one that root made for itself: that user may start the next server.
    lock = kept(s).parent / ".lock"
    for path in kept(s), lock:
        assert (path.stat().st_uid, path.stat().st_mode & 0o7777) == (owner, 0o600), path
    os.chown(lock, 0, 0)
    s.start()
    assert call(s, "get", "a") == 1
    assert lock.stat().st_uid == owner


@pytest.mark.parametrize("damage,says", [
    (lambda b: b[:-1], "ends too early"),
    (lambda b: b[:40] + bytes([b[40] ^ 1]) + b[41:], ""),
    (lambda b: b"", "no snapshot"),
    (lambda b: b"<?php echo 'not at all a snapshot of a store';", "no snapshot"),
    (lambda b: b[:8] + b"\x09" + b[9:], "version 9"),
])
def test_damaged_snapshot_is_kept_aside(serve, damage, says):
    s = serve(CONFIG, FILES)
    call(s, "set", "a", "one")
    s.stop()
    bad = damage(kept(s).read_bytes())
    kept(s).write_bytes(bad)
    s.start()
    [line] = s.log_lines("kv_snapshot_refused")
    assert says in line and str(kept(s)) in line
    [aside] = kept(s).parent.glob("default.kv.damaged-*")
    assert str(aside) in line and aside.read_bytes() == bad
    assert call(s, "get", "a") is None
    call(s, "set", "a", "two")
    restart(s)
    assert call(s, "get", "a") == "two"
    assert aside.read_bytes() == bad


def start_refused(s):
    p = subprocess.run([ephpm.EPHPM, s.mode, "-c", s.config_path], cwd=s.dir, env=s.env, text=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=60)
    assert p.returncode == 1, p.stdout
    return p.stdout


def test_folder_that_cannot_be(serve):
    for folder in "{dir}/no/such", "{dir}/ephpm.toml", "/proc/kept":
        s = serve({"kv": {"persist": folder}}, FILES, start=False)
        text = start_refused(s)
        assert "kv.persist" in text and folder.replace("{dir}", str(s.dir)) in text


@pytest.mark.skipif(os.geteuid() != 0, reason="root writes everywhere else")
def test_folder_that_the_user_cannot_write(serve):
    s = serve(ephpm.merge(CONFIG, {"server": {"run_as_user": "www-data"}}), FILES, start=False)
    kept(s).parent.mkdir(mode=0o755)
    text = start_refused(s)
    assert "kv.persist" in text and str(kept(s)) in text and "permission denied" in text
    # A file that is there and cannot be read is not written over.
    os.chown(kept(s).parent, pwd.getpwnam("www-data").pw_uid, -1)
    kept(s).write_bytes(b"root's")
    kept(s).chmod(0o600)
    text = start_refused(s)
    assert "kv.persist" in text and str(kept(s)) in text and "permission denied" in text
    assert kept(s).read_bytes() == b"root's"


def test_folder_is_of_one_server(serve):
    s = serve(CONFIG, FILES)
    call(s, "set", "a", 1)
    other = serve({"kv": {"persist": str(s.dir / "kept")}}, FILES, start=False)
    master = s.status()["master_pid"]
    refusal = f"kv.persist: {s.dir}/kept: another server, process {master}, keeps its snapshots"
    assert refusal in start_refused(other)
    # A reload, and another role, leave it as it is.
    assert s.cli("reload").returncode == 0
    os.kill(role(s), signal.SIGKILL)
    assert refusal in start_refused(other)
    assert ephpm.wait_for(lambda: "kv" in s.status() and (s.status()["kv"] or {}).get("pid"))
    assert refusal in start_refused(other)
    s.stop()
    other.start()
    assert call(other, "get", "a") == 1
    other.stop()
    # Somebody who has the lock without having said who he is.
    with open(s.dir / "kept" / ".lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        assert (f"kv.persist: {s.dir}/kept: another server keeps its snapshots"
                in start_refused(other))


def test_killed_server_leaves_the_folder_free(serve):
    s = serve(with_interval("1s"), FILES)
    call(s, "set", "a", 1)
    wait_saved(s, 1)
    for _ in range(3):
        master = s.status()["master_pid"]
        os.kill(master, signal.SIGKILL)
        s.process.wait(60)
        s.process = None
        s.start()
        assert s.status()["master_pid"] != master
        assert call(s, "get", "a") == 1


def test_folder_that_goes_away(serve):
    s = serve(with_interval("1s"), FILES)
    call(s, "set", "a", 1)
    wait_saved(s, 1)
    shutil.move(kept(s).parent, s.dir / "away")
    call(s, "set", "b", 1)
    assert s.wait_log("kv_snapshot_failed")
    time.sleep(3)
    assert len(s.log_lines("kv_snapshot_failed")) == 1, "each failure is logged"
    assert saved(s)["state"] == "failed"
    shutil.move(s.dir / "away", kept(s).parent)
    assert s.wait_log("kv_snapshot_works_again")
    wait_saved(s, 2)


def test_each_site_has_a_file(serve):
    s = serve(ephpm.merge(CONFIG, {"server": {"sites_dir": "{root}/sites"}}),
              {"sites/alpha/kv.php": KV, "sites/beta.example/kv.php": KV})
    call(s, "set", "mine", "alpha", host="alpha")
    call(s, "set", "mine", "beta", host="beta.example")
    restart(s)
    assert call(s, "get", "mine", host="alpha") == "alpha"
    assert call(s, "get", "mine", host="beta.example") == "beta"
    assert kept(s, "alpha").exists() and kept(s, "beta.example").exists()
    s.stop()
    kept(s, "alpha").write_bytes(b"damaged")
    s.start()
    assert call(s, "get", "mine", host="alpha") is None
    assert call(s, "get", "mine", host="beta.example") == "beta"


def test_snapshot_larger_than_the_store(serve):
    s = serve(CONFIG, FILES)
    for i in range(30):
        call(s, "set", f"key:{i}", "x" * 200000)
    s.stop()
    s.write_config(ephpm.merge(CONFIG, {"kv": {"memory_limit": "2MB",
                                               "eviction_policy": "noeviction"}}))
    s.start()
    assert s.wait_log("kv_snapshot_larger_than_store")
    assert len(call(s, "keys", "key:", 100)) in range(3, 10)
    assert s.get("/index.php").text == "ok"


def test_snapshot_that_is_no_file(serve):
    s = serve(CONFIG, FILES)
    call(s, "set", "a", 1)
    s.stop()
    os.remove(kept(s))
    os.mkfifo(kept(s))
    text = start_refused(s)
    assert "kv.persist" in text and "it is no file" in text


def kill_roles(s, times):
    """Kills the role kv as soon as it shows, so many times."""
    killed = set()
    end = time.monotonic() + 90
    while len(killed) < times:
        assert time.monotonic() < end, s.log()
        for pid in ephpm.family(s.pid):
            try:
                if pid not in killed and pathlib.Path(f"/proc/{pid}/cmdline").read_bytes(
                        ).startswith(b"ephpm: kv"):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            except (FileNotFoundError, ProcessLookupError):
                pass


def test_reading_that_ends_the_role_is_given_up(serve):
    """Kills stand for a fault in the reader, which each new process meets."""
    s = serve(CONFIG, {**FILES, "fill.php": FILL})
    s.get("/fill.php")
    for _ in range(5):  # again when a kill came too late, and all was read
        s.stop()
        start = len(s.log())
        with open(s.log_path, "ab") as log:
            s.process = subprocess.Popen([ephpm.EPHPM, s.mode, "-c", s.config_path], cwd=s.dir,
                                         env=s.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         start_new_session=True)
        kill_roles(s, 3)
        assert ephpm.wait_for(s._is_ready), s.log()
        said = s.wait_log("kv_snapshot_refused.*again and again|kv_snapshot_loaded", start=start)[0]
        if "refused" in said:
            break
    assert "again and again" in said, s.log()
    [_] = kept(s).parent.glob("default.kv.damaged-*")
    assert call(s, "keys", "k", 1000) == []
    s.stop()
