# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Configuring and compiling, out of the source's folder: WORK/src beside WORK/build."""
import os
import pathlib
import re
import shutil

import extensions
import makefile
from errors import Failure
from options import Options
from source import Source
from steps import Steps
from toolchain import Toolchain

# The last is an entry of include_path.
PLACES = {"PROG_SENDMAIL": "/usr/sbin/sendmail", "PEAR_INSTALLDIR": "/usr/share/php"}
TARGETS = ["libphp.la", "build-modules"]  # and cli


def without_lto(makefile: str) -> str:
    """For the files with global registers: a function of another file in them would not know those."""
    for name in ("Zend/zend_execute.lo", "ext/opcache/jit/zend_jit_vm_helpers.lo"):
        makefile = re.sub(rf"(?m)^(\t.* --mode=compile .*)( -c \S+ -o {re.escape(name)})",
                          lambda m: m.group(0) if "-fno-lto" in m.group(1) else f"{m.group(1)} -fno-lto{m.group(2)}",
                          makefile)
    return makefile


class Build:
    def __init__(self, options: Options, source: Source, tools: Toolchain, work: pathlib.Path,
                 deps: pathlib.Path | None) -> None:
        self.options, self.source, self.tools, self.deps = options, source, tools, deps
        self.work, self.src, self.build = work, work / "src", work / "build"

    def cflags(self) -> str:
        """Position-independent executables are gcc's default here, and stay: ASLR is safety."""
        options = self.options
        flags = ["-O0 -g"] if options.debug else ["-O3" if options.pgo else "-O2",
                                                   "-fno-semantic-interposition"]
        if options.lto:
            flags.append("-flto=thin" if self.tools.clang else "-flto -ffat-lto-objects")
        if options.vm == "tailcall" and self.source.minor != "8.5":
            flags.append("-DZEND_VM_WANT_TAILCALL")
        if options.cflags:
            flags.append(options.cflags)
        return " ".join(flags)

    def arguments(self) -> list[str]:
        """Names of places are those of Debian's PHP, so that its extensions and php.ini are found."""
        minor, options = self.source.minor, self.options
        found = ["--prefix=/usr", "--sysconfdir=/etc", "--localstatedir=/var", "--with-layout=GNU",
                 "--libdir=/usr/lib/php", "--libexecdir=/usr/lib/php", f"--datadir=/usr/share/php/{minor}",
                 f"--with-config-file-path=/etc/php/{minor}/cli", "--with-config-file-scan-dir=",
                 "--disable-all", "--disable-rpath", "--without-pear", "--disable-cgi", "--disable-phpdbg",
                 "--enable-cli", "--enable-embed=static"]
        found += extensions.arguments(minor)
        if options.zts:
            found.append("--enable-zts")
        if options.debug:
            found.append("--enable-debug")
        if options.vm == "call":
            found.append("--disable-gcc-global-regs")
        return found

    def environment(self) -> dict[str, str]:
        env = dict(os.environ)
        for name in ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LIBS", "MAKEFLAGS"):
            env.pop(name, None)
        env |= self.tools.environment()
        env |= {"LC_ALL": "C.UTF-8", "CFLAGS": self.cflags(), "CXXFLAGS": self.cflags(), "AR": self.tools.ar}
        env |= PLACES | {"EXTENSION_DIR": f"/usr/lib/php/{self.api()}"}
        if self.options.lto:
            env |= {"RANLIB": self.tools.ar.replace("ar", "ranlib"), "NM": self.tools.ar.replace("ar", "nm")}
        if self.tools.ccache:
            # The same objects wherever the tree is; its places are not in them.
            env |= {"CCACHE_BASEDIR": str(self.work), "CCACHE_NOHASHDIR": "1",
                    "CCACHE_SLOPPINESS": "time_macros"}
        if self.deps:
            env |= {"PKG_CONFIG": "pkg-config --static",
                    "PKG_CONFIG_PATH": f"{self.deps}/lib/pkgconfig",
                    "LDFLAGS": f"-L{self.deps}/lib", "CPPFLAGS": f"-I{self.deps}/include"}
        return env

    def api(self) -> str:
        """Number that extensions are built for: the name of their folder."""
        text = (self.src / "Zend/zend_modules.h").read_text(errors="replace")
        for line in text.splitlines():
            if line.startswith("#define ZEND_MODULE_API_NO "):
                number = line.split()[2]
                # Debian's folder has extensions of Debian's kind of build alone.
                return number + ("-zts" if self.options.zts else "") + ("-debug" if self.options.debug else "")
        raise Failure(f"{self.src}/Zend/zend_modules.h has no ZEND_MODULE_API_NO")

    def generate(self, steps: Steps, wanted: dict[str, bool]) -> None:
        """What the patches changed the input of."""
        if wanted["configure"]:
            if not shutil.which("autoconf"):
                raise Failure("autoconf is not there: install the Debian package autoconf")
            steps.run(["./buildconf", "--force"], cwd=self.src)
        if wanted["vm"]:
            php = next((p for p in ("php", f"php{self.source.minor}") if shutil.which(p)), "")
            if not php:
                raise Failure("a patch changes zend_vm_def.h, and no php is there to generate the interpreter: "
                              f"install php{self.source.minor}-cli")
            steps.run([php, "-n", "zend_vm_gen.php"], cwd=self.src / "Zend")
        # Newer than what they come from, so that make leaves them alone.
        for pattern in ("Zend/zend_vm_execute.h", "Zend/zend_vm_opcodes.[ch]", "Zend/zend_vm_handlers.h",
                        "**/*_arginfo.h"):
            for path in self.src.glob(pattern):
                os.utime(path)

    def configure(self, steps: Steps) -> None:
        shutil.rmtree(self.build, ignore_errors=True)
        self.build.mkdir(parents=True)
        try:
            steps.run([self.src / "configure", *self.arguments()], cwd=self.build, env=self.environment())
        except Failure as failure:
            hint = extensions.missing_library(steps.text("configure"))
            raise Failure(f"{failure}\n{hint}") from None
        makefile.patch(self.build / "Makefile", self.src)
        if self.options.lto:
            path = self.build / "Makefile"
            path.write_text(without_lto(path.read_text()))

    def make(self, steps: Steps, profile: str = "") -> None:
        self.discard_broken()
        command = ["make", f"-j{self.options.jobs}", "PHP=", f"PROF_FLAGS={profile}"]
        steps.run([*command, *TARGETS], cwd=self.build, env=self.environment())
        if self.deps:
            # For this target alone: of the library they would become members.
            command.append("EXTRA_LIBS=" + " ".join(self.libraries(f"{self.deps}/lib")))
        steps.run([*command, "cli"], cwd=self.build, env=self.environment())
        for path in (self.build / "libs/libphp.a", self.build / "sapi/cli/php"):
            if not path.is_file():
                raise Failure(f"make succeeded and left no {path}; its log is {steps.logs}")

    def discard_broken(self) -> None:
        """What a killed make left half-written."""
        for path in self.build.rglob("*.lo"):
            if b"libtool object file" not in path.read_bytes()[:200]:
                path.unlink()
                path.with_suffix(".o").unlink(missing_ok=True)
        for path in self.build.rglob("*.o"):
            if path.stat().st_size == 0:
                path.unlink()

    def discard_objects(self) -> None:
        """Everything compiled; not the profiles that lie beside the objects."""
        for path in self.build.rglob("*"):
            if path.suffix in (".o", ".lo", ".la", ".a", ".so", ".dep") and path.is_file():
                path.unlink()
        for name in ("sapi/cli/php", "ext/phar/phar.phar", "ext/phar/phar.php"):
            (self.build / name).unlink(missing_ok=True)

    def libraries(self, folder: str) -> list[str]:
        """What libphp.a has to be linked with, in a linker's order; static ones are in the folder."""
        system = ["-lresolv", "-lcrypt", "-lrt", "-ldl", "-lpthread", "-lm"]
        if self.deps:
            found = []
            for word in (self.deps / "link-line").read_text().split():
                name = f"lib{word.removeprefix('-l')}.a"
                found.append(f"{folder}/{name}" if (self.deps / "lib" / name).is_file() else word)
            return found + system
        makefile_text = (self.build / "Makefile").read_text()
        found = []
        for word in (makefile.variable(makefile_text, "EXTRA_LIBS") + " "
                     + makefile.variable(makefile_text, "ZEND_EXTRA_LIBS")).split():
            # intl alone is C++, and a file of its own.
            if word.startswith("-l") and word != "-lstdc++" and word not in found:
                found.append(word)
        return found + system

    def progress(self) -> str:
        total = (self.build / "Makefile").read_text().count("--mode=compile")
        done = sum(1 for _ in self.build.rglob("*.lo"))
        return f"{done} of {total} files"
