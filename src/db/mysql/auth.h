/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_AUTH_H
#define EPHPM_DB_MYSQL_AUTH_H

/*
 * Passwords: what is kept of one, and how a client proves that it knows it.
 *
 *   mysql_native_password   SHA1(pw) xor SHA1(scramble + SHA1(SHA1(pw)))
 *   caching_sha2_password   SHA256(pw) xor SHA256(SHA256(SHA256(pw)) + scramble), "fast"; or the
 *                           password itself, "full": in clear text where nobody can listen (TLS, a
 *                           local socket), else encrypted for our RSA key, xor the scramble
 *
 * Kept are SHA1(SHA1(pw)) and SHA256(SHA256(pw)) only, from which neither proof can be made.
 */

#include "base/buf.h"
#include "db/mysql/handshake.h"

enum { MYSQL_SHA1 = 20, MYSQL_SHA256 = 32 };

/* What is kept of a password. */
struct mysql_secret {
    bool empty; /* there is none: the empty proof is right, and only that one */
    uint8_t sha1[MYSQL_SHA1];
    uint8_t sha256[MYSQL_SHA256];
};

void mysql_secret_init(struct mysql_secret *s, struct str password);

/* MYSQL_SCRAMBLE random bytes, none of them 0 (some clients take it for a C string). */
void mysql_scramble(uint8_t out[MYSQL_SCRAMBLE]);

/* Does the proof show that the client knows the password? Proofs of wrong length do not. */
bool mysql_prove_native(const struct mysql_secret *s, const uint8_t *scramble, struct str proof);
bool mysql_prove_sha2(const struct mysql_secret *s, const uint8_t *scramble, struct str proof);
/* The password itself, without a NUL. */
bool mysql_prove_clear(const struct mysql_secret *s, struct str password);

/* Overwrites what held a password. */
void mysql_wipe(void *p, size_t n);

/*
 * An RSA key of 2048 bits for full authentication without TLS, made when it is first wanted, which
 * takes a moment. Any thread.
 */
struct mysql_rsa;
struct mysql_rsa *mysql_rsa_new(void);
void mysql_rsa_free(struct mysql_rsa *k); /* NULL is fine */
/* Appends the public key as PEM. ERR_NOMEM, ERR_IO. */
int mysql_rsa_public(struct mysql_rsa *k, struct buf *out) MUST_CHECK;
/* The password in a proof, with its NUL, xor the scramble; out holds 512 bytes. ERR_PROTO. */
int mysql_rsa_password(struct mysql_rsa *k, const uint8_t *scramble, struct str proof,
    char out[512], size_t *n) MUST_CHECK;

#endif
