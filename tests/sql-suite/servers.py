# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The two servers of the SQL suite and of bench/db.py: MariaDB and ephpm, each with data of its own."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("EPHPM_BIN_DIR", ROOT / "build" / "dev" / "bin"))
START_LIMIT = 60  # seconds


class Failure(Exception):
    pass


class Program:
    """A server of ours: started here, stopped here."""

    def __init__(self, command, log, env=None):
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env)

    def wait(self, ready, what):
        end = time.monotonic() + START_LIMIT
        while not ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failure(f"{what} does not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(0.05)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def mariadb(place, *more):
    """MariaDB with data of its own in place, and more options; its socket and the program."""
    owner = "mysql" if os.getuid() == 0 else None
    place.mkdir()
    data = place / "data"
    data.mkdir()
    if owner:
        shutil.chown(place, owner)
        shutil.chown(data, owner)
    options = ["--no-defaults", f"--datadir={data}"] + ([f"--user={owner}"] if owner else [])
    made = subprocess.run(
        ["mariadb-install-db", *options, "--auth-root-authentication-method=normal",
         "--skip-test-db"], capture_output=True, text=True)
    if made.returncode:
        raise Failure("mariadb-install-db failed:\n" + made.stdout + made.stderr)
    path = place / "mysql.sock"
    server = Program(
        ["mariadbd", *options, f"--socket={path}", f"--pid-file={place}/pid", "--skip-networking",
         "--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci",
         "--skip-log-bin", *more], place.parent / "mariadb.log")
    server.wait(lambda: subprocess.run(
        ["mariadb-admin", "--no-defaults", "-uroot", "-S", path, "ping"],
        capture_output=True).returncode == 0, "MariaDB")
    return path, server


def make_database(path):
    subprocess.run(["mariadb", "--no-defaults", "-uroot", "-S", path, "-e",
                    "CREATE DATABASE IF NOT EXISTS sqlsuite CHARACTER SET utf8mb4"
                    " COLLATE utf8mb4_unicode_ci"], check=True)


def ours(place, synchronous="normal", name="suite"):
    """ephpm with an empty database; what its site's PHP is told of it, and the program."""
    place.mkdir(mode=0o755)
    (place / "root").mkdir()
    (place / "root" / "index.php").write_text(
        "<?php echo json_encode(array_map('getenv', ['s' => 'DB_SOCKET', 'u' => 'DB_USER',"
        " 'p' => 'DB_PASSWORD', 'n' => 'DB_NAME']));")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    (place / "data").mkdir()
    if os.getuid() == 0:
        (place / "data").chmod(0o777)
    (place / "ephpm.toml").write_text(f"""[server]
listen = "127.0.0.1:{port}"
document_root = "{place}/root"
control_socket = "{place}/control.sock"
[php]
workers = 1
[db.sqlite]
path = "{place}/data/{name}.db"
synchronous = "{synchronous}"
""")
    env = {k: v for k, v in os.environ.items() if not k.startswith("EPHPM_")}
    server = Program([BIN / "ephpm", "serve", "-c", place / "ephpm.toml"],
                     place.parent / "ephpm.log", env)
    told = {"url": f"http://127.0.0.1:{port}", "root": place / "root"}

    def answers():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as r:
                told.update(json.load(r))
        except (OSError, ValueError):
            return False
        return bool(told.get("s"))

    server.wait(answers, "ephpm")
    return told, server


def php():
    for name in ["php" + os.environ.get("PHP_VERSION", ""), "php8.2", "php8.4", "php"]:
        if shutil.which(name):
            return name
    raise Failure("there is no php command")
