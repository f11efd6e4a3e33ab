/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Definitions: CREATE, ALTER, DROP, RENAME. */
#include "unit/db_sql/dump.h"

static void word(struct buf *b, bool on, const char *text)
{
    if (on)
        buf_printf(b, " %s", text);
}

static void named(struct buf *b, const char *text, struct str s)
{
    if (s.len)
        buf_printf(b, " %s " STR_F, text, STR_A(s));
}

static void options(struct buf *b, const struct sql_option *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        buf_printf(b, " " STR_F "=" STR_F, STR_A(v[i].name), STR_A(v[i].value));
}

static void key(struct buf *b, const struct sql_key *k)
{
    static const char *const kinds[] = {"primary", "unique", "index", "fulltext", "spatial"};

    buf_printf(b, "(%s", kinds[k->kind]);
    named(b, "constraint", k->constraint);
    if (k->name.len)
        buf_printf(b, " " STR_F, STR_A(k->name));
    buf_add_lit(b, " (");
    for (uint32_t i = 0; i < k->n_parts; i++) {
        const struct sql_key_part *p = &k->parts[i];

        if (i)
            buf_add_char(b, ' ');
        if (p->expr)
            dump_expr(b, p->expr);
        else
            buf_add_str(b, p->column);
        if (p->length)
            buf_printf(b, ":%d", p->length);
        word(b, p->desc, "desc");
    }
    buf_add_char(b, ')');
    named(b, "using", k->using_type);
    named(b, "comment", k->comment);
    word(b, k->invisible, "invisible");
    buf_add_char(b, ')');
}

static void fk(struct buf *b, const struct sql_fk *f)
{
    static const char *const actions[] = {
        "none", "restrict", "cascade", "set-null", "no-action", "set-default"};

    buf_add_lit(b, "(fk");
    if (f->name.len)
        buf_printf(b, " " STR_F, STR_A(f->name));
    named(b, "index", f->index);
    if (f->columns.n) {
        buf_add_char(b, ' ');
        dump_names(b, f->columns);
    }
    buf_add_lit(b, " -> ");
    dump_name(b, f->ref_table);
    dump_names(b, f->ref_columns);
    if (f->on_delete)
        buf_printf(b, " delete-%s", actions[f->on_delete]);
    if (f->on_update)
        buf_printf(b, " update-%s", actions[f->on_update]);
    buf_add_char(b, ')');
}

static void check(struct buf *b, const struct sql_check *c)
{
    buf_add_lit(b, "(check");
    if (c->name.len)
        buf_printf(b, " " STR_F, STR_A(c->name));
    buf_add_char(b, ' ');
    dump_expr(b, c->expr);
    word(b, c->not_enforced, "not-enforced");
    buf_add_char(b, ')');
}

static void column(struct buf *b, const struct sql_column_def *c)
{
    buf_printf(b, "(" STR_F " ", STR_A(c->name));
    dump_type(b, &c->type);
    word(b, c->serial, "serial");
    word(b, c->nullable == SQL_NULL_YES, "null");
    word(b, c->nullable == SQL_NULL_NO, "not-null");
    if (c->default_value) {
        buf_printf(b, " default%s ", c->default_value->is_paren ? "-expr" : "");
        dump_expr(b, c->default_value);
    }
    word(b, c->on_update_now, "on-update");
    word(b, c->auto_increment, "auto");
    word(b, c->unique, "unique");
    word(b, c->primary, "primary");
    word(b, c->invisible, "invisible");
    if (c->has_comment)
        buf_printf(b, " comment '" STR_F "'", STR_A(c->comment));
    if (c->generated) {
        buf_add_str(b, c->stored ? STR(" stored ") : STR(" virtual "));
        dump_expr(b, c->generated);
    }
    for (uint32_t i = 0; i < c->n_checks; i++) {
        buf_add_char(b, ' ');
        check(b, &c->checks[i]);
    }
    if (c->references) {
        buf_add_char(b, ' ');
        fk(b, c->references);
    }
    buf_add_char(b, ')');
}

static void create_table(struct buf *b, const struct sql_create_table *t)
{
    const struct sql_table_def *d = &t->def;

    buf_add_lit(b, "(create-table");
    word(b, t->or_replace, "or-replace");
    word(b, t->temporary, "temporary");
    word(b, t->if_not_exists, "if-not-exists");
    buf_add_char(b, ' ');
    dump_name(b, t->table);
    if (t->like.name.len) {
        buf_add_lit(b, " like ");
        dump_name(b, t->like);
    }
    for (uint32_t i = 0; i < d->n_columns; i++) {
        buf_add_char(b, ' ');
        column(b, &d->columns[i]);
    }
    for (uint32_t i = 0; i < d->n_keys; i++) {
        buf_add_char(b, ' ');
        key(b, &d->keys[i]);
    }
    for (uint32_t i = 0; i < d->n_fks; i++) {
        buf_add_char(b, ' ');
        fk(b, &d->fks[i]);
    }
    for (uint32_t i = 0; i < d->n_checks; i++) {
        buf_add_char(b, ' ');
        check(b, &d->checks[i]);
    }
    options(b, d->options, d->n_options);
    if (d->partition.len)
        buf_printf(b, " [" STR_F "]", STR_A(d->partition));
    word(b, t->as_ignore, "ignore");
    word(b, t->as_replace, "replace");
    if (t->as) {
        buf_add_lit(b, " as ");
        dump_query(b, t->as);
    }
    buf_add_char(b, ')');
}

static void action(struct buf *b, const struct sql_alter_action *a)
{
    static const char *const kinds[] = {"add", "drop", "modify", "change", "rename-column",
        "set-default", "drop-default", "add-key", "drop-key", "drop-primary", "rename-key",
        "key-visible", "add-fk", "drop-fk", "add-check", "drop-check", "drop-constraint", "rename",
        "options", "convert", "order", "nothing"};

    buf_printf(b, " (%s", kinds[a->kind]);
    word(b, a->if_exists, "if-exists");
    if (a->name.len)
        buf_printf(b, " " STR_F, STR_A(a->name));
    named(b, "to", a->new_name);
    word(b, a->yes, "yes");
    if (a->kind == SQL_ALTER_SET_DEFAULT) {
        buf_add_char(b, ' ');
        dump_expr(b, a->column.default_value);
    } else if (a->column.name.len) {
        buf_add_char(b, ' ');
        column(b, &a->column);
    }
    word(b, a->first, "first");
    named(b, "after", a->after);
    if (a->key.n_parts) {
        buf_add_char(b, ' ');
        key(b, &a->key);
    }
    if (a->fk.columns.n) {
        buf_add_char(b, ' ');
        fk(b, &a->fk);
    }
    if (a->check.expr) {
        buf_add_char(b, ' ');
        check(b, &a->check);
    }
    if (a->table.name.len) {
        buf_add_char(b, ' ');
        dump_name(b, a->table);
    }
    options(b, a->options, a->n_options);
    buf_add_char(b, ')');
}

static void alter_table(struct buf *b, const struct sql_alter_table *t)
{
    buf_add_lit(b, "(alter-table ");
    dump_name(b, t->table);
    for (uint32_t i = 0; i < t->n_actions; i++)
        action(b, &t->actions[i]);
    buf_add_char(b, ')');
}

static void create_index(struct buf *b, const struct sql_create_index *i)
{
    buf_add_lit(b, "(create-index");
    word(b, i->if_not_exists, "if-not-exists");
    buf_add_char(b, ' ');
    dump_name(b, i->table);
    buf_add_char(b, ' ');
    key(b, &i->key);
    buf_add_char(b, ')');
}

static void drop(struct buf *b, const char *what, const struct sql_drop *d)
{
    buf_printf(b, "(%s", what);
    word(b, d->temporary, "temporary");
    word(b, d->if_exists, "if-exists");
    if (d->index.len)
        buf_printf(b, " " STR_F, STR_A(d->index));
    for (uint32_t i = 0; i < d->n_names; i++) {
        buf_add_char(b, ' ');
        dump_name(b, d->names[i]);
    }
    buf_add_char(b, ')');
}

static void create_view(struct buf *b, const struct sql_create_view *v)
{
    buf_add_lit(b, "(create-view");
    word(b, v->or_replace, "or-replace");
    word(b, v->if_not_exists, "if-not-exists");
    buf_add_char(b, ' ');
    dump_name(b, v->view);
    if (v->columns.n)
        dump_names(b, v->columns);
    buf_add_lit(b, " as ");
    dump_query(b, v->query);
    buf_printf(b, " [" STR_F "]", STR_A(v->text));
    named(b, "check", v->check_option);
    buf_add_char(b, ')');
}

static void database(struct buf *b, const char *what, const struct sql_stmt *s)
{
    buf_printf(b, "(%s-database", what);
    word(b, s->if_exists, "if");
    buf_printf(b, " " STR_F, STR_A(s->name));
    options(b, s->options, s->n_options);
    buf_add_char(b, ')');
}

void dump_define(struct buf *b, const struct sql_stmt *s)
{
    switch (s->kind) {
    case SQL_STMT_CREATE_TABLE:
        create_table(b, s->create_table);
        break;
    case SQL_STMT_ALTER_TABLE:
        alter_table(b, s->alter_table);
        break;
    case SQL_STMT_CREATE_INDEX:
        create_index(b, s->create_index);
        break;
    case SQL_STMT_CREATE_VIEW:
        create_view(b, s->create_view);
        break;
    case SQL_STMT_DROP_INDEX:
        drop(b, "drop-index", s->drop);
        break;
    case SQL_STMT_DROP_TABLE:
        drop(b, "drop-table", s->drop);
        break;
    case SQL_STMT_DROP_VIEW:
        drop(b, "drop-view", s->drop);
        break;
    case SQL_STMT_TRUNCATE:
        drop(b, "truncate", s->drop);
        break;
    case SQL_STMT_CREATE_DATABASE:
        database(b, "create", s);
        break;
    case SQL_STMT_ALTER_DATABASE:
        database(b, "alter", s);
        break;
    case SQL_STMT_DROP_DATABASE:
        database(b, "drop", s);
        break;
    case SQL_STMT_RENAME_TABLE:
        buf_add_lit(b, "(rename");
        for (uint32_t i = 0; i < s->n_renames; i++) {
            buf_add_char(b, ' ');
            dump_name(b, s->renames[i].from);
            buf_add_lit(b, "->");
            dump_name(b, s->renames[i].to);
        }
        buf_add_char(b, ')');
        break;
    default:
        dump_other(b, s);
    }
}
