/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Functions that tell of the session, and those with an effect on it. */
#include <math.h>
#include <stdlib.h>

#include "db/func/json_arg.h"
#include "db/func/utf8.h"

void fn_version(struct call *c)
{
    ret_str(c, c->s->version.len ? c->s->version : STR("8.0.36"));
}

void fn_database(struct call *c)
{
    if (c->s->database.len)
        ret_str(c, c->s->database);
}

void fn_user(struct call *c)
{
    ret_str(c, arena_printf(&c->arena, STR_F "@" STR_F, STR_A(c->s->user), STR_A(c->s->host)));
}

void fn_current_user(struct call *c)
{
    if (c->s->account.len)
        ret_str(c, c->s->account);
    else
        fn_user(c);
}

void fn_current_role(struct call *c)
{
    ret_str(c, STR("NONE"));
}

void fn_connection_id(struct call *c)
{
    ret_u64(c, c->s->id);
}

void fn_last_insert_id(struct call *c)
{
    if (c->n == 0) {
        ret_u64(c, c->s->last_insert_id);
        return;
    }
    c->s->last_insert_id = call_null(c, 0) ? 0 : call_u64(c, 0);
    c->s->last_insert_id_set = true;
    if (!call_null(c, 0))
        ret_u64(c, c->s->last_insert_id);
}

void fn_row_count(struct call *c)
{
    ret_i64(c, c->s->row_count);
}

void fn_found_rows(struct call *c)
{
    ret_u64(c, c->s->found_rows);
}

void fn_charset(struct call *c)
{
    int type = sqlite3_value_type(c->v[0]);

    ret_str(c, type == SQLITE_TEXT ? STR("utf8mb4") : STR("binary"));
}

void fn_benchmark(struct call *c)
{
    if (!call_null(c, 0))
        ret_i64(c, 0);
}

void fn_sleep(struct call *c)
{
    double seconds = call_null(c, 0) ? -1 : call_real(c, 0);

    if (!(seconds >= 0)) {
        CALL_RAISE(c, DB_E_WRONG_ARGUMENTS, "sleep");
        return;
    }
    if (seconds > 0 && c->s->sleep && !c->s->sleep(c->s->arg, seconds))
        CALL_RAISE(c, DB_E_QUERY_INTERRUPTED);
    else
        ret_i64(c, 0);
}

/* ---- locks ---- */

/* The lock's name in lower case; false: it is none (an error was raised). */
static bool lock_name(struct call *c, struct str *out)
{
    struct str s = call_str(c, 0);
    struct buf b = {0};

    if (call_null(c, 0) || s.len == 0 || utf8_count(s) > 64) {
        CALL_RAISE(c, DB_E_LOCK_NAME,
            call_null(c, 0) ? "NULL" : arena_str(&c->arena, str_sub(s, 0, 128)).p);
        return false;
    }
    for (size_t i = 0; i < s.len;)
        utf8_encode(&b, utf8_lower(utf8_next(s, &i)));
    *out = arena_str(&c->arena, buf_str(&b));
    buf_fini(&b);
    return true;
}

void fn_get_lock(struct call *c)
{
    struct str name;
    int r;

    if (!lock_name(c, &name) || !c->s->lock_get)
        return;
    r = c->s->lock_get(c->s->arg, name, call_null(c, 1) ? 0 : call_real(c, 1));
    if (r >= 0)
        ret_i64(c, r);
}

void fn_release_lock(struct call *c)
{
    struct str name;
    int r;

    if (!lock_name(c, &name) || !c->s->lock_release)
        return;
    r = c->s->lock_release(c->s->arg, name);
    if (r >= 0)
        ret_i64(c, r);
}

void fn_release_all_locks(struct call *c)
{
    ret_i64(c, c->s->lock_release_all ? c->s->lock_release_all(c->s->arg) : 0);
}

void fn_is_free_lock(struct call *c)
{
    struct str name;

    if (lock_name(c, &name))
        ret_bool(c, !c->s->lock_holder || c->s->lock_holder(c->s->arg, name) == 0);
}

void fn_is_used_lock(struct call *c)
{
    struct str name;
    uint64_t id;

    if (!lock_name(c, &name) || !c->s->lock_holder)
        return;
    id = c->s->lock_holder(c->s->arg, name);
    if (id)
        ret_u64(c, id);
}

/* ---- user variables ---- */

void fn_user_var(struct call *c)
{
    struct db_value v = {0};
    enum db_base base = DB_T_NULL;

    if (call_null(c, 0) || !c->s->var_get || !c->s->var_get(c->s->arg, call_str(c, 0), &v, &base))
        return;
    switch (v.kind) {
    case DB_V_NULL:
        return;
    case DB_V_INT:
        ret_i64(c, v.i);
        return;
    case DB_V_UINT:
        ret_u64(c, v.u);
        return;
    case DB_V_REAL:
        ret_double(c, v.d);
        return;
    case DB_V_BLOB:
        ret_blob(c, v.s);
        return;
    default:
        ret_str(c, v.s);
    }
}

static enum db_base base_of(char type, int storage)
{
    switch (type) {
    case 'i':
    case 'u':
    case 'b':
    case 'y':
        return DB_T_BIGINT;
    case 'd':
        return DB_T_DECIMAL;
    case 'r':
    case 'f':
        return DB_T_DOUBLE;
    case 'x':
        return DB_T_LONGBLOB;
    case 'n':
        return storage == SQLITE_INTEGER ? DB_T_BIGINT
               : storage == SQLITE_FLOAT ? DB_T_DOUBLE
               : storage == SQLITE_BLOB  ? DB_T_LONGBLOB
                                         : DB_T_LONGTEXT;
    default:
        return DB_T_LONGTEXT;
    }
}

void fn_set_var(struct call *c)
{
    struct db_value v = {.kind = DB_V_NULL};
    char type = json_type_letter(call_str(c, 0), 0);
    int storage = sqlite3_value_type(c->v[2]);

    switch (storage) {
    case SQLITE_INTEGER:
        v.kind = DB_V_INT;
        v.i = sqlite3_value_int64(c->v[2]);
        break;
    case SQLITE_FLOAT:
        v.kind = DB_V_REAL;
        v.d = sqlite3_value_double(c->v[2]);
        break;
    case SQLITE_NULL:
        break;
    default:
        v.kind = storage == SQLITE_BLOB ? DB_V_BLOB : DB_V_TEXT;
        v.s = call_str(c, 2);
        if (type == 'u') {
            v.kind = DB_V_UINT;
            v.u = call_u64(c, 2);
        }
    }
    if (c->s->var_set && !call_null(c, 1))
        c->s->var_set(c->s->arg, call_str(c, 1), &v, base_of(type, storage));
    ret_arg(c, 2);
}

void fn_error(struct call *c)
{
    struct db_error e = {.number = (int)call_i64(c, 0)};

    memcpy(e.state, "HY000", sizeof(e.state));
    if (c->n > 1 && call_str(c, 1).len == 5)
        memcpy(e.state, call_str(c, 1).p, 5);
    (void)str_put(e.text, sizeof(e.text), c->n > 2 ? call_str(c, 2) : STR("Unknown error"));
    call_raise(c, &e);
}

void fn_name_const(struct call *c)
{
    ret_arg(c, 1);
}

void fn_any_value(struct call *c)
{
    ret_arg(c, 0);
}
