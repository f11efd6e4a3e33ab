/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "core/json.h"
#include "core/log.h"
#include "engine/master.h"
#include "platform/fs.h"
#include "platform/random.h"

/*
 * The sites' databases, as the master has them: whose file and account is which, and the sockets.
 * The files are the role db's (dbrole.h). A password that was made lives as long as the site, so
 * that PHP of every generation can log in, whatever became of the role meanwhile.
 */
enum { DATABASES_BACKLOG = 511, DATABASES_SECRET = 16 };

/* What the role was asked for by a client of the control socket. */
struct database_job {
    struct list node;
    uint64_t number;
    struct control_client *client; /* NULL: it is gone */
    bool check;
    char *site;
    char *path;
};

/* --- start ------------------------------------------------------------------------------------ */

/* The folder is the user's that the role db runs as, when it is made here. */
static int databases_make_folder(
    struct master *m, const char *key, const char *dir, struct err *err)
{
    struct fs_stat st = {0};
    int rc = fs_mkdir(dir, 0700);

    if (rc == 0 && m->set_user)
        rc = fs_set_owner(dir, m->uid, m->gid);
    if (rc == ERR_EXISTS) {
        rc = fs_stat(dir, &st);
        if (rc == 0 && st.kind != FS_DIR)
            rc = ERR_NOTDIR;
    }
    return rc ? err_set(err, rc, "%s: %s: %s", key, dir, err_text(rc)) : 0;
}

static int databases_init_folder(struct master *m, struct err *err)
{
    const struct config_db *db = &m->config->db;
    struct str path = str_c(db->path);
    ptrdiff_t slash = str_rchr(path, '/');
    char *dir;
    int rc;

    if (config_is_multi(m->config))
        return databases_make_folder(m, "db.sqlite.dir", db->dir, err);
    if (slash <= 0)
        return 0;
    dir = mem_dup_str(path.p, (size_t)slash);
    rc = databases_make_folder(m, "db.sqlite.path", dir, err);
    mem_free(dir);
    return rc;
}

/* Root and the user that PHP runs as may connect. */
static int databases_listen_local(struct master *m, struct err *err)
{
    struct buf path = {0};
    int rc;

    config_db_socket(m->config, &path);
    m->db.socket = mem_dup_str(path.p, path.len);
    buf_fini(&path);
    rc = sock_listen_local(m->db.socket, 0660, DATABASES_BACKLOG, &m->db.local);
    if (rc == 0 && m->set_user)
        rc = fs_set_owner(m->db.socket, m->uid, m->gid);
    if (rc)
        return err_set(err, rc, "db.sqlite.proxy.socket: %s: %s", m->db.socket,
            rc == ERR_TOOBIG ? "the path is too long for a socket" : err_text(rc));
    log_info("db_listens", F_CSTR("socket", m->db.socket));
    return 0;
}

static int databases_listen_tcp(struct master *m, const char *text, struct err *err)
{
    char got[SOCK_ADDR_TEXT];
    struct sock_addr at;
    int rc = sock_addr_parse(str_c(text), &at);

    if (rc == 0)
        rc = sock_listen(&at, DATABASES_BACKLOG, &m->db.tcp);
    if (rc == 0)
        rc = sock_local_addr(m->db.tcp, &at);
    if (rc)
        return err_set(err, rc, "db.sqlite.proxy.mysql_listen: %s: %s", text,
            rc == ERR_NOTFOUND ? "this machine has no such address" : err_text(rc));
    m->db.tcp_port = at.port;
    (void)sock_addr_format(&at, got);
    if (!sock_ip_is_loopback(&at) && !m->config->db.proxy.tls_cert)
        log_warn("db_open_to_others", F_CSTR("setting", "db.sqlite.proxy.mysql_listen"),
            F_CSTR("listen", got),
            F_CSTR("hint", "statements and answers can be read on the way: set "
                           "db.sqlite.proxy.tls_cert"));
    log_info("db_listens", F_CSTR("listen", got));
    return 0;
}

/* What the role would refuse is refused here. */
static int databases_check_tls(const struct config_db_proxy *p, struct err *err)
{
    const char *const files[][2] = {
        {"db.sqlite.proxy.tls_cert", p->tls_cert}, {"db.sqlite.proxy.tls_key", p->tls_key}};

    for (size_t i = 0; i < ARRAY_LEN(files) && p->tls_cert; i++) {
        struct fs_stat st;
        int rc = fs_stat(files[i][1], &st);

        if (rc)
            return err_set(err, rc, "%s: %s: %s", files[i][0], files[i][1], err_text(rc));
    }
    return 0;
}

int databases_init(struct master *m, struct err *err)
{
    const struct config_db *db = &m->config->db;
    int rc;

    if (!config_has_db(m->config))
        return 0;
    rc = databases_check_tls(&db->proxy, err);
    if (rc == 0)
        rc = databases_init_folder(m, err);
    if (rc == 0)
        rc = databases_listen_local(m, err);
    if (rc == 0 && db->proxy.mysql_listen)
        rc = databases_listen_tcp(m, db->proxy.mysql_listen, err);
    if (rc == 0)
        m->db.config = config_ref(m->config);
    return rc;
}

static void database_job_free(struct database_job *j)
{
    list_remove(&j->node);
    mem_free(j->site);
    mem_free(j->path);
    mem_free(j);
}

void databases_fini(struct master *m)
{
    while (!list_empty(&m->db.jobs))
        database_job_free(CONTAINER_OF(list_first(&m->db.jobs), struct database_job, node));
    if (m->db.local != SOCK_NONE)
        (void)!fs_unlink(m->db.socket); /* somebody may have removed it */
    sock_close(m->db.local);
    sock_close(m->db.tcp);
    mem_free(m->db.socket);
    config_unref(m->db.config);
}

/* --- sites ------------------------------------------------------------------------------------ */

const char *databases_user(const struct site *s)
{
    const struct config *cfg = s->master->db.config;

    return config_is_multi(cfg) ? s->name : cfg->db.user;
}

static void databases_path(const struct site *s, struct buf *out)
{
    const struct config *cfg = s->master->db.config;

    if (config_is_multi(cfg))
        buf_printf(out, "%s/%s.db", cfg->db.dir, s->name);
    else
        buf_add_str(out, str_c(cfg->db.path));
}

/* The file's name without its ending, with what a name cannot hold without quotes replaced. */
void databases_name(const struct site *s, struct buf *out)
{
    static const char *const taken[] = {"information_schema", "mysql", "performance_schema", "sys"};
    enum { NAME_MAX_BYTES = 64 };
    struct buf path = {0};
    struct str file;
    size_t before = out->len;

    databases_path(s, &path);
    file = str_sub(buf_str(&path), (size_t)(str_rchr(buf_str(&path), '/') + 1), path.len);
    if (str_iends(file, STR(".db")))
        file.len -= 3;
    else if (str_iends(file, STR(".sqlite")))
        file.len -= 7;
    file.len = MIN(file.len, (size_t)NAME_MAX_BYTES - 3);
    for (size_t i = 0; i < file.len; i++) {
        char c = file.p[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        buf_add_char(out, good ? c : '_');
    }
    if (out->len == before)
        buf_add_lit(out, "ephpm");
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        if (str_ieq(str_sub(buf_str(out), before, out->len), str_c(taken[i]))) {
            buf_add_lit(out, "_db");
            break;
        }
    }
    buf_fini(&path);
}

static void databases_tell_role(struct site *s)
{
    struct buf name = {0}, path = {0};
    struct ipc_out out;

    databases_name(s, &name);
    databases_path(s, &path);
    ipc_begin(&out, "site");
    ipc_add(&out, "site", str_c(s->name));
    ipc_add(&out, "user", str_c(databases_user(s)));
    ipc_add(&out, "password", str_c(s->db_password));
    ipc_add(&out, "database", buf_str(&name));
    ipc_add(&out, "path", buf_str(&path));
    roles_tell_db(s->master, &out);
    buf_fini(&name);
    buf_fini(&path);
}

void databases_open(struct site *s)
{
    const struct config *cfg = s->master->db.config;
    uint8_t random[DATABASES_SECRET];
    char hex[2 * DATABASES_SECRET + 1];

    if (!cfg || s->db_password)
        return;
    random_bytes(random, sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++) {
        hex[2 * i] = "0123456789abcdef"[random[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[random[i] & 15];
    }
    hex[2 * DATABASES_SECRET] = '\0';
    if (!config_is_multi(cfg) && cfg->db.password)
        s->db_password = mem_dup_str(cfg->db.password, strlen(cfg->db.password));
    else
        s->db_password = mem_dup_str(hex, 2 * DATABASES_SECRET);
    databases_tell_role(s);
}

void databases_close(struct site *s)
{
    struct ipc_out out;

    if (!s->db_password)
        return;
    mem_free(s->db_password);
    s->db_password = NULL;
    ipc_begin(&out, "site_gone");
    ipc_add(&out, "site", str_c(s->name));
    roles_tell_db(s->master, &out);
}

/* --- the role --------------------------------------------------------------------------------- */

static void databases_tell_listener(struct master *m, sock_t listener)
{
    struct ipc_out out;

    if (listener == SOCK_NONE)
        return;
    ipc_begin(&out, "listen");
    ipc_add_fd(&out, (int)listener);
    roles_tell_db(m, &out);
}

void databases_tell_front(struct master *m)
{
    struct ipc_out out;

    if (!m->db.config)
        return;
    ipc_begin(&out, "db");
    ipc_add(&out, "state", m->db.side.ready ? STR("serving") : STR("starting"));
    roles_tell_front(m, &out);
}

void databases_role_ready(struct master *m)
{
    struct buf text = {0};
    struct ipc_out out;

    config_serialize(m->db.config, &text);
    ipc_begin(&out, "config");
    ipc_add(&out, "text", buf_str(&text));
    ipc_add(&out, "socket", str_c(m->db.socket));
    ipc_add_u64(&out, "port", m->db.tcp_port);
    roles_tell_db(m, &out);
    buf_fini(&text);
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->db_password)
            databases_tell_role(s);
    }
    /* Last: who connected meanwhile finds the accounts. */
    databases_tell_listener(m, m->db.local);
    databases_tell_listener(m, m->db.tcp);
    databases_tell_front(m);
}

static void database_job_end(struct database_job *j, const char *error, struct str report)
{
    struct control_client *c = j->client;
    struct buf json = {0};

    if (c && *error) {
        control_done(c, false, "%s", error);
    } else if (c && j->check) {
        buf_add_json(&json, report);
        control_done_json(c, "report", buf_str(&json));
        buf_fini(&json);
    } else if (c) {
        control_done(c, true, "the database of %s is in %s", j->site, j->path);
    }
    database_job_free(j);
}

void databases_role_gone(struct master *m)
{
    while (!list_empty(&m->db.jobs))
        database_job_end(CONTAINER_OF(list_first(&m->db.jobs), struct database_job, node),
            "the role db ended meanwhile", STR_NONE);
    databases_tell_front(m);
}

void databases_on_done(struct master *m, struct ipc_in *in)
{
    enum { REPORT_MAX = 16 << 20 };
    uint64_t number = ipc_get_u64(in, "number");
    const char *error = ipc_get_c(in, "error");
    struct buf report = {0};

    if (ipc_get_long(in, "text", REPORT_MAX, &report))
        error = "the report is too long";
    list_each_safe (it, &m->db.jobs) {
        struct database_job *j = CONTAINER_OF(it, struct database_job, node);

        if (j->number == number)
            database_job_end(j, error, buf_str(&report));
    }
    buf_fini(&report);
}

/* --- clients of the control socket ------------------------------------------------------------ */

void databases_tell_account(struct site *s, struct control_client *c)
{
    const struct master *m = s->master;
    struct buf json = {0}, name = {0}, path = {0};
    struct json_writer w = JSON_WRITER(&json);

    databases_name(s, &name);
    databases_path(s, &path);
    json_open_object(&w);
    json_add_str(&w, "site", str_c(s->name));
    json_add_str(&w, "socket", str_c(m->db.socket));
    json_add_uint(&w, "port", m->db.tcp_port);
    json_add_str(&w, "user", str_c(databases_user(s)));
    json_add_str(&w, "password", str_c(s->db_password));
    json_add_str(&w, "database", buf_str(&name));
    json_add_str(&w, "path", buf_str(&path));
    json_close_object(&w);
    control_done_json(c, "account", buf_str(&json));
    buf_fini(&json);
    buf_fini(&name);
    buf_fini(&path);
}

void databases_ask(struct site *s, struct control_client *c, const char *path)
{
    struct master *m = s->master;
    struct database_job *j = mem_new(sizeof(*j));
    struct buf name = {0};
    struct ipc_out out;

    j->number = ++m->db.last_job;
    j->client = c;
    j->check = path == NULL;
    j->site = mem_dup_str(s->name, strlen(s->name));
    j->path = mem_dup_str(path ? path : "", path ? strlen(path) : 0);
    list_push(&m->db.jobs, &j->node);
    databases_name(s, &name);
    ipc_begin(&out, path ? "backup" : "check");
    ipc_add_u64(&out, "number", j->number);
    ipc_add(&out, "database", buf_str(&name));
    if (path)
        ipc_add(&out, "path", str_c(path));
    roles_tell_db(m, &out);
    buf_fini(&name);
}

void databases_client_gone(struct master *m, struct control_client *c)
{
    list_each (it, &m->db.jobs) {
        struct database_job *j = CONTAINER_OF(it, struct database_job, node);

        if (j->client == c)
            j->client = NULL;
    }
}
