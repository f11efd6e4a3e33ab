#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# Compares the Redis protocol of ephpm with redis-server on this machine, in turns: get, set, incr and
# mset of redis-benchmark, with and without pipelining.
set -uo pipefail
bench=$(dirname "$(readlink -f "$0")")

usage() {
    cat <<'TEXT'
usage: bench/redis.sh [-b FOLDER] [-r ROUNDS] [-n REQUESTS] [-d BYTES] [-o FOLDER]

  -b FOLDER    where ephpm is (default build/release/bin)
  -r ROUNDS    how often each is measured (default 5)
  -n REQUESTS  of one run without pipelining (default 200000; with -P 16 five times as many)
  -d BYTES     length of a value (default 64)
  -o FOLDER    where the result goes (default bench/results)

Needs redis-server and redis-tools. The figure is processor time of the server per request, and its
ratio the median of the rounds' ratios: what else the machine does falls on both. Exit status 1: an
answer was wrong, or redis-server needed less time for one of them.
TEXT
}

die() {
    echo "bench/redis.sh: $*" >&2
    exit 1
}

bin=$bench/../build/release/bin rounds=5 requests=200000 size=64 results=$bench/results
while getopts b:r:n:d:o:h option; do
    case $option in
    b) bin=$OPTARG ;;
    r) rounds=$OPTARG ;;
    n) requests=$OPTARG ;;
    d) size=$OPTARG ;;
    o) results=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done
for tool in redis-server redis-benchmark redis-cli; do
    command -v $tool >/dev/null || die "$tool is missing"
done
. "$bench/redis-servers.sh"
start_servers 1 "<?php echo 'ok';"
ours=$("$bin/ephpm" status -c "$state/ephpm.toml" --json 2>/dev/null |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["kv"]["pid"])') || die "no status"

# ticks PID  of processor time so far
ticks() {
    awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
}

# measure PID PORT TEST PIPELINE N  prints microseconds per request, and requests per second.
measure() {
    local before after rate
    before=$(ticks "$1")
    rate=$(redis-benchmark -p "$2" -t "$3" -P "$4" -n "$5" -r 100000 -d "$size" --csv 2>/dev/null |
        tail -n 1 | cut -d, -f2 | tr -d '"')
    after=$(ticks "$1")
    awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" -v n="$5" -v r="${rate:-0}" \
        'BEGIN { printf "%.3f %d\n", t * 1e6 / hz / n, r }'
}

# What was asked must have been done: both have the same answers.
check() {
    local p
    for p in $rival_port $port; do
        redis-cli -p "$p" flushall >/dev/null
        redis-benchmark -p "$p" -t set,incr,mset -P 16 -n 20000 -d "$size" -q >/dev/null 2>&1
        redis-cli -p "$p" set probe "$(printf %"$size"s x)" >/dev/null
        printf '%s %s %s %s\n' "$(redis-cli -p "$p" get counter:__rand_int__)" \
            "$(redis-cli -p "$p" strlen key:__rand_int__)" "$(redis-cli -p "$p" dbsize)" \
            "$(redis-cli -p "$p" get probe | wc -c)" >"$state/answers-$p"
    done
    cmp -s "$state/answers-$rival_port" "$state/answers-$port" ||
        die "different answers: $(cat "$state/answers-$rival_port") and $(cat "$state/answers-$port")"
}

mkdir -p "$results"
out=$results/$(date -u +%F)-redis.txt
check
{
    echo "# $(uname -m), $(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg);" \
        "$(redis-server --version | cut -d' ' -f3); values of $size bytes; $rounds rounds in turn"
    printf '%-6s %-4s %14s %14s %9s %12s %12s\n' test -P redis-us/req ephpm-us/req cpu-ratio \
        redis-req/s ephpm-req/s
} | tee "$out"
for pipeline in 1 16; do
    for t in set get incr mset; do
        n=$requests
        [ "$pipeline" = 1 ] || n=$((n * 5))
        [ "$t" != mset ] || n=$((n / 4))
        : >"$state/rounds"
        for _ in $(seq "$rounds"); do
            echo "$(measure "$rival" "$rival_port" "$t" "$pipeline" "$n")" \
                "$(measure "$ours" "$port" "$t" "$pipeline" "$n")" >>"$state/rounds"
        done
        sort -n "$state/rounds" | python3 -c '
import statistics, sys
rows = [list(map(float, line.split())) for line in sys.stdin]
m = [statistics.median(c) for c in zip(*rows)]
ratio = statistics.median(r[2] / r[0] if r[0] else 0 for r in rows)
print(f"{sys.argv[1]:6} {sys.argv[2]:4} {m[0]:14.2f} {m[2]:14.2f} {ratio:9.2f} {m[1]:12.0f} {m[3]:12.0f}")' "$t" "$pipeline"
    done
done | tee -a "$out"
check
grep -q ' alert \|role_died' "$state/ephpm.log" && die "the log has an alert"
! awk '$5 > 1 && $1 !~ /^#|test/ { bad = 1 } END { exit !bad }' "$out"
