/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/func/collation.h"

#include "db/charset.h"
#include "db/datetime.h"
#include "db/decimal.h"
#include "db/func/latin1.h"
#include "db/func/utf8.h"

/* The order of latin1_general_ci, by bytes of latin1. */
/* clang-format off */
static const uint8_t latin1_general[256] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D,
    0x0E, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B,
    0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29,
    0x2A, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,
    0x38, 0x39, 0x3A, 0x3B, 0x3C, 0x3D, 0x3E, 0x3F, 0x40, 0x41, 0x51, 0x53, 0x57, 0x5B,
    0x65, 0x67, 0x69, 0x6B, 0x75, 0x77, 0x79, 0x7B, 0x7D, 0x81, 0x8F, 0x91, 0x93, 0x95,
    0x98, 0x9A, 0xA4, 0xA6, 0xA8, 0xAA, 0xAF, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0x41,
    0x51, 0x53, 0x57, 0x5B, 0x65, 0x67, 0x69, 0x6B, 0x75, 0x77, 0x79, 0x7B, 0x7D, 0x81,
    0x8F, 0x91, 0x93, 0x95, 0x98, 0x9A, 0xA4, 0xA6, 0xA8, 0xAA, 0xAF, 0xB9, 0xBA, 0xBB,
    0xBC, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB,
    0xCC, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9,
    0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7,
    0xE8, 0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5,
    0xF6, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, 0x43, 0x45, 0x47, 0x49,
    0x4B, 0x4D, 0x4F, 0x55, 0x5D, 0x5F, 0x61, 0x63, 0x6D, 0x6F, 0x71, 0x73, 0x59, 0x7F,
    0x83, 0x85, 0x87, 0x89, 0x8B, 0xBD, 0x8D, 0x9C, 0x9E, 0xA0, 0xA2, 0xAC, 0xB1, 0x97,
    0x43, 0x45, 0x47, 0x49, 0x4B, 0x4D, 0x4F, 0x55, 0x5D, 0x5F, 0x61, 0x63, 0x6D, 0x6F,
    0x71, 0x73, 0x59, 0x7F, 0x83, 0x85, 0x87, 0x89, 0x8B, 0xBE, 0x8D, 0x9C, 0x9E, 0xA0,
    0xA2, 0xAC, 0xB1, 0xAE,
};
/* clang-format on */

/* The order of latin1_swedish_ci from 0xC0 on; below, it is ASCII's without case. */
static const uint8_t latin1_swedish[64] = {'A', 'A', 'A', 'A', 0x5C, 0x5B, 0x5C, 'C', 'E', 'E', 'E',
    'E', 'I', 'I', 'I', 'I', 'D', 'N', 'O', 'O', 'O', 'O', 0x5D, 0xD7, 0xD8, 'U', 'U', 'U', 'Y',
    'Y', 0xDE, 0xDF, 'A', 'A', 'A', 'A', 0x5C, 0x5B, 0x5C, 'C', 'E', 'E', 'E', 'E', 'I', 'I', 'I',
    'I', 'D', 'N', 'O', 'O', 'O', 'O', 0x5D, 0xF7, 0xD8, 'U', 'U', 'U', 'Y', 'Y', 0xDE, 0xFF};

static enum collation_kind kind_of(struct str name)
{
    static const struct {
        struct str part;
        enum collation_kind kind;
    } rows[] = {
        {STR("_bin"), COLLATION_BIN},
        {STR("latin1_general_ci"), COLLATION_LATIN1_GENERAL},
        {STR("latin1_general_cs"), COLLATION_LATIN1_GENERAL_CS},
        {STR("latin1_"), COLLATION_LATIN1_SWEDISH},
        {STR("ascii_"), COLLATION_ASCII},
        {STR("_general_"), COLLATION_GENERAL},
        {STR("_0900_as_cs"), COLLATION_ACCENT_CASE},
        {STR("_0900_as_ci"), COLLATION_ACCENT},
        {STR("_0900_"), COLLATION_UNICODE_520},
        {STR("_520_"), COLLATION_UNICODE_520},
    };

    if (str_eq(name, STR("binary")))
        return COLLATION_BINARY;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_find(name, rows[i].part) >= 0)
            return rows[i].kind;
    }
    return COLLATION_UNICODE;
}

struct collation collation_get(struct str name)
{
    const struct db_collation *c = db_collation_find(name);

    if (!c)
        return (struct collation){COLLATION_UNICODE_520, false};
    return (struct collation){kind_of(c->name), c->pads};
}

bool collation_is_cs(struct collation c)
{
    return c.kind == COLLATION_BINARY || c.kind == COLLATION_BIN ||
           c.kind == COLLATION_ACCENT_CASE || c.kind == COLLATION_LATIN1_GENERAL_CS;
}

/* ---- weights ---- */

enum { MOST_WEIGHTS = 9 };

static uint16_t general_weight(uint32_t c)
{
    const uint16_t *page;

    if (c > 0xFFFF)
        return 0xFFFD;
    page = collation_general[c >> 8];
    return page ? page[c & 0xFF] : (uint16_t)c;
}

static uint16_t latin1_weight(enum collation_kind kind, uint32_t c)
{
    int b = latin1_byte(c);

    if (b < 0)
        return (uint16_t)(0x100 + MIN(c, 0xFE00));
    if (kind == COLLATION_LATIN1_GENERAL)
        return latin1_general[b];
    if (b >= 0xC0)
        return latin1_swedish[b - 0xC0];
    return (uint16_t)(b >= 'a' && b <= 'z' ? b - 32 : b);
}

/* Han and whatever has no row: after everything else, by code point. */
static int implicit(uint32_t c, uint16_t out[MOST_WEIGHTS])
{
    bool han = (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
               (c >= 0x20000 && c <= 0x2FFFF);

    out[0] = (uint16_t)((han ? 0xFB40 : 0xFBC0) + (c >> 15));
    out[1] = (uint16_t)((c & 0x7FFF) | 0x8000);
    return 2;
}

/* Letters that unicode_ci keeps apart from those that look like them: their base, and which it is.
 */
static int own_letter(uint32_t c, uint16_t out[MOST_WEIGHTS])
{
    static const struct {
        uint16_t c;
        char before;
        uint8_t which;
    } rows[] = {
        {0xC6, 'b', 1},
        {0xD0, 'e', 1},
        {0xD8, 'p', 1},
        {0xE6, 'b', 1},
        {0xF0, 'e', 1},
        {0xF8, 'p', 1},
        {0x110, 'e', 2},
        {0x111, 'e', 2},
        {0x126, 'i', 1},
        {0x127, 'i', 1},
        {0x141, 'm', 1},
        {0x142, 'm', 1},
        {0x1E2, 'b', 1},
        {0x1E3, 'b', 1},
        {0x1FC, 'b', 1},
        {0x1FD, 'b', 1},
        {0x1FE, 'p', 1},
        {0x1FF, 'p', 1},
    };

    for (size_t i = 0; c >= 0xC6 && c < 0x200 && i < ARRAY_LEN(rows); i++) {
        if (rows[i].c != c)
            continue;
        out[0] = (uint16_t)(collation_uca[0][(unsigned char)rows[i].before] - 1);
        out[1] = rows[i].which; /* below all weights */
        return 2;
    }
    return 0;
}

static int uca_weights(enum collation_kind kind, uint32_t c, uint16_t out[MOST_WEIGHTS])
{
    const uint16_t *page = c <= 0xFFFF ? collation_uca[c >> 8] : NULL;
    uint16_t w = page ? page[c & 0xFF] : 0xFFFF;

    if (c > 0xFFFF && kind == COLLATION_UNICODE && c < UTF8_BAD) {
        out[0] = 0xFFFD;
        return 1;
    }
    if (kind == COLLATION_UNICODE && own_letter(c, out))
        return 2;
    if (w == 0xFFFF)
        return implicit(c, out);
    if (w >= 0xF000) {
        const uint16_t *run = &collation_expansions[w - 0xF000];

        memcpy(out, run + 1, run[0] * sizeof(out[0]));
        return run[0];
    }
    out[0] = w;
    return w ? 1 : 0;
}

/* The character's weights; none: it does not count. */
static int weights_of(enum collation_kind kind, uint32_t c, uint16_t out[MOST_WEIGHTS])
{
    switch (kind) {
    case COLLATION_GENERAL:
        out[0] = general_weight(c);
        return 1;
    case COLLATION_LATIN1_SWEDISH:
    case COLLATION_LATIN1_GENERAL:
        out[0] = latin1_weight(kind, c);
        return 1;
    case COLLATION_ASCII:
        if (c > 0xFFFF)
            return implicit(c, out);
        out[0] = (uint16_t)(c >= 'a' && c <= 'z' ? c - 32 : MIN(c, 0xFFFF));
        return 1;
    default:
        return uca_weights(kind, c, out);
    }
}

struct stream {
    struct str s;
    size_t i;
    enum collation_kind kind;
    int n;
    int at;
    uint16_t w[MOST_WEIGHTS];
};

static bool next(struct stream *x, uint16_t *out)
{
    while (x->at == x->n) {
        if (x->i >= x->s.len)
            return false;
        x->n = weights_of(x->kind, utf8_next(x->s, &x->i), x->w);
        x->at = 0;
    }
    *out = x->w[x->at++];
    return true;
}

static uint16_t space_weight(enum collation_kind kind)
{
    uint16_t w[MOST_WEIGHTS];

    (void)weights_of(kind, ' ', w); /* one it is */
    return w[0];
}

/* What one text has more than the other, against spaces. */
static int cmp_rest(struct stream *x, uint16_t w, uint16_t space)
{
    do {
        if (w != space)
            return w < space ? -1 : 1;
    } while (next(x, &w));
    return 0;
}

static int cmp_weights(struct collation c, struct str a, struct str b)
{
    struct stream x = {.s = a, .kind = c.kind};
    struct stream y = {.s = b, .kind = c.kind};
    uint16_t v;
    uint16_t w;

    for (;;) {
        bool more_a = next(&x, &v);
        bool more_b = next(&y, &w);

        if (!more_a && !more_b)
            return 0;
        if (!more_a)
            return c.pad ? -cmp_rest(&y, w, space_weight(c.kind)) : -1;
        if (!more_b)
            return c.pad ? cmp_rest(&x, v, space_weight(c.kind)) : 1;
        if (v != w)
            return v < w ? -1 : 1;
    }
}

/* Code points without case (lower first where case counts). */
static int cmp_accents(struct str a, struct str b, bool cs)
{
    size_t i = 0;
    size_t k = 0;
    int by_case = 0;

    while (i < a.len && k < b.len) {
        uint32_t x = utf8_next(a, &i);
        uint32_t y = utf8_next(b, &k);
        uint32_t lx = utf8_lower(x);
        uint32_t ly = utf8_lower(y);

        if (lx != ly)
            return lx < ly ? -1 : 1;
        if (x != y && by_case == 0)
            by_case = x == lx ? -1 : 1;
    }
    if (i < a.len || k < b.len)
        return i < a.len ? 1 : -1;
    return cs ? by_case : 0;
}

static int cmp_padded(struct str a, struct str b)
{
    size_t n = MIN(a.len, b.len);
    int r = n ? memcmp(a.p, b.p, n) : 0;

    if (r)
        return r;
    for (size_t i = n; i < a.len; i++) {
        if (a.p[i] != ' ')
            return (unsigned char)a.p[i] < ' ' ? -1 : 1;
    }
    for (size_t i = n; i < b.len; i++) {
        if (b.p[i] != ' ')
            return (unsigned char)b.p[i] < ' ' ? 1 : -1;
    }
    return 0;
}

/* Both without the beginning that is equal in bytes (no weight depends on what precedes it). */
static void drop_common(struct str *a, struct str *b)
{
    size_t n = 0;

    while (n < a->len && n < b->len && a->p[n] == b->p[n])
        n++;
    while (n > 0 && ((n < a->len && ((unsigned char)a->p[n] & 0xC0) == 0x80) ||
                        (n < b->len && ((unsigned char)b->p[n] & 0xC0) == 0x80)))
        n--;
    *a = str_n(a->p + n, a->len - n);
    *b = str_n(b->p + n, b->len - n);
}

int collation_cmp(struct collation c, struct str a, struct str b)
{
    int r;

    if (c.kind == COLLATION_BINARY || (c.kind == COLLATION_BIN && !c.pad))
        return str_cmp(a, b);
    if (c.kind == COLLATION_BIN || c.kind == COLLATION_LATIN1_GENERAL_CS)
        return cmp_padded(a, b);
    drop_common(&a, &b);
    if (a.len == 0 && b.len == 0)
        return 0;
    r = cmp_weights(c, a, b);
    if (r || (c.kind != COLLATION_ACCENT && c.kind != COLLATION_ACCENT_CASE))
        return r;
    return cmp_accents(a, b, c.kind == COLLATION_ACCENT_CASE);
}

static void add_weight(struct buf *out, uint16_t w)
{
    char b[2] = {(char)(w >> 8), (char)w};

    buf_add(out, b, 2);
}

static struct str without_spaces(struct str s)
{
    while (s.len > 0 && s.p[s.len - 1] == ' ')
        s.len--;
    return s;
}

/* The second and third levels: after an end mark, code points without case, then cases. */
static void add_accents(struct buf *out, struct str s, bool cs)
{
    add_weight(out, 0);
    for (size_t i = 0; i < s.len;) {
        uint32_t c = utf8_lower(utf8_next(s, &i));

        add_weight(out, (uint16_t)((c >> 16) + 1));
        add_weight(out, (uint16_t)c);
    }
    add_weight(out, 0);
    for (size_t i = 0; cs && i < s.len;) {
        uint32_t c = utf8_next(s, &i);

        buf_add_char(out, utf8_lower(c) == c ? 1 : 2);
    }
}

/* Drops spaces at the end of a key, then adds one, which sorts before whatever may follow there. */
static void pad_key(struct buf *out, size_t from, uint16_t space)
{
    while (out->len >= from + 2 && (unsigned char)out->p[out->len - 2] == space >> 8 &&
           (unsigned char)out->p[out->len - 1] == (space & 0xFF))
        out->len -= 2;
    add_weight(out, space);
}

void collation_key(struct collation c, struct str s, struct buf *out)
{
    struct stream x = {.s = s, .kind = c.kind};
    size_t from = out->len;
    uint16_t w;

    if (c.kind == COLLATION_BINARY || c.kind == COLLATION_BIN ||
        c.kind == COLLATION_LATIN1_GENERAL_CS) {
        buf_add_str(out, c.pad ? without_spaces(s) : s);
        if (c.pad)
            buf_add_char(out, ' ');
        return;
    }
    while (next(&x, &w))
        add_weight(out, w);
    if (c.pad)
        pad_key(out, from, space_weight(c.kind));
    if (c.kind == COLLATION_ACCENT || c.kind == COLLATION_ACCENT_CASE)
        add_accents(out, s, c.kind == COLLATION_ACCENT_CASE);
}

bool collation_same(struct collation c, uint32_t a, uint32_t b)
{
    uint16_t x[MOST_WEIGHTS];
    uint16_t y[MOST_WEIGHTS];
    int n;

    if (a == b)
        return true;
    if (collation_is_cs(c))
        return false;
    if (a - 0x20 < 0x5F && b - 0x20 < 0x5F) { /* printable ASCII, the usual case */
        uint32_t letter = a | 0x20;

        return letter == (b | 0x20) && letter >= 'a' && letter <= 'z';
    }
    if (c.kind == COLLATION_ACCENT)
        return utf8_lower(a) == utf8_lower(b);
    n = weights_of(c.kind, a, x);
    return n == weights_of(c.kind, b, y) && memcmp(x, y, (size_t)n * sizeof(x[0])) == 0;
}

/* ---- values that lie as text ---- */

/* Digits before the point, when s is a plain number as DECIMAL lies; -1 else. */
static ptrdiff_t plain(struct str s)
{
    size_t i = 0;
    size_t whole;

    while (i < s.len && s.p[i] >= '0' && s.p[i] <= '9')
        i++;
    whole = i;
    if (i < s.len && s.p[i] == '.') {
        i++;
        while (i < s.len && s.p[i] >= '0' && s.p[i] <= '9')
            i++;
    }
    return i == s.len && whole > 0 && (whole == 1 || s.p[0] != '0') ? (ptrdiff_t)whole : -1;
}

static int cmp_parsed(struct str a, struct str b)
{
    struct db_decimal x;
    struct db_decimal y;
    bool overflow;

    (void)db_decimal_parse(a, &x, &overflow); /* what is no number is 0 */
    (void)db_decimal_parse(b, &y, &overflow);
    return db_decimal_cmp(&x, &y);
}

int collation_cmp_decimal(struct str a, struct str b)
{
    bool neg_a = a.len > 0 && a.p[0] == '-';
    bool neg_b = b.len > 0 && b.p[0] == '-';
    struct str x = neg_a ? str_sub(a, 1, a.len) : a;
    struct str y = neg_b ? str_sub(b, 1, b.len) : b;
    ptrdiff_t n = plain(x);
    ptrdiff_t m = plain(y);
    int r;

    if (n < 0 || m < 0 || neg_a != neg_b)
        return cmp_parsed(a, b);
    if (n != m)
        r = n < m ? -1 : 1;
    else if (x.len == y.len)
        r = memcmp(x.p, y.p, x.len);
    else
        return cmp_parsed(a, b);
    return neg_a ? -r : r;
}

int collation_cmp_time(struct str a, struct str b)
{
    struct db_time x;
    struct db_time y;
    unsigned warn;
    int64_t v;
    int64_t w;

    if (str_eq(a, b))
        return 0;
    (void)db_time_parse(a, &x, &warn); /* what is no time is 0 */
    (void)db_time_parse(b, &y, &warn);
    v = db_time_span(&x);
    w = db_time_span(&y);
    return v < w ? -1 : v > w;
}
