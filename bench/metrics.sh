#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# metrics.sh [--record] [ROUNDS]
#
# What counting costs: three servers take turns, request by request (interleave.py): two without
# metrics, whose ratio is the noise, and one that counts. Pages are a PHP hello and a small file;
# then what a scrape costs in all processes. With --record the result goes to bench/results. The
# build is that of the preset release (EPHPM_BIN_DIR changes it). Exits 1 when an answer was wrong.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

record=0
[ "${1:-}" != --record ] || { record=1 && shift; }
rounds=${1:-400}
bin=${EPHPM_BIN_DIR:-build/release/bin}
port=${BENCH_PORT:-8441}
state=$(mktemp -d /tmp/ephpm-bench.XXXXXX)
chmod 755 "$state" # the workers are another user's
pids=()

cleanup() {
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$state"
}
trap cleanup EXIT

mkdir "$state/root"
echo '<?php echo "hello";' >"$state/root/hello.php"
head -c 2000 /dev/zero | tr '\0' x >"$state/root/file.bin"

start() { # NAME PORT ENABLED
    cat >"$state/$1.toml" <<TEXT
[server]
listen = "127.0.0.1:$2"
document_root = "$state/root"
control_socket = "$state/$1.sock"
pid_file = "$state/$1.pid"
[server.metrics]
enabled = $3
[php]
workers = 2
workers_min = 2
max_requests = 0
TEXT
    "$bin/ephpm" serve --config "$state/$1.toml" >"$state/$1.log" 2>&1 </dev/null &
    pids+=($!)
    for _ in $(seq 100); do
        curl -sf -o /dev/null "http://127.0.0.1:$2/_ephpm/ready" && return 0
        sleep 0.1
    done
    tail -5 "$state/$1.log" >&2
    exit 1
}

start off "$port" false
start off-again "$((port + 1))" false
start on "$((port + 2))" true
printf '/hello.php\n/file.bin\n' >"$state/paths"
report() {
    echo "# $(date -u +%F), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg)"
    bench/interleave.py -n "$rounds" -b 100 -f "$state/paths" \
        "off=http://127.0.0.1:$port,$state/off.pid" \
        "off-again=http://127.0.0.1:$((port + 1)),$state/off-again.pid" \
        "on=http://127.0.0.1:$((port + 2)),$state/on.pid"
    echo /metrics >"$state/paths"
    bench/interleave.py -n 20 -b 5 -f "$state/paths" \
        "scrape=http://127.0.0.1:$((port + 2)),$state/on.pid" | tail -n +2
}
if [ $record = 1 ]; then
    report | tee "bench/results/$(date -u +%F)-metrics.txt"
else
    report
fi
