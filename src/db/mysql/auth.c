/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/auth.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"
#include "platform/random.h"

enum { AUTH_RSA_BITS = 2048, AUTH_PROOF_MAX = 512 };

/* Digest of a and b, one after the other. */
static void auth_digest(const EVP_MD *md, struct str a, struct str b, uint8_t *out)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    ENSURE(ctx && EVP_DigestInit_ex(ctx, md, NULL) == 1 && EVP_DigestUpdate(ctx, a.p, a.len) == 1 &&
           EVP_DigestUpdate(ctx, b.p, b.len) == 1 && EVP_DigestFinal_ex(ctx, out, NULL) == 1);
    EVP_MD_CTX_free(ctx);
}

static struct str auth_bytes(const uint8_t *p, size_t n)
{
    return str_n((const char *)p, n);
}

void mysql_secret_init(struct mysql_secret *s, struct str password)
{
    uint8_t one[MYSQL_SHA256];

    s->empty = password.len == 0;
    auth_digest(EVP_sha1(), password, STR_NONE, one);
    auth_digest(EVP_sha1(), auth_bytes(one, MYSQL_SHA1), STR_NONE, s->sha1);
    auth_digest(EVP_sha256(), password, STR_NONE, one);
    auth_digest(EVP_sha256(), auth_bytes(one, MYSQL_SHA256), STR_NONE, s->sha256);
    mysql_wipe(one, sizeof(one));
}

void mysql_scramble(uint8_t out[MYSQL_SCRAMBLE])
{
    random_bytes(out, MYSQL_SCRAMBLE);
    for (size_t i = 0; i < MYSQL_SCRAMBLE; i++) {
        out[i] &= 0x7f;
        if (out[i] == 0 || out[i] == '$')
            out[i]++;
    }
}

/* proof xor mask is the digest of the password: its digest must be the one that is kept. */
static bool auth_check(const EVP_MD *md, const uint8_t *mask, const uint8_t *kept, struct str proof)
{
    uint8_t once[MYSQL_SHA256], twice[MYSQL_SHA256];
    bool same;

    for (size_t i = 0; i < proof.len; i++)
        once[i] = (uint8_t)proof.p[i] ^ mask[i];
    auth_digest(md, auth_bytes(once, proof.len), STR_NONE, twice);
    same = CRYPTO_memcmp(twice, kept, proof.len) == 0;
    mysql_wipe(once, sizeof(once));
    return same;
}

bool mysql_prove_native(const struct mysql_secret *s, const uint8_t *scramble, struct str proof)
{
    uint8_t mask[MYSQL_SHA1];

    if (s->empty || proof.len != MYSQL_SHA1)
        return s->empty && proof.len == 0;
    auth_digest(
        EVP_sha1(), auth_bytes(scramble, MYSQL_SCRAMBLE), auth_bytes(s->sha1, MYSQL_SHA1), mask);
    return auth_check(EVP_sha1(), mask, s->sha1, proof);
}

bool mysql_prove_sha2(const struct mysql_secret *s, const uint8_t *scramble, struct str proof)
{
    uint8_t mask[MYSQL_SHA256];

    if (s->empty || proof.len != MYSQL_SHA256)
        return s->empty && proof.len == 0;
    auth_digest(EVP_sha256(), auth_bytes(s->sha256, MYSQL_SHA256),
        auth_bytes(scramble, MYSQL_SCRAMBLE), mask);
    return auth_check(EVP_sha256(), mask, s->sha256, proof);
}

bool mysql_prove_clear(const struct mysql_secret *s, struct str password)
{
    struct mysql_secret got;
    bool same;

    mysql_secret_init(&got, password);
    same = got.empty == s->empty && CRYPTO_memcmp(got.sha256, s->sha256, MYSQL_SHA256) == 0;
    mysql_wipe(&got, sizeof(got));
    return same;
}

void mysql_wipe(void *p, size_t n)
{
    OPENSSL_cleanse(p, n);
}

/* --- RSA -------------------------------------------------------------------------------------- */

struct mysql_rsa {
    pthread_mutex_t lock;
    EVP_PKEY *key;
};

struct mysql_rsa *mysql_rsa_new(void)
{
    struct mysql_rsa *k = mem_new(sizeof(*k));

    ENSURE(pthread_mutex_init(&k->lock, NULL) == 0);
    return k;
}

void mysql_rsa_free(struct mysql_rsa *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->key);
    (void)pthread_mutex_destroy(&k->lock); /* nobody holds it */
    mem_free(k);
}

static EVP_PKEY *auth_rsa_key(struct mysql_rsa *k)
{
    EVP_PKEY *key;

    ENSURE(pthread_mutex_lock(&k->lock) == 0);
    if (!k->key)
        k->key = EVP_RSA_gen(AUTH_RSA_BITS);
    key = k->key;
    ENSURE(pthread_mutex_unlock(&k->lock) == 0);
    return key;
}

int mysql_rsa_public(struct mysql_rsa *k, struct buf *out)
{
    EVP_PKEY *key = auth_rsa_key(k);
    BIO *bio = key ? BIO_new(BIO_s_mem()) : NULL;
    char *p;
    long n;
    int rc = ERR_IO;

    if (bio && PEM_write_bio_PUBKEY(bio, key) == 1) {
        n = BIO_get_mem_data(bio, &p);
        buf_add(out, p, (size_t)n);
        rc = 0;
    }
    BIO_free(bio);
    return rc;
}

int mysql_rsa_password(
    struct mysql_rsa *k, const uint8_t *scramble, struct str proof, char out[512], size_t *n)
{
    EVP_PKEY *key = auth_rsa_key(k);
    EVP_PKEY_CTX *ctx = key ? EVP_PKEY_CTX_new(key, NULL) : NULL;
    size_t len = AUTH_PROOF_MAX;
    bool ok = ctx && EVP_PKEY_decrypt_init(ctx) == 1 &&
              EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_OAEP_PADDING) == 1 &&
              EVP_PKEY_decrypt(ctx, (uint8_t *)out, &len, (const uint8_t *)proof.p, proof.len) == 1;

    EVP_PKEY_CTX_free(ctx);
    if (!ok)
        return ERR_PROTO;
    for (size_t i = 0; i < len; i++)
        out[i] ^= (char)scramble[i % MYSQL_SCRAMBLE];
    if (len == 0 || out[len - 1] != '\0')
        return ERR_PROTO;
    *n = len - 1;
    return 0;
}
