# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Which extensions are built, and what each needs.

Everything that WordPress, Laravel, Symfony, Drupal and Magento ask for is inside. intl alone is a file
of its own: ICU's data are 30 MB. A row more here is an extension more; docs/sdk.md tells how.
"""
import re

# (arguments of configure, Debian package with its headers, name that pkg-config knows or "")
_EXTENSIONS: list[tuple[str, str, str]] = [
    ("--with-pcre-jit", "", ""),
    ("--enable-bcmath --enable-calendar --enable-ctype --enable-exif --enable-fileinfo", "", ""),
    ("--enable-filter --enable-ftp --enable-pcntl --enable-posix --enable-session --enable-shmop", "", ""),
    ("--enable-sockets --enable-sysvmsg --enable-sysvsem --enable-sysvshm --enable-tokenizer", "", ""),
    ("--enable-mysqlnd --with-mysqli=mysqlnd --enable-pdo --with-pdo-mysql=mysqlnd", "", ""),
    ("--with-mysql-sock=/run/mysqld/mysqld.sock --with-iconv --with-gettext --enable-phar", "", ""),
    ("--with-libxml --enable-dom --enable-simplexml --enable-soap --enable-xml --enable-xmlreader "
     "--enable-xmlwriter", "libxml2-dev", "libxml-2.0"),
    ("--with-xsl", "libxslt1-dev", "libxslt"),
    ("--with-curl", "libcurl4-openssl-dev", "libcurl"),
    ("--with-openssl", "libssl-dev", "openssl"),
    ("--with-sodium", "libsodium-dev", "libsodium"),
    ("--with-sqlite3 --with-pdo-sqlite", "libsqlite3-dev", "sqlite3"),
    ("--with-pgsql --with-pdo-pgsql", "libpq-dev", "libpq"),
    ("--with-zlib", "zlib1g-dev", "zlib"),
    ("--with-zip", "libzip-dev", "libzip"),
    ("--with-libedit", "libedit-dev", "libedit"),
    ("--with-gmp", "libgmp-dev", "gmp"),
    ("--enable-mbstring", "libonig-dev", "oniguruma"),
    ("--enable-gd", "libpng-dev", "libpng"),
    ("--with-jpeg", "libjpeg62-turbo-dev", "libjpeg"),
    ("--with-webp", "libwebp-dev", "libwebp"),
    ("--with-freetype", "libfreetype-dev", "freetype2"),
    ("--enable-intl=shared", "libicu-dev", "icu-i18n"),
]


def arguments(minor: str) -> list[str]:
    """For configure. OPcache is a part of PHP from 8.5 on."""
    found = " ".join(row[0] for row in _EXTENSIONS).split()
    if minor != "8.5":
        found.append("--enable-opcache")
    if minor == "8.2":
        found.append("--with-mhash")  # as Debian has it; PHP gives it up
    return found


def missing_library(log: str) -> str:
    """A sentence about the library that configure did not find, or an empty text."""
    found = re.search(r"Package requirements \(([^ )]+)[^)]*\) were not met|No package '([^']+)' found"
                      r"|cannot find (?:the )?(\w+)", log)
    name = next((g for g in found.groups() if g), "") if found else ""
    for _, package, module in _EXTENSIONS:
        if module and module == name:
            return f"the library {name} is missing: install the Debian package {package}"
    return f"the library {name} is missing: install the Debian package that has {name}.pc" if name else ""
