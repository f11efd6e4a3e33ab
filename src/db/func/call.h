/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_CALL_H
#define EPHPM_DB_FUNC_CALL_H

/*
 * One call of a function: its arguments by MySQL's conversions, its result, errors and warnings.
 * Each function of list.h is a func_cb named fn_<name>; an aggregate is a struct func_aggregate
 * named agg_<name>. A function that sets no result returns NULL.
 *
 * Memory: the call's arena lives until the function returns; so do strings of arguments.
 */

#include "base/arena.h"
#include "db/datetime.h"
#include "db/decimal.h"
#include "db/func/collation.h"
#include "db/func/func.h"

struct call {
    sqlite3_context *sq;
    int n;
    sqlite3_value **v;
    struct db_func_session *s; /* never NULL */
    const char *name;          /* "concat" */
    bool failed;               /* an error was raised */
    struct arena arena;
};

typedef void func_cb(struct call *c);

/* Aggregates keep their state in zeroed memory of SQLite's. */
struct func_aggregate {
    int size;
    void (*step)(struct call *c, void *state);
    void (*inverse)(struct call *c, void *state); /* of window functions, else NULL */
    void (*value)(struct call *c, void *state);   /* state may be NULL: no rows */
    void (*fini)(void *state);                    /* or NULL */
};

/* (names are pasted at once: `bool` is a macro) */
#define FUNC_PROTO_V(fn, agg)                      func_cb fn;
#define FUNC_PROTO_D(fn, agg)                      func_cb fn;
#define FUNC_PROTO_S(fn, agg)                      func_cb fn;
#define FUNC_PROTO_A(fn, agg)                      extern const struct func_aggregate agg;
#define FUNC_PROTO_W(fn, agg)                      extern const struct func_aggregate agg;
#define FUNC_PROTO(name, least, most, flags, text) FUNC_PROTO_##flags(fn_##name, agg_##name)
DB_FUNC_LIST(FUNC_PROTO)
#undef FUNC_PROTO

/* ---- arguments ---- */

static inline bool call_null(const struct call *c, int i)
{
    return sqlite3_value_type(c->v[i]) == SQLITE_NULL;
}
bool call_any_null(const struct call *c);
static inline bool call_blob(const struct call *c, int i)
{
    return sqlite3_value_type(c->v[i]) == SQLITE_BLOB;
}
/* The argument as text; "" for NULL. */
struct str call_str(struct call *c, int i);
/* The collation that the argument names. */
struct collation call_coll(struct call *c, int i);
/* ... as MySQL's number; text by the prefix rule, with warning 1292. */
double call_real(struct call *c, int i);
/* ... rounded, and clipped to the type. */
int64_t call_i64(struct call *c, int i);
/* The bits of an integer, signed or not (for bit operations); decimals are rounded. */
uint64_t call_u64(struct call *c, int i);

enum num_kind { NUM_INT, NUM_DEC, NUM_REAL };

struct num {
    enum num_kind kind;
    int64_t i;
    double d;
    struct db_decimal dec;
};

/* Exactly: TEXT that is a plain number is NUM_DEC, other text NUM_REAL by the prefix rule. */
void call_num(struct call *c, int i, struct num *out);
double num_double(const struct num *n);
void num_decimal(const struct num *n, struct db_decimal *out);
/* The number a text begins with; *used bytes. */
double text_double(struct str s, size_t *used);
/* Date with or without a time; false: NULL is the answer, and a warning was given. */
bool call_date(struct call *c, int i, unsigned flags, struct db_time *t);
bool call_time(struct call *c, int i, struct db_time *t);
/* flags of db_time_flags that sql_mode asks for */
unsigned call_date_flags(const struct call *c);
int call_fsp(struct call *c, int i); /* 0 when the argument is not there */

/* ---- results ---- */

void ret_i64(struct call *c, int64_t v);
void ret_u64(struct call *c, uint64_t v); /* digits above INT64_MAX */
void ret_bool(struct call *c, bool v);
void ret_double(struct call *c, double v); /* 1690 when it is no number */
void ret_dec(struct call *c, const struct db_decimal *d);
void ret_str(struct call *c, struct str s); /* copies */
void ret_blob(struct call *c, struct str s);
/* Takes the bytes of b, which is empty afterwards; as BLOB or TEXT. */
void ret_buf(struct call *c, struct buf *b, bool blob);
void ret_arg(struct call *c, int i);
void ret_time(struct call *c, const struct db_time *t, int fsp);
/* May a result have that many bytes? If not, warning 1301 was given (the result stays NULL). */
bool ret_fits(struct call *c, uint64_t bytes);

/* ---- errors and warnings ---- */

void call_raise(struct call *c, const struct db_error *e);
void call_warn(struct call *c, enum db_warning_level level, const struct db_error *e);
#define CALL_RAISE(c, ...)                          \
    do {                                            \
        struct db_error raise_e_;                   \
        (void)db_error_set(&raise_e_, __VA_ARGS__); \
        call_raise((c), &raise_e_);                 \
    } while (0)
#define CALL_WARN(c, level, ...)                   \
    do {                                           \
        struct db_error warn_e_;                   \
        (void)db_error_set(&warn_e_, __VA_ARGS__); \
        call_warn((c), (level), &warn_e_);         \
    } while (0)
/* Warning 1292 "Truncated incorrect <type> value: '<s>'"; an error in strict statements that
 * write. */
void call_truncated(struct call *c, const char *type, struct str s);
/* Error 1690: "BIGINT value is out of range in '<what>'" */
void call_range(struct call *c, const char *type, const char *what);
bool call_strict(const struct call *c);

/* ---- time zones ---- */

int64_t call_to_local(const struct call *c, int64_t utc_us);
int64_t call_to_utc(const struct call *c, int64_t local_us);

#endif
