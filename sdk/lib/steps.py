# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Steps of a build: each runs once for the same inputs, has a log, and is shown with its time.

A step's key is a hash of what it depends on, the key of the step before among it. When a step has
succeeded, its key is kept in stamps/NAME; a later run with the same key skips it. So an interrupted
build goes on where it was, and a changed patch or flag repeats what depends on it, and no more.
"""
import collections.abc
import fcntl
import hashlib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import typing

from errors import Failure

_ERRORS = re.compile(r"error[: ]|Error \d+|undefined reference|No such file|not found|FAILED", re.I)


def digest(*parts: object) -> str:
    text = hashlib.sha256()
    for part in parts:
        text.update(repr(part).encode() + b"\0")
    return text.hexdigest()


def digest_file(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_tree(folder: pathlib.Path, pattern: str = "*") -> str:
    """Of names and contents; what Python or a build leave behind does not count."""
    files = sorted(p for p in folder.rglob(pattern) if p.is_file() and "__pycache__" not in p.parts)
    return digest(*[(p.relative_to(folder).as_posix(), digest_file(p)) for p in files])


class Lock:
    """One build at a time in a folder; it ends with the process, however that ends."""

    def __init__(self, path: pathlib.Path, what: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("a+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.file.seek(0)
            holder = self.file.read().strip() or "unknown"
            raise Failure(f"another build (process {holder}) is at work on {what}; "
                          "wait for it, or give another --out and --work") from None
        self.file.truncate(0)
        self.file.write(f"{os.getpid()}\n")
        self.file.flush()


class Steps:
    def __init__(self, folder: pathlib.Path, total: int) -> None:
        self.folder, self.total, self.number = folder, total, 0
        self.logs, self.stamps = folder / "logs", folder / "stamps"
        for path in (self.logs, self.stamps):
            path.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        self.child: subprocess.Popen[bytes] | None = None
        self.current = ""

    def done(self, name: str, key: str) -> bool:
        stamp = self.stamps / name
        return stamp.is_file() and stamp.read_text() == key

    def step(self, name: str, key: str, action: collections.abc.Callable[[], None], *,
             progress: collections.abc.Callable[[], str] | None = None) -> None:
        """Runs the action unless it was run with the same key before."""
        self.number += 1
        if self.done(name, key):
            self._line(name, "done before", end=True)
            return
        (self.stamps / name).unlink(missing_ok=True)
        (self.logs / f"{name}.log").unlink(missing_ok=True)
        self.current = name
        begin, used = time.monotonic(), _processor()
        stop = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(name, begin, stop, progress), daemon=True)
        if sys.stdout.isatty():
            ticker.start()
        try:
            action()
        finally:
            stop.set()
            if ticker.is_alive():
                ticker.join()
            self.current = ""
        stamp = self.stamps / f"{name}.new"
        stamp.write_text(key)
        stamp.rename(self.stamps / name)
        self._line(name, f"{_seconds(time.monotonic() - begin)} (processor {_seconds(_processor() - used)})", end=True)

    def run(self, command: collections.abc.Sequence[str | pathlib.Path], *, cwd: pathlib.Path,
            env: dict[str, str] | None = None, hint: str = "") -> None:
        """A command of the current step, with its output in the step's log."""
        log = self.logs / f"{self.current}.log"
        with log.open("ab") as file:
            file.write(f"$ {' '.join(map(str, command))}\n".encode())
            file.flush()
            try:
                # However this process ends, the command does, too.
                self.child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], cwd=cwd, env=env,
                                              stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                              start_new_session=True)
            except OSError as error:
                raise Failure(f"{command[0]} could not be started: {error.strerror}") from None
            status = self.child.wait()
            self.child = None
        if status:
            raise Failure(self._explain(log, status, hint))

    def text(self, log: str) -> str:
        return (self.logs / f"{log}.log").read_text(errors="replace")

    def interrupt(self) -> None:
        """Ends the command at work, and all it started."""
        if self.child and self.child.poll() is None:
            try:
                os.killpg(self.child.pid, signal.SIGTERM)
                self.child.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass

    def _explain(self, log: pathlib.Path, status: int, hint: str) -> str:
        text = log.read_text(errors="replace")
        if "No space left on device" in text:
            free = shutil.disk_usage(self.folder).free >> 20
            return (f"no space is left ({free} MB free in {self.folder}): free some, or give --work on "
                    "another disk, and run the same command again")
        lines = [line for line in text.splitlines() if _ERRORS.search(line)][-8:]
        lines = lines or text.splitlines()[-8:]
        cause = "".join(f"\n    {line[:200]}" for line in lines)
        end = f"was ended by signal {-status}" if status < 0 else f"failed (exit status {status})"
        return f"the step {self.current} {end}; its log is {log}{cause}" + (f"\n{hint}" if hint else "")

    def _tick(self, name: str, begin: float, stop: threading.Event,
              progress: collections.abc.Callable[[], str] | None) -> None:
        while not stop.wait(1):
            more = progress() if progress else ""
            self._line(name, f"{_seconds(time.monotonic() - begin)} {more}", end=False)

    def _line(self, name: str, text: str, end: bool) -> None:
        tty = sys.stdout.isatty()
        line = f"[{self.number}/{self.total}] {name:<12} {text}"
        total = f"   (total {_seconds(time.monotonic() - self.started)})"
        print(("\r\033[K" if tty else "") + line + total, end="\n" if end else "", flush=True)


def _processor() -> float:
    """Seconds that the ended commands had of all processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _seconds(value: float) -> str:
    return f"{int(value) // 60}:{int(value) % 60:02d}"


def output(command: typing.Sequence[str | pathlib.Path], **more: typing.Any) -> str:
    """What a short command prints; an empty text when it fails or is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=True, **more).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
