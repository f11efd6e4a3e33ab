/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Windows: OVER, and what stands in it.
 */
#include "db/sql/parser.h"

static enum sql_bound bound(struct sql_parser *p, struct sql_expr **expr)
{
    if (ps_accept_words(p, W_UNBOUNDED, W_PRECEDING))
        return SQL_BOUND_UNBOUNDED_PRECEDING;
    if (ps_accept_words(p, W_UNBOUNDED, W_FOLLOWING))
        return SQL_BOUND_UNBOUNDED_FOLLOWING;
    if (ps_accept_words(p, W_CURRENT, W_ROW))
        return SQL_BOUND_CURRENT_ROW;
    if (ps_accept_word(p, W_INTERVAL)) {
        *expr = ps_interval(p);
        if ((*expr)->kind != SQL_DATE_ADD)
            ps_fail(p);
    } else {
        *expr = ps_bit_expr(p);
    }
    if (ps_accept_word(p, W_PRECEDING))
        return SQL_BOUND_PRECEDING;
    ps_expect_word(p, W_FOLLOWING);
    return SQL_BOUND_FOLLOWING;
}

static void frame(struct sql_parser *p, struct sql_window *w)
{
    if (!ps_is_word(p, W_ROWS) && !ps_is_word(p, W_RANGE) && !ps_is_word(p, W_GROUPS))
        return;
    if (ps_is_word(p, W_GROUPS))
        ps_refuse(p, "window frames in GROUPS");
    w->has_frame = true;
    w->is_range = ps_is_word(p, W_RANGE);
    ps_next(p);
    if (ps_accept_word(p, W_BETWEEN)) {
        w->from = bound(p, &w->from_expr);
        ps_expect_word(p, W_AND);
        w->to = bound(p, &w->to_expr);
    } else {
        w->from = bound(p, &w->from_expr);
        w->to = SQL_BOUND_CURRENT_ROW;
    }
    if (ps_is_word(p, W_EXCLUDE))
        ps_refuse(p, "window frames with EXCLUDE");
}

/* ( [name] [PARTITION BY ...] [ORDER BY ...] [frame] ) */
void ps_window_spec(struct sql_parser *p, struct sql_window *w)
{
    ps_expect(p, T_OPEN);
    if (ps_is_name(p) && !(ps_is_word(p, W_GROUPS)))
        w->base = ps_name(p);
    if (ps_accept_words(p, W_PARTITION, W_BY))
        w->partition = ps_exprs(p);
    w->order = ps_order_by(p);
    frame(p, w);
    ps_expect(p, T_CLOSE);
}

void ps_over(struct sql_parser *p, struct sql_expr *call)
{
    struct sql_window *w;

    if (ps_is_word(p, W_FROM) && (ps_peek_word(p, 1, W_FIRST) || ps_peek_word(p, 1, W_LAST)) &&
        (ps_peek_word(p, 2, W_OVER) || ps_peek_word(p, 2, W_RESPECT) ||
            ps_peek_word(p, 2, W_IGNORE))) {
        if (ps_peek_word(p, 1, W_LAST))
            ps_refuse(p, "FROM LAST");
        ps_next(p);
        ps_next(p);
    }
    if (ps_is_word(p, W_IGNORE) && ps_peek_word(p, 1, W_NULLS))
        ps_refuse(p, "IGNORE NULLS");
    (void)ps_accept_words(p, W_RESPECT, W_NULLS); /* the default */
    if (!ps_accept_word(p, W_OVER))
        return;
    w = ps_new(p, sizeof(*w));
    call->window = w;
    if (ps_is(p, T_OPEN)) {
        ps_window_spec(p, w);
        return;
    }
    w->only_name = true;
    w->base = ps_name(p);
}
