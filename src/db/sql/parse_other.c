/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Transactions, locks, prepared statements, administration, and what is refused.
 */
#include "db/sql/parser.h"

/* ---- transactions ---- */

static void start_transaction(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_BEGIN;
    ps_next(p);
    if (ps_is_word(p, W_SLAVE) || ps_is_word(p, W_REPLICA) || ps_is_word(p, W_GROUP_REPLICATION))
        ps_refuse(p, "START REPLICA");
    ps_expect_word(p, W_TRANSACTION);
    if (!ps_is_word(p, W_WITH) && !ps_is_word(p, W_READ))
        return;
    do {
        if (ps_accept_word(p, W_WITH)) {
            ps_expect_word(p, W_CONSISTENT);
            ps_expect_word(p, W_SNAPSHOT);
            s->snapshot = true;
        } else if (s->access || !(s->access = ps_access(p))) {
            ps_fail(p);
        }
    } while (ps_accept(p, T_COMMA));
}

static void begin(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_BEGIN;
    ps_next(p);
    if (ps_is_word(p, W_NOT)) {
        p->refused_all = true;
        ps_refuse(p, "BEGIN NOT ATOMIC");
    }
    (void)ps_accept_word(p, W_WORK);
}

/* [AND [NO] CHAIN] [[NO] RELEASE] */
static void completion(struct sql_parser *p, struct sql_stmt *s)
{
    if (ps_accept_word(p, W_AND)) {
        s->chain = !ps_accept_word(p, W_NO);
        ps_expect_word(p, W_CHAIN);
    }
    if (ps_accept_word(p, W_NO)) {
        ps_expect_word(p, W_RELEASE);
        return;
    }
    s->release = ps_accept_word(p, W_RELEASE);
    if (s->release && s->chain)
        ps_fail(p);
}

static void commit(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_COMMIT;
    ps_next(p);
    (void)ps_accept_word(p, W_WORK);
    completion(p, s);
}

static void rollback(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_ROLLBACK;
    ps_next(p);
    (void)ps_accept_word(p, W_WORK);
    if (ps_accept_word(p, W_TO)) {
        s->kind = SQL_STMT_ROLLBACK_TO;
        if (ps_is_word(p, W_SAVEPOINT) && ps_token_is_name(ps_peek(p, 1)))
            ps_next(p);
        s->name = ps_name(p);
        return;
    }
    completion(p, s);
}

static void savepoint(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_SAVEPOINT;
    ps_next(p);
    s->name = ps_name(p);
}

static void release(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_RELEASE;
    ps_next(p);
    ps_expect_word(p, W_SAVEPOINT);
    s->name = ps_name(p);
}

/* ---- locks ---- */

static void lock_tables(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_LOCK_TABLES;
    ps_next(p);
    if (ps_is_word(p, W_INSTANCE))
        ps_refuse(p, "LOCK INSTANCE");
    if (!ps_accept_word(p, W_TABLES))
        ps_expect_word(p, W_TABLE);
    do {
        __typeof__(*s->locks) *l = ps_add(p, &vec, sizeof(*l));

        l->table = ps_table_name(p);
        if (!ps_is_word(p, W_READ) && !ps_is_word(p, W_WRITE))
            l->alias = ps_alias(p);
        if (ps_accept_word(p, W_READ)) {
            (void)ps_accept_word(p, W_LOCAL); /* MyISAM's */
            continue;
        }
        (void)ps_accept_word(p, W_LOW_PRIORITY);
        ps_expect_word(p, W_WRITE);
        l->write = true;
    } while (ps_accept(p, T_COMMA));
    s->locks = vec.v;
    s->n_locks = vec.n;
}

static void unlock_tables(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_UNLOCK_TABLES;
    ps_next(p);
    if (ps_is_word(p, W_INSTANCE))
        ps_refuse(p, "UNLOCK INSTANCE");
    if (!ps_accept_word(p, W_TABLES))
        ps_expect_word(p, W_TABLE);
}

/* ---- prepared statements ---- */

static void prepare(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_PREPARE;
    ps_next(p);
    s->name = ps_name(p);
    ps_expect_word(p, W_FROM);
    if (!ps_is(p, T_STRING) && !ps_is(p, T_USER_VAR))
        ps_fail(p);
    ps_add_expr(p, &vec, ps_operand(p));
    s->exprs = (struct sql_exprs){vec.v, vec.n};
}

static void execute(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_EXECUTE;
    ps_next(p);
    if (ps_is_word(p, W_IMMEDIATE) && !ps_peek_word(p, 1, W_USING))
        ps_refuse(p, "EXECUTE IMMEDIATE");
    s->name = ps_name(p);
    if (!ps_accept_word(p, W_USING))
        return;
    do {
        if (!ps_is(p, T_USER_VAR))
            ps_fail(p);
        ps_add_expr(p, &vec, ps_operand(p));
    } while (ps_accept(p, T_COMMA));
    s->exprs = (struct sql_exprs){vec.v, vec.n};
}

static void deallocate(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_DEALLOCATE;
    ps_next(p);
    ps_expect_word(p, W_PREPARE);
    s->name = ps_name(p);
}

/* ---- the rest ---- */

static void use(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_USE;
    ps_next(p);
    s->name = ps_name(p);
}

static void do_exprs(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_DO;
    ps_next(p);
    do {
        ps_add_expr(p, &vec, ps_expr(p));
        if (ps_accept_word(p, W_AS) || ps_is_name(p))
            (void)ps_name_or_string(p);
    } while (ps_accept(p, T_COMMA));
    s->exprs = (struct sql_exprs){vec.v, vec.n};
}

static void kill_session(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_KILL;
    ps_next(p);
    s->query_only = ps_accept_word(p, W_QUERY);
    if (!s->query_only)
        (void)ps_accept_word(p, W_CONNECTION); /* the default */
    ps_add_expr(p, &vec, ps_expr(p));
    s->exprs = (struct sql_exprs){vec.v, vec.n};
}

static bool admin_option(struct sql_parser *p)
{
    static const enum sql_word words[] = {
        W_QUICK, W_EXTENDED, W_FAST, W_MEDIUM, W_CHANGED, W_USE_FRM, W_FORCE};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (ps_accept_word(p, words[i]))
            return true;
    }
    return ps_accept_words(p, W_FOR, W_UPGRADE);
}

/* ANALYZE TABLE ... UPDATE HISTOGRAM ON ..., PERSISTENT FOR ALL: statistics that we do not keep */
static void histogram(struct sql_parser *p)
{
    if ((ps_is_word(p, W_UPDATE) || ps_is_word(p, W_DROP)) && ps_peek_word(p, 1, W_HISTOGRAM))
        ps_refuse(p, "ANALYZE TABLE ... HISTOGRAM");
    if (ps_is_word(p, W_PERSISTENT))
        ps_refuse(p, "ANALYZE TABLE ... PERSISTENT FOR");
}

/* ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR [LOCAL] TABLE t, ... [options] */
static void admin(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_ADMIN;
    s->name = sql_word_text(p->tok.word);
    s->drop = ps_new(p, sizeof(*s->drop));
    ps_next(p);
    if (!ps_accept_word(p, W_NO_WRITE_TO_BINLOG))
        (void)ps_accept_word(p, W_LOCAL); /* both say: not to the binary log */
    if (ps_is_word(p, W_VIEW))
        ps_refuse(p, "CHECK VIEW");
    if (!ps_accept_word(p, W_TABLES))
        ps_expect_word(p, W_TABLE);
    do {
        struct sql_name n = ps_table_name(p);

        *(struct sql_name *)ps_add(p, &vec, sizeof(n)) = n;
    } while (ps_accept(p, T_COMMA));
    s->drop->names = vec.v;
    s->drop->n_names = vec.n;
    histogram(p);
    while (admin_option(p))
        continue;
}

/* ANALYZE SELECT ... is MariaDB's EXPLAIN ANALYZE. */
static void analyze(struct sql_parser *p, struct sql_stmt *s)
{
    if (ps_peek_word(p, 1, W_TABLE) || ps_peek_word(p, 1, W_TABLES) ||
        ps_peek_word(p, 1, W_LOCAL) || ps_peek_word(p, 1, W_NO_WRITE_TO_BINLOG))
        admin(p, s);
    else
        ps_refuse(p, "ANALYZE");
}

/* Read to its end, with nothing in it that is no token. */
static void to_the_end(struct sql_parser *p, struct sql_stmt *s, enum sql_stmt_kind kind)
{
    s->kind = kind;
    ps_next(p);
    if (ps_is(p, T_END) || ps_is(p, T_SEMICOLON))
        ps_fail(p);
    while (!p->failed && !ps_is(p, T_END) && !ps_is(p, T_SEMICOLON)) {
        if (ps_is(p, T_BAD))
            ps_fail(p);
        ps_next(p);
    }
}

static void flush(struct sql_parser *p, struct sql_stmt *s)
{
    to_the_end(p, s, SQL_STMT_FLUSH);
}

static void accounts(struct sql_parser *p, struct sql_stmt *s)
{
    to_the_end(p, s, SQL_STMT_ACCOUNT);
}

static void call(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_name n;

    s->kind = SQL_STMT_CALL;
    ps_next(p);
    n = ps_table_name(p);
    s->name = n.name;
    if (ps_is(p, T_OPEN))
        s->exprs = ps_args(p);
}

/* ---- all ---- */

static const struct {
    enum sql_word word;
    void (*parse)(struct sql_parser *p, struct sql_stmt *s);
    const char *refused;
} rows[] = {
    {W_START, start_transaction, NULL},
    {W_BEGIN, begin, NULL},
    {W_COMMIT, commit, NULL},
    {W_ROLLBACK, rollback, NULL},
    {W_SAVEPOINT, savepoint, NULL},
    {W_RELEASE, release, NULL},
    {W_LOCK, lock_tables, NULL},
    {W_UNLOCK, unlock_tables, NULL},
    {W_PREPARE, prepare, NULL},
    {W_EXECUTE, execute, NULL},
    {W_DEALLOCATE, deallocate, NULL},
    {W_USE, use, NULL},
    {W_DO, do_exprs, NULL},
    {W_KILL, kill_session, NULL},
    {W_ANALYZE, analyze, NULL},
    {W_CHECK, admin, NULL},
    {W_CHECKSUM, admin, NULL},
    {W_OPTIMIZE, admin, NULL},
    {W_REPAIR, admin, NULL},
    {W_FLUSH, flush, NULL},
    {W_GRANT, accounts, NULL},
    {W_REVOKE, accounts, NULL},
    {W_CALL, call, NULL},
    {W_LOAD, NULL, "LOAD DATA"},
    {W_XA, NULL, "XA"},
    {W_HANDLER, NULL, "HANDLER"},
    {W_INSTALL, NULL, "INSTALL PLUGIN"},
    {W_UNINSTALL, NULL, "UNINSTALL PLUGIN"},
    {W_CHANGE, NULL, "CHANGE REPLICATION SOURCE"},
    {W_STOP, NULL, "STOP REPLICA"},
    {W_RESET, NULL, "RESET"},
    {W_PURGE, NULL, "PURGE BINARY LOGS"},
    {W_BINLOG, NULL, "BINLOG"},
    {W_CLONE, NULL, "CLONE"},
    {W_IMPORT, NULL, "IMPORT TABLE"},
    {W_SHUTDOWN, NULL, "SHUTDOWN"},
    {W_RESTART, NULL, "RESTART"},
    {W_HELP, NULL, "HELP"},
    {W_SIGNAL, NULL, "SIGNAL"},
    {W_RESIGNAL, NULL, "RESIGNAL"},
    {W_GET, NULL, "GET DIAGNOSTICS"},
    {W_CACHE, NULL, "CACHE INDEX"},
    {W_BACKUP, NULL, "BACKUP"},
};

bool ps_stmt_other(struct sql_parser *p, struct sql_stmt *s)
{
    for (size_t i = 0; ps_is(p, T_WORD) && i < ARRAY_LEN(rows); i++) {
        if (rows[i].word != p->tok.word)
            continue;
        if (rows[i].parse)
            rows[i].parse(p, s);
        else
            ps_refuse(p, rows[i].refused);
        return true;
    }
    return false;
}
