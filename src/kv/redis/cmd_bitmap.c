/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Strings as arrays of bits; bit 0 is the highest of the first byte. BITFIELD is in cmd_bitfield.c.
 */
#include "base/mem.h"
#include "kv/keys.h"
#include "kv/redis/bits.h"
#include "kv/redis/state.h"

#define BITS_MAX ((int64_t)4 << 30) /* of a string, as Redis bounds them */

bool redis_bit_offset(
    struct redis_call *c, struct str word, int64_t unit, int64_t width, int64_t *out)
{
    bool hash = unit > 1 && word.len && word.p[0] == '#';
    int64_t n;

    if (hash)
        word = str_sub(word, 1, word.len - 1);
    if (!redis_int(word, &n) || n < 0 || (hash && __builtin_mul_overflow(n, unit, &n)) ||
        n > BITS_MAX - width) {
        reply_error(c->reply, "ERR bit offset is not an integer or out of range");
        return false;
    }
    *out = n;
    return true;
}

/* ---- one bit ---- */

struct bit {
    unsigned char mask;
    bool set;
    bool was;
};

static bool on_setbit(void *arg, char *bytes, size_t n)
{
    struct bit *b = arg;

    ENSURE(n == 1);
    b->was = ((unsigned char)bytes[0] & b->mask) != 0;
    bytes[0] = (char)(b->set ? (unsigned char)bytes[0] | b->mask
                             : (unsigned char)bytes[0] & (unsigned char)~b->mask);
    return true;
}

static void cmd_setbit(struct redis_call *c)
{
    int64_t at, value;
    struct bit b = {0};
    size_t len;
    int r;

    if (!redis_bit_offset(c, c->argv[2], 1, 1, &at) ||
        !call_int_in(c, 3, 0, 1, "bit is not an integer or out of range", &value))
        return;
    b.mask = (unsigned char)(128 >> (at & 7));
    b.set = value != 0;
    r = kv_store_edit(c->store, c->argv[1], (size_t)at / 8, 1, on_setbit, &b, &len);
    if (r)
        call_store_error(c, r == ERR_INVAL ? ERR_TYPE : r);
    else
        reply_int(c->reply, b.was);
}

static void cmd_getbit(struct redis_call *c)
{
    struct str byte;
    int64_t at;
    int r;

    if (!redis_bit_offset(c, c->argv[2], 1, 1, &at))
        return;
    r = kv_store_getrange(c->store, c->argv[1], at / 8, at / 8, c->buf, &byte);
    if (r && r != ERR_NOTFOUND)
        call_store_error(c, r == ERR_INVAL ? ERR_TYPE : r);
    else
        reply_int(c->reply,
            r == 0 && byte.len == 1 && (unsigned char)byte.p[0] & 128 >> (at & 7) ? 1 : 0);
}

/* ---- ranges ---- */

/* A range of bits of a string: words from i on say start, end and the unit. */
struct range {
    int64_t start, end; /* bits, both included */
    bool bits;          /* BIT was given */
    bool has_end;
    bool empty;
};

static int64_t clamp(int64_t n, int64_t len)
{
    if (n < 0)
        n += len;
    return n < 0 ? 0 : n;
}

/* False: the error was written. */
static bool parse_range(struct redis_call *c, size_t i, struct range *r)
{
    *r = (struct range){.end = -1};
    if (i >= c->argc)
        return true;
    if (!call_int(c, i, &r->start))
        return false;
    if (i + 1 < c->argc) {
        r->has_end = true;
        if (!call_int(c, i + 1, &r->end))
            return false;
    }
    if (i + 2 < c->argc) {
        r->bits = call_is(c, i + 2, "bit");
        if (i + 3 < c->argc || (!r->bits && !call_is(c, i + 2, "byte"))) {
            call_syntax_error(c);
            return false;
        }
    }
    return true;
}

/* Makes bits of it that the string has. */
static void fit_range(struct range *r, size_t bytes)
{
    int64_t unit = r->bits ? 1 : 8, len = (int64_t)bytes * 8 / unit;

    if (r->start < 0 && r->end < 0 && r->start > r->end) {
        r->empty = true;
        return;
    }
    r->start = clamp(r->start, len) * unit;
    r->end = MIN(clamp(r->end, len), len - 1) * unit + unit - 1;
    r->empty = len == 0 || r->start > r->end;
}

static bool bit_at(struct str s, int64_t i)
{
    return ((unsigned char)s.p[i / 8] & 128 >> (i & 7)) != 0;
}

static int64_t count_bytes(const char *p, size_t n)
{
    int64_t count = 0;
    uint64_t w;

    for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
        memcpy(&w, p, sizeof(w));
        count += __builtin_popcountll(w);
    }
    for (; n; n--)
        count += __builtin_popcount((unsigned char)*p++);
    return count;
}

static int64_t count_bits(struct str s, const struct range *r)
{
    int64_t i = r->start, n = 0;

    for (; i <= r->end && i & 7; i++)
        n += bit_at(s, i);
    if (r->end - i >= 7) {
        int64_t bytes = (r->end + 1 - i) / 8;

        n += count_bytes(s.p + i / 8, (size_t)bytes);
        i += bytes * 8;
    }
    for (; i <= r->end; i++)
        n += bit_at(s, i);
    return n;
}

static void cmd_bitcount(struct redis_call *c)
{
    struct range range;
    struct kv_value v;
    int r;

    if (c->argc == 3) {
        call_syntax_error(c);
        return;
    }
    if (!parse_range(c, 2, &range))
        return;
    r = call_get_string(c, c->argv[1], &v);
    if (r && r != ERR_NOTFOUND) {
        call_store_error(c, r);
        return;
    }
    fit_range(&range, r ? 0 : v.bytes.len);
    reply_int(c->reply, range.empty ? 0 : count_bits(v.bytes, &range));
}

/* The first such bit in the range, or -1. */
static int64_t find_bit(struct str s, const struct range *r, bool bit)
{
    unsigned char skip = bit ? 0 : 255;

    for (int64_t i = r->start; i <= r->end;) {
        if ((i & 7) == 0 && r->end - i >= 7 && (unsigned char)s.p[i / 8] == skip) {
            i += 8;
            continue;
        }
        if (bit_at(s, i) == bit)
            return i;
        i++;
    }
    return -1;
}

static void cmd_bitpos(struct redis_call *c)
{
    struct range range;
    int64_t bit, at;
    struct kv_value v;
    int r;

    if (!call_int_in(c, 2, 0, 1, "The bit argument must be 1 or 0.", &bit) ||
        !parse_range(c, 3, &range))
        return;
    r = call_get_string(c, c->argv[1], &v);
    if (r == ERR_NOTFOUND) {
        reply_int(c->reply, bit ? -1 : 0);
        return;
    }
    if (r) {
        call_store_error(c, r);
        return;
    }
    fit_range(&range, v.bytes.len);
    at = range.empty ? -1 : find_bit(v.bytes, &range, bit != 0);
    /* Behind the string there are zeros, unless an end was given. */
    if (at < 0 && !bit && !range.has_end && !range.empty)
        at = (int64_t)v.bytes.len * 8;
    reply_int(c->reply, at);
}

/* ---- BITOP ---- */

/* Of all values together: a key may be named any number of times. */
#define BITOP_MAX ((size_t)512 << 20)

enum bitop { BITOP_AND, BITOP_OR, BITOP_XOR, BITOP_NOT };

static bool parse_bitop(struct redis_call *c, enum bitop *op)
{
    static const char *const names[] = {"and", "or", "xor", "not"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (call_is(c, 1, names[i])) {
            *op = (enum bitop)i;
            return true;
        }
    call_syntax_error(c);
    return false;
}

/* Combines s into out, which is at least as long; what s lacks is zeros. */
static void combine(enum bitop op, struct buf *out, struct str s)
{
    for (size_t i = 0; i < out->len; i++) {
        char b = i < s.len ? s.p[i] : 0;

        switch (op) {
        case BITOP_AND:
            out->p[i] &= b;
            break;
        case BITOP_OR:
            out->p[i] |= b;
            break;
        case BITOP_XOR:
            out->p[i] ^= b;
            break;
        case BITOP_NOT:
            out->p[i] = (char)~b;
            break;
        }
    }
}

static void grow(struct buf *b, size_t len)
{
    if (b->len >= len)
        return;
    memset(buf_reserve(b, len - b->len), 0, len - b->len);
    b->len = len;
}

/* The sources' combination in `out`. False: the error was written. */
static bool run_bitop(struct redis_call *c, enum bitop op, struct buf *out)
{
    struct kv_value v;
    size_t bytes = 0;
    int r;

    for (size_t i = 3; i < c->argc; i++) {
        r = call_get_string(c, c->argv[i], &v);
        if (r && r != ERR_NOTFOUND) {
            call_store_error(c, r);
            return false;
        }
        if (r)
            v.bytes = STR_NONE;
        bytes += v.bytes.len;
        if (bytes > BITOP_MAX) {
            reply_error(c->reply, "ERR the values of BITOP are too large together");
            return false;
        }
        if (i == 3)
            buf_add_str(out, v.bytes);
        grow(out, v.bytes.len);
        if (i > 3 || op == BITOP_NOT)
            combine(op, out, v.bytes);
    }
    return true;
}

static void cmd_bitop(struct redis_call *c)
{
    struct buf *out = &c->server->buf2;
    struct kv_value v = {.type = KV_STRING};
    enum bitop op;
    int r;

    if (!parse_bitop(c, &op))
        return;
    if (op == BITOP_NOT && c->argc != 4) {
        reply_error(c->reply, "ERR BITOP NOT must be called with a single source key.");
        return;
    }
    buf_clear(out);
    if (!run_bitop(c, op, out))
        return;
    v.bytes = buf_str(out);
    if (out->len)
        r = kv_store_set(c->store, c->argv[2], &v, 0, 0);
    else
        r = kv_store_del(c->store, c->argv[2]);
    if (r && r != ERR_NOTFOUND)
        call_store_error(c, r);
    else
        reply_int(c->reply, (int64_t)out->len);
}

const struct redis_command redis_bitmap_commands[] = {
    {"setbit", cmd_setbit, 4, CMD_WRITE | CMD_DENYOOM, 1, 1, 1, "2.2.0",
        "Sets or clears the bit at offset of the string value."},
    {"getbit", cmd_getbit, 3, CMD_READONLY | CMD_FAST, 1, 1, 1, "2.2.0",
        "Returns a bit value by offset."},
    {"bitcount", cmd_bitcount, -2, CMD_READONLY, 1, 1, 1, "2.6.0",
        "Counts the number of set bits in a string."},
    {"bitpos", cmd_bitpos, -3, CMD_READONLY, 1, 1, 1, "2.8.7",
        "Finds the first set or clear bit in a string."},
    {"bitop", cmd_bitop, -4, CMD_WRITE | CMD_DENYOOM, 2, -1, 1, "2.6.0",
        "Performs bitwise operations on strings, and stores the result."},
    {0},
};
