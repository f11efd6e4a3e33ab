/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/master.h"
#include "platform/clock.h"
#include "platform/fs.h"

/*
 * From one generation to the next:
 *
 *   BOOT          a prototype starts PHP
 *   SCRIPTS       the running generation lists what it has cached     (not at start)
 *   COMPILE       the new one compiles that list, moved to the new root, and the index scripts
 *   FIRST_WORKER  its first workers are there
 *   PROBE         the warm-up URLs answer without a server error      (deploy and reload)
 *   then the switch: new requests go to the new generation, the old one drains.
 *
 * Any step may fail; then the new generation ends and the old one never noticed.
 *
 * A trial (jit_auto.c) goes the same way up to the switch. Anything else may take its place.
 */
enum {
    DEPLOY_LIST_MAX = 64 << 20,
    DEPLOY_LIST_MS = 10000 /* for the running generation to list its scripts */
};

static const char *deploy_kind_name(enum op_kind k)
{
    switch (k) {
    case OP_START:
        return "start";
    case OP_DEPLOY:
        return "deploy";
    case OP_RESET:
        return "cache reset";
    case OP_RELOAD:
        return "reload";
    case OP_RECOVER:
        return "recovery";
    case OP_TRIAL:
        return "jit trial";
    }
    return "?";
}

enum { DEPLOY_RETRY_MS = 500, DEPLOY_RETRY_MAX_MS = 30000 }; /* of a recovery that failed */

/* Tells systemd that a reload is over, once it is over for every site. */
static void deploy_say_reloaded(struct master *m)
{
    list_each (it, &m->sites) {
        struct operation *op = &CONTAINER_OF(it, struct site, node)->op;

        if (op->step != OP_NONE && op->kind == OP_RELOAD)
            return;
    }
    if (!m->stopping)
        (void)!process_notify("READY=1"); /* nobody may listen */
}

/* After an operation. */
static void deploy_clear(struct site *s)
{
    struct operation *op = &s->op;
    bool reload = op->step != OP_NONE && op->kind == OP_RELOAD;

    net_timer_close(op->timeout);
    fs_close(op->list_fd);
    fs_close(op->result_fd);
    config_unref(op->config);
    mem_free(op->revision);
    mem_free(op->revision_known);
    *op = (struct operation){.step = OP_NONE, .list_fd = -1, .result_fd = -1};
    if (reload)
        deploy_say_reloaded(s->master);
}

void deploy_site_free(struct site *s)
{
    deploy_clear(s);
    net_timer_close(s->recover);
    net_timer_close(s->jit.timer);
    mem_free(s->revision);
    list_remove(&s->node);
    fs_close(s->kv_fd);
    mem_free(s->db_password);
    mem_free(s->name);
    mem_free(s->folder);
    mem_free(s);
}

void deploy_fini(struct master *m)
{
    list_each_safe (it, &m->sites)
        deploy_site_free(CONTAINER_OF(it, struct site, node));
}

struct site *deploy_site_find(struct master *m, struct str name)
{
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (str_eq(str_c(s->name), name))
            return s;
    }
    return NULL;
}

struct site *deploy_site_add(struct master *m, const char *name, const char *folder)
{
    struct site *s = mem_new(sizeof(*s));

    s->master = m;
    s->label = metrics_claim(m->metrics, METRIC_LABEL_SITE, str_c(name));
    s->name = mem_dup_str(name, strlen(name));
    s->folder = folder ? mem_dup_str(folder, strlen(folder)) : NULL;
    s->op.list_fd = s->op.result_fd = -1;
    s->kv_fd = -1;
    s->recover = net_timer_open(m->loop, deploy_recover, s);
    s->jit.timer = net_timer_open(m->loop, jit_auto_on_timer, s);
    list_push(&m->sites, &s->node);
    return s;
}

static void deploy_plan_recovery(struct site *s)
{
    uint64_t ms = (uint64_t)DEPLOY_RETRY_MS * s->recover_failures;

    if (s->recover_due && !s->master->stopping)
        net_timer_start(s->recover, MIN(ms, (uint64_t)DEPLOY_RETRY_MAX_MS), 0);
}

void deploy_recover(void *arg)
{
    struct site *s = arg;
    struct err err;

    if (s->recover_due && !s->master->stopping && !deploy_is_busy(s) &&
        deploy_begin(s, OP_RECOVER, NULL, &err)) {
        s->recover_failures++; /* it logged its failure */
        deploy_plan_recovery(s);
    }
}

static struct config *deploy_config(struct site *s)
{
    return s->op.config ? s->op.config : s->master->config;
}

/* Before a text for the client, "%s%s": where there are many sites, which one it is about. */
#define DEPLOY_SITE(s) (s)->folder ? (s)->name : "", (s)->folder ? ": " : ""

/* A trial is nobody's wish in particular: the site goes on as it is. */
static void deploy_trial_failed(struct site *s, const char *text)
{
    struct generation *next = s->op.next;

    log_info("jit_auto_trial_failed", F_CSTR("site", s->name), F_CSTR("error", text),
        F_UINT("generation", next ? next->id : 0));
    s->op.next = NULL;
    if (next)
        generation_end(next);
    deploy_clear(s);
    deploy_plan_recovery(s);
    jit_auto_on_failed(s, text);
}

void deploy_failed(struct site *s, const char *fmt, ...)
{
    struct operation *op = &s->op;
    struct generation *next = op->next;
    char text[768];
    va_list ap;

    if (op->step == OP_NONE)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* a cut text is still the text */
    va_end(ap);
    if (op->kind == OP_TRIAL) {
        deploy_trial_failed(s, text);
        return;
    }
    log_error("deploy_refused", F_CSTR("site", s->name),
        F_CSTR("operation", deploy_kind_name(op->kind)), F_UINT("generation", next ? next->id : 0),
        F_CSTR("error", text), F_CSTR("serving", s->active ? "the old generation" : "nothing"));
    master_metrics_deployed(s, false);
    if (op->client)
        control_done(op->client, false, "%s%s%s", DEPLOY_SITE(s), text);
    op->next = NULL;
    if (op->kind == OP_START && s->folder)
        roles_tell_site_failed(s, text); /* first: then it still knows whose requests wait */
    if (next)
        generation_end(next);
    if (op->kind == OP_START && !s->folder) {
        s->master->exit_code = 1;
        master_stop(s->master, text);
    }
    if (op->kind == OP_RECOVER)
        s->recover_failures++;
    deploy_clear(s);
    deploy_plan_recovery(s);
}

static void deploy_first_worker(struct site *s);
static void deploy_compile(struct site *s, struct str old_list);

static void deploy_progress(struct site *s, const char *text)
{
    log_debug("deploy_step", F_CSTR("step", text));
    if (s->op.client)
        control_progress(s->op.client, "%s%s%s", DEPLOY_SITE(s), text);
}

/* A reload cannot apply every key; what it leaves as it was is said. */
static void deploy_say_unapplied(struct site *s, const struct config *cfg)
{
    const struct conf_table *t = cfg->conf.table;
    struct buf before = {0}, after = {0};
    char text[256];

    for (size_t i = 0; i < t->nrows; i++) {
        if (t->rows[i].flags & CONF_RELOADABLE)
            continue;
        buf_clear(&before);
        buf_clear(&after);
        conf_format(&s->master->config->conf, i, &before);
        conf_format(&cfg->conf, i, &after);
        if (str_eq(buf_str(&before), buf_str(&after)))
            continue;
        (void)snprintf(text, sizeof(text), "%s changed: it needs a restart, the old value stays",
            t->rows[i].key);
        log_warn("config_warning", F_CSTR("text", text));
        deploy_progress(s, text);
    }
    buf_fini(&before);
    buf_fini(&after);
}

static void deploy_timeout(void *arg)
{
    struct site *s = arg;

    if (s->op.step == OP_SCRIPTS) { /* a running generation that hangs must not keep the next out */
        log_warn("deploy_list_failed", F_CSTR("error", "the running generation does not answer"));
        deploy_compile(s, STR_NONE);
        return;
    }
    deploy_failed(s, "not ready within deploy.timeout (%llu ms)",
        (unsigned long long)deploy_config(s)->deploy.timeout);
}

bool deploy_is_busy(const struct site *s)
{
    return s->op.step != OP_NONE && s->op.kind != OP_TRIAL;
}

/* The site's folder by its real path, as it is now. */
static int deploy_find_root(
    const struct site *s, const struct config *cfg, char *out, size_t cap, struct err *err)
{
    const char *configured = s->folder ? s->folder : cfg->server.document_root;
    struct fs_stat st;
    int rc = fs_realpath(configured, out, cap);

    if (rc == 0)
        rc = fs_stat(out, &st);
    if (rc == 0 && st.kind != FS_DIR)
        rc = ERR_NOTDIR;
    return rc ? err_set(err, rc, "%s: %s: %s",
                    s->folder ? "the folder of the site" : "server.document_root", configured,
                    err_text(rc))
              : 0;
}

static int deploy_start(
    struct site *s, enum op_kind kind, struct control_client *client, struct err *err)
{
    struct operation *op = &s->op;
    struct config *cfg = NULL;
    char root[4096];
    int rc;

    if (deploy_is_busy(s))
        return err_set(err, ERR_BUSY, "%s is running already", deploy_kind_name(op->kind));
    if (kind == OP_RELOAD) {
        rc = master_load_config(s->master, &cfg, err);
        if (rc)
            return rc;
    }
    rc = deploy_find_root(s, cfg ? cfg : s->master->config, root, sizeof(root), err);
    if (rc == 0)
        rc = stores_open(s, err);
    if (rc) {
        config_unref(cfg);
        return rc;
    }
    databases_open(s);
    if (kind != OP_TRIAL)
        jit_auto_interrupt(s, deploy_kind_name(kind));
    deploy_clear(s);
    op->kind = kind;
    op->step = OP_BOOT;
    op->config = cfg;
    op->client = client;
    op->began_ms = clock_mono_ms();
    op->jit_off = s->active && (kind == OP_RECOVER || kind == OP_RESET) && s->active->jit_off;
    if (kind == OP_RECOVER && !s->recover_due)
        op->jit_off = true; /* a crash loop */
    op->next = generation_new(s, root, op->jit_off);
    op->timeout = net_timer_open(s->master->loop, deploy_timeout, s);
    net_timer_start(op->timeout, deploy_config(s)->deploy.timeout, 0);
    log_info("deploy_began", F_CSTR("site", s->name), F_CSTR("operation", deploy_kind_name(kind)),
        F_UINT("generation", op->next->id), F_CSTR("root", root));
    if (cfg) {
        deploy_say_unapplied(s, cfg);
        for (size_t i = 0; i < cfg->warnings.n; i++)
            log_warn("config_warning", F_CSTR("text", cfg->warnings.v[i]));
    }
    rc = roles_start_prototype(s->master, op->next);
    if (rc) {
        op->client = NULL;
        (void)err_set(err, rc, "%s cannot be started: %s", s->master->php_exe, err_text(rc));
        deploy_failed(s, "%s cannot be started: %s", s->master->php_exe, err_text(rc));
        return rc;
    }
    return 0;
}

int deploy_begin(struct site *s, enum op_kind kind, struct control_client *client, struct err *err)
{
    char text[80];
    int rc;

    if (kind == OP_RELOAD) {
        (void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
            (unsigned long long)(clock_mono_ns() / 1000));
        (void)!process_notify(text); /* nobody may listen */
    }
    rc = deploy_start(s, kind, client, err);
    if (rc && kind == OP_RELOAD)
        deploy_say_reloaded(s->master);
    return rc;
}

void deploy_set_revision(struct site *s, struct str revision)
{
    mem_free(s->op.revision);
    s->op.revision = mem_dup_str(revision.p, revision.len);
}

void deploy_announced(struct master *m)
{
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);
        struct err err = {0};

        if (!s->deploy_due || deploy_is_busy(s) || s->leaving)
            continue;
        s->deploy_due = false;
        /* Without a generation the next one has the new code anyway. */
        if (!m->stopping && s->active && deploy_begin(s, OP_DEPLOY, NULL, &err))
            log_error("deploy_refused", F_CSTR("site", s->name), F_CSTR("operation", "deploy"),
                F_CSTR("error", err.text));
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

/* New requests go to it. */
static void deploy_activate(struct site *s, struct generation *g)
{
    struct ipc_out out;

    g->state = GEN_ACTIVE;
    s->active = g;
    s->recover_due = g->pid == 0; /* it may have lost its prototype already */
    s->recover_failures = 0;
    ipc_begin(&out, "activate");
    ipc_add_u64(&out, "generation", g->id);
    roles_tell_front(s->master, &out);
}

void deploy_promote(struct site *s, struct generation *g)
{
    struct generation *old = s->active;

    deploy_activate(s, g);
    generation_drain(old);
    deploy_plan_recovery(s);
}

/* It takes half of the requests from now on. */
static void deploy_switch_trial(struct site *s)
{
    struct generation *g = s->op.next;

    g->state = GEN_TRIAL;
    s->op.next = NULL;
    deploy_clear(s);
    deploy_plan_recovery(s);
    jit_auto_on_ready(s, g);
}

/* What the code that serves is called: by the deploy, or by an earlier measurement of it. */
static void deploy_name_revision(struct site *s)
{
    struct operation *op = &s->op;
    bool same = op->kind != OP_DEPLOY && op->kind != OP_RESET;

    if (op->revision || op->revision_known || !same) {
        mem_free(s->revision);
        s->revision =
            op->revision ? mem_dup_str(op->revision, strlen(op->revision)) : op->revision_known;
        if (!op->revision)
            op->revision_known = NULL;
    }
}

static void deploy_switch(struct site *s)
{
    struct operation *op = &s->op;
    struct generation *g = op->next, *old = s->active;
    struct config *cfg = op->config;

    if (cfg) {
        config_unref(s->master->config);
        s->master->config = config_ref(cfg);
        log_set_level((enum log_level)cfg->server.logging.level);
    }
    roles_send_config(s->master);
    deploy_activate(s, g);
    log_info("generation_active", F_CSTR("site", g->site), F_UINT("generation", g->id),
        F_CSTR("operation", deploy_kind_name(op->kind)), F_CSTR("root", g->root),
        F_CSTR("revision", op->revision), F_UINT("warmed_scripts", op->compiled),
        F_CSTR("jit", g->jit ? g->jit_mode : "off"), F_CSTR("jit_reason", g->shape.jit_reason),
        F_CSTR("php", g->php_version), F_CSTR("vm", g->vm_kind),
        F_UINT("took_ms", clock_mono_ms() - op->began_ms));
    master_metrics_deployed(s, true);
    if (op->revision)
        stores_set_revision(s, op->revision);
    if (old && old != g)
        generation_drain(old);
    if (op->client)
        control_done(op->client, true, "generation %llu serves %s (%u scripts warmed, %llu ms)",
            (unsigned long long)g->id, g->root, op->compiled,
            (unsigned long long)(clock_mono_ms() - op->began_ms));
    op->next = NULL;
    deploy_name_revision(s);
    deploy_clear(s);
    deploy_plan_recovery(s);
    master_announce(s->master, g);
    jit_auto_on_switch(s);
}

static void deploy_probe_next(struct site *s)
{
    struct operation *op = &s->op;
    struct config *cfg = deploy_config(s);
    const struct conf_list *urls = &cfg->deploy.warmup_urls;
    bool check = op->kind == OP_DEPLOY || op->kind == OP_RELOAD;
    const char *host = "localhost";
    struct ipc_out out;

    if (op->kind == OP_TRIAL) {
        deploy_switch_trial(s);
        return;
    }
    if (!check || op->url >= urls->n) {
        deploy_switch(s);
        return;
    }
    if (s->folder)
        host = s->name;
    else if (cfg->server.request.trusted_hosts.n &&
             cfg->server.request.trusted_hosts.v[0][0] != '*')
        host = cfg->server.request.trusted_hosts.v[0];
    deploy_progress(s, urls->v[op->url]);
    ipc_begin(&out, "probe");
    ipc_add_u64(&out, "generation", op->next->id);
    ipc_add(&out, "url", str_c(urls->v[op->url]));
    ipc_add(&out, "host", str_c(host));
    roles_tell_front(s->master, &out);
}

void deploy_probed(struct generation *g, struct ipc_in *in)
{
    struct site *s = g->of;
    struct operation *op = &s->op;
    uint64_t status = ipc_get_u64(in, "status");
    struct str note = ipc_get(in, "note");

    if (op->step != OP_PROBE || op->next != g)
        return;
    if (status == 0 || status >= 500) {
        deploy_failed(s, "%s answers %llu%s" STR_F, ipc_get_c(in, "url"),
            (unsigned long long)status, note.len ? ": " : "", STR_A(note));
        return;
    }
    op->url++;
    deploy_probe_next(s);
}

void deploy_worker(struct site *s, struct generation *g)
{
    if (s->op.step != OP_FIRST_WORKER || s->op.next != g)
        return;
    list_each (it, &g->workers)
        if (!CONTAINER_OF(it, struct master_worker, node)->pid)
            return; /* more are on their way */
    s->op.step = OP_PROBE;
    deploy_probe_next(s);
}

void deploy_front_ready(struct site *s)
{
    if (s->op.step == OP_FIRST_WORKER && list_empty(&s->op.next->workers))
        deploy_first_worker(s); /* it waited for a front */
}

static void deploy_first_worker(struct site *s)
{
    struct generation *g = s->op.next;

    s->op.step = OP_FIRST_WORKER;
    deploy_progress(s, "starting workers");
    if (!s->master->front_ready)
        return;               /* deploy_front_ready() goes on */
    generation_tell_front(g); /* perhaps again: now it is known which PHP it is */
    for (int64_t i = 0; i < MAX(g->shape.workers_min, (int64_t)1); i++) {
        if (s->op.next != g)
            return; /* it failed */
        generation_fork(g, false, false);
    }
    for (; g->wanted && s->op.next == g; g->wanted--)
        generation_fork(g, false, true); /* the front asked while PHP was starting */
}

/* --- warm-up ---------------------------------------------------------------------------------- */

/* Where two roots differ: "/a/1/public" and "/a/2/public" are the releases "/a/1" and "/a/2". */
static void deploy_release_roots(struct str *old_root, struct str *new_root)
{
    while (old_root->len > 1 && new_root->len > 1) {
        ptrdiff_t a = str_rchr(*old_root, '/'), b = str_rchr(*new_root, '/');

        if (a <= 0 || b <= 0 ||
            !str_eq(str_sub(*old_root, (size_t)a, old_root->len),
                str_sub(*new_root, (size_t)b, new_root->len)))
            return;
        old_root->len = (size_t)a;
        new_root->len = (size_t)b;
    }
}

static bool deploy_listed(struct str list, struct str path)
{
    struct str item;

    while (str_split(&list, '\0', &item)) {
        if (str_eq(item, path))
            return true;
    }
    return false;
}

/* The old generation's list with its paths moved to the new release, and the index scripts. */
static void deploy_make_list(struct site *s, struct str old_list, struct buf *out)
{
    struct generation *g = s->op.next;
    const struct conf_list *index = &deploy_config(s)->server.index_files;
    struct str old_root = s->active ? str_c(s->active->root) : STR_NONE, new_root = str_c(g->root);
    struct buf script = {0};
    struct str path;

    if (old_root.p && !str_eq(old_root, new_root))
        deploy_release_roots(&old_root, &new_root);
    while (str_split(&old_list, '\0', &path)) {
        if (!path.len)
            continue;
        if (old_root.p && path.len > old_root.len && str_under(path, old_root)) {
            buf_add_str(out, new_root);
            buf_add_str(out, str_sub(path, old_root.len, path.len));
        } else {
            buf_add_str(out, path);
        }
        buf_add_char(out, '\0');
    }
    for (size_t i = 0; i < index->n; i++) {
        if (!str_iends(str_c(index->v[i]), STR(".php")))
            continue;
        buf_clear(&script);
        buf_printf(&script, "%s/%s", g->root, index->v[i]);
        if (deploy_listed(buf_str(out), buf_str(&script)))
            continue;
        buf_add_str(out, buf_str(&script));
        buf_add_char(out, '\0');
    }
    buf_fini(&script);
}

static void deploy_compile(struct site *s, struct str old_list)
{
    struct operation *op = &s->op;
    struct buf list = {0};
    struct ipc_out out;
    int fd = -1, rc;

    op->step = OP_COMPILE;
    net_timer_start(op->timeout, deploy_config(s)->deploy.timeout, 0);
    deploy_progress(s, "compiling scripts");
    deploy_make_list(s, old_list, &list);
    fs_close(op->result_fd);
    rc = fs_open_spool(NULL, &fd);
    if (rc == 0)
        rc = fs_pwrite(fd, list.p, list.len, 0);
    if (rc == 0)
        rc = fs_open_spool(NULL, &op->result_fd);
    buf_fini(&list);
    if (rc == 0) {
        ipc_begin(&out, "compile");
        ipc_add_fd(&out, fd);
        ipc_add_fd(&out, op->result_fd);
        rc = ipc_send(op->next->socket, &out);
    }
    fs_close(fd);
    if (rc)
        deploy_failed(s, "the list of scripts cannot be handed over: %s", err_text(rc));
}

void deploy_prototype_lost(struct site *s)
{
    s->recover_due = true;
    jit_auto_interrupt(s, "its prototype ended");
    if (s->op.step == OP_NONE) {
        deploy_plan_recovery(s);
    } else if (s->op.step == OP_SCRIPTS) {
        log_warn("deploy_list_failed", F_CSTR("error", "the running generation's prototype ended"));
        deploy_compile(s, STR_NONE);
    }
}

void deploy_booted(struct site *s, struct generation *g)
{
    struct operation *op = &s->op;
    struct ipc_out out;
    int rc;

    if (op->next != g || op->step != OP_BOOT)
        return;
    g->state = GEN_WARMING;
    if (op->kind == OP_TRIAL && g->jit) {
        jit_auto_on_jit(s);
        return;
    }
    if (!g->opcache || op->kind == OP_START) {
        deploy_first_worker(s);
        return;
    }
    if (!s->active || s->active->socket == SOCK_NONE || !deploy_config(s)->deploy.warmup_scripts) {
        deploy_compile(s, STR_NONE);
        return;
    }
    op->step = OP_SCRIPTS;
    net_timer_start(
        op->timeout, MIN(deploy_config(s)->deploy.timeout, (uint64_t)DEPLOY_LIST_MS), 0);
    deploy_progress(s, "listing cached scripts");
    rc = fs_open_spool(NULL, &op->list_fd);
    if (rc == 0) {
        ipc_begin(&out, "scripts");
        ipc_add_fd(&out, op->list_fd);
        rc = ipc_send(s->active->socket, &out);
    }
    if (rc) {
        log_warn("deploy_list_failed", F_ERR(rc));
        deploy_compile(s, STR_NONE);
    }
}

/* Whole spool file into out. */
static int deploy_read(int fd, struct buf *out)
{
    struct fs_stat st;
    size_t got = 0;
    int rc = fs_fstat(fd, &st);

    if (rc == 0 && st.size > DEPLOY_LIST_MAX)
        rc = ERR_TOOBIG;
    if (rc == 0)
        rc = fs_pread(fd, buf_reserve(out, (size_t)st.size + 1), (size_t)st.size, 0, &got);
    out->len = got;
    return rc;
}

void deploy_scripts(struct site *s, struct ipc_in *in)
{
    struct operation *op = &s->op;
    struct buf list = {0};

    if (op->step != OP_SCRIPTS)
        return;
    if (!ipc_get_u64(in, "ok") || deploy_read(op->list_fd, &list))
        log_warn("deploy_list_failed",
            F_CSTR("error", "the running generation could not list its scripts"));
    deploy_compile(s, buf_str(&list));
    buf_fini(&list);
}

void deploy_compiled(struct site *s, struct ipc_in *in)
{
    struct operation *op = &s->op;
    struct buf b = {0};
    unsigned done = 0, failed = 0;
    const char *error;
    bool check = op->kind == OP_DEPLOY || op->kind == OP_RELOAD;

    if (op->step != OP_COMPILE)
        return;
    if (!ipc_get_u64(in, "ok") || deploy_read(op->result_fd, &b)) {
        buf_fini(&b);
        deploy_failed(s, "the scripts could not be compiled: the process ended");
        return;
    }
    (void)sscanf(buf_cstr(&b), "%u %u", &done, &failed);
    error = strchr(buf_cstr(&b), '\n');
    op->compiled = done;
    if (failed && check && error && error[1]) {
        deploy_failed(s, "%u of %u scripts do not compile: %s", failed, done + failed, error + 1);
        buf_fini(&b);
        return;
    }
    buf_fini(&b);
    deploy_first_worker(s);
}

void deploy_client_gone(struct master *m, struct control_client *c)
{
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->op.client == c)
            s->op.client = NULL;
    }
}

/* --- crash loops ------------------------------------------------------------------------------ */

void deploy_count_crash(struct site *s, struct generation *g)
{
    const struct config_php *php = &s->master->config->php;
    uint64_t now = clock_mono_ms(), window = (uint64_t)php->crash_loop_seconds * 1000;
    size_t recent = 0, look = MIN(s->ncrashes + 1, (size_t)MASTER_CRASHES);
    struct err err;

    s->crashes[s->ncrashes++ % MASTER_CRASHES] = now;
    for (size_t i = 0; i < look; i++)
        recent += now - s->crashes[i] <= window;
    if (s->master->stopping || php->crash_loop_count <= 0 || recent < (size_t)php->crash_loop_count)
        return;
    if (deploy_is_busy(s) || (s->recovered_ms && now - s->recovered_ms < window))
        return;
    s->recovered_ms = now;
    s->ncrashes = 0;
    memset(s->crashes, 0, sizeof(s->crashes));
    log_error("crash_loop", F_CSTR("site", g->site), F_UINT("generation", g->id),
        F_UINT("deaths", recent), F_INT("seconds", php->crash_loop_seconds),
        F_CSTR("action", s->jit.state == JIT_AUTO_MEASURING
                             ? "going on with the generation without the JIT"
                             : "starting a fresh generation with the JIT off"));
    if (jit_auto_on_crash_loop(s))
        return;
    (void)!deploy_begin(s, OP_RECOVER, NULL, &err); /* it logs its failure */
}
