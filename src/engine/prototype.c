/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/prototype.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "core/log.h"
#include "engine/ipc.h"
#include "engine/worker.h"
#include "kv/store.h"
#include "php/builtin.h"
#include "php/embed.h"
#include "php/ini_search.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sock.h"

enum {
    PROTOTYPE_LOOK_MS = 1000, /* when OPcache's memory has changed; each look without doubles it */
    PROTOTYPE_LOOK_MAX_MS = 64000,
    PROTOTYPE_LIST_MAX = 64 << 20, /* bytes of a list of scripts */
    PROTOTYPE_ERRORS = 20          /* compile errors logged one by one */
};

struct prototype {
    sock_t socket;
    int64_t master;
    char *site;
    uint64_t generation;
    uint64_t max_requests;
    uint64_t max_memory;
    struct embed_field *env;
    size_t nenv;
    bool huge_pages;
    int look_ms; /* how long until OPcache's memory is looked at again */
    uint64_t looked_ns;
    struct kv_store *kv; /* the site's; NULL: it has none */
    struct arena arena;  /* what embed_startup() and env point to */
};

/* --- boot ------------------------------------------------------------------------------------- */

static const char *prototype_text(struct prototype *p, const struct ipc_in *m, const char *key)
{
    struct str v = ipc_get(m, key);

    return v.len ? arena_str(&p->arena, v).p : NULL;
}

static size_t prototype_count(const struct ipc_in *m, struct str want)
{
    struct str key, value;
    size_t it = 0, n = 0;

    while (ipc_next(m, &it, &key, &value))
        n += str_eq(key, want);
    return n;
}

/* The next "name=value" of a key; with of_path, before the next path. */
static bool prototype_next(
    const struct ipc_in *m, size_t *it, struct str want, bool of_path, struct str *pair)
{
    struct str key;

    while (ipc_next(m, it, &key, pair) && !(of_path && str_eq(key, STR("path"))))
        if (str_eq(key, want) && str_chr(*pair, '=') >= 0)
            return true;
    return false;
}

/* The "name=value" items of a key as pairs that NULL ends: all of them, or from the place `it` of a
 * path to the next path. */
static const char *const *prototype_pairs(
    struct prototype *p, const struct ipc_in *m, struct str want, size_t it)
{
    bool of_path = it != 0;
    size_t at = it, n = 0;
    struct str pair;
    const char **out;

    while (prototype_next(m, &at, want, of_path, &pair))
        n++;
    out = arena_new(&p->arena, (2 * n + 1) * sizeof(*out));
    n = 0;
    while (prototype_next(m, &it, want, of_path, &pair)) {
        size_t eq = (size_t)str_chr(pair, '=');

        out[n++] = arena_str(&p->arena, str_sub(pair, 0, eq)).p;
        out[n++] = arena_str(&p->arena, str_sub(pair, eq + 1, pair.len)).p;
    }
    return out;
}

static void prototype_env(struct prototype *p, const struct ipc_in *m)
{
    const char *const *pairs = prototype_pairs(p, m, STR("env"), 0);

    while (pairs[2 * p->nenv])
        p->nenv++;
    p->env = arena_new(&p->arena, (p->nenv + 1) * sizeof(*p->env));
    for (size_t i = 0; i < p->nenv; i++)
        p->env[i] = (struct embed_field){str_c(pairs[2 * i]), str_c(pairs[2 * i + 1])};
}

static const char *const *prototype_list(
    struct prototype *p, const struct ipc_in *m, struct str want)
{
    const char **out = arena_new(&p->arena, (prototype_count(m, want) + 1) * sizeof(*out));
    struct str key, value;
    size_t it = 0, n = 0;

    while (ipc_next(m, &it, &key, &value))
        if (str_eq(key, want))
            out[n++] = arena_str(&p->arena, value).p;
    return out;
}

static void prototype_paths(struct prototype *p, const struct ipc_in *m, struct embed_options *opt)
{
    struct embed_path *paths =
        arena_new(&p->arena, (prototype_count(m, STR("path")) + 1) * sizeof(*paths));
    struct str key, value;
    size_t it = 0;

    while (ipc_next(m, &it, &key, &value)) {
        if (!str_eq(key, STR("path")))
            continue;
        paths[opt->npaths++] = (struct embed_path){
            .path = arena_str(&p->arena, value).p,
            .values = prototype_pairs(p, m, STR("path_value"), it),
            .admin = prototype_pairs(p, m, STR("path_admin"), it),
        };
    }
    opt->paths = paths;
}

static void prototype_describe(struct ipc_out *out)
{
    struct embed_status st;

    embed_get_status_quick(&st);
    ipc_add(out, "php_version", str_c(embed_php_version()));
    ipc_add(out, "sapi", str_c(st.sapi));
    ipc_add_u64(out, "opcache", st.opcache);
    ipc_add_u64(out, "jit", st.jit);
    ipc_add(out, "jit_mode", str_c(st.jit_mode));
}

/* The descriptor is closed at once: with the mapping alone, nothing that PHP code starts or finds
 * in /proc has the store. */
static int prototype_open_store(struct prototype *p, struct ipc_in *m, struct err *err)
{
    int fd = ipc_take_fd(m, 0);
    int rc = fd >= 0 ? kv_store_open(fd, &p->kv) : 0;

    fs_close(fd);
    return rc ? err_set(err, rc, "the site's key-value store cannot be opened: %s", err_text(rc))
              : 0;
}

/* php.ini and the scanned folders, unless the configuration names them. */
static void prototype_find_ini(struct embed_ini_search *search, struct embed_options *opt)
{
    if (opt->ini_scan_dir)
        (void)setenv("PHP_INI_SCAN_DIR", opt->ini_scan_dir, 1); /* fails for want of memory only */
    embed_ini_search_begin(search, EMBED_INI_SERVER, opt->php_binary, opt->ini_file, false);
    opt->ini_file = search->path;
    opt->ini_scan_dir = NULL;
}

/* --- huge pages ------------------------------------------------------------------------------- */

/* Its own memory stays small pages: children copy them one by one. */
static void prototype_settle(struct prototype *p)
{
    if (!p->huge_pages)
        return;
    process_allow_huge_pages(true);
    embed_settle_startup();
    process_allow_huge_pages(false);
    p->look_ms = PROTOTYPE_LOOK_MS;
    p->looked_ns = clock_mono_ns();
}

/* Milliseconds until then, -1: never. What the master wants meanwhile does not delay it. */
static int prototype_look_in(const struct prototype *p)
{
    uint64_t passed = (clock_mono_ns() - p->looked_ns) / 1000000;

    if (!p->looked_ns)
        return -1;
    return passed >= (uint64_t)p->look_ms ? 0 : p->look_ms - (int)passed;
}

static void prototype_look(struct prototype *p)
{
    bool changed;

    process_allow_huge_pages(true);
    changed = embed_settle_scripts();
    process_allow_huge_pages(false);
    p->looked_ns = clock_mono_ns();
    p->look_ms = changed ? PROTOTYPE_LOOK_MS : MIN(2 * p->look_ms, PROTOTYPE_LOOK_MAX_MS);
}

/* --- start ------------------------------------------------------------------------------------ */

static int prototype_boot(struct prototype *p, struct ipc_in *m)
{
    struct embed_options opt = {0};
    struct err err = {0};
    static char binary[4096]; /* PHP points to it */
    struct embed_ini_search search;
    struct ipc_out out;
    int rc;

    log_set_level((enum log_level)ipc_get_u64(m, "log_level"));
    p->site = mem_dup_str(ipc_get_c(m, "site"), strlen(ipc_get_c(m, "site")));
    p->generation = ipc_get_u64(m, "generation");
    p->max_requests = ipc_get_u64(m, "max_requests");
    p->max_memory = ipc_get_u64(m, "max_memory");
    p->master = process_parent_id();
    prototype_env(p, m);
    prototype_paths(p, m, &opt);
    opt.sapi_name = prototype_text(p, m, "sapi_name");
    opt.ini_file = prototype_text(p, m, "ini_file");
    if (ipc_get(m, "ini_scan_dir").p)
        opt.ini_scan_dir = arena_str(&p->arena, ipc_get(m, "ini_scan_dir")).p;
    opt.ini_entries = prototype_text(p, m, "ini_entries");
    opt.php_binary = prototype_text(p, m, "php_binary");
    opt.extensions = prototype_list(p, m, STR("extension"));
    opt.ini_names = prototype_list(p, m, STR("setting"));
    opt.admin_ini = prototype_pairs(p, m, STR("admin"), 0);
    opt.clear_env = ipc_get_u64(m, "clear_env") != 0;
    opt.chdir_per_request = ipc_get_u64(m, "chdir") != 0;
    opt.user_ini = ipc_get_u64(m, "user_ini") != 0;
    opt.huge_pages = p->huge_pages = ipc_get_u64(m, "huge_pages") != 0;
    process_set_title(
        "ephpm: prototype %s/%llu starting", p->site, (unsigned long long)p->generation);
    process_allow_huge_pages(false); /* only workers gain by them */
    rc = prototype_open_store(p, m, &err);
    opt.kv = p->kv;
    if (embed_builtin_php() && embed_builtin_command(binary, sizeof(binary)) == 0)
        opt.php_binary = binary;
    prototype_find_ini(&search, &opt);
    if (rc == 0)
        rc = embed_startup(&opt, &worker_host, &err);
    if (rc == 0)
        embed_ini_search_end(&search); /* what it holds lives as long as PHP */
    if (rc) {
        ipc_begin(&out, "failed");
        ipc_add(&out, "error", str_c(err.text));
        (void)!ipc_send(p->socket, &out); /* the exit code says it, too */
        return rc;
    }
    process_set_title("ephpm: prototype %s/%llu", p->site, (unsigned long long)p->generation);
    process_drop_start_pages();
    prototype_settle(p);
    ipc_begin(&out, "booted");
    prototype_describe(&out);
    return ipc_send(p->socket, &out);
}

/* --- workers ---------------------------------------------------------------------------------- */

/* In the new process: returns its exit code. */
static int prototype_be_worker(struct prototype *p, struct ipc_in *m)
{
    struct worker_options opt = {
        .site = p->site,
        .generation = p->generation,
        .id = ipc_get_u64(m, "worker"),
        .channel_fd = ipc_take_fd(m, 0),
        .socket_fd = ipc_take_fd(m, 1),
        .bell_fd = ipc_take_fd(m, 2),
        .max_requests = p->max_requests,
        .max_memory = p->max_memory,
        .env = p->env,
        .nenv = p->nenv,
    };

    sock_close(p->socket);
    log_set_role("worker");
    process_allow_huge_pages(true);
    return worker_run(&opt);
}

/* True in the new worker, whose exit code is in *code. */
static bool prototype_fork(struct prototype *p, struct ipc_in *m, int *code)
{
    struct ipc_out out;
    int64_t pid = 0;
    int rc = m->nfds == 3 ? process_fork_adopted(p->master, &pid) : ERR_PROTO;

    if (rc == 0 && pid == 0) {
        *code = prototype_be_worker(p, m);
        return true;
    }
    ipc_begin(&out, rc ? "fork_failed" : "forked");
    ipc_add(&out, "worker", ipc_get(m, "worker"));
    if (rc)
        ipc_add(&out, "error", str_c(err_text(rc)));
    else
        ipc_add_u64(&out, "pid", (uint64_t)pid);
    (void)!ipc_send(p->socket, &out); /* a lost master shows at the next receive */
    return false;
}

/* --- work in a child -------------------------------------------------------------------------- */

typedef int prototype_child_cb(struct prototype *p, struct ipc_in *m);

/* Runs fn in a forked child and waits for it; its result (0 to 255) or an error. */
static int prototype_in_child(struct prototype *p, struct ipc_in *m, prototype_child_cb *fn)
{
    struct process_status st;
    int64_t pid, self = process_id();
    int rc = process_fork(&pid);

    if (rc)
        return rc;
    if (pid == 0) {
        (void)!process_die_with_parent(self); /* a stray child would end by itself, only later */
        process_set_title("ephpm: prototype %s/%llu " STR_F, p->site,
            (unsigned long long)p->generation, STR_A(m->op));
        embed_after_fork();
        process_exit_now(fn(p, m));
    }
    rc = process_wait(pid, &st);
    if (rc)
        return rc;
    return st.end == PROCESS_EXITED ? st.code : ERR_IO;
}

static void prototype_add_script(void *arg, struct str path)
{
    struct buf *b = arg;

    buf_add_str(b, path);
    buf_add_char(b, '\0');
}

static int prototype_list_scripts(struct prototype *p, struct ipc_in *m)
{
    struct buf list = {0};
    int rc = embed_opcache_scripts(prototype_add_script, &list);

    (void)p;
    if (rc == 0 && list.len)
        rc = fs_pwrite(m->fds[0], list.p, list.len, 0);
    buf_fini(&list);
    return rc ? 1 : 0;
}

/* Reads path NUL path NUL ... from fd. */
static int prototype_read_list(int fd, struct buf *out)
{
    struct fs_stat st;
    size_t got = 0;
    int rc = fs_fstat(fd, &st);

    if (rc)
        return rc;
    if (st.size > PROTOTYPE_LIST_MAX)
        return ERR_TOOBIG;
    rc = fs_pread(fd, buf_reserve(out, (size_t)st.size + 1), (size_t)st.size, 0, &got);
    out->len = got;
    return rc;
}

/* Compiles the list; the second descriptor gets "count failed\nfirst error". */
static int prototype_compile_list(struct prototype *p, struct ipc_in *m)
{
    struct buf list = {0}, result = {0};
    struct str rest, path;
    struct err err = {0}, first = {0};
    unsigned done = 0, failed = 0;
    int rc = m->nfds == 2 ? prototype_read_list(m->fds[0], &list) : ERR_PROTO;

    (void)p;
    rest = buf_str(&list);
    while (rc == 0 && str_split(&rest, '\0', &path)) {
        struct fs_stat st;

        if (path.len == 0 || fs_stat(path.p, &st) || st.kind != FS_FILE)
            continue; /* gone in this release */
        if (embed_compile(path.p, &err) == 0) {
            done++;
            continue;
        }
        if (failed++ < PROTOTYPE_ERRORS)
            log_warn("warmup_compile_failed", F_STR("script", path), F_CSTR("error", err.text));
        if (!first.code)
            first = err;
    }
    buf_printf(&result, "%u %u\n%s", done, failed, first.text);
    if (rc == 0)
        rc = fs_pwrite(m->fds[1], result.p, result.len, 0);
    buf_fini(&list);
    buf_fini(&result);
    return rc ? 1 : 0;
}

static void prototype_scripts(struct prototype *p, struct ipc_in *m)
{
    struct ipc_out out;
    int rc = m->nfds == 1 ? prototype_in_child(p, m, prototype_list_scripts) : ERR_PROTO;

    ipc_begin(&out, "scripts_done");
    ipc_add_u64(&out, "ok", rc == 0);
    (void)!ipc_send(p->socket, &out); /* as above */
}

static void prototype_compile(struct prototype *p, struct ipc_in *m)
{
    struct ipc_out out;
    int rc = prototype_in_child(p, m, prototype_compile_list);

    ipc_begin(&out, "compiled");
    ipc_add_u64(&out, "ok", rc == 0);
    (void)!ipc_send(p->socket, &out); /* as above */
}

/* OPcache's figures as numbers on one line, for master_metrics_opcache(). */
static int prototype_write_status(struct prototype *p, struct ipc_in *m)
{
    struct embed_status st;
    struct buf b = {0};
    int rc;

    (void)p;
    embed_get_status(&st);
    buf_printf(&b, "%d %d %llu %llu %llu %llu %llu %llu\n", st.opcache, st.opcache_full,
        (unsigned long long)st.opcache_used, (unsigned long long)st.opcache_free,
        (unsigned long long)st.opcache_wasted, (unsigned long long)st.cached_scripts,
        (unsigned long long)st.jit_buffer_size, (unsigned long long)st.jit_buffer_free);
    rc = m->nfds == 1 ? fs_pwrite(m->fds[0], b.p, b.len, 0) : ERR_PROTO;
    buf_fini(&b);
    return rc ? 1 : 0;
}

static void prototype_status(struct prototype *p, struct ipc_in *m)
{
    struct ipc_out out;
    int rc = prototype_in_child(p, m, prototype_write_status);

    ipc_begin(&out, "status");
    ipc_add_u64(&out, "ok", rc == 0);
    (void)!ipc_send(p->socket, &out); /* as above */
}

static int prototype_hello(struct prototype *p)
{
    struct ipc_out out;

    ipc_begin(&out, "hello");
    ipc_add(&out, "php_version", str_c(embed_php_version()));
    ipc_add(&out, "vm", str_c(embed_vm_kind()));
    ipc_add_u64(&out, "vm_has_jit", embed_vm_has_jit());
    return ipc_send(p->socket, &out);
}

int prototype_main(void)
{
    struct prototype p = {.socket = (sock_t)PROTOTYPE_SOCKET};
    int code = 0, rc = prototype_hello(&p);

    while (rc == 0) {
        struct ipc_in m;

        rc = sock_wait_readable(p.socket, prototype_look_in(&p));
        if (rc == ERR_TIMEOUT)
            prototype_look(&p);
        if (rc == ERR_INTR || rc == ERR_TIMEOUT) {
            rc = 0;
            continue;
        }
        if (rc == 0)
            rc = ipc_recv(p.socket, &m);
        if (rc == ERR_AGAIN) {
            rc = 0;
            continue;
        }
        if (rc)
            break;
        if (ipc_is(&m, "boot")) {
            rc = prototype_boot(&p, &m);
            code = rc ? 1 : 0;
        } else if (ipc_is(&m, "fork") && prototype_fork(&p, &m, &code)) {
            process_exit_now(code); /* a worker: the prototype's own clean-up is not its */
        } else if (ipc_is(&m, "scripts")) {
            prototype_scripts(&p, &m);
        } else if (ipc_is(&m, "compile")) {
            prototype_compile(&p, &m);
        } else if (ipc_is(&m, "status")) {
            prototype_status(&p, &m);
        }
        ipc_done(&m);
    }
    if (code == 0)
        embed_shutdown();
    kv_store_close(p.kv);
    arena_fini(&p.arena);
    mem_free(p.site);
    return code;
}
