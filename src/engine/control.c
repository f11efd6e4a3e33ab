/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/json.h"
#include "core/log.h"
#include "engine/master.h"
#include "net/stream.h"
#include "platform/clock.h"
#include "platform/fs.h"

/*
 * The control socket: a request is one JSON line {"cmd": "deploy"}, the answer one or more lines;
 * each but the last has "progress", the last has "ok". Who may open the socket may command: mode
 * 0600.
 */
enum {
    CONTROL_LINE_MAX = 4096,
    CONTROL_CLIENTS = 16,
    CONTROL_PATIENCE_MS = 5000, /* for the command, and for the client's close after the answer */
    CONTROL_ROLE_MS = 1000      /* for a role to say how it is; a status goes without it */
};

/* The roles that a status waits for, one after the other. */
enum control_asked { CONTROL_ASKED_NONE, CONTROL_ASKED_KV, CONTROL_ASKED_DB, CONTROL_ASKED_FRONT };

struct control_client {
    struct list node;
    struct control *control;
    struct stream stream;
    struct buf in;
    struct net_timer *patience;
    bool commanded; /* its one command came */
    enum control_asked asked;
    struct buf kv_json, db_json;
    bool wants_stopped;
    bool closing;
    unsigned waiting; /* sites whose operation is not over */
    bool failed;      /* one of them was */
};

struct control {
    struct master *master;
    sock_t listener;
    struct net_watch *watch;
    char *path;
    struct list clients;
    size_t nclients;
};

const char *control_path(const struct control *c)
{
    return c ? c->path : "none";
}

static void control_client_free(struct control_client *c)
{
    deploy_client_gone(c->control->master, c);
    databases_client_gone(c->control->master, c);
    list_remove(&c->node);
    c->control->nclients--;
    net_timer_close(c->patience);
    stream_close(&c->stream);
    buf_fini(&c->in);
    buf_fini(&c->kv_json);
    buf_fini(&c->db_json);
    mem_free(c);
}

static void control_send(struct control_client *c, struct str line)
{
    (void)!stream_write(&c->stream, &line, 1, false); /* a client that is gone shows in on_error */
}

PRINTF_LIKE(3, 0)
static void control_vline(
    struct control_client *c, const char *key, const char *fmt, va_list ap, int ok)
{
    char text[1024];
    struct buf b = {0};
    struct json_writer w = JSON_WRITER(&b);

    (void)vsnprintf(text, sizeof(text), fmt, ap); /* a cut text is still the text */
    json_open_object(&w);
    if (ok >= 0)
        json_add_bool(&w, "ok", ok != 0);
    json_add_str(&w, key, str_c(text));
    json_close_object(&w);
    buf_add_char(&b, '\n');
    control_send(c, buf_str(&b));
    buf_fini(&b);
}

PRINTF_LIKE(4, 5)
static void control_line(struct control_client *c, const char *key, int ok, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    control_vline(c, key, fmt, ap, ok);
    va_end(ap);
}

void control_progress(struct control_client *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    control_vline(c, "progress", fmt, ap, -1);
    va_end(ap);
}

/* After the last line: closed when it has left. */
static void control_finish(struct control_client *c)
{
    c->closing = true;
    net_timer_start(c->patience, CONTROL_PATIENCE_MS, 0);
    deploy_client_gone(c->control->master, c);
    if (stream_queued(&c->stream) == 0)
        sock_shutdown_send(c->stream.fd);
}

void control_done(struct control_client *c, bool ok, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (c->waiting > 1) { /* other sites are not done yet */
        c->waiting--;
        c->failed = c->failed || !ok;
        control_vline(c, "progress", fmt, ap, -1);
        va_end(ap);
        return;
    }
    if (ok && c->failed) { /* the last one is well, one before it was not */
        control_vline(c, "progress", fmt, ap, -1);
        control_line(c, "error", false, "not for all sites, see above");
    } else {
        control_vline(c, ok ? "message" : "error", fmt, ap, ok);
    }
    va_end(ap);
    control_finish(c);
}

void control_done_json(struct control_client *c, const char *key, struct str json)
{
    struct buf b = {0};
    struct json_writer w = JSON_WRITER(&b);

    json_open_object(&w);
    json_add_bool(&w, "ok", true);
    json_key(&w, key);
    json_raw(&w, json);
    json_close_object(&w);
    buf_add_char(&b, '\n');
    control_send(c, buf_str(&b));
    buf_fini(&b);
    control_finish(c);
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *control_generation_state(const struct generation *g)
{
    switch (g->state) {
    case GEN_BOOTING:
        return "booting";
    case GEN_WARMING:
        return "warming";
    case GEN_ACTIVE:
        return "active";
    case GEN_TRIAL:
        return "trial";
    case GEN_DRAINING:
        return "draining";
    case GEN_ENDED:
        return "ended";
    }
    return "?";
}

static void control_write_status(
    struct master *m, struct str front_json, struct str kv_json, struct str db_json, struct buf *b)
{
    struct json_writer w = JSON_WRITER(b);

    json_open_object(&w);
    json_add_bool(&w, "ok", true);
    json_add_str(&w, "version", STR(EPHPM_VERSION));
    json_add_str(&w, "mode", str_c(m->config->mode == CONFIG_DEV ? "dev" : "serve"));
    json_add_str(&w, "listen", str_c(m->listen_text));
    json_add_int(&w, "master_pid", process_id());
    json_add_str(&w, "user", str_c(m->user));
    json_key(&w, "generations");
    json_open_array(&w);
    list_each (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);
        size_t n = 0;

        list_each (wit, &g->workers)
            n++;
        json_open_object(&w);
        json_add_uint(&w, "id", g->id);
        json_add_str(&w, "site", str_c(g->site));
        json_add_str(&w, "state", str_c(control_generation_state(g)));
        json_add_str(&w, "root", str_c(g->root));
        json_add_str(&w, "php", str_c(g->php_version));
        json_add_str(&w, "vm", str_c(g->vm_kind));
        json_add_str(&w, "jit", str_c(g->jit ? g->jit_mode : "off"));
        json_add_int(&w, "prototype_pid", g->pid);
        json_add_uint(&w, "workers", n);
        json_add_int(&w, "workers_max", g->shape.workers);
        json_add_uint(&w, "age_ms", clock_mono_ms() - g->started_ms);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_key(&w, "jit_auto");
    json_open_array(&w);
    list_each (it, &m->sites)
        if (CONTAINER_OF(it, struct site, node)->jit.state != JIT_AUTO_OFF)
            jit_auto_write(CONTAINER_OF(it, struct site, node), &w);
    json_close_array(&w);
    json_key(&w, "kv");
    json_raw(&w, kv_json.len ? kv_json : STR("null"));
    if (m->db.config) {
        json_key(&w, "db");
        json_raw(&w, db_json.len ? db_json : STR("null"));
    }
    json_key(&w, "front");
    json_raw(&w, front_json.len ? str_trim(front_json) : STR("null"));
    json_close_object(&w);
    buf_add_char(b, '\n');
}

void control_status(struct control *ctl, struct str front_json)
{
    if (!ctl)
        return;
    list_each_safe (it, &ctl->clients) {
        struct control_client *c = CONTAINER_OF(it, struct control_client, node);
        struct buf b = {0};

        if (c->asked != CONTROL_ASKED_FRONT)
            continue;
        c->asked = CONTROL_ASKED_NONE;
        control_write_status(
            ctl->master, front_json, buf_str(&c->kv_json), buf_str(&c->db_json), &b);
        control_send(c, buf_str(&b));
        buf_fini(&b);
        control_finish(c);
    }
}

static void control_ask_front(struct control_client *c)
{
    struct master *m = c->control->master;
    struct ipc_out out;

    c->asked = CONTROL_ASKED_FRONT;
    if (!m->front_ready) {
        control_status(c->control, STR_NONE);
        return;
    }
    ipc_begin(&out, "status");
    roles_tell_front(m, &out);
}

static void control_ask_role(struct control_client *c, enum control_asked asked,
    void (*tell)(struct master *, struct ipc_out *))
{
    struct ipc_out out;

    c->asked = asked;
    net_timer_start(c->patience, CONTROL_ROLE_MS, 0);
    ipc_begin(&out, "status");
    tell(c->control->master, &out);
}

static void control_ask_db(struct control_client *c)
{
    if (c->control->master->db.side.ready)
        control_ask_role(c, CONTROL_ASKED_DB, roles_tell_db);
    else
        control_ask_front(c);
}

void control_kv_status(struct control *ctl, struct str kv_json)
{
    if (!ctl)
        return;
    list_each_safe (it, &ctl->clients) {
        struct control_client *c = CONTAINER_OF(it, struct control_client, node);

        if (c->asked != CONTROL_ASKED_KV)
            continue;
        net_timer_stop(c->patience);
        buf_add_str(&c->kv_json, kv_json);
        control_ask_db(c);
    }
}

void control_db_status(struct control *ctl, struct str db_json)
{
    if (!ctl)
        return;
    list_each_safe (it, &ctl->clients) {
        struct control_client *c = CONTAINER_OF(it, struct control_client, node);

        if (c->asked != CONTROL_ASKED_DB)
            continue;
        net_timer_stop(c->patience);
        buf_add_str(&c->db_json, db_json);
        control_ask_front(c);
    }
}

static void control_ask_status(struct control_client *c)
{
    if (c->control->master->kv.side.ready)
        control_ask_role(c, CONTROL_ASKED_KV, roles_tell_kv);
    else
        control_ask_db(c);
}

/* --- commands --------------------------------------------------------------------------------- */

/* One operation for one site; control_done() counts it off. */
static void control_begin_site(
    struct control_client *c, struct site *site, enum op_kind kind, struct str revision)
{
    struct err err = {0};

    if (deploy_begin(site, kind, c, &err) == 0) {
        if (revision.p)
            deploy_set_revision(site, revision);
        return;
    }
    if (err.line)
        control_done(c, false, "%s (line %d, column %d)", err.text, err.line, err.col);
    else
        control_done(c, false, "%s", err.text);
}

/* For the named site, or for all that run. */
static void control_begin(
    struct control_client *c, enum op_kind kind, struct str name, struct str revision)
{
    struct master *m = c->control->master;
    struct site *only;

    if (kind == OP_RELOAD && !m->stopping)
        sites_reloaded(m);
    only = name.len ? deploy_site_find(m, name) : NULL;
    if (only && only->leaving)
        only = NULL;
    if (m->stopping) {
        control_done(c, false, "the server is stopping");
        return;
    }
    if (name.len && !only) {
        control_done(c, false, "no site \"" STR_F "\" runs", STR_A(name));
        return;
    }
    if (revision.p && !m->kv_config) {
        control_done(c, false, "kv.enabled is false: there is nowhere to keep the revision");
        return;
    }
    if (only) {
        control_begin_site(c, only, kind, revision);
        return;
    }
    list_each (it, &m->sites)
        c->waiting += !CONTAINER_OF(it, struct site, node)->leaving;
    if (c->waiting == 0) {
        struct err err = {0};

        if (kind == OP_RELOAD && master_apply_config(m, &err))
            control_done(c, false, "%s", err.text);
        else
            control_done(c, true, "no site runs yet");
    }
    list_each_safe (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (!s->leaving)
            control_begin_site(c, s, kind, revision);
    }
}

/* The site that is meant when none is named: the only one, or that of server.document_root. */
static struct site *control_find_site(struct master *m, struct str name)
{
    struct site *s = deploy_site_find(m, name.len ? name : STR("default"));

    if (!s && !name.len && !list_empty(&m->sites) && m->sites.next == m->sites.prev)
        s = CONTAINER_OF(list_first(&m->sites), struct site, node);
    return s;
}

/* After the one line the client speaks the Redis protocol, and not with us. */
static void control_hand_over(struct control_client *c, struct str name)
{
    struct master *m = c->control->master;
    struct site *s = control_find_site(m, name);

    if (!m->kv_config)
        control_done(c, false, "kv.enabled is false: there is no store");
    else if (!s && name.len)
        control_done(c, false, "no site \"" STR_F "\" runs", STR_A(name));
    else if (!s)
        control_done(c, false, "no site is named, and there is not just one");
    else if (!m->kv.side.ready)
        control_done(c, false, "the role kv is being started again");
    else {
        control_line(c, "message", true, "%s", s->name);
        if (stream_queued(&c->stream) == 0 && stores_hand_over(s, c->stream.fd) == 0)
            control_client_free(c);
        else
            control_finish(c);
    }
}

static void control_database(struct control_client *c, const struct json_value *v, struct str cmd)
{
    struct master *m = c->control->master;
    struct str name = json_get_str(v, "site"), path = json_get_str(v, "path");
    struct site *s = control_find_site(m, name);

    if (!m->db.config)
        control_done(c, false,
            "there is no database: set db.sqlite.path, or with server.sites_dir "
            "db.sqlite.dir");
    else if (!s && name.len)
        control_done(c, false, "no site \"" STR_F "\" runs", STR_A(name));
    else if (!s)
        control_done(c, false, "no site is named, and there is not just one");
    else if (!s->db_password)
        control_done(c, false, "the site \"%s\" has no database", s->name);
    else if (!m->db.side.ready)
        control_done(c, false, "the role db is being started again");
    else if (str_eq(cmd, STR("db_account")))
        databases_tell_account(s, c);
    else if (str_eq(cmd, STR("db_check")))
        databases_ask(s, c, NULL);
    else if (!path.len || path.p[0] != '/' || str_chr(path, '\0') >= 0)
        control_done(c, false, "\"path\" must be an absolute path");
    else
        databases_ask(s, c, path.p); /* a NUL follows */
}

static void control_on_patience(void *arg)
{
    struct control_client *c = arg;

    if (c->asked == CONTROL_ASKED_KV)
        control_ask_db(c);
    else if (c->asked == CONTROL_ASKED_DB)
        control_ask_front(c);
    else
        control_client_free(c);
}

void control_stopped(struct control *ctl)
{
    if (!ctl)
        return;
    list_each_safe (it, &ctl->clients) {
        struct control_client *c = CONTAINER_OF(it, struct control_client, node);

        if (c->wants_stopped)
            control_done(c, true, "stopped");
    }
}

static void control_command(struct control_client *c, struct str line)
{
    struct arena a = {0};
    struct json_value *v = NULL;
    const struct json_value *cmd = NULL;
    struct str site = STR_NONE;
    struct err err = {0};

    if (json_parse(&a, line, &v, &err) == 0) {
        cmd = json_get(v, "cmd");
        site = json_get_str(v, "site");
    }
    if (!cmd || cmd->kind != JSON_STRING)
        control_done(c, false, "not a command: send {\"cmd\": \"status\"}");
    else if (str_eq(cmd->s, STR("status")))
        control_ask_status(c);
    else if (str_eq(cmd->s, STR("deploy")))
        control_begin(c, OP_DEPLOY, site, json_get_str(v, "rev"));
    else if (str_eq(cmd->s, STR("cache_reset")))
        control_begin(c, OP_RESET, site, STR_NONE);
    else if (str_eq(cmd->s, STR("reload")))
        control_begin(c, OP_RELOAD, site, STR_NONE);
    else if (str_eq(cmd->s, STR("kv")))
        control_hand_over(c, site);
    else if (str_starts(cmd->s, STR("db_")))
        control_database(c, v, cmd->s);
    else if (str_eq(cmd->s, STR("stop"))) {
        c->wants_stopped = true;
        control_progress(c, "stopping, at most server.timeouts.shutdown");
        if (!c->control->master->stopping)
            master_stop(c->control->master, "stop command");
    } else
        control_done(c, false, "unknown command \"" STR_F "\"", STR_A(cmd->s));
    arena_fini(&a);
}

static void control_on_readable(struct stream *s)
{
    struct control_client *c = CONTAINER_OF(s, struct control_client, stream);
    char p[1024];
    size_t got;
    ptrdiff_t nl;
    int rc = stream_read(s, p, sizeof(p), &got);

    if (rc == ERR_AGAIN)
        return;
    if (rc) {
        control_client_free(c);
        return;
    }
    if (c->commanded || c->closing)
        return; /* one command per connection */
    buf_add(&c->in, p, got);
    nl = str_chr(buf_str(&c->in), '\n');
    if (nl >= 0) {
        c->commanded = true;
        net_timer_stop(c->patience);
        control_command(c, str_n(c->in.p, (size_t)nl));
    } else if (c->in.len > CONTROL_LINE_MAX) {
        control_done(c, false, "the line is too long");
    }
}

static void control_on_drained(struct stream *s)
{
    struct control_client *c = CONTAINER_OF(s, struct control_client, stream);

    if (c->closing)
        sock_shutdown_send(s->fd);
}

static void control_on_error(struct stream *s, int code)
{
    (void)code;
    control_client_free(CONTAINER_OF(s, struct control_client, stream));
}

static const struct stream_cbs control_cbs = {
    .on_readable = control_on_readable,
    .on_drained = control_on_drained,
    .on_error = control_on_error,
};

static void control_on_listener(void *arg, int events)
{
    struct control *ctl = arg;
    struct control_client *c;
    sock_t fd;

    (void)events;
    while (sock_accept(ctl->listener, &fd, NULL) == 0) {
        if (ctl->nclients >= CONTROL_CLIENTS) {
            sock_close(fd);
            continue;
        }
        c = mem_new(sizeof(*c));
        if (stream_open(&c->stream, ctl->master->loop, fd, &control_cbs)) {
            sock_close(fd);
            mem_free(c);
            continue;
        }
        c->control = ctl;
        c->patience = net_timer_open(ctl->master->loop, control_on_patience, c);
        net_timer_start(c->patience, CONTROL_PATIENCE_MS, 0);
        list_push(&ctl->clients, &c->node);
        ctl->nclients++;
        stream_want_read(&c->stream, true);
    }
}

/* Makes the folder of the default path; one in /tmp may be somebody else's, who could put another
 * socket there. */
static int control_make_dir(const char *path, bool by_default)
{
    struct str dir = str_c(path);
    ptrdiff_t slash = str_rchr(dir, '/');
    struct fs_stat st;
    char *copy;
    int rc = 0;

    if (slash <= 0)
        return 0;
    copy = mem_dup_str(path, (size_t)slash);
    (void)!fs_mkdir(copy, 0755); /* there already, or the listener's error says more */
    if (by_default && fs_lstat(copy, &st) == 0 && st.uid != process_uid())
        rc = ERR_ACCESS;
    mem_free(copy);
    return rc;
}

int control_open(struct master *m, struct control **out, struct err *err)
{
    struct control *c;
    struct buf path = {0};
    int rc;

    config_control_path(m->config, &path);
    if (!path.len)
        return 0; /* none is wanted */
    c = mem_new(sizeof(*c));
    c->master = m;
    c->path = mem_dup_str(path.p, path.len);
    buf_fini(&path);
    list_init(&c->clients);
    rc = control_make_dir(c->path, !m->config->server.control_socket);
    if (rc == 0)
        rc = sock_listen_local(c->path, 0600, 16, &c->listener);
    if (rc == ERR_ADDRINUSE)
        (void)err_set(err, rc, "another server is running: its control socket %s answers", c->path);
    else if (rc)
        (void)err_set(err, rc, "server.control_socket: %s: %s", c->path, err_text(rc));
    if (rc == 0)
        rc = net_watch_open(m->loop, c->listener, control_on_listener, c, &c->watch);
    if (rc) {
        mem_free(c->path);
        mem_free(c);
        return rc;
    }
    net_watch_set(c->watch, NET_READ);
    *out = c;
    return 0;
}

void control_close(struct control *c)
{
    if (!c)
        return;
    list_each_safe (it, &c->clients)
        control_client_free(CONTAINER_OF(it, struct control_client, node));
    net_watch_close(c->watch);
    sock_close(c->listener);
    (void)!fs_unlink(c->path); /* somebody may have removed it */
    mem_free(c->path);
    mem_free(c);
}
