/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* A text of the client: its statements, one after the other, and what is counted of them. */

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/log.h"
#include "db/sql/digest.h"
#include "db/store/sess.h"
#include "platform/clock.h"

enum { VERSION = 80036, MAX_NESTING = 4 };

/* ---- what the sink is told ---- */

static void fill_ok(struct db_session *s, struct db_ok *ok)
{
    memset(ok, 0, sizeof(*ok));
    ok->status = db_session_status(s);
    if (!s->old_warnings)
        ok->warnings = (uint16_t)MIN(s->total_warnings, SESS_MAX_WARNINGS);
}

void sess_ok(struct db_session *s, uint64_t affected, struct str info)
{
    s->affected = affected;
    s->f.row_count = (int64_t)affected;
    if (s->ended) /* a second one */
        return;
    s->ended = true;
    struct db_ok ok;
    fill_ok(s, &ok);
    ok.affected = affected;
    ok.insert_id = s->insert_id;
    ok.info = info;
    s->sink->ok(s->sink->arg, &ok);
}

void sess_end(struct db_session *s)
{
    struct db_ok ok;

    s->f.row_count = -1;
    if (s->gone)
        return;
    fill_ok(s, &ok);
    s->ended = true;
    s->sink->end(s->sink->arg, &ok);
}

bool sess_columns(struct db_session *s, const struct db_column *columns, uint32_t n)
{
    if (!s->gone && s->sink->columns(s->sink->arg, columns, n) != 0)
        s->gone = true;
    return !s->gone;
}

bool sess_row(struct db_session *s, const struct db_value *values, uint32_t n)
{
    if (!s->gone && s->sink->row(s->sink->arg, values, n) != 0)
        s->gone = true;
    s->rows_sent++;
    return !s->gone;
}

bool sess_text_columns(struct db_session *s, const char *const *names, uint32_t n)
{
    struct db_column *c = arena_new(&s->arena, n * sizeof(*c));

    for (uint32_t i = 0; i < n; i++) {
        c[i].name = str_c(names[i]);
        c[i].type = (struct db_type){.base = DB_T_VARCHAR, .length = 256, .decimals = -1};
        c[i].type.charset = STR("utf8mb4");
        c[i].type.collation = STR("utf8mb4_general_ci");
        c[i].length = 1024;
        c[i].charset = 45;
        c[i].decimals = 31;
    }
    return sess_columns(s, c, n);
}

bool sess_text_row(struct db_session *s, const struct str *values, uint32_t n)
{
    struct db_value *v = arena_new(&s->arena, n * sizeof(*v));

    for (uint32_t i = 0; i < n; i++) {
        v[i].kind = values[i].p ? DB_V_TEXT : DB_V_NULL;
        v[i].s = values[i];
    }
    return sess_row(s, v, n);
}

/* ---- parsing ---- */

int sess_parse(struct db_session *s, struct str text, struct store_plan **out, struct str *rest,
    struct db_error *e)
{
    struct store_plan *plan = store_plan_new(NULL);
    struct sql_parse_options options = {
        .mode = (uint32_t)store_var_int(&s->vars, VAR_sql_mode), .version = VERSION};
    struct str copy = arena_str(&plan->arena, text), left = STR_NONE;
    struct sql_stmt *stmt;

    if (s->client_flags & DB_CLIENT_IGNORE_SPACE)
        options.mode |= DB_MODE_IGNORE_SPACE;
    if (sql_parse(&plan->arena, copy, &options, &stmt, &left, e) != 0) {
        store_plan_unref(plan);
        return ERR_INVAL;
    }
    plan->stmt = stmt;
    *rest = left.len ? str_sub(text, (size_t)(left.p - copy.p), text.len) : STR_NONE;
    *out = plan;
    return 0;
}

/* Without the space, semicolons and comments that it begins with. */
static struct str skip_nothing(struct str s)
{
    for (;;) {
        ptrdiff_t at;

        s = str_trim(s);
        if (str_starts(s, STR(";"))) {
            s = str_sub(s, 1, s.len);
        } else if (str_starts(s, STR("#")) || str_starts(s, STR("-- ")) || str_eq(s, STR("--")) ||
                   str_starts(s, STR("--\n"))) {
            at = str_chr(s, '\n');
            s = at < 0 ? STR_NONE : str_sub(s, (size_t)at, s.len);
        } else if (str_starts(s, STR("/*")) && !str_starts(s, STR("/*!")) &&
                   !str_starts(s, STR("/*M!"))) {
            at = str_find(s, STR("*/"));
            if (at < 0)
                return s;
            s = str_sub(s, (size_t)at + 2, s.len);
        } else {
            return s;
        }
    }
}

/* ---- kinds of statements ---- */

static enum db_class class_of(const struct sql_stmt *stmt)
{
    switch (stmt->kind) {
    case SQL_STMT_QUERY:
    case SQL_STMT_DO:
        return DB_CLASS_SELECT;
    case SQL_STMT_INSERT:
        return stmt->insert->replace ? DB_CLASS_REPLACE : DB_CLASS_INSERT;
    case SQL_STMT_UPDATE:
        return DB_CLASS_UPDATE;
    case SQL_STMT_DELETE:
        return DB_CLASS_DELETE;
    case SQL_STMT_CREATE_TABLE ... SQL_STMT_DROP_DATABASE:
        return DB_CLASS_DDL;
    case SQL_STMT_BEGIN ... SQL_STMT_UNLOCK_TABLES:
        return DB_CLASS_TRANSACTION;
    case SQL_STMT_SET:
    case SQL_STMT_USE:
        return DB_CLASS_SET;
    case SQL_STMT_SHOW:
    case SQL_STMT_DESCRIBE:
    case SQL_STMT_EXPLAIN:
        return DB_CLASS_SHOW;
    default:
        return DB_CLASS_OTHER;
    }
}

static int begin(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    bool read_only = stmt->access == 1 ||
                     (stmt->access == 0 && (s->next_access ? s->next_read_only
                                                           : store_var_int(&s->vars,
                                                                 VAR_transaction_read_only) != 0));

    if (tx_begin(s, read_only, stmt->snapshot, e) != 0)
        return ERR_IO;
    sess_ok(s, 0, STR_NONE);
    return 0;
}

/* COMMIT and ROLLBACK, AND CHAIN, RELEASE. */
static int finish(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    bool read_only = s->tx_read_only;

    if (stmt->kind == SQL_STMT_ROLLBACK)
        tx_rollback(s);
    else if (tx_commit(s, e) != 0)
        return ERR_IO;
    if (stmt->chain && tx_begin(s, read_only, false, e) != 0)
        return ERR_IO;
    if (stmt->release)
        atomic_store(&s->stop.kill, STORE_KILL_SESSION);
    sess_ok(s, 0, STR_NONE);
    return 0;
}

static int lock_tables(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    bool write = false;

    if (tx_implicit_commit(s, e) != 0)
        return ERR_IO;
    tx_unlock(s);
    for (uint32_t i = 0; i < stmt->n_locks; i++) {
        if (tx_read(s, false, e) != 0)
            return ERR_IO;
        const struct db_cat_table *t =
            sess_table(s, stmt->locks[i].table.schema, stmt->locks[i].table.name);
        int code =
            t ? 0 : sess_no_table(s, stmt->locks[i].table.schema, stmt->locks[i].table.name, e);

        write |= stmt->locks[i].write;
        if (tx_done(s, true, e) != 0 || code)
            return ERR_IO;
    }
    if (write && tx_lock(s, e) != 0)
        return ERR_IO;
    sess_ok(s, 0, STR_NONE);
    return 0;
}

static int transaction(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    int code = 0;

    switch (stmt->kind) {
    case SQL_STMT_BEGIN:
        return begin(s, stmt, e);
    case SQL_STMT_COMMIT:
    case SQL_STMT_ROLLBACK:
        return finish(s, stmt, e);
    case SQL_STMT_SAVEPOINT:
        code = tx_savepoint(s, stmt->name, e);
        break;
    case SQL_STMT_ROLLBACK_TO:
        code = tx_rollback_to(s, stmt->name, e);
        break;
    case SQL_STMT_RELEASE:
        code = tx_release(s, stmt->name, e);
        break;
    case SQL_STMT_LOCK_TABLES:
        return lock_tables(s, stmt, e);
    default: /* UNLOCK TABLES */
        if (s->locked)
            code = tx_implicit_commit(s, e);
        tx_unlock(s);
    }
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}

static int dispatch(
    struct db_session *s, struct store_plan **plan, struct str key, struct db_error *e)
{
    const struct sql_stmt *stmt = (*plan)->stmt;

    if (exec_is(stmt))
        return exec_run(s, plan, key, e);
    switch (stmt->kind) {
    case SQL_STMT_EMPTY:
        return db_error_set(e, DB_E_EMPTY_QUERY);
    case SQL_STMT_CREATE_TABLE ... SQL_STMT_DROP_DATABASE:
        return ddl_run(s, stmt, e);
    case SQL_STMT_BEGIN ... SQL_STMT_UNLOCK_TABLES:
        return transaction(s, stmt, e);
    case SQL_STMT_SET:
        return set_run(s, stmt, e);
    case SQL_STMT_SHOW:
    case SQL_STMT_DESCRIBE:
        return show_run(s, stmt->show, e);
    case SQL_STMT_EXPLAIN:
        return show_explain(s, stmt->inner, e);
    case SQL_STMT_USE:
        if (sess_use(s, stmt->name, e) != 0)
            return ERR_INVAL;
        sess_ok(s, 0, STR_NONE);
        return 0;
    case SQL_STMT_PREPARE:
    case SQL_STMT_EXECUTE:
    case SQL_STMT_DEALLOCATE:
        return prepare_run(s, stmt, e);
    default:
        return admin_run(s, stmt, e);
    }
}

/* ---- one statement, from its beginning to its end ---- */

static void start(struct db_session *s, struct str text)
{
    int queried = STORE_KILL_QUERY;

    arena_reset(&s->arena);
    s->ended = s->gone = s->old_warnings = false;
    s->rows_sent = s->affected = 0;
    s->insert_id = 0;
    s->first_auto = 0;
    s->stop.deadline_ns = 0;
    s->stop.timed_out = false;
    s->start_ns = clock_mono_ns();
    s->f.now = (int64_t)clock_wall_us();
    if (store_var_int(&s->vars, VAR_timestamp))
        s->f.now = store_var_int(&s->vars, VAR_timestamp);
    s->f.last_insert_id_set = false;
    s->f.row = s->f.matched = s->f.auto_generated = s->f.auto_explicit = 0;
    pthread_mutex_lock(&s->mutex);
    s->info_len = str_put(s->info, sizeof(s->info), text);
    s->info_since_ms = clock_mono_ms();
    s->running = true;
    (void)atomic_compare_exchange_strong(&s->stop.kill, &queried, STORE_KILL_NONE);
    pthread_mutex_unlock(&s->mutex);
}

static void note_digest(struct db_session *s, struct store_plan *plan, struct str text)
{
    struct buf b = {0};

    plan->digest = sql_digest(&b, text, (uint32_t)store_var_int(&s->vars, VAR_sql_mode),
        s->server->config.stats.digest_max);
    plan->digest_text = arena_str(&plan->arena, buf_str(&b));
    buf_fini(&b);
}

static struct str request_id(struct db_session *s)
{
    struct sess_user_var *v = sess_user_var_get(s, STR("ephpm_request_id"));

    return v && v->value.kind == DB_V_TEXT ? v->value.s : STR_NONE;
}

static void count(struct db_session *s, struct store_plan *plan, enum db_class class,
    struct str text, bool failed)
{
    const struct db_query_stats *c = &s->server->config.stats;
    struct db_stats *n = s->server->counters;
    uint64_t us = (clock_mono_ns() - s->start_ns) / 1000;
    struct store_plan *own = NULL;

    db_count(&n->statements[class], 1);
    if (failed)
        db_count(&n->errors[class], 1);
    db_count(&n->rows_sent, s->rows_sent);
    db_count(&n->rows_changed, s->affected);
    bool slow = c->slow_ms && us >= (uint64_t)c->slow_ms * 1000;
    if (slow)
        db_count(&n->slow, 1);
    if (!c->enabled && !slow)
        return;
    if (!plan)
        plan = own = store_plan_new(NULL);
    if (!plan->digest_text.p)
        note_digest(s, plan, text);
    if (c->enabled)
        store_digests_add(&s->server->digests, s->db, s->db->name, plan->digest, plan->digest_text,
            us, failed, s->rows_sent, s->affected);
    if (slow)
        log_warn("db_slow", F_STR("database", s->db->name), F_UINT("connection", s->id),
            F_STR("request", request_id(s)), F_UINT("us", us), F_UINT("sent", s->rows_sent),
            F_UINT("changed", s->affected), F_STR("digest", plan->digest_text));
    store_plan_unref(own);
}

static void stop(struct db_session *s, const struct db_error *e)
{
    if (e) {
        s->f.row_count = -1;
        sess_warn(s, DB_ERROR_LEVEL, e);
        if (!s->gone && !s->ended)
            s->sink->error(s->sink->arg, e);
    }
    s->stop.deadline_ns = 0;
    arena_reset(&s->arena); /* a silent session keeps no memory of its last statement */
    pthread_mutex_lock(&s->mutex);
    s->running = false;
    s->info_len = 0;
    s->info_since_ms = clock_mono_ms();
    pthread_mutex_unlock(&s->mutex);
}

static bool keeps_warnings(const struct sql_stmt *stmt)
{
    return stmt->kind == SQL_STMT_SHOW &&
           (stmt->show->what == SQL_SHOW_WARNINGS || stmt->show->what == SQL_SHOW_ERRORS);
}

/* The plan of the cache, or a new one of the parsed text. */
static int get_plan(struct db_session *s, struct str text, struct str *key,
    struct store_plan **plan, struct str *rest, struct db_error *e)
{
    *key = exec_key(s, text);
    if (key->len && (*plan = store_plans_get(&s->db->plans, *key))) {
        db_count(&s->server->counters->cache_hits, 1);
        *rest = STR_NONE;
        sess_clear_warnings(s);
        return 0;
    }
    db_count(&s->server->counters->cache_misses, 1);
    if (sess_parse(s, text, plan, rest, e) != 0) {
        sess_clear_warnings(s);
        return ERR_INVAL;
    }
    s->old_warnings = keeps_warnings((*plan)->stmt);
    if (!s->old_warnings)
        sess_clear_warnings(s);
    (*plan)->class = class_of((*plan)->stmt);
    *rest = skip_nothing(*rest);
    if (rest->len)
        *key = STR_NONE; /* the text is more than the statement */
    return 0;
}

/* Parameters where there is nobody to give them, or the other way round. */
static int check_params(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    if (stmt->n_params == s->n_params)
        return 0;
    if (s->n_params == 0 && s->nesting == 0)
        return db_error_text(e, DB_E_PARSE,
            "You have an error in your SQL syntax; check the manual that corresponds to your "
            "MySQL server version for the right syntax to use near '?' at line 1");
    return db_error_set(e, DB_E_WRONG_ARGUMENTS, "EXECUTE");
}

static void run_one(struct db_session *s, struct str text, struct str *rest)
{
    struct store_plan *plan = NULL;
    struct db_error e = {0};
    struct str key;
    int code;

    start(s, text);
    code = get_plan(s, text, &key, &plan, rest, &e);
    if (code == 0 && rest->len && !s->multi) {
        char near[81];

        (void)str_put(near, sizeof(near), *rest);
        code = db_error_set(&e, DB_E_PARSE,
            "You have an error in your SQL syntax; check the manual that corresponds to your "
            "MySQL server version for the right syntax to use",
            near, 1);
    }
    s->more = code == 0 && rest->len > 0;
    if (code == 0)
        code = check_params(s, plan->stmt, &e);
    if (code == 0)
        code = dispatch(s, &plan, key, &e);
    if (code && !e.number && !s->gone)
        db_error_set(&e, DB_E_UNKNOWN, err_text(code));
    count(s, plan, plan ? plan->class : DB_CLASS_INVALID,
        plan && plan->stmt ? plan->stmt->text : text, code != 0);
    store_plan_unref(plan);
    stop(s, code ? &e : NULL);
    if (code || s->gone) {
        *rest = STR_NONE;
        s->more = false;
    }
}

void sess_run(struct db_session *s, struct str text)
{
    struct str rest;

    if (atomic_load(&s->stop.kill) >= STORE_KILL_SESSION) {
        struct db_error e;

        db_error_set(
            &e, s->stop.kill == STORE_KILL_SERVER ? DB_E_SHUTDOWN : DB_E_QUERY_INTERRUPTED);
        s->sink->error(s->sink->arg, &e);
        return;
    }
    do {
        run_one(s, text, &rest);
        text = rest;
    } while (rest.len);
}

/* Within a statement: no beginning, no end, nothing counted. */
static int run_nested(struct db_session *s, struct str text, bool params, struct db_error *e)
{
    struct store_plan *plan = NULL;
    struct str rest;
    int code;

    if (s->nesting >= MAX_NESTING)
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, "nested EXECUTE");
    if (sess_parse(s, text, &plan, &rest, e) != 0)
        return ERR_INVAL;
    plan->class = class_of(plan->stmt);
    s->nesting++;
    code = params ? check_params(s, plan->stmt, e) : 0;
    if (code == 0)
        code = dispatch(s, &plan, STR_NONE, e);
    s->nesting--;
    store_plan_unref(plan);
    return code;
}

int sess_run_inner(struct db_session *s, struct str text, struct db_error *e)
{
    int64_t mode = s->vars.v[VAR_sql_mode].i;
    int code;

    s->vars.v[VAR_sql_mode].i = 0; /* how the text is written */
    code = run_nested(s, text, false, e);
    s->vars.v[VAR_sql_mode].i = mode;
    return code;
}

int sess_execute(struct db_session *s, struct str text, struct db_error *e)
{
    return run_nested(s, text, true, e);
}

void db_session_query(struct db_session *s, struct str text, const struct db_sink *sink)
{
    if (text.len && text.p[text.len - 1] == '\0') /* mariadb-slap counts the string's end */
        text.len--;
    s->sink = sink;
    s->params = NULL;
    s->n_params = 0;
    s->param_types = NULL;
    sess_run(s, text);
}
