/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * ALTER TABLE.
 */
#include "db/sql/parser.h"

static struct sql_alter_action *add(
    struct sql_parser *p, struct ps_vec *vec, enum sql_alter_kind kind)
{
    struct sql_alter_action *a = ps_add(p, vec, sizeof(*a));

    a->kind = kind;
    return a;
}

/* FIRST, AFTER column */
static void place(struct sql_parser *p, struct sql_alter_action *a)
{
    a->first = ps_accept_word(p, W_FIRST);
    if (!a->first && ps_accept_word(p, W_AFTER))
        a->after = ps_name(p);
}

static void restrict_or_cascade(struct sql_parser *p)
{
    if (!ps_accept_word(p, W_RESTRICT))
        (void)ps_accept_word(p, W_CASCADE); /* neither means anything */
}

/* ---- ADD ---- */

static void add_constraint(struct sql_parser *p, struct ps_vec *vec)
{
    static const enum sql_alter_kind kinds[] = {
        [PS_KEY] = SQL_ALTER_ADD_KEY, [PS_FK] = SQL_ALTER_ADD_FK, [PS_CHECK] = SQL_ALTER_ADD_CHECK};
    struct ps_constraint_def c;
    struct sql_alter_action *a;

    ps_constraint(p, &c);
    a = add(p, vec, kinds[c.kind]);
    a->if_exists = c.if_not_exists;
    a->key = c.key;
    a->fk = c.fk;
    a->check = c.check;
}

static void add_column(struct sql_parser *p, struct ps_vec *vec, bool placed)
{
    struct sql_alter_action *a = add(p, vec, SQL_ALTER_ADD_COLUMN);

    a->if_exists = ps_accept_if_not_exists(p);
    a->column.name = ps_name(p);
    ps_column_def(p, &a->column);
    if (placed)
        place(p, a);
}

/* What is about partitions: there are none, so nothing changes. */
static bool partitions(struct sql_parser *p, struct ps_vec *vec)
{
    if (!ps_is_word(p, W_PARTITION) && !ps_is_word(p, W_PARTITIONING))
        return false;
    (void)add(p, vec, SQL_ALTER_NOTHING);
    (void)ps_partition_text(p);
    return true;
}

static void add_something(struct sql_parser *p, struct ps_vec *vec)
{
    if (partitions(p, vec))
        return;
    if (ps_at_constraint(p)) {
        add_constraint(p, vec);
        return;
    }
    (void)ps_accept_word(p, W_COLUMN);
    if (!ps_accept(p, T_OPEN)) {
        add_column(p, vec, true);
        return;
    }
    do {
        if (ps_at_constraint(p))
            add_constraint(p, vec);
        else
            add_column(p, vec, false);
    } while (ps_accept(p, T_COMMA));
    ps_expect(p, T_CLOSE);
}

/* ---- DROP ---- */

static void drop_named(struct sql_parser *p, struct ps_vec *vec, enum sql_alter_kind kind)
{
    struct sql_alter_action *a = add(p, vec, kind);

    a->if_exists = ps_accept_if_exists(p);
    a->name = ps_name(p);
}

static void drop_something(struct sql_parser *p, struct ps_vec *vec)
{
    if (partitions(p, vec))
        return;
    if (ps_accept_word(p, W_PRIMARY)) {
        ps_expect_word(p, W_KEY);
        (void)add(p, vec, SQL_ALTER_DROP_PRIMARY);
    } else if (ps_accept_word(p, W_FOREIGN)) {
        ps_expect_word(p, W_KEY);
        drop_named(p, vec, SQL_ALTER_DROP_FK);
    } else if (ps_accept_word(p, W_INDEX) || ps_accept_word(p, W_KEY)) {
        drop_named(p, vec, SQL_ALTER_DROP_KEY);
    } else if (ps_accept_word(p, W_CHECK)) {
        drop_named(p, vec, SQL_ALTER_DROP_CHECK);
    } else if (ps_accept_word(p, W_CONSTRAINT)) {
        drop_named(p, vec, SQL_ALTER_DROP_CONSTRAINT);
    } else {
        (void)ps_accept_word(p, W_COLUMN);
        drop_named(p, vec, SQL_ALTER_DROP_COLUMN);
        restrict_or_cascade(p);
    }
}

/* ---- MODIFY, CHANGE, ALTER, RENAME ---- */

static void modify(struct sql_parser *p, struct ps_vec *vec, bool change)
{
    struct sql_alter_action *a =
        add(p, vec, change ? SQL_ALTER_CHANGE_COLUMN : SQL_ALTER_MODIFY_COLUMN);

    (void)ps_accept_word(p, W_COLUMN);
    a->if_exists = ps_accept_if_exists(p);
    a->name = ps_name(p);
    a->column.name = change ? ps_name(p) : a->name;
    ps_column_def(p, &a->column);
    place(p, a);
}

static void alter_column(struct sql_parser *p, struct ps_vec *vec)
{
    struct sql_alter_action *a;

    (void)ps_accept_word(p, W_COLUMN);
    a = add(p, vec, SQL_ALTER_SET_DEFAULT);
    a->if_exists = ps_accept_if_exists(p);
    a->name = ps_name(p);
    if (ps_accept_words(p, W_DROP, W_DEFAULT)) {
        a->kind = SQL_ALTER_DROP_DEFAULT;
        return;
    }
    ps_expect_word(p, W_SET);
    if (ps_is_word(p, W_VISIBLE) || ps_is_word(p, W_INVISIBLE))
        ps_refuse(p, "ALTER COLUMN ... SET INVISIBLE");
    ps_expect_word(p, W_DEFAULT);
    a->column.default_value = ps_default_value(p);
}

/* ALTER INDEX i [NOT] VISIBLE, ALTER CHECK c NOT ENFORCED, ALTER [COLUMN] c ... */
static void alter_something(struct sql_parser *p, struct ps_vec *vec)
{
    if (ps_accept_word(p, W_INDEX) || ps_accept_word(p, W_KEY)) {
        struct sql_alter_action *a = add(p, vec, SQL_ALTER_KEY_VISIBLE);
        bool not;

        a->if_exists = ps_accept_if_exists(p);
        a->name = ps_name(p);
        not = ps_accept_word(p, W_NOT);
        if (ps_accept_word(p, W_VISIBLE) || (not&&ps_accept_word(p, W_IGNORED))) {
            a->yes = true;
        } else if (!ps_accept_word(p, W_INVISIBLE)) {
            ps_expect_word(p, W_IGNORED);
        }
    } else if (ps_is_word(p, W_CHECK) || ps_is_word(p, W_CONSTRAINT)) {
        ps_refuse(p, "ALTER CHECK");
    } else {
        alter_column(p, vec);
    }
}

static void rename_something(struct sql_parser *p, struct ps_vec *vec)
{
    bool column = ps_is_word(p, W_COLUMN);
    struct sql_alter_action *a = add(p, vec, SQL_ALTER_RENAME_TABLE);

    if (column || ps_is_word(p, W_INDEX) || ps_is_word(p, W_KEY)) {
        a->kind = column ? SQL_ALTER_RENAME_COLUMN : SQL_ALTER_RENAME_KEY;
        ps_next(p);
        a->if_exists = ps_accept_if_exists(p);
        a->name = ps_name(p);
        ps_expect_word(p, W_TO);
        a->new_name = ps_name(p);
        return;
    }
    if (!ps_accept_word(p, W_TO) && !ps_accept_word(p, W_AS))
        (void)ps_accept(p, T_EQ); /* all may be left out */
    a->table = ps_table_name(p);
}

/* ---- options ---- */

static void convert(struct sql_parser *p, struct ps_vec *vec)
{
    struct sql_alter_action *a = add(p, vec, SQL_ALTER_CONVERT);
    struct ps_vec options = {0};

    ps_expect_word(p, W_TO);
    if (!ps_is_word(p, W_CHARSET) && !ps_is_word(p, W_CHARACTER) && !ps_is_word(p, W_CHAR))
        ps_fail(p);
    (void)ps_option(p, &options);
    if (ps_is_word(p, W_COLLATE))
        (void)ps_option(p, &options);
    a->options = options.v;
    a->n_options = options.n;
}

static bool options(struct sql_parser *p, struct ps_vec *vec)
{
    struct ps_vec options = {0};
    struct sql_alter_action *a;

    while (ps_option(p, &options))
        continue;
    if (options.n == 0)
        return false;
    a = add(p, vec, SQL_ALTER_OPTIONS);
    a->options = options.v;
    a->n_options = options.n;
    return true;
}

/* ALGORITHM = x, LOCK = x */
static bool how(struct sql_parser *p)
{
    if (!ps_is_word(p, W_ALGORITHM) && !ps_is_word(p, W_LOCK))
        return false;
    ps_next(p);
    (void)ps_accept(p, T_EQ);
    if (!ps_accept_word(p, W_DEFAULT))
        (void)ps_name(p);
    return true;
}

/* ANALYZE PARTITION and its kin */
static bool partition_verb(struct sql_parser *p)
{
    static const enum sql_word words[] = {W_ANALYZE, W_CHECK, W_OPTIMIZE, W_REBUILD, W_REPAIR,
        W_TRUNCATE, W_EXCHANGE, W_REORGANIZE, W_DISCARD, W_IMPORT, W_REMOVE, W_UPGRADE};

    if (!ps_peek_word(p, 1, W_PARTITION) && !ps_peek_word(p, 1, W_PARTITIONING))
        return str_ieq(p->tok.s, STR("COALESCE")) && ps_peek_word(p, 1, W_PARTITION);
    for (size_t i = 0; ps_is(p, T_WORD) && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return str_ieq(p->tok.s, STR("COALESCE"));
}

static bool nothing(struct sql_parser *p)
{
    if (ps_accept_words(p, W_ENABLE, W_KEYS) || ps_accept_words(p, W_DISABLE, W_KEYS) ||
        ps_accept_word(p, W_FORCE) || ps_accept_words(p, W_WITH, W_VALIDATION) ||
        ps_accept_words(p, W_WITHOUT, W_VALIDATION))
        return true;
    if ((ps_is_word(p, W_DISCARD) || ps_is_word(p, W_IMPORT)) && ps_peek_word(p, 1, W_TABLESPACE)) {
        ps_refuse(p, "ALTER TABLE ... TABLESPACE");
        return true;
    }
    return how(p);
}

/* ---- all ---- */

static void action(struct sql_parser *p, struct ps_vec *vec)
{
    if (ps_accept_word(p, W_ADD)) {
        add_something(p, vec);
    } else if (ps_accept_word(p, W_DROP)) {
        drop_something(p, vec);
    } else if (ps_is_word(p, W_MODIFY) || ps_is_word(p, W_CHANGE)) {
        bool change = ps_is_word(p, W_CHANGE);

        ps_next(p);
        modify(p, vec, change);
    } else if (ps_accept_word(p, W_ALTER)) {
        alter_something(p, vec);
    } else if (ps_accept_word(p, W_RENAME)) {
        rename_something(p, vec);
    } else if (ps_accept_word(p, W_CONVERT)) {
        convert(p, vec);
    } else if (ps_is_word(p, W_ORDER)) {
        (void)ps_order_by(p);
        (void)add(p, vec, SQL_ALTER_ORDER);
    } else if (partition_verb(p)) {
        ps_next(p);
        (void)partitions(p, vec);
    } else if (nothing(p)) {
        (void)add(p, vec, SQL_ALTER_NOTHING);
    } else if (!partitions(p, vec) && !options(p, vec)) {
        ps_fail(p);
    }
}

void ps_alter_table(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_alter_table *t = ps_new(p, sizeof(*t));
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_ALTER_TABLE;
    s->alter_table = t;
    (void)ps_accept_word(p, W_IGNORE);
    ps_expect_word(p, W_TABLE);
    s->if_exists = ps_accept_if_exists(p);
    t->table = ps_table_name(p);
    /* MySQL takes an ALTER TABLE without actions, and does nothing. */
    if (!ps_is(p, T_END) && !ps_is(p, T_SEMICOLON)) {
        do {
            action(p, &vec);
        } while (ps_accept(p, T_COMMA));
        if (ps_is_word(p, W_PARTITION) || ps_is_word(p, W_REMOVE))
            action(p, &vec);
    }
    t->actions = vec.v;
    t->n_actions = vec.n;
}
