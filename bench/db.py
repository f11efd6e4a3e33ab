#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Compares the embedded database with MariaDB on this machine, from PHP over the socket, in turns.

    bench/db.py                          everything, 5 rounds of 2 seconds
    bench/db.py --rounds 3 --seconds 1 "insert and commit"

Both are durable: each commit waits for the disk. A figure is the median of the rounds' ratios
(operations per second of ephpm by those of MariaDB; above 1 is faster), and the processor time that
each server took for an operation. Answers are checked while measuring. Needs the packages of
tools/packages.sh's purpose sql-suite. The result goes to bench/results/db.txt.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("EPHPM_BIN_DIR", str(HERE.parent / "build" / "release" / "bin"))
sys.path.insert(0, str(HERE.parent / "tests" / "sql-suite"))

from servers import Failure, make_database, mariadb, ours, php  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def ticks(pid):
    """Processor time of a process, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def role(master):
    """The process of the role db, a child of ours."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            title = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == master and title.startswith(b"ephpm: db"):
            return int(stat.parent.name)
    raise Failure("no process of the role db was found")


def pss(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0


def run(account, work, seconds):
    r = subprocess.run([php(), HERE / "db.php", work, str(seconds)], env={**os.environ, **account},
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if r.returncode:
        raise Failure(f"{work}: {r.stderr}{r.stdout}")
    return json.loads(r.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("works", nargs="*")
    args = parser.parse_args()
    place = pathlib.Path(tempfile.mkdtemp(prefix="ephpm-bench-db-"))
    place.chmod(0o755)
    servers, lines = [], []
    try:
        judge, server = mariadb(place / "mariadb", "--innodb-flush-log-at-trx-commit=1",
                                "--innodb-buffer-pool-size=256M")
        servers.append(server)
        make_database(judge)
        told, server = ours(place / "ephpm", "full")
        servers.append(server)
        sides = [({"DB_SOCKET": str(judge), "DB_USER": "root", "DB_PASSWORD": "",
                   "DB_NAME": "sqlsuite"}, servers[0].process.pid),
                 ({"DB_SOCKET": told["s"], "DB_USER": told["u"], "DB_PASSWORD": told["p"],
                   "DB_NAME": told["n"]}, role(servers[1].process.pid))]
        for account, _ in sides:
            run(account, "fill", 0)
        works = args.works or [w for w in json.loads(subprocess.run(
            [php(), HERE / "db.php", "", "0"], capture_output=True, text=True,
            env={**os.environ, **sides[0][0]}).stdout) if w != "fill"]
        header = f"{'':26} {'ratio':>6} {'ours/s':>9} {'MariaDB/s':>9} {'CPU us ours':>11} {'MariaDB':>9}"
        lines.append(header)
        print(header)
        for work in works:
            rates, cpus = ([], []), ([], [])
            for n in range(args.rounds):
                for side in (0, 1) if n % 2 else (1, 0):
                    account, pid = sides[side]
                    before = ticks(pid)
                    got = run(account, work, args.seconds)
                    cpus[side].append((ticks(pid) - before) / got["operations"] * 1e6)
                    rates[side].append(got["operations"] / got["seconds"])
            ratio = statistics.median(b / a for a, b in zip(*rates))
            line = (f"{work:26} {ratio:6.2f} {statistics.median(rates[1]):9.0f}"
                    f" {statistics.median(rates[0]):9.0f} {statistics.median(cpus[1]):11.1f}"
                    f" {statistics.median(cpus[0]):9.1f}")
            lines.append(line)
            print(line, flush=True)
        line = f"memory (PSS)               {pss(sides[1][1]):.1f} MiB ours, {pss(sides[0][1]):.1f} MiB MariaDB"
        lines.append(line)
        print(line)
    finally:
        for s in reversed(servers):
            s.stop()
        shutil.rmtree(place, ignore_errors=True)
    if not args.works:
        (HERE / "results" / "db.txt").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as e:
        print(e)
        sys.exit(1)
