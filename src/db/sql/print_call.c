/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Calls of functions as text, and windows.
 */
#include "db/sql/print_parts.h"
#include "db/sql/words.h"

struct str print_unit(enum sql_unit unit)
{
    static const struct str texts[] = {STR(""), STR("microsecond"), STR("second"), STR("minute"),
        STR("hour"), STR("day"), STR("week"), STR("month"), STR("quarter"), STR("year"),
        STR("second_microsecond"), STR("minute_microsecond"), STR("minute_second"),
        STR("hour_microsecond"), STR("hour_second"), STR("hour_minute"), STR("day_microsecond"),
        STR("day_second"), STR("day_minute"), STR("day_hour"), STR("year_month")};

    _Static_assert(ARRAY_LEN(texts) == SQL_UNIT_YEAR_MONTH + 1, "one text for each unit");
    return texts[unit];
}

/* ---- names ---- */

/* How many arguments the word's own grammar takes; a call with others was written with a quoted
 * name, which is then no such word. */
struct arity {
    enum sql_word word;
    uint32_t least, most;
};

static const struct arity arities[] = {
    {W_SUBSTRING, 2, 3},
    {W_SUBSTR, 2, 3},
    {W_MID, 2, 3},
    {W_SUM, 1, 1},
    {W_AVG, 1, 1},
    {W_MIN, 1, 1},
    {W_MAX, 1, 1},
    {W_BIT_AND, 1, 1},
    {W_BIT_OR, 1, 1},
    {W_BIT_XOR, 1, 1},
    {W_STD, 1, 1},
    {W_STDDEV, 1, 1},
    {W_STDDEV_POP, 1, 1},
    {W_STDDEV_SAMP, 1, 1},
    {W_VARIANCE, 1, 1},
    {W_VAR_POP, 1, 1},
    {W_VAR_SAMP, 1, 1},
    {W_JSON_ARRAYAGG, 1, 1},
    {W_JSON_OBJECTAGG, 2, 2},
    {W_JSON_VALUE, 2, 2},
    {W_WEIGHT_STRING, 1, 1},
    {W_CHAR, 1, UINT32_MAX},
    {W_INTERVAL, 2, UINT32_MAX},
    {W_CURRENT_DATE, 0, 0},
    {W_CURRENT_USER, 0, 0},
    {W_UTC_DATE, 0, 0},
    {W_CURRENT_TIME, 0, 1},
    {W_CURRENT_TIMESTAMP, 0, 1},
    {W_LOCALTIME, 0, 1},
    {W_LOCALTIMESTAMP, 0, 1},
    {W_UTC_TIME, 0, 1},
    {W_UTC_TIMESTAMP, 0, 1},
    {W_DATABASE, 0, UINT32_MAX},
    {W_SCHEMA, 0, UINT32_MAX},
    {W_IF, 0, UINT32_MAX},
    {W_INSERT, 0, UINT32_MAX},
    {W_LEFT, 0, UINT32_MAX},
    {W_RIGHT, 0, UINT32_MAX},
    {W_MOD, 0, UINT32_MAX},
    {W_REPEAT, 0, UINT32_MAX},
    {W_REPLACE, 0, UINT32_MAX},
    {W_NOW, 0, UINT32_MAX},
    {W_SYSDATE, 0, UINT32_MAX},
    {W_CURDATE, 0, UINT32_MAX},
    {W_CURTIME, 0, UINT32_MAX},
    {W_SESSION_USER, 0, UINT32_MAX},
    {W_SYSTEM_USER, 0, UINT32_MAX},
};

static bool is_plain(struct str s)
{
    if (s.len == 0 || (s.p[0] >= '0' && s.p[0] <= '9') || s.p[0] == '_')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.p[i]);

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
    }
    return s.len > 1; /* n'x', x'41' */
}

static bool fits(const struct sql_expr *e, enum sql_word w)
{
    enum sql_word_class class = sql_word_class(w);

    if (w == W_COUNT)
        return e->list.n == 1 || (e->is_distinct && e->list.n > 0);
    if (w == W_TIMESTAMPADD || w == W_TIMESTAMPDIFF)
        return e->unit != SQL_UNIT_NONE;
    if (w == W_GET_FORMAT) {
        return e->list.n == 2 && e->list.v[0]->kind == SQL_STRING &&
               (str_eq(e->list.v[0]->s, STR("DATE")) || str_eq(e->list.v[0]->s, STR("TIME")) ||
                   str_eq(e->list.v[0]->s, STR("DATETIME")) ||
                   str_eq(e->list.v[0]->s, STR("TIMESTAMP")));
    }
    for (size_t i = 0; i < ARRAY_LEN(arities); i++) {
        if (arities[i].word == w)
            return e->list.n >= arities[i].least && e->list.n <= arities[i].most;
    }
    return class == SQL_WORD_N || class == SQL_WORD_S;
}

static enum sql_word call_name(struct buf *out, const struct sql_expr *e)
{
    enum sql_word w = sql_word_find(e->name);

    if (e->schema.len) {
        print_qualified(out, e->schema, e->name);
        return W_NO_WORD;
    }
    if (!is_plain(e->name) || (w != W_NO_WORD && !fits(e, w))) {
        sql_print_name(out, e->name);
        return W_NO_WORD;
    }
    print_lower(out, e->name);
    return w;
}

/* ---- calls ---- */

void print_call(struct buf *out, const struct sql_expr *e)
{
    enum sql_word w = call_name(out, e);

    buf_add_char(out, '(');
    if (e->is_distinct)
        buf_add_lit(out, "distinct ");
    if (e->unit && (w == W_TIMESTAMPADD || w == W_TIMESTAMPDIFF)) {
        buf_add_str(out, print_unit(e->unit));
        buf_add_char(out, ',');
    }
    if (w == W_GET_FORMAT) {
        buf_add_str(out, e->list.v[0]->s);
        buf_add_char(out, ',');
        sql_print_expr(out, e->list.v[1]);
    } else {
        print_list(out, e->list);
    }
    if (e->charset.len) {
        buf_add_lit(out, " using ");
        print_word(out, e->charset);
    }
    if (e->type) {
        buf_add_str(out, w == W_WEIGHT_STRING ? STR(" as ") : STR(" returning "));
        print_cast_type(out, e->type);
    }
    buf_add_char(out, ')');
    print_over(out, e);
}

void print_group_concat(struct buf *out, const struct sql_expr *e)
{
    buf_add_lit(out, "group_concat(");
    if (e->is_distinct)
        buf_add_lit(out, "distinct ");
    print_list(out, e->list);
    if (e->order.n) {
        buf_add_lit(out, " order by ");
        print_orders(out, e->order);
    }
    buf_add_lit(out, " separator ");
    sql_print_string(out, e->s);
    buf_add_char(out, ')');
    print_over(out, e);
}

/* ---- windows ---- */

static void bound(struct buf *out, enum sql_bound bound, const struct sql_expr *e)
{
    static const struct str texts[] = {STR("unbounded preceding"), STR(" preceding"),
        STR("current row"), STR(" following"), STR("unbounded following")};

    if (e)
        sql_print_expr(out, e);
    buf_add_str(out, texts[bound]);
}

void print_window(struct buf *out, const struct sql_window *w)
{
    const char *space = "";

    buf_add_char(out, '(');
    if (w->base.len) {
        sql_print_name(out, w->base);
        space = " ";
    }
    if (w->partition.n) {
        buf_printf(out, "%spartition by ", space);
        print_list(out, w->partition);
        space = " ";
    }
    if (w->order.n) {
        buf_printf(out, "%sorder by ", space);
        print_orders(out, w->order);
        space = " ";
    }
    if (w->has_frame) {
        buf_printf(out, "%s%s between ", space, w->is_range ? "range" : "rows");
        bound(out, w->from, w->from_expr);
        buf_add_lit(out, " and ");
        bound(out, w->to, w->to_expr);
    }
    buf_add_char(out, ')');
}

void print_over(struct buf *out, const struct sql_expr *e)
{
    if (!e->window)
        return;
    buf_add_lit(out, " over ");
    if (e->window->only_name)
        sql_print_name(out, e->window->base);
    else
        print_window(out, e->window);
}
