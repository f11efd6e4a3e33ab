# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""sdk/build: what it says about bad input, and all its steps with a source that builds in a second."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

import ephpm
import sdk_source

BUILD = ephpm.REPOSITORY / "sdk/build"
sys.path.insert(0, str(ephpm.REPOSITORY / "sdk/lib"))


class Sdk:
    """sdk/build in folders of its own; libraries and compilers of PHP need not be installed."""

    def __init__(self, top: pathlib.Path) -> None:
        self.top, self.flags, self.bin = top, top / "flags", top / "bin"
        self.flags.mkdir()
        self.bin.mkdir()
        self.work, self.out = top / "work", top / "out"
        self.tool("dpkg-query", "echo installed")
        for name in ("bison", "re2c", "g++"):
            self.tool(name, "exit 0")
        self.env = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}", FAKE_PHP=str(self.flags))
        self.env.pop("CC", None)

    def tool(self, name: str, script: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def command(self, *arguments: object) -> list[str]:
        folders = ["--work", self.work, "--out", self.out, "--no-install", "--deps", "system",
                   "--patches", "none"]
        return [str(word) for word in (BUILD, *folders, *arguments)]

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*arguments), env=self.env, capture_output=True, text=True,
                              timeout=60, check=False)

    def fails(self, *arguments: object, status: int = 1) -> str:
        """What it says; nothing is left where the folder would be."""
        run = self.run(*arguments)
        assert run.returncode == status, run.stdout + run.stderr
        assert "Traceback" not in run.stderr
        assert not self.out.exists()
        return run.stderr

    def builds(self, *arguments: object) -> str:
        run = self.run(*arguments)
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def compiled(self) -> int:
        count = self.flags / "count"
        return len(count.read_text().splitlines()) if count.exists() else 0


@pytest.fixture
def sdk(tmp_path):
    return Sdk(tmp_path)


@pytest.fixture
def source(tmp_path):
    return sdk_source.tarball(tmp_path / "php-8.2.99.tar.xz")


@pytest.mark.parametrize("arguments, says", [
    (["--php", "8.1"], "--php 8.1: there is no such version here; take 8.2, 8.4, 8.5"),
    (["--php", "9"], "--php 9: there is no such version"),
    (["--php", "eight"], "--php eight: neither a version (8.2, 8.4, 8.5) nor a file that exists"),
    (["--vm", "goto"], "--vm goto: there is no such interpreter; take hybrid, call or tailcall"),
    (["--php", "8.4", "--vm", "tailcall"], "--vm tailcall: PHP 8.4 has no interpreter with tail calls"),
    (["--vm", "tailcall"], "with PHP 8.2 tail calls are a patch of ours"),
    (["--vm", "tailcall", "--zts", "--patches", "ours"], "--vm tailcall --zts: "),
    (["--debug", "--pgo"], "--debug makes an unoptimised PHP; --pgo and --lto do not go with it"),
    (["--sha256", "0" * 64], "--sha256 is for a tarball"),
    (["--sha256", "12ab", "--php", __file__], "a SHA-256 sum is 64 hexadecimal digits"),
    (["-j", "0"], "-j 0: give a number from 1 to 512"),
    (["--patches", "mine"], '--patches mine: give "ours" or "none"'),
    (["--pgo", "--train", "/etc/passwd"], "--train /etc/passwd: that is no program"),
    (["--train", "/bin/true"], "--train is what --pgo runs; give that as well"),
    (["--deps", "/nowhere"], '--deps /nowhere: give "static", "system", or a folder that sdk/deps/build made'),
    (["--until", "lunch"], "--until lunch: give source, patch, configure or folder"),
    (["--fast"], "unrecognized arguments: --fast; see sdk/build --help"),
])
def test_bad_command_lines_are_refused_with_what_to_do(sdk, arguments, says):
    assert says in sdk.fails(*arguments, status=2)


def test_tarball_with_another_checksum_is_refused(sdk, source):
    said = sdk.fails("--php", source, "--sha256", "ab" * 32)
    assert f"{source} is not what was expected: its SHA-256 sum is " in said
    assert "fetch it again" in said


def test_truncated_tarball_is_refused(sdk, source):
    source.write_bytes(source.read_bytes()[:-200])
    assert f"{source} is damaged" in sdk.fails("--php", source)


def test_file_that_is_no_tarball_is_refused(sdk, source):
    source.write_text("PHP")
    assert f"{source} is damaged or no tarball" in sdk.fails("--php", source)


def test_tarball_of_something_else_is_refused(sdk, tmp_path):
    other = sdk_source.tarball(tmp_path / "x.tar.xz", php_version=True)
    assert "is not PHP's source: there is no main/php_version.h" in sdk.fails("--php", other)


def test_source_of_an_unknown_version_is_refused(sdk, tmp_path):
    old = sdk_source.tarball(tmp_path / "php.tar.xz", version="7.4.33")
    assert "is the source of PHP 7.4.33; 8.2, 8.3, 8.4, 8.5 can be built" in sdk.fails("--php", old)


def test_missing_compiler_is_named(sdk, source):
    sdk.env["CC"] = "gcc-none"
    said = sdk.fails("--php", source)
    assert "the compiler gcc-none is not there: install the Debian package gcc" in said


def test_clang_for_hybrid_is_refused(sdk, source):
    sdk.tool("clang-88", "echo 'Debian clang version 88.0.1 (1)'")
    sdk.env["CC"] = "clang-88"
    assert "--vm hybrid: clang-88 is clang, and this interpreter needs gcc" in sdk.fails("--php", source)


def test_old_clang_for_tail_calls_is_refused(sdk):
    sdk.tool("clang-14", "echo 'Debian clang version 14.0.6'")
    sdk.env["CC"] = "clang-14"
    said = sdk.fails("--php", "8.2", "--vm", "tailcall", "--patches", "ours")
    assert "--vm tailcall: Debian clang version 14.0.6 is too old; install the Debian package clang-19" in said


def test_gcc_for_tail_calls_is_refused(sdk):
    sdk.env["CC"] = "gcc"
    assert "--vm tailcall: gcc is not clang" in sdk.fails("--vm", "tailcall", "--patches", "ours")


def test_missing_packages_are_listed(sdk, source):
    sdk.tool("dpkg-query", 'case "$*" in *libzip-dev*) exit 1 ;; esac; echo installed')
    said = sdk.fails("--php", source)
    assert "apt-get install --no-install-recommends libzip-dev\n" in said


def test_library_that_configure_misses_is_named(sdk, source):
    (sdk.flags / "nolib").touch()
    said = sdk.fails("--php", source)
    assert "the step configure failed (exit status 1); its log is " in said
    assert "the library libzip is missing: install the Debian package libzip-dev" in said


def test_no_space_is_noticed_ahead(tmp_path):
    """In a process of its own, whose disk seems full."""
    code = ("import runpy, shutil, sys, types\n"
            "shutil.disk_usage = lambda p: types.SimpleNamespace(free=300 << 20)\n"
            f"sys.argv = ['sdk/build', '--no-install', '--work', {str(tmp_path / 'w')!r}]\n"
            f"sys.path.insert(0, {str(BUILD.parent / 'lib')!r})\n"
            "import toolchain\n"
            "toolchain.packages = toolchain.find = lambda *a: None\n"
            f"runpy.run_path({str(BUILD)!r}, run_name='__main__')\n")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "300 MB are free in " in run.stderr and "and a build needs 2000 MB" in run.stderr


def test_no_space_while_building_is_told(sdk, source):
    (sdk.flags / "full").touch()
    said = sdk.fails("--php", source)
    assert "no space is left (" in said and "run the same command again" in said


def test_failing_step_shows_the_error_and_the_log(sdk, source):
    (sdk.flags / "broken").touch()
    said = sdk.fails("--php", source)
    assert "the step make failed" in said and "core.c:7: error: no such thing" in said
    (sdk.flags / "broken").unlink()
    said = sdk.builds("--php", source)
    assert "configure    done before" in said


def test_folder_has_what_the_interface_promises(sdk, source):
    assert "make" in sdk.builds("--php", source)
    # It may be moved.
    moved = sdk.top / "elsewhere"
    sdk.out.rename(moved)

    def config(option: str) -> str:
        return subprocess.run([moved / "bin/php-config", option], capture_output=True, text=True,
                              check=True).stdout.strip()

    assert config("--version") == "8.2.99" and config("--vernum") == "80299"
    assert config("--prefix") == str(moved) and config("--vm") == "hybrid"
    assert config("--include-dir") == f"{moved}/include/php"
    assert config("--includes").startswith(f"-I{moved}/include/php -I{moved}/include/php/main ")
    assert config("--extension-dir") == "/usr/lib/php/20220829" and config("--phpapi") == "20220829"
    assert config("--ini-path") == "/etc/php/8.2/cli" and config("--ini-dir") == "/etc/php/8.2/cli/conf.d"
    assert config("--php-binary") == f"{moved}/bin/php"
    assert config("--static-libs").startswith("-lm ") and "stdc++" not in config("--static-libs")
    assert "--enable-embed=static" in config("--configure-options")
    members = subprocess.run(["ar", "t", config("--libphp-static")], capture_output=True, text=True,
                             check=True).stdout.split()
    assert members == ["core.o", "ZendAccelerator.o"]
    assert (moved / "lib/php/extensions/opcache.so").is_file()
    assert "zend_extension = opcache" in (moved / "bin/php.ini").read_text()
    facts = json.loads((moved / "manifest.json").read_text())
    assert facts["version"] == "8.2.99" and facts["vm"] == "hybrid" and facts["extensions"] == ["Core", "date"]
    assert facts["source_sha256"].keys() == {source.name} and facts["patches"] == {}
    assert facts["cflags"].startswith("-O2 ") and not facts["pgo"] and not facts["lto"]


def test_unknown_option_of_php_config_is_an_error(sdk, source):
    sdk.builds("--php", source)
    run = subprocess.run([sdk.out / "bin/php-config", "--none"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "--libphp-static      [" in run.stdout


def test_build_that_is_done_does_nothing(sdk, source):
    sdk.builds("--php", source)
    before = (sdk.out / "manifest.json").stat().st_mtime_ns
    said = sdk.builds("--php", source)
    assert said.count("done before") == 4
    assert sdk.compiled() == 1 and (sdk.out / "manifest.json").stat().st_mtime_ns == before


def test_other_flags_build_again(sdk, source):
    sdk.builds("--php", source)
    sdk.builds("--php", source, "--cflags=-g")
    assert sdk.compiled() == 2


def test_profile_is_made_once_and_never_used_for_other_flags_or_training(sdk, source):
    train = sdk.top / "train"

    def training(text: str) -> None:
        train.write_text("#!/bin/sh\nmkdir -p $1/../build/Zend\necho trained >>$FAKE_PHP/trained\n"
                         f"echo {text} >$1/../build/Zend/zend_execute.gcda\n")
        train.chmod(0o755)

    def profile(*more: str) -> tuple[str, int, int]:
        sdk.builds("--php", source, "--pgo", "--train", train, *more)
        facts = json.loads((sdk.out / "manifest.json").read_text())
        assert facts["pgo"] and not facts["instrumented"] and facts["cflags"].startswith("-O3 ")
        return facts["profile"], sdk.compiled(), len((sdk.flags / "trained").read_text().splitlines())

    training("one")
    first = profile()
    assert first[1:] == (2, 1)
    assert profile() == first
    assert profile("--cflags=-g")[1:] == (4, 2)
    training("two")
    assert profile("--cflags=-g")[0] != first[0] and sdk.compiled() == 6


def test_training_that_leaves_no_profile_is_an_error(sdk, source):
    said = sdk.fails("--php", source, "--pgo", "--train", "/bin/true")
    assert "the training left no profile of the interpreter" in said


def test_interpreter_that_is_not_the_one_asked_for_is_an_error(sdk, tmp_path):
    source = sdk_source.tarball(tmp_path / "php.tar.xz", kind=1)
    said = sdk.fails("--php", source)
    assert '--vm hybrid was asked for, and this build has the interpreter "call"' in said


def start(sdk, source):
    (sdk.flags / "slow").touch()
    child = subprocess.Popen(sdk.command("--php", source), env=sdk.env,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    ephpm.wait_for(lambda: (sdk.flags / "started").exists(), timeout=120)
    return child


def test_two_builds_at_once_are_refused(sdk, source):
    child = start(sdk, source)
    said = sdk.fails("--php", source)
    child.terminate()
    child.wait(60)
    child.stdout.close()
    assert f"another build (process {child.pid}) is at work on {sdk.work}/php-8.2.99-hybrid-unpatched" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_build_goes_on_where_it_was(sdk, source, number):
    child = start(sdk, source)
    child.send_signal(number)
    said = child.communicate(timeout=60)[0]
    if number != signal.SIGKILL:
        assert child.returncode == 128 + number
        assert "interrupted; the same command goes on from there" in said
    # Its make ends, too.
    ephpm.wait_for(lambda: subprocess.run(["pgrep", "-f", f"make.*{sdk.work}|{sdk.flags}/started"], check=False,
                                          capture_output=True).returncode == 1, timeout=60)
    (sdk.flags / "slow").unlink()
    said = sdk.builds("--php", source)
    assert "patch        done before" in said and "configure    done before" in said
    assert (sdk.out / "lib/libphp.a").is_file()


def test_half_written_objects_are_made_anew(sdk, source):
    sdk.builds("--php", source)
    build = sdk.work / "php-8.2.99-hybrid-unpatched/build"
    (build / "core.lo").write_text("")
    (build.parent / "stamps/make").unlink()
    sdk.builds("--php", source)
    assert sdk.compiled() == 2


def test_patches_apply_in_order_and_one_that_does_not_fit_is_named(source, tmp_path):
    import errors
    import source as sources
    folder = tmp_path / "tree"
    subprocess.run(["tar", "-xf", source, "-C", tmp_path], check=True)
    (tmp_path / "php").rename(folder)
    text = ("What it is for.\n\n--- a/core.c\n+++ b/core.c\n@@ -1,3 +1,3 @@\n-/* @A */\n+/* @B */\n"
            " int zend_vm_kind(void)\n {\n")
    for number, (old, new) in enumerate([("the core", "one"), ("one", "two"), ("no such", "three")], 1):
        (tmp_path / f"0{number}.patch").write_text(text.replace("@A", old).replace("@B", new))
    for number in (1, 2):
        assert sources.apply(tmp_path / f"0{number}.patch", folder) == ["core.c"]
    assert (folder / "core.c").read_text().startswith("/* two */")
    with pytest.raises(errors.Failure) as failure:
        sources.apply(tmp_path / "03.patch", folder)
    assert "03.patch does not fit PHP 8.2.99: hunk 1 (core.c, line 1)" in str(failure.value)
    assert "build with --patches none" in str(failure.value)


def test_each_file_of_php_is_compiled_once():
    import makefile
    rule = "\t$(LIBTOOL) --tag=CC --mode=compile $(CC) $(CFLAGS_CLEAN) -c /x/{0}.c -o {0}.lo  -MMD\n"
    before = "shared_objects_intl = ext/b.lo\n" + rule.format("ext/a") + rule.format("ext/b")
    after = makefile.compile_once(before)
    assert "--tag=CC --tag=disable-shared --mode=compile $(CC) $(CFLAGS_CLEAN) -c /x/ext/a.c" in after
    assert "--tag=CC --mode=compile $(CC) $(CFLAGS_CLEAN) -prefer-pic -shared -c /x/ext/b.c" in after
    assert makefile.compile_once(after) == after


def test_sources_have_relative_names_so_that_a_profile_fits(tmp_path):
    import makefile
    (tmp_path / "build").mkdir()
    path = tmp_path / "build/Makefile"
    path.write_text(f"\t$(LIBTOOL) --mode=compile $(CC) -I{tmp_path}/src -c {tmp_path}/src/a.c -o a.lo -MMD\n")
    makefile.patch(path, tmp_path / "src")
    assert " -I../src -c ../src/a.c -o a.lo" in path.read_text()


@pytest.mark.skipif(not shutil.which("dpkg-source"), reason="no dpkg-dev")
def test_our_patches_fit_the_source_that_debian_has():
    """Fetched once, into build/sdk."""
    run = subprocess.run([BUILD, "--until", "patch", "--no-install"], capture_output=True, text=True,
                         timeout=300, check=False)
    if "could not be fetched" in run.stderr or "missing packages" in run.stderr:
        pytest.skip(run.stderr.splitlines()[0])
    assert run.returncode == 0, run.stderr
