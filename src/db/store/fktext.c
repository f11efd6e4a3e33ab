/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/fktext.h"

#include "db/sql/print.h"

static void names(struct buf *out, const struct str *v, uint32_t n)
{
    buf_add_char(out, '(');
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add_lit(out, ", ");
        sql_print_name(out, v[i]);
    }
    buf_add_char(out, ')');
}

static void action(struct buf *out, const char *event, struct str what)
{
    if (what.len && !str_eq(what, STR("NO ACTION")))
        buf_printf(out, " ON %s " STR_F, event, STR_A(what));
}

void fk_text(struct buf *out, struct str schema, struct fk_place at)
{
    sql_print_name(out, schema);
    buf_add_char(out, '.');
    sql_print_name(out, at.table->name);
    buf_add_lit(out, ", CONSTRAINT ");
    sql_print_name(out, at.fk->name);
    buf_add_lit(out, " FOREIGN KEY ");
    names(out, at.fk->columns, at.fk->n_columns);
    buf_add_lit(out, " REFERENCES ");
    sql_print_name(out, at.fk->ref_table);
    buf_add_char(out, ' ');
    names(out, at.fk->ref_columns, at.fk->n_columns);
    action(out, "DELETE", at.fk->on_delete);
    action(out, "UPDATE", at.fk->on_update);
}
