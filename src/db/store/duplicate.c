/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/duplicate.h"

#include <stdio.h>

#include "base/mem.h"
#include "db/store/fktext.h"
#include "db/store/sqlerr.h"

/* What the trigger has seen last. */
struct seen {
    struct buf text; /* "a-b" of a key's values */
    int64_t number;  /* of the foreign key, from 1; 0: none */
};

static void add_value(struct buf *b, sqlite3_value *v)
{
    if (sqlite3_value_type(v) == SQLITE_NULL) {
        buf_add_lit(b, "NULL");
        return;
    }
    const char *p = (const char *)sqlite3_value_text(v);

    if (p)
        buf_add(b, p, MIN((size_t)sqlite3_value_bytes(v), 200));
}

/* _ephpm_seen(values ...): a row's key. */
static void on_seen(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct seen *seen = sqlite3_user_data(ctx);

    buf_clear(&seen->text);
    for (int i = 0; i < argc; i++) {
        if (i)
            buf_add_char(&seen->text, '-');
        add_value(&seen->text, argv[i]);
    }
    sqlite3_result_null(ctx);
}

/* _ephpm_broken(number): a row breaks that foreign key. */
static void on_broken(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct seen *seen = sqlite3_user_data(ctx);

    (void)argc;
    if (!seen->number)
        seen->number = sqlite3_value_int64(argv[0]);
    sqlite3_result_null(ctx);
}

static int bind_params(struct db_session *s, sqlite3_stmt *stmt, const struct tr_step *step)
{
    int rc = SQLITE_OK;

    for (uint32_t i = 0; i < step->n_params && rc == SQLITE_OK; i++) {
        const struct tr_param *p = &step->params[i];

        rc = p->from_client && p->index >= s->n_params
                 ? SQLITE_RANGE
                 : exec_bind(stmt, (int)i + 1, p->from_client ? &s->params[p->index] : &p->value);
    }
    return rc;
}

/* Runs the failed step again under the trigger texts; all is undone. */
static void run_again(struct db_session *s, const struct tr_step *step, const struct str *triggers,
    uint32_t n, struct seen *seen)
{
    struct store_handle *h = s->handle;
    struct db_func_session kept = s->f;
    uint32_t kept_warnings = s->total_warnings;
    int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
    sqlite3_stmt *stmt = NULL;
    int rc;

    if (sqlite3_create_function_v2(
            h->sql, "_ephpm_seen", -1, flags, seen, on_seen, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function_v2(
            h->sql, "_ephpm_broken", 1, flags, seen, on_broken, NULL, NULL, NULL) != SQLITE_OK)
        return;
    if (store_handle_run(h, "SAVEPOINT _ephpm_again") != SQLITE_OK)
        return;
    rc = SQLITE_OK;
    for (uint32_t i = 0; i < n && rc == SQLITE_OK; i++)
        rc = store_handle_run_once(h, triggers[i]);
    s->f.warn = NULL;
    s->f.row = 0;
    if (rc == SQLITE_OK && store_handle_stmt(h, step->sql, &stmt) == SQLITE_OK) {
        for (uint32_t i = 0; i < step->n_params && rc == SQLITE_OK; i++) {
            const struct tr_param *p = &step->params[i];

            if (p->from_client && p->index >= s->n_params)
                rc = SQLITE_RANGE;
            else
                rc = exec_bind(stmt, (int)i + 1, p->from_client ? &s->params[p->index] : &p->value);
        }
        while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
            ;
        (void)store_handle_done(h, stmt); /* it fails again: that is the purpose */
    }
    store_ignore(store_handle_run(h, "ROLLBACK TO _ephpm_again"));
    store_ignore(store_handle_run(h, "RELEASE _ephpm_again"));
    s->f = kept;
    s->total_warnings = kept_warnings;
    (void)sqlite3_create_function_v2(
        h->sql, "_ephpm_seen", -1, flags, NULL, NULL, NULL, NULL, NULL);
    (void)sqlite3_create_function_v2(
        h->sql, "_ephpm_broken", 1, flags, NULL, NULL, NULL, NULL, NULL);
}

/* ---- 1062 ---- */

static const struct db_cat_key *key_of_text(const struct db_cat_table *t, struct str text)
{
    ptrdiff_t at = str_find(text, STR("' for key '"));
    struct str name;

    if (at < 0)
        return NULL;
    name = str_sub(text, (size_t)at + 11, text.len);
    if (name.len <= t->name.len + 2)
        return NULL;
    return db_cat_key_find(t, str_sub(name, t->name.len + 1, name.len - t->name.len - 2));
}

/* NEW."a", NEW."b": of the key's columns. Functional parts cannot be told. */
static bool key_values(
    struct db_session *s, const struct db_cat_table *t, const struct db_cat_key *key, struct buf *b)
{
    for (uint32_t i = 0; i < key->n_parts; i++) {
        struct str name;

        if (key->parts[i].column < 0)
            return false;
        name = tr_quote(&s->arena, t->columns[key->parts[i].column].name);
        buf_printf(b, "%sNEW." STR_F, i ? ", " : "", STR_A(name));
        if (key->parts[i].length > 0) { /* a prefix: only so much of it counts */
            b->len -= name.len + 4;
            buf_printf(b, "substr(NEW." STR_F ", 1, %d)", STR_A(name), key->parts[i].length);
        }
    }
    return true;
}

static struct str trigger_text(
    struct db_session *s, const struct db_cat_table *t, const char *event, struct str body)
{
    struct str table = tr_quote(&s->arena, t->name);

    return arena_printf(&s->arena,
        "CREATE TEMP TRIGGER _ephpm_on_%s BEFORE %s ON %s." STR_F " BEGIN " STR_F " END", event,
        event, t->temporary ? "temp" : "main", STR_A(table), STR_A(body));
}

static void explain_duplicate(struct db_session *s, const struct tr_step *step, struct db_error *e)
{
    const struct db_cat_table *t = step->target;
    const struct db_cat_key *key = key_of_text(t, str_c(e->text));
    struct buf values = {0};
    struct seen seen = {0};
    struct str triggers[2], body;
    char name[300];

    if (!key || !key_values(s, t, key, &values))
        goto out;
    body = arena_printf(&s->arena, "SELECT _ephpm_seen(" STR_F ");", STR_A(buf_str(&values)));
    triggers[0] = trigger_text(s, t, "INSERT", body);
    triggers[1] = trigger_text(s, t, "UPDATE", body);
    run_again(s, step, triggers, 2, &seen);
    if (seen.text.p) {
        snprintf(name, sizeof(name), STR_F "." STR_F, STR_A(t->name), STR_A(key->name));
        db_error_set(e, DB_E_DUP_ENTRY, buf_cstr(&seen.text), name);
    }
out:
    buf_fini(&seen.text);
    buf_fini(&values);
}

/* ---- INSERT IGNORE ---- */

struct doubles {
    struct db_session *s;
    const struct db_cat_table *table;
};

/* _ephpm_double(number of the key, values ...): a row will be left out. */
static void on_double(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    const struct doubles *d = sqlite3_user_data(ctx);
    int64_t key = sqlite3_value_int64(argv[0]);
    struct buf b = {0};
    char name[300];

    for (int i = 1; i < argc; i++) {
        if (i > 1)
            buf_add_char(&b, '-');
        add_value(&b, argv[i]);
    }
    if (key >= 0 && key < (int64_t)d->table->n_keys) {
        snprintf(name, sizeof(name), STR_F "." STR_F, STR_A(d->table->name),
            STR_A(d->table->keys[key].name));
        sess_warn_name(d->s, DB_WARNING, DB_E_DUP_ENTRY, buf_cstr(&b), name);
    }
    buf_fini(&b);
    sqlite3_result_null(ctx);
}

/* CASE WHEN EXISTS (a row with the key's values) THEN _ephpm_double(...) ... END */
static struct str doubles_text(struct db_session *s, const struct db_cat_table *t)
{
    struct buf b = {0};
    struct str body, table = tr_quote(&s->arena, t->name);

    buf_add_lit(&b, "SELECT CASE");
    for (uint32_t i = 0; i < t->n_keys && t->keys[i].kind <= DB_KEY_UNIQUE; i++) {
        const struct db_cat_key *key = &t->keys[i];
        struct buf values = {0};
        bool plain = key_values(s, t, key, &values);

        for (uint32_t j = 0; j < key->n_parts; j++)
            plain &= key->parts[j].column >= 0 && key->parts[j].length == 0;
        if (plain) {
            buf_printf(&b, " WHEN EXISTS (SELECT 1 FROM %s." STR_F " WHERE ",
                t->temporary ? "temp" : "main", STR_A(table));
            for (uint32_t j = 0; j < key->n_parts; j++) {
                struct str c = tr_quote(&s->arena, t->columns[key->parts[j].column].name);

                buf_printf(&b, "%s" STR_F " = NEW." STR_F, j ? " AND " : "", STR_A(c), STR_A(c));
            }
            buf_printf(&b, ") THEN _ephpm_double(%u, " STR_F ")", i, STR_A(buf_str(&values)));
        }
        buf_fini(&values);
    }
    buf_add_lit(&b, " WHEN 0 THEN 0 END;");
    body = trigger_text(s, t, "INSERT", buf_str(&b));
    buf_fini(&b);
    return body;
}

int duplicate_warn(struct db_session *s, const struct tr_step *step, uint64_t *changed)
{
    struct store_handle *h = s->handle;
    struct doubles d = {s, step->target};
    sqlite3_stmt *stmt = NULL;
    int rc;

    s->f.row = s->f.auto_generated = s->f.auto_explicit = 0;
    sess_clear_warnings(s); /* they come again */
    rc = store_handle_run(h, "ROLLBACK TO _ephpm_ignore");
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function_v2(h->sql, "_ephpm_double", -1, SQLITE_UTF8 | SQLITE_INNOCUOUS,
            &d, on_double, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = store_handle_run_once(h, doubles_text(s, step->target));
    if (rc == SQLITE_OK)
        rc = store_handle_stmt(h, step->sql, &stmt);
    if (rc == SQLITE_OK)
        rc = bind_params(s, stmt, step);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        rc = SQLITE_OK;
    if (rc == SQLITE_DONE) {
        rc = SQLITE_OK;
        *changed = (uint64_t)sqlite3_changes64(h->sql);
    }
    store_ignore(store_handle_done(h, stmt));
    if (rc == SQLITE_OK)
        rc = store_handle_run_once(h, STR("DROP TRIGGER _ephpm_on_INSERT"));
    store_ignore(sqlite3_create_function_v2(
        h->sql, "_ephpm_double", -1, SQLITE_UTF8, NULL, NULL, NULL, NULL, NULL));
    return rc;
}

/* ---- 1451, 1452 ---- */

/* "a" = row."x" AND ... */
static void match_text(struct db_session *s, struct buf *b, const struct str *left, const char *row,
    const struct str *right, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct str l = tr_quote(&s->arena, left[i]), r = tr_quote(&s->arena, right[i]);

        buf_printf(b, "%s" STR_F " = %s." STR_F, i ? " AND " : "", STR_A(l), row, STR_A(r));
    }
}

/* The row refers to what is not there. */
static void child_text(struct db_session *s, struct buf *b, const struct db_cat_fk *fk, int number)
{
    struct str parent = tr_quote(&s->arena, fk->ref_table);

    buf_printf(b, "SELECT _ephpm_broken(%d) WHERE ", number);
    for (uint32_t i = 0; i < fk->n_columns; i++) {
        struct str c = tr_quote(&s->arena, fk->columns[i]);

        buf_printf(b, "NEW." STR_F " IS NOT NULL AND ", STR_A(c));
    }
    buf_printf(b, "NOT EXISTS (SELECT 1 FROM main." STR_F " WHERE ", STR_A(parent));
    match_text(s, b, fk->ref_columns, "NEW", fk->columns, fk->n_columns);
    buf_add_lit(b, "); ");
}

/* Something refers to the row. */
static void parent_text(struct db_session *s, struct buf *b, const struct db_cat_table *child,
    const struct db_cat_fk *fk, int number, bool update)
{
    struct str name = tr_quote(&s->arena, child->name);

    buf_printf(b, "SELECT _ephpm_broken(%d) WHERE ", number);
    if (update) { /* only if it gets another key */
        buf_add_char(b, '(');
        for (uint32_t i = 0; i < fk->n_columns; i++) {
            struct str c = tr_quote(&s->arena, fk->ref_columns[i]);

            buf_printf(b, "%sOLD." STR_F " IS NOT NEW." STR_F, i ? " OR " : "", STR_A(c), STR_A(c));
        }
        buf_add_lit(b, ") AND ");
    }
    buf_printf(b, "EXISTS (SELECT 1 FROM main." STR_F " WHERE ", STR_A(name));
    match_text(s, b, fk->columns, "OLD", fk->ref_columns, fk->n_columns);
    buf_add_lit(b, "); ");
}

static bool restricts(struct str action)
{
    return str_eq(action, STR("RESTRICT")) || str_eq(action, STR("NO ACTION"));
}

/* Numbers of the foreign keys that refer to t go on after t's own; finds the one of `wanted` when
 * that is not 0. */
static int parents(struct db_session *s, const struct db_cat_table *t, struct buf *on_delete,
    struct buf *on_update, int wanted, struct fk_place *found)
{
    int number = (int)t->n_fks;

    for (uint32_t i = 0; i < s->tables->n; i++) {
        const struct db_cat_table *child = s->tables->v[i]->table;

        for (uint32_t j = 0; j < child->n_fks; j++) {
            const struct db_cat_fk *fk = &child->fks[j];

            if (!str_eq(fk->ref_table, t->name))
                continue;
            number++;
            if (number == wanted)
                *found = (struct fk_place){child, fk};
            if (on_delete && restricts(fk->on_delete))
                parent_text(s, on_delete, child, fk, number, false);
            if (on_update && restricts(fk->on_update))
                parent_text(s, on_update, child, fk, number, true);
        }
    }
    return number;
}

static void tell(struct db_session *s, struct fk_place at, bool parent, struct db_error *e)
{
    struct buf b = {0};

    fk_text(&b, s->db->name, at);
    db_error_set(e, parent ? DB_E_ROW_IS_REFERENCED : DB_E_NO_REFERENCED_ROW, buf_cstr(&b));
    buf_fini(&b);
}

static void explain_foreign_key(
    struct db_session *s, const struct tr_step *step, struct db_error *e)
{
    const struct db_cat_table *t = step->target;
    struct buf on_insert = {0}, on_update = {0}, on_delete = {0};
    struct seen seen = {0};
    struct fk_place at = {0};
    struct str triggers[3];
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_fks; i++) {
        child_text(s, &on_insert, &t->fks[i], (int)i + 1);
        child_text(s, &on_update, &t->fks[i], (int)i + 1);
    }
    (void)parents(s, t, &on_delete, &on_update, 0, NULL);
    if (on_insert.len)
        triggers[n++] = trigger_text(s, t, "INSERT", buf_str(&on_insert));
    if (on_update.len)
        triggers[n++] = trigger_text(s, t, "UPDATE", buf_str(&on_update));
    if (on_delete.len)
        triggers[n++] = trigger_text(s, t, "DELETE", buf_str(&on_delete));
    run_again(s, step, triggers, n, &seen);
    if (seen.number > 0 && seen.number <= (int64_t)t->n_fks) {
        tell(s, (struct fk_place){t, &t->fks[seen.number - 1]}, false, e);
    } else {
        (void)parents(s, t, NULL, NULL, seen.number ? (int)seen.number : (int)t->n_fks + 1, &at);
        if (at.fk)
            tell(s, at, true, e);
        else if (t->n_fks)
            tell(s, (struct fk_place){t, &t->fks[0]}, false, e);
    }
    buf_fini(&on_insert);
    buf_fini(&on_update);
    buf_fini(&on_delete);
}

void duplicate_explain(struct db_session *s, const struct tr_step *step, struct db_error *e)
{
    /* Only errors of SQLite: a function that raised one of these said all there is to say. */
    bool unknown = strstr(e->text, "'?'") || strstr(e->text, "(?)");

    if (!step->target || !unknown || sqlite3_get_autocommit(s->handle->sql))
        return;
    if (e->number == 1062)
        explain_duplicate(s, step, e);
    else if (e->number == 1452)
        explain_foreign_key(s, step, e);
}
