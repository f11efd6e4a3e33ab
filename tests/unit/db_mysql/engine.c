/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/mem.h"
#include "platform/clock.h"

struct db_server {
    pthread_mutex_t lock;
    struct list sessions;
    unsigned nsessions;
    _Atomic uint64_t ids;
    _Atomic bool stops;
};

struct db_session {
    struct list node;
    struct db_server *server;
    uint64_t id;
    _Atomic bool killed;
    _Atomic bool interrupted;
    void (*on_kill)(void *arg);
    void *on_kill_arg;
    uint32_t flags;
    unsigned statements;
    char database[64];
};

struct db_prepared {
    char text[256];
    size_t len;
    uint32_t params;
};

struct db_server *test_engine_new(void)
{
    struct db_server *s = mem_new(sizeof(*s));

    list_init(&s->sessions);
    (void)pthread_mutex_init(&s->lock, NULL);
    return s;
}

void test_engine_stop(struct db_server *s)
{
    s->stops = true;
}

void test_engine_free(struct db_server *s)
{
    mem_free(s);
}

unsigned test_engine_sessions(struct db_server *s)
{
    unsigned n;

    (void)pthread_mutex_lock(&s->lock);
    n = s->nsessions;
    (void)pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t db_server_next_id(struct db_server *server)
{
    return ++server->ids;
}

int db_session_new(struct db_server *server, uint64_t id, const struct db_login *login,
    struct db_session **out, struct db_error *e)
{
    struct db_session *s;

    if (str_eq(login->database, STR("missing")))
        return db_error_set(e, DB_E_BAD_DB, "missing");
    s = mem_new(sizeof(*s));
    s->server = server;
    s->id = id;
    s->flags = login->client_flags;
    (void)str_put(s->database, sizeof(s->database), login->database);
    (void)pthread_mutex_lock(&server->lock);
    list_push(&server->sessions, &s->node);
    server->nsessions++;
    (void)pthread_mutex_unlock(&server->lock);
    *out = s;
    return 0;
}

void db_session_free(struct db_session *s)
{
    if (!s)
        return;
    (void)pthread_mutex_lock(&s->server->lock);
    list_remove(&s->node);
    s->server->nsessions--;
    (void)pthread_mutex_unlock(&s->server->lock);
    mem_free(s);
}

int db_session_reset(struct db_session *s, struct db_error *e)
{
    (void)e;
    s->statements = 0;
    return 0;
}

uint16_t db_session_status(const struct db_session *s)
{
    (void)s;
    return DB_STATUS_AUTOCOMMIT;
}

uint32_t db_session_wait_timeout(const struct db_session *s)
{
    return strcmp(s->database, "impatient") == 0 ? 1 : 100;
}

uint32_t db_session_max_packet(const struct db_session *s)
{
    (void)s;
    return 20 << 20;
}

void db_session_set_multi(struct db_session *s, bool on)
{
    s->flags = on ? s->flags | DB_CLIENT_MULTI_STATEMENTS : 0;
}

int db_session_use(struct db_session *s, struct str database, struct db_error *e)
{
    if (str_eq(database, STR("missing")))
        return db_error_set(e, DB_E_BAD_DB, "missing");
    (void)str_put(s->database, sizeof(s->database), database);
    return 0;
}

static void say_error(const struct db_sink *sink, enum db_error_name name)
{
    struct db_error e;

    (void)db_error_set(&e, name, "db", "t");
    sink->error(sink->arg, &e);
}

static const struct db_column number_column = {
    .name = STR("n"), .type = {.base = DB_T_BIGINT}, .length = 20, .charset = 63};
static const struct db_column text_column = {
    .name = STR("t"), .type = {.base = DB_T_VARCHAR}, .length = 4000, .charset = 45};

static void run_rows(const struct db_sink *sink, uint64_t n, struct db_ok ok)
{
    struct db_column columns[] = {number_column, text_column};
    char letters[1000];

    memset(letters, 'x', sizeof(letters));
    if (sink->columns(sink->arg, columns, 2))
        return;
    for (uint64_t i = 0; i < n; i++) {
        struct db_value v[] = {{.kind = DB_V_INT, .i = (int64_t)i},
            {.kind = DB_V_TEXT, .s = str_n(letters, sizeof(letters))}};

        if (sink->row(sink->arg, v, 2))
            return;
    }
    sink->end(sink->arg, &ok);
}

static void run_bytes(const struct db_sink *sink, size_t n, struct db_ok ok)
{
    char *bytes = mem_new(n);
    struct db_value v = {.kind = DB_V_TEXT, .s = str_n(bytes, n)};

    memset(bytes, 'y', n);
    if (sink->columns(sink->arg, &text_column, 1) == 0 && sink->row(sink->arg, &v, 1) == 0)
        sink->end(sink->arg, &ok);
    mem_free(bytes);
}

static void run_number(struct db_session *s, const struct db_sink *sink, struct db_ok ok)
{
    struct db_value v = {.kind = DB_V_INT, .i = s->statements};

    if (sink->columns(sink->arg, &number_column, 1) == 0 && sink->row(sink->arg, &v, 1) == 0)
        sink->end(sink->arg, &ok);
}

static void run_sleep(struct db_session *s, const struct db_sink *sink, struct db_ok ok)
{
    uint64_t end = clock_mono_ms() + 10000;

    while (clock_mono_ms() < end && !s->killed && !s->interrupted && !s->server->stops)
        clock_sleep_ms(1);
    if (s->killed || s->interrupted || s->server->stops)
        say_error(sink, DB_E_QUERY_INTERRUPTED);
    else
        sink->ok(sink->arg, &ok);
    s->interrupted = false;
}

static void run_late_failure(const struct db_sink *sink)
{
    struct db_value v = {.kind = DB_V_INT, .i = 1};

    if (sink->columns(sink->arg, &number_column, 1) == 0 && sink->row(sink->arg, &v, 1) == 0)
        say_error(sink, DB_E_QUERY_INTERRUPTED);
}

static bool run_one(
    struct db_session *s, struct str text, const struct db_sink *sink, struct db_ok ok)
{
    uint64_t n = 0;
    ptrdiff_t space = str_chr(text, ' ');
    struct db_error e;

    s->statements++;
    if (space >= 0 && str_u64(str_sub(text, (size_t)space + 1, text.len), &n))
        n = 0;
    if (str_starts(text, STR("ROWS"))) {
        run_rows(sink, n, ok);
    } else if (str_starts(text, STR("BYTES"))) {
        run_bytes(sink, (size_t)n, ok);
    } else if (str_starts(text, STR("NUMBER"))) {
        run_number(s, sink, ok);
    } else if (str_starts(text, STR("SLEEP"))) {
        run_sleep(s, sink, ok);
    } else if (str_starts(text, STR("FAIL LATE"))) {
        run_late_failure(sink);
        return false;
    } else if (str_starts(text, STR("FAIL"))) {
        say_error(sink, DB_E_NO_SUCH_TABLE);
        return false;
    } else if (str_starts(text, STR("KILL")) && db_server_kill(s->server, n, false)) {
        (void)db_error_set(&e, DB_E_NO_SUCH_THREAD, (unsigned long long)n);
        sink->error(sink->arg, &e);
    } else {
        ok.affected = 3;
        ok.insert_id = 7;
        ok.info = STR("info");
        sink->ok(sink->arg, &ok);
    }
    return true;
}

void db_session_query(struct db_session *s, struct str text, const struct db_sink *sink)
{
    struct str rest = text, part;

    while (str_split(&rest, ';', &part)) {
        struct db_ok ok = {.status = DB_STATUS_AUTOCOMMIT};

        if (rest.len)
            ok.status |= DB_STATUS_MORE_RESULTS;
        if (!run_one(s, part, sink, ok))
            return;
    }
}

int db_session_prepare(
    struct db_session *s, struct str text, struct db_prepared **out, struct db_error *e)
{
    struct db_prepared *p;

    (void)s;
    if (str_eq(text, STR("FAIL")))
        return db_error_set(e, DB_E_NO_SUCH_TABLE, "db", "t");
    p = mem_new(sizeof(*p));
    p->len = str_put(p->text, sizeof(p->text), text);
    for (size_t i = 0; i < p->len; i++)
        p->params += p->text[i] == '?';
    *out = p;
    return 0;
}

uint32_t db_prepared_params(const struct db_prepared *p)
{
    return p->params;
}

const struct db_column *db_prepared_columns(const struct db_prepared *p, uint32_t *n)
{
    *n = str_starts(str_c(p->text), STR("PARAMS")) ? 1 : 0;
    return &text_column;
}

static void put_param(struct buf *b, const struct db_value *v)
{
    static const char *const kinds[] = {"null", "int", "uint", "real", "text", "blob"};

    buf_printf(b, "%s%s", b->len ? " " : "", kinds[v->kind]);
    if (v->kind == DB_V_INT || v->kind == DB_V_UINT)
        buf_printf(b, ":%lld", (long long)v->i);
    if (v->kind == DB_V_REAL)
        buf_printf(b, ":%g", v->d);
    if (v->kind == DB_V_TEXT || v->kind == DB_V_BLOB)
        buf_printf(b, ":" STR_F, STR_A(v->s));
}

void db_session_execute(struct db_session *s, struct db_prepared *p, const struct db_value *params,
    uint32_t n_params, const struct db_sink *sink)
{
    struct buf b = {0};
    struct db_value v = {.kind = DB_V_TEXT};
    struct db_ok ok = {.status = DB_STATUS_AUTOCOMMIT};

    if (!str_starts(str_c(p->text), STR("PARAMS"))) {
        (void)run_one(s, str_n(p->text, p->len), sink, ok);
        return;
    }
    for (uint32_t i = 0; i < n_params; i++)
        put_param(&b, &params[i]);
    v.s = buf_str(&b);
    if (sink->columns(sink->arg, &text_column, 1) == 0 && sink->row(sink->arg, &v, 1) == 0)
        sink->end(sink->arg, &ok);
    buf_fini(&b);
}

void db_prepared_close(struct db_prepared *p)
{
    mem_free(p);
}

void db_session_fields(
    struct db_session *s, struct str table, struct str pattern, const struct db_sink *sink)
{
    struct db_column columns[] = {number_column, text_column};
    struct db_ok ok = {.status = DB_STATUS_AUTOCOMMIT};

    (void)s;
    (void)pattern;
    if (!str_eq(table, STR("t")))
        say_error(sink, DB_E_NO_SUCH_TABLE);
    else if (sink->columns(sink->arg, columns, 2) == 0)
        sink->end(sink->arg, &ok);
}

struct str db_session_statistics(struct db_session *s)
{
    (void)s;
    return STR("Uptime: 1");
}

int db_server_kill(struct db_server *server, uint64_t id, bool query_only)
{
    int rc = ERR_NOTFOUND;

    (void)pthread_mutex_lock(&server->lock);
    list_each (it, &server->sessions) {
        struct db_session *s = CONTAINER_OF(it, struct db_session, node);

        if (s->id != id)
            continue;
        rc = 0;
        if (query_only) {
            s->interrupted = true;
        } else {
            s->killed = true;
            s->on_kill(s->on_kill_arg);
        }
    }
    (void)pthread_mutex_unlock(&server->lock);
    return rc;
}

bool db_session_killed(const struct db_session *s)
{
    return s->killed;
}

void db_session_on_kill(struct db_session *s, void (*cb)(void *arg), void *arg)
{
    s->on_kill = cb;
    s->on_kill_arg = arg;
}
