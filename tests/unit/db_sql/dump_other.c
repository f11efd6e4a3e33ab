/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* SET, SHOW, transactions and the rest. */
#include "unit/db_sql/dump.h"

static const char *const scopes[] = {"", "session ", "global ", "persist ", "persist-only "};
static const char *const access_texts[] = {"", " read-only", " read-write"};

static void word(struct buf *b, bool on, const char *text)
{
    if (on)
        buf_printf(b, " %s", text);
}

static void text(struct buf *b, struct str s)
{
    if (s.len)
        buf_printf(b, " " STR_F, STR_A(s));
}

static void one_set(struct buf *b, const struct sql_set *s)
{
    static const char *const kinds[] = {
        "user", "system", "names", "charset", "transaction", "nothing"};

    buf_printf(
        b, " (%s%s%s", s->scope ? scopes[s->scope] : "", kinds[s->kind], access_texts[s->access]);
    text(b, s->name);
    text(b, s->collation);
    text(b, s->isolation);
    if (s->value) {
        buf_add_char(b, ' ');
        dump_expr(b, s->value);
    }
    buf_add_char(b, ')');
}

static void show(struct buf *b, const char *head, const struct sql_show_stmt *s)
{
    static const char *const kinds[] = {"binary-logs", "charset", "collation", "columns",
        "create-database", "create-table", "create-view", "create-other", "databases", "engines",
        "engine-status", "errors", "events", "function-status", "grants", "index", "master-status",
        "open-tables", "plugins", "privileges", "procedure-status", "processlist", "profiles",
        "replica-status", "status", "tables", "table-status", "triggers", "variables", "warnings"};

    buf_printf(b, "(%s %s%s", head, s->scope ? scopes[s->scope] : "", kinds[s->what]);
    word(b, s->full, "full");
    word(b, s->extended, "extended");
    word(b, s->count, "count");
    word(b, s->if_not_exists, "if-not-exists");
    if (s->table.schema.len || s->table.name.len) {
        buf_add_char(b, ' ');
        dump_name(b, s->table);
    }
    text(b, s->option);
    if (s->like) {
        buf_add_lit(b, " like ");
        dump_expr(b, s->like);
    }
    if (s->where) {
        buf_add_lit(b, " where ");
        dump_expr(b, s->where);
    }
    if (s->limit.count) {
        buf_add_lit(b, " limit ");
        dump_expr(b, s->limit.count);
    }
    buf_add_char(b, ')');
}

static void locks(struct buf *b, const struct sql_stmt *s)
{
    buf_add_lit(b, "(lock");
    for (uint32_t i = 0; i < s->n_locks; i++) {
        buf_add_char(b, ' ');
        dump_name(b, s->locks[i].table);
        if (s->locks[i].alias.len)
            buf_printf(b, ":" STR_F, STR_A(s->locks[i].alias));
        buf_add_str(b, s->locks[i].write ? STR(" write") : STR(" read"));
    }
    buf_add_char(b, ')');
}

static const char *const words[] = {
    [SQL_STMT_BEGIN] = "begin",
    [SQL_STMT_COMMIT] = "commit",
    [SQL_STMT_ROLLBACK] = "rollback",
    [SQL_STMT_SAVEPOINT] = "savepoint",
    [SQL_STMT_ROLLBACK_TO] = "rollback-to",
    [SQL_STMT_RELEASE] = "release",
    [SQL_STMT_UNLOCK_TABLES] = "unlock",
    [SQL_STMT_USE] = "use",
    [SQL_STMT_DO] = "do",
    [SQL_STMT_PREPARE] = "prepare",
    [SQL_STMT_EXECUTE] = "execute",
    [SQL_STMT_DEALLOCATE] = "deallocate",
    [SQL_STMT_KILL] = "kill",
    [SQL_STMT_FLUSH] = "flush",
    [SQL_STMT_ACCOUNT] = "account",
    [SQL_STMT_CALL] = "call",
    [SQL_STMT_REFUSED] = "refused",
};

static void plain(struct buf *b, const struct sql_stmt *s)
{
    buf_printf(b, "(%s", words[s->kind]);
    text(b, s->name);
    dump_exprs(b, s->exprs);
    word(b, s->if_exists, "if-exists");
    word(b, s->snapshot, "snapshot");
    word(b, s->chain, "chain");
    word(b, s->release, "release");
    word(b, s->query_only, "query");
    buf_printf(b, "%s)", access_texts[s->access]);
}

void dump_other(struct buf *b, const struct sql_stmt *s)
{
    switch (s->kind) {
    case SQL_STMT_SET:
        buf_add_lit(b, "(set");
        for (uint32_t i = 0; i < s->n_sets; i++)
            one_set(b, &s->sets[i]);
        buf_add_char(b, ')');
        break;
    case SQL_STMT_SHOW:
        show(b, "show", s->show);
        break;
    case SQL_STMT_DESCRIBE:
        show(b, "describe", s->show);
        break;
    case SQL_STMT_EXPLAIN:
        buf_add_lit(b, "(explain");
        text(b, s->name);
        buf_add_char(b, ' ');
        dump_stmt(b, s->inner);
        buf_add_char(b, ')');
        break;
    case SQL_STMT_LOCK_TABLES:
        locks(b, s);
        break;
    case SQL_STMT_ADMIN:
        buf_printf(b, "(admin " STR_F, STR_A(s->name));
        for (uint32_t i = 0; i < s->drop->n_names; i++) {
            buf_add_char(b, ' ');
            dump_name(b, s->drop->names[i]);
        }
        buf_add_char(b, ')');
        break;
    default:
        plain(b, s);
    }
}
