#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# Compares ephpm with nginx + php-fpm on this machine: same PHP, same ini files, as many workers.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")" || exit 1

usage() {
    cat <<'TEXT'
usage: bench/run.sh [option]... [scenario]...

Scenarios are the files of bench/load; without any, all of them run.

  -b FOLDER   where ephpm and ephpm-php are (default build/release/bin)
  -r N        rounds (default 5)
  -d SECONDS  length of one run (default 4)
  -w N        PHP workers of either server (default 4)
  -e LINE     a further line of ini for both, repeatable (-e opcache.jit=tracing)
  -t LINES    further lines of ephpm.toml
  -j MODE     opcache_jit of ephpm alone (default disable, as in the other server)
  -i N        request by request in turn, N rounds (interleave.py), in place of full load
  -o FOLDER   where results go (default bench/results)

Environment: BENCH_TOOLS, the folder with apps/serve-nginx-fpm.sh and bench/compare.sh (default
../shared beside this repository); BENCH_APPS, the applications that apps/setup-*.sh made (default
/srv/apps); BENCH_PORT, the first of two ports (default 8431).
TEXT
}

die() {
    echo "bench/run.sh: $*" >&2
    exit 1
}

bin=../build/release/bin rounds=5 seconds=4 workers=4 ini='' toml='' jit=disable results=results turns=''
while getopts b:r:d:w:e:t:j:o:i:h option; do
    case $option in
    b) bin=$OPTARG ;;
    r) rounds=$OPTARG ;;
    d) seconds=$OPTARG ;;
    w) workers=$OPTARG ;;
    e) ini+=$OPTARG$'\n' ;;
    t) toml=$OPTARG ;;
    j) jit=$OPTARG ;;
    i) turns=$OPTARG ;;
    o) results=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- hello static page phpinfo symfony laravel dokuwiki wordpress

tools=$(readlink -f "${BENCH_TOOLS:-../../shared}") || die "no folder ${BENCH_TOOLS:-../../shared}"
apps=${BENCH_APPS:-/srv/apps}
rival_port=${BENCH_PORT:-8431}
port=$((rival_port + 1))
php=${PHP_VERSION:-8.2}
state=$(mktemp -d /tmp/ephpm-bench.XXXXXX)
chmod 755 "$state" # the workers are another user's
export PEER_STATE=$state/peers
export PHP_INI_SCAN_DIR=/etc/php/$php/fpm/conf.d:$tools/apps/ini/prod
[ -x "$bin/ephpm" ] || die "no $bin/ephpm: ./quickstart.sh --build-only"
[ -x "$tools/bench/compare.sh" ] || die "no $tools/bench/compare.sh: set BENCH_TOOLS"

# The lines of app.env as TOML pairs.
env_pairs() {
    sed -nE 's/^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/\1\n\2/p' "$1" |
        sed 's/[\\"]/\\&/g; s/.*/"&"/' |
        awk 'NR % 2 { name = $0; next } { printf "%s[%s, %s]", sep, name, $0; sep = ", " }'
}

start_ours() { # APP
    mkdir -p "$state/ini"
    printf '%s' "$ini" >"$state/ini/zz-extra.ini"
    local user=''
    [ "$(id -u)" = 0 ] && user='run_as_user = "www-data"'
    cat >"$state/ephpm.toml" <<TEXT
[server]
listen = "127.0.0.1:$port"
document_root = "$apps/$1/public"
control_socket = "$state/control.sock"
pid_file = "$state/ephpm.pid"
$user
[server.file_cache]   # as the rival's open_file_cache
enabled = true
valid_secs = 60
[php]
workers = $workers
workers_min = $workers
max_requests = 0
opcache_jit = "$jit"
ini_file = "/etc/php/$php/fpm/php.ini"
ini_scan_dir = "/etc/php/$php/embed/conf.d:$tools/apps/ini/prod:$state/ini"
env = [$(env_pairs "$apps/$1/app.env")]
$toml
TEXT
    "$bin/ephpm" serve --config "$state/ephpm.toml" >"$state/ephpm.log" 2>&1 </dev/null &
    ours=$!
    for _ in $(seq 100); do
        curl -sf -o /dev/null "http://127.0.0.1:$port/_ephpm/ready" && return 0
        kill -0 "$ours" 2>/dev/null || break
        sleep 0.1
    done
    tail -5 "$state/ephpm.log" >&2
    die "ephpm does not answer, see $state/ephpm.log"
}

stop_both() {
    [ -n "${ours:-}" ] && kill "$ours" 2>/dev/null && wait "$ours" 2>/dev/null
    ours=''
    "$tools/apps/serve-nginx-fpm.sh" stop "$rival_port" >/dev/null 2>&1
}

cleanup() {
    stop_both
    rm -rf "$state"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

machine() {
    echo "# cores $(nproc), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(awk '/^MemTotal/ { printf "%d MiB", $2 / 1024 }' /proc/meminfo), kernel $(uname -r)"
    echo "# $("php-fpm$php" -v | head -1), $(nginx -v 2>&1), ephpm $("$bin/ephpm" --version 2>&1 | head -1)"
    echo "# revision $(git rev-parse --short HEAD 2>/dev/null || echo unknown), $workers workers each, load average $(cut -d' ' -f1-3 /proc/loadavg)"
    [ "$jit" = disable ] || printf '# opcache_jit of ephpm: %s\n' "$jit"
    [ -z "$ini$toml" ] || printf '# further settings: %s\n' "$(echo "$ini" "$toml" | tr '\n' ' ')"
}

failed=0
mkdir -p "$results"
for scenario in "$@"; do
    file=load/$scenario.txt
    [ -f "$file" ] || die "no scenario $scenario in bench/load"
    app=$(sed -n 's/^# app: //p' "$file")
    read -ra options <<<"$(sed -n 's/^# compare: //p' "$file")"
    [ -d "$apps/$app/public" ] || { echo "$scenario: no $apps/$app, left out" >&2; continue; }
    rival=$(PHP_WORKERS=$workers INI_EXTRA=$ini \
        "$tools/apps/serve-nginx-fpm.sh" "$apps/$app/public" "$rival_port" 2>"$state/rival.log" | tail -1)
    [ -n "$rival" ] || { cat "$state/rival.log" >&2; die "nginx + php-fpm did not start"; }
    start_ours "$app"
    out=$results/$(date +%Y-%m-%d)-$scenario${turns:+-in-turn}.txt
    servers=("$rival" "ephpm=http://127.0.0.1:$port,$state/ephpm.pid")
    {
        machine
        if [ -n "$turns" ]; then
            ./interleave.py -n "$turns" -f "$file" "${servers[@]}"
        else
            "$tools/bench/compare.sh" -r "$rounds" -d "$seconds" "${options[@]}" -f "$file" \
                "${servers[@]}"
        fi
    } | sed "s#$state#STATE#g" | tee "$out"
    [ "${PIPESTATUS[0]}" = 0 ] || failed=1
    stop_both
done
exit $failed
