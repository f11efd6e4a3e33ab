/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/json.h"

#include "unit/test.h"

extern const struct test tests_json[];

static void test_json_writer_puts_commas(void)
{
    struct buf b = {0};
    struct json_writer w = JSON_WRITER(&b);

    json_open_object(&w);
    json_add_str(&w, "s", STR("a\"\n\xff"));
    json_add_int(&w, "i", INT64_MIN);
    json_add_uint(&w, "u", UINT64_MAX);
    json_add_float(&w, "f", 1.5);
    json_add_float(&w, "inf", 1e308 * 10);
    json_add_bool(&w, "b", true);
    json_add_str(&w, "none", STR_NONE);
    json_key(&w, "list");
    json_open_array(&w);
    json_int(&w, 1);
    json_open_array(&w);
    json_close_array(&w);
    json_open_object(&w);
    json_close_object(&w);
    json_null(&w);
    json_close_array(&w);
    json_close_object(&w);
    CHECK_STR(buf_str(&b), "{\"s\":\"a\\\"\\n\\ufffd\",\"i\":-9223372036854775808,\"u\":"
                           "18446744073709551615,\"f\":1.5,\"inf\":null,\"b\":true,\"none\":null,"
                           "\"list\":[1,[],{},null]}");
    buf_fini(&b);
}

static void write_value(struct json_writer *w, const struct json_value *v)
{
    switch (v->kind) {
    case JSON_NULL:
        json_null(w);
        break;
    case JSON_BOOL:
        json_bool(w, v->b);
        break;
    case JSON_NUMBER:
        if (v->is_int)
            json_int(w, v->i);
        else
            json_float(w, v->number);
        break;
    case JSON_STRING:
        json_str(w, v->s);
        break;
    case JSON_ARRAY:
        json_open_array(w);
        for (const struct json_value *c = v->first; c; c = c->next)
            write_value(w, c);
        json_close_array(w);
        break;
    case JSON_OBJECT:
        json_open_object(w);
        for (const struct json_value *c = v->first; c; c = c->next) {
            json_key(w, c->key.p);
            write_value(w, c);
        }
        json_close_object(w);
        break;
    }
}

static void test_json_parse_reads_back(void)
{
    static const struct {
        const char *text;
        const char *want; /* NULL: refused */
    } rows[] = {
        {"null", "null"},
        {" true ", "true"},
        {"false", "false"},
        {"0", "0"},
        {"-0", "0"},
        {"-12", "-12"},
        {"1.5e2", "150"},
        {"1E+2", "100"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9.22337203685478e+18"},
        {"\"a\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\"",
            "\"a\xc3\xa9\xf0\x9f\x98\x80/\\u0008\\u000c\\n\\r\\t\""},
        {"[]", "[]"},
        {"[ 1 , \"x\" , [ ] ]", "[1,\"x\",[]]"},
        {"{}", "{}"},
        {"{ \"a\" : { \"b\" : [ null ] } }", "{\"a\":{\"b\":[null]}}"},
        {"", NULL},
        {" ", NULL},
        {"nul", NULL},
        {"nulll", NULL},
        {"True", NULL},
        {"01", NULL},
        {"+1", NULL},
        {"1.", NULL},
        {".5", NULL},
        {"1e", NULL},
        {"-", NULL},
        {"'a'", NULL},
        {"\"a", NULL},
        {"\"\\x\"", NULL},
        {"\"\\u12\"", NULL},
        {"\"\\ud800\"", NULL},
        {"\"\\udc00\"", NULL},
        {"\"\\ud800\\u0041\"", NULL},
        {"\"\n\"", NULL},
        {"\"\xff\"", NULL},
        {"[1,]", NULL},
        {"[,1]", NULL},
        {"[1 2]", NULL},
        {"[1", NULL},
        {"{\"a\"}", NULL},
        {"{\"a\":1,}", NULL},
        {"{\"a\":1,\"a\":2}", NULL},
        {"{a:1}", NULL},
        {"{\"a\":1", NULL},
        {"1 2", NULL},
        {"[]]", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct buf b = {0};
        struct json_writer w = JSON_WRITER(&b);
        struct json_value *v = NULL;
        struct err err = {0};
        int rc;

        test_row(rows[i].text);
        rc = json_parse(&a, str_c(rows[i].text), &v, &err);
        CHECK_INT(rc, rows[i].want ? 0 : ERR_INVAL);
        if (rc == 0)
            write_value(&w, v);
        else
            CHECK(err.text[0] && err.col > 0);
        if (rc == 0 && rows[i].want)
            CHECK_STR(buf_str(&b), rows[i].want);
        buf_fini(&b);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_json_parse_bounds_depth(void)
{
    struct arena a = {0};
    struct buf b = {0};
    struct json_value *v;
    struct err err;

    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add_char(&b, '[');
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add_char(&b, ']');
    CHECK_INT(json_parse(&a, buf_str(&b), &v, &err), 0);
    buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        buf_add_char(&b, '[');
    CHECK_INT(json_parse(&a, buf_str(&b), &v, &err), ERR_INVAL);
    buf_fini(&b);
    arena_fini(&a);
}

static void test_json_getters_have_defaults(void)
{
    struct arena a = {0};
    struct json_value *v;
    struct err err;

    CHECK_INT(
        json_parse(&a, STR("{\"s\":\"x\\u0000y\",\"n\":7,\"f\":1.5,\"b\":true}"), &v, &err), 0);
    CHECK_INT(json_get_str(v, "s").len, 3);
    CHECK(json_get_str(v, "n").p == NULL);
    CHECK(json_get_str(NULL, "n").p == NULL);
    CHECK_INT(json_get_int(v, "n", 1), 7);
    CHECK_INT(json_get_int(v, "f", 1), 1);
    CHECK_INT(json_get_int(v, "none", 1), 1);
    CHECK(json_get_bool(v, "b", false));
    CHECK(json_get_bool(v, "s", true));
    arena_fini(&a);
}

const struct test tests_json[] = {
    TEST(test_json_writer_puts_commas),
    TEST(test_json_parse_reads_back),
    TEST(test_json_parse_bounds_depth),
    TEST(test_json_getters_have_defaults),
    TEST_END,
};
