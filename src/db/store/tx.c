/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Transactions. One of the client's begins without any of SQLite's; its first read opens one, which
 * is a snapshot; its first write takes the turn and makes it a writing one, and both are kept to
 * its end. If others have committed between the two, SQLite cannot write on top of the old
 * snapshot: as long as nothing was written, the transaction goes on with the newest state instead,
 * savepoints included. (MySQL does the same to each statement that writes or locks: it sees what is
 * committed, whatever the snapshot.) So no transaction fails for having read first.
 *
 * Definitions of other sessions change the catalog; s->tables is the one that belongs to the
 * snapshot, found by the version that the file has.
 */

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "db/store/sess.h"
#include "db/store/sqlerr.h"

enum { MAX_SAVEPOINTS = 1000, TRIES = 20 };

uint64_t tx_wait_ms(const struct db_session *s)
{
    return (uint64_t)store_var_int(&s->vars, VAR_innodb_lock_wait_timeout) * 1000;
}

static void forget_savepoints(struct db_session *s)
{
    for (uint32_t i = 0; i < s->savepoints.n; i++)
        mem_free((char *)s->savepoints.v[i].p);
    mem_free(s->savepoints.v);
    s->savepoints.v = NULL;
    s->savepoints.n = 0;
}

static void set_tables(struct db_session *s, struct store_tables *t)
{
    store_tables_unref(s->tables);
    s->tables = t;
}

void tx_foreign_keys(struct db_session *s)
{
    if (s->handle)
        store_handle_foreign_keys(s->handle, store_var_int(&s->vars, VAR_foreign_key_checks) != 0);
}

static int attach(struct db_session *s, struct db_error *e)
{
    struct store_handle *h;

    if (!s->handle && store_db_borrow(s->db, &s->handle, e) != 0)
        return ERR_IO;
    h = s->handle;
    h->session = s;
    h->stop = &s->stop;
    h->func.session = &s->f;
    h->busy_ms = tx_wait_ms(s);
    tx_foreign_keys(s);
    return 0;
}

/* What a finished statement or transaction had; the handle stays if temporary tables are on it. */
static void detach(struct db_session *s)
{
    set_tables(s, NULL);
    if (s->has_turn && !s->locked) {
        store_turn_give(&s->db->turn);
        s->has_turn = false;
    }
    s->wrote = false;
    store_tables_unref(s->new_tables); /* of what failed */
    s->new_tables = NULL;
    store_tables_unref(s->temp_before);
    s->temp_before = NULL;
    if (s->handle && !s->temp) {
        store_db_return(s->handle);
        s->handle = NULL;
    }
}

static int take_turn(struct db_session *s, uint64_t wait_ms, struct db_error *e)
{
    uint64_t waited;
    int code;

    if (s->has_turn)
        return 0;
    s->waiting = true; /* only shown */
    code = store_turn_take(&s->db->turn, &s->stop, wait_ms, &waited);
    s->waiting = false;
    if (waited) {
        db_count(&s->server->counters->lock_waits, 1);
        db_count(&s->server->counters->lock_wait_us, waited);
    }
    if (code == 0) {
        s->has_turn = true;
        return 0;
    }
    if (code == ERR_TIMEOUT) {
        db_count(&s->server->counters->lock_timeouts, 1);
        return db_error_set(e, DB_E_LOCK_WAIT_TIMEOUT);
    }
    if (atomic_load(&s->stop.kill) == STORE_KILL_SERVER)
        return db_error_set(e, DB_E_SHUTDOWN);
    return db_error_set(e, s->stop.timed_out ? DB_E_QUERY_TIMEOUT : DB_E_QUERY_INTERRUPTED);
}

static int sql_fail(struct db_session *s, int rc, struct db_error *e)
{
    store_sqlerr_set(s->handle, rc, NULL, e);
    return ERR_IO;
}

/* Savepoints that the client made before SQLite had a transaction, or in the one that was given
 * up. */
static int set_savepoints(struct db_session *s, struct db_error *e)
{
    for (uint32_t i = 0; i < s->savepoints.n; i++) {
        struct str name = tr_quote(&s->arena, s->savepoints.v[i]);
        int rc = store_handle_run_once(
            s->handle, arena_printf(&s->arena, "SAVEPOINT " STR_F, STR_A(name)));

        if (rc != SQLITE_OK)
            return sql_fail(s, rc, e);
    }
    return 0;
}

static void keep_temp(struct db_session *s, struct store_tables *t)
{
    struct store_tables *old = s->temp;

    s->temp = t ? store_tables_ref(t) : NULL;
    store_tables_unref(old);
}

static void sql_rollback(struct db_session *s)
{
    if (s->sql_tx)
        keep_temp(s, s->temp_before); /* tables made since are gone */
    if (!sqlite3_get_autocommit(s->handle->sql) &&
        store_handle_run(s->handle, "ROLLBACK") != SQLITE_OK)
        s->handle->close = true;
    s->sql_tx = false;
}

/* The catalog that belongs to the state that SQLite's transaction sees. 1: the one in memory is
 * not it, try again. */
static int match_tables(struct db_session *s, bool last, struct db_error *e)
{
    struct store_tables *t = store_db_tables(s->db);
    uint64_t version = (uint64_t)store_handle_number(
        s->handle, STR("SELECT def FROM _ephpm_catalog WHERE name = ''"), -1);
    int rc;

    if (version == t->version) {
        set_tables(s, t);
        return 0;
    }
    store_tables_unref(t);
    if (!last)
        return 1;
    rc = store_tables_load(s->handle->sql, s->db->name, &t, e);
    if (rc != SQLITE_OK)
        return e->number ? ERR_IO : sql_fail(s, rc, e);
    set_tables(s, store_tables_ref(t));
    if (version > s->tables->version || s->has_turn) /* another process has changed it */
        store_db_set_tables(s->db, t);
    else
        store_tables_unref(t);
    return 0;
}

static int sql_begin(struct db_session *s, bool write, struct db_error *e)
{
    for (int i = 0;; i++) {
        int rc = store_handle_run(s->handle, write ? "BEGIN IMMEDIATE" : "BEGIN");
        int code;

        if (rc != SQLITE_OK)
            return sql_fail(s, rc, e);
        s->sql_tx = true;
        store_tables_unref(s->temp_before);
        s->temp_before = s->temp ? store_tables_ref(s->temp) : NULL;
        code = match_tables(s, i >= TRIES, e);
        if (code <= 0) {
            if (code)
                sql_rollback(s);
            return code ? code : set_savepoints(s, e);
        }
        sql_rollback(s);
    }
}

/* A reading transaction becomes a writing one. */
static int upgrade(struct db_session *s, struct db_error *e)
{
    int rc = store_handle_run(s->handle, "UPDATE _ephpm_catalog SET def = def WHERE name IS NULL");

    if (rc == SQLITE_OK)
        return 0;
    if (rc != SQLITE_BUSY_SNAPSHOT)
        return sql_fail(s, rc, e);
    sql_rollback(s);
    return sql_begin(s, true, e);
}

/* Not in a transaction, but the client wants each statement to be in one. */
static void begin_if_manual(struct db_session *s)
{
    if (!s->in_tx && !store_var_int(&s->vars, VAR_autocommit)) {
        s->in_tx = true;
        s->tx_read_only = s->next_access ? s->next_read_only
                                         : store_var_int(&s->vars, VAR_transaction_read_only) != 0;
        s->next_access = false;
    }
}

int tx_read(struct db_session *s, bool several, struct db_error *e)
{
    if (s->depth++ > 0)
        return 0;
    begin_if_manual(s);
    if (attach(s, e) != 0)
        goto fail;
    if (s->sql_tx)
        return 0;
    if (s->in_tx || several) {
        if (sql_begin(s, false, e) != 0)
            goto fail;
    } else {
        set_tables(s, store_db_tables(s->db));
    }
    return 0;
fail:
    s->depth--;
    if (!s->sql_tx)
        detach(s);
    return ERR_IO;
}

int tx_write(struct db_session *s, uint64_t wait_ms, struct db_error *e)
{
    begin_if_manual(s);
    if (s->in_tx && s->tx_read_only)
        return db_error_set(e, DB_E_READ_ONLY);
    if (take_turn(s, wait_ms, e) != 0)
        return ERR_BUSY;
    s->depth++;
    if (attach(s, e) != 0)
        goto fail;
    if (!s->sql_tx) {
        if (sql_begin(s, true, e) != 0)
            goto fail;
    } else if (!s->wrote && upgrade(s, e) != 0) {
        goto fail;
    }
    s->wrote = true;
    return 0;
fail:
    s->depth--;
    if (s->depth == 0 && !s->sql_tx) {
        s->in_tx = false; /* it could not go on */
        detach(s);
    }
    return ERR_IO;
}

int tx_define(struct db_session *s, struct db_error *e)
{
    if (take_turn(s, tx_wait_ms(s), e) != 0)
        return ERR_BUSY;
    s->depth++;
    if (attach(s, e) != 0)
        goto fail;
    store_handle_foreign_keys(s->handle, false);
    if (sql_begin(s, true, e) != 0)
        goto fail;
    s->wrote = true;
    return 0;
fail:
    s->depth--;
    detach(s);
    return ERR_IO;
}

static int sql_commit(struct db_session *s, struct db_error *e)
{
    int rc = store_handle_run(s->handle, "COMMIT");

    if (rc == SQLITE_OK) {
        s->sql_tx = false;
        if (s->new_tables) {
            store_db_set_tables(s->db, s->new_tables);
            s->new_tables = NULL;
        }
        if (s->wrote) {
            atomic_fetch_add_explicit(&s->db->commits, 1, memory_order_relaxed);
            db_count(&s->server->counters->commits, 1);
        }
        return 0;
    }
    (void)sql_fail(s, rc, e);
    sql_rollback(s);
    return ERR_IO;
}

int tx_done(struct db_session *s, bool ok, struct db_error *e)
{
    int code = 0;

    if (--s->depth > 0)
        return 0;
    if (s->sql_tx && sqlite3_get_autocommit(s->handle->sql)) {
        /* SQLite gave the transaction up: disk full, no memory, stopped while writing */
        s->sql_tx = false;
        s->in_tx = false;
        forget_savepoints(s);
    }
    if (s->in_tx)
        return 0;
    if (s->sql_tx && ok)
        code = sql_commit(s, e);
    else if (s->sql_tx)
        sql_rollback(s);
    detach(s);
    return code;
}

int tx_begin(struct db_session *s, bool read_only, bool snapshot, struct db_error *e)
{
    if (tx_implicit_commit(s, e) != 0)
        return ERR_IO;
    tx_unlock(s);
    s->in_tx = true;
    s->tx_read_only = read_only;
    s->next_access = false;
    if (!snapshot)
        return 0;
    if (tx_read(s, true, e) != 0) {
        s->in_tx = false;
        return ERR_IO;
    }
    return tx_done(s, true, e);
}

static void tx_over(struct db_session *s)
{
    s->in_tx = false;
    s->tx_read_only = false;
    forget_savepoints(s);
    detach(s);
}

int tx_commit(struct db_session *s, struct db_error *e)
{
    int code = 0;

    if (!s->in_tx)
        return 0;
    if (s->sql_tx)
        code = sql_commit(s, e);
    tx_over(s);
    return code;
}

int tx_implicit_commit(struct db_session *s, struct db_error *e)
{
    return tx_commit(s, e);
}

void tx_rollback(struct db_session *s)
{
    if (!s->in_tx)
        return;
    if (s->sql_tx) {
        if (s->wrote)
            db_count(&s->server->counters->rollbacks, 1);
        sql_rollback(s);
    }
    tx_over(s);
}

/* ---- savepoints ---- */

static int find_savepoint(const struct db_session *s, struct str name)
{
    for (uint32_t i = s->savepoints.n; i-- > 0;) {
        if (str_ieq(s->savepoints.v[i], name))
            return (int)i;
    }
    return -1;
}

static int no_savepoint(struct db_session *s, struct str name, struct db_error *e)
{
    return db_error_set(e, DB_E_NO_SUCH_SAVEPOINT, arena_str(&s->arena, name).p);
}

/* Runs "verb name" if SQLite has a transaction. The name is as it was first written. */
static int savepoint_sql(
    struct db_session *s, const char *verb, struct str name, struct db_error *e)
{
    struct str quoted = tr_quote(&s->arena, name);
    int rc;

    if (!s->sql_tx)
        return 0;
    rc =
        store_handle_run_once(s->handle, arena_printf(&s->arena, "%s " STR_F, verb, STR_A(quoted)));
    return rc == SQLITE_OK ? 0 : sql_fail(s, rc, e);
}

static void cut_savepoints(struct db_session *s, uint32_t n)
{
    while (s->savepoints.n > n)
        mem_free((char *)s->savepoints.v[--s->savepoints.n].p);
}

int tx_savepoint(struct db_session *s, struct str name, struct db_error *e)
{
    int i = find_savepoint(s, name);
    struct str *v;

    begin_if_manual(s);
    if (!s->in_tx)
        return 0; /* it would be gone with the statement */
    if (s->savepoints.n >= MAX_SAVEPOINTS)
        return db_error_set(e, DB_E_OUT_OF_MEMORY);
    if (savepoint_sql(s, "SAVEPOINT", name, e) != 0)
        return ERR_IO;
    if (i >= 0) { /* the older one of the name is forgotten; SQLite finds the newest anyway */
        mem_free((char *)s->savepoints.v[i].p);
        s->savepoints.n--;
        memmove(&s->savepoints.v[i], &s->savepoints.v[i + 1],
            (s->savepoints.n - (uint32_t)i) * sizeof(*s->savepoints.v));
    }
    v = mem_resize(s->savepoints.v, (s->savepoints.n + 1) * sizeof(*v));
    v[s->savepoints.n++] = str_n(mem_dup_str(name.p, name.len), name.len);
    s->savepoints.v = v;
    return 0;
}

int tx_rollback_to(struct db_session *s, struct str name, struct db_error *e)
{
    int i = find_savepoint(s, name);

    if (i < 0)
        return no_savepoint(s, name, e);
    if (savepoint_sql(s, "ROLLBACK TO", s->savepoints.v[i], e) != 0)
        return ERR_IO;
    cut_savepoints(s, (uint32_t)i + 1);
    return 0;
}

int tx_release(struct db_session *s, struct str name, struct db_error *e)
{
    int i = find_savepoint(s, name);

    if (i < 0)
        return no_savepoint(s, name, e);
    if (savepoint_sql(s, "RELEASE", s->savepoints.v[i], e) != 0)
        return ERR_IO;
    cut_savepoints(s, (uint32_t)i);
    return 0;
}

/* ---- LOCK TABLES, and the end ---- */

int tx_lock(struct db_session *s, struct db_error *e)
{
    if (take_turn(s, tx_wait_ms(s), e) != 0)
        return ERR_BUSY;
    s->locked = true;
    return 0;
}

void tx_unlock(struct db_session *s)
{
    if (!s->locked)
        return;
    s->locked = false;
    if (s->has_turn && !s->wrote) {
        store_turn_give(&s->db->turn);
        s->has_turn = false;
    }
}

void tx_end(struct db_session *s)
{
    s->depth = 0;
    tx_rollback(s);
    if (s->handle && s->sql_tx)
        sql_rollback(s);
    tx_unlock(s);
    if (s->temp) {
        store_tables_unref(s->temp);
        s->temp = NULL;
        if (s->handle)
            s->handle->close = true;
    }
    forget_savepoints(s);
    detach(s);
}
