# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""PHP's own tests: their source, a tree to run them in, and PHP's run-tests.php.

    build/php-suite/source-VERSION/   what was fetched, without what is no test; never changed
    build/php-suite/tree/             a fresh copy for each run, at one path for both programs
    build/php-suite/tmp/              their TMPDIR, as fresh
    build/php-suite/ini/              php.ini and the extensions, the same for both programs
    build/php-suite/ini-NAME/         the same for a php of another build, given by --php
    build/php-suite/bin/              our program as php, and as php-cgi, by which it speaks CGI
    build/php-suite/log-SIDE.txt      what run-tests.php printed last

Tests run as nobody where that account can reach the tree, since PHP's tests of file permissions
know that root may do anything.
"""
import contextlib
import fcntl
import os
import pathlib
import re
import select
import signal
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BASE = REPOSITORY / "build/php-suite"
BIN = pathlib.Path(os.environ.get("EPHPM_BIN_DIR") or REPOSITORY / "build/dev/bin").resolve()

FOLDERS = (
    ["sapi/cli/tests", "sapi/cgi/tests"]
    + [f"tests/{name}" for name in ("basic", "output", "lang", "func", "classes", "security")]
    + ["Zend/tests"]
    + [f"ext/{name}/tests" for name in (
        "standard", "session", "filter", "json", "mbstring", "opcache", "date", "spl", "pcre")]
)

# Tests of other folders include files of these.
SHARED = ["sapi/cli/tests", "sapi/cgi/tests", "ext/ftp/tests"]

SERVER_CGI = pathlib.Path(__file__).resolve().parent / "server-cgi"

# Loaded for every test, where they are installed; run-tests.php loads what else a test asks for.
MODULES = "opcache ctype dom iconv mbstring posix simplexml tokenizer xml".split()

# What makes a test want the JIT.
JIT = re.compile(rb"^opcache\.jit\w*\s*=.*\n", re.M)

# Debian's own path for sessions is closed to everybody.
PHP_INI = "session.save_path=\n"

NOBODY = 65534
# The sections that make run-tests.php use the CGI program.
WEB = re.compile(r"^--(CGI|GET|POST|GZIP_POST|DEFLATE_POST|POST_RAW|PUT|COOKIE|EXPECTHEADERS)--",
                 re.M)

# Tests that say themselves that they are slow or want the network, and those that wait.
SLOW = re.compile(r"SKIP_(SLOW|ONLINE|PERF)|\bu?sleep\(")


class Failure(Exception):
    """Ends the program with a message."""


@contextlib.contextmanager
def alone():
    """One run at a time: they share the tree. Logs start anew."""
    BASE.mkdir(parents=True, exist_ok=True)
    with open(BASE / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("another run is going on in this folder") from None
        for log in BASE.glob("log-*.txt"):
            log.unlink()
        yield


def remove(folder):
    """Also when tests left folders in it that are closed to their owner."""
    if folder.exists():
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)
        subprocess.run(["rm", "-rf", folder], check=True)


def ask_php(program, code):
    """What a php program prints for a piece of code."""
    done = subprocess.run([program, "-n", "-r", code], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode != 0 or not done.stdout:
        raise Failure(f"{program} -r '{code}' failed: {(done.stdout + done.stderr).strip()}")
    return done.stdout.strip()


class Side:
    """One of the two programs that are compared. Without a cgi there are no web requests."""

    def __init__(self, name, php, cgi):
        self.name, self.php, self.cgi = name, str(php), str(cgi or "")
        for program in filter(None, (self.php, self.cgi)):
            if not os.access(program, os.X_OK):
                raise Failure(f"there is no program {program}")
        self.version = ask_php(self.php, "echo PHP_VERSION;")
        self.ini = BASE / "ini"  # settings that it runs with
        self.has_jit = True


def sides(server):
    """Debian's programs and ours, of one version of PHP. server: requests go to the server."""
    # Side by side, since some tests look for php-cgi beside php.
    php, cgi = BASE / "bin/php", BASE / "bin/php-cgi"
    php.parent.mkdir(parents=True, exist_ok=True)
    for link in php, cgi:
        link.unlink(missing_ok=True)
        link.symlink_to(BIN / "ephpm-php")
    ours = Side("ephpm", php, SERVER_CGI if server else cgi)
    minor = ".".join(ours.version.split(".")[:2])
    stock = Side("stock", f"/usr/bin/php{minor}", f"/usr/bin/php-cgi{minor}")
    if ours.version != stock.version:
        raise Failure(f"{stock.php} is PHP {stock.version}, but {ours.php} is PHP {ours.version}")
    return stock, ours


def given_sides(program, name):
    """Debian's php and another build of the same minor version, as bin/php of sdk/build's folder."""
    program = pathlib.Path(program).resolve()
    ours = Side(name, program, None)
    minor = ".".join(ours.version.split(".")[:2])
    stock = Side("stock", f"/usr/bin/php{minor}", f"/usr/bin/php-cgi{minor}")
    if ours.version != stock.version:
        print(f"note: {stock.php} is PHP {stock.version}, {program} is PHP {ours.version}")
    ours.ini = BASE / f"ini-{name}"
    built_in = {m.lower() for m in ask_php(
        program, "echo implode(' ', get_loaded_extensions()), ' ', "
                 "implode(' ', get_loaded_extensions(true));").split()}
    folder = program.parents[1] / "lib/php/extensions"
    # Where OPcache is part of the program it is there without being asked for.
    shared = [m for m in MODULES if m not in built_in and (folder / f"{m}.so").exists()]
    write_ini(ours.ini, [f"{folder}/{m}.so" for m in shared],
              f"extension_dir={folder}\n" if folder.is_dir() else "")
    return stock, ours


def write_ini(folder, modules, more=""):
    """The settings of a side: php.ini, and the extensions that are files of their own."""
    scan = folder / "conf.d"
    scan.mkdir(parents=True, exist_ok=True)
    (folder / "php.ini").write_text(PHP_INI + more)
    (scan / "modules.ini").write_text("".join(
        f"{'zend_' if 'opcache' in m else ''}extension={m}\n" for m in modules))


# --- the source -----------------------------------------------------------------------------------

def is_for_tests(path):
    return "tests" in path.parts[:-1] or path.name == "run-tests.php"


def keep_tests_only(folder):
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_symlink() or not path.is_dir():
            if not is_for_tests(path.relative_to(folder)):
                path.unlink()
        elif not any(path.iterdir()) and not is_for_tests(path.relative_to(folder) / "x"):
            path.rmdir()


def fetch_new(package):
    """Fetches the source of a package, or the newest that can be had: its version."""
    new = BASE / "source.new"
    remove(new)
    done = subprocess.run([REPOSITORY / "tools/fetch-source", package, new],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failure("the source of PHP cannot be fetched")
    version = done.stdout.strip()
    keep_tests_only(new)
    remove(BASE / f"source-{version}")
    new.rename(BASE / f"source-{version}")
    return version


def fetch(minor):
    """The source of the installed PHP, or the newest that can be had: its folder and version."""
    package = f"php{minor}-cli"
    installed = subprocess.run(["dpkg-query", "-W", "-f=${source:Version}", package],
                               capture_output=True, text=True, check=True).stdout
    note = BASE / "fetched"  # for which version of PHP which source was had
    wanted, _, version = note.read_text().partition(" ") if note.exists() else ("", "", "")
    found = BASE / f"source-{version}"
    if wanted != installed or not found.is_dir():
        version = fetch_new(package)
        found = BASE / f"source-{version}"
        note.write_text(f"{installed} {version}")
    if version != installed:
        print(f"note: PHP is {installed}, its tests are those of {version}, "
              "the newest source that the archive had")
    return found, version


def all_tests(source, folder):
    """The tests of a folder, as paths below the source."""
    top = source / folder
    if not top.is_dir():
        raise Failure(f"PHP's source has no folder {folder}")
    return sorted(str(p.relative_to(source)) for p in top.rglob("*.phpt")
                  if not p.name.startswith("."))


def matches(pattern, source, test):
    return pattern.search((source / test).read_text(encoding="latin-1")) is not None


# --- a tree to run them in ------------------------------------------------------------------------

class Place:
    """The folders that tests run in, and the account they run as."""

    def __init__(self, source, minor, program):
        self.source, self.program = source, program
        self.tree, self.tmp, self.ini = BASE / "tree", BASE / "tmp", BASE / "ini"
        self.account = []
        self.modules = self._write_ini(minor)
        self._fresh_tmp()
        if os.getuid() == 0:
            self._choose_account()

    def _write_ini(self, minor):
        modules = pathlib.Path(ask_php(f"/usr/bin/php{minor}", "echo PHP_EXTENSION_DIR;"))
        present = [m for m in MODULES if (modules / f"{m}.so").exists()]
        write_ini(self.ini, [f"{m}.so" for m in present])
        return present

    def _choose_account(self):
        switch = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        os.chown(self.tmp, NOBODY, NOBODY)
        reach = subprocess.run(
            [*switch, "sh", "-c", 'test -w "$0" && test -x "$1"', self.tmp, self.program])
        if reach.returncode == 0:
            self.account = switch
        else:
            print("note: the account nobody cannot reach this folder and the program, so the tests run as root")

    def _fresh_tmp(self):
        remove(self.tmp)
        self.tmp.mkdir(parents=True)

    def renew(self, tests, has_jit):
        """Removes what the last run left, as one side must not see the other's files, and copies
        the folders of the tests. Without a JIT they do not ask for one, which would be a warning."""
        folders = {f"{t.partition('tests/')[0]}tests" for t in tests} | set(SHARED)
        remove(self.tree)
        self._fresh_tmp()
        self.tree.mkdir()
        subprocess.run(["cp", "-a", "--parents", "run-tests.php", *sorted(folders), self.tree],
                       cwd=self.source, check=True)
        for path in () if has_jit else self.tree.rglob("*.phpt"):
            text = path.read_bytes()
            if b"opcache.jit" in text:
                path.write_bytes(JIT.sub(b"", text))
        if self.account:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.tree, self.tmp], check=True)

    def environment(self, side):
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(self.tmp),
            "TMPDIR": str(self.tmp),
            "PHPRC": str(side.ini),
            "PHP_INI_SCAN_DIR": str(side.ini / "conf.d"),
            "TEST_PHP_EXECUTABLE": side.php,
            **({"TEST_PHP_CGI_EXECUTABLE": side.cgi} if side.cgi else {}),
            "NO_INTERACTION": "1",
            "SKIP_ONLINE_TESTS": "1",
            # for server-cgi
            "EPHPM_BIN_DIR": str(BIN),
            "SUITE_CGI": str(BASE / "bin/php-cgi"),
        }


def run_on_terminal(command, folder, environment, log):
    """Runs a command with a terminal of its own, which some tests want; its output goes to a log."""
    master, slave = os.openpty()
    process = None
    try:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=slave, stdout=slave,
                                   stderr=slave, start_new_session=True)
        os.close(slave)
        with open(log, "ab") as out:
            while process.poll() is None:
                if select.select([master], [], [], 0.2)[0]:
                    out.write(read_terminal(master))
            while select.select([master], [], [], 0)[0] and (text := read_terminal(master)):
                out.write(text)
    finally:
        if process:
            # A test that ran into its limit may have left servers behind.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(master)


def read_terminal(master):
    try:
        return os.read(master, 65536)
    except OSError:  # nobody has the other end any more
        return b""


def run_tests(place, side, stock, tests, jobs, limit):
    """Runs tests with a side: their results by name, "MISSING" where there is none."""
    chosen, results = place.tmp / "chosen", place.tmp / "results"
    results.unlink(missing_ok=True)
    chosen.write_text("".join(f"{place.tree / t}\n" for t in tests))
    # Debian's php runs run-tests.php itself for both sides.
    command = [*place.account, stock.php, "run-tests.php", "-q", "--offline", "--no-progress",
               "--no-color", f"-j{jobs}", "--set-timeout", str(limit), "-g", "FAIL,BORK,LEAK,WARN",
               "-W", results, "-r", chosen]
    log = BASE / f"log-{side.name}.txt"
    run_on_terminal(command, place.tree, place.environment(side), log)
    if not results.exists() or not results.stat().st_size:
        sys.stdout.write(log.read_text(errors="replace")[-4000:])
        raise Failure(f"run-tests.php gave no results for {side.name}")
    found = dict.fromkeys(tests, "MISSING")
    for line in results.read_text(encoding="latin-1").splitlines():
        status, _, path = line.partition("\t")
        name = path.removeprefix(f"{place.tree}/")
        # A redirected test is named "# outer: inner"; only its outer one was chosen.
        if name in found:
            found[name] = status
    return found


def difference(place, test):
    """What run-tests.php left about a failed test of the last run."""
    path = (place.tree / test).with_suffix(".diff")
    return path.read_text(encoding="latin-1") if path.exists() else ""
