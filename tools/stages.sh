# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# The stages of testing, as functions. Sourced by test.sh and .ci/run from the repository's root.
#
# A stage is made of steps. A step has a name, writes its output to build/logs/NAME.log, and adds
# to the two totals: either one (stage_check) or as many as its tests report (stage_count).
# A failing step shows the end of its log and lets the rest go on.

stage_passed=0
stage_failed=0
stage_built='' # presets
stage_jobs=$(nproc)
stage_logs=build/logs
mkdir -p $stage_logs

# stage_add PASSED FAILED
stage_add() {
    stage_passed=$((stage_passed + $1))
    stage_failed=$((stage_failed + $2))
}

stage_show_log() {
    echo "--- the end of $1 ---"
    # Without the lines that only tell the progress of a build, or name skipped tests.
    grep -avE '^\[[0-9]+/[0-9]+\] (Building|Linking|Creating)|^SKIPPED ' "$1" | tail -n 60
    echo "---"
}

# stage_run NAME COMMAND...  runs it with its output in the log; the status is the command's.
stage_run() {
    local log=$stage_logs/$1.log
    shift
    "$@" >"$log" 2>&1 </dev/null
}

# stage_check NAME COMMAND...  one test: the command succeeds.
stage_check() {
    local name=$1 from=$SECONDS
    if stage_run "$@"; then
        stage_add 1 0
        printf 'ok    %-28s %4ds\n' "$name" $((SECONDS - from))
    else
        stage_add 0 1
        printf 'FAIL  %-28s %4ds\n' "$name" $((SECONDS - from))
        stage_show_log "$stage_logs/$name.log"
        return 1
    fi
}

# stage_count NAME COMMAND...  many tests: the last "N passed, N failed" line of the output counts.
# A command that fails without saying so, or says nothing, is one failure more.
stage_count() {
    local name=$1 from=$SECONDS rc=0 line passed=0 failed=0
    stage_run "$@" || rc=$?
    line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$stage_logs/$name.log" | tail -n 1)
    if [ -n "$line" ]; then
        passed=${line%% *}
        failed=${line#*, }
        failed=${failed%% *}
    fi
    if [ "$failed" = 0 ] && { [ $rc -ne 0 ] || [ -z "$line" ]; }; then
        failed=1
    fi
    stage_add "$passed" "$failed"
    if [ "$failed" = 0 ]; then
        printf 'ok    %-28s %4ds  %s\n' "$name" $((SECONDS - from)) "$line"
    else
        printf 'FAIL  %-28s %4ds  %s\n' "$name" $((SECONDS - from)) "${line:-no result}, exit status $rc"
        stage_show_log "$stage_logs/$name.log"
        return 1
    fi
}

# stage_need PURPOSE...  packages of tools/packages.sh; one failure when they cannot be had.
stage_need() {
    need_packages "$@" && return
    stage_add 0 1
    return 1
}

# stage_configure PRESET [CMAKE-ARGUMENT...]
stage_configure() {
    stage_check "configure-$1" cmake --preset "$1" "$(packages_cmake_php)" "${@:2}"
}

# stage_build PRESET [CMAKE-ARGUMENT...]  configures and builds everything of a preset, once.
stage_build() {
    local preset=$1
    shift
    case "$stage_built" in *" $preset "*) return ;; esac
    stage_configure "$preset" "$@" &&
        stage_check "build-$preset" cmake --build "build/$preset" -j "$stage_jobs" || return
    stage_built="$stage_built $preset "
}

# stage_tests PRESET KIND  names of the tests of a kind ("unit", "fuzz") registered in a build.
stage_tests() {
    ctest --test-dir "build/$1" -N 2>/dev/null | sed -n "s/^ *Test *#[0-9]*: $2\.\(.*\)/\1/p"
}

# stage_units PRESET  runs every unit test of a preset.
stage_units() {
    local preset=$1
    stage_count "unit-$preset" tools/run-ctest "build/$preset" '^unit\.'
}

stage_unit() {
    stage_need build run || return
    stage_build dev && stage_units dev
}

# What needs no running program: layers, headers, format, tidiness of the repository.
stage_checks() {
    stage_need build lint || return
    stage_check layers tools/check-layers
    stage_check headers tools/check-headers
    stage_check format tools/check-format
    stage_check repo tools/check-repo
}

stage_tidy() {
    stage_need build lint || return
    [ -f build/dev/compile_commands.json ] || stage_configure dev || return
    stage_check tidy tools/check-tidy build/dev
}

# Integration tests against the programs of a preset.
stage_integration() {
    local preset=${1:-dev}
    if ! ls tests/integration/test_*.py >/dev/null 2>&1; then
        echo "      integration: there are no tests"
        return
    fi
    stage_need build run test || return
    stage_build "$preset" || return
    stage_count "integration-$preset" env EPHPM_BIN_DIR="$PWD/build/$preset/bin" \
        tools/run-pytest tests/integration
}

# PHP's own tests, with Debian's php and with ours: a sample, and all web requests over HTTP.
stage_php_suite() {
    stage_need build run php-suite || return
    stage_build dev || return
    stage_count php-suite env EPHPM_BIN_DIR="$PWD/build/dev/bin" tests/php-suite/run --sample
    stage_count php-suite-server env EPHPM_BIN_DIR="$PWD/build/dev/bin" tests/php-suite/run --server
}

# A PHP of our own, trained, and ephpm with it inside: the tests of the programs, and PHP's own.
stage_tuned() {
    local php
    stage_need build run test php-suite sdk-source sdk sdk-deps || return
    php=$(packages_php) || return
    stage_check sdk sdk/build --php "$php" --pgo || return
    stage_build tuned "-DEPHPM_PHP_CONFIG=$PWD/build/sdk/php-$php/bin/php-config" || return
    stage_units tuned
    stage_integration tuned
    stage_count php-suite-tuned env EPHPM_BIN_DIR="$PWD/build/tuned/bin" tests/php-suite/run --sample
    stage_build static "-DEPHPM_PHP_CONFIG=$PWD/build/sdk/php-$php/bin/php-config" -DEPHPM_TESTS=OFF &&
        stage_count static tools/test-static
}

# Our own builds of PHP, one for each kind of interpreter: that it is that kind, that it runs as Debian's
# php does, and PHP's own tests. Hours without the builds, and an hour with them.
stage_lanes() {
    local lane options
    stage_need build run php-suite sdk sdk-deps sdk-clang || return
    for lane in hybrid hybrid-pgo call tailcall; do
        options=(--vm "${lane%-pgo}" --out "build/sdk/lane-$lane")
        case "$lane" in *-pgo) options+=(--pgo) ;; esac
        stage_check "sdk-$lane" sdk/build "${options[@]}" || continue
        stage_count "lane-$lane" tests/lanes/run --suite --name "$lane" -j "$stage_jobs" \
            "build/sdk/lane-$lane"
    done
}

# Redis's own tests of the commands that there are: the units that do not take long.
stage_redis_suite() {
    stage_need build run redis-suite || return
    stage_build dev || return
    stage_count redis-suite env EPHPM_BIN_DIR="$PWD/build/dev/bin" tests/redis-suite/run --quick
}

# The same statements to MariaDB and to the embedded database.
stage_sql_suite() {
    local preset=${1:-dev}
    stage_need build run sql-suite || return
    stage_build "$preset" || return
    stage_count "sql-suite-$preset" env EPHPM_BIN_DIR="$PWD/build/$preset/bin" tests/sql-suite/run
}

# The part of the tree that is meant for Windows, cross-built and run by Wine.
stage_windows() {
    local prefix=${EPHPM_WINDOWS_DEPS:-$PWD/build/windows-deps}
    if [ ! -f cmake/mingw.cmake ] || [ ! -x tools/build-windows-deps.sh ]; then
        echo "      windows: skipped, there is no cross build in this tree"
        return
    fi
    if ! need_packages build windows windows-src; then
        echo "      windows: skipped, no cross compiler or no Wine"
        return
    fi
    stage_check windows-deps tools/build-windows-deps.sh "$prefix" || return
    stage_build windows -DEPHPM_WINDOWS_DEPS="$prefix" || return
    # Wine starts its server with the first of them, so one at a time.
    local name
    for name in $(stage_tests windows unit); do
        WINEDEBUG=-all WINEPREFIX=$PWD/build/wine \
            stage_count "unit-windows-$name" tools/run-ctest build/windows "^unit\\.$name\$"
    done
}

# Unit tests under the address and undefined-behaviour sanitizers.
stage_asan() {
    stage_need build run || return
    stage_build asan || return
    # PHP keeps memory until the process ends, which is not a leak of ours.
    local others
    others=$(stage_tests asan unit | grep -vx php | paste -sd '|')
    stage_count unit-asan-php env ASAN_OPTIONS=detect_leaks=0 \
        UBSAN_OPTIONS=print_stacktrace=1 tools/run-ctest build/asan '^unit\.php$'
    stage_count unit-asan env ASAN_OPTIONS=detect_leaks=1 \
        UBSAN_OPTIONS=print_stacktrace=1 tools/run-ctest build/asan "^unit\\.($others)\$"
    # A status that is not ephpm's own, so that a report is not taken for a refusal.
    ASAN_OPTIONS=detect_leaks=0:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99 \
        stage_integration asan
    ASAN_OPTIONS=detect_leaks=0:exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99 \
        stage_sql_suite asan
}

# The thread sanitizer, for the components in which threads or processes share memory.
stage_tsan() {
    stage_need build run || return
    stage_configure tsan || return
    stage_check build-tsan cmake --build build/tsan -j "$stage_jobs" \
        --target unit_platform unit_core unit_engine unit_net unit_kv unit_db_store unit_db_mysql &&
        stage_count unit-tsan env TSAN_OPTIONS=halt_on_error=1 \
            tools/run-ctest build/tsan '^unit\.(platform|core|engine|net|kv-[0-9]+|db_store|db_mysql)$'
}

# Each fuzzer runs its corpus and a fixed number of inputs.
stage_fuzz() {
    stage_need build fuzz || return
    stage_build fuzz || return
    [ -n "$(stage_tests fuzz fuzz)" ] || return 0
    stage_count fuzz tools/run-ctest build/fuzz '^fuzz\.'
}

# quickstart.sh serves the demo application; the packages build and contain what they should.
stage_release() {
    stage_need build run test package || return
    stage_build release || return
    stage_check quickstart tools/check-quickstart
    stage_check package tools/build-package
}

# Prints the result, alone on the last line; the status tells whether all passed.
stage_summary() {
    echo "$stage_passed passed, $stage_failed failed"
    [ "$stage_failed" = 0 ] && [ "$stage_passed" -gt 0 ]
}
