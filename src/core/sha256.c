/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/sha256.h"

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
    0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
    0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3,
    0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354,
    0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
    0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
    0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void schedule(const uint8_t *p, uint32_t w[64])
{
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
               (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void add_block(uint32_t state[8], const uint8_t *p)
{
    uint32_t w[64], s[8];

    schedule(p, w);
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t a = s[0], e = s[4];
        uint32_t t = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                     K[i] + w[i];
        uint32_t u =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void sha256_init(struct sha256 *h)
{
    *h = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                             0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *h, struct str bytes)
{
    while (bytes.len) {
        size_t at = (size_t)(h->total % 64), n = MIN(64 - at, bytes.len);

        memcpy(h->block + at, bytes.p, n);
        h->total += n;
        bytes = str_n(bytes.p + n, bytes.len - n);
        if (at + n == 64)
            add_block(h->state, h->block);
    }
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_SIZE])
{
    uint64_t bits = h->total * 8;
    char length[8];

    sha256_add(h, STR("\x80"));
    while (h->total % 64 != 56)
        sha256_add(h, str_n("", 1));
    for (int i = 0; i < 8; i++)
        length[i] = (char)(bits >> (56 - 8 * i));
    sha256_add(h, str_n(length, sizeof(length)));
    for (int i = 0; i < SHA256_SIZE; i++)
        out[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hmac(struct str secret, struct str message, uint8_t out[SHA256_SIZE])
{
    uint8_t key[64] = {0}, inner[64], outer[64];
    struct sha256 h;

    sha256_init(&h);
    if (secret.len > sizeof(key)) {
        sha256_add(&h, secret);
        sha256_end(&h, key);
        sha256_init(&h);
    } else if (secret.len) {
        memcpy(key, secret.p, secret.len);
    }
    for (size_t i = 0; i < sizeof(key); i++) {
        inner[i] = key[i] ^ 0x36;
        outer[i] = key[i] ^ 0x5c;
    }
    sha256_add(&h, str_n((const char *)inner, sizeof(inner)));
    sha256_add(&h, message);
    sha256_end(&h, out);
    sha256_init(&h);
    sha256_add(&h, str_n((const char *)outer, sizeof(outer)));
    sha256_add(&h, str_n((const char *)out, SHA256_SIZE));
    sha256_end(&h, out);
}

void sha256_hmac_hex(struct str secret, struct str message, char out[SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t mac[SHA256_SIZE];

    sha256_hmac(secret, message, mac);
    for (int i = 0; i < SHA256_SIZE; i++) {
        out[2 * i] = digits[mac[i] >> 4];
        out[2 * i + 1] = digits[mac[i] & 15];
    }
}

bool sha256_same(struct str a, struct str b)
{
    unsigned char differs = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        differs |= (unsigned char)(a.p[i] ^ b.p[i]);
    return differs == 0;
}
