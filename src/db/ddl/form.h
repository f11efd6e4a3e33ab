/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_FORM_H
#define EPHPM_DB_DDL_FORM_H

/*
 * The form that a table of the catalog is kept in: one list of fields, which save.c writes and
 * load.c reads. Private to both.
 *
 *   ephpm-table 1 <16 hex digits: FNV-1a of all that follows this line>
 *   table name=5:posts engine=6:InnoDB ...
 *   column name=2:id type.base=2:10 ...
 *   member value=1:a                      (of the column before)
 *   key name=7:PRIMARY ...
 *   part column=1:1 ...                   (of the key before; columns from 1, 0 an expression)
 *   fk name=... / ref from=... to=...     (of the foreign key before)
 *   check name=... expr=...
 *
 * Values are length:bytes, numbers in decimal; what is empty or 0 is left out. Fields and records
 * that a reader does not know are skipped, so a later version may add some; the number 1 changes
 * when that is not enough.
 */

#include <stddef.h>

#include "db/catalog.h"

enum form_kind {
    FORM_STR,
    FORM_BOOL,
    FORM_I16,
    FORM_I32,
    FORM_I32_1, /* kept plus one: -1 is "none" */
    FORM_I64,
    FORM_U16,
    FORM_ENUM,
};

struct form_field {
    const char *name;
    enum form_kind kind;
    size_t offset;
    int64_t max; /* of numbers; the least is -1 for I16, I32 and I32_1, 0 for others */
};

struct form_ref { /* a pair of columns of a foreign key */
    struct str from, to;
};

struct form_member {
    struct str value;
};

#define FORM_VERSION 1

extern const struct form_field form_table[];
extern const struct form_field form_column[];
extern const struct form_field form_member[];
extern const struct form_field form_key[];
extern const struct form_field form_part[];
extern const struct form_field form_fk[];
extern const struct form_field form_ref[];
extern const struct form_field form_check[];

/* FNV-1a, 64 bits */
uint64_t form_hash(struct str s);

#endif
