/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Statements made of the input by a small grammar, over the tables of the unit tests: what the
 * translator accepts, SQLite must be able to prepare, and running it must end. An input that begins
 * with a byte above 0xF0 is taken as the text of a statement itself.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *p, *end;
    struct buf out;
    int depth;
};

static unsigned take(struct input *in, unsigned n)
{
    if (in->p == in->end)
        return 0;
    return *in->p++ % n;
}

static void pick(struct input *in, const char *const *list, unsigned n)
{
    buf_printf(&in->out, "%s", list[take(in, n)]);
}

#define PICK(in, ...)                                      \
    do {                                                   \
        static const char *const list_[] = {__VA_ARGS__};  \
        pick((in), list_, sizeof(list_) / sizeof(*list_)); \
    } while (0)

static void expr(struct input *in);
static void query(struct input *in);

static void column(struct input *in)
{
    PICK(in, "id", "i", "b", "u", "d", "r", "s", "c", "x", "dt", "da", "ti", "ts", "e", "st", "j",
        "bin", "y", "bi", "t.id", "t.s", "p.name", "t_id", "n", "a", "v", "w", "up", "q", "z.id");
}

static void literal(struct input *in)
{
    PICK(in, "1", "0", "-1", "42", "1.5", "-0.25", "1e3", "'abc'", "'12'", "'1.5'", "'2024-01-31'",
        "'2024-01-31 10:00:00'", "'10:00:00'", "NULL", "TRUE", "x'4142'", "b'101'", "''", "'%a_'",
        "9223372036854775807", "18446744073709551615", "99999999999999999999.5", "date'2024-01-01'",
        "timestamp'2024-01-01 00:00:00'", "'[1,2]'", "_binary'x'", "_latin1'x'", "@v", "@@sql_mode",
        "?");
}

static void list(struct input *in, unsigned most)
{
    unsigned n = 1 + take(in, most);

    for (unsigned i = 0; i < n; i++) {
        if (i)
            buf_add_lit(&in->out, ", ");
        expr(in);
    }
}

static void call(struct input *in)
{
    PICK(in, "concat", "coalesce", "if", "ifnull", "nullif", "greatest", "least", "upper", "length",
        "substring", "left", "replace", "locate", "instr", "round", "truncate", "abs", "floor",
        "ceil", "mod", "now", "date", "year", "date_format", "unix_timestamp", "from_unixtime",
        "datediff", "json_extract", "json_object", "json_array", "json_set", "hex", "unhex", "md5",
        "field", "elt", "find_in_set", "concat_ws", "rand", "last_insert_id", "count", "sum", "avg",
        "min", "max", "bit_or", "std", "trim", "char", "format", "isnull", "interval", "strcmp",
        "lpad", "str_to_date", "time", "timestamp", "week", "json_arrayagg", "json_length",
        "found_rows", "database", "charset", "crc32", "pow", "regexp_like", "inet_aton",
        "sec_to_time", "maketime", "uuid", "nofunc", "any_value", "json_contains", "ascii",
        "make_set", "conv");
    buf_add_lit(&in->out, "(");
    if (take(in, 8))
        list(in, 3);
    buf_add_lit(&in->out, ")");
}

static void two(struct input *in, const char *op)
{
    expr(in);
    buf_printf(&in->out, " %s ", op);
    expr(in);
}

static void operation(struct input *in)
{
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">=", "<=>", "+", "-", "*", "/",
        "div", "%", "&", "|", "^", "<<", ">>", "and", "or", "xor", "like", "not like", "regexp",
        "||", "&&", "sounds like", "member of"};

    buf_add_lit(&in->out, "(");
    two(in, ops[take(in, sizeof(ops) / sizeof(*ops))]);
    buf_add_lit(&in->out, ")");
}

static void cast(struct input *in)
{
    buf_add_lit(&in->out, "cast(");
    expr(in);
    buf_add_lit(&in->out, " as ");
    PICK(in, "signed", "unsigned", "char", "char(3)", "binary", "decimal(10,2)", "date",
        "datetime(3)", "time", "json", "double", "year");
    buf_add_lit(&in->out, ")");
}

static void aggregate(struct input *in)
{
    PICK(in, "count(*)", "count(distinct i, s)", "count(distinct s)", "group_concat(s)",
        "group_concat(distinct s order by id desc separator '-')", "sum(distinct d)",
        "row_number() over (order by id)", "sum(i) over (partition by s)", "max(e)",
        "lag(s, 1) over (order by i)");
}

static void special(struct input *in)
{
    switch (take(in, 10)) {
    case 0:
        buf_add_lit(&in->out, "case when ");
        expr(in);
        buf_add_lit(&in->out, " then ");
        two(in, "else");
        buf_add_lit(&in->out, " end");
        break;
    case 1:
        expr(in);
        PICK(in, " in (", " not in (");
        list(in, 3);
        buf_add_lit(&in->out, ")");
        break;
    case 2:
        expr(in);
        PICK(in, " between ", " not between ");
        two(in, "and");
        break;
    case 3:
        expr(in);
        PICK(in, " is null", " is not null", " is true", " is not false", " collate utf8mb4_bin",
            " collate utf8mb4_general_ci", "->'$.a'");
        break;
    case 4:
        PICK(in, "", "exists ", "not exists ", "i in ", "s not in ", "d > all ", "dt = any ",
            "(i, s) in ", "(a, b) = ");
        buf_add_lit(&in->out, "(");
        query(in);
        buf_add_lit(&in->out, ")");
        break;
    case 5:
        buf_add_lit(&in->out, "(");
        expr(in);
        buf_add_lit(&in->out, ") + interval ");
        literal(in);
        PICK(in, " day", " month", " second", " day_hour", " microsecond", " year");
        break;
    case 6:
        PICK(in, "not ", "- ", "~ ", "! ", "binary ", "+ ");
        expr(in);
        break;
    case 7:
        cast(in);
        break;
    case 8:
        aggregate(in);
        break;
    default:
        buf_add_lit(&in->out, "(");
        list(in, 2);
        PICK(in, ") = (", ") < (", ") <=> (", ") <> (");
        list(in, 2);
        buf_add_lit(&in->out, ")");
        break;
    }
}

static void expr(struct input *in)
{
    unsigned kind = in->depth > 4 || in->p == in->end ? take(in, 2) : take(in, 6);

    in->depth++;
    if (kind == 0)
        column(in);
    else if (kind == 1)
        literal(in);
    else if (kind == 2)
        call(in);
    else if (kind == 3)
        special(in);
    else
        operation(in);
    in->depth--;
}

static void from(struct input *in)
{
    PICK(in, " from t", " from t", " from p", " from t join p on t.id = p.t_id",
        " from t left join p on t.id = p.t_id and p.n > 1", " from p right join t using (id)",
        " from p natural join t", " from pair", " from t, p",
        " from pair, t left join p on p.id = t.i", " from (select id, s q from t) z",
        " from t join (p join pair on p.id = pair.a) on t.i = p.n",
        " from pair x join pair y using (a, b)", "", " from t where i in (select a from pair)",
        " from wp_posts join wp_postmeta on ID = post_id", " from wp_options");
}

static void query(struct input *in)
{
    if (in->depth > 3) {
        buf_add_lit(&in->out, "select 1");
        return;
    }
    in->depth++;
    PICK(in, "select ", "select ", "select distinct ", "select sql_calc_found_rows ");
    if (take(in, 8) == 1)
        buf_add_lit(&in->out, "*");
    else
        list(in, 3);
    from(in);
    if (take(in, 2)) {
        buf_add_lit(&in->out, " where ");
        expr(in);
    }
    if (take(in, 4) == 1) {
        buf_add_lit(&in->out, " group by ");
        list(in, 2);
        PICK(in, "", " with rollup");
    }
    if (take(in, 5) == 1) {
        buf_add_lit(&in->out, " having ");
        expr(in);
    }
    if (take(in, 8) == 1) {
        PICK(in, " union ", " union all ", " except ");
        query(in);
    }
    if (take(in, 4) == 1) {
        buf_add_lit(&in->out, " order by ");
        list(in, 2);
        PICK(in, "", " desc");
    }
    PICK(in, "", "", " limit 1", " limit 1, 2", " limit 3 offset 1");
    in->depth--;
}

static void change(struct input *in)
{
    switch (take(in, 6)) {
    case 0:
        PICK(in, "insert ", "replace ", "insert ignore ");
        PICK(in, "into t (i, s, d, dt) values (", "into pair (v, a, b, w) values (",
            "into t (e, st, j, ts) values (", "into t (r, bin, y, bi) values (");
        for (int i = 0; i < 4; i++) {
            if (i)
                buf_add_lit(&in->out, ", ");
            expr(in);
        }
        PICK(in, ")", ")", ") on duplicate key update i = values(i)",
            ") on duplicate key update v = v + 1");
        break;
    case 1:
        PICK(in, "insert into t (i, s) ", "insert into p (t_id, name) ",
            "replace into pair (a, b) ");
        query(in);
        break;
    case 2:
        PICK(in, "update t set i = ", "update t set s = ", "update pair set v = 1, w = ",
            "update t join p on p.t_id = t.id set n = 1, i = ", "update t set dt = ");
        expr(in);
        buf_add_lit(&in->out, " where ");
        expr(in);
        PICK(in, "", " limit 1", " order by i limit 2");
        break;
    case 3:
        PICK(in, "delete from t where ", "delete from pair where ",
            "delete t from t join p on t.id = p.id where ",
            "delete t, p from t join p on t.id = p.id where ");
        expr(in);
        break;
    case 4:
        buf_add_lit(&in->out, "with c as (");
        query(in);
        buf_add_lit(&in->out, ") select * from c");
        break;
    default:
        buf_add_lit(&in->out, "do ");
        list(in, 2);
        break;
    }
}

/* An error that SQLite may give to what was prepared all the same: data, not text. */
static bool allowed(const struct db_error *e)
{
    return e->number != -1 || strstr(e->text, "stack overflow") ||
           strstr(e->text, "Expression tree is too large");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fixture f;
    static bool open;
    struct input in = {.p = data, .end = data + size};

    if (!open) {
        fixture_open(&f);
        tables_make(&f);
        open = true;
    }
    if (size && data[0] > 0xF0)
        buf_add(&in.out, data + 1, size - 1);
    else if (take(&in, 3) == 0)
        change(&in);
    else
        query(&in);
    f.limit = true;
    if (!fixture_run(&f, buf_cstr(&in.out)) && !allowed(&f.error)) {
        fprintf(
            stderr, "%s\n%s\n" STR_F "\n", buf_cstr(&in.out), f.error.text, STR_A(fixture_sql(&f)));
        abort();
    }
    buf_fini(&in.out);
    return 0;
}
