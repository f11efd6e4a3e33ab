# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A tarball that looks like PHP's source to sdk/build and builds in a second.

Its configure writes the Makefile that PHP's would, with a library of one file, so that every step of a
build can be tried: its interpreter says what kind it is, its php lists some extensions. A file
"slow" in $FAKE_PHP makes its make sleep, "full" lets it end for want of space.
"""
import io
import pathlib
import tarfile

CONFIGURE = r"""#!/bin/sh
src=$(dirname "$(readlink -f "$0")")
echo "configured with $*"
[ ! -e "$FAKE_PHP/nolib" ] || { echo "configure: error: Package requirements (libzip >= 0.11) were not met:"; exit 1; }
cat >Makefile <<TEXT
EXTRA_LIBS = -lm -lstdc++ -lm
shared_objects_opcache = ext/opcache/ZendAccelerator.lo
SRC = $src
CC = $CC
libphp.la: core.lo opcache
	mkdir -p libs
	ar rcs libs/libphp.a core.o
core.lo: \$(SRC)/core.c
	@[ ! -e "$FAKE_PHP/full" ] || { echo "write failed: No space left on device"; exit 1; }
	[ ! -e "$FAKE_PHP/slow" ] || { touch "$FAKE_PHP/started"; sleep 60; }
	@[ ! -e "$FAKE_PHP/broken" ] || { echo "core.c:7: error: no such thing"; exit 1; }
	\$(CC) \$(PROF_FLAGS) -I\$(SRC)/Zend -c \$(SRC)/core.c -o core.o
	echo "# a libtool object file" >core.lo
	echo compiled >>"$FAKE_PHP/count"
opcache:
	mkdir -p ext/opcache/.libs modules
	\$(CC) -c \$(SRC)/opcache.c -o ext/opcache/.libs/ZendAccelerator.o
	cp ext/opcache/.libs/ZendAccelerator.o modules/opcache.so
cli:
	mkdir -p sapi/cli
	printf '#!/bin/sh\nprintf "%%s\\\\n" "[PHP Modules]" Core date ""\n' >sapi/cli/php
	chmod +x sapi/cli/php
build-modules:
install-headers:
	mkdir -p \$(INSTALL_ROOT)/usr/include/php
	cp -r \$(SRC)/main \$(SRC)/Zend \$(INSTALL_ROOT)/usr/include/php/
TEXT
"""

FILES = {
    "configure": CONFIGURE,
    "main/php_version.h": '#define PHP_VERSION "@VERSION@"\n',
    "main/php.h": "\n",
    "Zend/zend_extensions.h": "typedef struct { const char *name; } zend_extension;\n",
    "Zend/zend_vm.h": "int zend_vm_kind(void);\n",
    "Zend/zend_vm_def.h": "\n",
    "Zend/zend_modules.h": "#define ZEND_MODULE_API_NO 20220829\n",
    "sapi/cli/php_cli.c": "\n",
    "core.c": "/* the core */\nint zend_vm_kind(void)\n{\n    return @KIND@;\n}\n",
    "opcache.c": 'struct { const char *name; } zend_extension_entry = { "Zend OPcache" };\n',
}


def tarball(path: pathlib.Path, version: str = "8.2.99", kind: int = 4, top: str = "php", **without: bool) -> pathlib.Path:
    with tarfile.open(path, "w:xz") as archive:
        for name, text in FILES.items():
            if without.get(pathlib.Path(name).stem):
                continue
            data = text.replace("@VERSION@", version).replace("@KIND@", str(kind)).encode()
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
    return path
