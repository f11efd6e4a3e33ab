/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/static.h"

#include "unit/test.h"

enum { BR = 1 << CODING_BR, ZSTD = 1 << CODING_ZSTD, GZIP = 1 << CODING_GZIP, OLD = 1 << 8 };

#define AT   "Sun, 06 Nov 1994 08:49:37 GMT"
#define ETAG "\"2ebc98a1-3e8\""

static bool sibling(void *arg, enum coding coding, struct fs_stat *out)
{
    unsigned set = *(unsigned *)arg;

    *out = (struct fs_stat){.kind = FS_FILE,
        .size = 100 + (unsigned)coding,
        .mtime_ns = (784111777 - (set & OLD ? 5 : 0)) * 1000000000LL};
    return (set & CODING_BIT(coding)) != 0;
}

static void add_fields(struct fields *f, const char *text)
{
    struct str rest = str_c(text), line;

    while (str_split(&rest, '|', &line)) {
        ptrdiff_t colon = str_chr(line, ':');

        if (colon > 0)
            fields_add(f, str_sub(line, 0, (size_t)colon),
                str_trim(str_sub(line, (size_t)colon + 1, line.len)));
    }
}

/* The plan as text: "status length [variant] [encode] Name=value ...". */
static void describe(struct buf *b, const struct static_plan *p)
{
    buf_clear(b);
    buf_printf(b, "%d %llu", p->status, (unsigned long long)p->length);
    if (p->variant)
        buf_printf(b, " variant=" STR_F, STR_A(coding_name(p->variant)));
    if (p->encode)
        buf_printf(b, " encode=" STR_F, STR_A(coding_name(p->encode)));
    if (p->error_page)
        buf_add_lit(b, " error");
    for (size_t i = 0; i < p->fields.count; i++)
        buf_printf(b, " " STR_F "=" STR_F, STR_A(p->fields.items[i].name),
            STR_A(p->fields.items[i].value));
    for (size_t i = 0; i < p->nsegments; i++) {
        if (!p->segments[i].mem.p)
            buf_printf(b, " [%llu+%llu]", (unsigned long long)p->segments[i].off,
                (unsigned long long)p->segments[i].len);
    }
}

#define CSS    " Content-Type=text/css; charset=utf-8"
#define VALID  " Last-Modified=" AT " ETag=" ETAG
#define CACHE  " Cache-Control=max-age=60"
#define VARY   " Vary=Accept-Encoding"
#define RANGES " Accept-Ranges=bytes"

static const struct {
    const char *name, *method, *path, *request;
    unsigned siblings;
    bool compress;
    const char *want;
} plan_rows[] = {
    {"get", "GET", "a.css", "", 0, false, "200 1000" CSS VALID CACHE RANGES " [0+1000]"},
    {"head", "HEAD", "a.css", "", 0, false, "200 1000" CSS VALID CACHE RANGES},
    {"post", "POST", "a.css", "", BR, true, "405 0 error Allow=GET, HEAD"},
    {"options", "OPTIONS", "a.css", "", 0, false, "405 0 error Allow=GET, HEAD"},
    {"lower case method", "get", "a.css", "", 0, false, "405 0 error Allow=GET, HEAD"},
    {"304 etag", "GET", "a.css", "If-None-Match: \"x\", W/" ETAG, 0, false, "304 0" VALID CACHE},
    {"304 etag in second field", "GET", "a.css", "If-None-Match: \"x\"|If-None-Match: " ETAG, 0,
        false, "304 0" VALID CACHE},
    {"304 head", "HEAD", "a.css", "If-None-Match: *", 0, false, "304 0" VALID CACHE},
    {"304 date", "GET", "a.css", "If-Modified-Since: " AT, 0, false, "304 0" VALID CACHE},
    {"304 keeps vary", "GET", "a.css", "If-None-Match: *", BR, false, "304 0" VALID CACHE VARY},
    {"412", "GET", "a.css", "If-Match: \"x\"", 0, false, "412 0 error"},
    {"416", "GET", "a.css", "Range: bytes=1000-", 0, false,
        "416 0 error Content-Range=bytes */1000"},
    {"304 before 416", "GET", "a.css", "Range: bytes=1000-|If-None-Match: " ETAG, 0, false,
        "304 0" VALID CACHE},
    {"206", "GET", "a.css", "Range: bytes=0-3", 0, false,
        "206 4" CSS " Content-Range=bytes 0-3/1000" VALID CACHE RANGES " [0+4]"},
    {"206 suffix", "GET", "a.css", "Range: bytes=-10", 0, false,
        "206 10" CSS " Content-Range=bytes 990-999/1000" VALID CACHE RANGES " [990+10]"},
    {"bad range", "GET", "a.css", "Range: bytes=x", 0, false,
        "200 1000" CSS VALID CACHE RANGES " [0+1000]"},
    {"head ignores range", "HEAD", "a.css", "Range: bytes=0-3", 0, false,
        "200 1000" CSS VALID CACHE RANGES},
    {"if-range matches", "GET", "a.css", "Range: bytes=0-3|If-Range: " ETAG, 0, false,
        "206 4" CSS " Content-Range=bytes 0-3/1000" VALID CACHE RANGES " [0+4]"},
    {"if-range differs", "GET", "a.css", "Range: bytes=0-3|If-Range: \"x\"", 0, false,
        "200 1000" CSS VALID CACHE RANGES " [0+1000]"},
    {"sibling br", "GET", "a.css", "Accept-Encoding: gzip, br", BR | GZIP, false,
        "200 103 variant=br" CSS " Last-Modified=" AT " ETag=\"2ebc98a1-67\"" CACHE VARY
        " Content-Encoding=br" RANGES " [0+103]"},
    {"sibling head", "HEAD", "a.css", "Accept-Encoding: gzip", GZIP, false,
        "200 101 variant=gzip" CSS " Last-Modified=" AT " ETag=\"2ebc98a1-65\"" CACHE VARY
        " Content-Encoding=gzip" RANGES},
    {"sibling not accepted", "GET", "a.css", "", BR, false,
        "200 1000" CSS VALID CACHE VARY RANGES " [0+1000]"},
    {"sibling stale", "GET", "a.css", "Accept-Encoding: br", BR | OLD, false,
        "200 1000" CSS VALID CACHE RANGES " [0+1000]"},
    {"sibling before dynamic", "GET", "a.css", "Accept-Encoding: gzip, br", GZIP, true,
        "200 101 variant=gzip" CSS " Last-Modified=" AT " ETag=\"2ebc98a1-65\"" CACHE VARY
        " Content-Encoding=gzip" RANGES " [0+101]"},
    {"sibling and range: identity", "GET", "a.css", "Accept-Encoding: br|Range: bytes=0-3", BR,
        false, "206 4" CSS " Content-Range=bytes 0-3/1000" VALID CACHE VARY RANGES " [0+4]"},
    {"sibling 304", "GET", "a.css", "Accept-Encoding: br|If-None-Match: \"2ebc98a1-67\"", BR, false,
        "304 0 Last-Modified=" AT " ETag=\"2ebc98a1-67\"" CACHE VARY},
    {"dynamic", "GET", "a.css", "Accept-Encoding: gzip", 0, true,
        "200 0 encode=gzip" CSS " Last-Modified=" AT " ETag=W/" ETAG CACHE VARY
        " Content-Encoding=gzip [0+1000]"},
    {"dynamic head", "HEAD", "a.css", "Accept-Encoding: gzip", 0, true,
        "200 0 encode=gzip" CSS " Last-Modified=" AT " ETag=W/" ETAG CACHE VARY
        " Content-Encoding=gzip"},
    {"dynamic refused", "GET", "a.css", "Accept-Encoding: gzip;q=0", 0, true,
        "200 1000" CSS VALID CACHE VARY RANGES " [0+1000]"},
    {"dynamic 304", "GET", "a.css", "Accept-Encoding: gzip|If-None-Match: W/" ETAG, 0, true,
        "304 0 Last-Modified=" AT " ETag=W/" ETAG CACHE VARY},
    {"dynamic not for images", "GET", "a.png", "Accept-Encoding: gzip", 0, true,
        "200 1000 Content-Type=image/png" VALID CACHE RANGES " [0+1000]"},
    {"dynamic and range: identity", "GET", "a.css", "Accept-Encoding: gzip|Range: bytes=5-5", 0,
        true, "206 1" CSS " Content-Range=bytes 5-5/1000" VALID CACHE VARY RANGES " [5+1]"},
};

static void test_static_plan_cases(void)
{
    struct compress_policy policy = {true, 1, 500, CODING_ALL};
    struct buf b = {0};
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(plan_rows); i++) {
        struct fs_stat st = {.kind = FS_FILE, .size = 1000, .mtime_ns = 784111777LL * 1000000000};
        struct static_config cfg = {.etag = true,
            .precompressed = true,
            .cache_control = STR("max-age=60"),
            .compress = plan_rows[i].compress ? &policy : NULL};
        unsigned set = plan_rows[i].siblings;
        struct fields request;
        struct static_ask ask = {.method = str_c(plan_rows[i].method),
            .request = &request,
            .path = str_c(plan_rows[i].path),
            .st = &st,
            .sibling = sibling,
            .sibling_arg = &set};
        struct static_plan plan;

        test_row(plan_rows[i].name);
        fields_init(&request, &a);
        add_fields(&request, plan_rows[i].request);
        static_plan(&cfg, &ask, &a, &plan);
        describe(&b, &plan);
        CHECK_STR(buf_str(&b), plan_rows[i].want);
        arena_reset(&a);
    }
    test_row(NULL);
    buf_fini(&b);
    arena_fini(&a);
}

static void test_static_plan_multipart_adds_up(void)
{
    struct fs_stat st = {.kind = FS_FILE, .size = 100, .mtime_ns = 0};
    struct static_config cfg = {.etag = false};
    struct arena a = {0};
    struct fields request;
    struct static_ask ask = {
        .method = STR("GET"), .request = &request, .path = STR("x.txt"), .st = &st, .boundary = 7};
    struct static_plan plan;
    struct buf body = {0};
    uint64_t total = 0;

    fields_init(&request, &a);
    add_fields(&request, "Range: bytes=0-0,50-59,-5");
    static_plan(&cfg, &ask, &a, &plan);
    CHECK_INT(plan.status, 206);
    CHECK_INT(plan.nsegments, 7);
    for (size_t i = 0; i < plan.nsegments; i++) {
        total += plan.segments[i].len;
        if (plan.segments[i].mem.p)
            buf_add_str(&body, plan.segments[i].mem);
        else
            buf_printf(&body, "<%d+%d>", (int)plan.segments[i].off, (int)plan.segments[i].len);
    }
    CHECK(total == plan.length);
    CHECK_STR(*fields_get(&plan.fields, STR("Content-Type")),
        "multipart/byteranges; boundary=00000000000000000007");
    CHECK(fields_get(&plan.fields, STR("Content-Range")) == NULL);
    CHECK_STR(buf_str(&body),
        "\r\n--00000000000000000007\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Range: bytes 0-0/100\r\n\r\n<0+1>"
        "\r\n--00000000000000000007\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Range: bytes 50-59/100\r\n\r\n<50+10>"
        "\r\n--00000000000000000007\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Content-Range: bytes 95-99/100\r\n\r\n<95+5>"
        "\r\n--00000000000000000007--\r\n");
    buf_fini(&body);
    arena_fini(&a);
}

static void test_static_plan_empty_file_and_options(void)
{
    struct fs_stat st = {.kind = FS_FILE, .size = 0, .mtime_ns = 784111777LL * 1000000000};
    struct compress_policy policy = {true, 1, 0, CODING_ALL};
    struct static_config cfg = {.compress = &policy, .compress_max = 10};
    struct arena a = {0};
    struct fields request;
    struct static_ask ask = {
        .method = STR("GET"), .request = &request, .path = STR("x.css"), .st = &st};
    struct static_plan plan;
    struct buf b = {0};

    fields_init(&request, &a);
    static_plan(&cfg, &ask, &a, &plan);
    CHECK_INT(plan.nsegments, 0);
    describe(&b, &plan);
    CHECK_STR(buf_str(&b), "200 0" CSS " Last-Modified=" AT VARY RANGES);
    st.size = 11; /* over compress_max */
    add_fields(&request, "Accept-Encoding: gzip");
    static_plan(&cfg, &ask, &a, &plan);
    describe(&b, &plan);
    CHECK_STR(buf_str(&b), "200 11" CSS " Last-Modified=" AT RANGES " [0+11]");
    buf_fini(&b);
    arena_fini(&a);
}

const struct test tests_static[] = {
    TEST(test_static_plan_cases),
    TEST(test_static_plan_multipart_adds_up),
    TEST(test_static_plan_empty_file_and_options),
    TEST_END,
};
