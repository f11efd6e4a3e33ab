# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Sets real applications up, and serves them.

The scripts that do it lie outside of the repository, in ../shared/apps; without them the tests are
skipped. Applications are set up once below $EPHPM_APPS_DIR (default /srv/apps).
"""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import ephpm
import httpc
from ephpm import free_port

SHARED = ephpm.REPOSITORY.parent / "shared" / "apps"
APPS = pathlib.Path(os.environ.get("EPHPM_APPS_DIR", "/srv/apps"))


# The scripts' own code in these goes with Symfony 5.4, Laravel 8 and Adminer 4.
DEBIAN_12_ONLY = {"symfony-app", "laravel-app", "adminer"}


def run_script(name, *args, env=None, timeout=600):
    env = {**os.environ, "PHP_VERSION": ephpm.php_minor(), **(env or {})}
    r = subprocess.run([SHARED / name, *map(str, args)], env=env,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, timeout=timeout)
    assert r.returncode == 0, f"{name} {args}: {r.stdout}"
    return r.stdout


def on_debian_12():
    return 'VERSION_ID="12"' in pathlib.Path("/etc/os-release").read_text()


def why_not(name, ready):
    """Why the application does not run on this system, or None."""
    if name in DEBIAN_12_ONLY and not on_debian_12():
        return f"{name} is written for the versions of Debian 12"
    if not ready and ephpm.php_version() >= (8, 5):
        return "the scripts ask for packages that PHP 8.5 has not (php8.5-opcache, php8.5-apcu)"
    return None


def app_env(folder):
    pairs = {}
    for line in (folder / "app.env").read_text().splitlines():
        name, eq, value = line.partition("=")
        if eq:
            pairs[name] = value
    return pairs


class App:
    """An application that is set up: folder, public."""

    def __init__(self, name, env=None):
        if not SHARED.is_dir():
            pytest.skip(f"{SHARED} does not exist: no applications to serve")
        self.name, self.folder = name, APPS / name
        ready = (self.folder / ".ready").exists()
        if reason := why_not(name, ready):
            pytest.skip(reason)
        if not ready:
            # One at a time: they install packages.
            with open(tempfile.gettempdir() + "/ephpm-test-setup.lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                run_script(f"setup-{name}.sh", self.folder, env=env)
        self.public = self.folder / "public"

    def serve(self, env=None, over=None):
        """Starts a server for it. What the application sees as environment: its own, and env."""
        s = ephpm.Server(start=False, env={"PHP_INI_SCAN_DIR": f":{SHARED}/ini/prod"})
        s.root = self.public.resolve()
        config = {
            "server": {"request": {"max_body_size": "64MB"}},
            "php": {"env": {**app_env(self.folder), **(env or {})}, "memory_limit": None,
                    "workers": 3, "workers_min": 3},
        }
        if os.getuid() == 0:
            config["server"]["run_as_user"] = "www-data"
        s.write_config(ephpm.merge(config, over or {}))
        try:
            s.start()
        except BaseException:
            s.__exit__(AssertionError)
            raise
        return s


class Copy(App):
    """A copy of an application that is set up, for tests that change its files. A context."""

    def __init__(self, name, env=None):
        super().__init__(name, env)
        self.original = self.folder
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ephpm-app-", dir="/tmp"))
        self.dir.chmod(0o755)  # the workers are another user's
        self.folder = self.dir / name
        subprocess.run(["cp", "-a", self.original, self.folder], check=True)
        self.public = self.folder / "public"
        # What the scripts generate has absolute paths.
        for php in self.folder.glob("vendor/*.php"):
            php.write_text(php.read_text().replace(f"{self.original}/", f"{self.folder}/"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def append(self, path, text):
        self.write(path, (self.folder / path).read_text() + text)

    def replace(self, path, old, new):
        text = (self.folder / path).read_text()
        assert old in text, f"{path}: no {old}"
        self.write(path, text.replace(old, new))

    def add_adapters(self):
        """As Composer would: the adapters of php/ are found by their names."""
        shutil.copytree(ephpm.REPOSITORY / "php", self.folder / "vendor/ephpm")
        self.append("vendor/autoload.php", r"""
spl_autoload_register(static function (string $class): void {
    if (preg_match('~^Ephpm\\\\(\w+)\\\\(\w+)$~', $class, $m)) {
        require_once __DIR__ . '/ephpm/' . strtolower($m[1]) . "/$m[2].php";
    }
});
""")


def at_once(server, paths):
    """The answers as JSON of requests that are sent at the same time."""
    connections = [server.connect() for _ in paths]
    for c, path in zip(connections, paths):
        c.send(httpc.build("GET", path))
    answers = [c.read_response() for c in connections]
    for c in connections:
        c.close()
    for r in answers:
        assert r.status == 200, r.text
    return [json.loads(r.text) for r in answers]


class Database:
    """The MariaDB of an application, started on a free port unless it runs already."""

    def __init__(self, folder):
        self.folder, self.ours = folder, False

    def _pid(self):
        try:
            pid = int((self.folder / "mariadbd.pid").read_text())
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError):
            return None

    def __enter__(self):
        if not self._pid():
            run_script("serve-mariadb.sh", self.folder, free_port())
            self.ours = True
        for line in (self.folder / "my.cnf").read_text().splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "port":
                self.port = int(value)
        return self

    def __exit__(self, *_):
        if self.ours:
            run_script("serve-mariadb.sh", "stop", self.folder)
