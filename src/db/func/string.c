/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Functions of texts, counted in characters (BLOBs: in bytes). */
#include <math.h>

#include "db/func/call.h"
#include "db/func/latin1.h"
#include "db/func/utf8.h"

static void ret_like(struct call *c, int i, struct str s)
{
    if (call_blob(c, i))
        ret_blob(c, s);
    else
        ret_str(c, s);
}

static size_t length_of(struct call *c, int i, struct str s)
{
    return call_blob(c, i) ? s.len : utf8_count(s);
}

static size_t offset_of(struct call *c, int i, struct str s, size_t n)
{
    return n >= s.len ? s.len : call_blob(c, i) ? n : utf8_offset(s, n);
}

static bool any_blob(const struct call *c)
{
    for (int i = 0; i < c->n; i++) {
        if (call_blob(c, i))
            return true;
    }
    return false;
}

void fn_concat(struct call *c)
{
    struct buf b = {0};
    uint64_t total = 0;

    if (call_any_null(c))
        return;
    for (int i = 0; i < c->n; i++)
        total += call_str(c, i).len;
    if (!ret_fits(c, total))
        return;
    for (int i = 0; i < c->n; i++)
        buf_add_str(&b, call_str(c, i));
    ret_buf(c, &b, any_blob(c));
}

void fn_concat_ws(struct call *c)
{
    struct buf b = {0};
    struct str separator;
    uint64_t total = 0;
    bool any = false;

    if (call_null(c, 0))
        return;
    separator = call_str(c, 0);
    for (int i = 1; i < c->n; i++)
        total += call_str(c, i).len + separator.len;
    if (!ret_fits(c, total))
        return;
    for (int i = 1; i < c->n; i++) {
        if (call_null(c, i))
            continue;
        if (any)
            buf_add_str(&b, separator);
        buf_add_str(&b, call_str(c, i));
        any = true;
    }
    ret_buf(c, &b, any_blob(c));
}

void fn_length(struct call *c)
{
    if (!call_null(c, 0))
        ret_i64(c, (int64_t)call_str(c, 0).len);
}

void fn_char_length(struct call *c)
{
    if (!call_null(c, 0))
        ret_i64(c, (int64_t)length_of(c, 0, call_str(c, 0)));
}

void fn_bit_length(struct call *c)
{
    if (!call_null(c, 0))
        ret_i64(c, (int64_t)call_str(c, 0).len * 8);
}

void fn_substring(struct call *c)
{
    struct str s;
    int64_t pos;
    int64_t n = INT64_MAX;
    size_t from;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    pos = call_i64(c, 1);
    if (c->n > 2)
        n = call_i64(c, 2);
    if (pos < 0) {
        int64_t count = (int64_t)length_of(c, 0, s);

        pos = pos < -count ? 0 : pos + count + 1;
    }
    if (pos == 0 || n <= 0) {
        ret_like(c, 0, STR(""));
        return;
    }
    from = offset_of(c, 0, s, (size_t)(pos - 1));
    s = str_sub(s, from, s.len);
    ret_like(c, 0, str_sub(s, 0, offset_of(c, 0, s, (size_t)n)));
}

void fn_left(struct call *c)
{
    struct str s;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    ret_like(c, 0, str_sub(s, 0, offset_of(c, 0, s, (size_t)MAX(call_i64(c, 1), 0))));
}

void fn_right(struct call *c)
{
    struct str s;
    int64_t n;
    int64_t count;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    n = MAX(call_i64(c, 1), 0);
    count = (int64_t)length_of(c, 0, s);
    if (n < count)
        s = str_sub(s, offset_of(c, 0, s, (size_t)(count - n)), s.len);
    ret_like(c, 0, s);
}

void fn_substring_index(struct call *c)
{
    struct str s;
    struct str d;
    int64_t n;
    ptrdiff_t at;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    d = call_str(c, 1);
    n = call_i64(c, 2);
    if (n == 0 || d.len == 0 || s.len == 0) {
        ret_like(c, 0, STR(""));
    } else if (n > 0) {
        size_t i = 0;

        while ((at = str_find(str_sub(s, i, s.len), d)) >= 0) {
            if (--n == 0) {
                s.len = i + (size_t)at;
                break;
            }
            i += (size_t)at + d.len;
        }
        ret_like(c, 0, s);
    } else {
        size_t end = s.len;

        while (end >= d.len) {
            if (memcmp(s.p + end - d.len, d.p, d.len) != 0) {
                end--;
                continue;
            }
            if (++n == 0) {
                s = str_sub(s, end, s.len);
                break;
            }
            end -= d.len;
        }
        ret_like(c, 0, s);
    }
}

static void add_repeated(struct buf *b, struct str pad, size_t pad_chars, size_t chars, bool bytes)
{
    for (; chars >= pad_chars; chars -= pad_chars)
        buf_add_str(b, pad);
    buf_add(b, pad.p, bytes ? MIN(chars, pad.len) : utf8_offset(pad, chars));
}

static void pad(struct call *c, bool left)
{
    struct str s;
    struct str p = STR(" ");
    struct buf b = {0};
    int64_t n;
    size_t count;
    size_t pad_count;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    n = call_i64(c, 1);
    if (c->n > 2)
        p = call_str(c, 2);
    if (n < 0)
        return;
    count = length_of(c, 0, s);
    if ((uint64_t)n <= count) {
        ret_like(c, 0, str_sub(s, 0, offset_of(c, 0, s, (size_t)n)));
        return;
    }
    pad_count = length_of(c, 0, p);
    if (pad_count == 0)
        return;
    if (!ret_fits(c, (uint64_t)n) ||
        !ret_fits(c, s.len + ((uint64_t)n - count) / pad_count * p.len))
        return;
    if (!left)
        buf_add_str(&b, s);
    add_repeated(&b, p, pad_count, (size_t)n - count, call_blob(c, 0));
    if (left)
        buf_add_str(&b, s);
    ret_buf(c, &b, call_blob(c, 0));
}

void fn_lpad(struct call *c)
{
    pad(c, true);
}

void fn_rpad(struct call *c)
{
    pad(c, false);
}

/* Where needle begins in s from byte `from` on; false: nowhere. As MySQL does it, only what has as
 * many bytes as the needle is compared with it. */
static bool find(struct collation coll, struct str s, struct str needle, size_t from, size_t *start)
{
    coll.pad = false;
    for (size_t at = from; at + needle.len <= s.len;) {
        if (collation_cmp(coll, str_sub(s, at, needle.len), needle) == 0) {
            *start = at;
            return true;
        }
        if (at >= s.len)
            return false;
        (void)utf8_next(s, &at); /* only the way counts */
    }
    return false;
}

void fn_locate(struct call *c)
{
    struct str needle;
    struct str s;
    struct collation coll;
    int64_t pos = 1;
    size_t from;
    size_t at = 0;
    bool bytes;
    bool found;

    if (call_any_null(c))
        return;
    coll = call_coll(c, 0);
    needle = call_str(c, 1);
    s = call_str(c, 2);
    bytes = call_blob(c, 1) || call_blob(c, 2);
    if (c->n > 3)
        pos = call_i64(c, 3);
    ret_i64(c, 0);
    if (pos < 1 || (uint64_t)pos > s.len + 1)
        return;
    from = bytes ? (size_t)pos - 1 : utf8_offset(s, (size_t)pos - 1);
    if (pos > 1 && from >= s.len)
        return;
    if (bytes || collation_is_cs(coll)) {
        ptrdiff_t p = str_find(str_sub(s, from, s.len), needle);

        found = p >= 0;
        at = from + (size_t)(found ? p : 0);
    } else {
        found = find(coll, s, needle, from, &at);
    }
    if (found)
        ret_i64(c, (int64_t)(bytes ? at : utf8_count(str_sub(s, 0, at))) + 1);
}

void fn_find_in_set(struct call *c)
{
    struct str x;
    struct str rest;
    struct str part;
    struct collation coll;
    int64_t n = 0;

    if (call_any_null(c))
        return;
    coll = call_coll(c, 0);
    x = call_str(c, 1);
    rest = call_str(c, 2);
    ret_i64(c, 0);
    if (rest.len == 0 || str_chr(x, ',') >= 0)
        return;
    while (str_split(&rest, ',', &part)) {
        n++;
        if (collation_cmp(coll, x, part) == 0) {
            ret_i64(c, n);
            return;
        }
    }
}

void fn_elt(struct call *c)
{
    int64_t n;

    if (call_null(c, 0))
        return;
    n = call_i64(c, 0);
    if (n < 1 || n >= c->n || call_null(c, (int)n))
        return;
    ret_like(c, (int)n, call_str(c, (int)n));
}

void fn_replace(struct call *c)
{
    struct str s;
    struct str from;
    struct str to;
    struct buf b = {0};
    ptrdiff_t at;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    from = call_str(c, 1);
    to = call_str(c, 2);
    if (from.len == 0) {
        ret_like(c, 0, s);
        return;
    }
    while ((at = str_find(s, from)) >= 0) {
        buf_add(&b, s.p, (size_t)at);
        buf_add_str(&b, to);
        s = str_sub(s, (size_t)at + from.len, s.len);
        if (!ret_fits(c, b.len)) {
            buf_fini(&b);
            return;
        }
    }
    buf_add_str(&b, s);
    ret_buf(c, &b, any_blob(c));
}

void fn_reverse(struct call *c)
{
    struct str s;
    struct buf b = {0};
    char *end;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    (void)buf_reserve(&b, s.len);
    b.len = s.len;
    end = b.p + s.len;
    for (size_t i = 0; i < s.len;) {
        size_t at = i;

        if (call_blob(c, 0))
            i++;
        else
            (void)utf8_next(s, &i); /* only the way counts */
        end -= i - at;
        memcpy(end, s.p + at, i - at);
    }
    ret_buf(c, &b, call_blob(c, 0));
}

static void repeat(struct call *c, struct str s, int64_t n, bool blob)
{
    struct buf b = {0};
    uint64_t total;

    if (n <= 0 || s.len == 0) {
        if (blob)
            ret_blob(c, STR(""));
        else
            ret_str(c, STR(""));
        return;
    }
    if (__builtin_mul_overflow((uint64_t)n, (uint64_t)s.len, &total))
        total = UINT64_MAX;
    if (!ret_fits(c, total))
        return;
    (void)buf_reserve(&b, total);
    for (; n > 0; n--)
        buf_add_str(&b, s);
    ret_buf(c, &b, blob);
}

void fn_repeat(struct call *c)
{
    if (!call_any_null(c))
        repeat(c, call_str(c, 0), call_i64(c, 1), call_blob(c, 0));
}

void fn_space(struct call *c)
{
    if (!call_any_null(c))
        repeat(c, STR(" "), call_i64(c, 0), false);
}

static void trim(struct call *c, struct str remove, bool leading, bool trailing)
{
    struct str s = call_str(c, 0);

    if (remove.len > 0) {
        while (leading && str_starts(s, remove))
            s = str_sub(s, remove.len, s.len);
        while (trailing && str_ends(s, remove))
            s.len -= remove.len;
    }
    ret_like(c, 0, s);
}

void fn_trim(struct call *c)
{
    struct str where = c->n > 2 ? call_str(c, 2) : STR("both");

    if (call_any_null(c))
        return;
    trim(c, c->n > 1 ? call_str(c, 1) : STR(" "), !str_ieq(where, STR("trailing")),
        !str_ieq(where, STR("leading")));
}

void fn_ltrim(struct call *c)
{
    if (!call_null(c, 0))
        trim(c, STR(" "), true, false);
}

void fn_rtrim(struct call *c)
{
    if (!call_null(c, 0))
        trim(c, STR(" "), false, true);
}

static void change_case(struct call *c, uint32_t (*map)(uint32_t))
{
    struct str s;
    struct buf b = {0};

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (call_blob(c, 0)) {
        ret_blob(c, s);
        return;
    }
    (void)buf_reserve(&b, s.len + 4);
    for (size_t i = 0; i < s.len;) {
        uint32_t x = map(utf8_next(s, &i));

        if (x < 0x80)
            buf_add_char(&b, (char)x);
        else
            utf8_encode(&b, x);
    }
    ret_buf(c, &b, false);
}

void fn_upper(struct call *c)
{
    change_case(c, utf8_upper);
}

void fn_lower(struct call *c)
{
    change_case(c, utf8_lower);
}

void fn_ascii(struct call *c)
{
    struct str s;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    ret_i64(c, s.len ? (unsigned char)s.p[0] : 0);
}

void fn_ord(struct call *c)
{
    struct str s;
    size_t n = 0;
    int64_t v = 0;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (s.len == 0) {
        ret_i64(c, 0);
        return;
    }
    if (call_blob(c, 0))
        n = 1;
    else
        (void)utf8_next(s, &n); /* the bytes of the first character */
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)s.p[i];
    ret_i64(c, v);
}

void fn_char(struct call *c)
{
    struct buf b = {0};
    struct str charset = call_str(c, 0);

    for (int i = 1; i < c->n; i++) {
        uint32_t v;

        if (call_null(c, i))
            continue;
        v = (uint32_t)call_u64(c, i);
        for (int shift = 24; shift >= 0; shift -= 8) {
            if (v >> shift || shift == 0)
                buf_add_char(&b, (char)(v >> shift));
        }
    }
    if (charset.len == 0 || str_ieq(charset, STR("binary"))) {
        ret_buf(c, &b, true);
    } else if (str_ieq(charset, STR("latin1"))) {
        struct buf text = {0};

        for (size_t i = 0; i < b.len; i++)
            utf8_encode(&text, latin1_char((unsigned char)b.p[i]));
        buf_fini(&b);
        ret_buf(c, &text, false);
    } else if (str_is_utf8(buf_str(&b))) {
        ret_buf(c, &b, false);
    } else {
        struct db_error e;

        (void)db_error_text(
            &e, DB_E_INVALID_CHARACTER, "Invalid " STR_F " character string", STR_A(charset));
        call_warn(c, DB_WARNING, &e);
        buf_fini(&b);
    }
}

void fn_insert(struct call *c)
{
    struct str s;
    struct str with;
    struct buf b = {0};
    int64_t pos;
    int64_t n;
    size_t count;
    size_t from;
    size_t to;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    pos = call_i64(c, 1);
    n = call_i64(c, 2);
    with = call_str(c, 3);
    count = length_of(c, 0, s);
    if (pos < 1 || (uint64_t)pos > count) {
        ret_like(c, 0, s);
        return;
    }
    if (n < 0 || (uint64_t)n > count)
        n = (int64_t)count;
    from = offset_of(c, 0, s, (size_t)pos - 1);
    to = from + offset_of(c, 0, str_sub(s, from, s.len), (size_t)n);
    buf_add(&b, s.p, from);
    buf_add_str(&b, with);
    buf_add(&b, s.p + to, s.len - to);
    ret_buf(c, &b, call_blob(c, 0) || call_blob(c, 3));
}

void fn_quote(struct call *c)
{
    struct str s;
    struct buf b = {0};

    if (call_null(c, 0)) {
        ret_str(c, STR("NULL"));
        return;
    }
    s = call_str(c, 0);
    buf_add_char(&b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        switch (s.p[i]) {
        case '\0':
            buf_add_lit(&b, "\\0");
            break;
        case '\032':
            buf_add_lit(&b, "\\Z");
            break;
        case '\'':
        case '\\':
            buf_add_char(&b, '\\');
            buf_add_char(&b, s.p[i]);
            break;
        default:
            buf_add_char(&b, s.p[i]);
        }
    }
    buf_add_char(&b, '\'');
    ret_buf(c, &b, false);
}

void fn_make_set(struct call *c)
{
    struct buf b = {0};
    uint64_t bits;
    bool any = false;

    if (call_null(c, 0))
        return;
    bits = call_u64(c, 0);
    for (int i = 1; i < c->n && i <= 64; i++) {
        if (!(bits >> (i - 1) & 1) || call_null(c, i))
            continue;
        if (any)
            buf_add_char(&b, ',');
        buf_add_str(&b, call_str(c, i));
        any = true;
    }
    ret_buf(c, &b, false);
}

void fn_export_set(struct call *c)
{
    struct buf b = {0};
    struct str separator = STR(",");
    uint64_t bits;
    int64_t n = 64;

    if (call_any_null(c))
        return;
    bits = call_u64(c, 0);
    if (c->n > 3)
        separator = call_str(c, 3);
    if (c->n > 4)
        n = call_i64(c, 4);
    if (n < 0 || n > 64)
        n = 64;
    if (!ret_fits(c, (uint64_t)n * (call_str(c, 1).len + call_str(c, 2).len + separator.len)))
        return;
    for (int64_t i = 0; i < n; i++) {
        if (i)
            buf_add_str(&b, separator);
        buf_add_str(&b, call_str(c, bits >> i & 1 ? 1 : 2));
    }
    ret_buf(c, &b, false);
}

void fn_load_file(struct call *c)
{
    (void)c; /* NULL, as MySQL answers for what may not be read */
}
