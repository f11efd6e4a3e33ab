# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
#
# Which Debian packages the project needs, by purpose, and need_packages to install them.
# Sourced by quickstart.sh, test.sh and .ci/run; not run on its own.
#
#   build        compiler, libraries and PHP to build ephpm
#   run          PHP extensions that applications commonly want
#   test         what the integration tests talk through
#   lint         formatter, static analyser
#   fuzz         clang with libFuzzer
#   windows      cross compiler and Wine
#   windows-src  fetching and building the Windows libraries
#   package      building a .deb
#   php-suite    PHP's own tests, and the php-cgi to compare with
#   sdk-source   fetching and patching PHP's source
#   sdk          building a PHP of our own, see docs/sdk.md
#   sdk-clang    the same with tail calls
#   sdk-deps     static libraries for a PHP of our own: Debian's, and what the others are built with
#   redis-suite  Redis's own tests, and redis-server, whose source they come from
#   sql-suite    MariaDB, which judges the embedded database
#   sql-corpus   MariaDB's tests, whose statements tools/sql-corpus gives to the SQL parser
#   php-bench    what builds of PHP are judged with
#   chroot       trying the .deb, or the whole tree, in a fresh system
#
# PHP_VERSION in the environment ("8.5") chooses another PHP than the release's own; its packages
# have to be in the machine's package sources, see docs/platforms.md.

packages_release() {
    local id='' version=''
    if [ -r /etc/os-release ]; then
        id=$(. /etc/os-release && echo "${ID:-}")
        version=$(. /etc/os-release && echo "${VERSION_ID:-}")
    fi
    case "$id-$version" in
    debian-12 | debian-13) echo "$version" ;;
    *)
        echo "this is ${id:-an unknown system} ${version}; the scripts know Debian 12 and 13" >&2
        return 1
        ;;
    esac
}

# The version of PHP to build for: $PHP_VERSION, or what the release ships.
packages_php() {
    local release
    release=$(packages_release) || return 1
    case "${PHP_VERSION:-}" in
    '') [ "$release" = 12 ] && echo 8.2 || echo 8.4 ;;
    8.[2-5]) echo "$PHP_VERSION" ;;
    *)
        echo "PHP_VERSION is \"$PHP_VERSION\"; it can be 8.2, 8.3, 8.4 or 8.5" >&2
        return 1
        ;;
    esac
}

# The argument for cmake that chooses this PHP among several.
packages_cmake_php() {
    echo "-DEPHPM_PHP_CONFIG=php-config$(packages_php)"
}

# packages_of PURPOSE...  prints their packages on one line.
packages_of() {
    local release php purpose
    release=$(packages_release) || return 1
    php=$(packages_php) || return 1
    for purpose; do
        case "$purpose" in
        build)
            echo gcc libc6-dev cmake ninja-build pkg-config ca-certificates
            echo libuv1-dev libbrotli-dev libzstd-dev zlib1g-dev libxxhash-dev
            echo libsqlite3-dev libpcre2-dev libssl-dev
            case "$release" in
            12) echo node-llhttp ;; # carries the generated C sources
            *) echo libllhttp-dev ;;
            esac
            echo "libphp$php-embed" "php$php-dev" "php$php-cli"
            ;;
        run)
            local extension
            for extension in mbstring xml sqlite3 curl intl mysql; do
                echo "php$php-$extension"
            done
            [ "$php" = 8.5 ] || echo "php$php-opcache" # part of PHP itself from 8.5 on
            ;;
        test)
            local extension
            echo make patch dpkg-dev xz-utils # test_sdk_build.py
            echo python3 python3-pytest python3-pytest-xdist curl strace procps iproute2 redis-tools php-predis
            echo prometheus python3-prometheus-client # promtool, and a parser of OpenMetrics
            # The servers that ephpm is compared with.
            echo nginx "php$php-fpm" apache2 "libapache2-mod-php$php" "php$php-cgi"
            echo composer php-symfony-http-foundation php-symfony-process
            echo mariadb-client openssl # clients of the database
            # What the adapters of php/ are tested with.
            echo php-psr-simple-cache php-psr-cache php-symfony-cache php-symfony-lock
            [ "$release" != 12 ] || echo php-cache-integration-tests
            # Of PHP 8.5 Debian has none of these so far; the tests with them are skipped then.
            for extension in redis apcu igbinary imagick xdebug; do
                [ "$php" = 8.5 ] || echo "php$php-$extension"
            done
            ;;
        lint) echo python3 git clang-format-19 clang-tidy-19 clang-19 ;;
        fuzz) echo clang-19 libclang-rt-19-dev ;;
        windows) echo gcc-mingw-w64-x86-64-posix libz-mingw-w64-dev wine wine64 ;;
        windows-src) echo dpkg-dev xz-utils patch ;;
        package) echo dpkg-dev file ;;
        php-suite) echo python3 dpkg-dev xz-utils patch "php$php-cli" "php$php-cgi" ;;
        sdk-deps)
            echo dpkg-dev xz-utils patch make perl bison flex binutils
            echo libssl-dev libsqlite3-dev zlib1g-dev libsodium-dev libpng-dev libjpeg62-turbo-dev
            echo libwebp-dev libfreetype-dev libgmp-dev libbz2-dev liblzma-dev libzstd-dev libbrotli-dev
            echo libnghttp2-dev libedit-dev libbsd-dev libmd-dev libncurses-dev libuv1-dev
            # Their sources are built.
            echo libxml2-dev libxslt1-dev libonig-dev libzip-dev libcurl4-openssl-dev libpq-dev
            ;;
        sdk-source) echo python3 dpkg-dev xz-utils patch ;;
        sdk)
            echo python3 gcc g++ libc6-dev make pkg-config binutils
            echo autoconf bison re2c "php$php-cli"
            echo libxml2-dev libxslt1-dev libcurl4-openssl-dev libssl-dev libsodium-dev libsqlite3-dev
            echo libpq-dev zlib1g-dev libzip-dev libedit-dev libgmp-dev libonig-dev libpng-dev
            echo libjpeg62-turbo-dev libwebp-dev libfreetype-dev libicu-dev
            ;;
        sdk-clang) echo clang-19 lld-19 llvm-19 libclang-rt-19-dev ;;
        redis-suite) echo python3 dpkg-dev xz-utils patch tcl redis-server ;;
        sql-corpus) echo python3 mariadb-server mariadb-test-data ;;
        sql-suite) echo python3 mariadb-server mariadb-client "php$php-mysql" ;;
        php-bench) echo python3 php-twig php-parser ;;
        chroot) echo debootstrap curl ;;
        *)
            echo "packages_of: no purpose called $purpose" >&2
            return 1
            ;;
        esac
    done | tr ' ' '\n' | sort -u | tr '\n' ' '
}

# packages_missing PACKAGE...  prints those that are not installed.
packages_missing() {
    local p
    for p; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || printf '%s ' "$p"
    done
}

# Runs as root, whoever calls. Says what is missing when it cannot.
packages_as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

packages_can_be_root() {
    [ "$(id -u)" = 0 ] && return 0
    command -v sudo >/dev/null || return 1
    # Without a password, or with a terminal to type it at.
    sudo -n true 2>/dev/null || [ -t 0 ]
}

# need_packages PURPOSE...  installs what is missing. No service is started by an installation.
need_packages() {
    local list missing log rc=0
    list=$(packages_of "$@") || return 1
    # Word splitting is wanted: package names have no spaces.
    # shellcheck disable=SC2086
    missing=$(packages_missing $list)
    [ -n "$missing" ] || return 0
    if ! packages_can_be_root; then
        echo "missing packages; as root, run:" >&2
        echo "    apt-get install --no-install-recommends ${missing% }" >&2
        return 1
    fi
    echo "installing: ${missing% }"
    log=$(mktemp)
    # shellcheck disable=SC2086
    packages_install $missing >"$log" 2>&1 </dev/null || rc=$?
    if [ $rc -ne 0 ]; then
        tail -n 30 "$log" >&2
        echo "could not install: ${missing% }" >&2
    fi
    rm -f "$log"
    # Debian enables what it installs; a debugger in every PHP would switch the JIT off.
    case " $missing" in
    *-xdebug\ *) packages_as_root phpdismod xdebug || rc=$? ;;
    esac
    return $rc
}

packages_install() {
    local policy=/usr/sbin/policy-rc.d made='' rc=0
    # dpkg asks this file whether it may start a service; 101 is no.
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' | packages_as_root tee $policy >/dev/null &&
            packages_as_root chmod 755 $policy && made=1
    fi
    packages_apt install "$@" || {
        # One broken source must not stop the others from being read.
        packages_apt update || :
        packages_apt install "$@"
    } || rc=$?
    [ -z "$made" ] || packages_as_root rm -f $policy
    return $rc
}

packages_apt() {
    local verb=$1
    shift
    [ "$verb" != install ] || set -- --no-install-recommends "$@"
    packages_as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
        -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$verb" "$@"
}
