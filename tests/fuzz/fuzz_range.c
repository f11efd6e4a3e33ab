/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * Range and conditional fields. Input: "range\nif-none-match\ndate".  Ranges that are accepted lie
 * in the file, do not overlap, and a date that parses prints as one that parses to the same time.
 */

#include "base/mem.h"
#include "http/cond.h"
#include "http/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ranges(struct str value, uint64_t size)
{
    struct range r[RANGE_MAX];
    size_t n = 0;

    if (range_parse(value, size, r, &n) != RANGE_PARTIAL)
        return;
    ENSURE(n >= 1 && n <= RANGE_MAX);
    for (size_t i = 0; i < n; i++) {
        ENSURE(r[i].first <= r[i].last && r[i].last < size);
        for (size_t k = 0; k < i; k++)
            ENSURE(r[i].last < r[k].first || r[k].last < r[i].first);
    }
}

static void check_date(struct str text)
{
    char out[COND_DATE_LEN];
    int64_t t, again;

    if (cond_date_parse(text, &t))
        return;
    cond_date_format(t, out);
    ENSURE(cond_date_parse(str_n(out, sizeof(out)), &again) == 0);
    ENSURE(again == t || t < 0 || t > 253402300799);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {0, 1, 10, 1000000, UINT64_MAX};
    struct str rest = str_n((const char *)data, size), part = STR_NONE;
    struct cond c = {0};

    if (!str_split(&rest, '\n', &part))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        check_ranges(part, sizes[i]);
    c.if_range = part;
    if (!str_split(&rest, '\n', &part))
        return 0;
    c.if_none_match = c.if_match = part;
    /* What matches strongly matches weakly. */
    ENSURE(!cond_etag_in_list(part, STR("\"e\""), true) ||
           cond_etag_in_list(part, STR("\"e\""), false));
    check_date(rest);
    c.if_modified_since = c.if_unmodified_since = rest;
    (void)cond_check(&c, true, STR("\"e\""), 784111777);
    (void)cond_range_applies(&c, STR("\"e\""), 784111777);
    return 0;
}
