# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The compiler of a lane, and the Debian packages that are needed."""
import dataclasses
import os
import re
import shutil
import subprocess

from errors import Failure
from options import REPOSITORY, Options
from steps import output

CLANG_WANTED = 19
SOURCE_ONLY = ("source", "patch")


@dataclasses.dataclass
class Toolchain:
    cc: str
    cxx: str
    ar: str
    version: str  # the compiler's first line
    clang: bool
    ccache: str

    def environment(self) -> dict[str, str]:
        prefix = f"{self.ccache} " if self.ccache else ""
        return {"CC": prefix + self.cc, "CXX": prefix + self.cxx}


def packages(options: Options, say) -> None:
    """Installs what is missing, as quickstart.sh does, or says what to install."""
    purposes = ["sdk-source", "sdk"] + (["sdk-deps", "build"] if options.deps == "static" else [])
    if options.vm == "tailcall":
        purposes.append("sdk-clang")
    if options.pgo and "build" not in purposes:
        purposes.append("build")  # the training builds ephpm
    if options.until in SOURCE_ONLY:
        purposes = ["sdk-source"]
    script = '. tools/packages.sh; need_packages "$@"'
    if not options.install:
        script = '. tools/packages.sh; echo "$(packages_missing $(packages_of "$@"))"'
    run = subprocess.run(["bash", "-c", script, "sdk/build", *purposes], cwd=REPOSITORY, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                         check=False)
    text = run.stdout.strip()
    if not options.install:
        if text:
            raise Failure("missing packages; as root, run:\n"
                          f"    apt-get install --no-install-recommends {text}")
    elif run.returncode:
        raise Failure(text or "the packages that are needed could not be installed")
    elif text:
        say(text)


def find(options: Options) -> Toolchain:
    """The compiler, when it will be needed."""
    if options.until in SOURCE_ONLY:
        return Toolchain("", "", "", "", False, "")
    wanted = os.environ.get("CC", "") or ("clang-19" if options.vm == "tailcall" else "gcc")
    if not shutil.which(wanted):
        package = "clang-19" if "clang" in wanted else "gcc"
        raise Failure(f"the compiler {wanted} is not there: install the Debian package {package}")
    first = output([wanted, "--version"]).split("\n")[0]
    clang = "clang" in first
    if options.vm == "hybrid" and clang:
        raise Failure(f"--vm hybrid: {wanted} is clang, and this interpreter needs gcc (global registers); "
                      "unset CC, or take --vm tailcall")
    if options.vm == "tailcall":
        if not clang:
            raise Failure(f"--vm tailcall: {wanted} is not clang, and this interpreter needs clang "
                          f"{CLANG_WANTED} or newer; unset CC")
        found = re.search(r"version (\d+)", first)
        if not found or int(found.group(1)) < CLANG_WANTED:
            raise Failure(f"--vm tailcall: {first or wanted} is too old; install the Debian package "
                          f"clang-{CLANG_WANTED} and unset CC")
    cxx = wanted.replace("clang", "clang++") if clang else re.sub(r"gcc$|gcc(?=-\d)", "g++", wanted)
    ar = "ar"
    if options.lto:
        ar = wanted.replace("clang", "llvm-ar") if clang else "gcc-ar"
    for tool, package in (("make", "make"), ("pkg-config", "pkg-config"), ("patch", "patch"), (ar, "binutils"),
                          (cxx, "clang-19" if clang else "g++"), ("bison", "bison"), ("re2c", "re2c")):
        if not shutil.which(tool):
            raise Failure(f"{tool} is not there: install the Debian package {package}")
    return Toolchain(wanted, cxx, ar, first, clang, shutil.which("ccache") or "")
