/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_INFO_H
#define EPHPM_DB_DDL_INFO_H

/*
 * information_schema, performance_schema and mysql as relations: what their columns are, and their
 * rows, computed of tables of the catalog and of facts that the caller has. store/ wraps all of
 * them in one module of virtual tables; SHOW and DESCRIBE are queries over them
 * (info_show_text()).
 *
 * Pure: rows lie in the arena they are asked for with, and borrow from the facts.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "db/catalog.h"
#include "db/error.h"
#include "db/sql/ast.h"
#include "db/value.h"

struct info_out; /* info_out.h */

struct info_schema {
    struct str name;
    struct str charset;
    struct str collation;
};

/* A table or view, with what its file says of it. */
struct info_table {
    const struct db_cat_table *table;
    uint64_t rows;
    uint64_t data_length; /* bytes */
    uint64_t index_length;
    uint64_t auto_increment; /* the next value, 0: it has none */
    int64_t updated;         /* seconds since 1970, 0: not known */
};

struct info_pair {
    struct str name;
    struct str value;
};

struct info_process {
    uint64_t id;
    struct str user;
    struct str host;
    struct str db;
    struct str command;
    int64_t seconds;
    struct str state;
    struct str info; /* p NULL: nothing runs */
};

struct info_warning {
    struct str level; /* "Note", "Warning", "Error" */
    int code;
    struct str message;
};

/* A shape of statements and what it cost; times in picoseconds, as MySQL has them, and in
 * microseconds since 1970. */
struct info_digest {
    struct str schema;
    struct str digest; /* hexadecimal */
    struct str text;
    uint64_t count, sum, average, most;
    uint64_t errors, rows_changed, rows_sent;
    int64_t first_seen, last_seen;
};

struct info_pairs {
    const struct info_pair *v;
    uint32_t n;
};

/* What the rows are made of. Lists that a relation does not need (info_relation.needs) may be
 * empty when it is asked for. */
struct info_facts {
    const struct info_schema *schemas; /* without information_schema and its like */
    uint32_t n_schemas;
    const struct info_table *tables; /* of all schemas, and the session's temporary ones */
    uint32_t n_tables;
    struct info_pairs session_variables;
    struct info_pairs global_variables;
    struct info_pairs session_status;
    struct info_pairs global_status;
    const struct info_process *processes;
    uint32_t n_processes;
    const struct info_warning *warnings;
    uint32_t n_warnings;
    const struct info_digest *digests;
    uint32_t n_digests;
    struct str user; /* of the session, and its host */
    struct str host;
    /* Seconds since 1970 as the session's time zone writes them ("2024-01-31 10:00:00"), 19 bytes
     * into out; NULL: UTC. */
    void (*local_time)(void *arg, int64_t seconds, char out[20]);
    void *arg;
};

/* Which facts a relation is made of. */
enum info_needs {
    INFO_NEEDS_TABLES = 1,
    INFO_NEEDS_SIZES = 2, /* rows, lengths, auto_increment of the tables: costly ones */
    INFO_NEEDS_SESSION_VARIABLES = 4,
    INFO_NEEDS_GLOBAL_VARIABLES = 8,
    INFO_NEEDS_SESSION_STATUS = 16,
    INFO_NEEDS_GLOBAL_STATUS = 32,
    INFO_NEEDS_PROCESSES = 64,
    INFO_NEEDS_WARNINGS = 128,
    INFO_NEEDS_SCHEMAS = 256,
    INFO_NEEDS_DIGESTS = 512,
};

struct info_relation {
    struct str schema; /* "information_schema", "performance_schema", "mysql" */
    struct str name;   /* "COLUMNS" */
    uint32_t needs;
    /* Columns that hold a table's schema and name: where a query says = of them, only those rows
     * need be made (info_filter); -1: there is none. */
    int32_t schema_column;
    int32_t table_column;
    uint32_t n_columns;
    /* private to info.c: */
    const char *columns;
    bool temporary; /* of SHOW: temporary tables too */
    void (*rows)(struct info_out *out, const struct info_facts *f);
};

/* Equality that a query asks for; p NULL: none. Compared as names are: without case. */
struct info_filter {
    struct str schema;
    struct str table;
};

struct info_rows {
    const struct db_value *values; /* n_rows * n_columns */
    uint32_t n_rows;
    uint32_t n_columns;
};

/* All relations; static. */
const struct info_relation *info_relations(uint32_t *n);
/* Names without case; NULL: there is none. */
const struct info_relation *info_find(struct str schema, struct str name);
/* Is it a schema of ours (information_schema, performance_schema, mysql, sys)? */
bool info_is_schema(struct str schema);
/*
 * The relation as a table of the catalog: is_system, its columns in upper case as MySQL 8 calls
 * them, sqlite_name "_ephpm_<schema>_<name>" in lower case, which is what the virtual table is
 * called. Columns of it are declared to SQLite as ddl_sqlite() would (info_declare()).
 */
struct db_cat_table *info_catalog(struct arena *arena, const struct info_relation *r) MUST_CHECK;
/* "CREATE TABLE x(...)" for sqlite3_declare_vtab(). */
struct str info_declare(struct arena *arena, const struct info_relation *r) MUST_CHECK;
/* The rows; filter may be NULL. */
struct info_rows info_list(struct arena *arena, const struct info_relation *r,
    const struct info_facts *facts, const struct info_filter *filter) MUST_CHECK;

/*
 * The SELECT, in MySQL's language, that answers a SHOW or DESCRIBE, with MySQL's names of its
 * columns; to be parsed with sql_mode ''. WHERE is printed of the tree. ERR_UNSUPPORTED, e
 * untouched: this one is the caller's (SHOW CREATE ..., SHOW ENGINE STATUS). ERR_INVAL with e: no
 * database is selected. Whether the table of SHOW COLUMNS and SHOW INDEX exists is the caller's
 * check.
 */
int info_show_text(struct arena *arena, const struct sql_show_stmt *s, const char *current_db,
    struct buf *text, struct db_error *e) MUST_CHECK;

/* Column facts that information_schema and the wire share. */
/* COLUMN_KEY: "PRI", "UNI", "MUL" or "". */
struct str info_column_key(const struct db_cat_table *t, uint32_t column);
/* EXTRA: "auto_increment", "DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)", ... */
struct str info_column_extra(struct arena *arena, const struct db_cat_column *c) MUST_CHECK;
/* COLUMN_DEFAULT; p NULL: none. */
struct str info_column_default(struct arena *arena, const struct db_cat_column *c) MUST_CHECK;

#endif
