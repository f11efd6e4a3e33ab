/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Digests, AES, random bytes and UUIDs. */
#include <openssl/evp.h>

#include "db/func/call.h"
#include "platform/clock.h"
#include "platform/random.h"

static void add_hex(struct buf *b, const unsigned char *p, size_t n, const char *digits)
{
    for (size_t i = 0; i < n; i++) {
        buf_add_char(b, digits[p[i] >> 4]);
        buf_add_char(b, digits[p[i] & 15]);
    }
}

static const char lower[] = "0123456789abcdef";
static const char upper[] = "0123456789ABCDEF";

static bool digest(const EVP_MD *md, struct str s, unsigned char out[EVP_MAX_MD_SIZE], unsigned *n)
{
    return md && EVP_Digest(s.p, s.len, out, n, md, NULL) == 1;
}

static void ret_digest(struct call *c, const EVP_MD *md, struct str s)
{
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned n;
    struct buf b = {0};

    if (!digest(md, s, out, &n))
        return;
    add_hex(&b, out, n, lower);
    ret_buf(c, &b, false);
}

void fn_md5(struct call *c)
{
    if (!call_null(c, 0))
        ret_digest(c, EVP_md5(), call_str(c, 0));
}

void fn_sha1(struct call *c)
{
    if (!call_null(c, 0))
        ret_digest(c, EVP_sha1(), call_str(c, 0));
}

void fn_sha2(struct call *c)
{
    if (call_any_null(c))
        return;
    switch (call_i64(c, 1)) {
    case 224:
        ret_digest(c, EVP_sha224(), call_str(c, 0));
        return;
    case 0:
    case 256:
        ret_digest(c, EVP_sha256(), call_str(c, 0));
        return;
    case 384:
        ret_digest(c, EVP_sha384(), call_str(c, 0));
        return;
    case 512:
        ret_digest(c, EVP_sha512(), call_str(c, 0));
        return;
    default:
        CALL_WARN(c, DB_WARNING, DB_E_WRONG_ARGUMENTS, "sha2");
    }
}

/* '*' and SHA1(SHA1(x)) */
void fn_password(struct call *c)
{
    unsigned char once[EVP_MAX_MD_SIZE];
    unsigned char twice[EVP_MAX_MD_SIZE];
    unsigned n;
    struct buf b = {0};
    struct str s;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (s.len == 0) {
        ret_str(c, STR(""));
        return;
    }
    if (!digest(EVP_sha1(), s, once, &n) ||
        !digest(EVP_sha1(), str_n((const char *)once, n), twice, &n))
        return;
    buf_add_char(&b, '*');
    add_hex(&b, twice, n, upper);
    ret_buf(c, &b, false);
}

/* The key folded into 16 bytes, as aes-128-ecb of MySQL wants it. */
static void fold_key(struct str key, unsigned char out[16])
{
    memset(out, 0, 16);
    for (size_t i = 0; i < key.len; i++)
        out[i % 16] ^= (unsigned char)key.p[i];
}

static void aes(struct call *c, int encrypt)
{
    unsigned char key[16];
    EVP_CIPHER_CTX *x = NULL;
    struct buf b = {0};
    struct str s;
    int n = 0;
    int m = 0;

    if (call_null(c, 0) || call_null(c, 1))
        return;
    s = call_str(c, 0);
    if (!ret_fits(c, (uint64_t)s.len + 32))
        return;
    fold_key(call_str(c, 1), key);
    (void)buf_reserve(&b, s.len + 32);
    x = EVP_CIPHER_CTX_new();
    if (x && EVP_CipherInit_ex(x, EVP_aes_128_ecb(), NULL, key, NULL, encrypt) == 1 &&
        EVP_CipherUpdate(x, (unsigned char *)b.p, &n, (const unsigned char *)s.p, (int)s.len) ==
            1 &&
        EVP_CipherFinal_ex(x, (unsigned char *)b.p + n, &m) == 1) {
        b.len = (size_t)n + (size_t)m;
        ret_buf(c, &b, true);
    }
    EVP_CIPHER_CTX_free(x);
    buf_fini(&b);
}

void fn_aes_encrypt(struct call *c)
{
    aes(c, 1);
}

void fn_aes_decrypt(struct call *c)
{
    aes(c, 0);
}

void fn_random_bytes(struct call *c)
{
    unsigned char bytes[1024];
    int64_t n;

    if (call_null(c, 0))
        return;
    n = call_i64(c, 0);
    if (n < 1 || n > 1024) {
        CALL_RAISE(c, DB_E_DATA_OUT_OF_RANGE, "length", "random_bytes");
        return;
    }
    random_bytes(bytes, (size_t)n);
    ret_blob(c, str_n((const char *)bytes, (size_t)n));
}

/* ---- UUIDs ---- */

/* Version 1: the time in 100 ns since 1582, a random clock sequence and node. */
static void make_uuid(unsigned char u[16])
{
    uint64_t t = clock_wall_us() * 10 + UINT64_C(0x01B21DD213814000);
    uint32_t low;

    random_bytes(u, 16);
    t += u[0] % 10;
    low = (uint32_t)t;
    for (int i = 0; i < 4; i++)
        u[i] = (unsigned char)(low >> (24 - 8 * i));
    u[4] = (unsigned char)(t >> 40);
    u[5] = (unsigned char)(t >> 32);
    u[6] = (unsigned char)(0x10 | (t >> 56 & 0x0F));
    u[7] = (unsigned char)(t >> 48);
    u[8] = (unsigned char)((u[8] & 0x3F) | 0x80);
    u[10] |= 1; /* no network card's address */
}

static void ret_uuid(struct call *c, const unsigned char u[16])
{
    struct buf b = {0};

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            buf_add_char(&b, '-');
        add_hex(&b, &u[i], 1, lower);
    }
    ret_buf(c, &b, false);
}

void fn_uuid(struct call *c)
{
    unsigned char u[16];

    make_uuid(u);
    ret_uuid(c, u);
}

void fn_uuid_short(struct call *c)
{
    ret_u64(c, (random_u64() & UINT64_C(0xFFFFFF)) | (clock_wall_us() << 18 & INT64_MAX));
}

/* 32 digits, with dashes where they belong or nowhere, also in braces. */
static bool parse_uuid(struct str s, unsigned char out[16])
{
    size_t n = 0;
    int high = -1;

    if (s.len == 38 && s.p[0] == '{' && s.p[37] == '}')
        s = str_sub(s, 1, 36);
    if (s.len != 36 && s.len != 32)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        int d = str_hex_digit(s.p[i]);

        if (s.len == 36 && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (s.p[i] != '-')
                return false;
            continue;
        }
        if (d < 0)
            return false;
        if (high < 0) {
            high = d;
        } else {
            out[n++] = (unsigned char)(high << 4 | d);
            high = -1;
        }
    }
    return n == 16;
}

static void wrong_uuid(struct call *c)
{
    CALL_RAISE(
        c, DB_E_WRONG_UUID, arena_str(&c->arena, str_sub(call_str(c, 0), 0, 128)).p, c->name);
}

void fn_is_uuid(struct call *c)
{
    unsigned char u[16];

    if (!call_null(c, 0))
        ret_bool(c, parse_uuid(call_str(c, 0), u));
}

/* The time's halves change places: high, middle, low. */
static void swap_in(const unsigned char u[16], unsigned char out[16])
{
    memcpy(out, u + 6, 2);
    memcpy(out + 2, u + 4, 2);
    memcpy(out + 4, u, 4);
    memcpy(out + 8, u + 8, 8);
}

static void swap_out(const unsigned char u[16], unsigned char out[16])
{
    memcpy(out, u + 4, 4);
    memcpy(out + 4, u + 2, 2);
    memcpy(out + 6, u, 2);
    memcpy(out + 8, u + 8, 8);
}

void fn_uuid_to_bin(struct call *c)
{
    unsigned char u[16];
    unsigned char swapped[16];

    if (call_null(c, 0))
        return;
    if (!parse_uuid(call_str(c, 0), u)) {
        wrong_uuid(c);
        return;
    }
    swap_in(u, swapped);
    ret_blob(c, str_n((const char *)(c->n > 1 && call_i64(c, 1) ? swapped : u), 16));
}

void fn_bin_to_uuid(struct call *c)
{
    unsigned char swapped[16];
    struct str s;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (s.len != 16) {
        wrong_uuid(c);
        return;
    }
    swap_out((const unsigned char *)s.p, swapped);
    ret_uuid(c, c->n > 1 && call_i64(c, 1) ? swapped : (const unsigned char *)s.p);
}
