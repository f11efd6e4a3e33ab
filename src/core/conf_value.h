/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_CONF_VALUE_H
#define EPHPM_CORE_CONF_VALUE_H

/* Private to conf*.c: one value of one row. */

#include "core/conf.h"
#include "core/toml.h"

/* Checks v against the row and writes it to field. On error why says what is wrong, without key and
 * place. */
int conf_value_set(const struct conf_row *row, const struct toml_value *v, void *field,
    struct arena *a, struct err *why) MUST_CHECK;
/* Plain text (environment, command line) as the value that a file would have held. */
int conf_value_read(const struct conf_row *row, struct str text, struct arena *a,
    struct toml_value *out, struct err *why) MUST_CHECK;
/* The field of a row without default and not set. */
void conf_value_unset(const struct conf_row *row, void *field);
/* The field as TOML; false when it is unset. */
bool conf_value_format(const struct conf_row *row, const void *field, struct buf *out);
/* CONF_TABLES, conf_tables.c: each table of v into an item of a new array. why has a position when
 * one key is at fault. */
int conf_tables_set(const struct conf_row *row, const struct toml_value *v,
    struct conf_tables *field, struct arena *a, struct err *why) MUST_CHECK;
/* As TOML; secrets as *** when they are to be hidden. */
void conf_tables_format(
    const struct conf_row *row, const struct conf_tables *field, bool hide, struct buf *out);
/* A value as it was written, shortened, for messages. */
void conf_value_show(const struct toml_value *v, struct buf *out);

static inline void *conf_field(const struct conf *c, const struct conf_row *row)
{
    return (char *)c->base + row->offset;
}

#endif
