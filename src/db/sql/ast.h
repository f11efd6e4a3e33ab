/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_AST_H
#define EPHPM_DB_SQL_AST_H

/*
 * The tree of a statement of MySQL. Made by parse.h; read by translate/ and store/.
 *
 * Everything lies in the arena the parser was given and points into it or into the statement's
 * text, so both must outlive the tree. Names are as written, without quotes; empty where absent.
 * Lists are pointer and count; pointers to what may be absent are NULL then. Nobody changes a tree
 * but who made it.
 */

#include "db/type.h"

struct sql_expr;
struct sql_query;
struct sql_window;

struct sql_exprs {
    struct sql_expr **v;
    uint32_t n;
};

struct sql_names {
    struct str *v;
    uint32_t n;
};

/* schema.table; schema empty when it was not written */
struct sql_name {
    struct str schema;
    struct str name;
};

/* ---- expressions ---- */

enum sql_expr_kind {
    SQL_NULL,
    SQL_INT,           /* u; what does not fit 64 bits is a SQL_DECIMAL */
    SQL_DECIMAL,       /* s: "1.50", as written without a leading + */
    SQL_DOUBLE,        /* s: "1.5e10" */
    SQL_STRING,        /* s decoded; charset if it had an introducer ("binary" for _binary) */
    SQL_HEX,           /* s: the bytes of x'..', 0x..; of b'..' with is_bit */
    SQL_BOOL,          /* u: 0 or 1 */
    SQL_TEMPORAL,      /* base DB_T_DATE, TIME or DATETIME (TIMESTAMP '...'), s the text */
    SQL_PARAM,         /* u: index from 0 */
    SQL_DEFAULT,       /* the keyword in VALUES or SET; with a: DEFAULT(column) */
    SQL_COLUMN,        /* schema, table, name */
    SQL_STAR,          /* schema, table; only in select lists and COUNT(*) */
    SQL_USER_VAR,      /* name without @ */
    SQL_USER_ASSIGN,   /* @name := a */
    SQL_SYSTEM_VAR,    /* @@name; scope */
    SQL_UNARY,         /* op, a */
    SQL_BINARY,        /* op, a, b */
    SQL_IS,            /* a IS [not] test */
    SQL_LIKE,          /* a [not] LIKE b ESCAPE c */
    SQL_REGEXP,        /* a [not] REGEXP b */
    SQL_SOUNDS_LIKE,   /* a, b */
    SQL_BETWEEN,       /* a [not] BETWEEN b AND c */
    SQL_IN,            /* a [not] IN (list) */
    SQL_IN_QUERY,      /* a [not] IN (query) */
    SQL_MEMBER_OF,     /* a MEMBER OF (b) */
    SQL_QUANTIFIED,    /* a op ANY (query), or ALL with is_all */
    SQL_EXISTS,        /* query */
    SQL_SUBQUERY,      /* (query) as a value or a row */
    SQL_ROW,           /* (list), ROW(list); at least two */
    SQL_CASE,          /* a or NULL; list: when, then, when, then ...; b: else or NULL */
    SQL_CAST,          /* a, type (CAST and CONVERT(a, type)) */
    SQL_CONVERT_USING, /* a, charset */
    SQL_COLLATE,       /* a, name */
    SQL_CALL,          /* name, list: every function that has no kind of its own; aggregates and
                          window functions too: is_distinct, window, COUNT(*) has a SQL_STAR */
    SQL_GROUP_CONCAT,  /* list, is_distinct, order, s separator ("," if none was written) */
    SQL_DATE_ADD,  /* a + INTERVAL b unit; not: minus. Also DATE_ADD, DATE_SUB, ADDDATE, SUBDATE */
    SQL_EXTRACT,   /* unit FROM a */
    SQL_TRIM,      /* a: what is trimmed, b: what off it or NULL; side */
    SQL_VALUES_OF, /* VALUES(column) in ON DUPLICATE KEY UPDATE: a is the column */
    SQL_ARROW,     /* a -> b; ->> with is_all */
    SQL_MATCH,     /* MATCH (list) AGAINST (a mode) */
};

enum sql_op {
    SQL_OP_NONE,
    /* unary */
    SQL_OP_NEG,
    SQL_OP_PLUS,
    SQL_OP_NOT, /* NOT and ! */
    SQL_OP_BIT_NOT,
    SQL_OP_BINARY, /* BINARY a */
    /* binary */
    SQL_OP_OR,
    SQL_OP_XOR,
    SQL_OP_AND,
    SQL_OP_EQ,
    SQL_OP_NE,
    SQL_OP_LT,
    SQL_OP_LE,
    SQL_OP_GT,
    SQL_OP_GE,
    SQL_OP_NULL_SAFE_EQ,
    SQL_OP_ADD,
    SQL_OP_SUB,
    SQL_OP_MUL,
    SQL_OP_DIV,
    SQL_OP_INT_DIV,
    SQL_OP_MOD,
    SQL_OP_BIT_OR,
    SQL_OP_BIT_AND,
    SQL_OP_BIT_XOR,
    SQL_OP_SHIFT_LEFT,
    SQL_OP_SHIFT_RIGHT,
    SQL_OP_CONCAT, /* || with PIPES_AS_CONCAT; without it is SQL_OP_OR */
};

enum sql_test { SQL_TEST_NULL, SQL_TEST_TRUE, SQL_TEST_FALSE, SQL_TEST_UNKNOWN };
enum sql_scope {
    SQL_SCOPE_NONE,
    SQL_SCOPE_SESSION,
    SQL_SCOPE_GLOBAL,
    SQL_SCOPE_PERSIST,
    SQL_SCOPE_PERSIST_ONLY
};
enum sql_side { SQL_SIDE_BOTH, SQL_SIDE_LEADING, SQL_SIDE_TRAILING };
enum sql_match { SQL_MATCH_NATURAL, SQL_MATCH_BOOLEAN, SQL_MATCH_EXPANSION };

/* X(name, text) */
#define SQL_UNIT_LIST(X)                        \
    X(MICROSECOND, "MICROSECOND")               \
    X(SECOND, "SECOND")                         \
    X(MINUTE, "MINUTE")                         \
    X(HOUR, "HOUR")                             \
    X(DAY, "DAY")                               \
    X(WEEK, "WEEK")                             \
    X(MONTH, "MONTH")                           \
    X(QUARTER, "QUARTER")                       \
    X(YEAR, "YEAR")                             \
    X(SECOND_MICROSECOND, "SECOND_MICROSECOND") \
    X(MINUTE_MICROSECOND, "MINUTE_MICROSECOND") \
    X(MINUTE_SECOND, "MINUTE_SECOND")           \
    X(HOUR_MICROSECOND, "HOUR_MICROSECOND")     \
    X(HOUR_SECOND, "HOUR_SECOND")               \
    X(HOUR_MINUTE, "HOUR_MINUTE")               \
    X(DAY_MICROSECOND, "DAY_MICROSECOND")       \
    X(DAY_SECOND, "DAY_SECOND")                 \
    X(DAY_MINUTE, "DAY_MINUTE")                 \
    X(DAY_HOUR, "DAY_HOUR")                     \
    X(YEAR_MONTH, "YEAR_MONTH")

enum sql_unit {
    SQL_UNIT_NONE,
#define SQL_UNIT_ENUM(name, text) SQL_UNIT_##name,
    SQL_UNIT_LIST(SQL_UNIT_ENUM)
#undef SQL_UNIT_ENUM
};

struct sql_order {
    struct sql_expr *expr;
    bool desc;
};

struct sql_orders {
    struct sql_order *v;
    uint32_t n;
};

struct sql_expr {
    enum sql_expr_kind kind;
    enum sql_op op;
    uint32_t pos;   /* bytes of the statement's text that it was written as, from pos to end: */
    uint32_t end;   /* the name of a column of a result without alias */
    uint32_t depth; /* of the tree that this is the root of; the parser bounds it (500) */
    bool not;
    bool is_distinct;
    bool is_all;
    bool is_bit;
    bool is_paren; /* written in parentheses */
    union {
        enum sql_test test;
        enum sql_scope scope;
        enum sql_side side;
        enum sql_match match;
        enum sql_unit unit; /* also SQL_CALL of TIMESTAMPADD, TIMESTAMPDIFF (the first argument) */
        enum db_base base;
    };
    uint64_t u;
    struct str s;
    struct str schema;
    struct str table;
    struct str name;
    struct str charset;
    struct sql_expr *a;
    struct sql_expr *b;
    struct sql_expr *c;
    struct sql_exprs list;
    struct sql_query *query;
    struct db_type *type;
    struct sql_orders order;
    struct sql_window *window; /* OVER */
};

enum sql_bound {
    SQL_BOUND_UNBOUNDED_PRECEDING,
    SQL_BOUND_PRECEDING,
    SQL_BOUND_CURRENT_ROW,
    SQL_BOUND_FOLLOWING,
    SQL_BOUND_UNBOUNDED_FOLLOWING,
};

/* OVER name, OVER (...), and an entry of the WINDOW clause. */
struct sql_window {
    struct str name; /* of an entry */
    struct str base; /* of the window it refers to */
    bool only_name;  /* OVER name */
    struct sql_exprs partition;
    struct sql_orders order;
    bool has_frame;
    bool is_range; /* else ROWS */
    enum sql_bound from, to;
    struct sql_expr *from_expr; /* may be a SQL_DATE_ADD with a NULL: INTERVAL */
    struct sql_expr *to_expr;
};

/* ---- queries ---- */

enum sql_table_kind { SQL_TABLE_NAME, SQL_TABLE_DERIVED, SQL_TABLE_JOIN, SQL_TABLE_JSON };
enum sql_join { SQL_JOIN_INNER, SQL_JOIN_LEFT, SQL_JOIN_RIGHT, SQL_JOIN_COMMA };

struct sql_table {
    enum sql_table_kind kind;
    struct str alias;
    bool is_paren;
    /* NAME. Index hints and partitions are read and dropped. */
    struct sql_name name;
    /* DERIVED */
    struct sql_query *query;
    struct sql_names columns;
    bool lateral;
    /* JOIN. CROSS JOIN, STRAIGHT_JOIN and INNER JOIN are INNER. */
    enum sql_join join;
    bool natural;
    bool straight;
    struct sql_table *left, *right;
    struct sql_expr *on;
    struct sql_names using_columns;
};

struct sql_item {
    struct sql_expr *expr;
    struct str alias; /* empty: the name is the expression's text, a column's its name */
    bool has_alias;
};

struct sql_items {
    struct sql_item *v;
    uint32_t n;
};

struct sql_limit {
    struct sql_expr *count;  /* SQL_INT, SQL_PARAM, or NULL: no limit */
    struct sql_expr *offset; /* or NULL */
};

enum sql_body_kind {
    SQL_BODY_SELECT,
    SQL_BODY_SET,
    SQL_BODY_VALUES,
    SQL_BODY_TABLE,
    SQL_BODY_QUERY
};
enum sql_set_op { SQL_UNION, SQL_EXCEPT, SQL_INTERSECT };

struct sql_body {
    enum sql_body_kind kind;
    /* SELECT */
    bool distinct;
    bool calc_found_rows;
    bool rollup;
    struct sql_items items;
    struct sql_table *from; /* NULL: none, or DUAL */
    struct sql_expr *where;
    struct sql_orders group;
    struct sql_expr *having;
    struct sql_window **windows;
    uint32_t n_windows;
    /* SET */
    enum sql_set_op op;
    bool all;
    struct sql_body *left, *right;
    /* VALUES ROW(..), ROW(..) */
    struct sql_exprs *rows;
    uint32_t n_rows;
    /* TABLE t */
    struct sql_name table;
    /* QUERY: a query in parentheses */
    struct sql_query *query;
};

struct sql_cte {
    struct str name;
    struct sql_names columns;
    struct sql_query *query;
};

enum sql_lock { SQL_LOCK_NONE, SQL_LOCK_SHARE, SQL_LOCK_UPDATE };

struct sql_query {
    bool recursive;
    struct sql_cte *ctes;
    uint32_t n_ctes;
    struct sql_body *body;
    struct sql_orders order;
    struct sql_limit limit;
    enum sql_lock lock;
    bool nowait;
    bool skip_locked;
    struct sql_names into; /* user variables */
};

/* ---- changes ---- */

struct sql_assign {
    struct sql_expr *column; /* SQL_COLUMN */
    struct sql_expr *value;  /* may be SQL_DEFAULT */
};

struct sql_assigns {
    struct sql_assign *v;
    uint32_t n;
};

struct sql_insert {
    bool replace;
    bool ignore;
    struct sql_name table;
    struct sql_names columns;
    bool has_columns;
    struct sql_exprs *rows; /* of VALUES and SET (one row); an empty row is () */
    uint32_t n_rows;
    struct sql_query *query; /* INSERT ... SELECT, TABLE */
    struct str row_alias;    /* VALUES ... AS new(m, n) */
    struct sql_names column_aliases;
    struct sql_assigns on_duplicate;
};

struct sql_update {
    bool ignore;
    bool recursive;
    struct sql_cte *ctes;
    uint32_t n_ctes;
    struct sql_table *table; /* a name, or joins */
    struct sql_assigns set;
    struct sql_expr *where;
    struct sql_orders order;
    struct sql_limit limit;
};

struct sql_delete {
    bool ignore;
    bool recursive;
    struct sql_cte *ctes;
    uint32_t n_ctes;
    struct sql_table *from;
    struct sql_name *targets; /* of the forms with several tables: names or aliases in from */
    uint32_t n_targets;       /* 0: DELETE FROM one table */
    struct sql_expr *where;
    struct sql_orders order;
    struct sql_limit limit;
};

/* ---- definitions ---- */

enum sql_key_kind {
    SQL_KEY_PRIMARY,
    SQL_KEY_UNIQUE,
    SQL_KEY_INDEX,
    SQL_KEY_FULLTEXT,
    SQL_KEY_SPATIAL
};

struct sql_key_part {
    struct str column;     /* or: */
    struct sql_expr *expr; /* functional part */
    int32_t length;        /* prefix, 0: none */
    bool desc;
};

struct sql_key {
    enum sql_key_kind kind;
    struct str name;       /* of the index */
    struct str constraint; /* CONSTRAINT name; the index's name when that is empty */
    struct sql_key_part *parts;
    uint32_t n_parts;
    struct str using_type; /* "BTREE", "HASH" */
    struct str comment;
    bool invisible;
};

enum sql_fk_action {
    SQL_FK_NONE,
    SQL_FK_RESTRICT,
    SQL_FK_CASCADE,
    SQL_FK_SET_NULL,
    SQL_FK_NO_ACTION,
    SQL_FK_SET_DEFAULT
};

struct sql_fk {
    struct str name;
    struct str index;
    struct sql_names columns;
    struct sql_name ref_table;
    struct sql_names ref_columns;
    enum sql_fk_action on_delete, on_update;
};

struct sql_check {
    struct str name;
    struct sql_expr *expr;
    bool not_enforced;
};

enum sql_nullable { SQL_NULL_UNSAID, SQL_NULL_YES, SQL_NULL_NO };

struct sql_column_def {
    struct str name;
    struct db_type type; /* collation "_bin": BINARY was written, the _bin one of the charset */
    bool serial; /* SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE, already spelled out here
                  */
    enum sql_nullable nullable;
    struct sql_expr
        *default_value; /* literal, or CURRENT_TIMESTAMP as SQL_CALL, or any with is_paren */
    bool on_update_now;
    bool auto_increment;
    bool unique;
    bool primary;
    bool invisible;
    bool has_comment;
    struct str comment;
    struct sql_expr *generated;
    bool stored;
    struct sql_check *checks;
    uint32_t n_checks;
    struct sql_fk *references; /* MySQL reads and ignores it here */
};

/* name = value of a table: ENGINE, AUTO_INCREMENT, CHARSET, COLLATE, COMMENT, ROW_FORMAT, ...;
 * names in upper case, DEFAULT dropped, CHARACTER SET as CHARSET. */
struct sql_option {
    struct str name;
    struct str value;
};

struct sql_table_def {
    struct sql_column_def *columns;
    uint32_t n_columns;
    struct sql_key *keys;
    uint32_t n_keys;
    struct sql_fk *fks;
    uint32_t n_fks;
    struct sql_check *checks;
    uint32_t n_checks;
    struct sql_option *options;
    uint32_t n_options;
    struct str partition; /* text of PARTITION BY ..., or empty */
};

struct sql_create_table {
    bool or_replace; /* MariaDB's */
    bool temporary;
    bool if_not_exists;
    struct sql_name table;
    struct sql_table_def def;
    struct sql_name like; /* CREATE TABLE t LIKE u */
    struct sql_query *as;
    bool as_ignore;
    bool as_replace;
};

enum sql_alter_kind {
    SQL_ALTER_ADD_COLUMN,
    SQL_ALTER_DROP_COLUMN,
    SQL_ALTER_MODIFY_COLUMN,
    SQL_ALTER_CHANGE_COLUMN, /* name becomes column.name */
    SQL_ALTER_RENAME_COLUMN, /* name, new_name */
    SQL_ALTER_SET_DEFAULT,   /* name, column.default_value */
    SQL_ALTER_DROP_DEFAULT,
    SQL_ALTER_ADD_KEY,
    SQL_ALTER_DROP_KEY,
    SQL_ALTER_DROP_PRIMARY,
    SQL_ALTER_RENAME_KEY,
    SQL_ALTER_KEY_VISIBLE, /* name, visible in yes */
    SQL_ALTER_ADD_FK,
    SQL_ALTER_DROP_FK,
    SQL_ALTER_ADD_CHECK,
    SQL_ALTER_DROP_CHECK,
    SQL_ALTER_DROP_CONSTRAINT,
    SQL_ALTER_RENAME_TABLE, /* table */
    SQL_ALTER_OPTIONS,
    SQL_ALTER_CONVERT, /* options CHARSET and COLLATE */
    SQL_ALTER_ORDER,
    SQL_ALTER_NOTHING, /* ENABLE KEYS, ALGORITHM=, LOCK=, FORCE, partitions ... */
};

struct sql_alter_action {
    enum sql_alter_kind kind;
    bool if_exists; /* MariaDB's; IF NOT EXISTS of ADD too */
    bool first;
    bool yes;
    struct str after;
    struct str name;
    struct str new_name;
    struct sql_column_def column;
    struct sql_key key;
    struct sql_fk fk;
    struct sql_check check;
    struct sql_name table;
    struct sql_option *options;
    uint32_t n_options;
};

struct sql_alter_table {
    struct sql_name table;
    struct sql_alter_action *actions;
    uint32_t n_actions;
};

struct sql_create_index {
    struct sql_name table;
    struct sql_key key;
    bool if_not_exists;
};

struct sql_drop {
    bool if_exists;
    bool temporary;
    struct sql_name *names;
    uint32_t n_names;
    struct str index; /* DROP INDEX index ON names[0] */
};

struct sql_create_view {
    bool or_replace;
    bool if_not_exists;
    struct sql_name view;
    struct sql_names columns;
    struct sql_query *query;
    struct str text;         /* of the query, as written */
    struct str check_option; /* "CASCADED", "LOCAL" or empty */
};

struct sql_rename {
    struct sql_name from, to;
};

/* ---- the rest ---- */

enum sql_set_kind {
    SQL_SET_USER,   /* @name = value */
    SQL_SET_SYSTEM, /* scope, name = value; SQL_DEFAULT means the default */
    SQL_SET_NAMES,  /* name: charset (or "DEFAULT"), collation */
    SQL_SET_CHARSET,
    SQL_SET_TRANSACTION, /* scope (NONE: the next one), isolation and access as far as said */
    SQL_SET_NOTHING,     /* SET PASSWORD, SET ROLE, ... : value is what it was, in name */
};

struct sql_set {
    enum sql_set_kind kind;
    enum sql_scope scope;
    struct str name;
    struct str collation;
    struct sql_expr *value; /* an identifier that is no variable (SET x = utf8) is a SQL_STRING */
    struct str isolation;   /* "READ-COMMITTED", ..., or empty */
    int access;             /* 0 unsaid, 1 READ ONLY, 2 READ WRITE */
};

enum sql_show {
    SQL_SHOW_BINARY_LOGS,
    SQL_SHOW_CHARSET,
    SQL_SHOW_COLLATION,
    SQL_SHOW_COLUMNS,
    SQL_SHOW_CREATE_DATABASE,
    SQL_SHOW_CREATE_TABLE,
    SQL_SHOW_CREATE_VIEW,
    SQL_SHOW_CREATE_OTHER, /* PROCEDURE, FUNCTION, TRIGGER, EVENT, USER: option names it */
    SQL_SHOW_DATABASES,
    SQL_SHOW_ENGINES,
    SQL_SHOW_ENGINE_STATUS,
    SQL_SHOW_ERRORS,
    SQL_SHOW_EVENTS,
    SQL_SHOW_FUNCTION_STATUS,
    SQL_SHOW_GRANTS,
    SQL_SHOW_INDEX,
    SQL_SHOW_MASTER_STATUS,
    SQL_SHOW_OPEN_TABLES,
    SQL_SHOW_PLUGINS,
    SQL_SHOW_PRIVILEGES,
    SQL_SHOW_PROCEDURE_STATUS,
    SQL_SHOW_PROCESSLIST,
    SQL_SHOW_PROFILES,
    SQL_SHOW_REPLICA_STATUS,
    SQL_SHOW_STATUS,
    SQL_SHOW_TABLES,
    SQL_SHOW_TABLE_STATUS,
    SQL_SHOW_TRIGGERS,
    SQL_SHOW_VARIABLES,
    SQL_SHOW_WARNINGS,
};

struct sql_show_stmt {
    enum sql_show what;
    bool full;
    bool extended;
    bool count; /* SHOW COUNT(*) WARNINGS / ERRORS */
    bool if_not_exists;
    enum sql_scope scope;
    struct sql_name table; /* or database in schema */
    struct sql_expr *like; /* SQL_STRING */
    struct sql_expr *where;
    struct sql_limit limit;
    struct str option;
};

enum sql_stmt_kind {
    SQL_STMT_EMPTY, /* only comments */
    SQL_STMT_QUERY, /* SELECT, VALUES, TABLE, WITH ... SELECT */
    SQL_STMT_INSERT,
    SQL_STMT_UPDATE,
    SQL_STMT_DELETE,
    SQL_STMT_CREATE_TABLE,
    SQL_STMT_ALTER_TABLE,
    SQL_STMT_CREATE_INDEX,
    SQL_STMT_DROP_INDEX,
    SQL_STMT_DROP_TABLE,
    SQL_STMT_DROP_VIEW,
    SQL_STMT_TRUNCATE,
    SQL_STMT_RENAME_TABLE,
    SQL_STMT_CREATE_VIEW,
    SQL_STMT_CREATE_DATABASE, /* name, if_exists (= IF NOT EXISTS), options */
    SQL_STMT_ALTER_DATABASE,
    SQL_STMT_DROP_DATABASE,
    SQL_STMT_BEGIN, /* START TRANSACTION, BEGIN: access, snapshot */
    SQL_STMT_COMMIT,
    SQL_STMT_ROLLBACK,
    SQL_STMT_SAVEPOINT,
    SQL_STMT_ROLLBACK_TO,
    SQL_STMT_RELEASE,
    SQL_STMT_LOCK_TABLES,
    SQL_STMT_UNLOCK_TABLES,
    SQL_STMT_SET,
    SQL_STMT_SHOW,
    SQL_STMT_DESCRIBE, /* DESCRIBE t [column or 'pattern']: show */
    SQL_STMT_EXPLAIN,  /* inner, format */
    SQL_STMT_USE,
    SQL_STMT_DO,      /* exprs */
    SQL_STMT_PREPARE, /* name FROM exprs[0] (a SQL_STRING or SQL_USER_VAR) */
    SQL_STMT_EXECUTE, /* name USING exprs (user variables) */
    SQL_STMT_DEALLOCATE,
    SQL_STMT_KILL,  /* exprs[0]; query_only */
    SQL_STMT_ADMIN, /* ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE: name says which, drop.names
                     */
    SQL_STMT_FLUSH, /* does nothing */
    SQL_STMT_ACCOUNT, /* GRANT, REVOKE, CREATE/ALTER/DROP USER/ROLE: a warning */
    SQL_STMT_CALL,    /* name */
    SQL_STMT_REFUSED, /* understood and not supported: name says what ("CREATE PROCEDURE",
                         "LOAD DATA", "XA", "HANDLER", "SELECT ... INTO OUTFILE", ...) */
};

struct sql_stmt {
    enum sql_stmt_kind kind;
    struct str text; /* of this statement alone, without the final ; */
    uint32_t n_params;
    union {
        struct sql_query *query;
        struct sql_insert *insert;
        struct sql_update *update;
        struct sql_delete *delete;
        struct sql_create_table *create_table;
        struct sql_alter_table *alter_table;
        struct sql_create_index *create_index;
        struct sql_drop *drop; /* DROP ..., TRUNCATE, ADMIN */
        struct sql_create_view *create_view;
        struct sql_show_stmt *show;
        struct sql_stmt *inner;
    };
    /* What the smaller kinds need. */
    struct str name;
    struct sql_exprs exprs;
    struct sql_set *sets;
    uint32_t n_sets;
    struct sql_rename *renames;
    uint32_t n_renames;
    struct sql_option *options;
    uint32_t n_options;
    struct {
        struct sql_name table;
        struct str alias;
        bool write;
    } *locks;
    uint32_t n_locks;
    bool if_exists;
    bool snapshot;
    bool chain;
    bool release;
    bool query_only;
    int access; /* as in struct sql_set */
};

#endif
