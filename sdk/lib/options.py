# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The command line, and which of its combinations cannot work."""
import argparse
import dataclasses
import os
import pathlib
import re
import typing

from errors import Usage

VERSIONS = ("8.2", "8.4", "8.5")  # that Debian has
MINORS = ("8.2", "8.3", "8.4", "8.5")  # that a tarball may be of
UNTIL = ("source", "patch", "configure", "folder")
VMS = ("hybrid", "call", "tailcall")
OWN_TAILCALL = ("8.5",)  # whose own source has it
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]

TEXT = """\
Builds PHP from source, as a folder that ephpm is linked with: build/sdk/php-VERSION-VM.
The same command goes on where an interrupted one was, and does nothing when all is done."""

MORE = """\
hybrid is gcc's fastest interpreter and the default. call is the portable one, for comparison. tailcall needs
clang 19 and has no JIT on PHP 8.2. See docs/sdk.md."""


@dataclasses.dataclass
class Options:
    php: str = "8.2"
    tarball: pathlib.Path | None = None
    sha256: str = ""
    vm: str = "hybrid"
    pgo: bool = False
    zts: bool = False
    debug: bool = False
    train: pathlib.Path | None = None
    lto: bool = False
    cflags: str = ""
    jobs: int = 0
    out: pathlib.Path | None = None
    work: pathlib.Path = REPOSITORY / "build/sdk/work"
    patches: bool = True
    deps: str = "static"
    fetch: bool = False
    install: bool = True
    until: str = "folder"

    def suffix(self) -> str:
        """What tells this kind of build from others of the same version."""
        parts = [self.vm]
        for name in ("pgo", "lto", "zts", "debug"):
            if getattr(self, name):
                parts.append(name)
        if not self.patches:
            parts.append("unpatched")
        return "-".join(parts)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> typing.NoReturn:
        raise Usage(f"{message}; see sdk/build --help")


def parse(arguments: list[str]) -> Options:
    parser = _Parser(prog="sdk/build", description=TEXT, epilog=MORE, allow_abbrev=False,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--php", default="8.2", metavar="VERSION|TARBALL",
        help="8.2 (the default), 8.4 or 8.5 from Debian's source packages, or a tarball of PHP's source")
    add("--sha256", default="", metavar="HEX", help="what the tarball's checksum must be")
    add("--vm", default="hybrid", metavar="hybrid|call|tailcall", help="kind of interpreter")
    add("--pgo", action="store_true", help="train the build on real work, then build again")
    add("--train", metavar="PROGRAM",
        help="what --pgo runs with the folder of the instrumented build, instead of sdk/train/run")
    add("--zts", action="store_true", help="thread-safe; Debian's extensions do not load then")
    add("--debug", action="store_true", help="with PHP's assertions, unoptimised")
    add("--lto", action="store_true", help="optimise across files while linking")
    add("--cflags", default="", metavar="FLAGS", help="more flags for the compiler, at the end")
    add("-j", dest="jobs", default=str(os.cpu_count() or 1), metavar="N", help="compilers at once")
    add("--out", metavar="FOLDER", help="the folder to make")
    add("--work", metavar="FOLDER", help="where sources, objects and logs are (build/sdk/work)")
    add("--patches", default="ours", metavar="ours|none", help="none leaves PHP's source as it is")
    add("--deps", default="static", metavar="static|system|FOLDER",
        help="libraries as static archives (the default), Debian's shared ones, or what sdk/deps/build FOLDER made")
    add("--fetch", action="store_true", help="look for a newer source package than the one fetched before")
    add("--until", default="folder", metavar="STEP",
        help="end after source, patch or configure: to see whether patches fit, or to work on them")
    add("--no-install", action="store_true", help="install no Debian packages, only say which are missing")
    given = parser.parse_args(arguments)
    return _checked(given)


def _checked(given: argparse.Namespace) -> Options:
    options = Options(vm=given.vm, pgo=given.pgo, zts=given.zts, debug=given.debug, lto=given.lto,
                      cflags=given.cflags, fetch=given.fetch, install=not given.no_install)
    if given.vm not in VMS:
        raise Usage(f"--vm {given.vm}: there is no such interpreter; take hybrid, call or tailcall")
    if given.php in VERSIONS:
        options.php = given.php
        if given.sha256:
            raise Usage("--sha256 is for a tarball; apt checks what comes from Debian by itself")
    elif re.fullmatch(r"\d+(\.\d+)*", given.php):
        raise Usage(f"--php {given.php}: there is no such version here; take {', '.join(VERSIONS)}, "
                    "or give the path of a source tarball")
    else:
        options.php, options.tarball = "", pathlib.Path(given.php).resolve()
        if not options.tarball.is_file():
            raise Usage(f"--php {given.php}: neither a version ({', '.join(VERSIONS)}) "
                        "nor a file that exists")
    if given.sha256 and not re.fullmatch(r"[0-9a-fA-F]{64}", given.sha256):
        raise Usage(f"--sha256 {given.sha256}: a SHA-256 sum is 64 hexadecimal digits")
    options.sha256 = given.sha256.lower()
    if given.until not in UNTIL:
        raise Usage(f"--until {given.until}: give {', '.join(UNTIL[:-1])} or {UNTIL[-1]}")
    options.until = given.until
    if given.train:
        options.train = pathlib.Path(os.path.abspath(given.train))
        if not os.access(options.train, os.X_OK) or options.train.is_dir():
            raise Usage(f"--train {given.train}: that is no program")
        if not options.pgo:
            raise Usage("--train is what --pgo runs; give that as well")
    if not given.jobs.isdigit() or not 1 <= int(given.jobs) <= 512:
        raise Usage(f"-j {given.jobs}: give a number from 1 to 512")
    options.jobs = int(given.jobs)
    if given.patches not in ("ours", "none"):
        raise Usage(f'--patches {given.patches}: give "ours" or "none"')
    options.patches = given.patches == "ours"
    options.deps = given.deps
    if given.deps not in ("static", "system"):
        options.deps = os.path.abspath(given.deps)
        if not os.path.isfile(f"{options.deps}/link-line"):
            raise Usage(f'--deps {given.deps}: give "static", "system", or a folder that sdk/deps/build made')
    options.out = pathlib.Path(os.path.abspath(given.out)) if given.out else None
    if given.work:
        options.work = pathlib.Path(os.path.abspath(given.work))
    if options.debug and (options.pgo or options.lto):
        raise Usage("--debug makes an unoptimised PHP; --pgo and --lto do not go with it")
    if options.php:
        check_version(options, options.php)
    return options


def check_version(options: Options, minor: str) -> None:
    """Combinations that depend on the version, which a tarball tells when it is unpacked."""
    if minor not in MINORS:
        raise Usage(f"this is the source of PHP {minor}; {', '.join(MINORS)} can be built")
    if options.vm == "tailcall" and minor not in OWN_TAILCALL:
        if not (REPOSITORY / "sdk/patches" / minor / "tailcall").is_dir():
            raise Usage(f"--vm tailcall: PHP {minor} has no interpreter with tail calls and there are no "
                        f"patches for it in sdk/patches/{minor}/tailcall; take --vm hybrid, or PHP 8.5")
        if not options.patches:
            raise Usage(f"--vm tailcall --patches none: with PHP {minor} tail calls are a patch of ours")
        if options.zts:
            raise Usage(f"--vm tailcall --zts: the patches for PHP {minor} were made for and tested with "
                        "non-thread-safe builds; leave out --zts, or take PHP 8.5")


