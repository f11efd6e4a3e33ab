/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_VALUE_H
#define EPHPM_DB_VALUE_H

/*
 * Values between the wire and the sessions, and what the wire says of a result's columns.
 */

#include "db/type.h"

enum db_value_kind { DB_V_NULL, DB_V_INT, DB_V_UINT, DB_V_REAL, DB_V_TEXT, DB_V_BLOB };

/* One value. Bytes are borrowed; whoever hands it over says how long they stay. */
struct db_value {
    enum db_value_kind kind;
    union {
        int64_t i;
        uint64_t u;
        double d;
    };
    struct str s; /* of TEXT and BLOB; TEXT is UTF-8 */
};

/* Flags of a column definition (protocol: Column Definition Flags). */
enum db_column_flags {
    DB_COL_NOT_NULL = 1,
    DB_COL_PRI_KEY = 2,
    DB_COL_UNIQUE_KEY = 4,
    DB_COL_MULTIPLE_KEY = 8,
    DB_COL_BLOB = 16,
    DB_COL_UNSIGNED = 32,
    DB_COL_ZEROFILL = 64,
    DB_COL_BINARY = 128,
    DB_COL_ENUM = 256,
    DB_COL_AUTO_INCREMENT = 512,
    DB_COL_TIMESTAMP = 1024,
    DB_COL_SET = 2048,
    DB_COL_NO_DEFAULT = 4096,
    DB_COL_ON_UPDATE_NOW = 8192,
    DB_COL_PART_KEY = 16384,
    DB_COL_NUM = 32768,
};

/* One column of a result, as ColumnDefinition41 tells it. */
struct db_column {
    struct str schema;
    struct str table; /* alias */
    struct str org_table;
    struct str name; /* alias */
    struct str org_name;
    struct db_type type; /* what the values are; the wire number follows from it */
    uint32_t length;     /* the protocol's column length, in bytes */
    uint16_t charset;    /* number of the collation; 63 binary */
    uint16_t flags;      /* db_column_flags */
    uint8_t decimals;    /* 31: not fixed */
};

#endif
