# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The part of the training that goes through the server: ephpm, linked with the PHP that is trained, serves sites
to one client. Its workers write their counters as they end, see process_exit_now(). They end after a few requests
each: those that are there when the server stops are killed, maybe as they write."""
import http.client
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
import typing

REQUESTS = 40  # of one worker
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent


class ServeError(Exception):
    """The server did not start, end or answer as it should."""


class Site:
    """A document root, and what is asked of it: path, text that the page must hold, requests."""

    def __init__(self, name: str, root: pathlib.Path, pages: list[tuple[str, str, int]], env: dict[str, str]) -> None:
        self.name, self.root, self.pages, self.env = name, root, pages, env


def environment_of(app: pathlib.Path) -> dict[str, str]:
    file = app / "app.env"
    if not file.is_file():
        return {}
    return dict(re.findall(r"^([A-Za-z_]\w*)=(.*)$", file.read_text(), re.MULTILINE))


def manifest_of(sdk: pathlib.Path) -> dict[str, typing.Any]:
    file = sdk / "manifest.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def raw_profile(sdk: pathlib.Path) -> pathlib.Path | None:
    """The folder that a program of clang's adds what it counted to, each kind of program to a file of its own."""
    for flag in manifest_of(sdk).get("link_flags", []):
        if flag.startswith("-fprofile-generate="):
            return pathlib.Path(flag.partition("=")[2])
    return None


def build(sdk: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """ephpm with this PHP inside; the folder of its programs."""
    manifest = manifest_of(sdk)
    flags = " ".join(manifest.get("link_flags", []))
    configure = ["cmake", "-S", str(REPOSITORY), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DEPHPM_PHP_CONFIG={sdk / 'bin/php-config'}", "-DEPHPM_TESTS=OFF"]
    if flags:
        # These flags are the compiler's that built PHP; another knows them not, or means something else by them.
        configure += [f"-DCMAKE_EXE_LINKER_FLAGS={flags}", f"-DCMAKE_C_COMPILER={manifest['cc']}"]
    for command in (configure, ["cmake", "--build", str(folder)]):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode:
            raise ServeError(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout[-2000:]}")
    return folder / "bin"


class Server:
    def __init__(self, programs: pathlib.Path, site: Site, state: pathlib.Path, ini: list[str],
                 raw: pathlib.Path | None = None) -> None:
        self.raw = raw
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.site, self.programs = site, programs
        self.log = state / f"{site.name}.log"
        self.config = state / f"{site.name}.toml"
        scan = state / f"{site.name}.ini.d"
        scan.mkdir()
        (scan / "train.ini").write_text("\n".join(ini) + "\n")
        empty = state / "empty.ini"
        empty.write_text("")
        env = ", ".join(f"[{json.dumps(k)}, {json.dumps(v)}]" for k, v in site.env.items())
        user = f'run_as_user = "{pwd.getpwuid(os.getuid()).pw_name}"\n' if os.getuid() == 0 else ""
        self.config.write_text(
            f'[server]\nlisten = "127.0.0.1:{self.port}"\ndocument_root = "{site.root}"\n'
            f'control_socket = "{state}/{site.name}.sock"\n{user}'
            f'[php]\nworkers = 2\nworkers_min = 2\nmax_requests = {REQUESTS}\nopcache_jit = "disable"\nini_file = "{empty}"\nini_scan_dir = "{scan}"\n'
            f'env = [{env}]\n')

    def __enter__(self) -> "Server":
        with self.log.open("w") as log:
            self.process = subprocess.Popen([self.programs / "ephpm", "serve", "--config", self.config], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                if self.get("/_ephpm/ready")[0] == 200:
                    return self
            except OSError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.process.kill()
        raise ServeError(f"ephpm did not become ready for {self.site.name}:\n{self.log.read_text()[-2000:]}")

    def __exit__(self, kind: object, *rest: object) -> None:
        whole = self.raw.with_name(f"{self.raw.name}.whole") if self.raw and self.raw.is_dir() else None
        if self.raw and whole:
            shutil.rmtree(whole, ignore_errors=True)
            self.raw.rename(whole)  # what is written from now on may be cut short
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=180)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise ServeError(f"ephpm did not end within 180 s after serving {self.site.name}:\n"
                             f"{self.log.read_text()[-2000:]}") from None
        if self.raw and whole:
            shutil.rmtree(self.raw, ignore_errors=True)
            whole.rename(self.raw)
        if kind is None and code != 0:
            raise ServeError(f"ephpm ended with {code} after serving {self.site.name}:\n{self.log.read_text()[-2000:]}")

    def get(self, path: str, connection: http.client.HTTPConnection | None = None) -> tuple[int, bytes]:
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def train(self, share: float) -> int:
        """Asks for every page so often; the number of requests."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        asked = 0
        for path, text, times in self.site.pages:
            for _ in range(max(2, int(times * share))):
                status, body = self.get(path, connection)
                asked += 1
                if status != 200 or text.encode() not in body:
                    raise ServeError(f"{self.site.name}: {path} answered {status}, {len(body)} bytes, "
                                     f'which {"hold" if text.encode() in body else "do not hold"} "{text}":\n{body[:500]!r}\n'
                                     f"{self.log.read_text()[-2000:]}")
        return asked
