/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_INFO_OUT_H
#define EPHPM_DB_DDL_INFO_OUT_H

/*
 * Where the rows of information_schema's relations are put together: a producer calls one out_ for
 * each column, in order, again and again. Private to info*.c.
 */

#include "db/ddl/info.h"

struct info_out {
    struct arena *arena;
    const struct info_filter *filter; /* never NULL */
    bool temporary;                   /* the session's temporary tables too, which hide others */
    struct db_value *values;
    uint32_t width;
    uint32_t n, cap; /* values */
};

void out_null(struct info_out *o);
void out_str(struct info_out *o, struct str s);
/* NULL when p is NULL */
void out_opt(struct info_out *o, struct str s);
void out_int(struct info_out *o, int64_t v);
void out_uint(struct info_out *o, uint64_t v);
/* "2024-01-31 10:00:00", NULL for 0 */
void out_time(struct info_out *o, const struct info_facts *f, int64_t seconds);
void out_nulls(struct info_out *o, int n);

/* Is a row of that schema and table asked for? */
bool out_wants(const struct info_out *o, struct str schema, struct str table);
/* The next table that is asked for, or NULL; *i is where to go on. Those of our own schemas come
 * last, when `system` says so. */
const struct info_table *out_table(
    struct info_out *o, const struct info_facts *f, uint32_t *i, bool system);

typedef void info_rows_fn(struct info_out *o, const struct info_facts *f);

/* info_tables.c */
info_rows_fn info_rows_schemata, info_rows_tables, info_rows_views, info_rows_partitions;
/* info_columns.c */
info_rows_fn info_rows_columns, info_rows_statistics;
/* info_keys.c */
info_rows_fn info_rows_key_usage, info_rows_table_constraints, info_rows_referential,
    info_rows_checks;
/* info_server.c */
info_rows_fn info_rows_engines, info_rows_collations, info_rows_charsets, info_rows_applicability,
    info_rows_processes, info_rows_user_privileges, info_rows_user, info_rows_session_variables,
    info_rows_global_variables, info_rows_session_status, info_rows_global_status,
    info_rows_warnings, info_rows_privileges, info_rows_plugins, info_rows_digests;

#endif
