# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# redis-server and ephpm with a Redis port, for a benchmark of both. Sourced, with $bin and die() there.
#
#   state              a folder for this run; it goes with the servers at the end
#   pids               what is ended then; add what else is started
#   rival, rival_port  redis-server
#   port, http         ephpm: its Redis port, and that of state/root/index.php

state=$(mktemp -d /tmp/ephpm-bench-redis.XXXXXX)
chmod 755 "$state"
mkdir "$state/root"
pids=''
trap 'kill $pids 2>/dev/null; wait; rm -rf "$state"' EXIT
trap 'exit 1' INT TERM

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
rival_port=$(free_port)
http=$(free_port)
port=$(free_port)

# start_servers WORKERS PAGE  PAGE is what the PHP script holds. Returns when both answer.
start_servers() {
    local p
    [ -x "$bin/ephpm" ] || die "no $bin/ephpm"
    redis-server --port "$rival_port" --bind 127.0.0.1 --save '' --appendonly no --dir "$state" \
        >"$state/redis.log" 2>&1 &
    rival=$!
    pids=$rival
    echo "$2" >"$state/root/index.php"
    cat >"$state/ephpm.toml" <<TEXT
[server]
listen = "127.0.0.1:$http"
document_root = "$state/root"
control_socket = "$state/control.sock"
[php]
workers = $1
[kv]
memory_limit = "512MB"
[kv.redis_compat]
enabled = true
listen = "127.0.0.1:$port"
TEXT
    env -i PATH="$PATH" "$bin/ephpm" serve -c "$state/ephpm.toml" >"$state/ephpm.log" 2>&1 &
    pids="$pids $!"
    for p in $rival_port $port; do
        for _ in $(seq 100); do
            [ "$(redis-cli -p "$p" ping 2>/dev/null)" = PONG ] && continue 2
            sleep 0.1
        done
        cat "$state"/*.log >&2
        die "nobody answers on port $p"
    done
}
