/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/*
 * Comparisons. What MySQL compares as (compare_how) is decided by both types; the text is SQLite's
 * own operator whenever both sides can be brought into a form that it compares the same way, and a
 * column is left as it is whenever possible, so that its indexes are used.
 */

const char *op_text(enum sql_op op)
{
    switch (op) {
    case SQL_OP_EQ:
        return "=";
    case SQL_OP_NE:
        return "<>";
    case SQL_OP_LT:
        return "<";
    case SQL_OP_LE:
        return "<=";
    case SQL_OP_GT:
        return ">";
    case SQL_OP_GE:
        return ">=";
    default:
        return "<=>";
    }
}

static const char *function_of(enum sql_op op)
{
    switch (op) {
    case SQL_OP_EQ:
        return "m_eq";
    case SQL_OP_NE:
        return "m_ne";
    case SQL_OP_LT:
        return "m_lt";
    case SQL_OP_LE:
        return "m_le";
    case SQL_OP_GT:
        return "m_gt";
    case SQL_OP_GE:
        return "m_ge";
    default:
        return "m_nseq";
    }
}

static bool is_exact(const struct ty *t)
{
    return db_base_is_int(t->base) || t->base == DB_T_YEAR || t->base == DB_T_DECIMAL;
}

static bool is_int(const struct ty *t)
{
    return db_base_is_int(t->base) || t->base == DB_T_YEAR;
}

/* A temporal value and another one. */
static char how_temporal(const struct val *a, const struct val *b)
{
    const struct val *d = db_base_is_temporal(a->t.base) ? a : b;
    const struct val *o = d == a ? b : a;

    if (db_base_is_temporal(o->t.base)) {
        if (o->t.base == d->t.base && d->t.base == DB_T_DATE)
            return 'D';
        if (o->t.base == d->t.base && d->t.base == DB_T_TIME)
            return 'T';
        return o->constant && d->t.base == DB_T_DATE   ? 'D'
               : d->constant && o->t.base == DB_T_DATE ? 'D'
                                                       : 'E';
    }
    if (ty_is_num(&o->t) && !o->constant)
        return is_exact(&o->t) ? 'd' : 'r';
    if (d->t.base == DB_T_TIME)
        return 'T';
    return d->t.base == DB_T_DATE && o->constant ? 'D' : 'E';
}

int compare_how(struct tr *t, const struct val *a, const struct val *b, const char *op, char *how,
    const struct db_collation **coll)
{
    const struct ty *x = &a->t, *y = &b->t;
    uint8_t coer;
    int rc;

    *coll = NULL;
    if (x->base == DB_T_NULL || y->base == DB_T_NULL) {
        *how = 'n';
    } else if (ty_is_string(x) && ty_is_string(y)) {
        if ((rc = ty_collate(t, x, y, op, coll, &coer)))
            return rc;
        *how = *coll ? 's' : 'x';
    } else if (x->base == DB_T_JSON || y->base == DB_T_JSON) {
        *how = 'j';
    } else if (db_base_is_temporal(x->base) || db_base_is_temporal(y->base)) {
        *how = how_temporal(a, b);
    } else if (is_int(x) && is_int(y)) {
        *how = 'i';
    } else if (is_exact(x) && is_exact(y)) {
        *how = 'd';
    } else if ((x->base == DB_T_DECIMAL && b->constant) ||
               (y->base == DB_T_DECIMAL && a->constant)) {
        *how = 'd';
    } else {
        *how = 'r';
    }
    return 0;
}

struct str how_text(struct tr *t, char how, const struct db_collation *coll)
{
    if (how == 's')
        return cat(t, "'s:$'", coll ? coll->name : STR("binary"));
    if (how == 'n')
        return STR("'x'");
    return cat(t, "'$'", arena_str(t->arena, str_n(&how, 1)));
}

/* x with the collation unless SQLite takes that one anyway. */
static struct str collated(
    struct tr *t, struct val *a, struct str x, struct val *b, struct str y, struct str coll)
{
    bool a_same = a->sql.p && x.p == a->sql.p && str_eq(a->natural, coll);
    bool b_same = b->sql.p && y.p == b->sql.p && str_eq(b->natural, coll);

    if (a_same || (b_same && a->constant && !a->natural.len))
        return x;
    return with_collation(t, a, x, coll);
}

/* A constant that is compared with a DATE: its date alone if its time is zero. */
static struct str date_side(struct tr *t, struct val *v)
{
    if (v->t.base == DB_T_DATE || v->t.base == DB_T_NULL)
        return val_sql(t, v);
    if (lit_is_string(v) && v->lit->s.len == 10) {
        struct str s = val_temporal(t, v, DB_T_DATE, 0);

        if (s.len && s.p[0] != 'm')
            return s;
    }
    return cat(t, "replace(m_as_datetime($,0),' 00:00:00','')", val_sql(t, v));
}

static struct str datetime_side(struct tr *t, struct val *v, int fsp)
{
    if (!v->constant && !db_base_is_temporal(v->t.base))
        return cat(t, "m_cast_datetime($,#)", val_sql(t, v), fsp);
    return val_temporal(t, v, DB_T_DATETIME, fsp);
}

static bool sides_datetime(struct tr *t, struct val *a, struct val *b, struct str *x, struct str *y)
{
    bool free = !db_base_is_temporal(a->t.base) || !db_base_is_temporal(b->t.base);
    int fsp = MAX(a->t.dec > 6 ? 0 : a->t.dec, b->t.dec > 6 ? 0 : b->t.dec);

    /* what is no temporal value takes the other one's decimals, more stay when it has them */
    if (free)
        fsp = db_base_is_temporal(a->t.base) ? a->t.dec : b->t.dec;
    if (free && !a->constant && !b->constant)
        fsp = 6;
    if (a->raw.len && b->constant) {
        *x = a->raw;
        *y = cat(t, "m_ts_utc($)", datetime_side(t, b, fsp));
    } else if (b->raw.len && a->constant) {
        *x = cat(t, "m_ts_utc($)", datetime_side(t, a, fsp));
        *y = b->raw;
    } else if (a->raw.len && b->raw.len && a->t.dec == b->t.dec) {
        *x = a->raw;
        *y = b->raw;
    } else {
        *x = datetime_side(t, a, fsp);
        *y = datetime_side(t, b, fsp);
    }
    return true;
}

/* An integer and a literal with a point: DOUBLE holds both exactly enough to order them. */
static bool real_literal(struct tr *t, struct val *number, struct val *lit, struct str *y)
{
    double d;
    int64_t i;
    bool whole;

    if (!is_int(&number->t) || number->t.big || !lit->lit || lit->lit->kind == SQL_HEX ||
        lit->lit->s.len > 15 || !lit_number(lit, &d, &i, &whole))
        return false;
    *y = whole ? param_int(t, i) : param_real(t, d);
    return true;
}

static bool sides_decimal(struct tr *t, struct val *a, struct val *b, struct str *x, struct str *y)
{
    if (real_literal(t, a, b, y)) {
        *x = val_sql(t, a);
        return true;
    }
    if (real_literal(t, b, a, x)) {
        *y = val_sql(t, b);
        return true;
    }
    *x = val_decimal(t, a);
    *y = val_decimal(t, b);
    *x = collated(t, a, *x, b, *y, STR("my_decimal"));
    return true;
}

bool compare_sides(struct tr *t, struct val *a, struct val *b, char how,
    const struct db_collation *coll, struct str *x, struct str *y)
{
    switch (how) {
    case 'n':
        *x = val_sql(t, a);
        *y = val_sql(t, b);
        return true;
    case 's':
        *x = val_text(t, a);
        *y = val_text(t, b);
        *x = collated(t, a, *x, b, *y, coll ? coll->name : STR_NONE);
        return true;
    case 'x':
        *x = val_blob(t, a);
        *y = val_blob(t, b);
        return true;
    case 'i':
        *x = val_sql(t, a);
        *y = val_sql(t, b);
        return !(a->t.big && b->t.big);
    case 'd':
        return sides_decimal(t, a, b, x, y);
    case 'D':
        *x = date_side(t, a);
        *y = date_side(t, b);
        return true;
    case 'E':
        return sides_datetime(t, a, b, x, y);
    case 'T':
        *x = val_temporal(t, a, DB_T_TIME, a->t.dec > 6 ? 0 : a->t.dec);
        *y = val_temporal(t, b, DB_T_TIME, b->t.dec > 6 ? 0 : b->t.dec);
        *x = collated(t, a, *x, b, *y, STR("my_time"));
        return true;
    case 'j':
        *x = val_json(t, a);
        *y = val_json(t, b);
        return false;
    default:
        *x = val_double(t, a);
        *y = val_double(t, b);
        return true;
    }
}

/* The length of the prefix that an index keeps of the column, when none has it whole. */
static int32_t prefix_index(const struct val *v)
{
    const struct db_cat_table *table = v->source ? v->source->table : NULL;
    int32_t prefix = 0;

    for (uint32_t i = 0; table && i < table->n_keys; i++) {
        const struct db_cat_key *k = &table->keys[i];

        if (k->kind > DB_KEY_INDEX || !k->n_parts || k->parts[0].column != (int32_t)v->column)
            continue;
        if (!k->parts[0].length)
            return 0;
        prefix = k->parts[0].length;
    }
    return prefix;
}

/* An index that has only the beginning of a column is used when that is compared too. */
static struct str prefix_condition(
    struct tr *t, struct val *a, struct val *b, struct str value, char how)
{
    int n = prefix_index(a);

    if (!n || !b->constant || (how != 's' && how != 'x'))
        return STR_NONE;
    return cat(t, " AND $=m_prefix($,#)",
        how == 's' ? cat(t, "m_prefix($,#) COLLATE $", a->sql, n, quote_name(t, a->natural))
                   : cat(t, "m_prefix($,#)", a->sql, n),
        value, n);
}

static bool can_prefix(const struct val *a, const struct db_collation *coll)
{
    return a->source && a->sql.p && (!coll || str_eq(a->natural, coll->name));
}

static int compare_values(
    struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out)
{
    const struct db_collation *coll;
    struct str x, y, more = STR_NONE;
    char how;
    int rc;

    if ((rc = compare_how(t, a, b, op_text(op), &how, &coll)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, a);
    val_mix(out, b);
    val_set(out, ty_bool(), STR_NONE, PREC_CMP);
    out->t.not_null = (a->t.not_null && b->t.not_null) || op == SQL_OP_NULL_SAFE_EQ;
    /* "constant = column" is turned round for indexes with prefixes */
    if (op == SQL_OP_EQ && a->constant && !b->constant) {
        struct val *c = a;

        a = b;
        b = c;
    }
    if (!compare_sides(t, a, b, how, coll, &x, &y)) {
        out->sql = cat(t, "$($,$,$)", str_c(function_of(op)), x, y, how_text(t, how, coll));
        out->prec = PREC_ATOM;
        return 0;
    }
    if (x.p == a->sql.p && a->prec <= PREC_CMP)
        x = cat(t, "($)", x);
    if (y.p == b->sql.p && b->prec <= PREC_CMP)
        y = cat(t, "($)", y);
    if (op == SQL_OP_EQ && can_prefix(a, coll))
        more = prefix_condition(t, a, b, y, how);
    out->sql =
        cat(t, "$ $ $$", x, op == SQL_OP_NULL_SAFE_EQ ? STR("IS") : str_c(op_text(op)), y, more);
    out->prec = more.len ? PREC_AND : PREC_CMP;
    return 0;
}

/* (a, b) < (c, d): a < c OR (a = c AND b < d), with a <= c before it for indexes */
static int compare_order(
    struct tr *t, struct val *a, enum sql_op op, struct val *b, uint32_t i, struct val *out)
{
    enum sql_op strict = op == SQL_OP_LE ? SQL_OP_LT : op == SQL_OP_GE ? SQL_OP_GT : op;
    enum sql_op loose = strict == SQL_OP_LT ? SQL_OP_LE : SQL_OP_GE;
    struct val first, equal, rest;
    int rc;

    if (i + 1 == a->n_row)
        return compare(t, &a->row[i], op, &b->row[i], out);
    if ((rc = compare(t, &a->row[i], loose, &b->row[i], &equal)) ||
        (rc = compare(t, &a->row[i], strict, &b->row[i], &first)) ||
        (rc = compare_order(t, a, op, b, i + 1, &rest)))
        return rc;
    *out = equal;
    val_mix(out, &rest);
    out->sql = cat(t, "$ AND ($ OR $)", val_paren(t, &equal, PREC_NOT),
        val_paren(t, &first, PREC_NOT), val_paren(t, &rest, PREC_NOT));
    out->prec = PREC_AND;
    return 0;
}

static int compare_rows(struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out)
{
    struct sb text = {0};
    bool equal = op == SQL_OP_EQ || op == SQL_OP_NULL_SAFE_EQ;
    int rc;

    if (a->n_row != b->n_row)
        return db_error_set(t->e, DB_E_OPERAND_COLUMNS, (int)(a->n_row ? a->n_row : 1));
    if (!equal && op != SQL_OP_NE)
        return compare_order(t, a, op, b, 0, out);
    *out = (struct val){.constant = true};
    for (uint32_t i = 0; i < a->n_row; i++) {
        struct val one;

        if ((rc = compare(t, &a->row[i], op, &b->row[i], &one)))
            return rc;
        val_mix(out, &one);
        sb_cat(t, &text, "$$",
            !i      ? STR_NONE
            : equal ? STR(" AND ")
                    : STR(" OR "),
            val_paren(t, &one, PREC_NOT));
    }
    val_set(out, ty_bool(), sb_str(&text), equal ? PREC_AND : PREC_OR);
    return 0;
}

int compare(struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out)
{
    if (a->n_row || b->n_row)
        return compare_rows(t, a, op, b, out);
    return compare_values(t, a, op, b, out);
}

int val_between(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b, c, x, y;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)) ||
        (rc = val_of1(t, s, e->c, &c)) ||
        (rc = compare(t, &a, e->not? SQL_OP_LT : SQL_OP_GE, &b, &x)) ||
        (rc = compare(t, &a, e->not? SQL_OP_GT : SQL_OP_LE, &c, &y)))
        return rc;
    *out = x;
    val_mix(out, &y);
    val_set(out, ty_bool(),
        cat(t, e->not? "$ OR $" : "$ AND $", val_paren(t, &x, PREC_NOT),
            val_paren(t, &y, PREC_NOT)),
        e->not? PREC_OR : PREC_AND);
    return 0;
}

/* ---- LIKE ---- */

/* What a pattern begins with, up to its first wildcard; *all: there is none. */
static struct str pattern_prefix(struct tr *t, struct str s, char escape, bool *all)
{
    char *p = arena_bytes(t->arena, s.len + 1);
    size_t n = 0, i;

    for (i = 0; i < s.len && s.p[i] != '%' && s.p[i] != '_'; i++) {
        if (s.p[i] == escape && i + 1 < s.len)
            i++;
        p[n++] = s.p[i];
    }
    *all = i >= s.len;
    return str_n(p, n);
}

static bool column_is_indexed(const struct val *v)
{
    const struct db_cat_table *table = v->source ? v->source->table : NULL;

    for (uint32_t i = 0; table && i < table->n_keys; i++) {
        const struct db_cat_key *k = &table->keys[i];

        if (k->kind <= DB_KEY_INDEX && k->n_parts && k->parts[0].column == (int32_t)v->column &&
            !k->parts[0].length)
            return true;
    }
    return false;
}

static bool is_alnum(char c)
{
    c = str_lower_char(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/*
 * The prefix up to its last letter or digit, that one replaced by its neighbour: every collation
 * has those in the same order, and whatever follows in a text does not matter then. *ok: there is
 * one.
 */
static struct str neighbour(struct tr *t, struct str prefix, bool up, bool *ok)
{
    char last = up ? 'z' : '0';
    char c;

    while (prefix.len && (!is_alnum(prefix.p[prefix.len - 1]) ||
                             str_lower_char(prefix.p[prefix.len - 1]) == last))
        prefix.len--;
    *ok = prefix.len > 0;
    if (!*ok)
        return STR_NONE;
    c = prefix.p[prefix.len - 1];
    if (up)
        c = c == '9' ? 'a' : (char)(c + 1);
    else
        c = str_lower_char(c) == 'a' ? '9' : (char)(c - 1);
    return cat(t, "$$", str_sub(prefix, 0, prefix.len - 1), arena_str(t->arena, str_n(&c, 1)));
}

/* A range that holds everything the pattern matches, so that an index is used. */
static struct str like_range(
    struct tr *t, struct val *a, const struct val *b, const struct db_collation *coll, char escape)
{
    struct str prefix, low, high;
    bool all, has_low = true, has_high;

    if (!lit_is_string(b) || !coll || !can_prefix(a, coll) || !column_is_indexed(a))
        return STR_NONE;
    prefix = pattern_prefix(t, b->lit->s, escape, &all);
    if (!prefix.len || !str_is_utf8(prefix))
        return STR_NONE;
    if (all)
        return cat(t, "$ = $ AND ", a->sql, param_text(t, prefix));
    /* where spaces at the end do not count, a tab is less than nothing */
    low = coll->pads ? neighbour(t, prefix, false, &has_low) : prefix;
    high = neighbour(t, prefix, true, &has_high);
    if (!has_high)
        return STR_NONE;
    return cat(t, "$$$$ < $ AND ", has_low ? cat(t, "$ >= ", a->sql) : STR_NONE,
        has_low ? param_text(t, low) : STR_NONE, has_low ? STR(" AND ") : STR_NONE, a->sql,
        param_text(t, high));
}

int val_like(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b, c = {0};
    const struct db_collation *coll;
    struct str range = STR_NONE, escape = STR("'\\'");
    uint8_t coer;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)) ||
        (e->c && (rc = val_of1(t, s, e->c, &c))) ||
        (rc = ty_collate(t, &a.t, &b.t, "like", &coll, &coer)))
        return rc;
    if (e->c)
        escape = val_text(t, &c);
    else if (t->env->mode & DB_MODE_NO_BACKSLASH_ESCAPES)
        escape = STR("''");
    if (!ty_is_string(&a.t) && !ty_is_string(&b.t) && !coll)
        coll = t->coll;
    if (!e->not&&!e->c && ty_is_string(&a.t))
        range =
            like_range(t, &a, &b, coll, t->env->mode & DB_MODE_NO_BACKSLASH_ESCAPES ? '\0' : '\\');
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_mix(out, &b);
    val_set(out, ty_bool(),
        cat(t, "$$m_like($,$,$,'$')", range, e->not? STR("NOT ") : STR_NONE,
            coll ? val_text(t, &b) : val_blob(t, &b), coll ? val_text(t, &a) : val_blob(t, &a),
            escape, coll ? coll->name : STR("binary")),
        range.len ? PREC_AND
        : e->not  ? PREC_NOT
                  : PREC_ATOM);
    out->t.not_null = a.t.not_null && b.t.not_null;
    return 0;
}

int val_regexp(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b;
    const struct db_collation *coll;
    uint8_t coer;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)) ||
        (rc = ty_collate(t, &a.t, &b.t, "regexp", &coll, &coer)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_mix(out, &b);
    val_set(out, ty_bool(),
        cat(t, "$m_regexp('$',$,$)", e->not? STR("NOT ") : STR_NONE,
            coll ? coll->name : STR("binary"), val_text(t, &a), val_text(t, &b)),
        e->not? PREC_NOT : PREC_ATOM);
    return 0;
}

/* ---- IN ---- */

/* a = x OR a = y ...: each in its own way */
static int in_each(
    struct tr *t, struct val *a, struct val *list, uint32_t n, bool not, struct val *out)
{
    struct sb b = {0};
    int rc;

    for (uint32_t i = 0; i < n; i++) {
        struct val one;

        if ((rc = compare(t, a, SQL_OP_EQ, &list[i], &one)))
            return rc;
        /* in groups, since SQLite bounds the depth of its trees */
        if (i)
            sb_add(t, &b, i % 200 ? STR(" OR ") : STR(") OR ("));
        sb_add(t, &b, val_paren(t, &one, PREC_CMP));
    }
    val_set(out, ty_bool(), cat(t, not? "NOT (($))" : "($)", sb_str(&b)), not? PREC_NOT : PREC_OR);
    if (!not&&n > 200)
        out->sql = cat(t, "($)", out->sql);
    return 0;
}

/* Whether all compare alike, and how. */
static int in_how(struct tr *t, struct val *a, struct val *list, uint32_t n, char *how,
    const struct db_collation **coll, bool *alike)
{
    int rc;

    *how = 'n';
    *coll = NULL;
    *alike = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct db_collation *c;
        char h;

        if ((rc = compare_how(t, a, &list[i], "in", &h, &c)))
            return rc;
        /* an integer column and numbers in strings: like numbers, when they are */
        if (h == 'r' && lit_is_string(&list[i]) && *how == 'i')
            h = 'i';
        if (h == 'n')
            continue;
        if (*how == 'n') {
            *how = h;
            *coll = c;
        }
        if (*how == 'i' && h == 'r' && is_int(&a->t))
            *how = 'r';
        *alike &= h == *how && c == *coll;
    }
    if (*how == 'i' || *how == 'd') {
        for (uint32_t i = 0; i < n; i++) {
            if (lit_is_string(&list[i]))
                *how = 'r';
        }
    }
    return 0;
}

static struct str in_prefix(struct tr *t, struct val *a, struct str list, struct val *v, uint32_t n,
    char how, const struct db_collation *coll)
{
    int prefix = can_prefix(a, coll) && how == 's' ? prefix_index(a) : 0;
    struct sb b = {0};

    (void)list;
    for (uint32_t i = 0; prefix && i < n; i++) {
        if (!v[i].constant)
            return STR_NONE;
        sb_cat(t, &b, "$m_prefix($,#)", i ? STR(",") : STR_NONE, val_text(t, &v[i]), prefix);
    }
    if (!prefix)
        return STR_NONE;
    return cat(t, " AND m_prefix($,#) COLLATE $ IN ($)", a->sql, prefix, quote_name(t, a->natural),
        sb_str(&b));
}

static int in_list(
    struct tr *t, struct val *a, struct val *list, uint32_t n, bool not, struct val *out)
{
    const struct db_collation *coll;
    struct sb b = {0};
    struct str x = STR_NONE, y, more = STR_NONE;
    bool alike;
    char how;
    int rc;

    if ((rc = in_how(t, a, list, n, &how, &coll, &alike)))
        return rc;
    if (!alike || how == 'j' || (how == 'i' && a->t.big))
        return in_each(t, a, list, n, not, out);
    for (uint32_t i = 0; i < n; i++) {
        struct val c = *a;

        if (!compare_sides(t, &c, &list[i], how, coll, &x, &y))
            return in_each(t, a, list, n, not, out);
        sb_cat(t, &b, "$$", i ? STR(",") : STR_NONE, y);
    }
    if (how == 's')
        x = with_collation(t, a, val_text(t, a), coll->name);
    if (how == 'd' && a->t.base == DB_T_DECIMAL)
        x = with_collation(t, a, val_sql(t, a), STR("my_decimal"));
    if (how == 'd' && a->t.base != DB_T_DECIMAL)
        return in_each(t, a, list, n, not, out);
    if (how == 'T')
        x = with_collation(t, a, x, STR("my_time"));
    if (!not)
        more = in_prefix(t, a, sb_str(&b), list, n, how, coll);
    if (x.p == a->sql.p && a->prec <= PREC_CMP)
        x = cat(t, "($)", x);
    val_set(out, ty_bool(), cat(t, "$ $ ($)$", x, not? STR("NOT IN") : STR("IN"), sb_str(&b), more),
        more.len ? PREC_AND : PREC_CMP);
    return 0;
}

int val_in(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, *list = arena_new(t->arena, sizeof(*list) * MAX(e->list.n, 1));
    bool all_not_null = true;
    int rc;

    if ((rc = val_of(t, s, e->a, &a)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    for (uint32_t i = 0; i < e->list.n; i++) {
        if ((rc = val_of(t, s, e->list.v[i], &list[i])))
            return rc;
        if (list[i].n_row != a.n_row)
            return db_error_set(t->e, DB_E_OPERAND_COLUMNS, (int)(a.n_row ? a.n_row : 1));
        val_mix(out, &list[i]);
        all_not_null &= list[i].t.not_null;
    }
    if (a.n_row || e->list.n == 1)
        rc = in_each(t, &a, list, e->list.n, e->not, out);
    else
        rc = in_list(t, &a, list, e->list.n, e->not, out);
    out->t.not_null = a.t.not_null && all_not_null;
    return rc;
}
