/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/ini.h"

#include <stdlib.h>

#include "base/mem.h"
#include "platform/fs.h"

enum { INI_FILE_MAX = 4 << 20, INI_DIR_MAX = 512 };

/* Functions that start programs. */
static const char shell_functions[] = "exec,shell_exec,system,passthru,proc_open,popen,pcntl_exec";

/* Functions that reach beyond a site: other processes, shared memory, the network past PHP's
 * streams, mail, the cache. */
static const char tenant_functions[] =
    "pcntl_fork,pcntl_signal,pcntl_alarm,pcntl_wait,pcntl_waitpid,pcntl_async_signals,"
    "pcntl_signal_dispatch,pcntl_sigprocmask,pcntl_sigwaitinfo,pcntl_sigtimedwait,posix_kill,"
    "posix_setuid,posix_setgid,posix_seteuid,posix_setegid,fsockopen,pfsockopen,shm_attach,"
    "shm_detach,shm_get_var,shm_has_var,shm_put_var,shm_remove,shm_remove_var,sem_acquire,sem_get,"
    "sem_release,sem_remove,msg_get_queue,msg_queue_exists,msg_receive,msg_remove_queue,msg_send,"
    "msg_set_queue,msg_stat_queue,shmop_open,dl,mail,opcache_reset,opcache_compile_file,"
    "opcache_invalidate,opcache_get_status,opcache_get_configuration,opcache_is_script_cached";

/* Letters that PHP's ini scanner takes as they are. */
static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!alnum && !(c && strchr("_./:,-%+\\", c)))
            return false;
    }
    return true;
}

/* "E_ALL & ~E_DEPRECATED": an expression that PHP computes only outside of quotes. */
static bool is_error_level(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.p[i];

        if (!(c >= 'A' && c <= 'Z') && !(c && strchr("_ &|~^!()", c)))
            return false;
    }
    return str_find(s, STR("E_")) >= 0;
}

/*
 * Single quotes keep everything as it is but cannot hold one; neighbouring strings are joined, so a
 * quote itself goes between double quotes: it's -> 'it'"'"'s'.
 */
static void add_quoted(struct buf *out, struct str value)
{
    struct str part;
    bool first = true;

    while (str_split(&value, '\'', &part)) {
        if (!first)
            buf_add_lit(out, "\"'\"");
        first = false;
        if (part.len == 0)
            continue;
        buf_add_char(out, '\'');
        for (size_t i = 0; i < part.len; i++)
            buf_add_char(out, (unsigned char)part.p[i] < 0x20 ? ' ' : part.p[i]);
        buf_add_char(out, '\'');
    }
}

void ini_add(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "%s=", name);
    if (is_plain(value) || is_error_level(value))
        buf_add_str(out, value);
    else
        add_quoted(out, value);
    buf_add_char(out, '\n');
}

static void add_int(struct buf *out, const char *name, int64_t v)
{
    buf_printf(out, "%s=%lld\n", name, (long long)v);
}

/* Numbers of -1 are PHP's own defaults. */
static void add_derived_int(struct buf *out, const char *name, int64_t v, const char *unit)
{
    if (v >= 0)
        buf_printf(out, "%s=%lld%s\n", name, (long long)v, unit);
}

static bool is_request_section(struct str line)
{
    return str_istarts(line, STR("[PATH=")) || str_istarts(line, STR("[HOST="));
}

static struct str unquote(struct str v)
{
    char q = v.len >= 2 ? v.p[0] : 0;

    if (q == '"' || q == '\'') {
        ptrdiff_t end = str_chr(str_sub(v, 1, v.len), q);

        return end < 0 ? v : str_sub(v, 1, (size_t)end);
    }
    /* Outside of quotes a semicolon starts a comment. */
    if (str_chr(v, ';') >= 0)
        v = str_sub(v, 0, (size_t)str_chr(v, ';'));
    return str_trim(v);
}

bool ini_text_get(struct str text, struct str name, struct str *value)
{
    bool skip = false, found = false;
    struct str line;

    while (str_split(&text, '\n', &line)) {
        ptrdiff_t eq;

        line = str_trim(line);
        if (line.len && line.p[0] == '[')
            skip = is_request_section(line);
        eq = str_chr(line, '=');
        if (skip || eq < 0 || line.p[0] == ';' || line.p[0] == '#' || line.p[0] == '[')
            continue;
        if (!str_eq(str_trim(str_sub(line, 0, (size_t)eq)), name))
            continue;
        *value = unquote(str_trim(str_sub(line, (size_t)eq + 1, line.len)));
        found = true;
    }
    return found;
}

void ini_merge_file_wins(struct str ini_file, struct str derived, struct buf *out)
{
    struct str line, value;

    while (str_split(&derived, '\n', &line)) {
        ptrdiff_t eq = str_chr(line, '=');

        if (eq < 0 || (ini_file.p && ini_text_get(ini_file, str_sub(line, 0, (size_t)eq), &value)))
            continue;
        buf_add_str(out, line);
        buf_add_char(out, '\n');
    }
}

/*
 * The values of the shape: first those that were derived (pinned = false), later those that a key
 * pins.
 */
static void add_shape(const struct shape *s, bool pinned, struct buf *out)
{
    static const char *const jit[] = {"", "tracing", "function", "disable", ""};

    if (s->pinned.validate_timestamps == pinned)
        add_int(out, "opcache.validate_timestamps", s->validate_timestamps);
    /* A deploy compiles files that were written a moment ago; without this they would stay out. */
    if (!pinned && s->validate_timestamps == 0)
        add_int(out, "opcache.file_update_protection", 0);
    if (s->pinned.revalidate_freq == pinned)
        add_derived_int(out, "opcache.revalidate_freq", s->revalidate_freq, "");
    if (s->pinned.opcache_mb == pinned)
        add_derived_int(out, "opcache.memory_consumption", s->opcache_mb, "");
    if (s->pinned.interned_mb == pinned)
        add_derived_int(out, "opcache.interned_strings_buffer", s->interned_mb, "");
    if (s->pinned.max_files == pinned)
        add_derived_int(out, "opcache.max_accelerated_files", s->max_files, "");
    /* disable is said aloud: PHP up to 8.3 turns the JIT on by itself when it has a buffer. */
    if (s->pinned.jit == pinned)
        ini_add(out, "opcache.jit", str_c(jit[s->jit]));
    if (s->pinned.jit_buffer_mb == pinned)
        add_derived_int(out, "opcache.jit_buffer_size", s->jit_buffer_mb, "M");
    if (s->pinned.memory_limit == pinned)
        ini_add(out, "memory_limit", str_c(s->memory_limit));
    if (s->pinned.realpath_size == pinned && s->realpath_size[0])
        ini_add(out, "realpath_cache_size", str_c(s->realpath_size));
    if (s->pinned.realpath_ttl == pinned)
        add_derived_int(out, "realpath_cache_ttl", s->realpath_ttl, "");
    if (s->pinned.assertions == pinned)
        add_int(out, "zend.assertions", s->assertions);
}

static bool pairs_have(const struct conf_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->v[i].key, name) == 0)
            return true;
    return false;
}

/* Does the user set this for the whole site, wherever? */
static bool is_set_by_user(
    const struct config *cfg, const struct ini_site *site, struct str ini_file, const char *name)
{
    const struct config_php_site *own = site ? site->own : NULL;
    struct str value;

    return (ini_file.p && ini_text_get(ini_file, str_c(name), &value)) ||
           pairs_have(&cfg->php.values, name) || pairs_have(&cfg->php.admin_values, name) ||
           pairs_have(&cfg->php.ini_overrides, name) ||
           (own && (pairs_have(&own->values, name) || pairs_have(&own->admin_values, name)));
}

/* Who says where sessions shall be kept wants files there. */
static void add_sessions(
    const struct config *cfg, const struct ini_site *site, struct str ini_file, struct buf *out)
{
    if (cfg->mode == CONFIG_SERVE && site && site->store &&
        !is_set_by_user(cfg, site, ini_file, "session.save_handler") &&
        !is_set_by_user(cfg, site, ini_file, "session.save_path"))
        ini_add(out, "session.save_handler", STR("ephpm"));
}

/* What nobody asked for by name; html_errors and output_buffering stay PHP's own, as under FPM. */
static void add_derived(const struct config *cfg, const struct shape *s, struct buf *out)
{
    add_shape(s, false, out);
    add_int(out, "display_errors", s->display_errors);
    add_int(out, "log_errors", 1);
    if (!config_is_set(cfg, "php.max_execution_time"))
        add_int(out, "max_execution_time", cfg->php.max_execution_time);
}

/* PHP connects to "localhost" by these; another one in the user's own files wins. */
static void add_db(const struct ini_site *site, struct buf *out)
{
    if (!site || !site->db_socket)
        return;
    ini_add(out, "mysqli.default_socket", str_c(site->db_socket));
    ini_add(out, "pdo_mysql.default_socket", str_c(site->db_socket));
}

static void add_explicit(const struct config *cfg, const struct shape *s, struct buf *out)
{
    add_shape(s, true, out);
    if (config_is_set(cfg, "php.max_execution_time"))
        add_int(out, "max_execution_time", cfg->php.max_execution_time);
    if (!cfg->php.user_ini)
        buf_add_lit(out, "user_ini.filename=\n");
}

static bool is_disable_functions(const char *name)
{
    return strcmp(name, "disable_functions") == 0;
}

/* In multi-site mode disable_functions is left to the union. */
static void add_pairs(const struct conf_pairs *pairs, bool multi, struct buf *out)
{
    for (size_t i = 0; i < pairs->n; i++) {
        if (!multi || !is_disable_functions(pairs->v[i].key))
            ini_add(out, pairs->v[i].key, str_c(pairs->v[i].value));
    }
}

static bool list_has(struct str list, struct str name)
{
    struct str item;

    while (str_split(&list, ',', &item)) {
        if (str_ieq(str_trim(item), name))
            return true;
    }
    return false;
}

static void add_to_list(struct buf *list, struct str names)
{
    struct str name;

    while (str_split(&names, ',', &name)) {
        name = str_trim(name);
        if (name.len == 0 || list_has(buf_str(list), name))
            continue;
        if (list->len)
            buf_add_char(list, ',');
        buf_add_str(list, name);
    }
}

static void add_pairs_to_list(const struct conf_pairs *pairs, struct buf *list)
{
    for (size_t i = 0; i < pairs->n; i++) {
        if (is_disable_functions(pairs->v[i].key))
            add_to_list(list, str_c(pairs->v[i].value));
    }
}

/* The operator's lists, wherever they stand, and ours. */
static void add_disable_functions(
    const struct config *cfg, const struct ini_site *site, struct str ini_file, struct buf *out)
{
    struct buf list = {0};
    struct str value;

    if (ini_file.p && ini_text_get(ini_file, STR("disable_functions"), &value))
        add_to_list(&list, value);
    add_pairs_to_list(&cfg->php.values, &list);
    add_pairs_to_list(&cfg->php.admin_values, &list);
    add_pairs_to_list(&cfg->php.ini_overrides, &list);
    if (site && site->own) {
        add_pairs_to_list(&site->own->values, &list);
        add_pairs_to_list(&site->own->admin_values, &list);
    }
    if (config_disable_shell_exec(cfg))
        add_to_list(&list, str_c(shell_functions));
    if (config_hardening(cfg))
        add_to_list(&list, str_c(tenant_functions));
    if (list.len)
        ini_add(out, "disable_functions", buf_str(&list));
    buf_fini(&list);
}

static void add_site_dir(struct buf *out, const char *name, const char *dir, const char *sub)
{
    struct buf path = {0};

    buf_printf(&path, "%s/%s", dir, sub);
    ini_add(out, name, buf_str(&path));
    buf_fini(&path);
}

static void add_hardening(
    const struct config *cfg, const struct ini_site *site, struct str ini_file, struct buf *out)
{
    add_disable_functions(cfg, site, ini_file, out);
    if (config_hardening(cfg)) {
        add_int(out, "mysqli.allow_persistent", 0);
        /* OPcache's functions answer only to scripts below this path, and none is. */
        buf_add_lit(out, "opcache.restrict_api=/nonexistent/ephpm\n");
    }
    if (!site)
        return;
    if (site->open_basedir && config_open_basedir(cfg))
        ini_add(out, "open_basedir", str_c(site->open_basedir));
    if (site->state_dir) {
        add_site_dir(out, "sys_temp_dir", site->state_dir, "tmp");
        add_site_dir(out, "upload_tmp_dir", site->state_dir, "tmp");
        add_site_dir(out, "session.save_path", site->state_dir, "sessions");
    }
}

void ini_build_text(const struct config *cfg, const struct shape *shape,
    const struct ini_site *site, struct str ini_file, struct buf *out)
{
    bool multi = config_is_multi(cfg);
    struct buf derived = {0};

    add_derived(cfg, shape, &derived);
    add_db(site, &derived);
    ini_merge_file_wins(ini_file, buf_str(&derived), out);
    buf_fini(&derived);
    add_sessions(cfg, site, ini_file, out);
    add_explicit(cfg, shape, out);
    add_pairs(&cfg->php.values, multi, out);
    add_pairs(&cfg->php.admin_values, multi, out);
    add_pairs(&cfg->php.ini_overrides, multi, out);
    if (multi)
        add_hardening(cfg, site, ini_file, out);
    if (site && site->own) {
        add_pairs(&site->own->values, multi, out);
        add_pairs(&site->own->admin_values, multi, out);
    }
}

/* --- the user's own ini files ----------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file that PHP would read as well; one that cannot be read says so in PHP's own log. */
static void add_file(const char *path, struct buf *out)
{
    size_t before = out->len;

    buf_add_lit(out, "\n[PHP]\n"); /* ends a section of the file before */
    if (fs_read_file(path, INI_FILE_MAX, out))
        out->len = before;
}

/* The *.ini files of a directory, in the order in which PHP reads them. */
static void add_dir(const char *dir, struct buf *out)
{
    char *names[INI_DIR_MAX];
    struct fs_dir *d = NULL;
    struct str name;
    size_t n = 0;

    if (fs_dir_open(dir, &d))
        return;
    while (n < INI_DIR_MAX && fs_dir_next(d, &name) == 0) {
        if (str_ends(name, STR(".ini")))
            names[n++] = mem_dup_str(name.p, name.len);
    }
    fs_dir_close(d);
    qsort(names, n, sizeof(*names), compare_names);
    for (size_t i = 0; i < n; i++) {
        struct buf path = {0};

        buf_printf(&path, "%s/%s", dir, names[i]);
        add_file(buf_cstr(&path), out);
        buf_fini(&path);
        mem_free(names[i]);
    }
}

/* A list of directories as in PHP_INI_SCAN_DIR; an empty one stands for PHP's own, which counts as
 * defaults. */
void ini_read_dirs(const char *dirs, struct buf *out)
{
    struct str rest = str_c(dirs), dir;

    while (str_split(&rest, ':', &dir)) {
        char *copy;

        if (dir.len == 0)
            continue;
        copy = mem_dup_str(dir.p, dir.len);
        add_dir(copy, out);
        mem_free(copy);
    }
}

static int ini_read_files(const struct config *cfg, struct buf *out)
{
    const char *dirs = cfg->php.ini_scan_dir ? cfg->php.ini_scan_dir : getenv("PHP_INI_SCAN_DIR");
    int rc = cfg->php.ini_file ? fs_read_file(cfg->php.ini_file, INI_FILE_MAX, out) : 0;

    ini_read_dirs(dirs, out);
    return rc;
}

bool ini_sets_jit(const struct config *cfg, const struct ini_site *site)
{
    struct buf file = {0};
    bool set;

    (void)!ini_read_files(cfg, &file); /* ini_build() says that it cannot be read */
    set = is_set_by_user(cfg, site, buf_str(&file), "opcache.jit") ||
          is_set_by_user(cfg, site, buf_str(&file), "opcache.jit_buffer_size");
    buf_fini(&file);
    return set;
}

int ini_build(const struct config *cfg, struct shape *shape, const struct ini_site *site,
    struct buf *out, struct err *err)
{
    struct buf file = {0};
    int rc = ini_read_files(cfg, &file);

    if (rc) {
        err_set(err, rc, "php.ini_file = \"%.200s\": cannot be read: %s", cfg->php.ini_file,
            err_text(rc));
    } else {
        size_t before = out->len;

        ini_build_text(cfg, shape, site, buf_str(&file), out);
        shape_adopt_ini(shape, cfg, buf_str(&file), str_sub(buf_str(out), before, out->len));
    }
    buf_fini(&file);
    return rc;
}
