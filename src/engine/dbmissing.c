/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "db/session.h"
#include "db/store/server.h"

/* In place of the engine in a build that has none: who connects is told so. */
struct db_server {
    _Atomic uint64_t ids;
};

int db_server_new(const struct db_server_config *config, struct db_stats *counters,
    struct db_server **out, struct err *err)
{
    (void)config;
    (void)counters;
    (void)err;
    *out = mem_new(sizeof(**out));
    return 0;
}

int db_server_add(struct db_server *server, const struct db_file *file, struct err *err)
{
    (void)server;
    (void)file;
    (void)err;
    return 0;
}

void db_server_stop(struct db_server *server)
{
    (void)server;
}

void db_server_free(struct db_server *server)
{
    mem_free(server);
}

static int missing(struct db_error *e)
{
    return db_error_text(e, DB_E_UNKNOWN, "This build has no database engine");
}

int db_server_open(struct db_server *server, struct str database, struct db_error *e)
{
    (void)server;
    (void)database;
    return missing(e);
}

int db_server_backup(
    struct db_server *server, struct str database, const char *path, struct db_error *e)
{
    (void)server;
    (void)database;
    (void)path;
    return missing(e);
}

int db_server_check(
    struct db_server *server, struct str database, struct buf *report, struct db_error *e)
{
    (void)server;
    (void)database;
    (void)report;
    return missing(e);
}

void db_server_digests(struct db_server *server, struct str database,
    void (*cb)(void *arg, const struct db_digest *d), void *arg)
{
    (void)server;
    (void)database;
    (void)cb;
    (void)arg;
}

uint64_t db_server_next_id(struct db_server *server)
{
    return ++server->ids;
}

int db_session_new(struct db_server *server, uint64_t id, const struct db_login *login,
    struct db_session **out, struct db_error *e)
{
    (void)server;
    (void)id;
    (void)login;
    (void)out;
    return missing(e);
}

/* There is never a session, so the rest is never called. */
void db_session_free(struct db_session *s)
{
    (void)s;
}

int db_session_reset(struct db_session *s, struct db_error *e)
{
    (void)s;
    return missing(e);
}

uint16_t db_session_status(const struct db_session *s)
{
    (void)s;
    return 0;
}

uint32_t db_session_wait_timeout(const struct db_session *s)
{
    (void)s;
    return 1;
}

uint32_t db_session_max_packet(const struct db_session *s)
{
    (void)s;
    return 1;
}

void db_session_set_multi(struct db_session *s, bool on)
{
    (void)s;
    (void)on;
}

int db_session_use(struct db_session *s, struct str database, struct db_error *e)
{
    (void)s;
    (void)database;
    return missing(e);
}

void db_session_query(struct db_session *s, struct str text, const struct db_sink *sink)
{
    (void)s;
    (void)text;
    (void)sink;
}

int db_session_prepare(
    struct db_session *s, struct str text, struct db_prepared **out, struct db_error *e)
{
    (void)s;
    (void)text;
    (void)out;
    return missing(e);
}

uint32_t db_prepared_params(const struct db_prepared *p)
{
    (void)p;
    return 0;
}

const struct db_column *db_prepared_columns(const struct db_prepared *p, uint32_t *n)
{
    (void)p;
    *n = 0;
    return NULL;
}

void db_session_execute(struct db_session *s, struct db_prepared *p, const struct db_value *params,
    uint32_t n_params, const struct db_sink *sink)
{
    (void)s;
    (void)p;
    (void)params;
    (void)n_params;
    (void)sink;
}

void db_prepared_close(struct db_prepared *p)
{
    (void)p;
}

void db_session_fields(
    struct db_session *s, struct str table, struct str pattern, const struct db_sink *sink)
{
    (void)s;
    (void)table;
    (void)pattern;
    (void)sink;
}

struct str db_session_statistics(struct db_session *s)
{
    (void)s;
    return STR_NONE;
}

int db_server_kill(struct db_server *server, uint64_t id, bool query_only)
{
    (void)server;
    (void)id;
    (void)query_only;
    return ERR_NOTFOUND;
}

bool db_session_killed(const struct db_session *s)
{
    (void)s;
    return true;
}

void db_session_on_kill(struct db_session *s, void (*cb)(void *arg), void *arg)
{
    (void)s;
    (void)cb;
    (void)arg;
}
