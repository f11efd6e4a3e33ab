/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/charset.h"
#include "db/ddl/ddl.h"
#include "db/sql/print.h"

static bool is_default_collation(struct str collation)
{
    const struct db_collation *c = db_collation_find(collation);

    /* MySQL 8 always says this one, since it was not always the default */
    return c && c->is_default && !str_eq(collation, STR("utf8mb4_0900_ai_ci"));
}

static void add_charset(
    struct buf *out, const struct db_cat_table *t, const struct db_cat_column *c)
{
    if (!db_base_is_text(c->type.base))
        return;
    if (!str_eq(c->type.collation, t->collation))
        buf_printf(out, " CHARACTER SET " STR_F, STR_A(c->type.charset));
    else if (str_eq(c->type.collation, STR("utf8mb4_0900_ai_ci")))
        return;
    if (!is_default_collation(c->type.collation))
        buf_printf(out, " COLLATE " STR_F, STR_A(c->type.collation));
}

static bool has_no_default_null(enum db_base base)
{
    return (base >= DB_T_TINYTEXT && base <= DB_T_LONGTEXT) ||
           (base >= DB_T_TINYBLOB && base <= DB_T_LONGBLOB);
}

static unsigned long long number_of(struct str text)
{
    uint64_t v = 0;

    (void)!str_u64(text, &v); /* the catalog has numbers where this is asked */
    return v;
}

static void add_bits(struct buf *out, struct str value)
{
    uint64_t v = number_of(value);
    bool started = false;

    buf_add_lit(out, "b'");
    for (int i = 63; i >= 0; i--) {
        started = started || (v >> i & 1) || i == 0;
        if (started)
            buf_add_char(out, v >> i & 1 ? '1' : '0');
    }
    buf_add_char(out, '\'');
}

static void add_default_value(struct buf *out, const struct db_cat_column *c)
{
    if (c->type.base == DB_T_BIT)
        add_bits(out, c->default_text);
    else if (c->type.base == DB_T_YEAR && str_eq(c->default_text, STR("0")))
        buf_add_lit(out, "'0000'");
    else if (c->type.zerofill && db_base_is_int(c->type.base))
        buf_printf(out, "'%0*llu'", (int)c->type.length, number_of(c->default_text));
    else
        sql_print_string(out, c->default_text);
}

static void add_now(struct buf *out, const struct db_cat_column *c)
{
    buf_add_lit(out, "CURRENT_TIMESTAMP");
    if (c->type.decimals > 0)
        buf_printf(out, "(%d)", (int)c->type.decimals);
}

static void add_default(struct buf *out, const struct db_cat_column *c)
{
    switch (c->default_kind) {
    case DB_DEFAULT_NULL:
        if (!has_no_default_null(c->type.base))
            buf_add_lit(out, " DEFAULT NULL");
        break;
    case DB_DEFAULT_VALUE:
        buf_add_lit(out, " DEFAULT ");
        add_default_value(out, c);
        break;
    case DB_DEFAULT_NOW:
        buf_add_lit(out, " DEFAULT ");
        add_now(out, c);
        break;
    case DB_DEFAULT_EXPR:
        buf_printf(out, " DEFAULT (" STR_F ")", STR_A(c->default_text));
        break;
    default:
        break;
    }
    if (c->on_update_now) {
        buf_add_lit(out, " ON UPDATE ");
        add_now(out, c);
    }
}

static void add_column(struct buf *out, const struct db_cat_table *t, const struct db_cat_column *c)
{
    buf_add_lit(out, "  ");
    sql_print_name(out, c->name);
    buf_add_char(out, ' ');
    sql_print_type(out, &c->type);
    add_charset(out, t, c);
    if (c->generated.len > 0)
        buf_printf(out, " GENERATED ALWAYS AS (" STR_F ") %s", STR_A(c->generated),
            c->stored ? "STORED" : "VIRTUAL");
    if (c->not_null)
        buf_add_lit(out, " NOT NULL");
    else if (c->type.base == DB_T_TIMESTAMP && c->generated.len == 0)
        buf_add_lit(out, " NULL");
    add_default(out, c);
    if (c->auto_increment)
        buf_add_lit(out, " AUTO_INCREMENT");
    if (c->invisible)
        buf_add_lit(out, " /*!80023 INVISIBLE */");
    if (c->comment.len > 0) {
        buf_add_lit(out, " COMMENT ");
        sql_print_string(out, c->comment);
    }
}

static void add_key(struct buf *out, const struct db_cat_table *t, const struct db_cat_key *k)
{
    static const char *const words[] = {[DB_KEY_PRIMARY] = "PRIMARY KEY",
        [DB_KEY_UNIQUE] = "UNIQUE KEY",
        [DB_KEY_INDEX] = "KEY",
        [DB_KEY_FULLTEXT] = "FULLTEXT KEY",
        [DB_KEY_SPATIAL] = "SPATIAL KEY"};

    buf_printf(out, "  %s ", words[k->kind]);
    if (k->kind != DB_KEY_PRIMARY) {
        sql_print_name(out, k->name);
        buf_add_char(out, ' ');
    }
    for (uint32_t i = 0; i < k->n_parts; i++) {
        const struct db_cat_part *p = &k->parts[i];

        buf_add_char(out, i == 0 ? '(' : ',');
        if (p->column < 0)
            buf_printf(out, "(" STR_F ")", STR_A(p->expr));
        else
            sql_print_name(out, t->columns[p->column].name);
        if (p->length > 0)
            buf_printf(out, "(%d)", (int)p->length);
        buf_add_str(out, p->desc ? STR(" DESC") : STR_NONE);
    }
    buf_add_char(out, ')');
    if (k->using_said)
        buf_printf(out, " USING " STR_F, STR_A(k->using_type));
    if (k->comment.len > 0) {
        buf_add_lit(out, " COMMENT ");
        sql_print_string(out, k->comment);
    }
    if (k->invisible)
        buf_add_lit(out, " /*!80000 INVISIBLE */");
}

static void add_names(struct buf *out, const struct str *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_add_str(out, i > 0 ? STR(", ") : STR_NONE);
        sql_print_name(out, names[i]);
    }
}

static void add_fk(struct buf *out, const struct db_cat_fk *fk)
{
    buf_add_lit(out, "  CONSTRAINT ");
    sql_print_name(out, fk->name);
    buf_add_lit(out, " FOREIGN KEY (");
    add_names(out, fk->columns, fk->n_columns);
    buf_add_lit(out, ") REFERENCES ");
    sql_print_name(out, fk->ref_table);
    buf_add_lit(out, " (");
    add_names(out, fk->ref_columns, fk->n_columns);
    buf_add_char(out, ')');
    if (!str_eq(fk->on_delete, STR("NO ACTION")))
        buf_printf(out, " ON DELETE " STR_F, STR_A(fk->on_delete));
    if (!str_eq(fk->on_update, STR("NO ACTION")))
        buf_printf(out, " ON UPDATE " STR_F, STR_A(fk->on_update));
}

/* Foreign keys are printed in the order of their names. */
static const struct db_cat_fk *fk_after(const struct db_cat_table *t, const struct db_cat_fk *last)
{
    const struct db_cat_fk *best = NULL;

    for (uint32_t i = 0; i < t->n_fks; i++) {
        const struct db_cat_fk *fk = &t->fks[i];

        if ((!last || str_cmp(fk->name, last->name) > 0) &&
            (!best || str_cmp(fk->name, best->name) < 0))
            best = fk;
    }
    return best;
}

static void add_options(struct buf *out, const struct db_cat_table *t, uint64_t auto_increment)
{
    buf_printf(out, ") ENGINE=" STR_F, STR_A(t->engine));
    if (auto_increment > 1)
        buf_printf(out, " AUTO_INCREMENT=%llu", (unsigned long long)auto_increment);
    buf_printf(out, " DEFAULT CHARSET=" STR_F, STR_A(t->charset));
    if (!is_default_collation(t->collation))
        buf_printf(out, " COLLATE=" STR_F, STR_A(t->collation));
    if (t->options.len > 0)
        buf_printf(out, " " STR_F, STR_A(t->options));
    if (t->row_format.len > 0)
        buf_printf(out, " ROW_FORMAT=" STR_F, STR_A(t->row_format));
    if (t->comment.len > 0) {
        buf_add_lit(out, " COMMENT=");
        sql_print_string(out, t->comment);
    }
    if (t->partition.len > 0)
        buf_printf(out, "\n/*!50100 " STR_F " */", STR_A(t->partition));
}

void ddl_show(struct buf *out, const struct db_cat_table *t, uint64_t auto_increment)
{
    const struct db_cat_fk *fk = NULL;

    buf_add_str(out, t->temporary ? STR("CREATE TEMPORARY TABLE ") : STR("CREATE TABLE "));
    sql_print_name(out, t->name);
    buf_add_lit(out, " (\n");
    for (uint32_t i = 0; i < t->n_columns; i++) {
        buf_add_str(out, i > 0 ? STR(",\n") : STR_NONE);
        add_column(out, t, &t->columns[i]);
    }
    for (uint32_t i = 0; i < t->n_keys; i++) {
        buf_add_lit(out, ",\n");
        add_key(out, t, &t->keys[i]);
    }
    while ((fk = fk_after(t, fk))) {
        buf_add_lit(out, ",\n");
        add_fk(out, fk);
    }
    for (uint32_t i = 0; i < t->n_checks; i++) {
        buf_add_lit(out, ",\n  CONSTRAINT ");
        sql_print_name(out, t->checks[i].name);
        buf_printf(out, " CHECK (" STR_F ")%s", STR_A(t->checks[i].expr),
            t->checks[i].enforced ? "" : " /*!80016 NOT ENFORCED */");
    }
    buf_add_char(out, '\n');
    add_options(out, t, auto_increment);
}
