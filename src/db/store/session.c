/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/session.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "db/charset.h"
#include "db/func/tz.h"
#include "db/store/sess.h"
#include "platform/clock.h"

enum { MAX_USER_VARS = 10000 };

/* ---- warnings ---- */

void sess_clear_warnings(struct db_session *s)
{
    struct list *it;

    while ((it = list_pop(&s->warnings))) {
        struct sess_warning *w = CONTAINER_OF(it, struct sess_warning, link);

        mem_free(w->text);
        mem_free(w);
    }
    s->n_warnings = s->total_warnings = s->n_errors = 0;
}

void sess_warn(struct db_session *s, enum db_warning_level level, const struct db_error *e)
{
    struct sess_warning *w;

    if (level == DB_NOTE && !store_var_int(&s->vars, VAR_sql_notes))
        return;
    s->total_warnings++;
    s->n_errors += level == DB_ERROR_LEVEL;
    if (s->n_warnings >= store_var_int(&s->vars, VAR_max_error_count))
        return;
    w = mem_new(sizeof(*w));
    w->level = level;
    w->number = e->number;
    w->text = mem_dup_str(e->text, strlen(e->text));
    list_push(&s->warnings, &w->link);
    s->n_warnings++;
}

void sess_warn_name(struct db_session *s, enum db_warning_level level, enum db_error_name name, ...)
{
    struct db_error e;
    va_list args;

    va_start(args, name);
    db_error_vset(&e, name, args);
    va_end(args);
    sess_warn(s, level, &e);
}

/* ---- what functions ask ---- */

static void on_warn(void *arg, enum db_warning_level level, const struct db_error *e)
{
    sess_warn(arg, level, e);
}

struct sess_user_var *sess_user_var_get(struct db_session *s, struct str name)
{
    char lower[256];
    size_t n = str_put(lower, sizeof(lower), name);

    for (size_t i = 0; i < n; i++)
        lower[i] = str_lower_char(lower[i]);
    return map_get(&s->user_vars, str_n(lower, n));
}

void sess_user_var_set(
    struct db_session *s, struct str name, const struct db_value *value, enum db_base base)
{
    struct sess_user_var *v = sess_user_var_get(s, name);
    char lower[256], *owned = NULL;
    size_t n = str_put(lower, sizeof(lower), name);

    if (!v) {
        if (s->user_vars.count >= MAX_USER_VARS)
            return;
        v = mem_new(sizeof(*v));
        for (size_t i = 0; i < n; i++)
            lower[i] = str_lower_char(lower[i]);
        (void)map_set(&s->user_vars, str_n(lower, n), v);
    }
    if (value->kind == DB_V_TEXT || value->kind == DB_V_BLOB)
        owned = mem_dup_str(value->s.p ? value->s.p : "", value->s.len);
    mem_free(v->owned);
    v->value = *value;
    v->owned = owned;
    if (owned)
        v->value.s.p = owned;
    v->base = base;
}

static bool on_var_get(void *arg, struct str name, struct db_value *value, enum db_base *type)
{
    struct db_session *s = arg;
    struct sess_user_var *v = sess_user_var_get(s, name);

    if (!v)
        return false;
    *value = v->value;
    if (v->owned) /* the variable may be set again within the statement */
        value->s = arena_str(&s->arena, v->value.s);
    *type = v->base;
    return true;
}

static void on_var_set(void *arg, struct str name, const struct db_value *value, enum db_base type)
{
    sess_user_var_set(arg, name, value, type);
}

static bool on_sleep(void *arg, double seconds)
{
    return store_sleep(&((struct db_session *)arg)->stop, seconds);
}

static int on_lock_get(void *arg, struct str name, double seconds)
{
    struct db_session *s = arg;

    return store_lock_get(&s->server->locks, s->db, name, s->id, seconds, &s->stop);
}

static int on_lock_release(void *arg, struct str name)
{
    struct db_session *s = arg;

    return store_lock_release(&s->server->locks, s->db, name, s->id);
}

static int on_lock_release_all(void *arg)
{
    struct db_session *s = arg;

    return store_lock_release_all(&s->server->locks, s->id);
}

static uint64_t on_lock_holder(void *arg, struct str name)
{
    struct db_session *s = arg;

    return store_lock_holder(&s->server->locks, s->db, name);
}

/* The next number of an auto column that is not the rowid: one more than the largest. */
static int64_t on_next_auto(void *arg, struct str name)
{
    struct db_session *s = arg;
    const struct db_cat_table *t;
    struct arena scratch = {0};
    struct str table, column;
    int64_t next;

    if (!s->handle || !(t = store_tables_find(s->tables, name)) || t->auto_column < 0)
        return 0;
    table = tr_quote(&scratch, t->name);
    column = tr_quote(&scratch, t->columns[t->auto_column].name);
    next = store_handle_number(s->handle,
        arena_printf(
            &scratch, "SELECT max(" STR_F ") + 1 FROM " STR_F, STR_A(column), STR_A(table)),
        1);
    arena_fini(&scratch);
    if (!s->first_auto)
        s->first_auto = next;
    return next;
}

/* ---- variables that have a copy elsewhere ---- */

struct db_tz *store_zone(struct str name)
{
    struct db_tz *tz;

    if (db_tz_open(name, &tz) != 0)
        return NULL;
    if (!db_tz_is_utc(tz))
        return tz;
    db_tz_close(tz);
    return NULL;
}

void sess_set_zone(struct db_session *s, struct str zone)
{
    bool is_system = str_ieq(zone, STR("SYSTEM"));
    int64_t offset = 0;

    db_tz_close(s->tz);
    s->tz = is_system || db_tz_offset(zone, &offset) ? NULL : store_zone(zone);
    s->f.tz = is_system ? s->server->zone : s->tz;
    s->f.utc_offset = offset;
}

void sess_vars_changed(struct db_session *s)
{
    const struct db_collation *results =
        db_charset_default(store_var_str(&s->vars, VAR_character_set_results));

    s->results = results ? results->number : 0;
    s->f.mode = (uint64_t)store_var_int(&s->vars, VAR_sql_mode);
    s->f.charset = store_var_str(&s->vars, VAR_character_set_connection);
    s->f.collation = store_var_str(&s->vars, VAR_collation_connection);
    s->f.group_concat_max_len = (uint64_t)store_var_int(&s->vars, VAR_group_concat_max_len);
    s->f.div_precision_increment = (uint32_t)store_var_int(&s->vars, VAR_div_precision_increment);
    s->f.default_week_format = (uint32_t)store_var_int(&s->vars, VAR_default_week_format);
    s->f.max_packet = (uint64_t)store_var_int(&s->vars, VAR_max_allowed_packet);
    s->f.version = s->server->config.version;
}

/* ---- life ---- */

static void set_functions(struct db_session *s)
{
    s->f = (struct db_func_session){
        .arg = s,
        .id = s->id,
        .user = str_c(s->user),
        .host = str_c(s->host),
        .account = s->f.account,
        .row_count = -1,
        .warn = on_warn,
        .var_get = on_var_get,
        .var_set = on_var_set,
        .sleep = on_sleep,
        .lock_get = on_lock_get,
        .lock_release = on_lock_release,
        .lock_release_all = on_lock_release_all,
        .lock_holder = on_lock_holder,
        .next_auto = on_next_auto,
    };
    s->f.database = str_c(s->database);
}

static void free_vars(struct db_session *s)
{
    struct str key;
    void *value;
    size_t it = 0;

    while (map_next(&s->user_vars, &it, &key, &value)) {
        struct sess_user_var *v = value;

        mem_free(v->owned);
        mem_free(v);
    }
    map_fini(&s->user_vars);
    store_vars_fini(&s->vars);
    db_tz_close(s->tz);
    s->tz = NULL;
}

/* Variables as a new connection has them. */
static void init_vars(struct db_session *s)
{
    const struct db_collation *c = db_collation_number(s->login_charset);
    struct str charset = c ? c->charset : STR("utf8mb4");

    map_init(&s->user_vars, s->db->seed ^ s->id);
    pthread_mutex_lock(&s->db->mutex);
    store_vars_copy(&s->vars, &s->db->globals);
    pthread_mutex_unlock(&s->db->mutex);
    if (c) {
        store_var_set_text(&s->vars, VAR_character_set_client, charset);
        store_var_set_text(&s->vars, VAR_character_set_results, charset);
        store_var_set_text(&s->vars, VAR_character_set_connection, charset);
        store_var_set_text(&s->vars, VAR_collation_connection, c->name);
    }
    if (s->client_flags & DB_CLIENT_INTERACTIVE)
        s->vars.v[VAR_wait_timeout].i = s->vars.v[VAR_interactive_timeout].i;
    set_functions(s);
    sess_vars_changed(s);
    sess_set_zone(s, store_var_str(&s->vars, VAR_time_zone));
}

int sess_use(struct db_session *s, struct str database, struct db_error *e)
{
    char name[260], user[100], host[100];

    (void)str_put(name, sizeof(name), database);
    if (database.len == 0)
        return db_error_set(e, DB_E_NO_DB);
    if (!str_eq(database, s->db->name) && !info_is_schema(database)) {
        if (!srv_db(s->server, database))
            return db_error_set(e, DB_E_BAD_DB, name);
        (void)str_put(user, sizeof(user), str_c(s->user));
        (void)str_put(host, sizeof(host), str_c(s->host));
        return db_error_set(e, DB_E_DB_ACCESS, user, host, name);
    }
    memcpy(s->database, name, sizeof(name));
    s->f.database = str_c(s->database);
    pthread_mutex_lock(&s->mutex);
    memcpy(s->shown_db, name, sizeof(name));
    pthread_mutex_unlock(&s->mutex);
    return 0;
}

static struct db_session *session_make(
    struct db_server *server, struct store_db *db, uint64_t id, const struct db_login *login)
{
    struct db_session *s = mem_new(sizeof(*s));

    s->server = server;
    s->db = db;
    s->id = id;
    s->user = mem_dup_str(login->user.p ? login->user.p : "", login->user.len);
    s->host = mem_dup_str(login->host.p ? login->host.p : "", login->host.len);
    s->client_flags = login->client_flags;
    s->login_charset = login->charset;
    s->multi = login->client_flags & DB_CLIENT_MULTI_STATEMENTS;
    pthread_mutex_init(&s->mutex, NULL);
    arena_init(&s->arena);
    list_init(&s->warnings);
    list_init(&s->prepared);
    map_init(&s->named, db->seed + id);
    s->info_since_ms = clock_mono_ms();
    s->f.account = str_n(mem_dup_str("", 0), 0);
    init_vars(s);
    return s;
}

uint64_t db_server_next_id(struct db_server *server)
{
    return atomic_fetch_add_explicit(&server->next_id, 1, memory_order_relaxed);
}

int db_session_new(struct db_server *server, uint64_t id, const struct db_login *login,
    struct db_session **out, struct db_error *e)
{
    struct store_db *db;
    struct db_session *s;
    char *account;
    size_t n;

    if (atomic_load(&server->stopping))
        return db_error_set(e, DB_E_SHUTDOWN);
    if (srv_acquire(server, login->account_db, &db, e) != 0)
        return ERR_INVAL;
    s = session_make(server, db, id, login);
    n = login->user.len + 3;
    account = mem_new(n);
    n = (size_t)snprintf(account, n, STR_F "@%%", STR_A(login->user));
    mem_free((char *)s->f.account.p);
    s->f.account = str_n(account, n);
    if (login->database.len && sess_use(s, login->database, e) != 0) {
        list_init(&s->link);
        db_session_free(s);
        return ERR_INVAL;
    }
    pthread_mutex_lock(&server->mutex);
    list_push(&server->sessions, &s->link);
    server->n_sessions++;
    pthread_mutex_unlock(&server->mutex);
    *out = s;
    return 0;
}

/* What a new login does not find. */
static void end_state(struct db_session *s)
{
    tx_end(s);
    (void)store_lock_release_all(&s->server->locks, s->id);
    prepare_free_all(s);
    sess_clear_warnings(s);
}

void db_session_free(struct db_session *s)
{
    if (!s)
        return;
    end_state(s);
    pthread_mutex_lock(&s->server->mutex);
    if (!list_empty(&s->link)) {
        list_remove(&s->link);
        s->server->n_sessions--;
    }
    pthread_mutex_unlock(&s->server->mutex);
    free_vars(s);
    map_fini(&s->named);
    srv_release(s->server, s->db);
    arena_fini(&s->arena);
    pthread_mutex_destroy(&s->mutex);
    mem_free((char *)s->f.account.p);
    mem_free(s->user);
    mem_free(s->host);
    mem_free(s);
}

int db_session_reset(struct db_session *s, struct db_error *e)
{
    (void)e; /* nothing can fail: the database stays the same */
    end_state(s);
    free_vars(s);
    init_vars(s);
    s->insert_id = 0;
    s->next_access = false;
    s->multi = s->client_flags & DB_CLIENT_MULTI_STATEMENTS;
    return 0;
}

/* ---- what the wire asks ---- */

uint16_t db_session_status(const struct db_session *s)
{
    uint16_t status = 0;

    if (s->in_tx)
        status |= DB_STATUS_IN_TRANS;
    if (store_var_int(&s->vars, VAR_autocommit))
        status |= DB_STATUS_AUTOCOMMIT;
    if (store_var_int(&s->vars, VAR_sql_mode) & DB_MODE_NO_BACKSLASH_ESCAPES)
        status |= DB_STATUS_NO_BACKSLASH_ESCAPES;
    if (s->more)
        status |= DB_STATUS_MORE_RESULTS;
    return status;
}

uint32_t db_session_wait_timeout(const struct db_session *s)
{
    return (uint32_t)store_var_int(&s->vars, VAR_wait_timeout);
}

uint32_t db_session_max_packet(const struct db_session *s)
{
    return (uint32_t)store_var_int(&s->vars, VAR_max_allowed_packet);
}

void db_session_set_multi(struct db_session *s, bool on)
{
    s->multi = on;
}

int db_session_use(struct db_session *s, struct str database, struct db_error *e)
{
    return sess_use(s, database, e);
}

struct str db_session_statistics(struct db_session *s)
{
    const struct db_stats *c = s->server->counters;
    uint64_t up = (clock_wall_us() - s->server->started_us) / 1000000 + 1;
    uint64_t questions = db_counted(&c->commands);
    int n = snprintf(s->statistics, sizeof(s->statistics),
        "Uptime: %llu  Threads: %llu  Questions: %llu  Slow queries: %llu  Opens: %u  "
        "Flush tables: 1  Open tables: %u  Queries per second avg: %.3f",
        (unsigned long long)up, (unsigned long long)db_counted(&c->connected),
        (unsigned long long)questions, (unsigned long long)db_counted(&c->slow), s->server->n_dbs,
        s->server->n_dbs, (double)questions / (double)up);

    return str_n(s->statistics, (size_t)MIN(n, (int)sizeof(s->statistics) - 1));
}

bool db_session_killed(const struct db_session *s)
{
    return atomic_load(&s->stop.kill) >= STORE_KILL_SESSION;
}

void db_session_on_kill(struct db_session *s, void (*cb)(void *arg), void *arg)
{
    pthread_mutex_lock(&s->mutex);
    s->on_kill = cb;
    s->on_kill_arg = arg;
    pthread_mutex_unlock(&s->mutex);
}

int db_server_kill(struct db_server *server, uint64_t id, bool query_only)
{
    int code = ERR_NOTFOUND, running;

    pthread_mutex_lock(&server->mutex);
    list_each (it, &server->sessions) {
        struct db_session *s = CONTAINER_OF(it, struct db_session, link);

        if (s->id != id)
            continue;
        code = 0;
        running = STORE_KILL_NONE;
        pthread_mutex_lock(&s->mutex);
        if (!query_only)
            atomic_store(&s->stop.kill, STORE_KILL_SESSION);
        else if (s->running) /* a statement that begins later is not meant */
            (void)atomic_compare_exchange_strong(&s->stop.kill, &running, STORE_KILL_QUERY);
        if (!query_only && s->on_kill)
            s->on_kill(s->on_kill_arg);
        pthread_mutex_unlock(&s->mutex);
    }
    pthread_mutex_unlock(&server->mutex);
    return code;
}
