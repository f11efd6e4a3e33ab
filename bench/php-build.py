#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Compares builds of PHP: the CPU time of programs that no training ever ran, in turn.

    bench/php-build.py [-n ROUNDS] [-m MODE,...] [-p PROGRAM,...] [-o FILE] NAME=PHP[,INI=VALUE]... NAME=PHP...

PHP is a program (php8.2, sdk/build's bin/php); all ratios are to the first one. In a round every
program runs once with every PHP, in rotating order, and the ratio of a round is of two runs that
followed each other; the table shows the median of the rounds' ratios, and the microseconds of one
pass by the first. CPU time is what the process itself used (getrusage), after a pass to warm up. Ends with 1 when two PHPs
find something else. --php-source DIR adds bench.php and micro_bench.php of PHP's own source.

On a machine with other work, --instructions counts those in place of time (valgrind's callgrind): one run each,
exact, blind to caches and branches.

Modes: off (no OPcache), on (OPcache), jit (OPcache with the tracing JIT).
"""
import argparse
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NEEDED = ("ctype", "mbstring", "tokenizer")

# Passes of a run: about a third of a second each.
PROGRAMS = {"blog": 400, "shop": 250, "twig": 600, "parser": 6, "small": 80, "loop": 60}
WEB = ("blog", "shop", "twig")

MODES: dict[str, list[str]] = {
    "off": [],
    "on": ["opcache.enable_cli=1", "opcache.jit_buffer_size=0"],
    "jit": ["opcache.enable_cli=1", "opcache.jit=tracing", "opcache.jit_buffer_size=64M"],
}


class Failure(Exception):
    """Ends the comparison with a sentence."""


class Php:
    def __init__(self, text: str) -> None:
        self.name, equals, rest = text.partition("=")
        self.program, *ini = rest.split(",")
        if not equals or not self.program:
            raise Failure(f'"{text}" is not NAME=PHP')
        self.ini = ["memory_limit=512M", *ini]
        self.opcache: list[str] = []
        modules = self._modules([])
        for name in NEEDED:
            if name not in modules:
                self.ini.append(f"extension={name}")
        if "zend opcache" not in modules:
            folder = pathlib.Path(self.program).resolve().parent.parent / "lib/php/extensions"
            beside = folder / "opcache.so"
            self.opcache = [f"zend_extension={beside if beside.is_file() else 'opcache'}"]
        modules = self._modules(self.opcache)
        missing = [name for name in (*NEEDED, "zend opcache") if name not in modules]
        if missing:
            raise Failure(f"{self.name}: {self.program} cannot load {', '.join(missing)}")

    def _command(self, ini: list[str]) -> list[str]:
        return [self.program, "-n", *[word for line in self.ini + ini for word in ("-d", line)]]

    def _modules(self, ini: list[str]) -> set[str]:
        try:
            run = subprocess.run([*self._command(ini), "-m"], capture_output=True, text=True, check=False)
        except OSError as error:
            raise Failure(f"{self.name}: {self.program}: {error.strerror}") from error
        if run.returncode:
            raise Failure(f"{self.name}: {self.program} -m ended with {run.returncode}: {run.stderr.strip()[:300]}")
        return {line.lower() for line in run.stdout.splitlines()}

    def version(self) -> str:
        run = subprocess.run([*self._command([]), "-r", "echo PHP_VERSION;"], capture_output=True, text=True, check=False)
        return run.stdout

    def command_of(self, mode: str, script: pathlib.Path) -> list[str]:
        return [*self._command([*self.opcache, *MODES[mode]] if mode != "off" else []), str(script)]

    def measure(self, mode: str, program: str, passes: int) -> tuple[float, str]:
        run = subprocess.run([*self.command_of(mode, HERE / "php/run.php"), program, str(passes)],
                             capture_output=True, text=True, timeout=600, check=False)
        words = run.stdout.split()
        if run.returncode or len(words) != 2 or len(words[1]) != 32:
            raise Failure(f"{self.name}: {program} ({mode}) ended with {run.returncode}: {(run.stdout + run.stderr).strip()[:500]}")
        return float(words[0]), words[1]


    def count(self, mode: str, program: str) -> tuple[float, str]:
        """Thousands of instructions of a pass, from the difference of two runs."""
        counted = []
        text = ""
        for passes in (COUNTED, 0):
            run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *self.command_of(mode, HERE / "php/run.php"),
                                  program, str(passes)], capture_output=True, text=True, timeout=900, check=False)
            found = re.search(r"Collected : (\d+)", run.stderr)
            words = run.stdout.split()
            if run.returncode or not found or len(words) != 2:
                raise Failure(f"{self.name}: {program} ({mode}) under valgrind ended with {run.returncode}: {(run.stdout + run.stderr)[-500:]}")
            counted.append(int(found[1]))
            text = words[1]
        return (counted[0] - counted[1]) / COUNTED / 1000, text


COUNTED = 4  # passes, after one that is in both runs


def count(phps: list[Php], mode: str, program: str) -> tuple[list[list[float]], bool]:
    counted = [php.count(mode, program) for php in phps]
    return [[thousands] for thousands, _ in counted], len({text for _, text in counted}) == 1


def compare(phps: list[Php], mode: str, program: str, passes: int, rounds: int) -> tuple[list[list[float]], bool]:
    spent: list[list[float]] = [[] for _ in phps]
    found: set[str] = set()
    for number in range(rounds):
        for k in range(len(phps)):
            index = (number + k) % len(phps)
            micros, text = phps[index].measure(mode, program, passes)
            spent[index].append(micros)
            found.add(text)
    return spent, len(found) == 1


def ratio(a: list[float], b: list[float]) -> float:
    return statistics.median(x / y for x, y in zip(a, b, strict=True))


def spread(a: list[float], b: list[float]) -> str:
    ratios = sorted(x / y for x, y in zip(a, b, strict=True))
    return f"{ratios[len(ratios) // 4]:.2f}-{ratios[len(ratios) * 3 // 4]:.2f}"


def row(label: str, base: float, cells: list[str]) -> str:
    return f"{label:16} {base:12.1f}" + "".join(f" {cell:>18}" for cell in cells)


def machine(phps: list[Php], rounds: int) -> str:
    cpu = next((line.partition(": ")[2] for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), "unknown")
    load = pathlib.Path("/proc/loadavg").read_text().split()[:3]
    versions = ", ".join(f"{php.name} {php.version()}" for php in phps)
    return (f"# {datetime.date.today()}, {cpu.strip()}, kernel {platform.release()}, load average {' '.join(load)}\n"
            f"# {versions}; {rounds} rounds; ratio (quarter to quarter of the rounds), lower is faster")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("-n", type=int, default=7, help="rounds (7)")
    parser.add_argument("-m", default="off,on", help="modes: off, on, jit (off,on)")
    parser.add_argument("--instructions", action="store_true", help="count instructions by valgrind, in place of time")
    parser.add_argument("-p", default=",".join(PROGRAMS), help="programs of bench/php")
    parser.add_argument("-s", type=float, default=1.0, help="length of a run, as a factor")
    parser.add_argument("-o", type=pathlib.Path, help="also write the table to this file")
    parser.add_argument("--php-source", type=pathlib.Path, help="PHP's source, for Zend/bench.php and Zend/micro_bench.php")
    parser.add_argument("php", nargs="+", metavar="NAME=PHP[,INI=VALUE]...")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    programs = {}
    for name in args.p.split(","):
        if name not in PROGRAMS:
            raise Failure(f"no program {name}; there are {', '.join(PROGRAMS)}")
        programs[name] = max(1, int(PROGRAMS[name] * args.s))
    unknown = [mode for mode in args.m.split(",") if mode not in MODES]
    if unknown:
        raise Failure(f"no mode {unknown[0]}; there are {', '.join(MODES)}")
    phps = [Php(text) for text in args.php]
    lines = [machine(phps, 1 if args.instructions else args.n)]
    bad = 0

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    print(lines[0])
    for mode in args.m.split(","):
        unit = "k instr" if args.instructions else "us"
        say(f"\nOPcache {mode:8} {f'{phps[0].name} {unit}':>12}" + "".join(f" {php.name:>18}" for php in phps[1:]))
        web: list[list[float]] = [[] for _ in phps]
        for program, passes in programs.items():
            spent, same = count(phps, mode, program) if args.instructions else compare(phps, mode, program, passes, args.n)
            cells = [f"{ratio(s, spent[0]):.3f} {spread(s, spent[0])}" for s in spent[1:]]
            say(row(program, statistics.median(spent[0]), cells) + ("" if same else "   BAD: different results"))
            bad += not same
            if program in WEB:
                for index, s in enumerate(spent):
                    web[index].append(ratio(s, spent[0]))
        if args.php_source:
            for name in ("bench.php", "micro_bench.php"):
                cells, base = bench(phps, mode, args.php_source / "Zend" / name, args.n)
                say(row(f"Zend/{name}"[-16:], base, cells))
        if len(web[0]) > 1:
            means = [statistics.geometric_mean(w) for w in web[1:]]
            say(f"{'web, mean':16} {'':12}" + "".join(f" {m:>8.3f}          " for m in means).rstrip())
    if args.o:
        args.o.write_text("\n".join(lines) + "\n")
    return 1 if bad else 0


def bench(phps: list[Php], mode: str, script: pathlib.Path, rounds: int) -> tuple[list[str], float]:
    """A benchmark of PHP's own; its processes' whole CPU time."""
    spent: list[list[float]] = [[] for _ in phps]
    for number in range(rounds):
        for k in range(len(phps)):
            php = phps[(number + k) % len(phps)]
            command = php.command_of(mode, script)
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise Failure(f"{php.name}: {script.name} ended with {process.returncode}")
            spent[(number + k) % len(phps)].append((usage.ru_utime + usage.ru_stime) * 1e6)
    return [f"{ratio(s, spent[0]):.3f} {spread(s, spent[0])}" for s in spent[1:]], statistics.median(spent[0])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"bench/php-build.py: {failure}")
