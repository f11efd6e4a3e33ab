/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "db/charset.h"
#include "db/func/call.h"
#include "db/func/json.h"

struct row {
    const char *name; /* with m_ */
    int least;
    int most;
    int flags; /* db_func_flags */
    func_cb *fn;
    const struct func_aggregate *aggregate;
};

static const struct row rows[] = {
#define ROW_D(f, a) .fn = f
#define ROW_S(f, a) .fn = f
#define ROW_V(f, a) .fn = f
#define ROW_A(f, a) .aggregate = &(a)
#define ROW_W(f, a) .aggregate = &(a)
#define ROW(name, least, most, flags, text) \
    {"m_" #name, least, most, DB_FUNC_##flags, ROW_##flags(fn_##name, agg_##name)},
    DB_FUNC_LIST(ROW)
#undef ROW
};

/* What SQLite keeps for a function: its row, and where its handle's session is. */
struct bind {
    const struct row *row;
    struct db_func_context *context;
    struct handle *handle;
};

struct handle {
    struct db_func_session idle; /* what functions read between statements */
    struct bind binds[ARRAY_LEN(rows)];
};

static void begin(struct call *c, sqlite3_context *sq, int n, sqlite3_value **v)
{
    struct bind *b = sqlite3_user_data(sq);

    *c = (struct call){.sq = sq, .n = n, .v = v, .name = b->row->name + 2};
    c->s = b->context->session ? b->context->session : &b->handle->idle;
}

static const struct row *row_of(sqlite3_context *sq)
{
    return ((struct bind *)sqlite3_user_data(sq))->row;
}

/* Functions with a fixed count are checked by SQLite. */
static bool count_ok(struct call *c, const struct row *row)
{
    if (c->n >= row->least && (row->most < 0 || c->n <= row->most))
        return true;
    CALL_RAISE(c, DB_E_BAD_PARAM_COUNT_NATIVE, c->name);
    return false;
}

static void on_call(sqlite3_context *sq, int n, sqlite3_value **v)
{
    struct call c;
    const struct row *row = row_of(sq);

    begin(&c, sq, n, v);
    if (count_ok(&c, row))
        row->fn(&c);
    arena_fini(&c.arena);
}

static void on_step(sqlite3_context *sq, int n, sqlite3_value **v)
{
    struct call c;
    const struct row *row = row_of(sq);
    void *state = sqlite3_aggregate_context(sq, row->aggregate->size);

    begin(&c, sq, n, v);
    if (!state)
        sqlite3_result_error_nomem(sq);
    else if (count_ok(&c, row))
        row->aggregate->step(&c, state);
    arena_fini(&c.arena);
}

static void on_inverse(sqlite3_context *sq, int n, sqlite3_value **v)
{
    struct call c;
    const struct row *row = row_of(sq);
    void *state = sqlite3_aggregate_context(sq, row->aggregate->size);

    begin(&c, sq, n, v);
    if (state)
        row->aggregate->inverse(&c, state);
    arena_fini(&c.arena);
}

static void on_value(sqlite3_context *sq)
{
    struct call c;
    const struct row *row = row_of(sq);

    begin(&c, sq, 0, NULL);
    row->aggregate->value(&c, sqlite3_aggregate_context(sq, 0));
    arena_fini(&c.arena);
}

static void on_final(sqlite3_context *sq)
{
    const struct row *row = row_of(sq);
    void *state = sqlite3_aggregate_context(sq, 0);

    on_value(sq);
    if (state && row->aggregate->fini)
        row->aggregate->fini(state);
}

static int add(sqlite3 *handle, const struct row *row, struct bind *b)
{
    int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS; /* views and checks call them */
    int n = row->least == row->most ? row->least : -1;

    if (row->flags & (DB_FUNC_D | DB_FUNC_S))
        flags |= SQLITE_DETERMINISTIC;
    if (row->fn)
        return sqlite3_create_function_v2(
            handle, row->name, n, flags, b, on_call, NULL, NULL, NULL);
    if (row->aggregate->inverse)
        return sqlite3_create_window_function(
            handle, row->name, n, flags, b, on_step, on_final, on_value, on_inverse, NULL);
    return sqlite3_create_function_v2(
        handle, row->name, n, flags, b, NULL, on_step, on_final, NULL);
}

/* ---- collations: what they keep is the kind, in the pointer's bits ---- */

static int on_collation(void *arg, int n, const void *a, int m, const void *b)
{
    uintptr_t bits = (uintptr_t)arg;
    struct collation c = {(enum collation_kind)(bits >> 1), bits & 1};

    return collation_cmp(c, str_n(a, (size_t)n), str_n(b, (size_t)m));
}

static int on_decimal(void *arg, int n, const void *a, int m, const void *b)
{
    (void)arg;
    return collation_cmp_decimal(str_n(a, (size_t)n), str_n(b, (size_t)m));
}

static int on_time(void *arg, int n, const void *a, int m, const void *b)
{
    (void)arg;
    return collation_cmp_time(str_n(a, (size_t)n), str_n(b, (size_t)m));
}

static int on_json(void *arg, int n, const void *a, int m, const void *b)
{
    (void)arg;
    return json_text_cmp(str_n(a, (size_t)n), str_n(b, (size_t)m));
}

static int add_collation(sqlite3 *handle, struct str name)
{
    char text[64];
    struct collation c = collation_get(name);
    uintptr_t bits = (uintptr_t)c.kind << 1 | (c.pad ? 1 : 0);

    (void)str_put(text, sizeof(text), name); /* all are shorter */
    if (str_eq(name, STR("binary")))
        return SQLITE_OK; /* SQLite's own BINARY compares bytes too */
    return sqlite3_create_collation_v2(handle, text, SQLITE_UTF8, (void *)bits, on_collation, NULL);
}

static int add_collations(sqlite3 *handle)
{
    uint32_t n;
    const struct db_collation *all = db_collations(&n);
    int rc = SQLITE_OK;

    for (uint32_t i = 0; rc == SQLITE_OK && i < n; i++) {
        rc = add_collation(handle, all[i].name);
        if (rc == SQLITE_OK && str_starts(all[i].name, STR("utf8mb3_"))) {
            char old[64];

            (void)snprintf(old, sizeof(old), "utf8_" STR_F, STR_A(str_sub(all[i].name, 8, 64)));
            rc = add_collation(handle, str_c(old));
        }
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_create_collation_v2(handle, "my_decimal", SQLITE_UTF8, NULL, on_decimal, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_collation_v2(handle, "my_time", SQLITE_UTF8, NULL, on_time, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_collation_v2(handle, "my_json", SQLITE_UTF8, NULL, on_json, NULL);
    return rc;
}

/* Owner of the struct handle: SQLite calls its destructor when the handle is closed. */
static void on_owner(sqlite3_context *sq, int n, sqlite3_value **v)
{
    (void)n;
    (void)v;
    sqlite3_result_null(sq);
}

int db_func_register(sqlite3 *handle, struct db_func_context *context)
{
    struct handle *h = mem_new(sizeof(*h));
    int rc;

    h->idle.div_precision_increment = 4;
    context->state = h;
    rc = sqlite3_create_function_v2(
        handle, "m__owner", 0, SQLITE_UTF8, h, on_owner, NULL, NULL, mem_free);
    for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_LEN(rows); i++) {
        h->binds[i] = (struct bind){.row = &rows[i], .context = context, .handle = h};
        rc = add(handle, &rows[i], &h->binds[i]);
    }
    if (rc == SQLITE_OK)
        rc = add_collations(handle);
    return rc == SQLITE_OK ? 0 : ERR_NOMEM;
}
