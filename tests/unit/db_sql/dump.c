/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"

#include "db/sql/parse.h"
#include "db/sql/print.h"
#include "unit/test.h"

static const char *const op_texts[] = {[SQL_OP_NONE] = "none",
    [SQL_OP_NEG] = "neg",
    [SQL_OP_PLUS] = "plus",
    [SQL_OP_NOT] = "not",
    [SQL_OP_BIT_NOT] = "~",
    [SQL_OP_BINARY] = "binary",
    [SQL_OP_OR] = "or",
    [SQL_OP_XOR] = "xor",
    [SQL_OP_AND] = "and",
    [SQL_OP_EQ] = "=",
    [SQL_OP_NE] = "<>",
    [SQL_OP_LT] = "<",
    [SQL_OP_LE] = "<=",
    [SQL_OP_GT] = ">",
    [SQL_OP_GE] = ">=",
    [SQL_OP_NULL_SAFE_EQ] = "<=>",
    [SQL_OP_ADD] = "+",
    [SQL_OP_SUB] = "-",
    [SQL_OP_MUL] = "*",
    [SQL_OP_DIV] = "/",
    [SQL_OP_INT_DIV] = "div",
    [SQL_OP_MOD] = "%",
    [SQL_OP_BIT_OR] = "|",
    [SQL_OP_BIT_AND] = "&",
    [SQL_OP_BIT_XOR] = "^",
    [SQL_OP_SHIFT_LEFT] = "<<",
    [SQL_OP_SHIFT_RIGHT] = ">>",
    [SQL_OP_CONCAT] = "||"};

static const char *const unit_texts[] = {"none",
#define UNIT_TEXT(name, text) #name,
    SQL_UNIT_LIST(UNIT_TEXT)
#undef UNIT_TEXT
};

/* ---- pieces ---- */

static void text(struct buf *b, struct str s)
{
    buf_add_char(b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < 32 || c == '\'' || c == '\\')
            buf_printf(b, "\\%02x", c);
        else
            buf_add_char(b, (char)c);
    }
    buf_add_char(b, '\'');
}

void dump_name(struct buf *b, struct sql_name n)
{
    if (n.schema.len)
        buf_printf(b, STR_F ".", STR_A(n.schema));
    buf_add_str(b, n.name);
}

void dump_names(struct buf *b, struct sql_names names)
{
    buf_add_char(b, '(');
    for (uint32_t i = 0; i < names.n; i++)
        buf_printf(b, "%s" STR_F, i ? " " : "", STR_A(names.v[i]));
    buf_add_char(b, ')');
}

void dump_exprs(struct buf *b, struct sql_exprs list)
{
    for (uint32_t i = 0; i < list.n; i++) {
        buf_add_char(b, ' ');
        dump_expr(b, list.v[i]);
    }
}

static void opt(struct buf *b, const char *word, const struct sql_expr *e)
{
    if (!e)
        return;
    buf_printf(b, " %s", word);
    if (*word)
        buf_add_char(b, ' ');
    dump_expr(b, e);
}

void dump_orders(struct buf *b, const char *word, struct sql_orders o)
{
    if (o.n == 0)
        return;
    buf_printf(b, " (%s", word);
    for (uint32_t i = 0; i < o.n; i++) {
        buf_add_char(b, ' ');
        dump_expr(b, o.v[i].expr);
        if (o.v[i].desc)
            buf_add_lit(b, " desc");
    }
    buf_add_char(b, ')');
}

void dump_type(struct buf *b, const struct db_type *t)
{
    buf_add_str(b, db_base_name(t->base));
    if (t->length >= 0 && t->decimals >= 0)
        buf_printf(b, "(%d,%d)", t->length, t->decimals);
    else if (t->length >= 0)
        buf_printf(b, "(%d)", t->length);
    else if (t->decimals > 0)
        buf_printf(b, "(.%d)", t->decimals);
    for (uint32_t i = 0; i < t->n_members; i++) {
        buf_add_char(b, i ? ',' : ':');
        text(b, t->members[i]);
    }
    if (t->is_unsigned)
        buf_add_lit(b, " unsigned");
    if (t->zerofill)
        buf_add_lit(b, " zerofill");
    if (t->charset.len)
        buf_printf(b, " charset " STR_F, STR_A(t->charset));
    if (t->collation.len)
        buf_printf(b, " collate " STR_F, STR_A(t->collation));
}

static void bound(struct buf *b, enum sql_bound bound, const struct sql_expr *e)
{
    static const char *const texts[] = {
        "unbounded-preceding", "preceding", "current", "following", "unbounded-following"};

    buf_printf(b, " %s", texts[bound]);
    opt(b, "", e);
}

static void window(struct buf *b, const struct sql_window *w)
{
    buf_add_lit(b, " (over");
    if (w->base.len)
        buf_printf(b, " " STR_F, STR_A(w->base));
    if (w->partition.n) {
        buf_add_lit(b, " (partition");
        dump_exprs(b, w->partition);
        buf_add_char(b, ')');
    }
    dump_orders(b, "order", w->order);
    if (w->has_frame) {
        buf_add_str(b, w->is_range ? STR(" (range") : STR(" (rows"));
        bound(b, w->from, w->from_expr);
        bound(b, w->to, w->to_expr);
        buf_add_char(b, ')');
    }
    buf_add_char(b, ')');
}

/* ---- expressions ---- */

static void column(struct buf *b, const struct sql_expr *e)
{
    if (e->schema.len)
        buf_printf(b, STR_F ".", STR_A(e->schema));
    if (e->table.len)
        buf_printf(b, STR_F ".", STR_A(e->table));
    if (e->kind == SQL_STAR)
        buf_add_char(b, '*');
    else
        buf_add_str(b, e->name);
}

static void hex(struct buf *b, const struct sql_expr *e)
{
    buf_add_str(b, e->is_bit ? STR("b#") : STR("x#"));
    for (size_t i = 0; i < e->s.len; i++)
        buf_printf(b, "%02x", (unsigned char)e->s.p[i]);
}

/* False: it is none of these. */
static bool atom(struct buf *b, const struct sql_expr *e)
{
    static const char *const scopes[] = {"@@", "@@session.", "@@global.", "@@persist.", "@@only."};

    switch (e->kind) {
    case SQL_NULL:
        buf_add_lit(b, "null");
        return true;
    case SQL_INT:
        buf_add_u64(b, e->u);
        return true;
    case SQL_DECIMAL:
    case SQL_DOUBLE:
        buf_printf(b, STR_F "%s", STR_A(e->s), e->kind == SQL_DECIMAL ? "d" : "");
        return true;
    case SQL_STRING:
        if (e->charset.len)
            buf_printf(b, "_" STR_F, STR_A(e->charset));
        text(b, e->s);
        return true;
    case SQL_HEX:
        hex(b, e);
        return true;
    case SQL_BOOL:
        buf_add_str(b, e->u ? STR("true") : STR("false"));
        return true;
    case SQL_TEMPORAL:
        buf_printf(b, STR_F, STR_A(db_base_name(e->base)));
        text(b, e->s);
        return true;
    case SQL_PARAM:
        buf_printf(b, "?%d", (int)e->u);
        return true;
    case SQL_COLUMN:
    case SQL_STAR:
        column(b, e);
        return true;
    case SQL_USER_VAR:
        buf_printf(b, "@" STR_F, STR_A(e->name));
        return true;
    case SQL_SYSTEM_VAR:
        buf_printf(b, "%s", scopes[e->scope]);
        if (e->schema.len)
            buf_printf(b, STR_F ".", STR_A(e->schema));
        buf_add_str(b, e->name);
        return true;
    default:
        return false;
    }
}

/* The word of a node with operands. */
static void head(struct buf *b, const struct sql_expr *e)
{
    static const char *const words[] = {[SQL_DEFAULT] = "default",
        [SQL_USER_ASSIGN] = "assign",
        [SQL_IS] = "is",
        [SQL_LIKE] = "like",
        [SQL_REGEXP] = "regexp",
        [SQL_SOUNDS_LIKE] = "sounds",
        [SQL_BETWEEN] = "between",
        [SQL_IN] = "in",
        [SQL_IN_QUERY] = "in",
        [SQL_MEMBER_OF] = "member",
        [SQL_QUANTIFIED] = "any",
        [SQL_EXISTS] = "exists",
        [SQL_SUBQUERY] = "query",
        [SQL_ROW] = "row",
        [SQL_CASE] = "case",
        [SQL_CAST] = "cast",
        [SQL_CONVERT_USING] = "convert",
        [SQL_COLLATE] = "collate",
        [SQL_CALL] = "call",
        [SQL_GROUP_CONCAT] = "group_concat",
        [SQL_DATE_ADD] = "date",
        [SQL_EXTRACT] = "extract",
        [SQL_TRIM] = "trim",
        [SQL_VALUES_OF] = "values",
        [SQL_ARROW] = "->",
        [SQL_MATCH] = "match"};
    static const char *const tests[] = {" null", " true", " false", " unknown"};
    static const char *const sides[] = {"", " leading", " trailing"};
    static const char *const matches[] = {"", " boolean", " expansion"};

    if (e->not)
        buf_add_str(b, e->kind == SQL_DATE_ADD ? STR("minus-") : STR("not-"));
    if (e->kind == SQL_UNARY || e->kind == SQL_BINARY)
        buf_printf(b, "%s", op_texts[e->op]);
    else if (e->kind == SQL_QUANTIFIED)
        buf_printf(b, "%s-%s", op_texts[e->op], e->is_all ? "all" : "any");
    else
        buf_printf(b, "%s%s", words[e->kind], e->kind == SQL_ARROW && e->is_all ? ">" : "");
    if (e->kind == SQL_IS)
        buf_printf(b, "%s", tests[e->test]);
    if (e->kind == SQL_TRIM)
        buf_printf(b, "%s", sides[e->side]);
    if (e->kind == SQL_MATCH)
        buf_printf(b, "%s", matches[e->match]);
}

void dump_expr(struct buf *b, const struct sql_expr *e)
{
    if (atom(b, e))
        return;
    buf_add_char(b, '(');
    if (e->kind == SQL_CALL) {
        if (e->schema.len)
            buf_printf(b, STR_F ".", STR_A(e->schema));
        buf_add_str(b, e->name);
    } else {
        head(b, e);
    }
    if (e->is_distinct)
        buf_add_lit(b, " distinct");
    opt(b, "", e->a);
    opt(b, "", e->b);
    opt(b, "", e->c);
    dump_exprs(b, e->list);
    dump_orders(b, "order", e->order);
    if (e->kind == SQL_GROUP_CONCAT)
        text(b, e->s);
    if (e->unit && (e->kind == SQL_DATE_ADD || e->kind == SQL_EXTRACT || e->kind == SQL_CALL))
        buf_printf(b, " %s", unit_texts[e->unit]);
    if (e->kind == SQL_COLLATE || e->kind == SQL_USER_ASSIGN)
        buf_printf(b, " " STR_F, STR_A(e->name));
    if (e->charset.len)
        buf_printf(b, " using " STR_F, STR_A(e->charset));
    if (e->type) {
        buf_add_char(b, ' ');
        dump_type(b, e->type);
    }
    if (e->query) {
        buf_add_char(b, ' ');
        dump_query(b, e->query);
    }
    if (e->window)
        window(b, e->window);
    buf_add_char(b, ')');
}

/* ---- queries ---- */

static void join(struct buf *b, const struct sql_table *t)
{
    static const char *const words[] = {"join", "left", "right", ","};

    buf_printf(b, "(%s%s%s ", t->natural ? "natural-" : "", t->straight ? "straight-" : "",
        words[t->join]);
    dump_table(b, t->left);
    buf_add_char(b, ' ');
    dump_table(b, t->right);
    opt(b, "", t->on);
    if (t->using_columns.n) {
        buf_add_char(b, ' ');
        dump_names(b, t->using_columns);
    }
    buf_add_char(b, ')');
}

void dump_table(struct buf *b, const struct sql_table *t)
{
    if (t->kind == SQL_TABLE_JOIN) {
        join(b, t);
        return;
    }
    if (t->kind == SQL_TABLE_NAME) {
        dump_name(b, t->name);
    } else {
        if (t->lateral)
            buf_add_lit(b, "lateral ");
        dump_query(b, t->query);
    }
    if (t->alias.len)
        buf_printf(b, ":" STR_F, STR_A(t->alias));
    if (t->columns.n)
        dump_names(b, t->columns);
}

static void items(struct buf *b, struct sql_items list)
{
    for (uint32_t i = 0; i < list.n; i++) {
        buf_add_char(b, ' ');
        dump_expr(b, list.v[i].expr);
        if (list.v[i].has_alias)
            buf_printf(b, ":" STR_F, STR_A(list.v[i].alias));
    }
}

static void select(struct buf *b, const struct sql_body *body)
{
    buf_printf(
        b, "(select%s%s", body->distinct ? " distinct" : "", body->calc_found_rows ? " calc" : "");
    items(b, body->items);
    if (body->from) {
        buf_add_lit(b, " from ");
        dump_table(b, body->from);
    }
    opt(b, "where", body->where);
    dump_orders(b, body->rollup ? "rollup" : "group", body->group);
    opt(b, "having", body->having);
    for (uint32_t i = 0; i < body->n_windows; i++) {
        buf_printf(b, " window " STR_F, STR_A(body->windows[i]->name));
        window(b, body->windows[i]);
    }
    buf_add_char(b, ')');
}

static void body_dump(struct buf *b, const struct sql_body *body)
{
    static const char *const ops[] = {"union", "except", "intersect"};

    switch (body->kind) {
    case SQL_BODY_SELECT:
        select(b, body);
        break;
    case SQL_BODY_SET:
        buf_printf(b, "(%s%s ", ops[body->op], body->all ? "-all" : "");
        body_dump(b, body->left);
        buf_add_char(b, ' ');
        body_dump(b, body->right);
        buf_add_char(b, ')');
        break;
    case SQL_BODY_VALUES:
        buf_add_lit(b, "(values");
        for (uint32_t i = 0; i < body->n_rows; i++) {
            buf_add_lit(b, " (row");
            dump_exprs(b, body->rows[i]);
            buf_add_char(b, ')');
        }
        buf_add_char(b, ')');
        break;
    case SQL_BODY_TABLE:
        buf_add_lit(b, "(table ");
        dump_name(b, body->table);
        buf_add_char(b, ')');
        break;
    case SQL_BODY_QUERY:
        buf_add_char(b, '[');
        dump_query(b, body->query);
        buf_add_char(b, ']');
        break;
    }
}

static void ctes(struct buf *b, bool recursive, const struct sql_cte *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(b, "%s" STR_F, i ? " " : (recursive ? "recursive " : "with "), STR_A(v[i].name));
        if (v[i].columns.n)
            dump_names(b, v[i].columns);
        buf_add_char(b, '=');
        dump_query(b, v[i].query);
    }
    if (n)
        buf_add_char(b, ' ');
}

static void limit(struct buf *b, const struct sql_limit *l)
{
    opt(b, "limit", l->count);
    opt(b, "offset", l->offset);
}

void dump_query(struct buf *b, const struct sql_query *q)
{
    ctes(b, q->recursive, q->ctes, q->n_ctes);
    body_dump(b, q->body);
    dump_orders(b, "order", q->order);
    limit(b, &q->limit);
    if (q->into.n) {
        buf_add_lit(b, " into ");
        dump_names(b, q->into);
    }
    if (q->lock)
        buf_printf(b, " %s%s%s", q->lock == SQL_LOCK_UPDATE ? "for-update" : "for-share",
            q->nowait ? " nowait" : "", q->skip_locked ? " skip" : "");
}

/* ---- changes ---- */

static void assigns(struct buf *b, const char *word, struct sql_assigns set)
{
    if (set.n == 0)
        return;
    buf_printf(b, " (%s", word);
    for (uint32_t i = 0; i < set.n; i++) {
        buf_add_char(b, ' ');
        dump_expr(b, set.v[i].column);
        buf_add_char(b, '=');
        dump_expr(b, set.v[i].value);
    }
    buf_add_char(b, ')');
}

static void insert(struct buf *b, const struct sql_insert *i)
{
    buf_printf(b, "(%s%s ", i->replace ? "replace" : "insert", i->ignore ? " ignore" : "");
    dump_name(b, i->table);
    if (i->has_columns) {
        buf_add_char(b, ' ');
        dump_names(b, i->columns);
    }
    for (uint32_t k = 0; k < i->n_rows; k++) {
        buf_add_lit(b, " (row");
        dump_exprs(b, i->rows[k]);
        buf_add_char(b, ')');
    }
    if (i->query) {
        buf_add_char(b, ' ');
        dump_query(b, i->query);
    }
    if (i->row_alias.len)
        buf_printf(b, " as " STR_F, STR_A(i->row_alias));
    if (i->column_aliases.n)
        dump_names(b, i->column_aliases);
    assigns(b, "on-duplicate", i->on_duplicate);
    buf_add_char(b, ')');
}

static void update(struct buf *b, const struct sql_update *u)
{
    ctes(b, u->recursive, u->ctes, u->n_ctes);
    buf_printf(b, "(update%s ", u->ignore ? " ignore" : "");
    dump_table(b, u->table);
    assigns(b, "set", u->set);
    opt(b, "where", u->where);
    dump_orders(b, "order", u->order);
    limit(b, &u->limit);
    buf_add_char(b, ')');
}

static void delete_dump(struct buf *b, const struct sql_delete *d)
{
    ctes(b, d->recursive, d->ctes, d->n_ctes);
    buf_printf(b, "(delete%s", d->ignore ? " ignore" : "");
    for (uint32_t i = 0; i < d->n_targets; i++) {
        buf_add_char(b, ' ');
        dump_name(b, d->targets[i]);
    }
    buf_add_lit(b, " from ");
    dump_table(b, d->from);
    opt(b, "where", d->where);
    dump_orders(b, "order", d->order);
    limit(b, &d->limit);
    buf_add_char(b, ')');
}

void dump_stmt(struct buf *b, const struct sql_stmt *s)
{
    switch (s->kind) {
    case SQL_STMT_EMPTY:
        buf_add_lit(b, "(empty)");
        break;
    case SQL_STMT_QUERY:
        dump_query(b, s->query);
        break;
    case SQL_STMT_INSERT:
        insert(b, s->insert);
        break;
    case SQL_STMT_UPDATE:
        update(b, s->update);
        break;
    case SQL_STMT_DELETE:
        delete_dump(b, s->delete);
        break;
    default:
        dump_define(b, s);
    }
}

/* ---- table tests ---- */

/* What is printed parses to the same tree. Names of functions may be in the other case. */
static void check_print(const struct sql_stmt *s, struct str want)
{
    struct sql_parse_options options = {0, 80036};
    struct arena arena = {0};
    struct buf text = {0}, b = {0};
    struct sql_stmt *again;
    struct db_error e;
    struct str rest;

    sql_print_query(&text, s->query);
    if (sql_parse(&arena, buf_str(&text), &options, &again, &rest, &e) == 0)
        dump_stmt(&b, again);
    else
        buf_printf(&b, "! %s", e.text);
    if (!str_ieq(buf_str(&b), want))
        test_fail(__FILE__, __LINE__, "printed as " STR_F "\n  again: " STR_F "\n  first: " STR_F,
            STR_A(buf_str(&text)), STR_A(buf_str(&b)), STR_A(want));
    buf_fini(&text);
    buf_fini(&b);
    arena_fini(&arena);
}

void dump_check(const struct dump_row *rows, size_t n, uint32_t mode)
{
    struct sql_parse_options options = {mode, 80036};

    for (size_t i = 0; i < n; i++) {
        struct arena arena = {0};
        struct buf b = {0};
        struct sql_stmt *s;
        struct db_error e;
        struct str rest;

        test_row(rows[i].sql);
        if (sql_parse(&arena, str_c(rows[i].sql), &options, &s, &rest, &e) == 0) {
            dump_stmt(&b, s);
            if (s->kind == SQL_STMT_QUERY && !(mode & DB_MODE_PIPES_AS_CONCAT))
                check_print(s, buf_str(&b));
            if (rest.len)
                buf_printf(&b, " ; " STR_F, STR_A(rest));
        } else {
            const char *near = strstr(e.text, "near '");

            buf_printf(&b, "! %d %s", e.number, near ? near : e.text);
        }
        CHECK_STR(buf_str(&b), rows[i].want);
        buf_fini(&b);
        arena_fini(&arena);
    }
    test_row(NULL);
}
