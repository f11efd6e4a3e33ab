/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "db/ddl/info.h"
#include "db/sql/print.h"

/* Which database or table a SHOW is about; the condition that follows. */
enum about { ANYTHING, DATABASE, TABLE };

/*
 * One SHOW as a query: "expression|name of the column" of a relation, with a condition, and what it
 * is ordered by. LIKE is asked of the first column, or the one that `like` names. %D in a text is
 * the database, quoted as a name's part.
 */
struct form {
    enum sql_show what;
    const char *columns;
    const char *full; /* the columns of SHOW FULL, NULL: the same */
    const char *from;
    const char *where; /* without LIKE; %D is the database and %T the table as strings */
    const char *order;
    const char *like;
    enum about about;
};

#define CLIENT                                                         \
    ";CHARACTER_SET_CLIENT|character_set_client;COLLATION_CONNECTION|" \
    "collation_connection;DATABASE_COLLATION|Database Collation"
#define ROUTINE                                                              \
    "ROUTINE_SCHEMA|Db;ROUTINE_NAME|Name;ROUTINE_TYPE|Type;DEFINER|Definer;" \
    "LAST_ALTERED|Modified;CREATED|Created;SECURITY_TYPE|Security_type;"     \
    "ROUTINE_COMMENT|Comment" CLIENT
#define PAIR    "VARIABLE_NAME|Variable_name;VARIABLE_VALUE|Value"
#define PROCESS "ID|Id;USER|User;HOST|Host;DB|db;COMMAND|Command;TIME|Time;STATE|State;"

static const struct form forms[] = {
    {SQL_SHOW_CHARSET,
        "CHARACTER_SET_NAME|Charset;DESCRIPTION|Description;DEFAULT_COLLATE_NAME|Default "
        "collation;MAXLEN|Maxlen",
        NULL, "CHARACTER_SETS", NULL, "CHARACTER_SET_NAME", "Charset", ANYTHING},
    {SQL_SHOW_COLLATION,
        "COLLATION_NAME|Collation;CHARACTER_SET_NAME|Charset;ID|Id;IS_DEFAULT|Default;"
        "IS_COMPILED|Compiled;SORTLEN|Sortlen;PAD_ATTRIBUTE|Pad_attribute",
        NULL, "COLLATIONS", NULL, "COLLATION_NAME", "Collation", ANYTHING},
    {SQL_SHOW_COLUMNS,
        "COLUMN_NAME|Field;COLUMN_TYPE|Type;IS_NULLABLE|Null;COLUMN_KEY|Key;"
        "COLUMN_DEFAULT|Default;EXTRA|Extra",
        "COLUMN_NAME|Field;COLUMN_TYPE|Type;COLLATION_NAME|Collation;IS_NULLABLE|Null;"
        "COLUMN_KEY|Key;COLUMN_DEFAULT|Default;EXTRA|Extra;PRIVILEGES|Privileges;"
        "COLUMN_COMMENT|Comment",
        "_COLUMNS", NULL, "ORDINAL_POSITION", "Field", TABLE},
    {SQL_SHOW_DATABASES, "SCHEMA_NAME|Database", NULL, "SCHEMATA", NULL, "SCHEMA_NAME", "Database",
        ANYTHING},
    {SQL_SHOW_ENGINES,
        "ENGINE|Engine;SUPPORT|Support;COMMENT|Comment;TRANSACTIONS|Transactions;XA|XA;"
        "SAVEPOINTS|Savepoints",
        NULL, "ENGINES", NULL, NULL, "Engine", ANYTHING},
    {SQL_SHOW_ERRORS, "LEVEL|Level;CODE|Code;MESSAGE|Message", NULL, "_WARNINGS", "LEVEL = 'Error'",
        NULL, "Level", ANYTHING},
    {SQL_SHOW_WARNINGS, "LEVEL|Level;CODE|Code;MESSAGE|Message", NULL, "_WARNINGS", NULL, NULL,
        "Level", ANYTHING},
    {SQL_SHOW_EVENTS,
        "EVENT_SCHEMA|Db;EVENT_NAME|Name;DEFINER|Definer;TIME_ZONE|Time zone;EVENT_TYPE|Type;"
        "EXECUTE_AT|Execute at;INTERVAL_VALUE|Interval value;INTERVAL_FIELD|Interval field;"
        "STARTS|Starts;ENDS|Ends;STATUS|Status;ORIGINATOR|Originator" CLIENT,
        NULL, "EVENTS", "EVENT_SCHEMA = %D", "EVENT_NAME", "Name", DATABASE},
    {SQL_SHOW_FUNCTION_STATUS, ROUTINE, NULL, "ROUTINES", "ROUTINE_TYPE = 'FUNCTION'", NULL, "Name",
        ANYTHING},
    {SQL_SHOW_PROCEDURE_STATUS, ROUTINE, NULL, "ROUTINES", "ROUTINE_TYPE = 'PROCEDURE'", NULL,
        "Name", ANYTHING},
    {SQL_SHOW_INDEX,
        "TABLE_NAME|Table;NON_UNIQUE|Non_unique;INDEX_NAME|Key_name;SEQ_IN_INDEX|Seq_in_index;"
        "COLUMN_NAME|Column_name;COLLATION|Collation;CARDINALITY|Cardinality;SUB_PART|Sub_part;"
        "PACKED|Packed;NULLABLE|Null;INDEX_TYPE|Index_type;COMMENT|Comment;INDEX_COMMENT|"
        "Index_comment;IS_VISIBLE|Visible;EXPRESSION|Expression",
        NULL, "_STATISTICS", NULL, NULL, "Key_name", TABLE},
    {SQL_SHOW_OPEN_TABLES, "TABLE_SCHEMA|Database;TABLE_NAME|Table;0|In_use;0|Name_locked", NULL,
        "TABLES", "TABLE_SCHEMA = %D", "TABLE_NAME", "Table", DATABASE},
    {SQL_SHOW_PLUGINS,
        "PLUGIN_NAME|Name;PLUGIN_STATUS|Status;PLUGIN_TYPE|Type;PLUGIN_LIBRARY|Library;"
        "PLUGIN_LICENSE|License",
        NULL, "PLUGINS", NULL, NULL, "Name", ANYTHING},
    {SQL_SHOW_PRIVILEGES, "PRIVILEGE|Privilege;CONTEXT|Context;COMMENT|Comment", NULL,
        "_PRIVILEGES", NULL, NULL, "Privilege", ANYTHING},
    {SQL_SHOW_PROCESSLIST, PROCESS "LEFT(INFO, 100)|Info", PROCESS "INFO|Info", "PROCESSLIST", NULL,
        "ID", "Info", ANYTHING},
    {SQL_SHOW_STATUS, PAIR, NULL, "session_status", NULL, "VARIABLE_NAME", "Variable_name",
        ANYTHING},
    {SQL_SHOW_VARIABLES, PAIR, NULL, "session_variables", NULL, "VARIABLE_NAME", "Variable_name",
        ANYTHING},
    {SQL_SHOW_TABLES, "TABLE_NAME|Tables_in_%N", "TABLE_NAME|Tables_in_%N;TABLE_TYPE|Table_type",
        "TABLES", "TABLE_SCHEMA = %D", "TABLE_NAME", NULL, DATABASE},
    {SQL_SHOW_TABLE_STATUS,
        "TABLE_NAME|Name;ENGINE|Engine;VERSION|Version;ROW_FORMAT|Row_format;TABLE_ROWS|Rows;"
        "AVG_ROW_LENGTH|Avg_row_length;DATA_LENGTH|Data_length;MAX_DATA_LENGTH|"
        "Max_data_length;INDEX_LENGTH|Index_length;DATA_FREE|Data_free;AUTO_INCREMENT|"
        "Auto_increment;CREATE_TIME|Create_time;UPDATE_TIME|Update_time;CHECK_TIME|Check_time;"
        "TABLE_COLLATION|Collation;CHECKSUM|Checksum;CREATE_OPTIONS|Create_options;"
        "TABLE_COMMENT|Comment",
        NULL, "TABLES", "TABLE_SCHEMA = %D", "TABLE_NAME", "Name", DATABASE},
    {SQL_SHOW_TRIGGERS,
        "TRIGGER_NAME|Trigger;EVENT_MANIPULATION|Event;EVENT_OBJECT_TABLE|Table;"
        "ACTION_STATEMENT|Statement;ACTION_TIMING|Timing;CREATED|Created;SQL_MODE|sql_mode;"
        "DEFINER|Definer" CLIENT,
        NULL, "TRIGGERS", "EVENT_OBJECT_SCHEMA = %D", "EVENT_OBJECT_TABLE", "Table", DATABASE},
};

/* Those that are empty here, with their columns. */
static const struct {
    enum sql_show what;
    const char *columns;
} empties[] = {
    {SQL_SHOW_BINARY_LOGS, "''|Log_name;0|File_size;''|Encrypted"},
    {SQL_SHOW_MASTER_STATUS,
        "''|File;0|Position;''|Binlog_Do_DB;''|Binlog_Ignore_DB;''|Executed_Gtid_Set"},
    {SQL_SHOW_PROFILES, "0|Query_ID;0.0|Duration;''|Query"},
    {SQL_SHOW_REPLICA_STATUS,
        "''|Replica_IO_State;''|Source_Host;''|Source_User;0|Source_Port;0|Connect_Retry;"
        "''|Source_Log_File;0|Read_Source_Log_Pos;''|Replica_IO_Running;''|Replica_SQL_Running;"
        "0|Last_Errno;''|Last_Error;0|Seconds_Behind_Source"},
};

struct show {
    struct arena *arena;
    const struct sql_show_stmt *s;
    struct str database;
    struct buf *out;
};

static void add_column_name(struct show *w, struct str name)
{
    struct buf text = {0};
    ptrdiff_t at = str_find(name, STR("%N"));

    if (at < 0 && w->s->what == SQL_SHOW_DATABASES && w->s->like) {
        buf_printf(&text, STR_F " (" STR_F ")", STR_A(name), STR_A(w->s->like->s));
        sql_print_name(w->out, buf_str(&text));
        buf_fini(&text);
        return;
    }
    if (at < 0) {
        sql_print_name(w->out, name);
        return;
    }
    buf_add_str(&text, str_sub(name, 0, (size_t)at));
    buf_add_str(&text, w->database);
    if (w->s->like)
        buf_printf(&text, " (" STR_F ")", STR_A(w->s->like->s));
    sql_print_name(w->out, buf_str(&text));
    buf_fini(&text);
}

/* "a|b;c|d" as: a AS `b`, c AS `d`; with only_names: `b`, `d` */
static void add_columns(struct show *w, const char *columns, bool only_names)
{
    struct str rest = str_c(columns), part, expr;
    bool first = true;

    while (str_split(&rest, ';', &part)) {
        (void)str_split(&part, '|', &expr);
        buf_add_str(w->out, first ? STR_NONE : STR(", "));
        first = false;
        if (!only_names) {
            bool is_name = str_chr(expr, '(') < 0 && str_chr(expr, '\'') < 0 &&
                           !(expr.p[0] >= '0' && expr.p[0] <= '9');

            if (is_name)
                sql_print_name(w->out, expr);
            else
                buf_add_str(w->out, expr);
            buf_add_lit(w->out, " AS ");
        }
        add_column_name(w, part);
    }
}

/* A condition with %D, the database as a string. */
static void add_condition(struct show *w, const char *text)
{
    struct str s = str_c(text);
    ptrdiff_t at = str_find(s, STR("%D"));

    if (at < 0) {
        buf_add_str(w->out, s);
        return;
    }
    buf_add_str(w->out, str_sub(s, 0, (size_t)at));
    sql_print_string(w->out, w->database);
    buf_add_str(w->out, str_sub(s, (size_t)at + 2, s.len));
}

static struct str relation_schema(const struct form *f)
{
    return f->what == SQL_SHOW_STATUS || f->what == SQL_SHOW_VARIABLES ? STR("performance_schema")
                                                                       : STR("information_schema");
}

static void add_from(struct show *w, const struct form *f)
{
    struct str name = str_c(f->from);

    if (w->s->scope == SQL_SCOPE_GLOBAL && f->what == SQL_SHOW_STATUS)
        name = STR("global_status");
    if (w->s->scope == SQL_SCOPE_GLOBAL && f->what == SQL_SHOW_VARIABLES)
        name = STR("global_variables");
    buf_add_lit(w->out, " FROM ");
    sql_print_name(w->out, relation_schema(f));
    buf_add_char(w->out, '.');
    sql_print_name(w->out, name);
    if (f->about == TABLE) {
        buf_add_lit(w->out, " WHERE `TABLE_SCHEMA` = ");
        sql_print_string(w->out, w->database);
        buf_add_lit(w->out, " AND `TABLE_NAME` = ");
        sql_print_string(w->out, w->s->table.name);
    } else if (f->where) {
        buf_add_lit(w->out, " WHERE ");
        add_condition(w, f->where);
    }
}

static void add_limit(struct show *w)
{
    const struct sql_limit *l = &w->s->limit;

    if (!l->count || l->count->kind != SQL_INT)
        return;
    buf_printf(w->out, " LIMIT %llu", (unsigned long long)l->count->u);
    if (l->offset && l->offset->kind == SQL_INT)
        buf_printf(w->out, " OFFSET %llu", (unsigned long long)l->offset->u);
}

/* SELECT names FROM (SELECT ... FROM relation WHERE ...) WHERE what the user says ORDER BY; the
 * names of the inner query are what WHERE may speak of. */
static void add_query(struct show *w, const struct form *f)
{
    const char *columns = w->s->full && f->full ? f->full : f->columns;

    buf_add_lit(w->out, "SELECT ");
    add_columns(w, columns, true);
    buf_add_lit(w->out, " FROM (SELECT ");
    add_columns(w, columns, false);
    if (f->order)
        buf_printf(w->out, ", `%s` AS `_order`", f->order);
    add_from(w, f);
    buf_add_lit(w->out, ") AS `show`");
    if (w->s->like) {
        buf_add_lit(w->out, " WHERE ");
        add_column_name(w, f->like ? str_c(f->like) : STR("Tables_in_%N"));
        buf_add_lit(w->out, " LIKE ");
        sql_print_string(w->out, w->s->like->s);
    } else if (w->s->where) {
        buf_add_lit(w->out, " WHERE ");
        sql_print_expr(w->out, w->s->where);
    }
    if (f->order)
        buf_add_lit(w->out, " ORDER BY `_order`");
    add_limit(w);
}

static const struct form *form_find(enum sql_show what)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        if (forms[i].what == what)
            return &forms[i];
    }
    return NULL;
}

static bool add_empty(struct show *w)
{
    for (size_t i = 0; i < sizeof(empties) / sizeof(*empties); i++) {
        if (empties[i].what != w->s->what)
            continue;
        buf_add_lit(w->out, "SELECT ");
        add_columns(w, empties[i].columns, false);
        buf_add_lit(w->out, " FROM DUAL WHERE 1 = 0");
        return true;
    }
    return false;
}

static void add_grants(struct show *w)
{
    buf_add_lit(w->out, "SELECT CONCAT('GRANT ALL PRIVILEGES ON *.* TO `', "
                        "SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '`@`%` WITH GRANT OPTION') "
                        "AS `Grants for current user`");
}

static void add_count(struct show *w)
{
    bool errors = w->s->what == SQL_SHOW_ERRORS;

    buf_printf(w->out, "SELECT COUNT(*) AS `@@session.%s` FROM `information_schema`.`_WARNINGS`%s",
        errors ? "error_count" : "warning_count", errors ? " WHERE `LEVEL` = 'Error'" : "");
}

int info_show_text(struct arena *arena, const struct sql_show_stmt *s, const char *current_db,
    struct buf *text, struct db_error *e)
{
    struct show w = {.arena = arena,
        .s = s,
        .database = s->table.schema.len > 0 ? s->table.schema : str_c(current_db),
        .out = text};
    const struct form *f = form_find(s->what);

    if (s->count && (s->what == SQL_SHOW_WARNINGS || s->what == SQL_SHOW_ERRORS)) {
        add_count(&w);
        return 0;
    }
    if (s->what == SQL_SHOW_GRANTS) {
        add_grants(&w);
        return 0;
    }
    if (!f)
        return add_empty(&w) ? 0 : ERR_UNSUPPORTED;
    if (f->about != ANYTHING && w.database.len == 0)
        return db_error_set(e, DB_E_NO_DB);
    add_query(&w, f);
    return 0;
}
