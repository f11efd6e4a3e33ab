#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# From nothing to a running server: installs what is missing, builds, serves the demo application.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")" || exit 1

usage() {
    cat <<'TEXT'
usage: ./quickstart.sh [--tuned [--sdk FOLDER]] [--build-only] [--port PORT] [--root FOLDER]

  --tuned        with a PHP of our own instead of Debian's: builds PHP (sdk/build --pgo, the first
                 time half an hour on two cores), then build/static/bin/ephpm, one file that needs
                 no PHP installed; docs/static.md
  --sdk FOLDER   the PHP that sdk/build left there, and none is built
  --build-only   stop when the programs are there
  --port PORT    first port to try (default 8080; the next free one is taken)
  --root FOLDER  serve this document root instead of the demo application

PHP_VERSION=8.5 ./quickstart.sh takes another PHP than the release's own; see docs/platforms.md.
TEXT
}

die() {
    echo "quickstart.sh: $*" >&2
    exit 1
}

build_only='' port=8080 root=demo/public tuned='' sdk=''
while [ $# -gt 0 ]; do
    case "$1" in
    --build-only) build_only=1 ;;
    --tuned) tuned=1 ;;
    --port | --root | --sdk)
        [ $# -gt 1 ] || { usage >&2; exit 2; }
        case "$1" in
        --port) port=$2 ;;
        --root) root=$2 ;;
        --sdk) sdk=$2 ;;
        esac
        shift
        ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
    shift
done
case "$port" in
'' | *[!0-9]*) die "not a port: $port" ;;
esac
[ -d "$root" ] || die "no folder $root"
if [ -n "$sdk" ]; then
    [ -n "$tuned" ] || die "--sdk goes with --tuned"
    [ -x "$sdk/bin/php-config" ] || die "no PHP of sdk/build in $sdk: it has no bin/php-config"
    sdk=$(readlink -f "$sdk")
fi

. tools/packages.sh
preset=release
[ -z "$tuned" ] || preset=static
bin=build/$preset/bin
log=build/logs/quickstart.log

build() {
    cmake --preset $preset "$1" &&
        cmake --build build/$preset -j "$(nproc)" --target ephpm ephpm-php
}

# Our own PHP. It says itself what it does.
build_sdk() {
    local from=$SECONDS
    [ -z "$sdk" ] || return 0
    echo "building PHP (sdk/build --pgo): two compilations with a training between them"
    sdk/build --php "$(packages_php)" --pgo || die "PHP could not be built; the same command goes on from there"
    sdk=$PWD/build/sdk/php-$(packages_php)
    echo "PHP is built: $(((SECONDS - from) / 60)) min $(((SECONDS - from) % 60)) s"
}

port_taken() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# PHP takes requests. No curl: a fresh machine has none.
ready() {
    local line=''
    exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'GET /_ephpm/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
    read -r -t 5 line <&3
    case "$line" in "HTTP/1.1 200 "*) return 0 ;; esac
    return 1
}

packages_php >/dev/null || exit 1
if [ -n "$tuned" ]; then
    need_packages build sdk-deps || exit 1
    build_sdk
    php=-DEPHPM_PHP_CONFIG=$sdk/bin/php-config
else
    need_packages build run || exit 1
    php=$(packages_cmake_php)
fi
mkdir -p build/logs
[ -x $bin/ephpm ] || echo "building (about a minute; the log is $log)"
if ! build "$php" >$log 2>&1 </dev/null; then
    tail -n 60 $log >&2
    die "the build failed, see $log"
fi
for program in ephpm ephpm-php; do
    [ -x $bin/$program ] || die "the build made no $bin/$program"
done
[ -z "$tuned" ] || echo "built in $SECONDS s: $bin/ephpm, $(du -h --apparent-size $bin/ephpm | cut -f1), all in one file"
if [ -n "$build_only" ]; then
    echo "built: $bin/ephpm $bin/ephpm-php"
    exit 0
fi

tries=50
while port_taken "$port"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || die "no free port found, give one with --port"
    port=$((port + 1))
done

$bin/ephpm dev --port "$port" --document-root "$root" &
server=$!
# The shell passes these on; an interrupt from the terminal reaches the server by itself.
trap 'kill -TERM $server 2>/dev/null' TERM HUP
trap : INT
tries=150
until (ready) 2>/dev/null; do
    tries=$((tries - 1))
    kill -0 $server 2>/dev/null || die "the server did not start, see the messages above"
    if [ $tries -eq 0 ]; then
        kill -TERM $server
        die "no answer on port $port"
    fi
    sleep 0.1
done
echo
echo "The demo application runs: http://127.0.0.1:$port/"
echo "Its files are in $root; change one and reload. Ctrl-C ends the server."
echo
# A signal ends wait before the server has ended, so wait again.
rc=0
while :; do
    wait $server
    rc=$?
    kill -0 $server 2>/dev/null || break
done
exit $rc
