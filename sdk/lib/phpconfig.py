# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""bin/php-config: what Debian's answers, from wherever the folder is, and what a static link needs."""
import dataclasses
import pathlib
import shlex


@dataclasses.dataclass
class Facts:
    version: str
    minor: str
    api: str
    vm: str
    libraries: list[str]
    options: list[str]


_SCRIPT = """\
#!/bin/sh
# Facts about the PHP in this folder, which may be moved. Written by sdk/build.
self=$(readlink -f "$0") || exit 1
prefix=$(dirname "$(dirname "$self")")
version=@VERSION@
vernum=@VERNUM@
phpapi=@API@
include_dir=$prefix/include/php
includes="-I$include_dir -I$include_dir/main -I$include_dir/TSRM -I$include_dir/Zend -I$include_dir/ext -I$include_dir/ext/date/lib"
# Extensions of Debian are of the same kind; those of this build are in the other folder.
extension_dir=@EXTENSION_DIR@
own_extension_dir=$prefix/lib/php/extensions
ini_path=/etc/php/@MINOR@/cli
ini_dir=$ini_path/conf.d
libphp=$prefix/lib/libphp.a
ldflags=-L$prefix/lib
libs=@LIBS@
vm=@VM@
configure_options=@OPTIONS@

case "${1:-}" in
--prefix) echo "$prefix" ;;
--includes) echo "$includes" ;;
--ldflags) echo "$ldflags" ;;
--libs | --static-libs) echo "$libs" ;;
--extension-dir) echo "$extension_dir" ;;
--own-extension-dir) echo "$own_extension_dir" ;;
--include-dir) echo "$include_dir" ;;
--php-binary) echo "$prefix/bin/php" ;;
--php-sapis) echo "cli embed" ;;
--phpapi) echo "$phpapi" ;;
--configure-options) echo "$configure_options" ;;
--man-dir) echo "$prefix/share/man" ;;
--ini-path) echo "$ini_path" ;;
--ini-dir) echo "$ini_dir" ;;
--version) echo "$version" ;;
--vernum) echo "$vernum" ;;
--libphp-static) echo "$libphp" ;;
--vm) echo "$vm" ;;
--manifest) echo "$prefix/manifest.json" ;;
*)
    cat <<TEXT
Usage: $0 [OPTION]
Options:
  --prefix             [$prefix]
  --includes           [$includes]
  --ldflags            [$ldflags]
  --libs               [$libs]
  --extension-dir      [$extension_dir]
  --own-extension-dir  [$own_extension_dir]
  --include-dir        [$include_dir]
  --php-binary         [$prefix/bin/php]
  --php-sapis          [cli embed]
  --phpapi             [$phpapi]
  --configure-options  [$configure_options]
  --man-dir            [$prefix/share/man]
  --ini-path           [$ini_path]
  --ini-dir            [$ini_dir]
  --version            [$version]
  --vernum             [$vernum]
  --libphp-static      [$libphp]
  --static-libs        [$libs]
  --vm                 [$vm]
  --manifest           [$prefix/manifest.json]
TEXT
    exit 1
    ;;
esac
"""


def write(path: pathlib.Path, facts: Facts) -> None:
    major, minor, release = (int(part) for part in facts.version.split("."))
    values = {
        "VERSION": facts.version, "VERNUM": str(major * 10000 + minor * 100 + release),
        "API": facts.api, "MINOR": facts.minor, "VM": facts.vm, "LIBS": '"' + " ".join(facts.libraries) + '"',
        "EXTENSION_DIR": f"/usr/lib/php/{facts.api}",
        "OPTIONS": shlex.quote(" ".join(facts.options)),
    }
    text = _SCRIPT
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    path.write_text(text)
    path.chmod(0o755)
