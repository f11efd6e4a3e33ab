# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""`ephpm bench cpu`, `files` and `request`: figures of ourselves and of rivals, and what is refused."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

import ephpm

os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
STOCK = shutil.which(f"php{ephpm.php_minor()}")
rival = pytest.mark.skipif(not STOCK, reason="there is no php command of this version")


def bench(*args, tmp, path=None, timeout=120):
    """Its result; the temporary folder has to be empty again."""
    folder = pathlib.Path(tmp, "T")
    folder.mkdir(exist_ok=True)
    env = dict(os.environ, TMPDIR=str(folder))
    if path:
        env["PATH"] = path
    r = subprocess.run([ephpm.EPHPM, "bench", *args], capture_output=True, text=True, env=env,
                       timeout=timeout, stdin=subprocess.DEVNULL)
    assert list(folder.iterdir()) == [], r.stderr
    return r


def program(tmp, name, text):
    path = pathlib.Path(tmp, name)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def refused(r, code, *words):
    assert r.returncode == code, r.stderr
    assert r.stdout == ""
    assert r.stderr.startswith("ephpm bench: ")
    for word in words:
        assert word in r.stderr


@rival
def test_cpu_against_a_stock_php(tmp_path):
    r = bench("cpu", "--quick", "--json", "--only", "start,loop,json", "--only=template", "--against", STOCK,
              "--rounds", "2", tmp=tmp_path)
    assert r.returncode == 0, r.stderr
    d = json.loads(r.stdout)
    assert (d["suite"], d["rounds"], d["quick"]) == ("cpu", 2, True)
    assert d["machine"]["cpu"] and d["machine"]["processors"] >= 1 and d["machine"]["kernel"]
    ours, theirs = d["programs"]
    assert theirs["path"] == STOCK and theirs["vm"] in ("HYBRID", "CALL", "TAILCALL")
    assert ours["name"] == "ephpm" and ours["vm"] in ("HYBRID", "CALL", "TAILCALL")
    assert ours["php"] == ".".join(map(str, ephpm.php_version()))
    assert [b["name"] for b in d["benchmarks"]] == ["start", "loop", "json", "template"]
    for b in d["benchmarks"]:
        assert [(x["program"], x["jit"]) for x in b["results"]] == [
            (p["name"], jit) for jit in ("off", "function", "tracing") for p in d["programs"]]
        for x in b["results"]:
            if not x["available"]:
                assert x["jit"] != "off" and "us" not in x
                continue
            us = x["us"]
            assert 0 < us["min"] <= us["median"] <= us["max"]
            assert x["process_us"]["min"] >= us["min"]
            if x["program"] != "ephpm":
                ratio = x["ratio"]
                assert ratio["min"] <= ratio["median"] <= ratio["max"]


def by(benchmark, jit):
    """The best: what else the machine does only adds to it."""
    return next(x for x in benchmark["results"] if x["jit"] == jit)["us"]["min"]


def test_the_columns_are_different_things(tmp_path):
    """Loops gain much by the JIT; if its column does not, it was not on."""
    r = bench("cpu", "--quick", "--json", "--only", "nested", "--rounds", "3", tmp=tmp_path)
    b, = json.loads(r.stdout)["benchmarks"]
    if not b["results"][-1]["available"]:
        pytest.skip("this PHP has no JIT")
    assert by(b, "tracing") < by(b, "off") * 0.7
    assert by(b, "function") < by(b, "off") * 0.9


def test_table(tmp_path):
    r = bench("files", "--quick", "--only", "walk,exists,include,compile", tmp=tmp_path)
    assert r.returncode == 0, r.stderr
    for word in ("machine ", "processors", "kernel", "cores", "programs  ephpm", "PHP 8.", "VM ", "OPcache",
                 "JIT off", "walk ", "exists ", "include ", "compile ", "median of 1 round"):
        assert word in r.stdout
    assert "JIT tracing" not in r.stdout


def test_request(tmp_path):
    other = str(pathlib.Path(ephpm.EPHPM_PHP).resolve())
    r = bench("request", "--quick", "--json", "--against", other, tmp=tmp_path)
    assert r.returncode == 0, r.stderr
    d = json.loads(r.stdout)
    assert [p["sapi"] for p in d["programs"]] == ["fpm-fcgi"] * 2
    hello, include50, autoload50 = d["benchmarks"]
    assert by(hello, "off") < by(include50, "off") and by(hello, "off") < by(autoload50, "off")


@rival
def test_request_of_a_stock_php_is_refused(tmp_path):
    refused(bench("request", "--quick", "--against", STOCK, tmp=tmp_path), 1, STOCK, "is not an ephpm")


@pytest.mark.parametrize("args, words", [
    ([], ["what is to be measured"]),
    (["gpu"], ["unknown benchmark", "gpu", "cpu"]),
    (["cpu", "--only", "loop,lop"], ["lop is no benchmark of cpu; there are start, loop, "]),
    (["cpu", "--only", ""], [" is no benchmark of cpu"]),
    (["cpu", "--rounds", "0"], ["--rounds", "0"]),
    (["cpu", "--rounds", "x"], ["--rounds", "x"]),
    (["cpu", "--rounds"], ["a value is missing after: --rounds"]),
    (["cpu", "--jit", "fast"], ["--jit", "fast"]),
    (["cpu", "--roundsx", "1"], ["unknown flag: --roundsx"]),
    (["cpu", "x"], ["too many arguments: x"]),
    (["request", "--no-opcache"], ["--no-opcache is for cpu and files"]),
    (["cpu", "--no-opcache", "--jit", "tracing"], ["--no-opcache leaves no JIT"]),
    (["files", "--against="], ["--against"]),
])
def test_wrong_command_lines(tmp_path, args, words):
    refused(bench(*args, tmp=tmp_path), 2, *words, "Try: ephpm bench --help")


def test_against_what_is_no_php(tmp_path):
    plain = pathlib.Path(tmp_path, "plain")
    plain.write_text("no program")
    fake = program(tmp_path, "fake", "#!/bin/sh\necho PHP 8.2.0\necho 'what do you want?' >&2\n")
    for name, words in [
        ("/nonexistent/php", ["there is no program /nonexistent/php"]),
        ("no-such-php", ["there is no program no-such-php"]),
        (str(plain), [str(plain), "is no program that can be executed"]),
        (str(tmp_path), ["is no program that can be executed"]),
        ("/bin/true", ["/bin/true is not a php command"]),
        (fake, ["is not a php command", "what do you want?"]),
    ]:
        refused(bench("cpu", "--quick", "--against", name, tmp=tmp_path), 1, *words)


@rival
def test_a_program_is_found_in_the_path(tmp_path):
    program(tmp_path, "my-php", f'#!/bin/sh\nexec {STOCK} "$@"\n')
    r = bench("cpu", "--quick", "--only", "loop", "--jit", "off", "--against", "my-php", tmp=tmp_path,
              path=f"/nonexistent:{tmp_path}:/usr/bin:/bin")
    assert r.returncode == 0, r.stderr
    assert f"{tmp_path}/my-php" in r.stdout and "VM unknown" in r.stdout


@rival
def test_a_wrong_result_is_no_result(tmp_path):
    fake = program(tmp_path, "php", f'#!/bin/sh\n{STOCK} "$@" | sed s/5133/5134/\n')
    refused(bench("cpu", "--quick", "--jit", "off", "--only", "loop,sieve", "--against", fake, tmp=tmp_path),
            1, f"sieve: {fake} got a wrong result", "5134 49999", "5133 49999")


@rival
def test_a_program_that_breaks(tmp_path):
    fake = program(tmp_path, "php", f"""#!/bin/sh
case "$*" in *" sieve "*) echo 'PHP Fatal error: no sieve' >&2; exit 255;; *" loop "*) kill -SEGV $$;; esac
exec {STOCK} "$@"
""")
    flags = ["cpu", "--quick", "--jit", "off", "--against", fake, "--only"]
    refused(bench(*flags, "sieve", tmp=tmp_path), 1, f"sieve: {fake} failed", "exit code 255", "no sieve")
    refused(bench(*flags, "loop", tmp=tmp_path), 1, f"loop: {fake} failed", "signal 11")


@rival
def test_a_column_that_a_program_does_not_have(tmp_path):
    """It is said, and it is not a copy of another column."""
    fake = program(tmp_path, "php", f"""#!/bin/sh
for a do shift; case "$a" in opcache.jit_buffer_size=*) a=opcache.jit_buffer_size=0;; esac; set -- "$@" "$a"; done
exec {STOCK} "$@"
""")
    flags = ["cpu", "--quick", "--only", "loop", "--against", fake]
    r = bench(*flags, tmp=tmp_path)
    assert r.returncode == 0, r.stderr
    assert r.stdout.count("no JIT") == 4 and "php has no JIT tracing: " in r.stdout
    r = bench(*flags, "--jit", "tracing", tmp=tmp_path)
    assert r.returncode == 1 and "--jit tracing: " + fake + " has no such JIT" in r.stderr
    d = json.loads(bench(*flags, "--json", tmp=tmp_path).stdout)
    assert set(d["programs"][1]["without_jit"]) == {"function", "tracing"}


@rival
def test_a_program_without_opcache(tmp_path):
    """It takes part, but the table says that it had less."""
    fake = program(tmp_path, "php", f'#!/bin/sh\nexec {STOCK} -d extension_dir=/nonexistent "$@"\n')
    broken = pathlib.Path(tmp_path, "extensions")
    broken.mkdir()
    (broken / "opcache.so").write_text("no library")
    fake2 = program(broken, "php", f'#!/bin/sh\nexec {STOCK} -d extension_dir={broken} "$@"\n')
    r = bench("cpu", "--quick", "--only", "loop", "--against", fake, "--against", fake2, tmp=tmp_path)
    if "OPcache built in" in r.stdout:
        pytest.skip("OPcache is built into this PHP")
    assert r.returncode == 0, r.stderr
    assert r.stdout.count("OPcache missing") == 2
    assert "php ran without OPcache, unlike others: it has none\n" in r.stdout
    assert "php 2 ran without OPcache, unlike others: Warning: Failed loading" in r.stdout
    assert "php 2 has no JIT tracing: it has no OPcache" in r.stdout
    r = bench("cpu", "--quick", "--only", "loop", "--against", fake, "--no-opcache", tmp=tmp_path)
    assert r.returncode == 0 and r.stdout.count("OPcache off") == 2
    assert "JIT tracing" not in r.stdout and "unlike others" not in r.stdout


def test_no_temporary_folder(tmp_path):
    env = dict(os.environ, TMPDIR=f"{tmp_path}/missing")
    r = subprocess.run([ephpm.EPHPM, "bench", "cpu", "--quick"], capture_output=True, text=True, env=env)
    refused(r, 1, "no temporary folder can be made", f"{tmp_path}/missing", "TMPDIR")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_no_space(tmp_path):
    """A file system of its own, in a namespace of its own."""
    line = f'mount -t tmpfs -o size=2m none "{tmp_path}" && TMPDIR="{tmp_path}" exec "$0" bench files --quick'
    r = subprocess.run(["unshare", "-m", "sh", "-c", line, ephpm.EPHPM], capture_output=True, text=True)
    if "unshare" in r.stderr or "mount" in r.stderr:
        pytest.skip("this container may not mount")
    refused(r, 1, "no space left in", str(tmp_path), "TMPDIR")


def test_interrupt_leaves_nothing_behind(tmp_path):
    p = subprocess.Popen([ephpm.EPHPM, "bench", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, env=dict(os.environ, TMPDIR=str(tmp_path)))
    while not list(tmp_path.glob("ephpm-bench.*/out")):
        time.sleep(0.01)
    p.send_signal(signal.SIGINT)
    out, errors = p.communicate(timeout=60)
    assert (p.returncode, out, errors) == (130, "", "ephpm bench: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_list_and_help(tmp_path):
    r = bench("cpu", "--list", tmp=tmp_path)
    assert r.returncode == 0 and r.stdout.startswith("start  ") and "\nregex  " in r.stdout
    r = bench("--help", tmp=tmp_path)
    assert r.returncode == 0 and "--against" in r.stdout
