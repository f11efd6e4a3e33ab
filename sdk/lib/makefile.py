# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What is changed in the Makefile that PHP's configure writes, and what is read from it.

PHP compiles every file of a static library twice, position-independent and not, and uses one of the
two. Here each is compiled once, the way it is used: half the time of a build.
"""
import os
import pathlib
import re

_RECIPE = re.compile(r"^\t\$\(LIBTOOL\).* --mode=compile .* -o (\S+\.lo)\b.*$", re.M)


def variable(makefile: str, name: str) -> str:
    found = re.search(rf"(?m)^{re.escape(name)} *= *(.*)$", makefile)
    return found.group(1).strip() if found else ""


def shared_objects(makefile: str) -> set[str]:
    """Objects of the extensions that are built as files of their own."""
    lists = re.findall(r"(?m)^shared_objects_\w+ *= *(.*)$", makefile)
    return {name for text in lists for name in text.split()}


def compile_once(makefile: str) -> str:
    shared = shared_objects(makefile)

    def once(match: re.Match[str]) -> str:
        recipe, name = match.group(0), match.group(1)
        if name in shared:
            return re.sub(r"\$\((CFLAGS_CLEAN|CXXFLAGS_CLEAN|CXXFLAGS)\)(?! -prefer-pic)",
                          lambda m: f"{m.group(0)} -prefer-pic -shared", recipe, count=1)
        return re.sub(r" (--tag=disable-shared )?--mode=", " --tag=disable-shared --mode=", recipe, count=1)

    return _RECIPE.sub(once, makefile)


def patch(path: pathlib.Path, src: pathlib.Path) -> None:
    """Names of sources become relative: they are in gcc's profiles, and ccache makes them so in one
    phase of a trained build and maybe not in the other."""
    text = compile_once(path.read_text())
    path.write_text(text.replace(str(src), os.path.relpath(src, path.parent)))
