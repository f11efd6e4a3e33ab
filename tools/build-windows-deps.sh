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
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig" "$work/lists/partial" "$work/cache/archives/partial"
prefix=$(cd "$prefix" && pwd)

# Source lines for wherever apt takes libuv from; the system's own lists stay as they are.
apt-cache madison libuv1-dev |
    awk -F'|' '{ split($3, p, " "); split(p[2], s, "/"); print "deb-src", p[1], s[1], s[2] }' |
    sort -u >"$work/sources.list"
[ -s "$work/sources.list" ] || fail "apt knows no libuv1-dev; run apt-get update"
# Whoever cannot write as apt's own user can still read.
chmod -R a+rX "$work"
apt_get() {
    apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root "$@"
}
say "fetching the source of libuv1"
apt_get update
(cd "$work" && apt_get source libuv1) >"$work/source.log" 2>&1 ||
    { cat "$work/source.log" >&2; fail "no source of libuv1"; }
src=$(find "$work" -maxdepth 1 -type d -name 'libuv1-*')
[ -d "$src" ] || fail "the source of libuv1 did not unpack"

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
