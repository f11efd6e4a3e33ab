/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/error_page.h"

#include "base/err.h"
#include "unit/test.h"

static void test_error_page_choose_prefers(void)
{
    static const struct {
        const char *accept;
        enum error_page_kind want;
    } rows[] = {
        {NULL, ERROR_PAGE_HTML},
        {"*/*", ERROR_PAGE_HTML},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", ERROR_PAGE_HTML},
        {"application/json", ERROR_PAGE_JSON},
        {"application/json, text/plain, */*", ERROR_PAGE_JSON},
        {"application/json, text/html", ERROR_PAGE_HTML},
        {"application/json, */*;q=0.5", ERROR_PAGE_JSON},
        {"text/plain", ERROR_PAGE_TEXT},
        {"text/plain, text/html;q=0.5", ERROR_PAGE_TEXT},
        {"image/png", ERROR_PAGE_HTML},
        {"", ERROR_PAGE_HTML},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].accept);
        CHECK_INT(error_page_choose(str_c(rows[i].accept)), rows[i].want);
    }
    test_row(NULL);
}

static void test_error_page_write_escapes_and_names_no_server(void)
{
    struct buf b = {0};

    error_page_write(&b, ERROR_PAGE_HTML, 404, STR("<script>"), STR("id\"1"));
    CHECK(str_find(buf_str(&b), STR("<title>404 Not Found</title>")) > 0);
    CHECK(str_find(buf_str(&b), STR("<script>")) < 0);
    CHECK(str_find(buf_str(&b), STR("&lt;script&gt;")) > 0);
    CHECK(str_find(buf_str(&b), STR("id\"1")) < 0);
    CHECK(str_find(buf_str(&b), STR("ephpm")) < 0);
    CHECK(str_find(buf_str(&b), STR(EPHPM_VERSION)) < 0);
    buf_clear(&b);
    error_page_write(&b, ERROR_PAGE_HTML, 500, STR(""), STR(""));
    CHECK(str_find(buf_str(&b), STR("<p>")) < 0);
    buf_clear(&b);
    error_page_write(&b, ERROR_PAGE_TEXT, 503, STR("Come back."), STR("7"));
    CHECK_STR(buf_str(&b), "503 Service Unavailable\nCome back.\nRequest 7\n");
    buf_clear(&b);
    error_page_write(&b, ERROR_PAGE_JSON, 429, STR("a\"b"), STR(""));
    CHECK_STR(
        buf_str(&b), "{\"status\":429,\"error\":\"Too Many Requests\",\"detail\":\"a\\\"b\"}\n");
    buf_fini(&b);
    CHECK_STR(error_page_type(ERROR_PAGE_JSON), "application/json; charset=utf-8");
}

static void test_error_page_find_exact_before_class(void)
{
    static const struct error_page_file v[] = {
        {4, {"c4", 2}}, {404, {"p404", 4}}, {503, {"p503", 4}}};
    static const struct {
        const char *text;
        int want; /* 0: refused */
    } rows[] = {{"404", 404}, {"4xx", 4}, {"5XX", 5}, {"200", 0}, {"3xx", 0}, {"", 0}, {"40", 0},
        {"4040", 0}, {"4x4", 0}, {"600", 0}};

    CHECK_STR(error_page_find(v, 3, 404)->path, "p404");
    CHECK_STR(error_page_find(v, 3, 403)->path, "c4");
    CHECK_STR(error_page_find(v, 3, 503)->path, "p503");
    CHECK(error_page_find(v, 3, 500) == NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int status = 0, err = error_page_parse_status(str_c(rows[i].text), &status);

        test_row(rows[i].text);
        CHECK_INT(err, rows[i].want ? 0 : ERR_INVAL);
        CHECK_INT(status, rows[i].want);
    }
    test_row(NULL);
}

const struct test tests_error_page[] = {
    TEST(test_error_page_choose_prefers),
    TEST(test_error_page_write_escapes_and_names_no_server),
    TEST(test_error_page_find_exact_before_class),
    TEST_END,
};
