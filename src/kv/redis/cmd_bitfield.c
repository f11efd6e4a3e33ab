/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* BITFIELD: integers of any width in a string. Each operation is one step for PHP, too. */
#include "base/mem.h"
#include "kv/keys.h"
#include "kv/redis/bits.h"
#include "kv/redis/state.h"

enum overflow { WRAP, SAT, FAIL };
enum kind { FIELD_GET, FIELD_SET, FIELD_INCRBY };

struct op {
    enum kind kind;
    enum overflow overflow;
    bool is_signed;
    int bits;
    int64_t at;    /* bit */
    int64_t value; /* to set, to add */
    /* results */
    int64_t result;
    bool failed;
};

/* ---- the value in a window of bytes that starts at bit `at` & ~7 ---- */

static uint64_t get_bits(const char *bytes, int first, int n)
{
    uint64_t v = 0;

    for (int i = first; i < first + n; i++)
        v = v << 1 | (((unsigned char)bytes[i / 8] >> (7 - i % 8)) & 1);
    return v;
}

static void put_bits(char *bytes, int first, int n, uint64_t v)
{
    for (int i = first + n - 1; i >= first; i--, v >>= 1) {
        unsigned char mask = (unsigned char)(128 >> i % 8);

        bytes[i / 8] = (char)(v & 1 ? (unsigned char)bytes[i / 8] | mask
                                    : (unsigned char)bytes[i / 8] & (unsigned char)~mask);
    }
}

static int64_t as_number(const struct op *op, uint64_t v)
{
    if (op->is_signed && op->bits < 64 && v >> (op->bits - 1))
        v |= UINT64_MAX << op->bits;
    return (int64_t)v;
}

/* ---- overflow ---- */

static __int128 lowest(const struct op *op)
{
    return op->is_signed ? -((__int128)1 << (op->bits - 1)) : 0;
}

static __int128 highest(const struct op *op)
{
    return ((__int128)1 << (op->is_signed ? op->bits - 1 : op->bits)) - 1;
}

/* What of this number comes into the field; false: nothing, it does not fit. */
static bool fit(const struct op *op, __int128 n, uint64_t *out)
{
    if (n < lowest(op) || n > highest(op)) {
        if (op->overflow == FAIL)
            return false;
        if (op->overflow == SAT)
            n = n < lowest(op) ? lowest(op) : highest(op);
    }
    *out = (uint64_t)n;
    if (op->bits < 64)
        *out &= ((uint64_t)1 << op->bits) - 1;
    return true;
}

static __int128 wanted(const struct op *op, int64_t old)
{
    if (op->kind == FIELD_INCRBY)
        return (__int128)old + op->value;
    return op->is_signed ? (__int128)op->value : (__int128)(uint64_t)op->value;
}

static bool on_edit(void *arg, char *bytes, size_t n)
{
    struct op *op = arg;
    int first = (int)(op->at & 7);
    int64_t old = as_number(op, get_bits(bytes, first, op->bits));
    uint64_t new;

    (void)n;
    if (!fit(op, wanted(op, old), &new)) {
        op->failed = true;
        return false;
    }
    put_bits(bytes, first, op->bits, new);
    op->result = op->kind == FIELD_SET ? old : as_number(op, new);
    return true;
}

/* ---- running ---- */

static size_t window(const struct op *op)
{
    return (size_t)((op->at & 7) + op->bits + 7) / 8;
}

static int run_get(struct redis_call *c, struct op *op)
{
    char bytes[10] = {0};
    struct str part;
    int r = kv_store_getrange(
        c->store, c->argv[1], op->at / 8, op->at / 8 + (int64_t)window(op) - 1, c->buf, &part);

    if (r && r != ERR_NOTFOUND)
        return r;
    if (r == 0 && part.len)
        memcpy(bytes, part.p, MIN(part.len, sizeof(bytes)));
    op->result = as_number(op, get_bits(bytes, (int)(op->at & 7), op->bits));
    return 0;
}

static int run_op(struct redis_call *c, struct op *op)
{
    size_t len;

    if (op->kind == FIELD_GET)
        return run_get(c, op);
    return kv_store_edit(c->store, c->argv[1], (size_t)op->at / 8, window(op), on_edit, op, &len);
}

static void run(struct redis_call *c, struct op *ops, size_t n)
{
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++)
        r = run_op(c, &ops[i]);
    if (r) {
        call_store_error(c, r == ERR_INVAL ? ERR_TYPE : r);
        return;
    }
    reply_array(c->reply, n);
    for (size_t i = 0; i < n; i++) {
        if (ops[i].failed)
            reply_null(c->reply);
        else
            reply_int(c->reply, ops[i].result);
    }
}

/* ---- words ---- */

static bool parse_type(struct redis_call *c, struct str word, struct op *op)
{
    int64_t bits;
    char sign = word.len ? word.p[0] : 0;

    op->is_signed = sign == 'i';
    if ((sign != 'i' && sign != 'u') || !redis_int(str_sub(word, 1, word.len - 1), &bits) ||
        bits < 1 || bits > (op->is_signed ? 64 : 63)) {
        reply_error(c->reply,
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported "
            "but i64 is.");
        return false;
    }
    op->bits = (int)bits;
    return true;
}

static bool parse_overflow(struct redis_call *c, size_t i, enum overflow *out)
{
    if (call_is(c, i, "wrap"))
        *out = WRAP;
    else if (call_is(c, i, "sat"))
        *out = SAT;
    else if (call_is(c, i, "fail"))
        *out = FAIL;
    else {
        reply_error(c->reply, "ERR Invalid OVERFLOW type specified");
        return false;
    }
    return true;
}

/* The operation at word *i; leaves *i behind it. */
static bool parse_op(struct redis_call *c, size_t *i, struct op *op)
{
    bool known = true;
    size_t words;

    if (call_is(c, *i, "get"))
        op->kind = FIELD_GET;
    else if (call_is(c, *i, "set"))
        op->kind = FIELD_SET;
    else if (call_is(c, *i, "incrby"))
        op->kind = FIELD_INCRBY;
    else
        known = false;
    words = op->kind == FIELD_GET ? 3 : 4;
    if (!known || c->argc - *i < words) {
        call_syntax_error(c);
        return false;
    }
    if (!parse_type(c, c->argv[*i + 1], op) ||
        !redis_bit_offset(c, c->argv[*i + 2], op->bits, op->bits, &op->at))
        return false;
    if (op->kind != FIELD_GET && !call_int(c, *i + 3, &op->value))
        return false;
    *i += words;
    return true;
}

static void bitfield(struct redis_call *c, bool read_only)
{
    struct op *ops = mem_new_array(c->argc / 3 + 1, sizeof(*ops));
    enum overflow overflow = WRAP;
    size_t n = 0, i = 2;

    while (i < c->argc) {
        if (c->argc - i >= 2 && call_is(c, i, "overflow")) {
            if (!parse_overflow(c, i + 1, &overflow))
                goto done;
            i += 2;
            continue;
        }
        ops[n].overflow = overflow;
        if (!parse_op(c, &i, &ops[n]))
            goto done;
        if (read_only && ops[n].kind != FIELD_GET) {
            reply_error(c->reply, "ERR BITFIELD_RO only supports the GET subcommand");
            goto done;
        }
        n++;
    }
    run(c, ops, n);
done:
    mem_free(ops);
}

static void cmd_bitfield(struct redis_call *c)
{
    bitfield(c, false);
}

static void cmd_bitfield_ro(struct redis_call *c)
{
    bitfield(c, true);
}

const struct redis_command redis_bitfield_commands[] = {
    {"bitfield", cmd_bitfield, -2, CMD_WRITE | CMD_DENYOOM, 1, 1, 1, "3.2.0",
        "Performs arbitrary bitfield integer operations on strings."},
    {"bitfield_ro", cmd_bitfield_ro, -2, CMD_READONLY | CMD_FAST, 1, 1, 1, "6.0.0",
        "Performs arbitrary read-only bitfield integer operations on strings."},
    {0},
};
