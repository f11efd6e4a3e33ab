#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# Installs what is missing, builds, and runs every test. The last line is "N passed, N failed".
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")" || exit 1

usage() {
    cat <<'TEXT'
usage: ./test.sh [--quick | --tuned | --only STAGE[,STAGE...]]

  unit         build (preset dev), unit tests
  checks       layers, headers compile alone, format, tidiness of the repository
  tidy         static analysis
  integration  the server, driven from outside
  php-suite    PHP's own tests, with Debian's php and with ours: a sample, and all web requests
  redis-suite  Redis's own tests, against the server: the quick ones
  sql-suite    the embedded database, with MariaDB as the judge
  windows      cross build, unit tests under Wine
  lanes        a PHP of our own for each kind of interpreter, and PHP's tests with each: hours

--quick leaves out php-suite, redis-suite, sql-suite, tidy and windows. --tuned builds a PHP of our own (sdk/build --pgo, half an
hour on two processors) and runs unit, integration and php-suite with it, and the stage lanes. Logs are in build/logs. PHP_VERSION=8.5 in the
environment takes another PHP than the release's own; see docs/platforms.md.
TEXT
}

stages="unit checks integration php-suite redis-suite sql-suite windows tidy"
while [ $# -gt 0 ]; do
    case "$1" in
    --quick) stages="unit checks integration" ;;
    --tuned) stages="tuned lanes" ;;
    --only)
        [ $# -gt 1 ] || { usage >&2; exit 2; }
        stages=${2//,/ }
        shift
        ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
    shift
done
for stage in $stages; do
    case "$stage" in
    unit | checks | tidy | integration | php-suite | redis-suite | sql-suite | windows | tuned | lanes) ;;
    *) echo "test.sh: no stage called $stage" >&2; usage >&2; exit 2 ;;
    esac
done

. tools/packages.sh
. tools/stages.sh
packages_php >/dev/null || exit 1

for stage in $stages; do
    "stage_${stage//-/_}"
done
stage_summary
