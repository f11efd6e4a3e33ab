/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Arithmetic: integers with their overflow, exact decimals, doubles; bits. */
#include <math.h>

#include "db/func/call.h"

/* Error 1690 with both operands. */
static void range(struct call *c, const char *type, const char *op)
{
    struct str a = str_sub(call_str(c, 0), 0, 100);
    struct str b = str_sub(call_str(c, 1), 0, 100);

    call_range(
        c, type, arena_printf(&c->arena, "(" STR_F " %s " STR_F ")", STR_A(a), op, STR_A(b)).p);
}

struct op {
    const char *sign;
    bool (*ints)(int64_t a, int64_t b, int64_t *out); /* true: overflow */
    bool (*decs)(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out);
    double (*reals)(double a, double b);
};

static bool add_ints(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_add_overflow(a, b, out);
}

static bool sub_ints(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_sub_overflow(a, b, out);
}

static bool mul_ints(int64_t a, int64_t b, int64_t *out)
{
    return __builtin_mul_overflow(a, b, out);
}

static double add_reals(double a, double b)
{
    return a + b;
}

static double sub_reals(double a, double b)
{
    return a - b;
}

static double mul_reals(double a, double b)
{
    return a * b;
}

static const struct op add = {"+", add_ints, db_decimal_add, add_reals};
static const struct op sub = {"-", sub_ints, db_decimal_sub, sub_reals};
static const struct op mul = {"*", mul_ints, db_decimal_mul, mul_reals};

static void arithmetic(struct call *c, const struct op *op)
{
    struct num a;
    struct num b;
    struct db_decimal x;
    struct db_decimal y;
    int64_t v;

    if (call_any_null(c))
        return;
    call_num(c, 0, &a);
    call_num(c, 1, &b);
    if (c->failed)
        return;
    if (a.kind == NUM_REAL || b.kind == NUM_REAL) {
        double d = op->reals(num_double(&a), num_double(&b));

        if (isfinite(d))
            ret_double(c, d);
        else
            range(c, "DOUBLE", op->sign);
        return;
    }
    if (a.kind == NUM_INT && b.kind == NUM_INT) {
        if (op->ints(a.i, b.i, &v))
            range(c, "BIGINT", op->sign);
        else
            ret_i64(c, v);
        return;
    }
    num_decimal(&a, &x);
    num_decimal(&b, &y);
    if (op->decs(&x, &y, &x))
        ret_dec(c, &x);
    else
        range(c, "DECIMAL", op->sign);
}

void fn_add(struct call *c)
{
    arithmetic(c, &add);
}

void fn_sub(struct call *c)
{
    arithmetic(c, &sub);
}

void fn_mul(struct call *c)
{
    arithmetic(c, &mul);
}

void fn_neg(struct call *c)
{
    struct num a;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &a);
    if (a.kind == NUM_REAL) {
        ret_double(c, -a.d);
    } else if (a.kind == NUM_INT && a.i != INT64_MIN) {
        ret_i64(c, -a.i);
    } else {
        struct db_decimal d;

        num_decimal(&a, &d);
        d.neg = !d.neg && d.n > 0;
        if (d.scale == 0 && d.neg) { /* -9223372036854775808 is an integer again */
            int64_t v;

            if (db_decimal_to_i64(&d, &v)) {
                ret_i64(c, v);
                return;
            }
        }
        ret_dec(c, &d);
    }
}

/* The result of integers, one of them unsigned: not negative, at most 64 bits. */
static void unsigned_arithmetic(struct call *c, const struct op *op, bool may_be_negative)
{
    struct num a;
    struct num b;
    struct db_decimal x;
    struct db_decimal y;
    uint64_t v;
    int64_t i;

    if (call_any_null(c))
        return;
    call_num(c, 0, &a);
    call_num(c, 1, &b);
    if (c->failed)
        return;
    if (a.kind == NUM_REAL || b.kind == NUM_REAL) {
        arithmetic(c, op);
        return;
    }
    num_decimal(&a, &x);
    num_decimal(&b, &y);
    if (!op->decs(&x, &y, &x))
        range(c, "BIGINT UNSIGNED", op->sign);
    else if (may_be_negative && db_decimal_to_i64(&x, &i))
        ret_i64(c, i);
    else if (!may_be_negative && db_decimal_to_u64(&x, &v))
        ret_u64(c, v);
    else
        range(c, may_be_negative ? "BIGINT" : "BIGINT UNSIGNED", op->sign);
}

void fn_uadd(struct call *c)
{
    unsigned_arithmetic(c, &add, false);
}

void fn_usub(struct call *c)
{
    unsigned_arithmetic(c, &sub, (c->s->mode & DB_MODE_NO_UNSIGNED_SUBTRACTION) != 0);
}

void fn_umul(struct call *c)
{
    unsigned_arithmetic(c, &mul, false);
}

/* NULL; an error or a warning as sql_mode wants it. */
static void by_zero(struct call *c)
{
    if (!(c->s->mode & DB_MODE_ERROR_FOR_DIVISION_BY_ZERO))
        return;
    if (call_strict(c))
        CALL_RAISE(c, DB_E_DIVISION_BY_ZERO);
    else
        CALL_WARN(c, DB_WARNING, DB_E_DIVISION_BY_ZERO);
}

static bool is_zero(const struct num *n)
{
    return n->kind == NUM_INT ? n->i == 0 : n->kind == NUM_DEC ? n->dec.n == 0 : n->d == 0;
}

/* Both operands of a division; false: done with. */
static bool operands(struct call *c, struct num *a, struct num *b)
{
    if (call_any_null(c))
        return false;
    call_num(c, 0, a);
    call_num(c, 1, b);
    if (c->failed)
        return false;
    if (is_zero(b)) {
        by_zero(c);
        return false;
    }
    return true;
}

void fn_div(struct call *c)
{
    struct num a;
    struct num b;
    struct db_decimal x;
    struct db_decimal y;

    if (!operands(c, &a, &b))
        return;
    if (a.kind == NUM_REAL || b.kind == NUM_REAL) {
        double d = num_double(&a) / num_double(&b);

        if (isfinite(d))
            ret_double(c, d);
        else
            range(c, "DOUBLE", "/");
        return;
    }
    num_decimal(&a, &x);
    num_decimal(&b, &y);
    if (db_decimal_div(&x, &y, (int)MIN(c->s->div_precision_increment, 30), &x))
        ret_dec(c, &x);
    else
        range(c, "DECIMAL", "/");
}

void fn_intdiv(struct call *c)
{
    struct num a;
    struct num b;
    struct db_decimal x;
    struct db_decimal y;
    int64_t v;
    uint64_t u;

    if (!operands(c, &a, &b))
        return;
    if (a.kind == NUM_INT && b.kind == NUM_INT && !(a.i == INT64_MIN && b.i == -1)) {
        ret_i64(c, a.i / b.i);
        return;
    }
    num_decimal(&a, &x);
    num_decimal(&b, &y);
    if (db_decimal_is_zero(&y)) {
        by_zero(c);
        return;
    }
    if (!db_decimal_intdiv(&x, &y, &x))
        range(c, "BIGINT", "DIV");
    else if (db_decimal_to_i64(&x, &v))
        ret_i64(c, v);
    else if (db_decimal_to_u64(&x, &u))
        ret_u64(c, u);
    else
        range(c, "BIGINT", "DIV");
}

void fn_mod(struct call *c)
{
    struct num a;
    struct num b;
    struct db_decimal x;
    struct db_decimal y;

    if (!operands(c, &a, &b))
        return;
    if (a.kind == NUM_REAL || b.kind == NUM_REAL) {
        ret_double(c, fmod(num_double(&a), num_double(&b)));
    } else if (a.kind == NUM_INT && b.kind == NUM_INT) {
        ret_i64(c, b.i == -1 ? 0 : a.i % b.i);
    } else {
        num_decimal(&a, &x);
        num_decimal(&b, &y);
        if (db_decimal_mod(&x, &y, &x))
            ret_dec(c, &x);
    }
}

/* ---- bits ---- */

void fn_band(struct call *c)
{
    if (!call_any_null(c))
        ret_u64(c, call_u64(c, 0) & call_u64(c, 1));
}

void fn_bor(struct call *c)
{
    if (!call_any_null(c))
        ret_u64(c, call_u64(c, 0) | call_u64(c, 1));
}

void fn_bxor(struct call *c)
{
    if (!call_any_null(c))
        ret_u64(c, call_u64(c, 0) ^ call_u64(c, 1));
}

void fn_bnot(struct call *c)
{
    if (!call_any_null(c))
        ret_u64(c, ~call_u64(c, 0));
}

void fn_shl(struct call *c)
{
    uint64_t n;

    if (call_any_null(c))
        return;
    n = call_u64(c, 1);
    ret_u64(c, n < 64 ? call_u64(c, 0) << n : 0);
}

void fn_shr(struct call *c)
{
    uint64_t n;

    if (call_any_null(c))
        return;
    n = call_u64(c, 1);
    ret_u64(c, n < 64 ? call_u64(c, 0) >> n : 0);
}

void fn_bit_count(struct call *c)
{
    if (!call_any_null(c))
        ret_i64(c, __builtin_popcountll(call_u64(c, 0)));
}
