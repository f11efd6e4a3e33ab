#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# cli-start.sh [--record] [RUNS]
#
# What `php -n -r ''` costs from start to end: the stock command, ephpm-php, and ephpm php. The three
# take turns, RUNS times each (200), so that whatever else the machine does meets all of them. Printed
# are medians of processor time (user and system) and of wall time, and their ratio to stock; with
# --record also to bench/results. The build is that of the preset release (EPHPM_BIN_DIR changes it).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

record=0
[ "${1:-}" != --record ] || { record=1 && shift; }
runs=${1:-200}
bin=${EPHPM_BIN_DIR:-build/release/bin}
stock=$(command -v php8.2 || command -v php8.4 || command -v php)

measure() {
    python3 - "$runs" "$stock" "$bin/ephpm-php" "$bin/ephpm php" <<'PYTHON'
import os
import statistics
import sys
import time

runs, commands = int(sys.argv[1]), [c.split() for c in sys.argv[2:]]
samples = [[] for _ in commands]
for turn in range(runs + 5):
    for i, command in enumerate(commands):
        start = time.monotonic()
        pid = os.posix_spawn(os.path.abspath(command[0]), command + ["-n", "-r", ""], os.environ)
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - start
        if status:
            sys.exit(f"{' '.join(command)} ended with status {status}")
        if turn >= 5:
            samples[i].append((usage.ru_utime + usage.ru_stime, wall, usage.ru_minflt))
print(f"{'command':28} {'cpu ms':>8} {'ratio':>7} {'wall ms':>8} {'ratio':>7} {'faults':>7}")
base = None
for command, rows in zip(commands, samples):
    cpu, wall, faults = (statistics.median(column) for column in zip(*rows))
    base = base or (cpu, wall)
    name = " ".join([os.path.basename(command[0])] + command[1:])
    print(f"{name:28} {cpu * 1e3:8.2f} {cpu / base[0]:7.3f} "
          f"{wall * 1e3:8.2f} {wall / base[1]:7.3f} {faults:7.0f}")
PYTHON
}

text="$("$stock" -n -r 'echo "PHP ", PHP_VERSION;'), $(nproc) processors, $runs runs each of: COMMAND -n -r ''
$(measure)"
echo "$text"
[ $record = 0 ] || echo "$text" >"bench/results/$(date -u +%F)-cli-start.txt"
