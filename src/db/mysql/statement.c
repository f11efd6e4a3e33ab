/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "db/mysql/conn.h"

/*
 * Prepared statements: their numbers, the parameters' types that are remembered, parameters that
 * come in pieces, and cursors. A cursor's rows are made when the statement runs, and kept as they
 * will go to the client, each after its length.
 */
struct mysql_statement {
    uint32_t number;
    struct db_prepared *prepared;
    struct mysql_params params;
    struct mysql_long_data *long_data; /* params.n; NULL: none came */
    bool long_failed;                  /* more came than may, or for no parameter */
    /* cursor */
    bool open;
    struct db_column *columns;
    uint32_t ncolumns;
    struct buf rows;
    size_t at; /* what was fetched */
};

enum { CURSOR_READ_ONLY = 1, EXECUTE_FIXED = 5 /* flags and the count of iterations */ };

/* --- the table -------------------------------------------------------------------------------- */

/* Numbers only grow, so the array is in their order. Where number is, or would be. */
static uint32_t statement_place(const struct mysql_conn *c, uint32_t number)
{
    uint32_t low = 0, high = c->nstatements;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (c->statements[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct mysql_statement *statement_find(const struct mysql_conn *c, uint32_t number)
{
    uint32_t i = statement_place(c, number);

    return i < c->nstatements && c->statements[i]->number == number ? c->statements[i] : NULL;
}

static struct mysql_statement *statement_add(struct mysql_conn *c, struct db_prepared *p)
{
    struct mysql_statement *s = mem_new(sizeof(*s));

    if (c->nstatements == c->cap_statements) {
        c->cap_statements = MAX(8U, c->cap_statements * 2);
        c->statements =
            mem_resize(c->statements, c->cap_statements * sizeof(struct mysql_statement *));
    }
    s->number = ++c->last_statement;
    s->prepared = p;
    s->params.n = db_prepared_params(p);
    s->params.types = mem_new_array(s->params.n, sizeof(*s->params.types));
    c->statements[c->nstatements++] = s;
    return s;
}

static void statement_drop_long(struct mysql_statement *s)
{
    for (uint32_t i = 0; s->long_data && i < s->params.n; i++)
        buf_fini(&s->long_data[i].bytes);
    mem_free(s->long_data);
    s->long_data = NULL;
    s->params.long_data = NULL;
    s->long_failed = false;
}

static void statement_free(struct mysql_conn *c, struct mysql_statement *s, bool gone)
{
    if (!gone)
        db_prepared_close(s->prepared);
    statement_drop_long(s);
    mysql_cursor_drop(s);
    mem_free(s->params.types);
    mem_free(s);
}

void mysql_statement_close_all(struct mysql_conn *c, bool gone)
{
    for (uint32_t i = 0; i < c->nstatements; i++)
        statement_free(c, c->statements[i], gone);
    mem_free(c->statements);
    c->statements = NULL;
    c->nstatements = c->cap_statements = 0;
}

static void statement_unknown(struct mysql_conn *c, uint32_t number, const char *command)
{
    char text[16];
    struct db_error e;

    text[str_put_u64(text, number)] = '\0';
    (void)db_error_set(&e, DB_E_UNKNOWN_STMT, text, command);
    mysql_answer_error(c, &e);
}

static void statement_bad_packet(struct mysql_conn *c)
{
    struct db_error e;

    (void)db_error_set(&e, DB_E_MALFORMED_PACKET);
    mysql_answer_error(c, &e);
}

/* --- prepare, close, reset -------------------------------------------------------------------- */

static void statement_say_columns(struct mysql_conn *c, const struct db_column *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        mysql_answer_column(c, &columns[i]);
    if (n && !mysql_knows_no_eof(c))
        mysql_answer_eof(c, db_session_status(c->session), 0);
}

static void statement_say_params(struct mysql_conn *c, uint32_t n)
{
    enum { BINARY_CHARSET = 63 };
    static const struct db_column param = {.name = STR("?"),
        .type = {.base = DB_T_VARCHAR, .length = -1, .decimals = -1},
        .charset = BINARY_CHARSET,
        .flags = DB_COL_BINARY};

    for (uint32_t i = 0; i < n; i++)
        mysql_answer_column(c, &param);
    if (n && !mysql_knows_no_eof(c))
        mysql_answer_eof(c, db_session_status(c->session), 0);
}

void mysql_statement_prepare(struct mysql_conn *c, struct str payload)
{
    const struct db_column *columns;
    struct mysql_statement *s;
    struct db_prepared *p;
    struct db_error e = {0};
    uint32_t ncolumns = 0;
    size_t mark;
    int rc = 0;

    if (c->nstatements >= MYSQL_STATEMENTS)
        rc = db_error_set(&e, DB_E_MAX_PREPARED_STMT_COUNT, (unsigned)MYSQL_STATEMENTS);
    if (rc == 0)
        rc = db_session_prepare(c->session, payload, &p, &e);
    if (rc) {
        mysql_answer_error(c, &e);
        return;
    }
    s = statement_add(c, p);
    columns = db_prepared_columns(p, &ncolumns);
    mark = mysql_begin(&c->out);
    mysql_put_int(&c->out, 0, 1);
    mysql_put_int(&c->out, s->number, 4);
    mysql_put_int(&c->out, ncolumns, 2);
    mysql_put_int(&c->out, s->params.n, 2);
    mysql_put_int(&c->out, 0, 1);
    mysql_put_int(&c->out, 0, 2);
    mysql_end(&c->out, mark, &c->seq);
    statement_say_params(c, s->params.n);
    statement_say_columns(c, columns, ncolumns);
}

void mysql_statement_close(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    uint32_t number = (uint32_t)mysql_read_int(&r, 4), i = statement_place(c, number);

    if (r.bad || i == c->nstatements || c->statements[i]->number != number)
        return; /* there is no answer to this command */
    statement_free(c, c->statements[i], false);
    c->nstatements--;
    memmove(&c->statements[i], &c->statements[i + 1],
        (c->nstatements - i) * sizeof(struct mysql_statement *));
}

void mysql_statement_reset(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    uint32_t number = (uint32_t)mysql_read_int(&r, 4);
    struct mysql_statement *s = statement_find(c, number);

    if (!s) {
        statement_unknown(c, number, "mysqld_stmt_reset");
        return;
    }
    statement_drop_long(s);
    mysql_cursor_drop(s);
    mysql_answer_done(c);
}

void mysql_statement_long_data(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    struct mysql_statement *s = statement_find(c, (uint32_t)mysql_read_int(&r, 4));
    uint32_t n = (uint32_t)mysql_read_int(&r, 2);
    struct mysql_long_data *l;

    if (!s)
        return; /* no answer; the execution will tell */
    if (r.bad || n >= s->params.n) {
        s->long_failed = true;
        return;
    }
    if (!s->long_data) {
        s->long_data = mem_new_array(s->params.n, sizeof(*s->long_data));
        s->params.long_data = s->long_data;
    }
    l = &s->long_data[n];
    l->given = true;
    if (r.rest.len + l->bytes.len > db_session_max_packet(c->session))
        s->long_failed = true;
    else
        buf_add_str(&l->bytes, r.rest);
}

/* --- execute ---------------------------------------------------------------------------------- */

static void statement_run(
    struct mysql_conn *c, struct mysql_statement *s, unsigned flags, const struct db_value *values)
{
    struct mysql_answer answer = {.conn = c, .binary = true};
    struct db_sink sink = mysql_answer_sink(&answer);

    if (flags & CURSOR_READ_ONLY)
        answer.cursor = s;
    db_session_execute(c->session, s->prepared, values, s->params.n, &sink);
    if (answer.cursor && answer.columns && !answer.ended && !c->failed) {
        struct db_error e; /* the rows were too many, so the session was stopped */

        (void)db_error_set(&e, DB_E_OUT_OF_MEMORY);
        sink.error(sink.arg, &e);
    }
}

void mysql_statement_execute(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    uint32_t number = (uint32_t)mysql_read_int(&r, 4);
    struct mysql_statement *s = statement_find(c, number);
    struct db_value *values;
    struct db_error e;
    unsigned flags;
    int rc;

    if (!s) {
        statement_unknown(c, number, "mysqld_stmt_execute");
        return;
    }
    mysql_cursor_drop(s);
    flags = (unsigned)mysql_read_int(&r, 1);
    (void)mysql_read_int(&r, EXECUTE_FIXED - 1);
    if (s->long_failed) {
        statement_drop_long(s);
        (void)db_error_text(&e, DB_E_UNKNOWN,
            "Parameter of prepared statement which is set through mysql_send_long_data() is longer "
            "than 'max_allowed_packet' bytes");
        mysql_answer_error(c, &e);
        return;
    }
    values = arena_new(&c->arena, (size_t)s->params.n * sizeof(*values));
    rc = r.bad ? ERR_PROTO : mysql_parse_params(&s->params, &r, &c->arena, values);
    if (rc == ERR_INVAL) {
        (void)db_error_set(&e, DB_E_WRONG_ARGUMENTS, "mysqld_stmt_execute");
        mysql_answer_error(c, &e);
    } else if (rc) {
        statement_bad_packet(c);
    } else {
        statement_run(c, s, flags, values);
    }
    statement_drop_long(s);
}

/* --- cursors ---------------------------------------------------------------------------------- */

void mysql_cursor_drop(struct mysql_statement *s)
{
    s->open = false;
    buf_fini(&s->rows);
    mem_free(s->columns);
    s->columns = NULL;
    s->at = 0;
}

void mysql_cursor_open(struct mysql_statement *s, const struct db_column *columns, uint32_t n)
{
    mysql_cursor_drop(s);
    s->columns = mem_new_array(n, sizeof(*columns));
    if (n)
        memcpy(s->columns, columns, (size_t)n * sizeof(*columns));
    s->ncolumns = n;
}

int mysql_cursor_row(struct mysql_statement *s, const struct db_value *values)
{
    size_t at = s->rows.len;
    uint64_t n;

    if (at > MYSQL_CURSOR_MAX)
        return ERR_NOMEM;
    mysql_put_int(&s->rows, 0, 8);
    mysql_put_binary_row(&s->rows, s->columns, values, s->ncolumns);
    n = s->rows.len - at - 8;
    memcpy(s->rows.p + at, &n, sizeof(n));
    return 0;
}

void mysql_cursor_end(struct mysql_statement *s)
{
    s->open = true;
}

static void cursor_send_row(struct mysql_conn *c, struct mysql_statement *s)
{
    size_t mark = mysql_begin(&c->out);
    uint64_t n;

    memcpy(&n, s->rows.p + s->at, sizeof(n));
    buf_add(&c->out, s->rows.p + s->at + sizeof(n), (size_t)n);
    mysql_end(&c->out, mark, &c->seq);
    s->at += sizeof(n) + (size_t)n;
}

void mysql_statement_fetch(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    uint32_t number = (uint32_t)mysql_read_int(&r, 4);
    uint64_t rows = mysql_read_int(&r, 4);
    struct mysql_statement *s = statement_find(c, number);
    uint16_t status = db_session_status(c->session);
    struct db_error e;

    if (!s) {
        statement_unknown(c, number, "mysqld_stmt_fetch");
        return;
    }
    if (!s->open) {
        (void)db_error_set(&e, DB_E_STMT_HAS_NO_OPEN_CURSOR, (unsigned)number);
        mysql_answer_error(c, &e);
        return;
    }
    for (; rows && s->at < s->rows.len; rows--) {
        cursor_send_row(c, s);
        if (c->out.len >= MYSQL_FLUSH && mysql_conn_flush(c))
            return;
    }
    if (s->at < s->rows.len) {
        status |= DB_STATUS_CURSOR_EXISTS;
    } else if (rows) {
        status |= DB_STATUS_LAST_ROW_SENT;
        mysql_cursor_drop(s);
    } else {
        status |= DB_STATUS_CURSOR_EXISTS; /* that there are no more, the next fetch says */
    }
    mysql_answer_eof(c, status, 0);
}
