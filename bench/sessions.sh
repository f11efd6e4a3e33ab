#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# sessions.sh [--record] [ROUNDS]
#
# What a request's session costs: session_start(), one value read and written, session_write_close(),
# with the session in the store, in files (in /tmp, and in /dev/shm, which no disk slows down), and
# with phpredis in a redis-server when both are installed. All in one worker, in turns of a few hundred,
# ROUNDS (30) of them, over 1,000 sessions. Printed are the medians in microseconds, of wall time and
# of the worker's processor time (redis-server's own is not in it), and the ratio to files in /tmp.
# With --record also to bench/results. The build is that of the preset release (EPHPM_BIN_DIR changes it).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

record=0
[ "${1:-}" != --record ] || { record=1 && shift; }
rounds=${1:-30}
bin=$(readlink -f "${EPHPM_BIN_DIR:-build/release/bin}")
port=${BENCH_PORT:-8441}
dir=$(mktemp -d /tmp/ephpm-bench-XXXXXX)
shm=$(mktemp -d /dev/shm/ephpm-bench-XXXXXX)
redis=
stop() {
    [ ! -s "$dir/pid" ] || kill "$(cat "$dir/pid")" || true
    [ -z "$redis" ] || kill "$redis" || true
    wait
    rm -rf "$dir" "$shm"
}
trap stop EXIT
chmod 755 "$dir"
mkdir -m 777 "$dir/root" "$dir/files"
chmod 777 "$shm"

if command -v redis-server >/dev/null && [ -e "$(php-config --extension-dir)/redis.so" ]; then
    redis-server --port $((port + 1)) --bind 127.0.0.1 --save '' --daemonize no >/dev/null &
    redis=$!
fi

cat >"$dir/root/index.php" <<'PHP'
<?php
set_time_limit(0);
$cpu = function () {
    $r = getrusage();
    return ($r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec']) * 1e6 + $r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec'];
};
$median = function (array $v) { sort($v); return $v[intdiv(count($v), 2)]; };
$ways = ['files, /tmp' => ['files', $_GET['files']], 'files, /dev/shm' => ['files', $_GET['shm']],
         'store' => ['ephpm', '']];
if ($_GET['redis'])
    $ways['redis'] = ['redis', "tcp://127.0.0.1:$_GET[redis]?persistent=1"];
ini_set('session.use_cookies', 0);
session_cache_limiter('');
printf("%-8s %-16s %9s %7s %9s %7s\n", 'bytes', 'kept in', 'wall us', 'ratio', 'cpu us', 'ratio');
foreach ([100, 2000, 20000] as $size) {
    $wall = $used = [];
    for ($round = -2; $round < $_GET['rounds']; $round++) {
        foreach ($ways as $name => [$handler, $path]) {
            ini_set('session.save_handler', $handler);
            ini_set('session.save_path', $path);
            $c = $cpu();
            $t = hrtime(true);
            for ($i = 0; $i < 500; $i++) {
                session_id('bench' . ($round * 500 + $i + 1000) % 1000);
                session_start();
                $_SESSION['n'] = ($_SESSION['n'] ?? 0) + 1;
                $_SESSION['data'] ??= str_repeat('x', $size);
                session_write_close();
            }
            if ($round >= 0) { // the first ones warm up
                $wall[$name][] = (hrtime(true) - $t) / 500e3;
                $used[$name][] = ($cpu() - $c) / 500;
            }
            session_id('bench0');
        }
    }
    foreach ($ways as $name => $_) {
        $w = $median($wall[$name]);
        $u = $median($used[$name]);
        printf("%-8d %-16s %9.2f %7.2f %9.2f %7.2f\n", $size, $name, $w,
               $median($wall['files, /tmp']) / $w, $u, $median($used['files, /tmp']) / $u);
    }
    foreach ($ways as [$handler, $path]) {
        ini_set('session.save_handler', $handler);
        ini_set('session.save_path', $path);
        for ($i = 0; $i < 1000; $i++) {
            session_id("bench$i");
            session_start();
            session_destroy();
        }
    }
}
PHP
cat >"$dir/ephpm.toml" <<TOML
[server]
listen = "127.0.0.1:$port"
document_root = "$dir/root"
control_socket = "$dir/control.sock"
pid_file = "$dir/pid"
[server.timeouts]
request = 0
[server.logging]
level = "error"
[php]
workers = 1
workers_min = 1
extensions = [$([ -z "$redis" ] || echo '"igbinary", "redis"')]
TOML
env -u EPHPM_BIN_DIR "$bin/ephpm" serve -c "$dir/ephpm.toml" &
for _ in $(seq 200); do
    curl -fsS "http://127.0.0.1:$port/_ephpm/ready" >/dev/null 2>&1 && break
    sleep 0.1
done

text="PHP $(php-config --version), $(nproc) processors, $rounds turns of 500 for each line
$(curl -fsS "http://127.0.0.1:$port/?rounds=$rounds&files=$dir/files&shm=$shm&redis=${redis:+$((port + 1))}")"
echo "$text"
[ $record = 0 ] || echo "$text" >"bench/results/$(date -u +%F)-sessions.txt"
