/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/codec.h"

#include <zlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef KV_HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
#ifdef KV_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"
#include "kv/change.h"

#define GAIN 8 /* one part in so many is saved at least */

struct kv_codec {
    z_stream deflate, inflate;
    int deflate_level; /* 0: not begun */
    bool inflate_begun;
#ifdef KV_HAVE_ZSTD
    ZSTD_CCtx *zstd;
    ZSTD_DCtx *zstd_back;
#endif
};

static struct kv_codec *codec(struct kv_store *s)
{
    if (!s->codec)
        s->codec = mem_new(sizeof(*s->codec));
    return s->codec;
}

void kv_codec_free(struct kv_codec *c)
{
    if (!c)
        return;
    if (c->deflate_level)
        (void)deflateEnd(&c->deflate); /* says only whether it was in the middle */
    if (c->inflate_begun)
        (void)inflateEnd(&c->inflate);
#ifdef KV_HAVE_ZSTD
    (void)ZSTD_freeCCtx(c->zstd); /* cannot fail */
    (void)ZSTD_freeDCtx(c->zstd_back);
#endif
    mem_free(c);
}

/* ---- gzip's ---- */

/* All of these: `room` bytes at `to`; the length, 0 when there is not enough room. */
static size_t gzip_pack(struct kv_codec *c, int level, struct str in, char *to, size_t room)
{
    z_stream *z = &c->deflate;

    if (c->deflate_level == 0 && deflateInit(z, level) != Z_OK)
        return 0;
    if (c->deflate_level && deflateReset(z) != Z_OK)
        return 0;
    if (c->deflate_level && c->deflate_level != level &&
        deflateParams(z, level, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    c->deflate_level = level;
    z->next_in = (Bytef *)(uintptr_t)in.p;
    z->avail_in = (uInt)in.len;
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)room;
    return deflate(z, Z_FINISH) == Z_STREAM_END ? room - z->avail_out : 0;
}

/* All of these: exactly n bytes. */
static bool gzip_unpack(struct kv_codec *c, struct str in, char *to, size_t n)
{
    z_stream *z = &c->inflate;

    if (!c->inflate_begun) {
        if (inflateInit(z) != Z_OK)
            return false;
        c->inflate_begun = true;
    } else if (inflateReset(z) != Z_OK) {
        return false;
    }
    z->next_in = (Bytef *)(uintptr_t)in.p;
    z->avail_in = (uInt)in.len;
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)n;
    return inflate(z, Z_FINISH) == Z_STREAM_END && z->avail_out == 0 && z->avail_in == 0;
}

/* ---- brotli ---- */

#ifdef KV_HAVE_BROTLI
static size_t brotli_pack(int level, struct str in, char *to, size_t room)
{
    int window = BROTLI_MIN_WINDOW_BITS;
    size_t n = room;

    while (window < BROTLI_DEFAULT_WINDOW && ((size_t)1 << window) - 16 < in.len)
        window++;
    return BrotliEncoderCompress(
               level, window, BROTLI_MODE_GENERIC, in.len, (const uint8_t *)in.p, &n, (uint8_t *)to)
               ? n
               : 0;
}

static bool brotli_unpack(struct str in, char *to, size_t n)
{
    size_t got = n;

    return BrotliDecoderDecompress(in.len, (const uint8_t *)in.p, &got, (uint8_t *)to) ==
               BROTLI_DECODER_RESULT_SUCCESS &&
           got == n;
}
#endif

/* ---- zstd ---- */

#ifdef KV_HAVE_ZSTD
static size_t zstd_pack(struct kv_codec *c, int level, struct str in, char *to, size_t room)
{
    size_t n;

    if (!c->zstd)
        c->zstd = ZSTD_createCCtx();
    if (!c->zstd)
        return 0;
    n = ZSTD_compressCCtx(c->zstd, to, room, in.p, in.len, level);
    return ZSTD_isError(n) ? 0 : n;
}

static bool zstd_unpack(struct kv_codec *c, struct str in, char *to, size_t n)
{
    if (!c->zstd_back)
        c->zstd_back = ZSTD_createDCtx();
    return c->zstd_back && ZSTD_decompressDCtx(c->zstd_back, to, n, in.p, in.len) == n;
}
#endif

/* ---- values ---- */

int kv_codec_check(const struct kv_compression *c)
{
    int least, most;

    if (c->algorithm == KV_UNCOMPRESSED)
        return 0;
    if (!kv_compression_levels(c->algorithm, &least, &most) || c->level < least || c->level > most)
        return ERR_INVAL;
    switch (c->algorithm) {
    case KV_GZIP:
#ifdef KV_HAVE_BROTLI
    case KV_BROTLI:
#endif
#ifdef KV_HAVE_ZSTD
    case KV_ZSTD:
#endif
        return 0;
    default:
        return ERR_UNSUPPORTED;
    }
}

static size_t pack(struct kv_store *s, struct str in, char *to, size_t room)
{
    switch (s->compression.algorithm) {
    case KV_GZIP:
        return gzip_pack(codec(s), s->compression.level, in, to, room);
#ifdef KV_HAVE_BROTLI
    case KV_BROTLI:
        return brotli_pack(s->compression.level, in, to, room);
#endif
#ifdef KV_HAVE_ZSTD
    case KV_ZSTD:
        return zstd_pack(codec(s), s->compression.level, in, to, room);
#endif
    default:
        return 0;
    }
}

static bool unpack(struct kv_store *s, enum kv_algorithm a, struct str in, char *to, size_t n)
{
    switch (a) {
    case KV_GZIP:
        return gzip_unpack(codec(s), in, to, n);
#ifdef KV_HAVE_BROTLI
    case KV_BROTLI:
        return brotli_unpack(in, to, n);
#endif
#ifdef KV_HAVE_ZSTD
    case KV_ZSTD:
        return zstd_unpack(codec(s), in, to, n);
#endif
    default:
        return false;
    }
}

bool kv_pack(struct kv_store *s, const struct kv_value *v, struct buf *to)
{
    size_t len = v->bytes.len, room, n;
    uint32_t head[2];
    char *p;

    if (s->compression.algorithm == KV_UNCOMPRESSED || !kv_has_bytes(v) ||
        len < MAX(s->compression.min_size, KV_PACK_MIN))
        return false;
    room = len - len / GAIN - KV_PACK_HEAD;
    p = buf_reserve(to, KV_PACK_HEAD + room);
    n = pack(s, v->bytes, p + KV_PACK_HEAD, room);
    if (n == 0)
        return false;
    head[0] = (uint32_t)len;
    head[1] = (uint32_t)XXH3_64bits(v->bytes.p, len);
    memcpy(p, head, sizeof(head));
    to->len += KV_PACK_HEAD + n;
    return true;
}

struct kv_value kv_packed(struct kv_store *s, const struct kv_value *v)
{
    struct kv_value out = *v;

    out.coding = 0;
    buf_clear(&s->packed);
    if (kv_pack(s, v, &s->packed)) {
        out.coding = kv_coding_flags(s->compression.algorithm);
        out.bytes = buf_str(&s->packed);
    }
    return out;
}

int kv_unpack(struct kv_store *s, struct buf *buf, struct kv_value *v)
{
    struct str in = v->bytes;
    uint32_t head[2];
    struct buf swap;
    char *to;

    if (!v->coding)
        return 0;
    if (!kv_has_bytes(v) || in.len < KV_PACK_HEAD)
        return ERR_CORRUPT;
    memcpy(head, in.p, sizeof(head));
    if (head[0] < KV_PACK_MIN || head[0] > KV_VALUE_MAX)
        return ERR_CORRUPT;
    buf_clear(&s->unpacked);
    to = buf_reserve(&s->unpacked, head[0]);
    if (!unpack(s, kv_coding_of(v->coding), str_sub(in, KV_PACK_HEAD, in.len), to, head[0]) ||
        head[1] != (uint32_t)XXH3_64bits(to, head[0]))
        return ERR_CORRUPT;
    s->unpacked.len = head[0];
    swap = *buf;
    *buf = s->unpacked;
    s->unpacked = swap;
    v->bytes = buf_str(buf);
    v->coding = 0;
    return 0;
}
