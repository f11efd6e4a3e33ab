/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "db/charset.h"
#include "db/real.h"

static const struct db_cat_table *find(void *arg, struct str schema, struct str name)
{
    struct fixture *f = arg;

    if (schema.len && !str_ieq(schema, STR("test")))
        return NULL;
    for (uint32_t i = 0; i < f->n_tables; i++) {
        if (str_ieq(f->tables[i]->name, name))
            return f->tables[i];
    }
    return NULL;
}

static bool schema(void *arg, struct str name)
{
    return str_ieq(name, STR("test"));
}

static bool system_var(
    void *arg, enum sql_scope scope, struct str name, struct db_value *value, struct db_type *type)
{
    if (!str_ieq(name, STR("sql_mode")))
        return false;
    *value = (struct db_value){.kind = DB_V_TEXT, .s = STR("STRICT_TRANS_TABLES")};
    *type = (struct db_type){.base = DB_T_VARCHAR};
    return true;
}

void fixture_open(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    arena_init(&f->catalog);
    arena_init(&f->arena);
    if (sqlite3_open(":memory:", &f->handle) != SQLITE_OK)
        abort();
    f->session = (struct db_func_session){.mode = DB_MODE_STRICT_TRANS_TABLES,
        .now = 1706695200000000,
        .database = STR("test"),
        .version = STR("8.0.36-ephpm"),
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_general_ci"),
        .user = STR("root"),
        .host = STR("localhost"),
        .account = STR("root@localhost"),
        .div_precision_increment = 4,
        .id = 7};
    f->context.session = &f->session;
    if (db_func_register(f->handle, &f->context) != 0)
        abort();
    f->tables = arena_new(&f->catalog, sizeof(void *) * 64);
    f->env = (struct tr_env){.arg = f,
        .table = find,
        .schema = schema,
        .system_var = system_var,
        .database = STR("test"),
        .mode = DB_MODE_STRICT_TRANS_TABLES,
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_general_ci"),
        .results = 45,
        .utc = true,
        .select_limit = UINT64_MAX};
}

void fixture_close(struct fixture *f)
{
    if (sqlite3_close(f->handle) != SQLITE_OK)
        abort();
    arena_fini(&f->arena);
    arena_fini(&f->catalog);
}

static void exec(struct fixture *f, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(f->handle, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message ? message : "?");
        abort();
    }
}

static void column(struct fixture *f, struct db_cat_table *t, struct str text)
{
    struct db_cat_column *c = (struct db_cat_column *)&t->columns[t->n_columns++];
    ptrdiff_t space = str_chr(text, ' '), bar = str_chr(text, '/');
    struct str flags = bar < 0 ? STR_NONE : str_sub(text, (size_t)bar + 1, text.len);
    struct db_error e = {0};

    c->name = arena_str(&f->catalog, str_sub(text, 0, (size_t)space));
    if (bar >= 0)
        text.len = (size_t)bar;
    if (sql_parse_type(&f->catalog,
            arena_str(&f->catalog, str_trim(str_sub(text, (size_t)space + 1, text.len))), &c->type,
            &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    if (db_base_is_text(c->type.base) && !c->type.collation.len) {
        c->type.charset = STR("utf8mb4");
        c->type.collation = STR("utf8mb4_unicode_ci");
    }
    for (size_t i = 0; i < flags.len; i++) {
        if (flags.p[i] == 'n')
            c->not_null = true;
        if (flags.p[i] == 'a') {
            c->auto_increment = true;
            t->auto_column = (int32_t)t->n_columns - 1;
        }
        if (flags.p[i] == 'u')
            c->on_update_now = true;
        if (flags.p[i] != '=')
            continue;
        c->default_text = arena_str(&f->catalog, str_sub(flags, i + 1, flags.len));
        c->default_kind = str_eq(c->default_text, STR("NOW"))                  ? DB_DEFAULT_NOW
                          : c->default_text.len && c->default_text.p[0] == '(' ? DB_DEFAULT_EXPR
                                                                               : DB_DEFAULT_VALUE;
        break;
    }
}

static const char *affinity(const struct db_cat_column *c)
{
    if (db_base_is_int(c->type.base) || c->type.base == DB_T_YEAR)
        return "INTEGER";
    if (c->type.base == DB_T_FLOAT || c->type.base == DB_T_DOUBLE)
        return "REAL";
    return db_base_is_binary(c->type.base) ? "BLOB" : "TEXT";
}

static void key(struct fixture *f, struct db_cat_table *t, struct str text)
{
    struct db_cat_key *k = (struct db_cat_key *)&t->keys[t->n_keys++];
    ptrdiff_t open = str_chr(text, '(');
    struct str head = str_sub(text, 0, (size_t)open), rest, part;
    struct db_cat_part *parts = arena_new(&f->catalog, sizeof(*parts) * 8);

    k->kind = str_starts(head, STR("PRIMARY"))  ? DB_KEY_PRIMARY
              : str_starts(head, STR("UNIQUE")) ? DB_KEY_UNIQUE
                                                : DB_KEY_INDEX;
    k->name = k->kind == DB_KEY_PRIMARY ? STR("PRIMARY")
                                        : str_sub(head, (size_t)str_chr(head, ' ') + 1, head.len);
    k->parts = parts;
    rest = str_sub(text, (size_t)open + 1, text.len - (size_t)open - 2);
    while (str_split(&rest, ',', &part)) {
        ptrdiff_t length = str_chr(part, '(');

        if (length >= 0)
            parts[k->n_parts].length = atoi(part.p + length + 1);
        parts[k->n_parts++].column =
            db_cat_column_find(t, length < 0 ? part : str_sub(part, 0, (size_t)length));
    }
    if (k->kind == DB_KEY_PRIMARY && k->n_parts == 1 &&
        db_base_is_int(t->columns[parts[0].column].type.base))
        t->rowid_column = parts[0].column;
    for (uint32_t i = 0; i < k->n_parts; i++) {
        if (k->kind == DB_KEY_PRIMARY)
            ((struct db_cat_column *)&t->columns[parts[i].column])->key_flags |= DB_COL_PRI_KEY;
    }
}

static const char *collate(const struct db_cat_column *c)
{
    static char text[100];

    if (c->type.base == DB_T_DECIMAL)
        return " COLLATE my_decimal";
    if (c->type.base == DB_T_TIME)
        return " COLLATE my_time";
    if (!db_base_is_text(c->type.base))
        return "";
    snprintf(text, sizeof(text), " COLLATE \"" STR_F "\"", STR_A(c->type.collation));
    return text;
}

static void create(struct fixture *f, const struct db_cat_table *t)
{
    struct buf b = {0};

    buf_printf(&b, "CREATE TABLE \"" STR_F "\" (", STR_A(t->name));
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const struct db_cat_column *c = &t->columns[i];

        buf_printf(&b, "%s\"" STR_F "\" %s%s%s%s", i ? ", " : "", STR_A(c->name), affinity(c),
            collate(c), c->not_null ? " NOT NULL" : "",
            t->rowid_column != (int32_t)i  ? ""
            : t->auto_column == (int32_t)i ? " PRIMARY KEY AUTOINCREMENT"
                                           : " PRIMARY KEY");
    }
    buf_add_lit(&b, ")");
    exec(f, buf_cstr(&b));
    for (uint32_t i = 0; i < t->n_keys; i++) {
        const struct db_cat_key *k = &t->keys[i];

        if (k->kind == DB_KEY_PRIMARY && t->rowid_column >= 0)
            continue;
        buf_clear(&b);
        buf_printf(&b, "CREATE %sINDEX \"" STR_F "__" STR_F "\" ON \"" STR_F "\" (",
            k->kind < DB_KEY_INDEX ? "UNIQUE " : "", STR_A(t->name), STR_A(k->name),
            STR_A(t->name));
        for (uint32_t p = 0; p < k->n_parts; p++) {
            const struct db_cat_column *c = &t->columns[k->parts[p].column];

            if (k->parts[p].length)
                buf_printf(&b, "%sm_prefix(\"" STR_F "\",%d)%s", p ? "," : "", STR_A(c->name),
                    k->parts[p].length, collate(c));
            else
                buf_printf(&b, "%s\"" STR_F "\"", p ? "," : "", STR_A(c->name));
        }
        buf_add_lit(&b, ")");
        exec(f, buf_cstr(&b));
    }
    buf_fini(&b);
}

void fixture_table(struct fixture *f, const char *name, const char *columns, const char *keys)
{
    struct db_cat_table *t = arena_new(&f->catalog, sizeof(*t));
    struct str rest = str_c(columns), part;

    t->schema = STR("test");
    t->name = str_c(name);
    t->auto_column = t->rowid_column = -1;
    t->columns = arena_new(&f->catalog, sizeof(*t->columns) * 32);
    t->keys = arena_new(&f->catalog, sizeof(*t->keys) * 16);
    while (str_split(&rest, ';', &part))
        column(f, t, str_trim(part));
    rest = str_c(keys);
    while (str_split(&rest, ';', &part))
        key(f, t, str_trim(part));
    f->tables[f->n_tables++] = t;
    create(f, t);
}

bool fixture_translate(struct fixture *f, const char *sql)
{
    struct sql_parse_options options = {.mode = f->env.mode, .version = 80036};
    struct sql_stmt *stmt;
    struct str rest;

    arena_reset(&f->arena);
    memset(&f->error, 0, sizeof(f->error));
    f->text[0] = '\0';
    f->plan = NULL;
    if (sql_parse(&f->arena, arena_str(&f->arena, str_c(sql)), &options, &stmt, &rest, &f->error))
        return false;
    return tr_translate(&f->arena, stmt, &f->env, &f->plan, &f->error) == 0;
}

struct str fixture_sql(const struct fixture *f)
{
    for (uint32_t i = 0; f->plan && i < f->plan->n_steps; i++) {
        if (f->plan->steps[i].kind != TR_STEP_PREPARE)
            return f->plan->steps[i].sql;
    }
    return STR_NONE;
}

static void bind(sqlite3_stmt *s, int i, const struct db_value *v)
{
    switch (v->kind) {
    case DB_V_INT:
        sqlite3_bind_int64(s, i, v->i);
        break;
    case DB_V_REAL:
        sqlite3_bind_double(s, i, v->d);
        break;
    case DB_V_TEXT:
        sqlite3_bind_text(s, i, v->s.p ? v->s.p : "", (int)v->s.len, SQLITE_STATIC);
        break;
    case DB_V_BLOB:
        sqlite3_bind_blob(s, i, v->s.p ? v->s.p : "", (int)v->s.len, SQLITE_STATIC);
        break;
    default:
        break;
    }
}

static void add(struct fixture *f, const char *text, size_t n)
{
    size_t at = strlen(f->text);

    n = MIN(n, sizeof(f->text) - at - 1);
    memcpy(f->text + at, text, n);
    f->text[at + n] = '\0';
}

static void add_row(struct fixture *f, sqlite3_stmt *s)
{
    if (f->text[0])
        add(f, ";", 1);
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        bool is_real = sqlite3_column_type(s, i) == SQLITE_FLOAT;
        double d = sqlite3_column_double(s, i);
        const char *text = (const char *)sqlite3_column_text(s, i);
        char real[DB_REAL_TEXT];

        if (i)
            add(f, "|", 1);
        if (is_real)
            add(f, real, db_real_text(d, real));
        else if (!text)
            add(f, "NULL", 4);
        else
            add(f, text, (size_t)sqlite3_column_bytes(s, i));
    }
}

static int stop(void *arg)
{
    return 1;
}

/* One step; its rows go to f->text when they are wanted. */
static bool step(struct fixture *f, const struct tr_step *t, const char *before, bool rows)
{
    sqlite3_stmt *s = NULL;
    struct buf b = {0};
    int rc;

    buf_printf(&b, "%s" STR_F, before, STR_A(t->sql));
    if (sqlite3_prepare_v2(f->handle, buf_cstr(&b), -1, &s, NULL) != SQLITE_OK) {
        f->error.number = -1;
        snprintf(f->error.text, sizeof(f->error.text), "%s", sqlite3_errmsg(f->handle));
        buf_fini(&b);
        return false;
    }
    for (uint32_t i = 0; i < t->n_params; i++) {
        if (!t->params[i].from_client)
            bind(s, (int)i + 1, &t->params[i].value);
    }
    sqlite3_progress_handler(f->handle, f->limit ? 20000 : 0, stop, NULL);
    while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
        if (rows)
            add_row(f, s);
    }
    if (rc != SQLITE_DONE && !db_error_unpack(sqlite3_errmsg(f->handle), &f->error)) {
        f->error.number = -2;
        snprintf(f->error.text, sizeof(f->error.text), "%s", sqlite3_errmsg(f->handle));
    }
    sqlite3_finalize(s);
    buf_fini(&b);
    if (t->kind == TR_STEP_CHANGE && !*before)
        f->affected += sqlite3_changes64(f->handle);
    return rc == SQLITE_DONE;
}

bool fixture_run(struct fixture *f, const char *sql)
{
    bool ok = true;

    f->affected = 0;
    f->session.matched = 0;
    f->session.row = 0;
    if (!fixture_translate(f, sql))
        return false;
    for (uint32_t i = 0; i < f->plan->n_steps; i++) {
        const struct tr_step *t = &f->plan->steps[i];

        if (ok || t->kind == TR_STEP_FINISH)
            ok &= step(f, t, "", t->kind <= TR_STEP_FOUND);
    }
    return ok;
}

bool fixture_explain(struct fixture *f, const char *sql)
{
    if (!fixture_translate(f, sql))
        return false;
    for (uint32_t i = 0; i < f->plan->n_steps; i++) {
        if (f->plan->steps[i].kind == TR_STEP_CHANGE || f->plan->steps[i].kind == TR_STEP_RESULT)
            return step(f, &f->plan->steps[i], "EXPLAIN QUERY PLAN ", true);
    }
    return false;
}
