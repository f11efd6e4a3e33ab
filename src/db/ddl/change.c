/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/alter.h"

#define PASSING STR("_ephpm_new") /* a table's name while it is made */

/* The statements, in order. */
struct script {
    struct alter *a;
    const struct db_cat_table *old;
    const struct db_cat_table *t;
    struct buf text; /* of the one being written */
    struct str *v;
    uint32_t n, cap;
};

static void emit(struct script *s)
{
    *(struct str *)build_more(s->a->b.arena, (void **)&s->v, &s->n, &s->cap, sizeof(*s->v)) =
        arena_str(s->a->b.arena, buf_str(&s->text));
    buf_clear(&s->text);
}

/* schema."name" */
static void add_qualified(struct script *s, struct str name)
{
    sqlite_schema(&s->text, s->t);
    buf_add_char(&s->text, '.');
    sqlite_name(&s->text, name);
}

static void rename_to(struct script *s, struct str from, struct str to)
{
    buf_add_lit(&s->text, "ALTER TABLE ");
    add_qualified(s, from);
    buf_add_lit(&s->text, " RENAME TO ");
    sqlite_name(&s->text, to);
    emit(s);
}

static void rename_column(struct script *s, struct str from, struct str to)
{
    buf_add_lit(&s->text, "ALTER TABLE ");
    add_qualified(s, s->old->name);
    buf_add_lit(&s->text, " RENAME COLUMN ");
    sqlite_name(&s->text, from);
    buf_add_lit(&s->text, " TO ");
    sqlite_name(&s->text, to);
    emit(s);
}

/* Several renames may go round (a to b, b to a), and SQLite takes a change of case for a double
 * name: then all go by a passing name. */
static void rename_columns(struct script *s)
{
    const struct alter *a = s->a;
    bool direct = a->n_renames == 1 && !str_ieq(a->renames[0].from, a->renames[0].to);

    for (uint32_t i = 0; i < a->n_renames; i++)
        rename_column(s, a->renames[i].from,
            direct ? a->renames[i].to : arena_printf(a->b.arena, "_ephpm_%u", i));
    for (uint32_t i = 0; !direct && i < a->n_renames; i++)
        rename_column(s, arena_printf(a->b.arena, "_ephpm_%u", i), a->renames[i].to);
}

static void rename_table(struct script *s)
{
    if (str_eq(s->old->name, s->t->name))
        return;
    if (str_ieq(s->old->name, s->t->name)) {
        rename_to(s, s->old->name, PASSING);
        rename_to(s, PASSING, s->t->name);
    } else {
        rename_to(s, s->old->name, s->t->name);
    }
}

/* ---- without a rebuild ---- */

static const struct db_cat_key *kept_key(const struct script *s, uint32_t old)
{
    const struct build *b = &s->a->b;

    for (uint32_t i = 0; i < b->n_keys; i++) {
        if (b->keys[i].old == (int32_t)old)
            return &s->t->keys[i];
    }
    return NULL;
}

static bool index_stays(const struct script *s, uint32_t old)
{
    const struct db_cat_key *from = &s->old->keys[old], *to = kept_key(s, old);

    return to && str_eq(s->old->name, s->t->name) && str_ieq(from->name, to->name) &&
           sqlite_has_index(s->t, to) && same_index(s->a, from, s->t, to);
}

static void drop_indexes(struct script *s)
{
    for (uint32_t i = 0; i < s->old->n_keys; i++) {
        if (!sqlite_has_index(s->old, &s->old->keys[i]) || index_stays(s, i))
            continue;
        buf_add_lit(&s->text, "DROP INDEX IF EXISTS ");
        add_qualified(s, ddl_index_name(s->a->b.arena, s->old->name, s->old->keys[i].name));
        emit(s);
    }
}

static int create_indexes(struct script *s, bool all)
{
    const struct build *b = &s->a->b;
    int r = 0;

    for (uint32_t i = 0; !r && i < b->n_keys; i++) {
        int32_t old = b->keys[i].old;

        if (!sqlite_has_index(s->t, &s->t->keys[i]))
            continue;
        if (!all && old >= 0 && sqlite_has_index(s->old, &s->old->keys[old]) &&
            index_stays(s, (uint32_t)old))
            continue;
        r = sqlite_index(&s->text, b->arena, s->t, &s->t->keys[i], s->t->name, b->env, b->e);
        if (!r)
            emit(s);
    }
    return r;
}

/* SQLite's literal of a default as it lies. */
static void add_literal(struct buf *out, const struct db_cat_column *c, struct str v)
{
    if (db_base_is_binary(c->type.base)) {
        buf_add_lit(out, "x'");
        for (size_t i = 0; i < v.len; i++)
            buf_printf(out, "%02x", (unsigned char)v.p[i]);
        buf_add_char(out, '\'');
    } else if (db_base_is_int(c->type.base) || c->type.base == DB_T_YEAR ||
               c->type.base == DB_T_FLOAT || c->type.base == DB_T_DOUBLE) {
        buf_add_str(out, v);
    } else {
        sqlite_string(out, v);
    }
}

/* What rows get that are there already, of a column that is new. */
static int add_initial(struct script *s, const struct db_cat_column *c)
{
    const struct build *b = &s->a->b;
    struct sql_expr now = {.kind = SQL_CALL, .name = STR("CURRENT_TIMESTAMP")};
    struct sql_expr decimals = {.kind = SQL_INT, .u = (uint64_t)MAX(c->type.decimals, 0)};
    struct sql_expr *args[] = {&decimals}, *e = &now;
    struct db_type type;
    struct str sql;
    int r = 0;

    switch (c->default_kind) {
    case DB_DEFAULT_VALUE:
        if (is_local_default(b->env, c))
            buf_add_lit(&s->text, "m_ts_utc(");
        add_literal(&s->text, c, c->default_text);
        if (is_local_default(b->env, c))
            buf_add_char(&s->text, ')');
        return 0;
    case DB_DEFAULT_NOW:
        now.list = (struct sql_exprs){.v = args, .n = 1};
        break;
    case DB_DEFAULT_EXPR:
        if ((r = build_parse(b->arena, c->default_text, &e, b->e)))
            return r;
        break;
    default:
        buf_add_str(&s->text, c->not_null ? build_zero(&s->a->b, c) : STR("NULL"));
        return 0;
    }
    if ((r = tr_expr(b->arena, e, s->t, b->env, &sql, &type, b->e)))
        return r;
    buf_add_str(&s->text, tr_store_call(b->arena, c, sql));
    return 0;
}

static int add_columns(struct script *s)
{
    const struct build *b = &s->a->b;
    int r = 0;

    for (uint32_t i = 0; !r && i < b->n_columns; i++) {
        const struct db_cat_column *c = &s->t->columns[i];

        if (b->columns[i].old >= 0)
            continue;
        buf_add_lit(&s->text, "ALTER TABLE ");
        add_qualified(s, s->t->name);
        buf_add_lit(&s->text, " ADD COLUMN ");
        r = sqlite_column(&s->text, b->arena, s->t, i, b->env, b->e);
        if (!r && c->generated.len == 0 && (c->not_null || c->default_kind == DB_DEFAULT_VALUE)) {
            buf_add_lit(&s->text, " DEFAULT ");
            r = add_initial(s, c);
        }
        if (!r)
            emit(s);
    }
    return r;
}

static int by_statements(struct script *s)
{
    int r;

    rename_columns(s);
    drop_indexes(s);
    rename_table(s);
    if ((r = add_columns(s)))
        return r;
    return create_indexes(s, false);
}

/* ---- with a rebuild ---- */

/* The value of an old column on its way into the new one. */
static void add_converted(
    struct script *s, const struct db_cat_column *from, const struct db_cat_column *to)
{
    struct arena *arena = s->a->b.arena;
    struct buf value = {0};
    bool to_number = db_base_is_number(to->type.base);

    if (from->type.base == DB_T_TIMESTAMP)
        buf_add_lit(&value, "m_ts_local(");
    else if (from->type.base == DB_T_ENUM && to_number)
        buf_add_lit(&value, "m_enum_index(");
    sqlite_name(&value, to->name); /* it has been renamed by now */
    if (from->type.base == DB_T_TIMESTAMP) {
        buf_add_char(&value, ')');
    } else if (from->type.base == DB_T_ENUM && to_number) {
        struct buf members = {0};

        for (uint32_t i = 0; i < from->type.n_members; i++) {
            if (i > 0)
                buf_add_char(&members, ',');
            for (size_t k = 0; k < from->type.members[i].len; k++) {
                char c = from->type.members[i].p[k];

                if (c == ',' || c == '\\')
                    buf_add_char(&members, '\\');
                buf_add_char(&members, c);
            }
        }
        buf_add_lit(&value, ", ");
        sqlite_string(&value, buf_str(&members));
        buf_add_char(&value, ')');
        buf_fini(&members);
    }
    buf_add_str(&s->text, tr_store_call(arena, to, arena_str(arena, buf_str(&value))));
    buf_fini(&value);
}

static int add_value(struct script *s, uint32_t at)
{
    const struct build_column *c = &s->a->b.columns[at];
    const struct db_cat_column *to = &s->t->columns[at];
    const struct db_cat_column *from = c->old >= 0 ? &s->old->columns[c->old] : NULL;

    if (!from && c->numbered) {
        buf_add_lit(&s->text, "row_number() OVER (ORDER BY rowid)");
        return 0;
    }
    if (!from)
        return add_initial(s, to);
    if (to->auto_increment && !from->auto_increment && s->t->rowid_column == (int32_t)at) {
        buf_add_lit(&s->text, "NULLIF("); /* 0 wants a number */
        sqlite_name(&s->text, to->name);
        buf_add_lit(&s->text, ", 0)");
    } else if (from->generated.len == 0 && type_widens(&from->type, &to->type) &&
               (from->not_null || !to->not_null)) {
        sqlite_name(&s->text, to->name);
    } else {
        add_converted(s, from, to);
    }
    return 0;
}

static int copy_rows(struct script *s)
{
    uint32_t n = 0;
    int r = 0;

    buf_add_lit(&s->text, "INSERT INTO ");
    add_qualified(s, PASSING);
    for (uint32_t i = 0; i < s->t->n_columns; i++) {
        if (s->t->columns[i].generated.len > 0)
            continue;
        buf_add_str(&s->text, n++ > 0 ? STR(", ") : STR(" ("));
        sqlite_name(&s->text, s->t->columns[i].name);
    }
    buf_add_lit(&s->text, ") SELECT ");
    n = 0;
    for (uint32_t i = 0; !r && i < s->t->n_columns; i++) {
        if (s->t->columns[i].generated.len > 0)
            continue;
        buf_add_str(&s->text, n++ > 0 ? STR(", ") : STR_NONE);
        r = add_value(s, i);
    }
    buf_add_lit(&s->text, " FROM ");
    add_qualified(s, s->t->name);
    buf_add_lit(&s->text, " ORDER BY rowid");
    if (!r)
        emit(s);
    return r;
}

static bool is_numbered(const struct db_cat_table *t)
{
    return t->rowid_column >= 0 && t->auto_column == t->rowid_column;
}

/* Numbers that were given once are not given again. */
static void carry_sequence(struct script *s)
{
    if (!is_numbered(s->old) || !is_numbered(s->t))
        return;
    buf_add_lit(&s->text, "INSERT INTO ");
    add_qualified(s, STR("sqlite_sequence"));
    buf_add_lit(&s->text, " (name, seq) SELECT '_ephpm_new', seq FROM ");
    add_qualified(s, STR("sqlite_sequence"));
    buf_add_lit(&s->text, " WHERE name = ");
    sqlite_string(&s->text, s->t->name);
    emit(s);
}

static int by_rebuild(struct script *s, int32_t *copy)
{
    const struct build *b = &s->a->b;
    struct str *statements;
    uint32_t n;
    int r;

    rename_columns(s);
    rename_table(s);
    if ((r = ddl_sqlite(b->arena, s->t, PASSING, b->env, &statements, &n, b->e)))
        return r;
    buf_add_str(&s->text, statements[0]);
    emit(s);
    carry_sequence(s);
    *copy = (int32_t)s->n;
    if ((r = copy_rows(s)))
        return r;
    buf_add_lit(&s->text, "DROP TABLE ");
    add_qualified(s, s->t->name);
    emit(s);
    rename_to(s, PASSING, s->t->name);
    return create_indexes(s, true);
}

int alter_change(struct alter *a, struct db_cat_table *t, struct ddl_change **out)
{
    struct ddl_change *c = arena_new(a->b.arena, sizeof(*c));
    struct script s = {.a = a, .old = a->b.old, .t = t};
    bool rebuild = needs_rebuild(a, t);
    int r;

    *c = (struct ddl_change){.table = t,
        .copy = -1,
        .renames = a->renames,
        .n_renames = a->n_renames,
        .auto_increment = a->b.auto_increment};
    r = rebuild ? by_rebuild(&s, &c->copy) : by_statements(&s);
    buf_fini(&s.text);
    if (r)
        return r;
    if (!counts_rows(a, t))
        c->copy = -1;
    c->statements = s.v;
    c->n_statements = s.n;
    c->way = rebuild ? DDL_REBUILD : s.n > 0 ? DDL_STATEMENTS : DDL_CATALOG_ONLY;
    c->views_off = rebuild || a->n_renames > 0 || !str_eq(t->name, a->b.old->name);
    c->foreign_keys_off = rebuild;
    c->check_foreign_keys = t->n_fks > a->b.kept_fks;
    *out = c;
    return 0;
}

/* ---- other tables ---- */

static struct str name_after(const struct ddl_change *change, struct str name)
{
    for (uint32_t i = 0; i < change->n_renames; i++) {
        if (str_ieq(change->renames[i].from, name))
            return change->renames[i].to;
    }
    return name;
}

static bool still_unique(const struct db_cat_table *t, const struct str *columns, uint32_t n)
{
    for (uint32_t i = 0; i < t->n_keys; i++) {
        const struct db_cat_key *k = &t->keys[i];
        uint32_t found = 0;

        for (uint32_t j = 0; k->kind <= DB_KEY_UNIQUE && k->n_parts == n && j < n; j++) {
            for (uint32_t c = 0; c < n; c++)
                found += k->parts[j].column >= 0 && k->parts[j].length == 0 &&
                         str_ieq(t->columns[k->parts[j].column].name, columns[c]);
        }
        if (found == n)
            return true;
    }
    return false;
}

/* The foreign key as it refers now; *changed when that is another way than before. */
static int refer_one(struct arena *arena, const struct db_cat_table *other,
    const struct db_cat_table *old, const struct ddl_change *change, struct db_cat_fk *fk,
    bool *changed, struct db_error *e)
{
    struct str *refs = arena_new(arena, (fk->n_columns + 1) * sizeof(*refs));

    for (uint32_t i = 0; i < fk->n_columns; i++) {
        refs[i] = name_after(change, fk->ref_columns[i]);
        *changed = *changed || !str_eq(refs[i], fk->ref_columns[i]);
        if (db_cat_column_find(change->table, refs[i]) < 0)
            return db_error_set(e, DB_E_FK_COLUMN_DROP_CHILD,
                arena_str(arena, fk->ref_columns[i]).p, arena_str(arena, fk->name).p,
                arena_str(arena, other->name).p);
    }
    if (still_unique(old, fk->ref_columns, fk->n_columns) &&
        !still_unique(change->table, refs, fk->n_columns))
        return db_error_set(e, DB_E_DROP_INDEX_FK, arena_str(arena, fk->name).p);
    *changed = *changed || !str_eq(fk->ref_table, change->table->name);
    fk->ref_columns = refs;
    fk->ref_table = change->table->name;
    return 0;
}

int ddl_refer(struct arena *arena, const struct db_cat_table *other, const struct db_cat_table *old,
    const struct ddl_change *change, struct db_cat_table **out, struct db_error *e)
{
    struct db_cat_fk *fks = arena_new(arena, (other->n_fks + 1) * sizeof(*fks));
    struct db_cat_table *t;
    bool changed = false;

    *out = NULL;
    for (uint32_t i = 0; i < other->n_fks; i++) {
        int r;

        fks[i] = other->fks[i];
        if (!str_ieq(fks[i].ref_table, old->name))
            continue;
        if ((r = refer_one(arena, other, old, change, &fks[i], &changed, e)))
            return r;
    }
    if (!changed)
        return 0;
    t = arena_new(arena, sizeof(*t));
    *t = *other;
    t->fks = fks;
    *out = t;
    return 0;
}
