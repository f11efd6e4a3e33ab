/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/router.h"

#include "http/uri.h"

/* One call of router_route(). */
struct routing {
    const struct router_site *site;
    const struct router_fs *fs;
    struct arena *arena;
    struct str path;
    struct str query;
    bool has_query;
    bool no_script; /* the path names a script that does not exist: it is no file either */
    struct route *out;
};

/* A path that was looked up. */
struct found {
    struct str file; /* absolute */
    struct fs_stat stat;
};

static void answer_status(struct routing *r, int status, const char *reason)
{
    *r->out = (struct route){.kind = ROUTE_STATUS, .status = status, .reason = reason};
}

/* 0, ERR_NOTFOUND when there is nothing to find, or ERR_ACCESS. */
static int look_up(struct routing *r, struct str uri, struct found *out)
{
    struct found f = {.stat = {.kind = FS_OTHER}};
    int rc;

    f.file = arena_printf(r->arena, STR_F STR_F, STR_A(r->site->document_root), STR_A(uri));
    rc = r->fs->lookup(r->fs->arg, f.file.p, &f.stat);
    if (rc == 0)
        *out = f;
    return rc == 0 || rc == ERR_ACCESS ? rc : ERR_NOTFOUND;
}

/* Does name end in a PHP extension, and is there something before it? */
static bool has_php_extension(const struct router_site *site, struct str name, bool any_case)
{
    static const struct str php = {".php", 4};
    const struct str *ext = site->php_extension_count ? site->php_extensions : &php;
    size_t n = site->php_extension_count ? site->php_extension_count : 1;

    for (size_t i = 0; i < n; i++) {
        if (name.len > ext[i].len && name.p[name.len - ext[i].len - 1] != '/' &&
            (any_case ? str_iends(name, ext[i]) : str_ends(name, ext[i])))
            return true;
    }
    return false;
}

/* PHP source under another name: ".PHP", and the copies that editors and people leave behind. */
static bool is_php_source(const struct router_site *site, struct str path)
{
    static const struct str copies[] = {
        {"~", 1}, {".bak", 4}, {".old", 4}, {".orig", 5}, {".save", 5}, {".swp", 4}, {".swo", 4}};

    if (has_php_extension(site, path, true))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        if (str_iends(path, copies[i]) &&
            has_php_extension(site, str_n(path.p, path.len - copies[i].len), true))
            return true;
    }
    return false;
}

/* ".user.ini" of any directory: settings of PHP, and never for the client. */
static bool is_php_settings(struct str path)
{
    return str_iends(path, STR("/.user.ini"));
}

bool router_is_source(const struct router_site *site, struct str path)
{
    return is_php_source(site, path) || is_php_settings(path);
}

static bool matches_any(const struct str *globs, size_t n, struct str path)
{
    for (size_t i = 0; i < n; i++) {
        if (str_glob(globs[i], path))
            return true;
    }
    return false;
}

static void serve_php(struct routing *r, const struct found *f, struct str script, struct str info)
{
    const struct router_site *site = r->site;

    if (site->allowed_php_count > 0 &&
        !matches_any(site->allowed_php, site->allowed_php_count, script)) {
        answer_status(r, 403, "script is not in allowed_php_paths");
        return;
    }
    if (!r->fs->contained(r->fs->arg, f->file.p)) {
        answer_status(r, 403, "script is outside the document root");
        return;
    }
    *r->out = (struct route){.kind = ROUTE_PHP,
        .status = 200,
        .file = f->file,
        .stat = f->stat,
        .script_name = script,
        .path_info = info,
        /* script and info are one piece of a path, script first */
        .document_uri = str_n(script.p, script.len + info.len),
        .query = r->query};
}

/* A regular file that is no script by find_script(). */
static void serve_static(struct routing *r, const struct found *f, struct str uri)
{
    if (router_is_source(r->site, uri)) {
        answer_status(r, 403, "PHP source is never sent");
        return;
    }
    if (!r->fs->contained(r->fs->arg, f->file.p)) {
        answer_status(r, 403, "file is outside the document root");
        return;
    }
    *r->out = (struct route){.kind = ROUTE_STATIC,
        .status = 200,
        .file = f->file,
        .stat = f->stat,
        .document_uri = uri,
        .query = r->query};
}

/*
 * Looks for the script that path names and routes to it.  False: there is none, and *missing says
 * whether the path still is one of a script.
 */
static bool route_script(struct routing *r, struct str path, bool *missing)
{
    *missing = false;
    for (size_t i = 1; i <= path.len; i++) {
        struct str script = str_n(path.p, i);
        struct found f;
        int rc;

        if ((i < path.len && path.p[i] != '/') || !has_php_extension(r->site, script, false))
            continue;
        rc = look_up(r, script, &f);
        if (rc == 0 && f.stat.kind == FS_FILE) {
            serve_php(r, &f, script, str_sub(path, i, path.len));
            return true;
        }
        if (rc == ERR_ACCESS) {
            answer_status(r, 403, "script is not accessible");
            return true;
        }
        /* Below a directory named "a.php" the search goes on; below anything else is nothing. */
        if (rc != 0 || f.stat.kind != FS_DIR) {
            *missing = true;
            return false;
        }
    }
    return false;
}

/* rc: of the look-up of uri. False: no file, so a directory or nothing. */
static bool route_found(struct routing *r, struct str uri, int rc, const struct found *f)
{
    if (rc == ERR_ACCESS)
        answer_status(r, 403, "file is not accessible");
    else if (rc != 0 || f->stat.kind == FS_DIR)
        return false;
    else if (f->stat.kind == FS_FILE)
        serve_static(r, f, uri);
    else
        answer_status(r, 403, "not a regular file");
    return true;
}

/* Routes to what uri names, when that is a file and, as the caller made sure, no script. */
static bool route_file(struct routing *r, struct str uri)
{
    struct found f;
    int rc = look_up(r, uri, &f);

    return route_found(r, uri, rc, &f);
}

/* uri ends in '/': its first index file. */
static bool route_index(struct routing *r, struct str uri)
{
    struct found dir;

    /* One look-up tells for most paths of an application that there is no such directory. */
    if (uri.len > 1 && r->site->index_file_count > 1 &&
        (look_up(r, str_n(uri.p, uri.len - 1), &dir) != 0 || dir.stat.kind != FS_DIR))
        return false;
    for (size_t i = 0; i < r->site->index_file_count; i++) {
        struct str index =
            arena_printf(r->arena, STR_F STR_F, STR_A(uri), STR_A(r->site->index_files[i]));
        struct found f;

        if (look_up(r, index, &f) != 0 || f.stat.kind != FS_FILE)
            continue;
        if (has_php_extension(r->site, index, false))
            serve_php(r, &f, index, STR_NONE);
        else
            serve_static(r, &f, index);
        return true;
    }
    return false;
}

static void redirect_to_directory(struct routing *r)
{
    struct buf b = {0};

    /* Built from the normalised path: the raw one may start with "//", which is another host. */
    uri_encode_path(r->path, &b);
    buf_add_char(&b, '/');
    if (r->has_query) {
        buf_add_char(&b, '?');
        buf_add_str(&b, r->query);
    }
    *r->out = (struct route){
        .kind = ROUTE_REDIRECT, .status = 301, .location = arena_str(r->arena, buf_str(&b))};
    buf_fini(&b);
}

/* "$uri/": the directory's index file, or a redirect that adds the slash. */
static bool route_directory(struct routing *r, bool is_dir)
{
    struct str path = r->path;

    if (path.p[path.len - 1] == '/')
        return route_index(r, path);
    if (!is_dir || !route_index(r, arena_printf(r->arena, STR_F "/", STR_A(path))))
        return false;
    if (r->out->kind != ROUTE_STATUS)
        redirect_to_directory(r);
    return true;
}

/* Replaces the variables of a fallback entry. */
static struct str expand(struct routing *r, struct str entry)
{
    const struct {
        struct str name, value;
    } vars[] = {
        {STR("$uri"), r->path},
        {STR("$query_string"), r->query},
        {STR("$args"), r->query},
        {STR("$is_args"), r->query.len > 0 ? STR("?") : STR_NONE},
    };
    struct str out;
    struct buf b = {0};

    if (str_chr(entry, '$') < 0)
        return entry;
    while (entry.len > 0) {
        size_t taken = 1;

        for (size_t i = 0; i < ARRAY_LEN(vars); i++) {
            if (str_starts(entry, vars[i].name)) {
                buf_add_str(&b, vars[i].value);
                taken = vars[i].name.len;
                break;
            }
        }
        if (taken == 1)
            buf_add_char(&b, entry.p[0]);
        entry = str_sub(entry, taken, entry.len);
    }
    out = arena_str(r->arena, buf_str(&b));
    buf_fini(&b);
    return out;
}

/*
 * Splits an entry before its variables are replaced, since the path may hold a '?' that was
 * encoded. False when the entry has no query of its own.
 */
static bool split_entry(struct str entry, struct str *path, struct str *query)
{
    ptrdiff_t mark = str_find(entry, STR("$is_args")), plain = str_chr(entry, '?');
    size_t len = strlen("$is_args");

    if (plain >= 0 && (mark < 0 || plain < mark)) {
        mark = plain;
        len = 1;
    }
    *path = mark < 0 ? entry : str_n(entry.p, (size_t)mark);
    *query = mark < 0 ? STR_NONE : str_sub(entry, (size_t)mark + len, entry.len);
    return mark >= 0;
}

/* An entry that is a path: a file of that name or, as the last one, a rewrite. */
static bool route_entry(struct routing *r, struct str entry, bool last)
{
    struct str path, query, old_query = r->query;
    bool missing;

    if (split_entry(entry, &path, &query) && last)
        r->query = expand(r, query);
    path = expand(r, path);
    if (path.len > 0 && path.p[0] == '/') {
        if (route_script(r, path, &missing))
            return true;
        if (path.p[path.len - 1] == '/' ? route_index(r, path) : !missing && route_file(r, path))
            return true;
    }
    r->query = old_query;
    return false;
}

static int entry_status(struct str entry)
{
    uint64_t status = 0;

    if (entry.len != 4 || str_u64(str_sub(entry, 1, 3), &status) != 0 || status < 400 ||
        status > 599)
        return 404;
    return (int)status;
}

static void route_fallback(struct routing *r)
{
    static const struct str standard[] = {{"$uri", 4}, {"$uri/", 5}, {"=404", 4}};
    const struct str *entries = r->site->fallback_count ? r->site->fallback : standard;
    size_t n = r->site->fallback_count ? r->site->fallback_count : ARRAY_LEN(standard);
    /* A path with a slash at its end is no file. */
    bool look = !r->no_script && r->path.p[r->path.len - 1] != '/';
    int rc = ERR_NOTFOUND;
    struct found self = {.stat = {.kind = FS_OTHER}};

    for (size_t i = 0; i < n; i++) {
        struct str e = entries[i];
        bool file = str_eq(e, STR("$uri")), directory = str_eq(e, STR("$uri/"));

        if ((file || directory) && look) {
            rc = look_up(r, r->path, &self);
            look = false;
        }
        if (file) {
            if (route_found(r, r->path, rc, &self))
                return;
        } else if (directory) {
            if (!r->no_script && route_directory(r, rc == 0 && self.stat.kind == FS_DIR))
                return;
        } else if (e.len > 0 && e.p[0] == '=') {
            answer_status(r, entry_status(e), "no such file");
            return;
        } else if (route_entry(r, e, i + 1 == n)) {
            return;
        }
    }
    answer_status(r, 404, "no such file");
}

static bool is_hidden(struct str path)
{
    for (size_t i = 0; i + 1 < path.len; i++) {
        struct str rest = str_sub(path, i + 1, path.len), segment;

        if (path.p[i] != '/' || path.p[i + 1] != '.')
            continue;
        if (str_split(&rest, '/', &segment) && !str_eq(segment, STR(".well-known")))
            return true;
    }
    return false;
}

/* "con", "con.txt", "COM1": the device, whatever the extension. */
static bool is_windows_device(struct str segment)
{
    static const struct str names[] = {
        {"con", 3}, {"prn", 3}, {"aux", 3}, {"nul", 3}, {"conin$", 6}, {"conout$", 6}};
    ptrdiff_t dot = str_chr(segment, '.');
    struct str base = dot < 0 ? segment : str_n(segment.p, (size_t)dot);

    while (base.len > 0 && base.p[base.len - 1] == ' ')
        base.len--;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_ieq(base, names[i]))
            return true;
    }
    /* "COM1", also with a superscript digit, which is two bytes. */
    return (base.len == 4 || base.len == 5) &&
           (str_istarts(base, STR("com")) || str_istarts(base, STR("lpt"))) &&
           ((base.len == 4 && base.p[3] >= '0' && base.p[3] <= '9') ||
               (base.len == 5 && (unsigned char)base.p[3] == 0xc2));
}

static bool is_odd_on_windows(struct str path)
{
    struct str segment;

    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.p[i];

        if (c < 0x20 || strchr("\\:*?\"<>|", c) != NULL)
            return true;
        if (c == '~' && i + 1 < path.len && path.p[i + 1] >= '0' && path.p[i + 1] <= '9')
            return true; /* perhaps the short name of another file */
    }
    while (str_split(&path, '/', &segment)) {
        if (segment.len == 0)
            continue;
        if (segment.p[segment.len - 1] == '.' || segment.p[segment.len - 1] == ' ' ||
            is_windows_device(segment))
            return true;
    }
    return false;
}

void router_route(const struct router_site *site, const struct router_fs *fs, struct arena *a,
    struct str path, struct str query, bool has_query, struct route *out)
{
    struct routing r = {.site = site,
        .fs = fs,
        .arena = a,
        .path = path,
        .query = query,
        .has_query = has_query,
        .out = out};

    if (path.len == 0 || path.p[0] != '/' || memchr(path.p, '\0', path.len))
        answer_status(&r, 400, "not a path");
    else if (matches_any(site->blocked, site->blocked_count, path))
        answer_status(&r, 403, "path is in blocked_paths");
    else if (site->hidden == ROUTER_HIDDEN_DENY && is_hidden(path))
        answer_status(&r, 403, "hidden file");
    else if (site->hidden == ROUTER_HIDDEN_IGNORE && is_hidden(path))
        answer_status(&r, 404, "hidden file");
    else if (site->windows_names && is_odd_on_windows(path))
        answer_status(&r, 404, "name with a special meaning on Windows");
    else if (!route_script(&r, path, &r.no_script))
        route_fallback(&r);
}
