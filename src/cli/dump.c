/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/dump.h"

#include <stdio.h>

#include "base/list.h"
#include "base/mem.h"

enum {
    DUMP_STATEMENT = 512 << 10, /* bytes after which an INSERT ends */
    DUMP_FLUSH = 64 << 10,
    DUMP_BINARY = 63 /* the charset of bytes */
};

/* Types of the protocol whose values are written without quotes. */
enum { TYPE_BIT = 16, TYPE_NEWDECIMAL = 246, TYPE_TINY_BLOB = 249, TYPE_GEOMETRY = 255 };

struct dump_table {
    struct list node;
    char *name;
    bool is_view;
};

struct dump {
    struct sqlclient *c;
    dump_write_cb *write;
    void *arg;
    struct buf out;
    struct list tables;
};

static int dump_flush(struct dump *d, bool all)
{
    int rc = 0;

    if (d->out.len >= DUMP_FLUSH || all) {
        rc = d->out.len ? d->write(d->arg, buf_str(&d->out)) : 0;
        buf_clear(&d->out);
    }
    return rc;
}

static void dump_add_name(struct buf *b, struct str name)
{
    buf_add_char(b, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '`')
            buf_add_char(b, '`');
        buf_add_char(b, name.p[i]);
    }
    buf_add_char(b, '`');
}

static void dump_add_text(struct buf *b, struct str s)
{
    buf_add_char(b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        switch (s.p[i]) {
        case '\0':
            buf_add_lit(b, "\\0");
            break;
        case '\n':
            buf_add_lit(b, "\\n");
            break;
        case '\r':
            buf_add_lit(b, "\\r");
            break;
        case '\x1a':
            buf_add_lit(b, "\\Z");
            break;
        case '\'':
        case '\\':
            buf_add_char(b, '\\');
            buf_add_char(b, s.p[i]);
            break;
        default:
            buf_add_char(b, s.p[i]);
        }
    }
    buf_add_char(b, '\'');
}

static void dump_add_hex(struct buf *b, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";

    buf_add_lit(b, "0x");
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        buf_add_char(b, digits[c >> 4]);
        buf_add_char(b, digits[c & 15]);
    }
}

/* Integers, decimals, floats and years. */
static bool dump_is_number(uint8_t type)
{
    return type <= 5 || type == 8 || type == 9 || type == 13 || type == TYPE_NEWDECIMAL;
}

static bool dump_is_bytes(const struct sqlclient_column *c)
{
    return c->charset == DUMP_BINARY && (c->type >= TYPE_TINY_BLOB || c->type == TYPE_BIT);
}

static void dump_add_value(struct buf *b, const struct sqlclient_column *c, struct str v)
{
    if (!v.p)
        buf_add_lit(b, "NULL");
    else if (dump_is_number(c->type))
        buf_add_str(b, v);
    else if (dump_is_bytes(c) && v.len)
        dump_add_hex(b, v);
    else
        dump_add_text(b, v);
}

/* A statement whose result is one row. */
static int dump_ask(struct dump *d, const char *what, struct str name, uint32_t columns)
{
    struct buf b = {0};
    int rc;

    buf_add_str(&b, str_c(what));
    dump_add_name(&b, name);
    rc = sqlclient_query(d->c, buf_str(&b));
    buf_fini(&b);
    if (rc == 0)
        rc = sqlclient_row(d->c);
    if (rc == 0 && d->c->ncolumns < columns)
        rc = ERR_PROTO;
    return rc == ERR_EOF ? ERR_PROTO : rc;
}

static int dump_end_rows(struct dump *d)
{
    int rc;

    do {
        rc = sqlclient_row(d->c);
    } while (rc == 0);
    return rc == ERR_EOF ? 0 : rc;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Length of " COLLATE=name" or " COLLATE name" at the start of rest, of a collation that MySQL has
 * since 8.0 and MariaDB has not; else 0. */
static size_t dump_new_collation(struct str rest)
{
    struct str word = STR(" COLLATE");
    size_t n = word.len + 1;

    if (!str_istarts(rest, word) || rest.len <= n ||
        (rest.p[word.len] != '=' && rest.p[word.len] != ' '))
        return 0;
    while (n < rest.len && rest.p[n] != ' ' && rest.p[n] != ',' && rest.p[n] != '\n' &&
           rest.p[n] != ')' && rest.p[n] != ';')
        n++;
    return str_find(str_sub(rest, 0, n), STR("_0900_")) >= 0 ? n : 0;
}

/* Those are for servers that know them; others take the character set's own. */
static void dump_add_create(struct buf *b, struct str text)
{
    char quote = '\0';

    for (size_t i = 0; i < text.len; i++) {
        struct str rest = str_sub(text, i, text.len);
        size_t n = quote ? 0 : dump_new_collation(rest);

        if (n) {
            buf_printf(b, " /*!80000" STR_F " */", STR_A(str_sub(rest, 0, n)));
            i += n - 1;
            continue;
        }
        if (quote && *rest.p == '\\' && quote != '`' && rest.len > 1)
            buf_add_char(b, text.p[i++]);
        else if (quote && *rest.p == quote)
            quote = '\0';
        else if (!quote && (*rest.p == '\'' || *rest.p == '"' || *rest.p == '`'))
            quote = *rest.p;
        buf_add_char(b, text.p[i]);
    }
}

/* Without its definer, whom another server may not know: it is then whoever loads the dump. */
static struct str dump_view(struct buf *b, struct str text)
{
    ptrdiff_t at = str_find(text, STR(" VIEW "));

    if (at < 0)
        return text;
    buf_add_lit(b, "CREATE");
    return str_sub(text, (size_t)at, text.len);
}

static int dump_create(struct dump *d, const struct dump_table *t)
{
    const char *kind = t->is_view ? "VIEW" : "TABLE";
    int rc =
        dump_ask(d, t->is_view ? "SHOW CREATE VIEW " : "SHOW CREATE TABLE ", str_c(t->name), 2);

    if (rc)
        return rc;
    buf_printf(&d->out, "\nDROP %s IF EXISTS ", kind);
    dump_add_name(&d->out, str_c(t->name));
    buf_add_lit(&d->out, ";\n");
    dump_add_create(&d->out, t->is_view ? dump_view(&d->out, d->c->row[1]) : d->c->row[1]);
    buf_add_lit(&d->out, ";\n");
    return dump_end_rows(d);
}

/* Names of the columns that have values of their own: not those that are calculated. */
static int dump_columns(struct dump *d, const struct dump_table *t, struct buf *names)
{
    enum { FIELD = 0, EXTRA = 5, COLUMNS };
    int rc = dump_ask(d, "SHOW COLUMNS FROM ", str_c(t->name), COLUMNS);

    while (rc == 0) {
        if (str_find(d->c->row[EXTRA], STR("GENERATED")) < 0 ||
            str_find(d->c->row[EXTRA], STR("DEFAULT_GENERATED")) >= 0) {
            if (names->len)
                buf_add_lit(names, ", ");
            dump_add_name(names, d->c->row[FIELD]);
        }
        rc = sqlclient_row(d->c);
    }
    return rc == ERR_EOF ? 0 : rc;
}

static void dump_row(struct dump *d, const struct dump_table *t, struct str names, size_t *begun)
{
    struct buf *b = &d->out;

    if (*begun == 0) {
        buf_add_lit(b, "INSERT INTO ");
        dump_add_name(b, str_c(t->name));
        buf_printf(b, " (" STR_F ") VALUES\n", STR_A(names));
    } else {
        buf_add_lit(b, ",\n");
    }
    buf_add_char(b, '(');
    for (uint32_t i = 0; i < d->c->ncolumns; i++) {
        if (i)
            buf_add_char(b, ',');
        dump_add_value(b, &d->c->columns[i], d->c->row[i]);
    }
    buf_add_char(b, ')');
}

static int dump_rows(struct dump *d, const struct dump_table *t)
{
    struct buf names = {0}, query = {0};
    size_t statement = 0;
    int rc = dump_columns(d, t, &names);

    if (rc == 0 && names.len) {
        buf_printf(&query, "SELECT " STR_F " FROM ", STR_A(buf_str(&names)));
        dump_add_name(&query, str_c(t->name));
        rc = sqlclient_query(d->c, buf_str(&query));
        while (rc == 0) {
            size_t before = d->out.len;

            rc = sqlclient_row(d->c);
            if (rc)
                break;
            dump_row(d, t, buf_str(&names), &statement);
            statement += d->out.len - before;
            if (statement >= DUMP_STATEMENT) {
                buf_add_lit(&d->out, ";\n");
                statement = 0;
            }
            rc = dump_flush(d, false);
        }
        rc = rc == ERR_EOF ? 0 : rc;
        if (statement)
            buf_add_lit(&d->out, ";\n");
    }
    buf_fini(&names);
    buf_fini(&query);
    return rc;
}

static int dump_list(struct dump *d)
{
    int rc = sqlclient_query(d->c, STR("SHOW FULL TABLES"));

    if (rc == 0 && d->c->ncolumns < 2)
        rc = ERR_PROTO;
    while (rc == 0) {
        rc = sqlclient_row(d->c);
        if (rc == 0) {
            struct dump_table *t = mem_new(sizeof(*t));

            t->name = mem_dup_str(d->c->row[0].p, d->c->row[0].len);
            t->is_view = !str_eq(d->c->row[1], STR("BASE TABLE"));
            list_push(&d->tables, &t->node);
        }
    }
    return rc == ERR_EOF ? 0 : rc;
}

static int dump_all(struct dump *d)
{
    int rc = 0;

    for (int views = 0; views < 2; views++) {
        list_each (it, &d->tables) {
            const struct dump_table *t = CONTAINER_OF(it, struct dump_table, node);

            if (t->is_view != (views != 0))
                continue;
            rc = dump_create(d, t);
            if (rc == 0 && !t->is_view)
                rc = dump_rows(d, t);
            if (rc == 0)
                rc = dump_flush(d, false);
            if (rc)
                return rc;
        }
    }
    return 0;
}

static const char dump_head[] =
    "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n"
    "/*!40101 SET NAMES utf8mb4 */;\n"
    "/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;\n"
    "/*!40103 SET TIME_ZONE='+00:00' */;\n"
    "/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;\n"
    "/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;\n"
    "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;\n";
static const char dump_tail[] = "\n/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;\n"
                                "/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;\n"
                                "/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;\n"
                                "/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;\n"
                                "/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n"
                                "-- complete\n";

int dump_database(struct sqlclient *c, const char *database, dump_write_cb *write, void *arg)
{
    struct dump d = {.c = c, .write = write, .arg = arg};
    int rc;

    list_init(&d.tables);
    buf_printf(&d.out, "-- Database %s, by ephpm %s\n\n", database, EPHPM_VERSION);
    buf_add_lit(&d.out, dump_head);
    rc = sqlclient_query(c, STR("SET time_zone = '+00:00'"));
    if (rc == 0)
        rc = sqlclient_query(c, STR("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    if (rc == 0)
        rc = dump_list(&d);
    if (rc == 0)
        rc = dump_all(&d);
    if (rc == 0) {
        buf_add_lit(&d.out, dump_tail);
        rc = dump_flush(&d, true);
    }
    while (!list_empty(&d.tables)) {
        struct dump_table *t = CONTAINER_OF(list_pop(&d.tables), struct dump_table, node);

        mem_free(t->name);
        mem_free(t);
    }
    buf_fini(&d.out);
    return rc;
}
