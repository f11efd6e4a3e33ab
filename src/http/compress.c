/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/compress.h"

#include <limits.h>
#include <zlib.h>

#include "base/list.h"
#include "base/mem.h"
#include "http/cond.h"
#include "http/mime.h"
#include "http/response.h"

#ifdef HTTP_HAVE_BROTLI
#include <brotli/encode.h>
#endif
#ifdef HTTP_HAVE_ZSTD
#include <zstd.h>
#endif

enum {
    CHUNK = 16 * 1024,     /* room asked for in one step */
    GZIP_WINDOW = 15 + 16, /* 32 KiB, gzip framing */
    BROTLI_WINDOW = 18,    /* 256 KiB */
    ZSTD_WINDOW = 20,      /* 1 MiB */
    BLOCKS = 24,
    BLOCKS_BYTES = 4 * 1024 * 1024,
};

/*
 * Memory that a brotli encoder gave back.  The library cannot reset an encoder, but a new one asks
 * for blocks of the same sizes again.
 */
struct block {
    size_t size;
    max_align_t data[];
};

struct blocks {
    struct block *v[BLOCKS];
    size_t n;
    size_t bytes;
};

struct compress {
    struct list link; /* in the pool while idle */
    struct compress_pool *pool;
    enum coding coding;
    int level;
    bool started; /* the stream has state to be reset */
    bool ended;   /* finished or broken */
    z_stream gzip;
    struct blocks blocks;
#ifdef HTTP_HAVE_BROTLI
    BrotliEncoderState *brotli;
#endif
#ifdef HTTP_HAVE_ZSTD
    ZSTD_CCtx *zstd;
#endif
};

struct compress_pool {
    unsigned keep;
    unsigned idle[CODING_COUNT];
    unsigned used;
    struct list lists[CODING_COUNT];
};

/* One call of a library: what it may read and write. */
struct step {
    const char *in;
    size_t in_len;
    char *out;
    size_t out_len;
    bool more; /* call again: output is pending */
};

unsigned compress_codings(void)
{
    unsigned set = CODING_BIT(CODING_GZIP);

#ifdef HTTP_HAVE_BROTLI
    set |= CODING_BIT(CODING_BR);
#endif
#ifdef HTTP_HAVE_ZSTD
    set |= CODING_BIT(CODING_ZSTD);
#endif
    return set;
}

/* gzip */

static int gzip_start(struct compress *c, int level)
{
    if (!c->started) {
        int rc = deflateInit2(&c->gzip, level, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY);

        return rc == Z_OK ? 0 : ERR_NOMEM;
    }
    if (deflateReset(&c->gzip) != Z_OK)
        return ERR_CORRUPT;
    if (level != c->level && deflateParams(&c->gzip, level, Z_DEFAULT_STRATEGY) != Z_OK)
        return ERR_CORRUPT;
    return 0;
}

static int gzip_step(struct compress *c, struct step *s, enum compress_flush flush)
{
    static const int modes[] = {
        [COMPRESS_MORE] = Z_NO_FLUSH,
        [COMPRESS_FLUSH] = Z_SYNC_FLUSH,
        [COMPRESS_FINISH] = Z_FINISH,
    };
    size_t n = MIN(s->in_len, (size_t)INT_MAX);
    bool last = n == s->in_len;
    int rc;

    c->gzip.next_in = (Bytef *)(uintptr_t)s->in;
    c->gzip.avail_in = (uInt)n;
    c->gzip.next_out = (Bytef *)s->out;
    c->gzip.avail_out = (uInt)s->out_len;
    rc = deflate(&c->gzip, last ? modes[flush] : Z_NO_FLUSH);
    s->in += n - c->gzip.avail_in;
    s->in_len -= n - c->gzip.avail_in;
    s->out_len = c->gzip.avail_out;
    if (rc == Z_STREAM_END) {
        s->more = false;
        return 0;
    }
    /* Z_BUF_ERROR: nothing was to be done, as for a flush after a flush. */
    if (rc != Z_OK && rc != Z_BUF_ERROR)
        return ERR_CORRUPT;
    s->more = c->gzip.avail_out == 0 || flush == COMPRESS_FINISH;
    return 0;
}

/* brotli */

#ifdef HTTP_HAVE_BROTLI
static void *blocks_alloc(void *opaque, size_t size)
{
    struct blocks *b = opaque;
    struct block *block;
    size_t total;

    for (size_t i = 0; i < b->n; i++) {
        if (b->v[i]->size != size)
            continue;
        block = b->v[i];
        b->v[i] = b->v[--b->n];
        b->bytes -= size;
        return block->data;
    }
    if (!mem_add(size, sizeof(*block), &total))
        return NULL;
    block = mem_try_resize(NULL, total); /* not zeroed: the library does not ask for it */
    if (!block)
        return NULL;
    block->size = size;
    return block->data;
}

static void blocks_release(void *opaque, void *p)
{
    struct blocks *b = opaque;
    struct block *block;

    if (!p)
        return;
    block = CONTAINER_OF(p, struct block, data);
    if (b->n == BLOCKS || b->bytes + block->size > BLOCKS_BYTES) {
        mem_free(block);
        return;
    }
    b->v[b->n++] = block;
    b->bytes += block->size;
}

static int brotli_start(struct compress *c, int level)
{
    c->brotli = BrotliEncoderCreateInstance(blocks_alloc, blocks_release, &c->blocks);
    if (!c->brotli)
        return ERR_NOMEM;
    if (!BrotliEncoderSetParameter(c->brotli, BROTLI_PARAM_QUALITY, (uint32_t)level) ||
        !BrotliEncoderSetParameter(c->brotli, BROTLI_PARAM_LGWIN, BROTLI_WINDOW)) {
        BrotliEncoderDestroyInstance(c->brotli);
        c->brotli = NULL;
        return ERR_CORRUPT;
    }
    return 0;
}

static int brotli_step(struct compress *c, struct step *s, enum compress_flush flush)
{
    static const BrotliEncoderOperation ops[] = {
        [COMPRESS_MORE] = BROTLI_OPERATION_PROCESS,
        [COMPRESS_FLUSH] = BROTLI_OPERATION_FLUSH,
        [COMPRESS_FINISH] = BROTLI_OPERATION_FINISH,
    };
    const uint8_t *in = (const uint8_t *)s->in;
    uint8_t *out = (uint8_t *)s->out;

    if (!BrotliEncoderCompressStream(
            c->brotli, ops[flush], &s->in_len, &in, &s->out_len, &out, NULL))
        return ERR_CORRUPT;
    s->in = (const char *)in;
    s->more = BrotliEncoderHasMoreOutput(c->brotli) ||
              (flush == COMPRESS_FINISH && !BrotliEncoderIsFinished(c->brotli));
    return 0;
}
#endif

/* zstd */

#ifdef HTTP_HAVE_ZSTD
static int zstd_start(struct compress *c, int level)
{
    if (!c->zstd)
        c->zstd = ZSTD_createCCtx();
    if (!c->zstd)
        return ERR_NOMEM;
    if (ZSTD_isError(ZSTD_CCtx_reset(c->zstd, ZSTD_reset_session_only)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_windowLog, ZSTD_WINDOW)))
        return ERR_CORRUPT;
    return 0;
}

static int zstd_step(struct compress *c, struct step *s, enum compress_flush flush)
{
    static const ZSTD_EndDirective modes[] = {
        [COMPRESS_MORE] = ZSTD_e_continue,
        [COMPRESS_FLUSH] = ZSTD_e_flush,
        [COMPRESS_FINISH] = ZSTD_e_end,
    };
    ZSTD_inBuffer in = {s->in, s->in_len, 0};
    ZSTD_outBuffer out = {s->out, s->out_len, 0};
    size_t left = ZSTD_compressStream2(c->zstd, &out, &in, modes[flush]);

    if (ZSTD_isError(left))
        return ERR_CORRUPT;
    s->in += in.pos;
    s->in_len -= in.pos;
    s->out_len -= out.pos;
    s->more = flush == COMPRESS_MORE ? s->in_len > 0 : left > 0;
    return 0;
}
#endif

static int start(struct compress *c, int level)
{
    switch (c->coding) {
    case CODING_GZIP:
        return gzip_start(c, level);
#ifdef HTTP_HAVE_BROTLI
    case CODING_BR:
        return brotli_start(c, level);
#endif
#ifdef HTTP_HAVE_ZSTD
    case CODING_ZSTD:
        return zstd_start(c, level);
#endif
    default:
        return ERR_UNSUPPORTED;
    }
}

static int step(struct compress *c, struct step *s, enum compress_flush flush)
{
    switch (c->coding) {
    case CODING_GZIP:
        return gzip_step(c, s, flush);
#ifdef HTTP_HAVE_BROTLI
    case CODING_BR:
        return brotli_step(c, s, flush);
#endif
#ifdef HTTP_HAVE_ZSTD
    case CODING_ZSTD:
        return zstd_step(c, s, flush);
#endif
    default:
        return ERR_UNSUPPORTED;
    }
}

/* Ends the stream; what can be used again stays. */
static void stop(struct compress *c)
{
#ifdef HTTP_HAVE_BROTLI
    if (c->brotli)
        BrotliEncoderDestroyInstance(c->brotli);
    c->brotli = NULL;
#endif
}

static void destroy(struct compress *c)
{
    stop(c);
    if (c->coding == CODING_GZIP && c->started)
        (void)deflateEnd(&c->gzip); /* says only that the stream was unfinished */
#ifdef HTTP_HAVE_ZSTD
    (void)ZSTD_freeCCtx(c->zstd); /* cannot fail; NULL is fine */
#endif
    for (size_t i = 0; i < c->blocks.n; i++)
        mem_free(c->blocks.v[i]);
    mem_free(c);
}

struct compress_pool *compress_pool_new(unsigned keep)
{
    struct compress_pool *p = mem_new(sizeof(*p));

    p->keep = keep;
    for (size_t i = 0; i < CODING_COUNT; i++)
        list_init(&p->lists[i]);
    return p;
}

void compress_pool_free(struct compress_pool *p)
{
    if (!p)
        return;
    ENSURE(p->used == 0);
    for (size_t i = 0; i < CODING_COUNT; i++) {
        struct list *l;

        while ((l = list_pop(&p->lists[i])) != NULL)
            destroy(CONTAINER_OF(l, struct compress, link));
    }
    mem_free(p);
}

int compress_open(struct compress_pool *p, enum coding coding, int level, struct compress **out)
{
    struct compress *c;
    struct list *l;
    int err;

    if (coding == CODING_IDENTITY || !(compress_codings() & CODING_BIT(coding)))
        return ERR_UNSUPPORTED;
    level = MAX(1, MIN(level, 9));
    l = list_pop(&p->lists[coding]);
    if (l) {
        c = CONTAINER_OF(l, struct compress, link);
        p->idle[coding]--;
    } else {
        c = mem_new(sizeof(*c));
        list_init(&c->link);
        c->pool = p;
        c->coding = coding;
    }
    err = start(c, level);
    if (err) {
        destroy(c);
        return err;
    }
    c->level = level;
    c->started = true;
    c->ended = false;
    p->used++;
    *out = c;
    return 0;
}

int compress_write(struct compress *c, struct str in, enum compress_flush flush, struct buf *out)
{
    struct step s = {.in = in.p ? in.p : "", .in_len = in.len};

    if (c->ended)
        return ERR_INVAL;
    do {
        int err;

        s.out = buf_reserve(out, CHUNK);
        s.out_len = CHUNK;
        err = step(c, &s, flush);
        if (err) {
            c->ended = true;
            return err;
        }
        out->len += CHUNK - s.out_len;
    } while (s.in_len > 0 || s.more);
    c->ended = flush == COMPRESS_FINISH;
    return 0;
}

void compress_close(struct compress *c)
{
    struct compress_pool *p;

    if (!c)
        return;
    p = c->pool;
    p->used--;
    if (p->idle[c->coding] >= p->keep) {
        destroy(c);
        return;
    }
    stop(c);
    p->idle[c->coding]++;
    list_push_front(&p->lists[c->coding], &c->link);
}

/* Policy */

static bool has_element(struct str list, struct str token)
{
    struct str item = STR_NONE;

    while (field_list_next(&list, &item)) {
        if (str_ieq(item, token))
            return true;
    }
    return false;
}

enum coding compress_decide(
    const struct compress_policy *p, const struct compress_ask *ask, bool *vary)
{
    unsigned set = p->codings & compress_codings();
    struct negotiate n;

    *vary = false;
    if (!p->enabled || set == 0 || response_forbids_body(ask->status) || ask->status == 206)
        return CODING_IDENTITY;
    if (ask->content_encoding.len > 0 && !str_ieq(ask->content_encoding, STR("identity")))
        return CODING_IDENTITY;
    if (!mime_compressible(ask->content_type) ||
        (ask->body_size >= 0 && (uint64_t)ask->body_size < p->min_size) ||
        has_element(ask->cache_control, STR("no-transform")))
        return CODING_IDENTITY;
    *vary = true;
    n = negotiate_parse(ask->accept_encoding);
    return negotiate_choose(&n, set);
}

enum coding compress_decide_fields(const struct compress_policy *p, int status, int64_t body_size,
    const struct fields *response, struct str accept_encoding, bool *vary)
{
    const struct str *type = fields_get(response, STR("Content-Type"));
    struct compress_ask ask = {
        .status = status, .body_size = body_size, .accept_encoding = accept_encoding};

    if (type)
        ask.content_type = *type;
    /* Absent ones leave the empty string. */
    if (!fields_join(response, STR("Content-Encoding"), &ask.content_encoding))
        ask.content_encoding = STR_NONE;
    if (!fields_join(response, STR("Cache-Control"), &ask.cache_control))
        ask.cache_control = STR_NONE;
    return compress_decide(p, &ask, vary);
}

void compress_apply(struct fields *f, enum coding coding, struct arena *a)
{
    static const struct str gone[] = {STR("Content-Length"), STR("Content-MD5"), STR("Digest"),
        STR("Content-Digest"), STR("Accept-Ranges")};
    const struct str *etag;

    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        response_fields_remove(f, gone[i]);
    etag = fields_get(f, STR("ETag"));
    /* The same page compressed twice need not have the same bytes. */
    if (etag && cond_etag_valid(*etag) && !cond_etag_is_weak(*etag))
        response_fields_set(f, STR("ETag"), arena_printf(a, "W/" STR_F, STR_A(*etag)));
    response_fields_set(f, STR("Content-Encoding"), coding_name(coding));
}

void compress_add_vary(struct fields *f, struct arena *a)
{
    if (fields_has_token(f, STR("Vary"), STR("Accept-Encoding")) ||
        fields_has_token(f, STR("Vary"), STR("*")))
        return;
    for (size_t i = 0; i < f->count; i++) {
        struct field *it = &f->items[i];

        if (!str_ieq(it->name, STR("Vary")))
            continue;
        it->value = it->value.len == 0
                        ? STR("Accept-Encoding")
                        : arena_printf(a, STR_F ", Accept-Encoding", STR_A(it->value));
        return;
    }
    fields_add(f, STR("Vary"), STR("Accept-Encoding"));
}
