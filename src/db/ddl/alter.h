/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_ALTER_H
#define EPHPM_DB_DDL_ALTER_H

/*
 * ALTER TABLE. alter.c applies the actions to what is built of the old table; drop.c those that
 * take away; change.c compares old and new and writes SQLite's statements. Private to ddl/.
 */

#include "db/ddl/build.h"

struct alter {
    struct build b;
    const struct sql_alter_table *stmt;
    struct ddl_rename *renames; /* of columns, old to new */
    uint32_t n_renames;
};

static inline const char *alter_cstr(struct alter *a, struct str s)
{
    return arena_str(a->b.arena, s).p;
}

/* The column by the name that it has in the old table: its place now, or -1. */
int32_t alter_old_column(const struct alter *a, struct str name);
/* drop.c: all DROP actions */
int alter_drops(struct alter *a) MUST_CHECK;
/* change.c: the way from old to new. */
int alter_change(struct alter *a, struct db_cat_table *t, struct ddl_change **out) MUST_CHECK;
/* differ.c: may the rows stay as they are when the column's type becomes another one? */
bool type_widens(const struct db_type *from, const struct db_type *to);
/* A TIMESTAMP's default that is another one in UTC. */
bool is_local_default(const struct tr_env *env, const struct db_cat_column *c);
/* Must the table be made anew? */
bool needs_rebuild(const struct alter *a, const struct db_cat_table *t);
/* Does MySQL copy the rows, too, and tell how many? It adds and drops columns without that. */
bool counts_rows(const struct alter *a, const struct db_cat_table *t);
/* Is the key the same index in SQLite, but for its name? */
bool same_index(const struct alter *a, const struct db_cat_key *from, const struct db_cat_table *t,
    const struct db_cat_key *to);

#endif
