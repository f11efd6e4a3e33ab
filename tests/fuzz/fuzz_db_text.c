/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Collations and LIKE with any bytes, in two halves (the first byte says which collation): orders
 * are orders, keys agree with them. */
#include <stdint.h>

#include "base/mem.h"
#include "db/charset.h"
#include "db/func/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sign(int v)
{
    return v < 0 ? -1 : v > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t n;
    const struct db_collation *all = db_collations(&n);
    struct collation c = collation_get(all[size ? data[0] % n : 0].name);
    struct str s = str_n((const char *)data, size);
    struct str a = str_sub(s, 1, size / 2);
    struct str b = str_sub(s, 1 + size / 2, size);
    struct buf p = {0};
    struct buf q = {0};
    int r = collation_cmp(c, a, b);

    ENSURE(sign(collation_cmp(c, b, a)) == -sign(r));
    collation_key(c, a, &p);
    collation_key(c, b, &q);
    ENSURE(str_eq(buf_str(&p), buf_str(&q)) == (r == 0));
    if (size < 1000)
        (void)like_match(a, b, str_sub(s, 0, 1), c); /* that it ends is what counts */
    ENSURE(sign(collation_cmp_decimal(a, b)) == -sign(collation_cmp_decimal(b, a)));
    ENSURE(sign(collation_cmp_time(a, b)) == -sign(collation_cmp_time(b, a)));
    buf_fini(&p);
    buf_fini(&q);
    return 0;
}
