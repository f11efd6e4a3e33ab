/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_BUILD_H
#define EPHPM_DB_DDL_BUILD_H

/*
 * A table that is being made, of CREATE or of an old one and ALTER: lists that grow, keys that name
 * their columns instead of numbering them. build_finish() checks the whole and makes the table of
 * the catalog. Private to ddl/. Everything lies in the statement's arena.
 *
 *   column.c    types and attributes of a column
 *   literal.c   default values: checked and brought to the form they lie in
 *   key.c       keys: names, order, what may be in them
 *   foreign_key.c, check.c
 *   expr.c      expressions kept as MySQL's text
 *   option.c    table options
 *   finish.c    the table of the catalog
 */

#include "base/err.h"
#include "db/charset.h"
#include "db/ddl/ddl.h"

struct build_part {
    struct str column; /* or: */
    struct str expr;
    int32_t length;
    bool desc;
};

struct build_key {
    struct db_cat_key k; /* without its parts; name may be empty until build_keys() */
    struct build_part *parts;
    uint32_t n_parts;
    int32_t old; /* index of the old table's key that it is, or -1 */
};

struct build_column {
    struct db_cat_column c;
    int32_t old;      /* index in the old table, or -1 */
    bool null_said;   /* NULL was written */
    bool changed;     /* defined anew by the statement */
    bool numbered;    /* an auto column that gives existing rows their numbers */
    struct str added; /* what existing rows get: SQLite's text */
};

struct build {
    struct arena *arena;
    const struct tr_env *env;
    const struct ddl_defaults *defaults;
    struct db_error *e;
    const struct db_cat_table *old;
    bool strict;
    bool fk_checks;
    struct db_cat_table t; /* everything that is no list */
    struct build_column *columns;
    uint32_t n_columns, cap_columns;
    struct build_key *keys;
    uint32_t n_keys, cap_keys;
    struct db_cat_fk *fks;
    uint32_t n_fks, cap_fks;
    uint32_t kept_fks; /* of the old table; those after are new */
    struct db_cat_check *checks;
    uint32_t n_checks, cap_checks;
    uint64_t auto_increment;
};

void build_init(struct build *b, struct arena *arena, const struct tr_env *env,
    const struct ddl_defaults *defaults, struct db_error *e);
/* Takes everything of the table over. */
void build_of(struct build *b, const struct db_cat_table *old);
/* A list of *n items of `size` bytes with room for one more, zeroed, which is counted. */
void *build_more(
    struct arena *arena, void **list, uint32_t *n, uint32_t *cap, size_t size) MUST_CHECK;
#define BUILD_MORE(b, list) \
    build_more(             \
        (b)->arena, (void **)&(b)->list, &(b)->n_##list, &(b)->cap_##list, sizeof(*(b)->list))

int32_t build_column_find(const struct build *b, struct str name);
int32_t build_key_find(const struct build *b, struct str name);
/* Too long or bad identifiers: 1059, and `bad` for those with a space at the end or empty. */
int build_name(struct build *b, struct str name, enum db_error_name bad) MUST_CHECK;

/* create.c: may a table be called so? */
int build_table_name(struct build *b, struct str name) MUST_CHECK;

/* column.c: the definition's column; with its keys, checks (those are added to the lists). place:
 * where it goes, at most n_columns. */
int build_add_column(struct build *b, const struct sql_column_def *def, uint32_t place) MUST_CHECK;
int build_change_column(struct build *b, const struct sql_column_def *def, uint32_t at) MUST_CHECK;
/* The type with its defaults and limits; charset and collation set. */
int build_type(struct build *b, struct str column, struct db_type *t) MUST_CHECK;
/* charset and collation of what was written (either may be empty), else those inherited; 1115,
 * 1273, 1253. */
int build_charset(struct build *b, struct str *charset, struct str *collation, struct str inherit,
    struct str inherit_collation) MUST_CHECK;
int build_default(struct build *b, struct db_cat_column *c, const struct sql_expr *v) MUST_CHECK;
/* The SQLite text of the value that a column without default gives rows that are there already. */
struct str build_zero(struct build *b, const struct db_cat_column *c);

/* literal.c: the value as it lies in SQLite; 1067. */
int build_literal(struct build *b, const struct db_cat_column *c, const struct sql_expr *v,
    struct str *out) MUST_CHECK;

/* key.c */
int build_add_key(struct build *b, const struct sql_key *key) MUST_CHECK;
/* Names, order, what is in them; sets the columns' flags. */
int build_keys(struct build *b) MUST_CHECK;
/* Names and order only, of keys that SQLite has. */
void build_keys_as_they_are(struct build *b);
void build_drop_key(struct build *b, uint32_t at);
/* Does the key begin with those columns, whole? */
bool build_key_covers(const struct build_key *k, const struct str *columns, uint32_t n);

/* foreign_key.c */
int build_add_fk(struct build *b, const struct sql_fk *fk) MUST_CHECK;
/* Names, indexes and fit of all new ones. */
int build_fks(struct build *b) MUST_CHECK;

/* check.c */
int build_add_check(struct build *b, const struct sql_check *check, struct str column) MUST_CHECK;
int build_checks(struct build *b) MUST_CHECK;

/* option.c */
int build_options(struct build *b, const struct sql_option *options, uint32_t n) MUST_CHECK;

/* expr.c: MySQL's text of the expression; the tree of such a text. */
struct str build_print(struct arena *arena, const struct sql_expr *e);
int build_parse(
    struct arena *arena, struct str text, struct sql_expr **out, struct db_error *e) MUST_CHECK;
/* Calls cb for each column in the expression; cb may change its name (trees are the caller's). */
typedef void build_column_cb(void *arg, struct sql_expr *column);
void build_walk(struct sql_expr *e, build_column_cb *cb, void *arg);
/* Does the text name the column? */
bool build_uses(struct arena *arena, struct str text, struct str column);
/* The text with columns called otherwise. */
struct str build_rename(
    struct arena *arena, struct str text, const struct ddl_rename *renames, uint32_t n);

/* finish.c */
int build_finish(struct build *b, struct db_cat_table **out) MUST_CHECK;
/* The same without any check. */
struct db_cat_table *build_table(struct build *b) MUST_CHECK;

/* sqlite.c: parts of its statements. */
/* "name" TYPE ... as in CREATE TABLE. */
int sqlite_column(struct buf *out, struct arena *arena, const struct db_cat_table *t, uint32_t at,
    const struct tr_env *env, struct db_error *e) MUST_CHECK;
/* CREATE INDEX; false: SQLite has none for such a key. */
int sqlite_index(struct buf *out, struct arena *arena, const struct db_cat_table *t,
    const struct db_cat_key *k, struct str name, const struct tr_env *env,
    struct db_error *e) MUST_CHECK;
/* Is there an index of SQLite for the key? */
bool sqlite_has_index(const struct db_cat_table *t, const struct db_cat_key *k);
/* " TEXT COLLATE ..." */
void sqlite_type(struct buf *out, const struct db_type *t);
void sqlite_name(struct buf *out, struct str name);
void sqlite_string(struct buf *out, struct str s);
/* "main" or "temp", quoted */
void sqlite_schema(struct buf *out, const struct db_cat_table *t);

#endif
