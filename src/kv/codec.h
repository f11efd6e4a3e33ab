/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_CODEC_H
#define EPHPM_KV_CODEC_H

/*
 * Compressed values. What is stored of one:
 *
 *     u32 length of the value | u32 check over the value | bytes of the algorithm
 *
 * in the machine's byte order, and the entry's flags say which algorithm. A value is compressed
 * before any lock is taken, and stored so if that makes it smaller by an eighth at least. Whatever
 * stands in an entry is decompressed within the length that it says, which is at most KV_VALUE_MAX,
 * and compared with the check.
 *
 * The states of zlib and zstd are kept in struct kv_codec, one for each struct kv_store, made at
 * first use. Brotli's cannot be used twice; its window is no larger than the value.
 */

#include "kv/layout.h"

#define KV_PACK_MIN  64u /* bytes; smaller values are never compressed */
#define KV_PACK_HEAD 8u

/* Can it be compressed like that? ERR_INVAL: no such algorithm or level; ERR_UNSUPPORTED: this
 * build lacks the library. */
int kv_codec_check(const struct kv_compression *c) MUST_CHECK;
void kv_codec_free(struct kv_codec *c); /* NULL is fine */

/* Appends what is to be stored of the value, as the store's compression says. False: nothing was
 * added, the value is stored as it is. */
bool kv_pack(struct kv_store *s, const struct kv_value *v, struct buf *to);
/* The same of one value, which borrows from v or from the store's `packed`. */
struct kv_value kv_packed(struct kv_store *s, const struct kv_value *v);
/* Makes the value itself of what was copied to buf, if it is compressed. ERR_CORRUPT. */
int kv_unpack(struct kv_store *s, struct buf *buf, struct kv_value *v) MUST_CHECK;

/* Flags of an entry whose value is compressed so, and back. */
static inline unsigned kv_coding_flags(enum kv_algorithm a)
{
    return (unsigned)a << KV_CODING_SHIFT;
}

static inline enum kv_algorithm kv_coding_of(unsigned flags)
{
    return (enum kv_algorithm)((flags & KV_CODING) >> KV_CODING_SHIFT);
}

#endif
