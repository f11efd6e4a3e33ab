/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Functions of numbers. */
#include <math.h>
#include <stdlib.h>

#include "db/func/call.h"
#include "platform/random.h"

void fn_abs(struct call *c)
{
    struct num n;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    if (n.kind == NUM_REAL) {
        ret_double(c, fabs(n.d));
    } else if (n.kind == NUM_DEC) {
        n.dec.neg = false;
        ret_dec(c, &n.dec);
    } else if (n.i == INT64_MIN) {
        call_range(c, "BIGINT", "abs(-9223372036854775808)");
    } else {
        ret_i64(c, n.i < 0 ? -n.i : n.i);
    }
}

/* A decimal without decimals, as the integer it is when it fits. */
static void ret_whole(struct call *c, const struct db_decimal *d)
{
    int64_t v;

    if (db_decimal_to_i64(d, &v))
        ret_i64(c, v);
    else
        ret_dec(c, d);
}

static void whole(struct call *c, enum db_decimal_mode mode, double (*real)(double))
{
    struct num n;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    if (n.kind == NUM_INT) {
        ret_arg(c, 0);
    } else if (n.kind == NUM_REAL) {
        ret_double(c, real(n.d));
    } else {
        (void)db_decimal_round(&n.dec, 0, mode); /* that is what it is for */
        ret_whole(c, &n.dec);
    }
}

void fn_ceil(struct call *c)
{
    whole(c, DB_DECIMAL_CEIL, ceil);
}

void fn_floor(struct call *c)
{
    whole(c, DB_DECIMAL_FLOOR, floor);
}

/* A double to so many decimals, as MySQL does: scaled, rounded to even halves, scaled back. */
static double round_real(double v, int64_t decimals, bool cut)
{
    double p;
    double scaled;

    if (decimals > 400 || !isfinite(v))
        return v;
    if (decimals < -400)
        return 0;
    p = pow(10, (double)llabs(decimals));
    scaled = decimals < 0 ? v / p : v * p;
    if (decimals < 0 && isinf(p))
        return 0;
    if (decimals >= 0 && !isfinite(scaled))
        return v;
    scaled = cut ? trunc(scaled) : rint(scaled);
    return decimals < 0 ? scaled * p : scaled / p;
}

static void round_to(struct call *c, int64_t decimals, bool cut)
{
    struct num n;
    struct db_decimal d;
    int64_t v;
    int scale = (int)MIN(MAX(decimals, -100), DB_DECIMAL_SCALE);

    call_num(c, 0, &n);
    if (n.kind == NUM_REAL) {
        ret_double(c, round_real(n.d, decimals, cut));
        return;
    }
    if (n.kind == NUM_INT && decimals >= 0) {
        ret_arg(c, 0);
        return;
    }
    num_decimal(&n, &d);
    (void)db_decimal_round(&d, scale, cut ? DB_DECIMAL_CUT : DB_DECIMAL_HALF_UP); /* its purpose */
    if (n.kind == NUM_DEC) {
        ret_dec(c, &d);
        return;
    }
    if (db_decimal_to_i64(&d, &v))
        ret_i64(c, v);
    else
        call_range(c, "BIGINT", "round()");
}

void fn_round(struct call *c)
{
    if (!call_any_null(c))
        round_to(c, c->n > 1 ? call_i64(c, 1) : 0, false);
}

void fn_truncate(struct call *c)
{
    if (!call_any_null(c))
        round_to(c, call_i64(c, 1), true);
}

void fn_sign(struct call *c)
{
    struct num n;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    if (n.kind == NUM_DEC)
        ret_i64(c, n.dec.neg ? -1 : n.dec.n > 0);
    else if (n.kind == NUM_INT)
        ret_i64(c, n.i < 0 ? -1 : n.i > 0);
    else
        ret_i64(c, n.d < 0 ? -1 : n.d > 0);
}

static void range2(struct call *c, double a, double b)
{
    call_range(c, "DOUBLE", arena_printf(&c->arena, "%s(%.15g,%.15g)", c->name, a, b).p);
}

void fn_pow(struct call *c)
{
    double a;
    double b;
    double r;

    if (call_any_null(c))
        return;
    a = call_real(c, 0);
    b = call_real(c, 1);
    r = pow(a, b);
    if (isfinite(r))
        ret_double(c, r);
    else
        range2(c, a, b);
}

/* NULL where the function has no value. */
static void real1(struct call *c, double (*f)(double), bool (*valid)(double))
{
    double v;

    if (call_null(c, 0))
        return;
    v = call_real(c, 0);
    if (!valid || valid(v))
        ret_double(c, f(v));
}

static bool not_negative(double v)
{
    return v >= 0;
}

static bool positive(double v)
{
    return v > 0;
}

static bool within_one(double v)
{
    return v >= -1 && v <= 1;
}

void fn_sqrt(struct call *c)
{
    real1(c, sqrt, not_negative);
}

void fn_exp(struct call *c)
{
    real1(c, exp, NULL);
}

static void log_of(struct call *c, int i, double base_log)
{
    double v = call_real(c, i);
    double d;

    if (v <= 0) {
        struct db_error e;

        (void)db_error_text(&e, DB_E_LOG_ARGUMENT, "Invalid argument for logarithm");
        call_warn(c, DB_WARNING, &e);
        return;
    }
    d = log(v);
    ret_double(c, base_log != 0 ? d / base_log : d);
}

void fn_ln(struct call *c)
{
    if (!call_null(c, 0))
        log_of(c, 0, 0);
}

void fn_log(struct call *c)
{
    double base;

    if (call_any_null(c))
        return;
    if (c->n == 1) {
        log_of(c, 0, 0);
        return;
    }
    base = call_real(c, 0);
    if (positive(base) && base != 1)
        log_of(c, 1, log(base));
}

void fn_log2(struct call *c)
{
    if (!call_null(c, 0))
        log_of(c, 0, 0.6931471805599453);
}

void fn_log10(struct call *c)
{
    double v;

    if (call_null(c, 0))
        return;
    v = call_real(c, 0);
    if (v > 0)
        ret_double(c, log10(v));
    else
        log_of(c, 0, 0); /* says what is wrong */
}

void fn_pi(struct call *c)
{
    ret_double(c, 3.141592653589793);
}

void fn_sin(struct call *c)
{
    real1(c, sin, NULL);
}

void fn_cos(struct call *c)
{
    real1(c, cos, NULL);
}

void fn_tan(struct call *c)
{
    real1(c, tan, NULL);
}

void fn_cot(struct call *c)
{
    double t;

    if (call_null(c, 0))
        return;
    t = tan(call_real(c, 0));
    if (t == 0)
        call_range(c, "DOUBLE", "cot(0)");
    else
        ret_double(c, 1 / t);
}

void fn_asin(struct call *c)
{
    real1(c, asin, within_one);
}

void fn_acos(struct call *c)
{
    real1(c, acos, within_one);
}

void fn_atan(struct call *c)
{
    if (c->n == 1)
        real1(c, atan, NULL);
    else
        fn_atan2(c);
}

void fn_atan2(struct call *c)
{
    if (!call_any_null(c))
        ret_double(c, atan2(call_real(c, 0), call_real(c, 1)));
}

void fn_degrees(struct call *c)
{
    if (!call_null(c, 0))
        ret_double(c, call_real(c, 0) * (180 / 3.141592653589793));
}

void fn_radians(struct call *c)
{
    if (!call_null(c, 0))
        ret_double(c, call_real(c, 0) * (3.141592653589793 / 180));
}

void fn_crc32(struct call *c)
{
    struct str s;
    uint32_t crc = UINT32_MAX;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    for (size_t i = 0; i < s.len; i++) {
        crc ^= (unsigned char)s.p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320U : 0);
    }
    ret_i64(c, (int64_t)(crc ^ UINT32_MAX));
}

/* ---- RAND: the generator that MySQL documents by its answers to seeds ---- */

enum { RAND_MAX_VALUE = 0x3FFFFFFF };

static void seed(uint64_t state[2], uint32_t a, uint32_t b)
{
    state[0] = a % RAND_MAX_VALUE;
    state[1] = b % RAND_MAX_VALUE;
}

static double next(uint64_t state[2])
{
    state[0] = (state[0] * 3 + state[1]) % RAND_MAX_VALUE;
    state[1] = (state[0] + state[1] + 33) % RAND_MAX_VALUE;
    return (double)state[0] / (double)RAND_MAX_VALUE;
}

/* The row of a constant seed goes on from call to call of one statement: it is kept with the
 * argument. */
static void rand_seeded(struct call *c)
{
    uint64_t *state = sqlite3_get_auxdata(c->sq, 0);
    bool fresh = !state;
    uint64_t local[2];

    if (fresh) {
        uint32_t v = (uint32_t)(call_null(c, 0) ? 0 : call_u64(c, 0));

        seed(local, v * 0x10001U + 55555555U, v * 0x10000001U);
        state = local;
    }
    ret_double(c, next(state));
    if (fresh) {
        uint64_t *kept = sqlite3_malloc(sizeof(local));

        if (kept) {
            memcpy(kept, local, sizeof(local));
            sqlite3_set_auxdata(c->sq, 0, kept, sqlite3_free);
        }
    }
}

void fn_rand(struct call *c)
{
    if (c->n == 1) {
        rand_seeded(c);
        return;
    }
    if (c->s->rand[0] == 0 && c->s->rand[1] == 0) {
        uint32_t words[2];

        random_bytes(words, sizeof(words));
        seed(c->s->rand, words[0], words[1] | 1);
    }
    ret_double(c, next(c->s->rand));
}
