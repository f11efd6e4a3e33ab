/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/conn.h"

/* Answers: OK, errors, and results as the sink of a session. */

enum { OK_HEADER = 0x00, EOF_HEADER = 0xfe, ERROR_HEADER = 0xff };

static void answer_ok(struct mysql_conn *c, uint8_t header, const struct db_ok *ok)
{
    size_t mark = mysql_begin(&c->out);

    mysql_put_int(&c->out, header, 1);
    mysql_put_lenenc(&c->out, ok->affected);
    mysql_put_lenenc(&c->out, ok->insert_id);
    mysql_put_int(&c->out, ok->status, 2);
    mysql_put_int(&c->out, ok->warnings, 2);
    if (ok->info.len)
        mysql_put_lenstr(&c->out, ok->info);
    mysql_end(&c->out, mark, &c->seq);
}

void mysql_answer_ok(struct mysql_conn *c, const struct db_ok *ok)
{
    answer_ok(c, OK_HEADER, ok);
}

void mysql_answer_done(struct mysql_conn *c)
{
    mysql_answer_ok(c, &(struct db_ok){.status = db_session_status(c->session)});
}

void mysql_answer_eof(struct mysql_conn *c, uint16_t status, uint16_t warnings)
{
    size_t mark;

    if (mysql_knows_no_eof(c)) {
        answer_ok(c, EOF_HEADER, &(struct db_ok){.status = status, .warnings = warnings});
        return;
    }
    mark = mysql_begin(&c->out);
    mysql_put_int(&c->out, EOF_HEADER, 1);
    mysql_put_int(&c->out, warnings, 2);
    mysql_put_int(&c->out, status, 2);
    mysql_end(&c->out, mark, &c->seq);
}

/* The session knows only that its statement was interrupted. */
static void answer_stopping(const struct mysql_conn *c, struct db_error *e)
{
    enum { INTERRUPTED = 1317 };

    if (e->number == INTERRUPTED && mysql_server_stops(c->server))
        (void)db_error_set(e, DB_E_SHUTDOWN);
}

void mysql_answer_error(struct mysql_conn *c, const struct db_error *e)
{
    struct db_error said = *e;
    size_t mark = mysql_begin(&c->out);

    answer_stopping(c, &said);
    mysql_put_int(&c->out, ERROR_HEADER, 1);
    mysql_put_int(&c->out, (uint64_t)said.number, 2);
    if (c->capabilities & MYSQL_PROTOCOL_41) { /* not before the client has said who it is */
        buf_add_char(&c->out, '#');
        buf_add(&c->out, said.state, 5);
    }
    buf_add_str(&c->out, str_c(said.text));
    mysql_end(&c->out, mark, &c->seq);
}

static void answer_put_column(struct mysql_conn *c, const struct db_column *col)
{
    enum { FIXED = 12 };
    struct buf *b = &c->out;

    mysql_put_lenstr(b, STR("def"));
    mysql_put_lenstr(b, col->schema);
    mysql_put_lenstr(b, col->table);
    mysql_put_lenstr(b, col->org_table);
    mysql_put_lenstr(b, col->name);
    mysql_put_lenstr(b, col->org_name);
    mysql_put_lenenc(b, FIXED);
    mysql_put_int(b, col->charset, 2);
    mysql_put_int(b, col->length, 4);
    mysql_put_int(b, db_base_wire(col->type.base), 1);
    mysql_put_int(b, col->flags, 2);
    mysql_put_int(b, col->decimals, 1);
    mysql_put_int(b, 0, 2);
}

void mysql_answer_column(struct mysql_conn *c, const struct db_column *col)
{
    size_t mark = mysql_begin(&c->out);

    answer_put_column(c, col);
    mysql_end(&c->out, mark, &c->seq);
}

/* --- the sink --------------------------------------------------------------------------------- */

/* Of COM_FIELD_LIST: each with its default, which is not told. */
static int answer_fields(struct mysql_conn *c, const struct db_column *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t mark = mysql_begin(&c->out);

        answer_put_column(c, &columns[i]);
        mysql_put_null(&c->out);
        mysql_end(&c->out, mark, &c->seq);
    }
    return 0;
}

static int answer_columns(void *arg, const struct db_column *columns, uint32_t n)
{
    struct mysql_answer *a = arg;
    struct mysql_conn *c = a->conn;
    size_t mark;

    if (a->fields)
        return answer_fields(c, columns, n);
    a->began = c->out.len;
    a->began_seq = c->seq;
    a->ncolumns = n;
    a->columns = arena_new(&c->arena, (size_t)n * sizeof(*columns));
    if (n)
        memcpy(a->columns, columns, (size_t)n * sizeof(*columns));
    mark = mysql_begin(&c->out);
    mysql_put_lenenc(&c->out, n);
    mysql_end(&c->out, mark, &c->seq);
    for (uint32_t i = 0; i < n; i++)
        mysql_answer_column(c, &columns[i]);
    if (a->cursor)
        mysql_cursor_open(a->cursor, a->columns, n);
    else if (!mysql_knows_no_eof(c))
        mysql_answer_eof(c, db_session_status(c->session), 0);
    return c->failed;
}

static int answer_row(void *arg, const struct db_value *values, uint32_t n)
{
    struct mysql_answer *a = arg;
    struct mysql_conn *c = a->conn;
    size_t mark;

    if (a->cursor)
        return mysql_cursor_row(a->cursor, values);
    mark = mysql_begin(&c->out);
    if (a->binary)
        mysql_put_binary_row(&c->out, a->columns, values, MIN(n, a->ncolumns));
    else
        mysql_put_text_row(&c->out, a->columns, values, MIN(n, a->ncolumns));
    mysql_end(&c->out, mark, &c->seq);
    return c->out.len < MYSQL_FLUSH ? 0 : mysql_conn_flush(c);
}

static void answer_end(void *arg, const struct db_ok *ok)
{
    struct mysql_answer *a = arg;
    uint16_t status = ok->status;

    a->ended = true;
    if (a->cursor) {
        mysql_cursor_end(a->cursor);
        status |= DB_STATUS_CURSOR_EXISTS;
    }
    mysql_answer_eof(a->conn, status, ok->warnings);
}

static void answer_sink_ok(void *arg, const struct db_ok *ok)
{
    struct mysql_answer *a = arg;

    a->ended = true;
    mysql_answer_ok(a->conn, ok);
}

static void answer_error(void *arg, const struct db_error *e)
{
    struct mysql_answer *a = arg;
    struct mysql_conn *c = a->conn;

    a->ended = true;
    /* Nothing of a result with a cursor has left yet: the error takes its place. */
    if (a->cursor && a->columns) {
        c->out.len = a->began;
        c->seq = a->began_seq;
        mysql_cursor_drop(a->cursor);
    }
    mysql_answer_error(c, e);
}

struct db_sink mysql_answer_sink(struct mysql_answer *a)
{
    return (struct db_sink){.arg = a,
        .columns = answer_columns,
        .row = answer_row,
        .end = answer_end,
        .ok = answer_sink_ok,
        .error = answer_error};
}
