/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_TOML_H
#define EPHPM_CORE_TOML_H

/*
 * TOML 1.0, strictly: text in, a tree of values out.
 *
 * All of the tree lives in the arena given to toml_parse() and borrows nothing from the text. Every
 * value and key carries its place (line and column from 1, columns count characters).  Dates and
 * times are checked and kept as text. Reading files and names in messages are the caller's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { TOML_MAX_DEPTH = 64, TOML_MAX_TEXT = 16 << 20 };

enum toml_kind {
    TOML_STRING,
    TOML_INT,
    TOML_FLOAT,
    TOML_BOOL,
    TOML_DATETIME,
    TOML_ARRAY,
    TOML_TABLE,
};

struct toml_table;
struct toml_array;

struct toml_value {
    enum toml_kind kind;
    int line, col;
    union {
        struct str s; /* TOML_STRING (may hold NULs; one more follows) and TOML_DATETIME */
        int64_t i;
        double f;
        bool b;
        struct toml_array *array;
        struct toml_table *table;
    };
};

struct toml_array {
    struct toml_value *v;
    size_t n;
    /* private to toml.c */
    size_t cap;
    bool of_tables; /* made by [[name]] */
};

struct toml_entry {
    struct str key;
    int line, col;
    struct toml_value value;
    struct toml_entry *next; /* in the order of the document */
    /* private to toml.c */
    struct toml_entry *chain;
};

struct toml_table {
    struct toml_entry *first;
    size_t n;
    /* private to toml.c */
    struct toml_entry *last;
    struct toml_entry **buckets;
    size_t nbuckets;
    int origin;
};

/*
 * ERR_INVAL with text and position for what is not TOML, ERR_TOOBIG for a text beyond
 * TOML_MAX_TEXT.  A byte order mark at the start is skipped.
 */
int toml_parse(
    struct arena *a, struct str text, struct toml_table **out, struct err *err) MUST_CHECK;
/* One value alone ("true", "[1, 2]"), nothing but spaces around it. */
int toml_parse_value(
    struct arena *a, struct str text, struct toml_value *out, struct err *err) MUST_CHECK;
/* The entry's value, or NULL. */
const struct toml_value *toml_get(const struct toml_table *t, struct str key);
/* "string", "integer", "float", "boolean", "date", "array", "table". */
const char *toml_kind_name(enum toml_kind kind);

#endif
