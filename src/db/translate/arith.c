/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/*
 * Arithmetic. Integers whose sizes say that nothing can overflow, and DOUBLE, are SQLite's own;
 * everything else is exact in func/.
 */

static bool is_int(const struct ty *t)
{
    return db_base_is_int(t->base) || t->base == DB_T_YEAR;
}

static bool is_real(const struct ty *t)
{
    return t->base == DB_T_DOUBLE || t->base == DB_T_FLOAT;
}

/* Can the value not be negative? */
static bool not_negative(const struct val *v, const struct ty *t)
{
    return t->uns || t->is_bool || (v->lit && v->lit->kind == SQL_INT);
}

static struct ty type_of_ints(const struct ty *a, enum sql_op op, const struct ty *b)
{
    int x = ty_int_digits(a), y = ty_int_digits(b);
    int width = op == SQL_OP_MUL ? x + y : MAX(x, y) + 1;
    int bits = op == SQL_OP_MUL ? a->bits + b->bits : MAX(a->bits, b->bits) + 1;
    struct ty t = ty_int(MIN(width + 1, 21), MIN(bits, 64));

    if (op == SQL_OP_MOD) {
        t = ty_int(MAX(x, y) + 1, MAX(a->bits, b->bits));
        t.uns = a->uns;
    } else {
        t.uns = a->uns || b->uns;
    }
    t.base =
        t.len >= 10 || a->base == DB_T_BIGINT || b->base == DB_T_BIGINT ? DB_T_BIGINT : DB_T_INT;
    t.big = bits > 63 && t.uns;
    return t;
}

static struct ty type_of_decimals(const struct ty *a, enum sql_op op, const struct ty *b)
{
    int x = ty_int_digits(a), y = ty_int_digits(b), s = ty_scale(a), r = ty_scale(b);
    int dec;

    switch (op) {
    case SQL_OP_MUL:
        return ty_decimal(x + s + y + r, MIN(s + r, 30));
    case SQL_OP_DIV:
        dec = MIN(s + 4, 30);
        return ty_decimal(x + s + r + 4 > 65 ? 65 : x + s + r + 4, dec);
    case SQL_OP_MOD:
        return ty_decimal(MAX(x + s, y + r), MAX(s, r));
    default:
        return ty_decimal(MAX(x, y) + 1 + MAX(s, r), MAX(s, r));
    }
}

static const char *function_of(enum sql_op op, bool uns)
{
    switch (op) {
    case SQL_OP_ADD:
        return uns ? "m_uadd" : "m_add";
    case SQL_OP_SUB:
        return uns ? "m_usub" : "m_sub";
    case SQL_OP_MUL:
        return uns ? "m_umul" : "m_mul";
    case SQL_OP_DIV:
        return "m_div";
    case SQL_OP_INT_DIV:
        return "m_intdiv";
    case SQL_OP_MOD:
        return "m_mod";
    case SQL_OP_BIT_OR:
        return "m_bor";
    case SQL_OP_BIT_AND:
        return "m_band";
    case SQL_OP_BIT_XOR:
        return "m_bxor";
    case SQL_OP_SHIFT_LEFT:
        return "m_shl";
    default:
        return "m_shr";
    }
}

static struct ty type_of(const struct ty *a, enum sql_op op, const struct ty *b)
{
    struct ty t;

    if (op == SQL_OP_INT_DIV) {
        t = ty_int(MIN(ty_int_digits(a), 21), 63);
        t.uns = a->uns || b->uns;
        return t;
    }
    if (is_real(a) || is_real(b)) {
        t = ty_double();
        if (op != SQL_OP_DIV && op != SQL_OP_MOD && a->dec != 31 && b->dec != 31 && is_real(a) &&
            is_real(b))
            t.dec = MAX(a->dec, b->dec);
        return t;
    }
    if (is_int(a) && is_int(b) && op != SQL_OP_DIV)
        return type_of_ints(a, op, b);
    t = type_of_decimals(a, op, b);
    t.uns = a->uns && b->uns;
    return t;
}

static bool is_native(const struct val *a, const struct ty *x, enum sql_op op, const struct val *b,
    const struct ty *y, const struct ty *t)
{
    if (op == SQL_OP_DIV || op == SQL_OP_INT_DIV || op == SQL_OP_MOD || x->big || y->big)
        return false;
    if (x->base == DB_T_NULL || y->base == DB_T_NULL)
        return true;
    if (is_real(t))
        return true;
    if (!is_int(x) || !is_int(y))
        return false;
    if ((op == SQL_OP_MUL ? x->bits + y->bits : MAX(x->bits, y->bits) + 1) > 63)
        return false;
    if (!t->uns)
        return true;
    return op != SQL_OP_SUB && not_negative(a, x) && not_negative(b, y);
}

static enum prec prec_of(enum sql_op op)
{
    return op == SQL_OP_MUL ? PREC_MUL : PREC_ADD;
}

/*
 * A call of func/. A quotient is computed on with nine decimals more than its first operand has,
 * and shown with four, as MySQL does it: 10 / 3 * 3 is 10.0000.
 */
static void exact_call(struct tr *t, const struct val *a, enum sql_op op, const struct val *b,
    struct ty ty, struct str p, struct str q, struct val *out)
{
    struct str f = str_c(function_of(op, ty.uns && is_int(&ty)));
    struct str sql = cat(t, "$($,$)", f, p, q), exact = STR_NONE;

    if (ty.base == DB_T_DECIMAL && op == SQL_OP_DIV)
        exact = cat(t, "m_div(m_mul($,'1.00000'),$)", p, q);
    if (ty.base == DB_T_DECIMAL && (a->exact.p || b->exact.p)) {
        if (op != SQL_OP_DIV)
            exact = sql;
        sql = cat(t, "m_round($,#)", sql, (int)ty.dec);
    }
    val_set(out, ty, sql, PREC_ATOM);
    out->exact = exact;
}

int arith(struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out)
{
    struct ty x, y, ty;
    struct str p = val_exact(t, a, &x), q = val_exact(t, b, &y);
    enum prec prec = prec_of(op);

    *out = (struct val){.constant = true};
    val_mix(out, a);
    val_mix(out, b);
    if (x.base == DB_T_NULL || y.base == DB_T_NULL)
        ty = x.base == DB_T_NULL && y.base == DB_T_NULL
                 ? ty_int(1, 1)
                 : type_of(x.base == DB_T_NULL ? &y : &x, op, x.base == DB_T_NULL ? &y : &x);
    else
        ty = type_of(&x, op, &y);
    ty.not_null =
        x.not_null && y.not_null && op != SQL_OP_DIV && op != SQL_OP_MOD && op != SQL_OP_INT_DIV;
    if (!is_native(a, &x, op, b, &y, &ty)) {
        exact_call(t, a, op, b, ty, p, q, out);
        return 0;
    }
    if (p.p == a->sql.p)
        p = val_paren(t, a, prec);
    if (q.p == b->sql.p)
        q = val_paren(t, b, prec + 1);
    val_set(out, ty,
        cat(t,
            op == SQL_OP_ADD   ? "$+$"
            : op == SQL_OP_SUB ? "$ - $"
                               : "$*$",
            p, q),
        prec);
    return 0;
}

static int bits(struct tr *t, struct val *a, enum sql_op op, struct val *b, struct val *out)
{
    struct ty ty = ty_int(21, 64), x, y;
    struct str p, q;

    *out = (struct val){.constant = true};
    val_mix(out, a);
    val_mix(out, b);
    p = val_num(t, a, &x);
    q = val_num(t, b, &y);
    ty.uns = true;
    ty.base = DB_T_BIGINT;
    ty.not_null = x.not_null && y.not_null;
    if (op == SQL_OP_BIT_AND && is_int(&x) && is_int(&y) && !x.big && !y.big &&
        (not_negative(a, &x) || not_negative(b, &y))) {
        ty.bits = 63;
        val_set(out, ty, cat(t, "($)&($)", p, q), PREC_BIT);
        return 0;
    }
    ty.big = op != SQL_OP_BIT_AND && op != SQL_OP_SHIFT_RIGHT;
    ty.big |= x.big || y.big || !not_negative(a, &x);
    val_set(out, ty, cat(t, "$($,$)", str_c(function_of(op, false)), p, q), PREC_ATOM);
    return 0;
}

/* The terms of a tree of the same operator, left to right, from terms[n] on when there is a list;
 * returns the number with them. The parser bounds how deep trees are. */
static uint32_t chain(
    const struct sql_expr *e, enum sql_op op, const struct sql_expr **terms, uint32_t n)
{
    if (e->kind == SQL_BINARY && e->op == op)
        return chain(e->b, op, terms, chain(e->a, op, terms, n));
    if (terms)
        terms[n] = e;
    return n + 1;
}

/* Joins the texts in halves when there are many: SQLite bounds the depth of its trees. */
static struct str balance(struct tr *t, struct str *v, uint32_t n, struct str op)
{
    struct sb b = {0};

    if (n > 200)
        return cat(
            t, "($)$($)", balance(t, v, n / 2, op), op, balance(t, v + n / 2, n - n / 2, op));
    for (uint32_t i = 0; i < n; i++)
        sb_cat(t, &b, "$$", i ? op : STR_NONE, v[i]);
    return sb_str(&b);
}

static int logic(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    bool and = e->op == SQL_OP_AND;
    uint32_t n = chain(e, e->op, NULL, 0);
    const struct sql_expr **terms = arena_new(t->arena, sizeof(void *) * n);
    struct str *v = arena_new(t->arena, sizeof(*v) * n);
    bool not_null = true;
    int rc;

    (void)chain(e, e->op, terms, 0);
    *out = (struct val){.constant = true};
    for (uint32_t i = 0; i < n; i++) {
        struct val one;

        if ((rc = val_of1(t, s, terms[i], &one)))
            return rc;
        val_mix(out, &one);
        not_null &= one.t.not_null;
        v[i] = val_cond(t, &one, and? PREC_AND : PREC_OR);
    }
    val_set(
        out, ty_bool(), balance(t, v, n, and? STR(" AND ") : STR(" OR ")), and? PREC_AND : PREC_OR);
    out->t.not_null = not_null;
    return 0;
}

static int xor
    (struct tr * t, struct val *a, struct val *b, struct val *out) {
        *out = (struct val){.constant = true};
        val_mix(out, a);
        val_mix(out, b);
        val_set(out, ty_bool(),
            cat(t, "(NOT $)<>(NOT $)", val_cond(t, a, PREC_NOT), val_cond(t, b, PREC_NOT)),
            PREC_CMP);
        out->t.not_null = a->t.not_null && b->t.not_null;
        return 0;
    }

    static int concat(struct tr *t, struct val *a, struct val *b, struct val *out)
{
    const struct db_collation *coll;
    uint8_t coer;
    int rc;

    if ((rc = ty_collate(t, &a->t, &b->t, "concat", &coll, &coer)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, a);
    val_mix(out, b);
    val_set(out, ty_text(coll, ty_chars(&a->t) + ty_chars(&b->t), coer),
        cat(t, "m_concat($,$)", coll ? val_text(t, a) : val_blob(t, a),
            coll ? val_text(t, b) : val_blob(t, b)),
        PREC_ATOM);
    return 0;
}

int val_binary(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b;
    int rc;

    if (e->op == SQL_OP_AND || e->op == SQL_OP_OR)
        return logic(t, s, e, out);
    if (e->op >= SQL_OP_EQ && e->op <= SQL_OP_NULL_SAFE_EQ) {
        if ((rc = val_of(t, s, e->a, &a)) || (rc = val_of(t, s, e->b, &b)))
            return rc;
        return compare(t, &a, e->op, &b, out);
    }
    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)))
        return rc;
    if (e->op == SQL_OP_XOR)
        return xor(t, &a, &b, out);
    if (e->op == SQL_OP_CONCAT)
        return concat(t, &a, &b, out);
    if (e->op >= SQL_OP_BIT_OR)
        return bits(t, &a, e->op, &b, out);
    return arith(t, &a, e->op, &b, out);
}

static int negate(struct tr *t, struct val *a, struct val *out)
{
    struct ty ty;
    struct str x;

    if (a->lit && a->lit->kind == SQL_INT && a->lit->u <= (uint64_t)INT64_MAX + 1) {
        ty = a->t;
        ty.len++;
        ty.uns = ty.big = false;
        ty.bits = MIN(ty.bits, 63);
        *out = (struct val){.constant = true};
        val_set(out, ty, param_int(t, (int64_t)(0 - a->lit->u)), PREC_ATOM);
        return 0;
    }
    x = val_num(t, a, &ty);
    *out = (struct val){.constant = true};
    val_mix(out, a);
    if (is_real(&ty) || (is_int(&ty) && ty.bits < 63)) {
        ty.len += is_int(&ty);
        if (is_int(&ty) && !a->constant)
            ty.base = DB_T_BIGINT;
        ty.uns = false;
        ty.is_bool = false;
        val_set(out, ty, cat(t, "-($)", x), PREC_MUL);
        return 0;
    }
    if (is_int(&ty)) {
        ty = ty_int(21, 63);
        ty.not_null = a->t.not_null;
    }
    ty.uns = false;
    val_set(out, ty, cat(t, "m_neg($)", x), PREC_ATOM);
    return 0;
}

int val_unary(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a;
    struct ty ty;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    switch (e->op) {
    case SQL_OP_NEG:
        return negate(t, &a, out);
    case SQL_OP_PLUS:
        *out = a;
        return 0;
    case SQL_OP_NOT:
        *out = (struct val){.constant = true};
        val_mix(out, &a);
        ty = ty_bool();
        ty.not_null = a.t.not_null;
        val_set(out, ty, cat(t, "NOT $", val_cond(t, &a, PREC_CMP)), PREC_NOT);
        return 0;
    case SQL_OP_BIT_NOT:
        *out = (struct val){.constant = true};
        val_mix(out, &a);
        ty = ty_int(21, 64);
        ty.uns = ty.big = true;
        val_set(out, ty, cat(t, "m_bnot($)", val_num(t, &a, &a.t)), PREC_ATOM);
        return 0;
    default: /* BINARY */
        *out = (struct val){.constant = true};
        val_mix(out, &a);
        ty = ty_binary(ty_chars(&a.t) * (a.t.coll ? a.t.coll->max_bytes : 1));
        ty.not_null = a.t.not_null;
        ty.coer = COER_IMPLICIT;
        val_set(out, ty, val_blob(t, &a), PREC_ATOM);
        return 0;
    }
}

/* ---- x + INTERVAL ---- */

static bool unit_has_time(enum sql_unit u)
{
    return !(u == SQL_UNIT_DAY || u == SQL_UNIT_WEEK || u == SQL_UNIT_MONTH ||
             u == SQL_UNIT_QUARTER || u == SQL_UNIT_YEAR || u == SQL_UNIT_YEAR_MONTH);
}

static bool unit_has_micro(enum sql_unit u)
{
    return u == SQL_UNIT_MICROSECOND || u == SQL_UNIT_SECOND_MICROSECOND ||
           u == SQL_UNIT_MINUTE_MICROSECOND || u == SQL_UNIT_HOUR_MICROSECOND ||
           u == SQL_UNIT_DAY_MICROSECOND;
}

int val_date_add(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b;
    struct ty ty;
    struct str kind = STR_NONE;
    int rc, fsp;

    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_mix(out, &b);
    fsp = db_base_is_temporal(a.t.base) ? a.t.dec : 0;
    if (unit_has_micro(e->unit))
        fsp = 6;
    else if (e->unit == SQL_UNIT_SECOND && b.t.base == DB_T_DECIMAL)
        fsp = MAX(fsp, MIN(b.t.dec, 6));
    switch (a.t.base) {
    case DB_T_DATE:
        ty = ty_temporal(
            unit_has_time(e->unit) ? DB_T_DATETIME : DB_T_DATE, unit_has_time(e->unit) ? fsp : 0);
        kind = STR(",'D'");
        break;
    case DB_T_TIME:
        ty = ty_temporal(DB_T_TIME, fsp);
        kind = STR(",'T'");
        break;
    case DB_T_DATETIME:
    case DB_T_TIMESTAMP:
        ty = ty_temporal(DB_T_DATETIME, fsp);
        kind = STR(",'E'");
        break;
    default:
        ty = ty_text(t->coll, 19, COER_LITERAL);
        ty.base = DB_T_CHAR;
        break;
    }
    val_set(out, ty,
        cat(t, "$($,$,'$'$)", e->not? STR("m_date_sub") : STR("m_date_add"), val_sql(t, &a),
            val_sql(t, &b), str_c(unit_text(e->unit)), kind),
        PREC_ATOM);
    return 0;
}
