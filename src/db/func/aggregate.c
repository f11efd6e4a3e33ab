/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Aggregates of numbers; all of them are window functions too. */
#include <math.h>

#include "db/func/call.h"

/* ---- SUM and AVG: integers as long as they fit, then decimals; a double makes all doubles ---- */

struct sum {
    int64_t n;     /* values that are not NULL */
    int64_t reals; /* ... of them doubles */
    int64_t ints;  /* sum of integers */
    double d;      /* sum of doubles */
    struct db_decimal dec;
    bool overflow;
};

static void add_decimal(struct sum *s, const struct db_decimal *d, bool minus)
{
    bool ok = minus ? db_decimal_sub(&s->dec, d, &s->dec) : db_decimal_add(&s->dec, d, &s->dec);

    if (!ok)
        s->overflow = true;
}

static void add_int(struct sum *s, int64_t v, bool minus)
{
    struct db_decimal d;
    int64_t r;

    if (!(minus ? __builtin_sub_overflow(s->ints, v, &r)
                : __builtin_add_overflow(s->ints, v, &r))) {
        s->ints = r;
        return;
    }
    db_decimal_i64(&d, s->ints);
    add_decimal(s, &d, false);
    db_decimal_i64(&d, v);
    add_decimal(s, &d, minus);
    s->ints = 0;
}

static void sum_add(struct call *c, struct sum *s, bool minus)
{
    struct num n;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    s->n += minus ? -1 : 1;
    switch (n.kind) {
    case NUM_INT:
        add_int(s, n.i, minus);
        break;
    case NUM_DEC:
        add_decimal(s, &n.dec, minus);
        break;
    default:
        s->reals += minus ? -1 : 1;
        s->d = s->reals == 0 ? 0 : minus ? s->d - n.d : s->d + n.d;
    }
}

static void sum_step(struct call *c, void *state)
{
    sum_add(c, state, false);
}

static void sum_inverse(struct call *c, void *state)
{
    sum_add(c, state, true);
}

/* The whole sum, exactly; false: there is a double in it. */
static bool exact_sum(struct call *c, const struct sum *s, struct db_decimal *out)
{
    struct db_decimal ints;

    if (s->reals > 0)
        return false;
    db_decimal_i64(&ints, s->ints);
    if (s->overflow || !db_decimal_add(&s->dec, &ints, out)) {
        call_range(c, "DECIMAL", c->name);
        db_decimal_zero(out, 0);
    }
    return true;
}

static double real_sum(const struct sum *s)
{
    return s->d + (double)s->ints + db_decimal_to_double(&s->dec);
}

static void sum_value(struct call *c, void *state)
{
    struct sum *s = state;
    struct db_decimal d;

    if (!s || s->n == 0)
        return;
    if (!exact_sum(c, s, &d))
        ret_double(c, real_sum(s));
    else if (!c->failed)
        ret_dec(c, &d);
}

static void avg_value(struct call *c, void *state)
{
    struct sum *s = state;
    struct db_decimal d;
    struct db_decimal n;

    if (!s || s->n == 0)
        return;
    if (!exact_sum(c, s, &d)) {
        ret_double(c, real_sum(s) / (double)s->n);
        return;
    }
    db_decimal_i64(&n, s->n);
    if (!c->failed && db_decimal_div(&d, &n, (int)MIN(c->s->div_precision_increment, 30), &d))
        ret_dec(c, &d);
}

const struct func_aggregate agg_sum = {sizeof(struct sum), sum_step, sum_inverse, sum_value, NULL};
const struct func_aggregate agg_avg = {sizeof(struct sum), sum_step, sum_inverse, avg_value, NULL};

/* ---- bits: how many values have each ---- */

struct bits {
    int64_t n;
    int64_t ones[64];
};

static void bits_add(struct call *c, struct bits *b, int by)
{
    uint64_t v;

    if (call_null(c, 0))
        return;
    b->n += by;
    v = call_u64(c, 0);
    for (int i = 0; i < 64; i++)
        b->ones[i] += v >> i & 1 ? by : 0;
}

static void bits_step(struct call *c, void *state)
{
    bits_add(c, state, 1);
}

static void bits_inverse(struct call *c, void *state)
{
    bits_add(c, state, -1);
}

static void bit_and_value(struct call *c, void *state)
{
    const struct bits *b = state;
    uint64_t v = UINT64_MAX;

    for (int i = 0; b && i < 64; i++) {
        if (b->ones[i] < b->n)
            v &= ~(UINT64_C(1) << i);
    }
    ret_u64(c, v);
}

static void bit_or_value(struct call *c, void *state)
{
    const struct bits *b = state;
    uint64_t v = 0;

    for (int i = 0; b && i < 64; i++)
        v |= b->ones[i] ? UINT64_C(1) << i : 0;
    ret_u64(c, v);
}

static void bit_xor_value(struct call *c, void *state)
{
    const struct bits *b = state;
    uint64_t v = 0;

    for (int i = 0; b && i < 64; i++)
        v |= b->ones[i] & 1 ? UINT64_C(1) << i : 0;
    ret_u64(c, v);
}

const struct func_aggregate agg_bit_and = {
    sizeof(struct bits), bits_step, bits_inverse, bit_and_value, NULL};
const struct func_aggregate agg_bit_or = {
    sizeof(struct bits), bits_step, bits_inverse, bit_or_value, NULL};
const struct func_aggregate agg_bit_xor = {
    sizeof(struct bits), bits_step, bits_inverse, bit_xor_value, NULL};

/* ---- variance: Welford's recurrence, forwards and back ---- */

struct variance {
    int64_t n;
    double mean;
    double m2;
};

static void variance_step(struct call *c, void *state)
{
    struct variance *s = state;
    double v;
    double delta;

    if (call_null(c, 0))
        return;
    v = call_real(c, 0);
    s->n++;
    delta = v - s->mean;
    s->mean += delta / (double)s->n;
    s->m2 += delta * (v - s->mean);
}

static void variance_inverse(struct call *c, void *state)
{
    struct variance *s = state;
    double v;
    double delta;

    if (call_null(c, 0))
        return;
    v = call_real(c, 0);
    if (--s->n <= 0) {
        *s = (struct variance){0};
        return;
    }
    delta = v - s->mean;
    s->mean -= delta / (double)s->n;
    s->m2 -= delta * (v - s->mean);
}

static void variance_result(struct call *c, const struct variance *s, bool sample, bool root)
{
    double v;

    if (!s || s->n <= (sample ? 1 : 0))
        return;
    v = MAX(s->m2, 0) / (double)(s->n - (sample ? 1 : 0));
    ret_double(c, root ? sqrt(v) : v);
}

static void stddev_value(struct call *c, void *state)
{
    variance_result(c, state, false, true);
}

static void stddev_samp_value(struct call *c, void *state)
{
    variance_result(c, state, true, true);
}

static void variance_value(struct call *c, void *state)
{
    variance_result(c, state, false, false);
}

static void var_samp_value(struct call *c, void *state)
{
    variance_result(c, state, true, false);
}

const struct func_aggregate agg_stddev = {
    sizeof(struct variance), variance_step, variance_inverse, stddev_value, NULL};
const struct func_aggregate agg_stddev_samp = {
    sizeof(struct variance), variance_step, variance_inverse, stddev_samp_value, NULL};
const struct func_aggregate agg_variance = {
    sizeof(struct variance), variance_step, variance_inverse, variance_value, NULL};
const struct func_aggregate agg_var_samp = {
    sizeof(struct variance), variance_step, variance_inverse, var_samp_value, NULL};
