/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_COMPRESS_H
#define EPHPM_HTTP_COMPRESS_H

/*
 * Content codings: a streaming encoder with a pool, and the policy of what to compress.
 *
 * The pool keeps encoders and their memory, since setting one up costs more than compressing a
 * small page.  A pool and its encoders belong to one thread.  Windows are bounded: gzip 32 KiB,
 * brotli 256 KiB, zstd 8 MiB (RFC 9659) at most, so a stream's memory is too.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "http/fields.h"
#include "http/negotiate.h"

enum compress_flush {
    COMPRESS_MORE,   /* keep what does not fill a block */
    COMPRESS_FLUSH,  /* the client can decode all of it now */
    COMPRESS_FINISH, /* end of the stream */
};

struct compress;
struct compress_pool;

/* keep: idle encoders kept per coding. */
struct compress_pool *compress_pool_new(unsigned keep);
/* All encoders must be closed. NULL is fine. */
void compress_pool_free(struct compress_pool *p);
/* The codings this build can produce (CODING_BIT set). */
unsigned compress_codings(void);

/* level 1 (fast) to 9 (small) for every coding. ERR_UNSUPPORTED for identity and codings not built
 * in, ERR_NOMEM. */
int compress_open(
    struct compress_pool *p, enum coding coding, int level, struct compress **out) MUST_CHECK;
/* Appends to out. After COMPRESS_FINISH only close may follow (ERR_INVAL). ERR_NOMEM, ERR_CORRUPT
 * (library failure): the stream is broken and must be cut. */
int compress_write(
    struct compress *c, struct str in, enum compress_flush flush, struct buf *out) MUST_CHECK;
/* Back to the pool; NULL is fine. */
void compress_close(struct compress *c);

struct compress_policy {
    bool enabled;
    int level;
    uint64_t min_size;
    unsigned codings; /* allowed ones, CODING_BIT set */
};

/* What a decision looks at. */
struct compress_ask {
    int status;
    int64_t body_size; /* -1 unknown (streamed) */
    struct str content_type;
    struct str content_encoding; /* p == NULL when absent */
    struct str cache_control;    /* p == NULL when absent */
    struct str accept_encoding;  /* of the request */
};

/* The coding to apply, identity for none.  *vary: the answer depends on Accept-Encoding, so say so
 * even when identity was chosen.  The same for HEAD as for GET. */
enum coding compress_decide(
    const struct compress_policy *p, const struct compress_ask *ask, bool *vary);
/* The same with the fields of a response. */
enum coding compress_decide_fields(const struct compress_policy *p, int status, int64_t body_size,
    const struct fields *response, struct str accept_encoding, bool *vary);

/* Makes fields those of the coded response: Content-Encoding set, a strong ETag weakened,
 * Content-Length, Content-MD5, Digest and Accept-Ranges removed. Strings come from a. */
void compress_apply(struct fields *f, enum coding coding, struct arena *a);
/* Adds Accept-Encoding to Vary, unless it is there or Vary is "*". */
void compress_add_vary(struct fields *f, struct arena *a);

#endif
