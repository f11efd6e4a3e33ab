/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_TRANSLATE_INTERNAL_H
#define EPHPM_DB_TRANSLATE_INTERNAL_H

/*
 * What the files of translate/ share. Expressions go bottom-up: val_of() gives a struct val, that
 * is a type and SQLite's text (a literal has none before it is known how it is wanted), and whoever
 * uses it asks for the text it needs: val_sql() as it lies, val_num() as number, val_text() ...
 *
 *   text.c      text in the arena, names, parameters
 *   types.c     types: of columns and literals, of several together; what the client is told
 *   value.c     struct val: literals, conversions between types
 *   scope.c     names
 *   expr.c      expressions: the dispatcher and what is small
 *   compare.c   comparisons, IN, BETWEEN, LIKE, rows
 *   arith.c     arithmetic
 *   call.c      functions: a table of name, arguments, result
 *   call_x.c    functions that the table cannot tell
 *   subquery.c  subqueries as values
 *   from.c      tables and joins
 *   select.c    SELECT
 *   query.c     UNION, WITH, ORDER BY, LIMIT
 *   store.c     values on their way into columns
 *   insert.c update.c delete.c
 *   translate.c the ways in
 */

#include <stdarg.h>

#include "base/err.h"
#include "db/charset.h"
#include "db/translate/translate.h"

/* Levels of the tree that are followed; deeper ones are refused (1436). */
#define TR_MAX_DEPTH 300

/* How hard an expression insists on its collation (MySQL's coercibility). */
enum coer {
    COER_EXPLICIT,
    COER_NONE,
    COER_IMPLICIT,
    COER_SYSTEM,
    COER_LITERAL,
    COER_NUMBER,
    COER_NULL
};

/* Type of an expression. */
struct ty {
    enum db_base base;
    bool uns;
    bool not_null;
    bool is_bool; /* TRUE, FALSE, a comparison */
    bool zerofill;
    bool big;     /* may lie as TEXT of digits, being above 2^63-1 */
    uint8_t bits; /* of integers: the magnitude is below 2^bits */
    uint8_t coer; /* enum coer */
    int64_t len;  /* characters of text, bytes of binary, digits of DECIMAL, width of numbers */
    int16_t dec;  /* decimals; 31: not fixed */
    const struct db_collation *coll; /* of text */
    const struct str *members;       /* of ENUM and SET */
    uint32_t n_members;
};

/* How strongly the operators of a text bind; a weaker one goes in parentheses. */
enum prec {
    PREC_OR,
    PREC_AND,
    PREC_NOT,
    PREC_CMP,
    PREC_ORDER,
    PREC_BIT,
    PREC_ADD,
    PREC_MUL,
    PREC_COLLATE,
    PREC_ATOM,
};

struct source;

struct val {
    struct ty t;
    struct str sql; /* NULL for a literal that nobody wanted yet */
    enum prec prec;
    const struct sql_expr *lit; /* a literal */
    bool is_param;              /* of the client */
    bool constant;              /* no columns in it, nothing that changes from row to row */
    bool impure;                /* has an effect, or another value each time */
    bool has_agg;
    bool has_query;
    bool has_window;
    bool field;         /* a column of a table, a derived one, a UNION */
    bool single;        /* a subquery that cannot have several rows */
    struct str natural; /* the collation that SQLite gives the text; empty: BINARY or not known */
    struct str exact;   /* of a quotient: with more decimals, for what is computed with it */
    struct str raw;     /* of a TIMESTAMP column that is read in a zone: the column itself */
    struct source *source; /* of a column */
    uint32_t column;
    struct val *row; /* of a row: its values */
    uint32_t n_row;
    /* what the client is told of a column */
    struct str schema, table, org_table, org_name;
    uint16_t flags;
};

/* A column that a table of FROM has. */
struct col {
    struct str name;
    struct str sql; /* "t1"."name" */
    struct ty t;
    bool hidden;                     /* invisible: not in * */
    const struct db_cat_column *cat; /* of a table of the catalog */
    struct str natural;
    struct str schema, org_table, org_name;
    uint16_t flags;
    struct str replaced; /* by UPDATE and ON DUPLICATE KEY: the value it has by now */
};

struct source {
    struct str schema;
    struct str name;                  /* alias or name */
    struct str alias;                 /* in SQLite's text */
    const struct db_cat_table *table; /* NULL: derived */
    struct col *cols;
    uint32_t n_cols;
    bool nullable; /* of the inner side of an outer join */
    bool no_star;  /* the row alias of INSERT */
};

/* A column that USING or NATURAL made of two. */
struct merged {
    struct str name;
    uint32_t left_source, left_col;
    uint32_t right_source, right_col;
    struct str sql; /* COALESCE for outer joins, else empty: the first */
    bool use_right;
};

struct cte {
    struct cte *next;
    struct str name;
    struct str alias;
    struct col *cols;
    uint32_t n_cols;
};

struct item {
    struct val v;
    struct str name; /* what the column is called */
    struct str sql;
    bool alias;      /* given by AS, or a plain column's name */
    bool correlated; /* has columns of an outer query */
};

struct scope {
    struct scope *outer;
    struct source **sources;
    uint32_t n_sources, cap_sources;
    uint32_t lo, hi; /* sources that can be seen (ON) */
    struct merged *merged;
    uint32_t n_merged, cap_merged;
    const char *clause; /* for error 1054 */
    struct item *items; /* for aliases; NULL: none may be used */
    uint32_t n_items;
    bool alias_first;
    bool aggs_ok; /* aggregates may stand here */
    bool has_agg;
    bool correlated; /* a name was found in an outer scope */
    struct sql_window **windows;
    uint32_t n_windows;
    struct source *values; /* of ON DUPLICATE KEY UPDATE: what VALUES(c) means */
    struct source *insert; /* target of INSERT */
    bool no_columns;
};

struct tr {
    struct arena *arena;
    const struct tr_env *env;
    struct db_error *e;
    struct str text; /* of the statement */
    const struct db_collation *coll;
    struct tr_param *params;
    uint32_t n_params, cap_params;
    bool inline_values; /* no parameters: definitions */
    bool not_cacheable;
    bool native_union; /* the next UNION is that of a recursive table */
    bool strict_names; /* name the result's columns in SQLite's text */
    uint32_t depth;
    uint32_t n_alias;
    struct cte *ctes;
    struct tr_step *steps;
    uint32_t n_steps, cap_steps;
    struct tr_plan *plan;
};

/* A query that was translated. */
struct query {
    struct str sql;       /* of the whole */
    struct str unlimited; /* without ORDER BY and LIMIT, for FOUND_ROWS() */
    struct item *items;
    uint32_t n_items;
    bool single; /* one row at most */
    bool correlated;
    bool calc_found_rows;
};

/* ---- text.c ---- */

struct sb {
    char *p;
    size_t len, cap;
};

void sb_add(struct tr *t, struct sb *b, struct str s);
#define sb_lit(t, b, lit) sb_add((t), (b), STR(lit))
struct str sb_str(const struct sb *b);
/* $: a struct str, #: an int */
struct str cat(struct tr *t, const char *format, ...) MUST_CHECK;
void sb_cat(struct tr *t, struct sb *b, const char *format, ...);
struct str quote_name(struct tr *t, struct str name) MUST_CHECK;
/* 'text' in SQLite's text */
struct str quote_text(struct tr *t, struct str s) MUST_CHECK;
struct str param_value(struct tr *t, const struct db_value *v) MUST_CHECK;
struct str param_int(struct tr *t, int64_t i) MUST_CHECK;
struct str param_text(struct tr *t, struct str s) MUST_CHECK;
struct str param_blob(struct tr *t, struct str s) MUST_CHECK;
struct str param_real(struct tr *t, double d) MUST_CHECK;
struct str param_client(struct tr *t, uint32_t index) MUST_CHECK;
/* Adds a step, with the parameters that its text has. */
int step_add(struct tr *t, enum tr_step_kind kind, struct str sql,
    const struct db_cat_table *target) MUST_CHECK;
void *list_grow(struct tr *t, void *v, uint32_t n, uint32_t *cap, size_t size) MUST_CHECK;
/* A new name for a table in SQLite's text. */
struct str new_alias(struct tr *t) MUST_CHECK;
int too_deep(struct tr *t);
int not_supported(struct tr *t, const char *what);
#define ZS(t, s) zstr((t), (s))
const char *zstr(struct tr *t, struct str s);

/* ---- types.c ---- */

struct ty ty_of_column(const struct db_type *type, bool not_null);
struct ty ty_int(int width, int bits);
struct ty ty_bool(void);
struct ty ty_decimal(int64_t precision, int dec);
struct ty ty_double(void);
struct ty ty_text(const struct db_collation *coll, int64_t len, enum coer coer);
struct ty ty_binary(int64_t len);
struct ty ty_temporal(enum db_base base, int fsp);
struct ty ty_null(void);
bool ty_is_string(const struct ty *t); /* text or binary, not JSON */
bool ty_is_num(const struct ty *t);
/* As decimal: digits before the point, and decimals. */
int ty_int_digits(const struct ty *t);
int ty_scale(const struct ty *t);
/* Characters that a value has as text. */
int64_t ty_chars(const struct ty *t);
/* The type that both fit in: CASE, COALESCE, UNION. 1267 is told as operation's. */
int ty_merge(struct tr *t, const struct ty *a, const struct ty *b, const char *op,
    struct ty *out) MUST_CHECK;
/* The collation of a and b together; *out NULL: binary. */
int ty_collate(struct tr *t, const struct ty *a, const struct ty *b, const char *op,
    const struct db_collation **coll, uint8_t *coer) MUST_CHECK;
struct str ty_natural(const struct ty *t); /* the collation its values compare with; may be empty */
void ty_column(struct tr *t, const struct item *item, struct db_column *out);
struct db_type ty_type(const struct ty *t);
struct str ty_members(struct tr *t, const struct ty *ty);
int ty_how(const struct ty *t);                           /* the letter of func/list.h's `types` */
struct str ty_how_str(struct tr *t, const struct ty *ty); /* of `how`, quoted */

/* ---- value.c ---- */

/* SQLite's text of the value as it lies. */
struct str val_sql(struct tr *t, struct val *v);
/* In parentheses unless it binds at least so. */
struct str val_paren(struct tr *t, struct val *v, enum prec prec) MUST_CHECK;
void val_set(struct val *v, struct ty ty, struct str sql, enum prec prec);
/* Everything that both say of effects, aggregates and the like. */
void val_mix(struct val *v, const struct val *from);
/* Exact number: INTEGER, TEXT of a DECIMAL, REAL. *ty is the number's type. */
struct str val_num(struct tr *t, struct val *v, struct ty *ty) MUST_CHECK;
/* The same, a quotient with more decimals than it is shown with. */
struct str val_exact(struct tr *t, struct val *v, struct ty *ty) MUST_CHECK;
struct str val_double(struct tr *t, struct val *v) MUST_CHECK;
struct str val_int(struct tr *t, struct val *v) MUST_CHECK;
struct str val_text(struct tr *t, struct val *v) MUST_CHECK;
struct str val_blob(struct tr *t, struct val *v) MUST_CHECK;
struct str val_decimal(struct tr *t, struct val *v) MUST_CHECK; /* TEXT for my_decimal */
struct str val_temporal(struct tr *t, struct val *v, enum db_base base, int fsp) MUST_CHECK;
struct str val_json(struct tr *t, struct val *v) MUST_CHECK;
/* As a condition. */
struct str val_cond(struct tr *t, struct val *v, enum prec prec) MUST_CHECK;
/* The value with a COLLATE where SQLite would compare it otherwise. */
struct str val_sort(struct tr *t, struct val *v) MUST_CHECK;
struct str with_collation(
    struct tr *t, struct val *v, struct str sql, struct str collation) MUST_CHECK;
/* v converted to the type. */
struct str val_as(struct tr *t, struct val *v, const struct ty *ty) MUST_CHECK;
bool lit_is_string(const struct val *v);
bool lit_number(const struct val *v, double *d, int64_t *i, bool *is_int);
bool val_is_null(const struct val *v);
int val_literal(struct tr *t, const struct sql_expr *e, struct val *out);

/* ---- scope.c ---- */

void scope_init(struct scope *s, struct scope *outer);
int scope_add(struct tr *t, struct scope *s, struct source *src) MUST_CHECK;
int resolve_column(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
void val_of_col(struct tr *t, struct source *src, uint32_t i, struct val *out);
/* The column named in scope s alone; *src and *col; 1 found, 0 not, negative: error. */
int scope_find(struct tr *t, struct scope *s, struct str schema, struct str table, struct str name,
    uint32_t *src, uint32_t *col, struct merged **merged);
struct source *source_of_table(
    struct tr *t, const struct db_cat_table *table, struct str name, struct str alias);

/* ---- expr.c ---- */

int val_of(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
/* The same; a row is error 1241. */
int val_of1(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
struct str expr_text(struct tr *t, const struct sql_expr *e);

/* ---- compare.c ---- */

int compare(struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out) MUST_CHECK;
int val_like(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_regexp(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_between(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_in(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
/* How a and b compare: a letter of `how`; *coll for 's'. */
int compare_how(struct tr *t, const struct val *a, const struct val *b, const char *op, char *how,
    const struct db_collation **coll) MUST_CHECK;
struct str how_text(struct tr *t, char how, const struct db_collation *coll);
/* Both sides as SQLite compares them right; false: use m_cmp and the like. */
bool compare_sides(struct tr *t, struct val *a, struct val *b, char how,
    const struct db_collation *coll, struct str *x, struct str *y);
const char *op_text(enum sql_op op);

/* ---- arith.c ---- */

int val_binary(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_unary(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int arith(struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out) MUST_CHECK;
int val_date_add(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;

/* ---- call.c ---- */

int val_call(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_group_concat(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_cast(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_case(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_over(struct tr *t, struct scope *s, const struct sql_expr *e, struct str call,
    struct str *out) MUST_CHECK;
int val_aggregate(struct tr *t, struct scope *s, const struct sql_expr *e, bool *known,
    struct val *out) MUST_CHECK;
/* Functions that no row of the table tells. */
int val_special(struct tr *t, struct scope *s, const struct sql_expr *e, bool *known,
    struct val *out) MUST_CHECK;
int bad_count(struct tr *t, struct str name);
/* Several values as one type: their texts in list. */
int merge_values(
    struct tr *t, struct val *v, uint32_t n, const char *op, struct ty *out) MUST_CHECK;
enum sql_unit;
const char *unit_text(enum sql_unit unit);

/* ---- subquery.c ---- */

int val_subquery(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_exists(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_in_query(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;
int val_quantified(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out) MUST_CHECK;

/* ---- from.c ---- */

int from_translate(struct tr *t, struct scope *s, const struct sql_table *from, struct str *sql,
    struct str *where) MUST_CHECK;
/* The table, or error 1046, 1049, 1146. */
int find_table(struct tr *t, struct sql_name name, const struct db_cat_table **out) MUST_CHECK;
struct str table_sql(struct tr *t, const struct db_cat_table *table);

/* ---- select.c, query.c ---- */

int select_translate(struct tr *t, struct scope *outer, const struct sql_body *b,
    const struct sql_query *q, struct query *out) MUST_CHECK;
int query_translate(
    struct tr *t, struct scope *outer, const struct sql_query *q, struct query *out) MUST_CHECK;
int ctes_open(struct tr *t, struct scope *outer, const struct sql_cte *ctes, uint32_t n,
    bool recursive, struct str *with) MUST_CHECK;
int limit_translate(struct tr *t, const struct sql_limit *l, struct str *out) MUST_CHECK;
int order_of_items(struct tr *t, struct scope *s, const struct sql_orders *orders,
    struct item *items, uint32_t n_items, const char *clause, struct str *out) MUST_CHECK;
struct str order_value(struct tr *t, struct val *v);
/* Columns of a derived table made of a query's. */
struct col *cols_of_items(struct tr *t, const struct item *items, uint32_t n, struct str alias,
    const struct sql_names *names);
int plan_columns(struct tr *t, const struct query *q, const struct db_column **out, uint32_t *n);

/* ---- store.c ---- */

struct store_flags {
    bool ignore, multi;
    int row; /* its number, 0: not known */
};
/* The text that stores v in the column. */
int store_value(struct tr *t, const struct db_cat_column *c, struct val *v,
    struct store_flags flags, struct str *out) MUST_CHECK;
/* What an omitted column gets; *none: nothing (SQLite's NULL) */
int store_default(struct tr *t, const struct db_cat_table *table, const struct db_cat_column *c,
    struct scope *s, bool explicit_default, struct store_flags flags, struct str *out) MUST_CHECK;
int col_is_generated(const struct db_cat_column *c);

/* ---- insert.c, update.c, delete.c ---- */

int insert_translate(struct tr *t, const struct sql_insert *i) MUST_CHECK;
int update_translate(struct tr *t, const struct sql_update *u) MUST_CHECK;
int delete_translate(struct tr *t, const struct sql_delete *d) MUST_CHECK;
/* SET of UPDATE and of ON DUPLICATE KEY UPDATE, left to right. */
struct assign_out {
    struct str set;     /* "a" = ..., "b" = ... */
    struct str changed; /* condition: something changes */
};
int assigns_translate(struct tr *t, struct scope *s, struct source *target,
    const struct sql_assigns *set, struct store_flags flags, struct assign_out *out) MUST_CHECK;
/* name of SQLite's row number in the table */
struct str rowid_name(const struct db_cat_table *table);

#endif
