/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/mime.h"

#include "unit/test.h"

static void test_mime_of_path_finds_types(void)
{
    static const struct {
        const char *path, *type;
        bool compressible;
    } rows[] = {
        {"/a/index.html", "text/html; charset=utf-8", true},
        {"style.css", "text/css; charset=utf-8", true},
        {"app.js", "text/javascript; charset=utf-8", true},
        {"app.mjs", "text/javascript; charset=utf-8", true},
        {"d.json", "application/json; charset=utf-8", true},
        {"app.js.map", "application/json; charset=utf-8", true},
        {"site.webmanifest", "application/manifest+json", true},
        {"feed.xml", "application/xml", true},
        {"i.svg", "image/svg+xml", true},
        {"i.svgz", "image/svg+xml", false},
        {"m.wasm", "application/wasm", true},
        {"p.png", "image/png", false},
        {"P.JPG", "image/jpeg", false},
        {"p.avif", "image/avif", false},
        {"p.webp", "image/webp", false},
        {"f.woff2", "font/woff2", false},
        {"f.woff", "font/woff", false},
        {"f.ttf", "font/ttf", true},
        {"v.mp4", "video/mp4", false},
        {"v.webm", "video/webm", false},
        {"a.mp3", "audio/mpeg", false},
        {"a.7z", "application/x-7z-compressed", false},
        {"a.3gp", "video/3gpp", false},
        {"z.zst", "application/zstd", false},
        {"favicon.ico", "image/x-icon", true},
        {"r.pdf", "application/pdf", false},
        {"readme.md", "text/markdown; charset=utf-8", true},
        {"robots.txt", "text/plain; charset=utf-8", true},
        {"x.unknownext", "application/octet-stream", false},
        {"noext", "application/octet-stream", false},
        {"", "application/octet-stream", false},
        {"dot.", "application/octet-stream", false},
        {"/dir.html/file", "application/octet-stream", false},
        {"a.thisextensionisfartoolong", "application/octet-stream", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct mime *m = mime_of_path(str_c(rows[i].path));

        test_row(rows[i].path);
        CHECK_STR(m->type, rows[i].type);
        CHECK_INT(m->compressible, rows[i].compressible);
        /* The table and the rule for PHP's own types agree, but for files compressed by name. */
        if (strcmp(rows[i].path, "i.svgz") != 0)
            CHECK_INT(mime_compressible(m->type), m->compressible);
    }
    test_row(NULL);
}

static void test_mime_compressible_ignores_case_and_parameters(void)
{
    static const struct {
        const char *type;
        bool want;
    } rows[] = {
        {"text/html", true},
        {"TEXT/HTML;charset=UTF-8", true},
        {"application/ld+json", true},
        {"application/problem+JSON; x=y", true},
        {"application/x-javascript", true},
        {"application/rss+xml", true},
        {"text/event-stream", true},
        {"image/svg+xml", true},
        {"image/png", false},
        {"application/zip; note=json", false},
        {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", false},
        {"", false},
        {";", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].type);
        CHECK_INT(mime_compressible(str_c(rows[i].type)), rows[i].want);
    }
    test_row(NULL);
}

const struct test tests_mime[] = {
    TEST(test_mime_of_path_finds_types),
    TEST(test_mime_compressible_ignores_case_and_parameters),
    TEST_END,
};
