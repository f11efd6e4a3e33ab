# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""PHP's source: Debian's source package, or a tarball; and our patches in it."""
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import tarfile

from errors import Failure
from options import MINORS, REPOSITORY, Options
from steps import digest, digest_file

# Where Debian has which version. Of another suite's PHP only the source is used.
SUITES = {
    "8.2": "bookworm bookworm-updates bookworm-security",
    "8.4": "trixie trixie-updates trixie-security",
    "8.5": "experimental",
}
PATCHES = REPOSITORY / "sdk/patches"
_MARKS = ("main/php_version.h", "Zend/zend_vm_def.h", "sapi/cli/php_cli.c")


@dataclasses.dataclass
class Source:
    folder: pathlib.Path  # pristine
    minor: str
    version: str  # PHP's
    package: str  # name and version of the source package, or the tarball's name
    sums: dict[str, str]  # SHA-256 of the files it was unpacked from

    def key(self) -> str:
        return digest(self.version, self.package, self.sums)


def php_version(folder: pathlib.Path) -> str:
    text = (folder / "main/php_version.h").read_text(errors="replace")
    found = re.search(r'PHP_VERSION "(\d+\.\d+\.\d+)', text)
    if not found:
        raise Failure(f"{folder}/main/php_version.h tells no version; delete the folder and run again")
    return found.group(1)


def _described(folder: pathlib.Path, package: str, sums: dict[str, str]) -> Source:
    version = php_version(folder)
    return Source(folder, version.rpartition(".")[0], version, package, sums)


def from_debian(minor: str, cache: pathlib.Path, again: bool, say) -> Source:
    """The newest source package that can be had; the one fetched before, unless asked to look again."""
    folder, facts = cache / f"php-{minor}", cache / f"php-{minor}.json"
    if again or not facts.is_file() or not folder.is_dir():
        new, sums = cache / f"php-{minor}.new", cache / f"php-{minor}.sums"
        shutil.rmtree(new, ignore_errors=True)
        cache.mkdir(parents=True, exist_ok=True)
        fetch = subprocess.run(
            [REPOSITORY / "tools/fetch-source", "--suites", SUITES[minor], f"php{minor}", new, sums],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        if fetch.returncode:
            if "No space left" in fetch.stderr:
                raise Failure(f"no space is left in {cache} for PHP's source")
            tail = "".join(f"\n    {line}" for line in fetch.stderr.strip().splitlines()[-5:])
            raise Failure(f"the source of PHP {minor} could not be fetched from Debian ({SUITES[minor]}); "
                          f"try again later, or give a tarball with --php{tail}")
        for line in fetch.stderr.splitlines():
            if "does not have" in line:
                say(line.removeprefix("fetch-source: "))
        listed = dict(reversed(line.split(None, 1)) for line in sums.read_text().splitlines())
        facts.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        new.rename(folder)
        # Whole or not there.
        half = facts.with_suffix(".new")
        half.write_text(json.dumps({"package": f"php{minor} {fetch.stdout.strip()}", "sums": listed}))
        half.rename(facts)
    known = json.loads(facts.read_text())
    return _described(folder, known["package"], known["sums"])


def from_tarball(options: Options, cache: pathlib.Path) -> Source:
    tarball = options.tarball
    assert tarball
    actual = digest_file(tarball)
    if options.sha256 and options.sha256 != actual:
        raise Failure(f"{tarball} is not what was expected: its SHA-256 sum is {actual}, "
                      f"not {options.sha256}; fetch it again")
    folder = cache / f"tarball-{actual[:16]}"
    if not (folder / ".whole").is_file():
        _unpack(tarball, folder)
    source = _described(folder, tarball.name, {tarball.name: actual})
    if source.minor not in MINORS:
        raise Failure(f"{tarball} is the source of PHP {source.version}; "
                      f"{', '.join(MINORS)} can be built")
    return source


def _unpack(tarball: pathlib.Path, folder: pathlib.Path) -> None:
    new = folder.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with tarfile.open(tarball) as archive:
            names = archive.getnames()  # reads it to its end
    except (tarfile.TarError, EOFError, OSError, ValueError, ImportError) as error:
        raise Failure(f"{tarball} is damaged or no tarball ({error}); fetch it again") from None
    except Exception as error:  # each compression has its own
        raise Failure(f"{tarball} is damaged ({error}); fetch it again") from None
    tops = {name.removeprefix("./").split("/", 1)[0] for name in names} - {".", "", "package.xml"}
    top = next(iter(tops)) if len(tops) == 1 else ""
    if not top or any(f"{top}/{mark}" not in {n.removeprefix("./") for n in names} for mark in _MARKS):
        raise Failure(f"{tarball} is not PHP's source: there is no {_MARKS[0]} in a single folder; "
                      "take php-VERSION.tar.xz")
    new.mkdir(parents=True)
    unpack = subprocess.run(["tar", "-xf", tarball, "-C", new, "--no-same-owner", "--strip-components=1",
                             top], capture_output=True, text=True, check=False)
    if unpack.returncode:
        shutil.rmtree(new, ignore_errors=True)
        if "No space left" in unpack.stderr:
            raise Failure(f"no space is left in {folder.parent} for PHP's source")
        raise Failure(f"{tarball} is damaged ({unpack.stderr.strip().splitlines()[0]}); fetch it again")
    (new / ".whole").touch()
    new.rename(folder)


def patches(options: Options, minor: str) -> list[pathlib.Path]:
    if not options.patches:
        return []
    found = sorted((PATCHES / minor).glob("*.patch"))
    if options.vm == "tailcall":
        found += sorted((PATCHES / minor / "tailcall").glob("*.patch"))
    return found


def apply(patch: pathlib.Path, folder: pathlib.Path, log: pathlib.Path | None = None) -> list[str]:
    """Into the source in the folder; the names of the files it changes. Places must match exactly,
    though they may have moved."""
    run = subprocess.run(["patch", "-p1", "--forward", "--fuzz=0", "--no-backup-if-mismatch", "-r", "-",
                          "-i", patch], cwd=folder, capture_output=True, text=True, check=False)
    if log:
        with log.open("a") as file:
            file.write(f"--- {patch}\n{run.stdout}{run.stderr}")
    files = re.findall(r"(?m)^patching file '?([^'\n]+?)'?$", run.stdout)
    if run.returncode:
        raise Failure(_reject(patch, folder, run.stdout + run.stderr))
    return files


def _reject(patch: pathlib.Path, folder: pathlib.Path, text: str) -> str:
    name = patch.relative_to(REPOSITORY) if patch.is_relative_to(REPOSITORY) else patch
    file, failed = "", ""
    for line in text.splitlines():
        if found := re.match(r"(?:patching|checking) file '?([^'\n]+?)'?$", line):
            file = found.group(1)
        elif found := re.match(r"Hunk #(\d+) FAILED at (\d+)", line):
            failed = f"hunk {found.group(1)} ({file}, line {found.group(2)})"
            break
        elif "previously applied" in line:
            failed = f"it is in the source already ({file})"
            break
        elif "find file to patch" in line or "malformed patch" in line:
            failed = line.removeprefix("patch: ").strip(" *")
            break
    version = php_version(folder)
    return (f"the patch {name} does not fit PHP {version}: {failed or text.strip()[:200]}; "
            "make it anew for this source, or build with --patches none")


def prepare(source: Source, chosen: list[pathlib.Path], folder: pathlib.Path,
            log: pathlib.Path) -> dict[str, bool]:
    """A patched copy of the source. Tells what has to be generated anew."""
    shutil.rmtree(folder, ignore_errors=True)
    copy = subprocess.run(["cp", "-a", "--reflink=auto", source.folder, folder], capture_output=True, text=True,
                          check=False)
    if copy.returncode:
        raise Failure(f"PHP's source could not be copied: {copy.stderr.strip().splitlines()[0]}")
    changed: set[str] = set()
    for patch in chosen:
        changed.update(apply(patch, folder, log))
    own_vm = {"Zend/zend_vm_def.h", "Zend/zend_vm_execute.skl", "Zend/zend_vm_gen.php"} & changed
    return {
        "configure": not (folder / "configure").is_file()
        or any(n.endswith((".m4", "configure.ac")) for n in changed),
        "vm": bool(own_vm) and "Zend/zend_vm_execute.h" not in changed,
    }
