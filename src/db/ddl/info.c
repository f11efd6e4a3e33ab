/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/info.h"

#include <stdio.h>
#include <time.h>

#include "db/ddl/build.h"
#include "db/ddl/info_out.h"

#define TABLE_OF      "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,"
#define CONSTRAINT_OF "CONSTRAINT_CATALOG s64,CONSTRAINT_SCHEMA s64,CONSTRAINT_NAME s64?,"
#define CLIENT_OF     "CHARACTER_SET_CLIENT s64,COLLATION_CONNECTION s64,DATABASE_COLLATION s64"
#define VARIABLES     "VARIABLE_NAME s64,VARIABLE_VALUE s1024?"
#define COLUMNS_OF                                                                                 \
    TABLE_OF "COLUMN_NAME s64?,ORDINAL_POSITION u,COLUMN_DEFAULT S?,IS_NULLABLE s3,DATA_TYPE S?,"  \
             "CHARACTER_MAXIMUM_LENGTH I?,CHARACTER_OCTET_LENGTH I?,NUMERIC_PRECISION U?,"         \
             "NUMERIC_SCALE U?,DATETIME_PRECISION u?,CHARACTER_SET_NAME s64?,COLLATION_NAME s64?," \
             "COLUMN_TYPE M,COLUMN_KEY s3,EXTRA s256?,PRIVILEGES s154?,COLUMN_COMMENT T,"          \
             "GENERATION_EXPRESSION S,SRS_ID u?"
#define STATISTICS_OF                                                                          \
    TABLE_OF "NON_UNIQUE i,INDEX_SCHEMA s64,INDEX_NAME s64?,SEQ_IN_INDEX u,COLUMN_NAME s64?,"  \
             "COLLATION s1?,CARDINALITY I?,SUB_PART I?,PACKED s1?,NULLABLE s3,INDEX_TYPE s11," \
             "COMMENT s8,INDEX_COMMENT s2048,IS_VISIBLE s3,EXPRESSION S?"

#define IS STR("information_schema")
#define PS STR("performance_schema")

/*
 * Columns: name, a letter for the type (s with a length: VARCHAR, T TEXT, M MEDIUMTEXT, S LONGTEXT,
 * i INT, u the same unsigned, I BIGINT, U the same unsigned, d DATETIME), ? when it may be NULL.
 * Relations that begin with _ are for SHOW.
 */
static const struct info_relation relations[] = {
    {IS, STR("SCHEMATA"), INFO_NEEDS_SCHEMAS, 1, -1, 6,
        "CATALOG_NAME s64,SCHEMA_NAME s64,DEFAULT_CHARACTER_SET_NAME s64,"
        "DEFAULT_COLLATION_NAME s64,SQL_PATH s1?,DEFAULT_ENCRYPTION s3",
        false, info_rows_schemata},
    {IS, STR("TABLES"), INFO_NEEDS_TABLES | INFO_NEEDS_SIZES, 1, 2, 21,
        TABLE_OF "TABLE_TYPE s11,ENGINE s64?,VERSION i?,ROW_FORMAT s10?,TABLE_ROWS U?,"
                 "AVG_ROW_LENGTH U?,DATA_LENGTH U?,MAX_DATA_LENGTH U?,INDEX_LENGTH U?,DATA_FREE U?,"
                 "AUTO_INCREMENT U?,CREATE_TIME d,UPDATE_TIME d?,CHECK_TIME d?,"
                 "TABLE_COLLATION s64?,CHECKSUM I?,CREATE_OPTIONS s256?,TABLE_COMMENT T?",
        false, info_rows_tables},
    {IS, STR("COLUMNS"), INFO_NEEDS_TABLES, 1, 2, 22, COLUMNS_OF, false, info_rows_columns},
    {IS, STR("_COLUMNS"), INFO_NEEDS_TABLES, 1, 2, 22, COLUMNS_OF, true, info_rows_columns},
    {IS, STR("STATISTICS"), INFO_NEEDS_TABLES | INFO_NEEDS_SIZES, 1, 2, 18, STATISTICS_OF, false,
        info_rows_statistics},
    {IS, STR("_STATISTICS"), INFO_NEEDS_TABLES | INFO_NEEDS_SIZES, 1, 2, 18, STATISTICS_OF, true,
        info_rows_statistics},
    {IS, STR("KEY_COLUMN_USAGE"), INFO_NEEDS_TABLES, 4, 5, 12,
        CONSTRAINT_OF TABLE_OF
        "COLUMN_NAME s64?,ORDINAL_POSITION u,POSITION_IN_UNIQUE_CONSTRAINT u?,"
        "REFERENCED_TABLE_SCHEMA s64?,REFERENCED_TABLE_NAME s64?,REFERENCED_COLUMN_NAME s64?",
        false, info_rows_key_usage},
    {IS, STR("TABLE_CONSTRAINTS"), INFO_NEEDS_TABLES, 3, 4, 7,
        CONSTRAINT_OF "TABLE_SCHEMA s64,TABLE_NAME s64,CONSTRAINT_TYPE s11,ENFORCED s3", false,
        info_rows_table_constraints},
    {IS, STR("REFERENTIAL_CONSTRAINTS"), INFO_NEEDS_TABLES, 1, 9, 11,
        CONSTRAINT_OF "UNIQUE_CONSTRAINT_CATALOG s64,UNIQUE_CONSTRAINT_SCHEMA s64,"
                      "UNIQUE_CONSTRAINT_NAME s64?,MATCH_OPTION s7,UPDATE_RULE s11,DELETE_RULE s11,"
                      "TABLE_NAME s64,REFERENCED_TABLE_NAME s64",
        false, info_rows_referential},
    {IS, STR("CHECK_CONSTRAINTS"), INFO_NEEDS_TABLES, 1, -1, 4, CONSTRAINT_OF "CHECK_CLAUSE S",
        false, info_rows_checks},
    {IS, STR("VIEWS"), INFO_NEEDS_TABLES, 1, 2, 10,
        TABLE_OF "VIEW_DEFINITION S?,CHECK_OPTION s8,IS_UPDATABLE s3,DEFINER s288,SECURITY_TYPE s7,"
                 "CHARACTER_SET_CLIENT s64,COLLATION_CONNECTION s64",
        false, info_rows_views},
    {IS, STR("TRIGGERS"), 0, 1, 6, 22,
        "TRIGGER_CATALOG s64,TRIGGER_SCHEMA s64,TRIGGER_NAME s64,EVENT_MANIPULATION s6,"
        "EVENT_OBJECT_CATALOG s64,EVENT_OBJECT_SCHEMA s64,EVENT_OBJECT_TABLE s64,ACTION_ORDER u,"
        "ACTION_CONDITION s1?,ACTION_STATEMENT S,ACTION_ORIENTATION s3,ACTION_TIMING s6,"
        "ACTION_REFERENCE_OLD_TABLE s1?,ACTION_REFERENCE_NEW_TABLE s1?,ACTION_REFERENCE_OLD_ROW s3,"
        "ACTION_REFERENCE_NEW_ROW s3,CREATED d,SQL_MODE s512,DEFINER s288," CLIENT_OF,
        false, NULL},
    {IS, STR("ROUTINES"), 0, 2, -1, 31,
        "SPECIFIC_NAME s64,ROUTINE_CATALOG s64,ROUTINE_SCHEMA s64,ROUTINE_NAME s64,ROUTINE_TYPE s9,"
        "DATA_TYPE S?,CHARACTER_MAXIMUM_LENGTH I?,CHARACTER_OCTET_LENGTH I?,NUMERIC_PRECISION u?,"
        "NUMERIC_SCALE u?,DATETIME_PRECISION u?,CHARACTER_SET_NAME s64?,COLLATION_NAME s64?,"
        "DTD_IDENTIFIER S?,ROUTINE_BODY s8,ROUTINE_DEFINITION S?,EXTERNAL_NAME s1?,"
        "EXTERNAL_LANGUAGE s64,PARAMETER_STYLE s3,IS_DETERMINISTIC s3,SQL_DATA_ACCESS s17,"
        "SQL_PATH s1?,SECURITY_TYPE s7,CREATED d,LAST_ALTERED d,SQL_MODE s512,ROUTINE_COMMENT T,"
        "DEFINER s288," CLIENT_OF,
        false, NULL},
    {IS, STR("PARAMETERS"), 0, 1, -1, 16,
        "SPECIFIC_CATALOG s64,SPECIFIC_SCHEMA s64,SPECIFIC_NAME s64,ORDINAL_POSITION U,"
        "PARAMETER_MODE s5?,PARAMETER_NAME s64?,DATA_TYPE S?,CHARACTER_MAXIMUM_LENGTH I?,"
        "CHARACTER_OCTET_LENGTH I?,NUMERIC_PRECISION u?,NUMERIC_SCALE I?,DATETIME_PRECISION u?,"
        "CHARACTER_SET_NAME s64?,COLLATION_NAME s64?,DTD_IDENTIFIER M,ROUTINE_TYPE s9",
        false, NULL},
    {IS, STR("EVENTS"), 0, 1, -1, 24,
        "EVENT_CATALOG s64,EVENT_SCHEMA s64,EVENT_NAME s64,DEFINER s288,TIME_ZONE s64,EVENT_BODY "
        "s3,EVENT_DEFINITION S,EVENT_TYPE s9,EXECUTE_AT d?,INTERVAL_VALUE s256?,INTERVAL_FIELD "
        "s18?,SQL_MODE s512,STARTS d?,ENDS d?,STATUS s18,ON_COMPLETION s12,CREATED d,LAST_ALTERED "
        "d,LAST_EXECUTED d?,EVENT_COMMENT s2048,ORIGINATOR u," CLIENT_OF,
        false, NULL},
    {IS, STR("ENGINES"), 0, -1, -1, 6,
        "ENGINE s64,SUPPORT s8,COMMENT s80,TRANSACTIONS s3?,XA s3?,SAVEPOINTS s3?", false,
        info_rows_engines},
    {IS, STR("COLLATIONS"), 0, -1, -1, 7,
        "COLLATION_NAME s64,CHARACTER_SET_NAME s64,ID U,IS_DEFAULT s3,IS_COMPILED s3,SORTLEN "
        "u,PAD_ATTRIBUTE s9",
        false, info_rows_collations},
    {IS, STR("CHARACTER_SETS"), 0, -1, -1, 4,
        "CHARACTER_SET_NAME s64,DEFAULT_COLLATE_NAME s64,DESCRIPTION s2048,MAXLEN u", false,
        info_rows_charsets},
    {IS, STR("COLLATION_CHARACTER_SET_APPLICABILITY"), 0, -1, -1, 2,
        "COLLATION_NAME s64,CHARACTER_SET_NAME s64", false, info_rows_applicability},
    {IS, STR("PARTITIONS"), INFO_NEEDS_TABLES | INFO_NEEDS_SIZES, 1, 2, 25,
        TABLE_OF "PARTITION_NAME s64?,SUBPARTITION_NAME s64?,PARTITION_ORDINAL_POSITION u?,"
                 "SUBPARTITION_ORDINAL_POSITION u?,PARTITION_METHOD s13?,SUBPARTITION_METHOD s13?,"
                 "PARTITION_EXPRESSION s2048?,SUBPARTITION_EXPRESSION s2048?,"
                 "PARTITION_DESCRIPTION T?,TABLE_ROWS U?,AVG_ROW_LENGTH U?,DATA_LENGTH U?,"
                 "MAX_DATA_LENGTH U?,INDEX_LENGTH U?,DATA_FREE U?,CREATE_TIME d,UPDATE_TIME d?,"
                 "CHECK_TIME d?,CHECKSUM I?,PARTITION_COMMENT T,NODEGROUP s256?,"
                 "TABLESPACE_NAME s268?",
        false, info_rows_partitions},
    {IS, STR("FILES"), 0, 5, 6, 38,
        "FILE_ID I?,FILE_NAME T?,FILE_TYPE s256?,TABLESPACE_NAME s268,TABLE_CATALOG "
        "s0,TABLE_SCHEMA s1?,TABLE_NAME s1?,LOGFILE_GROUP_NAME s256?,LOGFILE_GROUP_NUMBER "
        "I?,ENGINE s64,FULLTEXT_KEYS s1?,DELETED_ROWS s1?,UPDATE_COUNT s1?,FREE_EXTENTS "
        "I?,TOTAL_EXTENTS I?,EXTENT_SIZE I?,INITIAL_SIZE I?,MAXIMUM_SIZE I?,AUTOEXTEND_SIZE "
        "I?,CREATION_TIME s1?,LAST_UPDATE_TIME s1?,LAST_ACCESS_TIME s1?,RECOVER_TIME "
        "s1?,TRANSACTION_COUNTER s1?,VERSION I?,ROW_FORMAT s256?,TABLE_ROWS s1?,AVG_ROW_LENGTH "
        "s1?,DATA_LENGTH s1?,MAX_DATA_LENGTH s1?,INDEX_LENGTH s1?,DATA_FREE I?,CREATE_TIME "
        "s1?,UPDATE_TIME s1?,CHECK_TIME s1?,CHECKSUM s1?,STATUS s256?,EXTRA s256?",
        false, NULL},
    {IS, STR("PROCESSLIST"), INFO_NEEDS_PROCESSES, -1, -1, 8,
        "ID U,USER s32,HOST s261,DB s64?,COMMAND s16,TIME i,STATE s64?,INFO S?", false,
        info_rows_processes},
    {IS, STR("USER_PRIVILEGES"), 0, -1, -1, 4,
        "GRANTEE s292,TABLE_CATALOG s512,PRIVILEGE_TYPE s64,IS_GRANTABLE s3", false,
        info_rows_user_privileges},
    {IS, STR("SCHEMA_PRIVILEGES"), 0, 2, -1, 5,
        "GRANTEE s292,TABLE_CATALOG s512,TABLE_SCHEMA s64,PRIVILEGE_TYPE s64,IS_GRANTABLE s3",
        false, NULL},
    {IS, STR("TABLE_PRIVILEGES"), 0, 2, 3, 6,
        "GRANTEE s292,TABLE_CATALOG s512,TABLE_SCHEMA s64,TABLE_NAME s64,PRIVILEGE_TYPE "
        "s64,IS_GRANTABLE s3",
        false, NULL},
    {IS, STR("COLUMN_PRIVILEGES"), 0, 2, 3, 7,
        "GRANTEE s292,TABLE_CATALOG s512,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME "
        "s64,PRIVILEGE_TYPE s64,IS_GRANTABLE s3",
        false, NULL},
    {IS, STR("PLUGINS"), 0, -1, -1, 11,
        "PLUGIN_NAME s64,PLUGIN_VERSION s20,PLUGIN_STATUS s10,PLUGIN_TYPE s80,PLUGIN_TYPE_VERSION "
        "s20,PLUGIN_LIBRARY s64?,PLUGIN_LIBRARY_VERSION s20?,PLUGIN_AUTHOR s64?,PLUGIN_DESCRIPTION "
        "T?,PLUGIN_LICENSE s80?,LOAD_OPTION s64",
        false, info_rows_plugins},
    {IS, STR("_WARNINGS"), INFO_NEEDS_WARNINGS, -1, -1, 3, "LEVEL s7,CODE i,MESSAGE s512", false,
        info_rows_warnings},
    {IS, STR("_PRIVILEGES"), 0, -1, -1, 3, "PRIVILEGE s64,CONTEXT s64,COMMENT s100", false,
        info_rows_privileges},
    {PS, STR("session_variables"), INFO_NEEDS_SESSION_VARIABLES, -1, -1, 2, VARIABLES, false,
        info_rows_session_variables},
    {PS, STR("global_variables"), INFO_NEEDS_GLOBAL_VARIABLES, -1, -1, 2, VARIABLES, false,
        info_rows_global_variables},
    {PS, STR("session_status"), INFO_NEEDS_SESSION_STATUS, -1, -1, 2, VARIABLES, false,
        info_rows_session_status},
    {PS, STR("global_status"), INFO_NEEDS_GLOBAL_STATUS, -1, -1, 2, VARIABLES, false,
        info_rows_global_status},
    {PS, STR("events_statements_summary_by_digest"), INFO_NEEDS_DIGESTS, 0, -1, 12,
        "SCHEMA_NAME s64?,DIGEST s64?,DIGEST_TEXT S?,COUNT_STAR U,SUM_TIMER_WAIT U,"
        "AVG_TIMER_WAIT U,MAX_TIMER_WAIT U,SUM_ERRORS U,SUM_ROWS_AFFECTED U,SUM_ROWS_SENT U,"
        "FIRST_SEEN d,LAST_SEEN d",
        false, info_rows_digests},
    {STR("mysql"), STR("user"), 0, -1, -1, 8,
        "Host s255,User s32,Select_priv s1,Super_priv s1,plugin s64,authentication_string T?,"
        "password_expired s1,account_locked s1",
        false, info_rows_user},
};

enum { N_RELATIONS = sizeof(relations) / sizeof(*relations) };

const struct info_relation *info_relations(uint32_t *n)
{
    *n = N_RELATIONS;
    return relations;
}

const struct info_relation *info_find(struct str schema, struct str name)
{
    for (uint32_t i = 0; i < N_RELATIONS; i++) {
        if (str_ieq(relations[i].schema, schema) && str_ieq(relations[i].name, name))
            return &relations[i];
    }
    return NULL;
}

bool info_is_schema(struct str schema)
{
    static const struct str names[] = {IS, PS, STR("mysql"), STR("sys")};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (str_ieq(names[i], schema))
            return true;
    }
    return false;
}

/* ---- as tables ---- */

static struct db_type type_of(struct str letters)
{
    static const enum db_base bases[128] = {['s'] = DB_T_VARCHAR,
        ['T'] = DB_T_TEXT,
        ['M'] = DB_T_MEDIUMTEXT,
        ['S'] = DB_T_LONGTEXT,
        ['i'] = DB_T_INT,
        ['u'] = DB_T_INT,
        ['I'] = DB_T_BIGINT,
        ['U'] = DB_T_BIGINT,
        ['d'] = DB_T_DATETIME};
    struct db_type t = {.base = bases[letters.p[0] & 127],
        .length = -1,
        .decimals = letters.p[0] == 'd' ? 0 : -1,
        .is_unsigned = letters.p[0] == 'u' || letters.p[0] == 'U'};
    uint64_t length;

    if (letters.p[letters.len - 1] == '?')
        letters.len--;
    if (letters.p[0] == 's' && !str_u64(str_sub(letters, 1, letters.len), &length))
        t.length = (int32_t)length;
    if (db_base_is_text(t.base)) {
        t.charset = STR("utf8mb3");
        t.collation = STR("utf8mb3_general_ci");
    }
    return t;
}

static struct str lower(struct arena *arena, struct str s)
{
    char *p = arena_bytes(arena, s.len + 1);

    for (size_t i = 0; i < s.len; i++)
        p[i] = str_lower_char(s.p[i]);
    p[s.len] = '\0';
    return str_n(p, s.len);
}

struct db_cat_table *info_catalog(struct arena *arena, const struct info_relation *r)
{
    struct db_cat_table *t = arena_new(arena, sizeof(*t));
    struct db_cat_column *columns = arena_new(arena, r->n_columns * sizeof(*columns));
    struct str rest = str_c(r->columns), part, name;
    uint32_t n = 0;

    while (n < r->n_columns && str_split(&rest, ',', &part)) {
        (void)str_split(&part, ' ', &name);
        columns[n].name = name;
        columns[n].type = type_of(part);
        columns[n].not_null = part.p[part.len - 1] != '?';
        n++;
    }
    *t = (struct db_cat_table){.schema = r->schema,
        .name = r->name,
        .is_system = true,
        .columns = columns,
        .n_columns = n,
        .auto_column = -1,
        .rowid_column = -1,
        .charset = STR("utf8mb3"),
        .collation = STR("utf8mb3_general_ci")};
    t->sqlite_name =
        arena_printf(arena, "_ephpm_" STR_F "_" STR_F, STR_A(r->schema), STR_A(r->name));
    t->sqlite_name = lower(arena, t->sqlite_name);
    return t;
}

struct str info_declare(struct arena *arena, const struct info_relation *r)
{
    const struct db_cat_table *t = info_catalog(arena, r);
    struct buf text = {0};
    struct str out;

    buf_add_lit(&text, "CREATE TABLE x(");
    for (uint32_t i = 0; i < t->n_columns; i++) {
        buf_add_str(&text, i > 0 ? STR(", ") : STR_NONE);
        sqlite_name(&text, t->columns[i].name);
        sqlite_type(&text, &t->columns[i].type);
    }
    buf_add_char(&text, ')');
    out = arena_str(arena, buf_str(&text));
    buf_fini(&text);
    return out;
}

/* ---- rows ---- */

static struct db_value *next(struct info_out *o)
{
    if (o->n == o->cap) {
        uint32_t cap = o->cap ? o->cap * 2 : 16 * o->width;
        struct db_value *grown = arena_new(o->arena, cap * sizeof(*grown));

        if (o->n > 0)
            memcpy(grown, o->values, o->n * sizeof(*grown));
        o->values = grown;
        o->cap = cap;
    }
    return &o->values[o->n++];
}

void out_null(struct info_out *o)
{
    next(o)->kind = DB_V_NULL;
}

void out_nulls(struct info_out *o, int n)
{
    while (n-- > 0)
        out_null(o);
}

void out_str(struct info_out *o, struct str s)
{
    struct db_value *v = next(o);

    v->kind = DB_V_TEXT;
    v->s = s.p ? s : STR("");
}

void out_opt(struct info_out *o, struct str s)
{
    if (s.p)
        out_str(o, s);
    else
        out_null(o);
}

void out_int(struct info_out *o, int64_t v)
{
    struct db_value *value = next(o);

    value->kind = DB_V_INT;
    value->i = v;
}

void out_uint(struct info_out *o, uint64_t v)
{
    struct db_value *value = next(o);

    value->kind = DB_V_UINT;
    value->u = v;
}

void out_time(struct info_out *o, const struct info_facts *f, int64_t seconds)
{
    char text[20] = "";
    struct tm tm;
    time_t t = (time_t)seconds;

    if (seconds == 0) {
        out_null(o);
        return;
    }
    if (f->local_time)
        f->local_time(f->arg, seconds, text);
    else if (gmtime_r(&t, &tm))
        (void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    out_str(o, arena_str(o->arena, str_n(text, strnlen(text, 19))));
}

bool out_wants(const struct info_out *o, struct str schema, struct str table)
{
    return (!o->filter->schema.p || str_ieq(o->filter->schema, schema)) &&
           (!o->filter->table.p || str_ieq(o->filter->table, table));
}

static bool hidden_by_temporary(const struct info_facts *f, const struct db_cat_table *t)
{
    for (uint32_t i = 0; i < f->n_tables; i++) {
        const struct db_cat_table *other = f->tables[i].table;

        if (other->temporary && str_ieq(other->name, t->name) && str_ieq(other->schema, t->schema))
            return true;
    }
    return false;
}

const struct info_table *out_table(
    struct info_out *o, const struct info_facts *f, uint32_t *i, bool system)
{
    while (*i < f->n_tables) {
        const struct info_table *it = &f->tables[(*i)++];
        const struct db_cat_table *t = it->table;

        if (t->is_system || !out_wants(o, t->schema, t->name))
            continue;
        if (t->temporary ? !o->temporary : o->temporary && hidden_by_temporary(f, t))
            continue;
        return it;
    }
    while (system && *i - f->n_tables < N_RELATIONS) {
        const struct info_relation *r = &relations[(*i)++ - f->n_tables];
        struct info_table *it;

        if (r->name.p[0] == '_' || !out_wants(o, r->schema, r->name))
            continue;
        it = arena_new(o->arena, sizeof(*it));
        it->table = info_catalog(o->arena, r);
        return it;
    }
    return NULL;
}

struct info_rows info_list(struct arena *arena, const struct info_relation *r,
    const struct info_facts *facts, const struct info_filter *filter)
{
    static const struct info_filter none = {0};
    struct info_out o = {.arena = arena,
        .filter = filter ? filter : &none,
        .temporary = r->temporary,
        .width = r->n_columns};

    if (r->rows)
        r->rows(&o, facts);
    return (struct info_rows){
        .values = o.values, .n_rows = o.n / r->n_columns, .n_columns = r->n_columns};
}
