/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_ROUTER_H
#define EPHPM_HTTP_ROUTER_H

/*
 * What a decoded path (uri_decode_path) is: a file to send, a PHP script to run, a redirect, or a
 * status.
 *
 * Order: blocked globs (403), hidden files, then
 *  1. the script: the path is split after each segment that ends in ".php"; the first split that
 *     names a regular file is the script and the rest is PATH_INFO; a directory of such a name is
 *     walked through; anything else ends the search.  So "/cat.jpg/x.php" never runs cat.jpg.
 *  2. the fallback list, as nginx's try_files: "$uri" a file, "$uri/" a directory with one of the
 *     index files ("/dir" is redirected to "/dir/"), other entries files of that path, and the last
 *     one an internal rewrite ("/index.php?$query_string") or a status ("=404").  "$uri",
 *     "$query_string", "$args" and "$is_args" are replaced.  A rewrite happens once: what it names
 *     must exist, else 404.  A rewrite without '?' keeps the query.
 * PHP source never leaves as a file: names ending in a PHP extension in another case (".PHP") and
 * editors' copies (".php~", ".php.bak") are 403, as is ".user.ini".  A file or script outside the
 * document root, reached through a link, is 403.
 *
 * The router does no I/O itself: it asks the callbacks, which the caller may answer from a cache.
 * "/" and "/index.php" cost one look-up and one containment check.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "platform/fs.h"

enum router_hidden {
    ROUTER_HIDDEN_DENY,   /* 403 */
    ROUTER_HIDDEN_IGNORE, /* 404 */
    ROUTER_HIDDEN_ALLOW
};

/*
 * All borrowed; the lists may be empty.  windows_names refuses (404) names that Windows reads as
 * another file's or a device's: a ':' or '\\', a trailing dot or space, "NUL", "CON", short names
 * with "~1".
 */
struct router_site {
    struct str document_root; /* absolute, resolved, no '/' at the end */
    const struct str *index_files;
    size_t index_file_count;
    const struct str *fallback; /* empty: $uri, $uri/, =404 */
    size_t fallback_count;
    enum router_hidden hidden; /* names starting with '.', but for a ".well-known" segment */
    const struct str *blocked; /* globs (str_glob) over the decoded path: 403 */
    size_t blocked_count;
    const struct str
        *allowed_php; /* globs over the script name; empty allows all, others are 403 */
    size_t allowed_php_count;
    const struct str *php_extensions; /* with the dot, lower case; empty: ".php" */
    size_t php_extension_count;
    bool windows_names;
};

/* Is it PHP source, an editor's copy of one, or ".user.ini": what no client gets as a file? */
bool router_is_source(const struct router_site *site, struct str path);

struct router_fs {
    /* fs_stat() or a cache of it. Errors as there. */
    int (*lookup)(void *arg, const char *abs_path, struct fs_stat *out);
    /* Is the existing file, links resolved, inside the site's root? */
    bool (*contained)(void *arg, const char *abs_path);
    void *arg;
};

enum route_kind { ROUTE_STATUS, ROUTE_STATIC, ROUTE_PHP, ROUTE_REDIRECT };

/* Strings are in the arena, or borrowed from the input. */
struct route {
    enum route_kind kind;
    int status;              /* STATUS: what to answer; REDIRECT: 301; else 200 */
    const char *reason;      /* STATUS: static text for the log */
    struct str file;         /* STATIC, PHP: absolute path (SCRIPT_FILENAME), NUL-terminated */
    struct fs_stat stat;     /* STATIC, PHP: of file */
    struct str script_name;  /* PHP: URL path of the script */
    struct str path_info;    /* PHP: empty when there is none */
    struct str document_uri; /* STATIC, PHP: path after rewrites */
    struct str query;        /* PHP: QUERY_STRING, changed by a rewrite */
    struct str location;     /* REDIRECT: encoded path with query */
};

/* path: decoded; query: raw, with has_query for "/x?" redirects. Never fails: errors become a
 * status. */
void router_route(const struct router_site *site, const struct router_fs *fs, struct arena *a,
    struct str path, struct str query, bool has_query, struct route *out);

#endif
