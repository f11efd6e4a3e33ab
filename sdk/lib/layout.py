# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The folder that a build leaves: libphp.a, headers, php, php-config and the manifest."""
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess

import phpconfig
from compile import Build
from errors import Failure
from options import REPOSITORY
from steps import Steps, digest_file, output

KINDS = {1: "call", 2: "switch", 3: "goto", 4: "hybrid", 5: "tailcall"}

_PROBE = """\
#define _GNU_SOURCE
#include <stdio.h>
#include <main/php.h>
#include <Zend/zend_extensions.h>
#include <Zend/zend_vm.h>
extern zend_extension OPCACHE;
int main(void) { printf("%d %s\\n", zend_vm_kind(), OPCACHE.name); return 0; }
"""


class Layout:
    def __init__(self, build: Build, folder: pathlib.Path) -> None:
        self.build, self.folder = build, folder
        self.archive = folder / "lib/libphp.a"

    def make(self, steps: Steps, facts: dict[str, object]) -> None:
        build = self.build
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("bin", "lib/deps", "lib/php/extensions", "include"):
            (self.folder / name).mkdir(parents=True)
        self._libphp(steps)
        self._headers(steps)
        shutil.copy2(build.build / "sapi/cli/php", self.folder / "bin/php")
        for path in sorted((build.build / "modules").glob("*.so")):
            shutil.copy2(path, self.folder / "lib/php/extensions")
        if build.deps:
            for path in sorted((build.deps / "lib").glob("*.a")):
                shutil.copy2(path, self.folder / "lib/deps")
        (self.folder / "bin/php.ini").write_text(self._ini())
        kind = phpconfig.Facts(
            version=build.source.version, minor=build.source.minor, api=build.api(),
            vm=build.options.vm, libraries=build.libraries("$prefix/lib/deps"), options=build.arguments())
        phpconfig.write(self.folder / "bin/php-config", kind)
        facts["vm"] = self._verify(steps)
        facts["extensions"] = self._extensions()
        self._manifest(facts)

    def opcache_objects(self) -> list[pathlib.Path]:
        """Of OPcache, which is a file of its own up to 8.4."""
        return sorted((self.build.build / "ext/opcache").glob("**/.libs/*.o"))

    def _libphp(self, steps: Steps) -> None:
        shutil.copy2(self.build.build / "libs/libphp.a", self.archive)
        if self.build.source.minor != "8.5":
            objects = self.opcache_objects()
            if not any(p.name == "ZendAccelerator.o" for p in objects):
                raise Failure(f"OPcache's objects are not in {self.build.build}/ext/opcache")
            # Appended, not replaced: members of a name that is there already are others.
            steps.run([self.build.tools.ar, "qcs", self.archive, *objects], cwd=self.build.build)

    def _headers(self, steps: Steps) -> None:
        root = self.build.work / "headers"
        shutil.rmtree(root, ignore_errors=True)
        # That rule goes into folders, which relative names are none of.
        src = self.build.src
        steps.run(["make", f"INSTALL_ROOT={root}", f"top_srcdir={src}", f"srcdir={src}", "install-headers"],
                  cwd=self.build.build,
                  env=self.build.environment())
        found = [p.parent.parent for p in root.rglob("main/php.h")]
        if len(found) != 1:
            raise Failure(f"make install-headers left no main/php.h in {root}")
        shutil.move(found[0], self.folder / "include/php")
        shutil.rmtree(root)

    def _ini(self) -> str:
        """The loader knows $ORIGIN, so the folder may be moved."""
        lines = ["; Read by bin/php, because it lies beside it.",
                 'extension_dir = "$ORIGIN/../lib/php/extensions"']
        if self.build.source.minor != "8.5":
            lines.append("zend_extension = opcache")
        return "\n".join(lines) + "\n"

    def _verify(self, steps: Steps) -> str:
        """A program linked with libphp.a tells its interpreter: all symbols are there, and it is the
        one that was asked for."""
        config = self.folder / "bin/php-config"
        probe = self.build.work / "probe.c"
        name = ("opcache_zend_extension_entry" if self.build.source.minor == "8.5"
                else "zend_extension_entry")
        probe.write_text(_PROBE.replace("OPCACHE", name))
        program = self.build.work / "probe"
        # libphp.a is all taken in, as ephpm-php does with --export-dynamic.
        link = [self.build.tools.cc, *self.link_flags(), "-o", program, probe,
                *output([config, "--includes"]).split(), "-rdynamic", "-Wl,--whole-archive", self.archive,
                "-Wl,--no-whole-archive", *output([config, "--static-libs"]).split()]
        steps.run(link, cwd=self.build.work,
                  hint="libphp.a could not be linked: bin/php-config --static-libs misses something")
        run = subprocess.run([program], capture_output=True, text=True, check=False)
        words = run.stdout.split(maxsplit=1)
        if run.returncode or len(words) != 2:
            raise Failure(f"{program}, linked with libphp.a, failed (exit status {run.returncode}): "
                          f"{run.stderr.strip()}")
        actual = KINDS.get(int(words[0]), words[0])
        if actual != self.build.options.vm:
            raise Failure(f"--vm {self.build.options.vm} was asked for, and this build has the interpreter "
                          f'"{actual}": {self.build.tools.version} cannot do it for PHP '
                          f"{self.build.source.version}")
        return actual

    def link_flags(self) -> list[str]:
        """Of the compiler, for whoever links with libphp.a."""
        if "-fprofile-generate" in self.profile:
            return self.profile.split()
        return ["-flto"] if self.build.options.lto else []

    profile = ""

    def _extensions(self) -> list[str]:
        run = subprocess.run([self.folder / "bin/php", "-n", "-m"], capture_output=True, text=True,
                             check=False)
        if run.returncode:
            raise Failure(f"bin/php of the new build does not run: {run.stderr.strip()[:300]}")
        return sorted(line for line in run.stdout.splitlines() if re.fullmatch(r"\w[\w ]*", line))

    def _manifest(self, facts: dict[str, object]) -> None:
        build = self.build
        manifest = {
            "version": build.source.version, "api": build.api(), "vm": facts["vm"],
            "source": build.source.package, "source_sha256": build.source.sums,
            "compiler": build.tools.version, "cc": build.tools.cc, "cflags": build.cflags(), "configure": build.arguments(),
            "pgo": build.options.pgo, "profile": facts.get("profile", ""),
            "instrumented": "-fprofile-generate" in self.profile,
            "lto": build.options.lto, "zts": build.options.zts, "debug": build.options.debug,
            "patches": facts["patches"], "extensions": facts["extensions"],
            "shared_extensions": sorted(p.stem for p in (self.folder / "lib/php/extensions").glob("*.so")),
            "libraries": "static" if build.deps else "system",
            "link_flags": self.link_flags(),
            "libphp_sha256": digest_file(self.archive),
            "built": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }
        deps = build.deps / "manifest" if build.deps else None
        if deps and deps.is_file():
            shutil.copy2(deps, self.folder / "lib/deps/manifest")
        (self.folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def publish(new: pathlib.Path, out: pathlib.Path, link: bool) -> None:
    """Takes the place of an older one at once."""
    old = out.with_name(f"{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():
        out.rename(old)
    new.rename(out)
    shutil.rmtree(old, ignore_errors=True)
    if link:
        minor = json.loads((out / "manifest.json").read_text())["version"].rpartition(".")[0]
        name = out.parent / f"php-{minor}"
        fresh = out.parent / f".php-{minor}.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(out.name)
        os.replace(fresh, name)


def relative(path: pathlib.Path) -> str:
    return str(path.relative_to(REPOSITORY)) if path.is_relative_to(REPOSITORY) else str(path)
