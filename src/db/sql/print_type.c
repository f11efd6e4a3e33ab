/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Types as text.
 */
#include "db/sql/print_parts.h"

/* Digits that ZEROFILL fills up to when no width was given. */
static int32_t width(const struct db_type *t)
{
    static const uint8_t widths[] = {[DB_T_TINYINT] = 3,
        [DB_T_SMALLINT] = 5,
        [DB_T_MEDIUMINT] = 8,
        [DB_T_INT] = 10,
        [DB_T_BIGINT] = 20};

    if (t->base < DB_T_TINYINT || t->base > DB_T_BIGINT)
        return -1;
    if (t->zerofill)
        return t->length >= 0 ? t->length : widths[t->base];
    return t->base == DB_T_TINYINT && t->length == 1 && !t->is_unsigned ? 1 : -1;
}

static void members(struct buf *out, const struct db_type *t)
{
    buf_add_char(out, '(');
    for (uint32_t i = 0; i < t->n_members; i++) {
        if (i)
            buf_add_char(out, ',');
        sql_print_string(out, t->members[i]);
    }
    buf_add_char(out, ')');
}

static void arguments(struct buf *out, const struct db_type *t)
{
    if (t->base == DB_T_ENUM || t->base == DB_T_SET) {
        members(out, t);
    } else if (db_base_is_temporal(t->base)) {
        if (t->decimals > 0)
            buf_printf(out, "(%d)", t->decimals);
    } else if (t->base == DB_T_DECIMAL || t->base == DB_T_FLOAT || t->base == DB_T_DOUBLE) {
        if (t->length >= 0 && t->decimals >= 0)
            buf_printf(out, "(%d,%d)", t->length, t->decimals);
    } else if (t->base == DB_T_BIT || t->base == DB_T_CHAR || t->base == DB_T_VARCHAR ||
               t->base == DB_T_BINARY || t->base == DB_T_VARBINARY) {
        if (t->length >= 0)
            buf_printf(out, "(%d)", t->length);
    } else if (width(t) >= 0) {
        buf_printf(out, "(%d)", width(t));
    }
}

void sql_print_type(struct buf *out, const struct db_type *t)
{
    buf_add_str(out, db_base_name(t->base));
    arguments(out, t);
    if (t->is_unsigned)
        buf_add_lit(out, " unsigned");
    if (t->zerofill)
        buf_add_lit(out, " zerofill");
}

void print_cast_type(struct buf *out, const struct db_type *t)
{
    if (t->base == DB_T_BIGINT) {
        buf_add_str(out, t->is_unsigned ? STR("unsigned") : STR("signed"));
        return;
    }
    buf_add_str(out, db_base_name(t->base));
    arguments(out, t);
    if (t->charset.len && db_base_is_text(t->base)) {
        buf_add_lit(out, " charset ");
        print_word(out, t->charset);
    }
    if (t->collation.len) /* BINARY was written behind it */
        buf_add_lit(out, " binary");
}
