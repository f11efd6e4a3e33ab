/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* COM_FIELD_LIST: the columns of a table, as its rows would have them. */

#include "base/err.h"
#include "db/sql/print.h"
#include "db/store/sess.h"

/* LIKE of names: % any, _ one, without case. In time of both lengths' product. */
static bool name_like(struct str pattern, struct str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, retry = 0;

    while (n < name.len) {
        if (p < pattern.len && pattern.p[p] == '%') {
            star = p++;
            retry = n;
        } else if (p < pattern.len && (pattern.p[p] == '_' || str_lower_char(pattern.p[p]) ==
                                                                  str_lower_char(name.p[n]))) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.p[p] == '%')
        p++;
    return p == pattern.len;
}

static int send_fields(struct db_session *s, const struct tr_plan *plan, struct str pattern)
{
    struct db_column *columns = arena_new(&s->arena, (plan->n_columns + 1) * sizeof(*columns));
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n_columns; i++) {
        if (pattern.len == 0 || name_like(pattern, plan->columns[i].name))
            columns[n++] = plan->columns[i];
    }
    return sess_columns(s, columns, n) ? 0 : ERR_CLOSED;
}

static int list(struct db_session *s, struct str table, struct str pattern, struct db_error *e)
{
    struct store_plan *plan;
    struct db_error late;
    struct buf text = {0};
    struct str rest;
    int code;

    buf_add_lit(&text, "SELECT * FROM ");
    sql_print_name(&text, table);
    code = sess_parse(s, buf_str(&text), &plan, &rest, e);
    buf_fini(&text);
    if (code)
        return code;
    code = tx_read(s, false, e);
    if (code == 0) {
        code = exec_translate(s, plan, e);
        if (code == 0)
            code = send_fields(s, plan->plan, pattern);
        store_ignore(tx_done(s, true, &late)); /* it read nothing */
    }
    store_plan_unref(plan);
    return code;
}

void db_session_fields(
    struct db_session *s, struct str table, struct str pattern, const struct db_sink *sink)
{
    struct db_error e = {0};

    s->sink = sink;
    s->params = NULL;
    s->param_types = NULL;
    s->n_params = 0;
    s->more = s->gone = s->ended = false;
    arena_reset(&s->arena);
    sess_clear_warnings(s);
    if (list(s, table, pattern, &e) == 0)
        sess_end(s);
    else if (!s->gone)
        sink->error(sink->arg, &e);
}
