/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/compress.h"

#include <zlib.h>

#include "base/mem.h"
#include "unit/test.h"

#ifdef HTTP_HAVE_BROTLI
#include <brotli/decode.h>
#endif
#ifdef HTTP_HAVE_ZSTD
#include <zstd.h>
#endif

enum { ROOM = 1 << 20 };

/* Decodes what there is; the stream need not be complete. The length, or -1 when it is broken. */
static long gunzip(struct str in, char *out, bool *end)
{
    z_stream z = {0};
    long n;
    int rc;

    CHECK_INT(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)in.p;
    z.avail_in = (uInt)in.len;
    z.next_out = (Bytef *)out;
    z.avail_out = ROOM;
    rc = inflate(&z, Z_SYNC_FLUSH);
    *end = rc == Z_STREAM_END && z.avail_in == 0;
    n = rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? (long)z.total_out : -1;
    (void)inflateEnd(&z);
    return n;
}

#ifdef HTTP_HAVE_BROTLI
static long unbrotli(struct str in, char *out, bool *end)
{
    BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *next = (const uint8_t *)in.p;
    uint8_t *to = (uint8_t *)out;
    size_t left = in.len, room = ROOM, total = 0;
    BrotliDecoderResult rc = BrotliDecoderDecompressStream(s, &left, &next, &room, &to, &total);

    *end = rc == BROTLI_DECODER_RESULT_SUCCESS && left == 0;
    BrotliDecoderDestroyInstance(s);
    return rc == BROTLI_DECODER_RESULT_ERROR ? -1 : (long)total;
}
#endif

#ifdef HTTP_HAVE_ZSTD
static long unzstd(struct str in, char *out, bool *end)
{
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_inBuffer i = {in.p, in.len, 0};
    ZSTD_outBuffer o = {out, ROOM, 0};
    size_t rc;

    /* What RFC 9659 lets a client refuse. */
    CHECK(!ZSTD_isError(ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, 23)));
    do {
        rc = ZSTD_decompressStream(d, &o, &i);
    } while (!ZSTD_isError(rc) && i.pos < i.size);
    *end = rc == 0;
    (void)ZSTD_freeDCtx(d);
    return ZSTD_isError(rc) ? -1 : (long)o.pos;
}
#endif

typedef long decode_cb(struct str in, char *out, bool *end);

static decode_cb *const decoders[CODING_COUNT] = {
    [CODING_GZIP] = gunzip,
#ifdef HTTP_HAVE_BROTLI
    [CODING_BR] = unbrotli,
#endif
#ifdef HTTP_HAVE_ZSTD
    [CODING_ZSTD] = unzstd,
#endif
};

static void fill(struct buf *b, size_t n, unsigned seed)
{
    buf_clear(b);
    while (b->len < n) {
        seed = seed * 1103515245 + 12345;
        buf_printf(b, "<li class=\"item\">%u</li>\n", seed >> 16);
    }
    b->len = n;
}

static void round_trip(struct compress_pool *pool, enum coding coding, int level, struct str text,
    size_t step, char *room)
{
    struct compress *c = NULL;
    struct buf out = {0};
    bool end = false;
    long n;

    CHECK_INT(compress_open(pool, coding, level, &c), 0);
    for (size_t i = 0; i < text.len; i += step)
        CHECK_INT(compress_write(c, str_sub(text, i, step), COMPRESS_MORE, &out), 0);
    CHECK_INT(compress_write(c, STR_NONE, COMPRESS_FINISH, &out), 0);
    CHECK_INT(compress_write(c, STR("x"), COMPRESS_FINISH, &out), ERR_INVAL);
    compress_close(c);
    n = decoders[coding](buf_str(&out), room, &end);
    CHECK(end);
    CHECK_INT(n, text.len);
    CHECK(n == (long)text.len && (n == 0 || memcmp(room, text.p, text.len) == 0));
    if (text.len > 10000)
        CHECK(out.len < text.len / 2);
    buf_fini(&out);
}

static void test_compress_round_trips(void)
{
    static const size_t sizes[] = {0, 1, 100, 5000, 70000, 600000};
    static const int levels[] = {1, 4, 6, 9, 0, 99};
    struct compress_pool *pool = compress_pool_new(1);
    char *room = mem_new(ROOM);
    struct buf text = {0};

    for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
        if (!(compress_codings() & CODING_BIT(coding)))
            continue;
        test_row(coding_name((enum coding)coding).p);
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            fill(&text, sizes[i], (unsigned)i);
            /* The pool keeps one encoder, so all but the first stream use it again. */
            round_trip(pool, (enum coding)coding, levels[i], buf_str(&text), 999, room);
            round_trip(pool, (enum coding)coding, levels[i], buf_str(&text), ROOM, room);
        }
    }
    test_row(NULL);
    buf_fini(&text);
    mem_free(room);
    compress_pool_free(pool);
}

static void test_compress_flush_is_decodable_at_once(void)
{
    struct compress_pool *pool = compress_pool_new(2);
    char *room = mem_new(ROOM);

    for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
        struct compress *c = NULL;
        struct buf out = {0};
        bool end = true;

        if (!(compress_codings() & CODING_BIT(coding)))
            continue;
        test_row(coding_name((enum coding)coding).p);
        CHECK_INT(compress_open(pool, (enum coding)coding, 1, &c), 0);
        CHECK_INT(compress_write(c, STR("data: 1\n\n"), COMPRESS_FLUSH, &out), 0);
        CHECK_INT(decoders[coding](buf_str(&out), room, &end), 9);
        CHECK(!end);
        CHECK_INT(compress_write(c, STR_NONE, COMPRESS_FLUSH, &out), 0);
        CHECK_INT(compress_write(c, STR("data: 2\n\n"), COMPRESS_FLUSH, &out), 0);
        CHECK_INT(decoders[coding](buf_str(&out), room, &end), 18);
        CHECK_STR(str_n(room, 18), "data: 1\n\ndata: 2\n\n");
        CHECK_INT(compress_write(c, STR("!"), COMPRESS_FINISH, &out), 0);
        CHECK_INT(decoders[coding](buf_str(&out), room, &end), 19);
        CHECK(end);
        compress_close(c);
        buf_fini(&out);
    }
    test_row(NULL);
    mem_free(room);
    compress_pool_free(pool);
}

static void test_compress_abandoned_stream_leaves_no_trace(void)
{
    struct compress_pool *pool = compress_pool_new(1);
    char *room = mem_new(ROOM);
    struct buf text = {0};

    fill(&text, 50000, 1);
    for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
        struct compress *c = NULL, *d = NULL;
        struct buf out = {0};

        if (!(compress_codings() & CODING_BIT(coding)))
            continue;
        test_row(coding_name((enum coding)coding).p);
        CHECK_INT(compress_open(pool, (enum coding)coding, 6, &c), 0);
        CHECK_INT(compress_open(pool, (enum coding)coding, 6, &d), 0);
        CHECK_INT(compress_write(c, buf_str(&text), COMPRESS_MORE, &out), 0);
        CHECK_INT(compress_write(d, buf_str(&text), COMPRESS_FLUSH, &out), 0);
        compress_close(c);
        compress_close(d); /* one more than is kept */
        round_trip(pool, (enum coding)coding, 2, buf_str(&text), 4096, room);
        buf_fini(&out);
    }
    test_row(NULL);
    CHECK_INT(compress_open(pool, CODING_IDENTITY, 1, &(struct compress *){NULL}), ERR_UNSUPPORTED);
    compress_close(NULL);
    compress_pool_free(pool);
    compress_pool_free(NULL);
    buf_fini(&text);
    mem_free(room);
}

static void test_compress_decide_cases(void)
{
    static const struct {
        const char *name;
        int status;
        int64_t size;
        const char *type, *encoding, *cache, *accept;
        enum coding want;
        bool vary;
    } rows[] = {
        {"html", 200, 5000, "text/html; charset=UTF-8", NULL, NULL, "gzip", CODING_GZIP, true},
        {"streamed", 200, -1, "text/event-stream", NULL, NULL, "gzip", CODING_GZIP, true},
        {"error page", 404, 5000, "text/html", NULL, NULL, "gzip", CODING_GZIP, true},
        {"json", 200, 5000, "application/json", NULL, "no-store", "gzip", CODING_GZIP, true},
        {"not asked", 200, 5000, "text/html", NULL, NULL, NULL, CODING_IDENTITY, true},
        {"image", 200, 5000, "image/png", NULL, NULL, "gzip", CODING_IDENTITY, false},
        {"no type", 200, 5000, "", NULL, NULL, "gzip", CODING_IDENTITY, false},
        {"small", 200, 1023, "text/html", NULL, NULL, "gzip", CODING_IDENTITY, false},
        {"just large enough", 200, 1024, "text/html", NULL, NULL, "gzip", CODING_GZIP, true},
        {"coded", 200, 5000, "text/html", "gzip", NULL, "gzip", CODING_IDENTITY, false},
        {"identity named", 200, 5000, "text/html", "identity", NULL, "gzip", CODING_GZIP, true},
        {"no-transform", 200, 5000, "text/html", NULL, "public, No-Transform", "gzip",
            CODING_IDENTITY, false},
        {"204", 204, -1, "text/html", NULL, NULL, "gzip", CODING_IDENTITY, false},
        {"206", 206, 5000, "text/html", NULL, NULL, "gzip", CODING_IDENTITY, false},
        {"304", 304, -1, "text/html", NULL, NULL, "gzip", CODING_IDENTITY, false},
    };
    struct compress_policy p = {true, 1, 1024, CODING_ALL};
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields f;
        bool vary = !rows[i].vary;

        test_row(rows[i].name);
        fields_init(&f, &a);
        fields_add(&f, STR("content-type"), str_c(rows[i].type));
        if (rows[i].encoding)
            fields_add(&f, STR("Content-Encoding"), str_c(rows[i].encoding));
        if (rows[i].cache)
            fields_add(&f, STR("Cache-Control"), str_c(rows[i].cache));
        CHECK_INT(compress_decide_fields(
                      &p, rows[i].status, rows[i].size, &f, str_c(rows[i].accept), &vary),
            rows[i].want);
        CHECK_INT(vary, rows[i].vary);
        p.enabled = false;
        CHECK_INT(compress_decide_fields(
                      &p, rows[i].status, rows[i].size, &f, str_c(rows[i].accept), &vary),
            CODING_IDENTITY);
        CHECK(!vary);
        p.enabled = true;
    }
    test_row(NULL);
    arena_fini(&a);
}

static void test_compress_apply_changes_fields(void)
{
    static const struct {
        const char *etag, *want;
    } rows[] = {{"\"a\"", "W/\"a\""}, {"W/\"a\"", "W/\"a\""}, {"bare", "bare"}};
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields f;

        fields_init(&f, &a);
        fields_add(&f, STR("Content-Length"), STR("5"));
        fields_add(&f, STR("accept-ranges"), STR("bytes"));
        fields_add(&f, STR("ETag"), str_c(rows[i].etag));
        fields_add(&f, STR("Content-Encoding"), STR("identity"));
        compress_apply(&f, CODING_BR, &a);
        CHECK_INT(f.count, 2);
        CHECK_STR(*fields_get(&f, STR("etag")), rows[i].want);
        CHECK_STR(*fields_get(&f, STR("content-encoding")), "br");
    }
    arena_fini(&a);
}

static void test_compress_add_vary_does_not_repeat(void)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        {NULL, "Accept-Encoding"},
        {"Cookie", "Cookie, Accept-Encoding"},
        {"accept-encoding", "accept-encoding"},
        {"Cookie,Accept-Encoding", "Cookie,Accept-Encoding"},
        {"*", "*"},
        {"", "Accept-Encoding"},
    };
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fields f;

        test_row(rows[i].before);
        fields_init(&f, &a);
        if (rows[i].before)
            fields_add(&f, STR("vary"), str_c(rows[i].before));
        compress_add_vary(&f, &a);
        compress_add_vary(&f, &a);
        CHECK_INT(f.count, 1);
        CHECK_STR(f.items[0].value, rows[i].after);
    }
    test_row(NULL);
    arena_fini(&a);
}

const struct test tests_compress[] = {
    TEST(test_compress_round_trips),
    TEST(test_compress_flush_is_decodable_at_once),
    TEST(test_compress_abandoned_stream_leaves_no_trace),
    TEST(test_compress_decide_cases),
    TEST(test_compress_apply_changes_fields),
    TEST(test_compress_add_vary_does_not_repeat),
    TEST_END,
};
