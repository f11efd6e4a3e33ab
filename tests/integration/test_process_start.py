# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What keeps the server from starting: it exits with 1 (or 2 for usage), says why, leaves nothing."""
import os
import pathlib
import resource
import signal
import socket
import subprocess

import pytest

from ephpm import EPHPM, Server, family, php_version, wait_for

INDEX = {"index.php": "<?php echo 'ok';"}


@pytest.fixture
def idle_server():
    """A server that is set up and not started."""
    made = []

    def make(config=None, files=INDEX, **more):
        s = Server(config, files, start=False, **more)
        made.append(s)
        return s

    yield make
    for s in made:
        s.__exit__(AssertionError)


def refused(s, *args, env=None, before=None, code=1):
    """Runs it to its end; returns what it said."""
    p = subprocess.run([EPHPM, s.mode, "-c", s.config_path, *args], cwd=s.dir,
                       env={**s.env, **(env or {})}, stdin=subprocess.DEVNULL, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20,
                       preexec_fn=before)
    assert p.returncode == code, f"exit code {p.returncode}: {p.stdout}"
    assert not s.control.exists(), "control socket left"
    assert "alert" not in p.stdout
    return p.stdout


@pytest.mark.parametrize("what, config, says", [
    ("no such root", {"server": {"document_root": "/nonexistent/x"}},
     ["server.document_root", "/nonexistent/x"]),
    ("root is a file", {"server": {"document_root": "{dir}/ephpm.toml"}},
     ["server.document_root", "not a folder"]),
    ("no such binary", {"php": {"binary": "/nonexistent/ephpm-php"}},
     ["php.binary", "/nonexistent/ephpm-php"]),
    ("binary is not executable", {"php": {"binary": "{dir}/ephpm.toml"}}, ["ephpm.toml"]),
    ("binary is another program", {"php": {"binary": "/bin/true"}}, ["prototype ended"]),
    ("unknown key", '[server]\nlisten = "127.0.0.1:0"\n[php]\nworkres = 3\n',
     ["workres", "workers", "ephpm.toml:"]),
    ("wrong type", '[php]\nmax_requests = "many"\n', ["php.max_requests", "ephpm.toml:"]),
    ("negative", '[php]\nmax_worker_memory = -1\n', ["php.max_worker_memory", "-1"]),
    ("bad address", {"server": {"listen": "nowhere:http"}}, ["server.listen", "nowhere:http"]),
    ("bad ini", {"php": {"ini_file": "/nonexistent/php.ini"}}, ["php.ini"]),
    ("no such user", {"server": {"run_as_user": "nobody-of-that-name"}}, ["run_as_user"]),
    ("control socket cannot be made", {"server": {"control_socket": "/proc/x/control.sock"}},
     ["server.control_socket", "/proc/x/control.sock"]),
])
def test_start_is_refused_with_the_reason(idle_server, what, config, says):
    if what == "no such user" and os.geteuid() != 0:
        pytest.skip("only root can change the user")
    text = refused(idle_server(config))
    for part in says:
        assert part in text


def test_start_with_config_that_is_a_directory(idle_server):
    s = idle_server()
    s.config_path.unlink()
    s.config_path.mkdir()
    assert "ephpm.toml" in refused(s)


def test_start_with_config_that_is_missing(idle_server):
    s = idle_server()
    s.config_path.unlink()
    assert "ephpm.toml" in refused(s)


def test_start_with_config_that_is_not_utf8(idle_server):
    s = idle_server()
    s.config_path.write_bytes(b'[server]\nlisten = "\xff\xfe"\n')
    text = refused(s)
    assert "UTF-8" in text and ":2:" in text


@pytest.mark.skipif(os.geteuid() != 0, reason="root drops to www-data")
def test_start_with_root_that_the_user_cannot_read(idle_server):
    s = idle_server()
    s.root.chmod(0o700)
    text = refused(s)
    assert "document_root" in text and "www-data" in text


def test_start_on_a_port_in_use(idle_server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        text = refused(idle_server({"server": {"listen": address}}))
    assert address in text and "in use" in text


def test_second_server_on_the_same_control_socket(serve, idle_server):
    s = serve({}, INDEX)
    p = subprocess.run([EPHPM, "serve", "-c", s.config_path], cwd=s.dir, env=s.env, text=True,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    assert p.returncode == 1 and "another server is running" in p.stderr
    assert s.get("/").text == "ok"
    assert s.status()["ok"], "the first one lost its control socket"


def test_stale_control_socket_is_replaced(serve):
    s = serve({}, INDEX)
    os.kill(s.pid, signal.SIGKILL)
    s.kill()
    assert s.control.exists()
    s.start()
    assert s.get("/").text == "ok"


def test_descriptor_limit_is_raised_or_complained_about(idle_server):
    s = idle_server()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource_before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        s.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, resource_before)
    front = s.front()["front_pid"]
    limits = pathlib.Path(f"/proc/{front}/limits").read_text()
    assert [x for x in limits.splitlines() if x.startswith("Max open files")][0].split()[3] == str(
        hard)
    if hard >= 4096:
        assert not s.log_lines("descriptor_limit_low")
    s.stop()


def other_libphp():
    """A libphp of another version than the one that is tested."""
    own = "%d.%d" % php_version()[:2]
    for path in pathlib.Path("/usr/lib").glob("libphp[0-9].[0-9].so"):
        if path.name != f"libphp{own}.so":
            return path
    return None


def test_libphp_of_another_version_is_refused_not_run(idle_server):
    other = other_libphp()
    if other is None:
        pytest.skip("only one version of libphp is installed")
    s = idle_server()
    (s.dir / "libphp.so").symlink_to(other)
    text = refused(s, env={"LD_LIBRARY_PATH": str(s.dir)})
    assert "built for PHP %d.%d" % php_version()[:2] in text
    assert f"is PHP {other.stem.removeprefix('libphp')}." in text


def test_own_libphp_is_taken_among_several(serve):
    s = serve({}, {"index.php": "<?php echo PHP_VERSION;"})
    maps = pathlib.Path(f"/proc/{s.workers()[0]['pid']}/maps").read_text()
    loaded = {line.split()[-1] for line in maps.splitlines() if "libphp" in line}
    own = "%d.%d" % php_version()[:2]
    assert s.get("/").text.startswith(own + ".")
    assert len(loaded) == 1 and (other_libphp() is None or own in loaded.pop()), loaded


def test_low_hard_descriptor_limit_warns(idle_server):
    s = idle_server()
    s.limit = 256
    s.start()
    assert "LimitNOFILE" in s.log_lines("descriptor_limit_low")[0]
    assert s.get("/").text == "ok"
    s.stop()


@pytest.mark.parametrize("room, message", [
    (65536, "the shared memory of metrics cannot be made"), (4 << 20, "kv.memory_limit = 268435456"),
])
def test_no_room_for_shared_memory(idle_server, room, message):
    """A file size limit stands for a full shared memory."""
    s = idle_server({"php": {"ini_overrides": [["opcache.enable", "0"]]}})
    text = refused(s, before=lambda: (
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))))
    assert message in text


def test_no_room_for_the_shared_memory_of_workers(idle_server):
    s = idle_server({}, {"index.php": "<?php echo 'ok';"})
    s.limit, s._limit = True, lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    s.start()
    resource.prlimit(s.pid, resource.RLIMIT_FSIZE, (300000, 300000))
    done = s.cli("deploy")
    assert done.returncode == 1 and "no worker could be started: its shared memory" in done.stderr, done
    assert s.get("/").text == "ok"
    s.stop()


def test_script_with_an_error_does_not_keep_it_from_starting(serve):
    s = serve({}, {"index.php": "<?php broken(", "ok.php": "<?php echo 'ok';"})
    assert s.get("/").status == 500
    assert s.get("/ok.php").text == "ok"


def test_nothing_is_left_of_a_refused_start(idle_server):
    s = idle_server({"php": {"binary": "/bin/true"}})
    refused(s)
    assert not list(s.tmp.iterdir())
    assert not [p for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and str(
        s.config_path).encode() in _command(p)]


def _command(proc):
    try:
        return (proc / "cmdline").read_bytes()
    except OSError:
        return b""
