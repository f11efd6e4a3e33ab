#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# What the key-value store costs from PHP, beside APCu and phpredis in the same process and run:
#   bench/kv-php.sh [FOLDER OF THE PROGRAMS]      default build/release/bin
# It needs the extensions apcu and redis, and redis-server. Results go to bench/results too.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")" || exit 1

die() {
    echo "bench/kv-php.sh: $*" >&2
    exit 1
}

bin=$(readlink -f "${1:-../build/release/bin}")
php=${PHP_VERSION:-8.2}
port=${BENCH_PORT:-8451}
redis_port=$((port + 1))
state=$(mktemp -d /tmp/ephpm-bench-kv.XXXXXX)
chmod 755 "$state" # the workers are another user's
for program in "$bin/ephpm" "$bin/bench_kv" "$(command -v redis-server)"; do
    [ -x "$program" ] || die "no $program"
done

cleanup() {
    [ -z "${ours:-}" ] || { kill "$ours" && wait "$ours"; } 2>/dev/null
    [ -z "${redis:-}" ] || { kill "$redis" && wait "$redis"; } 2>/dev/null
    rm -rf "$state"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir -p "$state/root" "$state/ini"
cp kv-php.php "$state/root/"
# As many entries as it gets: with the default APCu's chains would be long.
printf 'apc.enabled=1\napc.shm_size=512M\napc.entries_hint=262144\n' >"$state/ini/zz-apcu.ini"
user=''
[ "$(id -u)" = 0 ] && user='run_as_user = "www-data"'
cat >"$state/ephpm.toml" <<TEXT
[server]
listen = "127.0.0.1:$port"
document_root = "$state/root"
control_socket = "$state/control.sock"
$user
[server.timeouts]
request = 600
[php]
workers = 4
workers_min = 4
max_requests = 0
opcache_jit = "disable"
ini_file = "/etc/php/$php/fpm/php.ini"
ini_scan_dir = "/etc/php/$php/embed/conf.d:$state/ini"
[kv]
memory_limit = "256MB"
TEXT
"$bin/ephpm" serve --config "$state/ephpm.toml" >"$state/ephpm.log" 2>&1 </dev/null &
ours=$!
redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --appendonly no --dir "$state" >"$state/redis.log" &
redis=$!
for _ in $(seq 100); do
    curl -sf -o /dev/null "http://127.0.0.1:$port/_ephpm/ready" &&
        redis-cli -p "$redis_port" ping >/dev/null 2>&1 && break
    kill -0 "$ours" 2>/dev/null || { tail -5 "$state/ephpm.log" >&2; die "ephpm did not start"; }
    sleep 0.1
done

ask() { # QUERY
    curl -sSf --max-time 600 "http://127.0.0.1:$port/kv-php.php?$1" || die "no answer to $1"
}

# Operations per second of N processes at once, in all, and ns of CPU for each operation.
together() { # N WRITE
    local i
    for i in $(seq "$1"); do
        ask "do=hammer&part=$i&seconds=3&write=$2" >"$state/part.$i" &
        parts[i]=$!
    done
    wait "${parts[@]}"
    parts=()
    for i in $(seq "$1"); do
        cat "$state/part.$i"
        echo
    done | awk '{ all += $1; cpu += $2 } END { printf "%.0f %.0f", all, cpu / NR }'
}

measure() {
    echo "# cores $(nproc), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), kernel $(uname -r)"
    echo "# $("php$php" -v | head -1), apcu $("php$php" -r 'echo phpversion("apcu"), ", phpredis ", phpversion("redis");'), $(redis-server --version | cut -d' ' -f1-3)"
    echo "# revision $(git rev-parse --short HEAD 2>/dev/null || echo unknown), load average $(cut -d' ' -f1-3 /proc/loadavg)"
    echo
    echo "## one process, 64-byte values: CPU time of a call"
    ask "do=cost&keys=1000&redis=$redis_port"
    ask "do=cost&keys=100000&redis=$redis_port"
    echo
    echo "## processes at once, 100,000 keys: operations per second in all"
    ask "do=fill&keys=100000"
    for write in 0 10 100; do
        one=$(together 1 $write)
        for n in 2 4; do
            all=$(together $n $write)
            echo "$write $n $one $all" | awk '{
                printf "%3d %% writes  one %9.0f (%3.0f ns of CPU)  %d at once %9.0f (%3.0f ns)  ratio %.2f\n",
                    $1, $3, $4, $2, $5, $6, $5 / $3 }'
        done
    done
    echo
    echo "## one reader while one process writes the same keys (md5, as long a call: what the machine takes away)"
    for with in md5 get; do
        ask "do=hammer&part=1&seconds=6&write=100" >/dev/null &
        writer=$!
        printf '%-6s %s\n' $with "$(ask "do=stall&seconds=5&with=$with")"
        wait "$writer"
    done
    echo
    echo "## a million keys of 15 bytes with values of 64"
    "$bin/bench_kv" 1000000 memory
    before=$(redis-cli -p "$redis_port" flushall >/dev/null && redis-cli -p "$redis_port" info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
    seq -f 'SET user:%010.0f vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv' 1000000 |
        redis-cli -p "$redis_port" --pipe >/dev/null 2>&1
    after=$(redis-cli -p "$redis_port" info memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p')
    echo "redis-server: $(((after - before) / $(redis-cli -p "$redis_port" dbsize))) bytes of memory for each of $(redis-cli -p "$redis_port" dbsize)"
}

mkdir -p results
measure | sed "s#$state#STATE#g" | tee "results/$(date +%Y-%m-%d)-kv-php.txt"
