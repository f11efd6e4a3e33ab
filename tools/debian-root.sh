# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# A bare Debian in a folder, from where this machine gets its own packages. Needs root and the
# packages of the purpose "chroot". Sourced by tools/test-package and tests/matrix/run. A script that
# sources it calls debian_stop when it ends.

# Addresses in the machine's package sources, of either format: "URI SUITE" lines.
debian_sources() {
    local file
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        awk 'tolower($1) == "uris:" { uri = $2 }
            tolower($1) == "suites:" { for (i = 2; i <= NF; i++) print uri, $i }' "$file"
    done
    sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) +([^ ]+).*/\2 \3/p' /etc/apt/sources.list \
        /etc/apt/sources.list.d/*.list 2>/dev/null || :
}

# debian_mirror [-security]  where the machine gets its release from, or that release's updates of
# security. Other releases are beside it.
debian_mirror() {
    local own
    own=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debian_sources | awk -v s="$own${1:-}" '$2 == s { print $1; exit }'
}

debian_child=''

# debian_isolated COMMAND...  with mounts and processes of its own, which end when it does. A signal
# to the script is not kept waiting.
debian_isolated() {
    local rc=0
    unshare --mount --pid --fork --kill-child --mount-proc "$@" </dev/null &
    debian_child=$!
    wait "$debian_child" || rc=$?
    debian_child=''
    return $rc
}

debian_stop() {
    [ -n "$debian_child" ] || return 0
    kill -KILL "$debian_child" 2>/dev/null || :
    wait "$debian_child" 2>/dev/null || :
    debian_child=''
}

# debian_make SUITE FOLDER LOG  fills the folder, with the machine's way to its mirror.
debian_make() {
    local suite=$1 root=$2 log=$3 mirror security include=''
    mirror=$(debian_mirror)
    security=$(debian_mirror -security)
    if [ -z "$mirror" ]; then
        echo "this machine's package sources name no mirror of its own release" >&2
        return 1
    fi
    case "$mirror" in https:*) include=--include=ca-certificates ;; esac
    # shellcheck disable=SC2086
    if ! debian_isolated debootstrap --variant=minbase $include "$suite" "$root" "$mirror" \
        >"$log" 2>&1; then
        grep -E '^[EW]: ' "$log" >&2 || tail -n 5 "$log" >&2
        echo "$suite could not be had from $mirror; see $log" >&2
        return 1
    fi
    {
        echo "deb $mirror $suite main"
        echo "deb $mirror $suite-updates main"
        [ -z "$security" ] || echo "deb $security $suite-security main"
    } >"$root/etc/apt/sources.list"
    # What this machine needs to reach its mirror: proxies, and no belief in dates.
    apt-config dump | grep -E '^Acquire::(https?|ftp|Check-|Retries|ForceIPv)' \
        >"$root/etc/apt/apt.conf.d/90outside" || :
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || :
}

# debian_enter FOLDER COMMAND...  runs it in there. It is the first process of the system: all others
# end with it. A folder $DEBIAN_SHARED is visible as /srv/shared, read-only.
debian_enter() {
    local root=$1
    shift
    # shellcheck disable=SC2016
    debian_isolated bash -c '
        set -e
        root=$1 shared=$2
        shift 2
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        if [ -n "$shared" ]; then
            mkdir -p "$root/srv/shared"
            mount --bind -o ro "$shared" "$root/srv/shared"
        fi
        # A command in the background ignores interrupts; those below shall not.
        exec chroot "$root" env -i --default-signal=INT,QUIT "$@"
    ' debian_enter "$root" "${DEBIAN_SHARED:-}" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        "$@"
}
