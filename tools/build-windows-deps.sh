#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# Builds what a Windows build needs and Debian has no mingw package of, into PREFIX:
# libuv (static), from Debian's source package with its patches.  zlib and xxhash come from
# Debian's packages.  Does nothing when PREFIX is complete.
#
#     tools/build-windows-deps.sh [PREFIX]     default: build/windows-deps
#
# Needs: cmake ninja-build dpkg-dev gcc-mingw-w64-x86-64-posix libz-mingw-w64-dev libxxhash-dev
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
prefix=${1:-$here/build/windows-deps}
host=x86_64-w64-mingw32
mark=$prefix/.complete

say() { printf 'build-windows-deps: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# The mark names what was built, so that a newer script builds again.
want="libuv zlib xxhash 2"
if [ "$(cat "$mark" 2>/dev/null || true)" = "$want" ]; then
    exit 0
fi
for tool in cmake ninja dpkg-source $host-gcc-posix; do
    command -v "$tool" >/dev/null || fail "$tool is missing"
done
[ -f /usr/$host/lib/libz.a ] || fail "libz-mingw-w64-dev is missing"
[ -f /usr/include/xxhash.h ] || fail "libxxhash-dev is missing"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
prefix=$(cd "$prefix" && pwd)

src=$work/libuv
"$here/tools/fetch-source" libuv1-dev "$src" >/dev/null || fail "no source of libuv1"

say "building libuv"
cmake -G Ninja -S "$src" -B "$work/build" -DCMAKE_SYSTEM_NAME=Windows \
    -DCMAKE_C_COMPILER=$host-gcc-posix -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    >"$work/build.log" 2>&1 &&
    cmake --build "$work/build" --target uv_a -j 2 >>"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; fail "libuv does not build"; }

library=$(find "$work/build" -name 'libuv_a.a' -o -name 'libuv.a' | head -n 1)
[ -f "$library" ] || fail "the build left no static libuv"
cp "$library" "$prefix/lib/libuv.a"
cp -R "$src/include/." "$prefix/include/"
version=$(sed -n 's/^#define UV_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' "$src/include/uv/version.h" |
    paste -sd.)
cat >"$prefix/lib/pkgconfig/libuv.pc" <<PC
prefix=\${pcfiledir}/../..
Name: libuv
Description: asynchronous input and output, static
Version: $version
Libs: -L\${prefix}/lib -luv -lpsapi -luser32 -ladvapi32 -liphlpapi -luserenv -lws2_32
Cflags: -I\${prefix}/include
PC

# Copies, so that the static libz is found before Debian's import library of zlib1.dll.
cp /usr/$host/lib/libz.a "$prefix/lib/"
cp /usr/$host/include/zlib.h /usr/$host/include/zconf.h "$prefix/include/"
version=$(sed -n 's/^#define ZLIB_VERSION "\(.*\)"/\1/p' "$prefix/include/zlib.h")
cat >"$prefix/lib/pkgconfig/zlib.pc" <<PC
prefix=\${pcfiledir}/../..
Name: zlib
Description: deflate, static
Version: $version
Libs: -L\${prefix}/lib -lz
Cflags: -I\${prefix}/include
PC

# Headers only: the hash is compiled into its user.
cp /usr/include/xxhash.h "$prefix/include/"

echo "$want" >"$mark"
say "complete: $prefix"
