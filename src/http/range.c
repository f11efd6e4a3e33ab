/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/range.h"

#include "base/err.h"

/* Digits only; too many digits for a file position are as good as the largest one. */
static bool parse_pos(struct str s, uint64_t *out)
{
    int err = str_u64(s, out);

    if (err == ERR_RANGE) {
        *out = UINT64_MAX;
        return true;
    }
    return err == 0;
}

enum spec { SPEC_BAD, SPEC_OK, SPEC_OUTSIDE };

/* One "first-last", "first-" or "-length" against a size. */
static enum spec parse_spec(struct str s, uint64_t size, struct range *out)
{
    ptrdiff_t dash = str_chr(s, '-');
    struct str a, b;
    uint64_t first, last = UINT64_MAX;

    if (dash < 0)
        return SPEC_BAD;
    a = str_sub(s, 0, (size_t)dash);
    b = str_sub(s, (size_t)dash + 1, s.len);
    if (a.len == 0) {
        uint64_t length;

        if (!parse_pos(b, &length))
            return SPEC_BAD;
        if (length == 0 || size == 0)
            return SPEC_OUTSIDE;
        *out = (struct range){length >= size ? 0 : size - length, size - 1};
        return SPEC_OK;
    }
    if (!parse_pos(a, &first) || (b.len > 0 && !parse_pos(b, &last)) || last < first)
        return SPEC_BAD;
    if (first >= size)
        return SPEC_OUTSIDE;
    *out = (struct range){first, MIN(last, size - 1)};
    return SPEC_OK;
}

static bool overlaps(const struct range *v, size_t n, struct range r)
{
    for (size_t i = 0; i < n; i++) {
        if (r.first <= v[i].last && v[i].first <= r.last)
            return true;
    }
    return false;
}

enum range_result range_parse(
    struct str value, uint64_t size, struct range out[RANGE_MAX], size_t *n)
{
    struct range found[RANGE_MAX], r = {0, 0};
    struct str rest, s;
    size_t count = 0, specs = 0;

    value = str_trim(value);
    if (!str_istarts(value, STR("bytes=")))
        return RANGE_WHOLE;
    rest = str_sub(value, 6, value.len);
    while (str_split(&rest, ',', &s)) {
        enum spec spec;

        s = str_trim(s);
        if (s.len == 0) /* empty list members are allowed (5.6.1) */
            continue;
        if (++specs > RANGE_MAX)
            return RANGE_WHOLE;
        spec = parse_spec(s, size, &r);
        if (spec == SPEC_BAD)
            return RANGE_WHOLE;
        if (spec == SPEC_OUTSIDE)
            continue;
        if (overlaps(found, count, r))
            return RANGE_WHOLE;
        found[count++] = r;
    }
    if (specs == 0)
        return RANGE_WHOLE;
    if (count == 0)
        return RANGE_UNSATISFIABLE;
    memcpy(out, found, count * sizeof(found[0]));
    *n = count;
    return RANGE_PARTIAL;
}

void range_add_content_range(struct buf *b, struct range r, uint64_t size)
{
    buf_add_lit(b, "bytes ");
    buf_add_u64(b, r.first);
    buf_add_char(b, '-');
    buf_add_u64(b, r.last);
    buf_add_char(b, '/');
    buf_add_u64(b, size);
}

void range_add_unsatisfied(struct buf *b, uint64_t size)
{
    buf_add_lit(b, "bytes */");
    buf_add_u64(b, size);
}

void range_boundary(uint64_t number, char out[RANGE_BOUNDARY_LEN])
{
    for (size_t i = RANGE_BOUNDARY_LEN; i-- > 0; number /= 10)
        out[i] = (char)('0' + number % 10);
}

void range_add_part_head(
    struct buf *b, struct str boundary, struct str type, struct range r, uint64_t size)
{
    buf_add_lit(b, "\r\n--");
    buf_add_str(b, boundary);
    if (type.len > 0) {
        buf_add_lit(b, "\r\nContent-Type: ");
        buf_add_str(b, type);
    }
    buf_add_lit(b, "\r\nContent-Range: ");
    range_add_content_range(b, r, size);
    buf_add_lit(b, "\r\n\r\n");
}

void range_add_part_end(struct buf *b, struct str boundary)
{
    buf_add_lit(b, "\r\n--");
    buf_add_str(b, boundary);
    buf_add_lit(b, "--\r\n");
}
