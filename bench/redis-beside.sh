#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# What Redis clients do to PHP requests: their latency alone, with redis-server under load beside
# them, and with ephpm's own Redis port under the same load, in turns.
set -uo pipefail
bench=$(dirname "$(readlink -f "$0")")

usage() {
    cat <<'TEXT'
usage: bench/redis-beside.sh [-b FOLDER] [-r ROUNDS] [-d SECONDS] [-o FOLDER]

  -b FOLDER   where ephpm is (default build/release/bin)
  -r ROUNDS   how often each is measured (default 5)
  -d SECONDS  of one measurement (default 4)
  -o FOLDER   where the result goes (default bench/results)

Needs redis-server, redis-tools and wrk. Exit status 1: an answer was wrong.
TEXT
}

die() {
    echo "bench/redis-beside.sh: $*" >&2
    exit 1
}

bin=$bench/../build/release/bin rounds=5 seconds=4 results=$bench/results
while getopts b:r:d:o:h option; do
    case $option in
    b) bin=$OPTARG ;;
    r) rounds=$OPTARG ;;
    d) seconds=$OPTARG ;;
    o) results=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done
for tool in redis-server redis-benchmark redis-cli wrk curl; do
    command -v $tool >/dev/null || die "$tool is missing"
done
. "$bench/redis-servers.sh"
# About a millisecond of PHP.
start_servers 2 "<?php for (\$i = 0, \$s = ''; \$i < 4000; \$i++) \$s = md5(\$s . \$i); echo 'ok';"
[ "$(curl -s "http://127.0.0.1:$http/")" = ok ] || die "the page does not answer: $(cat "$state/ephpm.log")"

# under_load PORT|none  requests/s, p50 and p99 in ms of the PHP page meanwhile, on one line.
under_load() {
    load=''
    if [ "$1" != none ]; then
        redis-benchmark -p "$1" -t get,set -c 8 -d 64 -n 100000000 -q >/dev/null 2>&1 &
        load=$!
        pids="$pids $load"
        sleep 0.5
    fi
    wrk -t1 -c2 -d"${seconds}s" --latency "http://127.0.0.1:$http/" >"$state/wrk" 2>&1
    [ -z "$load" ] || { kill "$load"; wait "$load" 2>/dev/null; pids=${pids% "$load"}; }
    ! grep -q "Non-2xx\|Socket errors" "$state/wrk" || return 1
    awk 'function ms(t) { return t ~ /us$/ ? t / 1000 : t ~ /ms$/ ? t + 0 : t * 1000 }
        /^ *50%/ { p50 = ms($2) } /^ *99%/ { p99 = ms($2) } /^Requests\/sec/ { rate = $2 }
        END { printf "%.0f %.2f %.2f\n", rate, p50, p99 }' "$state/wrk"
}

for _ in $(seq "$rounds"); do
    for beside in none "$rival_port" "$port"; do
        under_load "$beside" >>"$state/$beside" || die "wrong answers: $(cat "$state/wrk")"
    done
done

median() {
    sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

mkdir -p "$results"
{
    echo "# $(date -u +%F) $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); two clients of a PHP page,"
    echo "# eight of GET and SET without pipelining; medians of $rounds rounds of $seconds s"
    printf '%-24s %8s %8s %8s\n' beside req/s p50-ms p99-ms
    for row in "none nothing" "$rival_port redis-server" "$port ephpm's_Redis_port"; do
        file=$state/${row%% *}
        printf '%-24s' "${row#* }"
        for column in 1 2 3; do
            printf ' %8s' "$(cut -d' ' -f$column "$file" | median)"
        done
        echo
    done
} | tee "$results/$(date -u +%F)-redis-beside.txt"
