/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_TYPE_H
#define EPHPM_DB_TYPE_H

/*
 * Types of MySQL: those of columns as declared, and those of expressions as deduced.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* X(name, wire type number of the protocol, SQL name as information_schema.COLUMNS.DATA_TYPE) */
#define DB_TYPE_LIST(X)              \
    X(NULL, 6, "null")               \
    X(TINYINT, 1, "tinyint")         \
    X(SMALLINT, 2, "smallint")       \
    X(MEDIUMINT, 9, "mediumint")     \
    X(INT, 3, "int")                 \
    X(BIGINT, 8, "bigint")           \
    X(BIT, 16, "bit")                \
    X(DECIMAL, 246, "decimal")       \
    X(FLOAT, 4, "float")             \
    X(DOUBLE, 5, "double")           \
    X(YEAR, 13, "year")              \
    X(DATE, 10, "date")              \
    X(TIME, 11, "time")              \
    X(DATETIME, 12, "datetime")      \
    X(TIMESTAMP, 7, "timestamp")     \
    X(CHAR, 254, "char")             \
    X(VARCHAR, 253, "varchar")       \
    X(TINYTEXT, 252, "tinytext")     \
    X(TEXT, 252, "text")             \
    X(MEDIUMTEXT, 252, "mediumtext") \
    X(LONGTEXT, 252, "longtext")     \
    X(BINARY, 254, "binary")         \
    X(VARBINARY, 253, "varbinary")   \
    X(TINYBLOB, 252, "tinyblob")     \
    X(BLOB, 252, "blob")             \
    X(MEDIUMBLOB, 252, "mediumblob") \
    X(LONGBLOB, 252, "longblob")     \
    X(ENUM, 254, "enum")             \
    X(SET, 254, "set")               \
    X(JSON, 245, "json")             \
    X(GEOMETRY, 255, "geometry")

enum db_base {
#define DB_TYPE_ENUM(name, wire, text) DB_T_##name,
    DB_TYPE_LIST(DB_TYPE_ENUM)
#undef DB_TYPE_ENUM
        DB_T__COUNT
};

/*
 * length: characters of CHAR and VARCHAR, bytes of BINARY and VARBINARY, digits of DECIMAL, bits of
 * BIT, display width of integers; -1 when it was not given. decimals: digits after the point of
 * DECIMAL, FLOAT(m,d), DOUBLE(m,d), digits of a second of the temporal types; -1 not given
 * (for expressions of type DOUBLE: not fixed).
 */
struct db_type {
    enum db_base base;
    int32_t length;
    int16_t decimals;
    bool is_unsigned;
    bool zerofill;
    struct str charset;   /* of text types; empty: the table's. Lower case: "utf8mb4", "binary" */
    struct str collation; /* "utf8mb4_unicode_ci"; empty: the charset's own */
    const struct str *members; /* of ENUM and SET */
    uint32_t n_members;
};

static inline bool db_base_is_int(enum db_base b)
{
    return b >= DB_T_TINYINT && b <= DB_T_BIT;
}

static inline bool db_base_is_number(enum db_base b)
{
    return b >= DB_T_TINYINT && b <= DB_T_YEAR;
}

static inline bool db_base_is_temporal(enum db_base b)
{
    return b >= DB_T_DATE && b <= DB_T_TIMESTAMP;
}

/* Text with a character set. ENUM and SET are text too. */
static inline bool db_base_is_text(enum db_base b)
{
    return (b >= DB_T_CHAR && b <= DB_T_LONGTEXT) || b == DB_T_ENUM || b == DB_T_SET;
}

static inline bool db_base_is_binary(enum db_base b)
{
    return b >= DB_T_BINARY && b <= DB_T_LONGBLOB;
}

/* information_schema's DATA_TYPE; static. */
struct str db_base_name(enum db_base b);
/* Bytes that a TINYTEXT, BLOB and so on has room for; those of LONGTEXT for other types. */
uint32_t db_base_bytes(enum db_base b);
/* The protocol's number of the type. */
uint8_t db_base_wire(enum db_base b);

/* Bits of sql_mode, as MySQL numbers them; those that are not here are kept as text only. */
enum db_sql_mode {
    DB_MODE_PIPES_AS_CONCAT = 1 << 1,
    DB_MODE_ANSI_QUOTES = 1 << 2,
    DB_MODE_IGNORE_SPACE = 1 << 3,
    DB_MODE_ONLY_FULL_GROUP_BY = 1 << 5,
    DB_MODE_NO_UNSIGNED_SUBTRACTION = 1 << 6,
    DB_MODE_NO_BACKSLASH_ESCAPES = 1 << 20,
    DB_MODE_STRICT_TRANS_TABLES = 1 << 21,
    DB_MODE_STRICT_ALL_TABLES = 1 << 22,
    DB_MODE_NO_ZERO_IN_DATE = 1 << 23,
    DB_MODE_NO_ZERO_DATE = 1 << 24,
    DB_MODE_ALLOW_INVALID_DATES = 1 << 25,
    DB_MODE_ERROR_FOR_DIVISION_BY_ZERO = 1 << 26,
    DB_MODE_NO_AUTO_VALUE_ON_ZERO = 1 << 19,
    DB_MODE_HIGH_NOT_PRECEDENCE = 1 << 29,
    DB_MODE_NO_ENGINE_SUBSTITUTION = 1 << 30,
    DB_MODE_STRICT = DB_MODE_STRICT_TRANS_TABLES | DB_MODE_STRICT_ALL_TABLES,
};

#endif
