/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Decimals: what is printed reads as the same, and the arithmetic agrees with itself. */
#include <stdint.h>

#include "base/mem.h"
#include "db/decimal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const struct db_decimal *d)
{
    char text[DB_DECIMAL_TEXT];
    struct db_decimal e;
    bool overflow;
    size_t n = db_decimal_print(d, text);

    ENSURE(n < DB_DECIMAL_TEXT);
    ENSURE(db_decimal_parse(str_n(text, n), &e, &overflow) == n);
    ENSURE(!overflow && e.scale == d->scale && db_decimal_cmp(d, &e) == 0);
}

/* a = q * b + r, as far as there is room for it */
static void divide(const struct db_decimal *a, const struct db_decimal *b)
{
    struct db_decimal q;
    struct db_decimal r;
    struct db_decimal t;

    if (db_decimal_is_zero(b))
        return;
    if (db_decimal_div(a, b, 4, &q))
        same_again(&q);
    if (!db_decimal_intdiv(a, b, &q) || !db_decimal_mod(a, b, &r))
        return;
    same_again(&q);
    same_again(&r);
    if (r.scale + db_decimal_int_digits(a) <= 60 && b->scale <= 20 && db_decimal_mul(&q, b, &t) &&
        t.scale == b->scale && db_decimal_add(&t, &r, &t))
        ENSURE(db_decimal_cmp(&t, a) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_n((const char *)data, size);
    struct db_decimal a;
    struct db_decimal b;
    struct db_decimal c;
    bool overflow;
    size_t used = db_decimal_parse(s, &a, &overflow);
    int scale = size ? data[size - 1] % 40 - 5 : 0;

    ENSURE(used <= size);
    (void)db_decimal_parse(str_sub(s, used + 1, size), &b, &overflow); /* none is zero */
    same_again(&a);
    same_again(&b);
    if (db_decimal_add(&a, &b, &c)) {
        same_again(&c);
        if (c.scale == MAX(a.scale, b.scale) && db_decimal_sub(&c, &b, &c) &&
            c.scale == MAX(a.scale, b.scale))
            ENSURE(db_decimal_cmp(&c, &a) == 0);
    }
    if (db_decimal_mul(&a, &b, &c))
        same_again(&c);
    divide(&a, &b);
    for (int mode = DB_DECIMAL_HALF_UP; mode <= DB_DECIMAL_CEIL; mode++) {
        c = a;
        (void)db_decimal_round(&c, scale, (enum db_decimal_mode)mode); /* may lose digits */
        same_again(&c);
    }
    return 0;
}
