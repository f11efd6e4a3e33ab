/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/shape.h"

#include <math.h>
#include <stdio.h>

#include "engine/ini.h"

enum {
    WORKERS_PER_CORE = 4,
    WORKERS_MIN = 2,
    WORKERS_MAX = 64,
    WORKER_MB = 64,        /* what a worker of an ordinary application takes */
    SERVER_MB = 64,        /* kept for the server itself */
    OPCACHE_UNKNOWN = 128, /* PHP's default, when the memory is not known */
    LIMIT_MIN_MB = 128,
    QUEUE_PER_WORKER = 64,
    QUEUE_MIN = 256,
    SHED_AFTER_MS = 10000,
};

static const uint64_t mega = 1024 * 1024;

static int64_t clamp(int64_t v, int64_t min, int64_t max)
{
    return v < min ? min : v > max ? max : v;
}

static int64_t budget_mb(const struct shape *s)
{
    return (int64_t)MIN(s->memory.bytes / mega, (uint64_t)INT32_MAX);
}

uint64_t shape_php_bytes(const char *text)
{
    uint64_t v;

    return conf_parse_size(str_c(text), &v) == 0 ? v : UINT64_MAX;
}

struct version {
    int64_t major, minor, patch;
};

static bool take_number(struct str *s, int64_t *out)
{
    size_t n = 0;

    while (n < s->len && n < 6 && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    if (str_i64(str_sub(*s, 0, n), out) != 0)
        return false;
    *s = str_sub(*s, n, s->len);
    return true;
}

static bool take_dot(struct str *s)
{
    if (s->len == 0 || s->p[0] != '.')
        return false;
    *s = str_sub(*s, 1, s->len);
    return true;
}

static bool parse_version(const char *text, struct version *v)
{
    struct str s = str_c(text);

    return take_number(&s, &v->major) && take_dot(&s) && take_number(&s, &v->minor) &&
           take_dot(&s) && take_number(&s, &v->patch);
}

/*
 * PHP versions whose tracing JIT frees an array too early when a side trace is compiled in a later
 * request.  The function JIT has no side traces.
 */
static bool tracing_is_faulty(const struct version *v)
{
    if (v->major != 8)
        return false;
    return (v->minor == 4 && v->patch >= 24) || (v->minor == 5 && v->patch >= 5 && v->patch <= 10);
}

static void derive_workers(const struct config *cfg, struct shape *s)
{
    int64_t cores = (int64_t)ceil(s->cpu.cores > 0 ? s->cpu.cores : 1);
    int64_t n = cores * WORKERS_PER_CORE;

    if (cfg->php.workers > 0) {
        s->workers = cfg->php.workers;
        s->workers_source = SHAPE_WORKERS_EXPLICIT;
    } else {
        if (s->memory.bytes)
            n = MIN(n, budget_mb(s) / WORKER_MB);
        s->workers = clamp(n, WORKERS_MIN, WORKERS_MAX);
        s->workers_source = s->cpu.source == SYSINFO_CGROUP2 || s->cpu.source == SYSINFO_CGROUP1 ||
                                    s->cpu.source == SYSINFO_JOB
                                ? SHAPE_WORKERS_QUOTA
                                : SHAPE_WORKERS_CORES;
    }
    s->workers_min = MIN(cfg->php.workers_min, s->workers);
    s->queue_size = cfg->php.queue_size > 0
                        ? cfg->php.queue_size
                        : MAX(s->workers * QUEUE_PER_WORKER, (int64_t)QUEUE_MIN);
    s->shed_after = cfg->php.shed_after > 0 ? cfg->php.shed_after : SHED_AFTER_MS;
}

/* The configured number, or what is derived; says which. */
static int64_t pick(int64_t configured, int64_t derived, bool *pinned)
{
    *pinned = configured != CONF_AUTO;
    return *pinned ? configured : derived;
}

static void derive_opcache(const struct config *cfg, struct shape *s)
{
    const struct config_php *php = &cfg->php;
    bool serve = s->mode == CONFIG_SERVE;
    int64_t mb = s->memory.bytes ? clamp(budget_mb(s) * 18 / 100, 64, 512) : OPCACHE_UNKNOWN;

    s->opcache_mb = pick(php->opcache_memory_consumption, serve ? mb : -1, &s->pinned.opcache_mb);
    s->interned_mb = pick(php->opcache_interned_strings_buffer,
        serve ? clamp(s->opcache_mb / 16, 8, 64) : -1, &s->pinned.interned_mb);
    s->max_files =
        pick(php->opcache_max_accelerated_files, serve ? 20000 : -1, &s->pinned.max_files);
    s->pinned.validate_timestamps = php->opcache_validate_timestamps >= 0;
    s->validate_timestamps =
        s->pinned.validate_timestamps ? php->opcache_validate_timestamps > 0 : !serve;
    s->revalidate_freq =
        pick(php->opcache_revalidate_freq, serve ? -1 : 0, &s->pinned.revalidate_freq);
}

static void warn(struct shape *s, const char *text)
{
    for (size_t i = 0; i + 1 < ARRAY_LEN(s->warnings); i++) {
        if (!s->warnings[i]) {
            s->warnings[i] = text;
            return;
        }
    }
}

static void derive_jit(const struct config *cfg, const struct version *v, struct shape *s)
{
    enum config_jit want = (enum config_jit)cfg->php.opcache_jit;
    int64_t mb = s->memory.bytes ? clamp(budget_mb(s) / 64, 32, 64) : 64;

    s->pinned.jit = want != CONFIG_JIT_UNSET && want != CONFIG_JIT_AUTO;
    if (s->pinned.jit) {
        s->jit = want;
        s->jit_reason = "explicit";
    } else if (s->mode == CONFIG_DEV) {
        s->jit = CONFIG_JIT_DISABLE;
        s->jit_reason = "dev mode";
    } else if (want == CONFIG_JIT_AUTO && config_is_multi(cfg)) {
        s->jit = CONFIG_JIT_DISABLE;
        s->jit_reason = "auto, which measures nothing with server.sites_dir";
    } else if (tracing_is_faulty(v)) {
        s->jit = CONFIG_JIT_FUNCTION;
        s->jit_reason = "this PHP version's tracing JIT has a known use-after-free";
    } else {
        s->jit = CONFIG_JIT_TRACING;
        s->jit_reason = "serve mode";
    }
    s->jit_buffer_mb = pick(cfg->php.opcache_jit_buffer_size, s->jit == CONFIG_JIT_DISABLE ? 0 : mb,
        &s->pinned.jit_buffer_mb);
    if (s->jit == CONFIG_JIT_TRACING && s->pinned.jit && tracing_is_faulty(v))
        warn(s, "php.opcache_jit = \"tracing\": this PHP version's tracing JIT has a known "
                "use-after-free; \"function\" has not");
    if (s->jit != CONFIG_JIT_DISABLE && s->jit_buffer_mb == 0) {
        s->jit_reason = "php.opcache_jit_buffer_size is 0";
        warn(s, "php.opcache_jit_buffer_size = 0 turns the JIT off");
    }
}

void shape_without_jit(struct shape *s)
{
    if (s->pinned.jit && s->jit != CONFIG_JIT_DISABLE)
        warn(s, "php.opcache_jit has no effect: this PHP is built with an interpreter that has no "
                "JIT (TAILCALL)");
    s->vm_without_jit = true;
    s->jit = CONFIG_JIT_DISABLE;
    s->jit_buffer_mb = 0;
    s->jit_reason = "this PHP's interpreter (TAILCALL) has none";
}

static void copy_text(char *out, size_t cap, const char *text)
{
    (void)snprintf(out, cap, "%s", text);
}

static void derive_worker_memory(const struct config *cfg, struct shape *s)
{
    uint64_t bytes = shape_php_bytes(s->memory_limit);

    s->max_worker_memory = cfg->php.max_worker_memory;
    if (!s->max_worker_memory && bytes < UINT64_MAX / 2)
        s->max_worker_memory = bytes * 2;
}

static void derive_memory_limit(const struct config *cfg, struct shape *s)
{
    int64_t mb = LIMIT_MIN_MB;

    s->pinned.memory_limit = cfg->php.memory_limit != NULL;
    if (s->pinned.memory_limit) {
        copy_text(s->memory_limit, sizeof(s->memory_limit), cfg->php.memory_limit);
    } else {
        if (s->mode == CONFIG_SERVE && s->memory.bytes)
            mb = MAX((budget_mb(s) - s->opcache_mb - SERVER_MB) / s->workers, mb);
        (void)snprintf(s->memory_limit, sizeof(s->memory_limit), "%lldM", (long long)mb);
    }
    derive_worker_memory(cfg, s);
}

static void derive_rest(const struct config *cfg, struct shape *s)
{
    bool serve = s->mode == CONFIG_SERVE;

    s->pinned.realpath_size = cfg->php.realpath_cache_size != NULL;
    copy_text(s->realpath_size, sizeof(s->realpath_size),
        s->pinned.realpath_size ? cfg->php.realpath_cache_size
        : serve                 ? "16M"
                                : "");
    s->realpath_ttl = pick(cfg->php.realpath_cache_ttl, serve ? 600 : -1, &s->pinned.realpath_ttl);
    s->assertions = pick(cfg->php.zend_assertions, serve ? -1 : 1, &s->pinned.assertions);
    s->display_errors = !serve;
}

int shape_resolve(const struct config *cfg, enum config_mode mode,
    const struct sysinfo_memory *memory, const struct sysinfo_cpu *cpu, const char *php_version,
    struct shape *out, struct err *err)
{
    struct shape s = {.mode = mode, .memory = *memory, .cpu = *cpu};
    struct version v;

    if (!parse_version(php_version, &v))
        return err_set(err, ERR_INVAL, "\"%.40s\" is not a PHP version", php_version);
    derive_workers(cfg, &s);
    if (s.workers_min < cfg->php.workers_min && config_is_set(cfg, "php.workers_min"))
        warn(&s, "php.workers_min is more than the workers that this machine allows");
    derive_opcache(cfg, &s);
    derive_jit(cfg, &v, &s);
    derive_memory_limit(cfg, &s);
    derive_rest(cfg, &s);
    *out = s;
    return 0;
}

/* --- what ini texts say ------------------------------------------------------------------------
 */

/* Both texts that may set a name; the second one wins. */
struct sources {
    struct str file, entries;
};

static bool look_up(const struct sources *src, const char *name, struct str *value)
{
    return ini_text_get(src->entries, str_c(name), value) ||
           ini_text_get(src->file, str_c(name), value);
}

static bool is_on(struct str v)
{
    int64_t n;

    return str_ieq(v, STR("on")) || str_ieq(v, STR("yes")) || str_ieq(v, STR("true")) ||
           (str_i64(v, &n) == 0 && n != 0);
}

static void adopt_number(
    const struct sources *src, const char *name, uint64_t unit, int64_t *field, bool *pinned)
{
    struct str v;
    uint64_t bytes;
    int64_t n;

    if (!look_up(src, name, &v))
        return;
    if (str_i64(v, &n) == 0)
        n = unit > 1 ? n / (int64_t)unit : n;
    else if (conf_parse_size(v, &bytes) == 0)
        n = (int64_t)(bytes / unit);
    else
        return;
    *pinned = *pinned || n != *field;
    *field = n;
}

static void adopt_text(
    const struct sources *src, const char *name, char *field, size_t cap, bool *pinned)
{
    struct str v;

    if (!look_up(src, name, &v) || v.len >= cap || str_eq(v, str_c(field)))
        return;
    memcpy(field, v.p, v.len);
    field[v.len] = '\0';
    *pinned = true;
}

static enum config_jit jit_of(struct str v)
{
    static const char *const off[] = {"disable", "off", "no", "false", "0", ""};

    for (size_t i = 0; i < ARRAY_LEN(off); i++)
        if (str_ieq(v, str_c(off[i])))
            return CONFIG_JIT_DISABLE;
    /* Four digits, of which the third says when to compile: 5 is tracing. */
    if (str_ieq(v, STR("function")) || (v.len == 4 && v.p[2] != '5'))
        return CONFIG_JIT_FUNCTION;
    return CONFIG_JIT_TRACING;
}

static void adopt_jit(const struct sources *src, struct shape *s)
{
    enum config_jit before = s->jit;
    int64_t buffer = s->jit_buffer_mb;
    struct str v;

    if (s->vm_without_jit)
        return;
    if (look_up(src, "opcache.jit", &v))
        s->jit = jit_of(v);
    adopt_number(src, "opcache.jit_buffer_size", mega, &s->jit_buffer_mb, &s->pinned.jit_buffer_mb);
    s->pinned.jit = s->pinned.jit || s->jit != before;
    if (s->jit_buffer_mb != buffer)
        s->jit_reason = "opcache.jit_buffer_size of the ini settings";
    else if (s->jit != before)
        s->jit_reason = "opcache.jit of the ini settings";
}

void shape_adopt_ini(struct shape *s, const struct config *cfg, struct str file, struct str entries)
{
    const struct sources src = {file, entries};
    struct str v;

    adopt_text(
        &src, "memory_limit", s->memory_limit, sizeof(s->memory_limit), &s->pinned.memory_limit);
    derive_worker_memory(cfg, s);
    adopt_number(&src, "opcache.memory_consumption", 1, &s->opcache_mb, &s->pinned.opcache_mb);
    adopt_number(
        &src, "opcache.interned_strings_buffer", 1, &s->interned_mb, &s->pinned.interned_mb);
    adopt_number(&src, "opcache.max_accelerated_files", 1, &s->max_files, &s->pinned.max_files);
    adopt_number(
        &src, "opcache.revalidate_freq", 1, &s->revalidate_freq, &s->pinned.revalidate_freq);
    if (look_up(&src, "opcache.validate_timestamps", &v) && is_on(v) != s->validate_timestamps) {
        s->validate_timestamps = is_on(v);
        s->pinned.validate_timestamps = true;
    }
    adopt_jit(&src, s);
    adopt_text(&src, "realpath_cache_size", s->realpath_size, sizeof(s->realpath_size),
        &s->pinned.realpath_size);
    adopt_number(&src, "realpath_cache_ttl", 1, &s->realpath_ttl, &s->pinned.realpath_ttl);
    adopt_number(&src, "zend.assertions", 1, &s->assertions, &s->pinned.assertions);
    s->sessions_in_store = look_up(&src, "session.save_handler", &v) && str_eq(v, STR("ephpm"));
}

/* --- startup lines -----------------------------------------------------------------------------
 */

static const char *mode_name(enum config_mode mode)
{
    return mode == CONFIG_SERVE ? "serve" : "dev";
}

static const char *jit_name(enum config_jit jit)
{
    static const char *const names[] = {"", "tracing", "function", "disable", "auto"};

    return names[jit];
}

/* " name=12MB*", or "default" for PHP's own. */
static void add_number(struct buf *out, const char *name, int64_t v, const char *unit, bool pinned)
{
    if (v < 0)
        buf_printf(out, " %s=default", name);
    else
        buf_printf(out, " %s=%lld%s%s", name, (long long)v, unit, pinned ? "*" : "");
}

void shape_line_autotune(const struct shape *s, struct buf *out)
{
    static const char *const sources[] = {"explicit", "cgroup_quota", "host_parallelism"};

    buf_printf(out, "autotune (%s): cpu_quota=%.2f mem=%lldMiB (%s) ->", mode_name(s->mode),
        s->cpu.cores, (long long)budget_mb(s), sysinfo_source_name(s->memory.source));
    buf_printf(out, " workers=%lld%s[%s]", (long long)s->workers,
        s->workers_source == SHAPE_WORKERS_EXPLICIT ? "*" : "", sources[s->workers_source]);
    add_number(out, "opcache.memory_consumption", s->opcache_mb, "MB", s->pinned.opcache_mb);
    buf_printf(out, " memory_limit=%s%s", s->memory_limit, s->pinned.memory_limit ? "*" : "");
    add_number(out, "interned", s->interned_mb, "MB", s->pinned.interned_mb);
    add_number(out, "jit_buffer", s->jit_buffer_mb, "MB", s->pinned.jit_buffer_mb);
    buf_printf(out, " (jit=%s%s)", jit_name(s->jit), s->pinned.jit ? "*" : "");
    add_number(out, "max_files", s->max_files, "", s->pinned.max_files);
    buf_printf(out, " realpath=%s%s", s->realpath_size[0] ? s->realpath_size : "default",
        s->pinned.realpath_size ? "*" : "");
    if (s->realpath_ttl < 0)
        buf_add_lit(out, "/ttl=default");
    else
        buf_printf(
            out, "/ttl=%lld%s", (long long)s->realpath_ttl, s->pinned.realpath_ttl ? "*" : "");
    buf_printf(out, " validate_timestamps=%d%s assertions=%lld%s", s->validate_timestamps,
        s->pinned.validate_timestamps ? "*" : "", (long long)s->assertions,
        s->pinned.assertions ? "*" : "");
}

void shape_line_jit(const struct shape *s, struct buf *out)
{
    if (s->jit == CONFIG_JIT_DISABLE || s->jit_buffer_mb == 0)
        buf_printf(out, "jit (%s): OFF (%s)", mode_name(s->mode), s->jit_reason);
    else
        buf_printf(out, "jit (%s): ON %s buffer %lldMB (%s)", mode_name(s->mode), jit_name(s->jit),
            (long long)s->jit_buffer_mb, s->jit_reason);
}
