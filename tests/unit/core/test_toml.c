/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/toml.h"

#include "base/buf.h"
#include "unit/test.h"

extern const struct test tests_toml[];

/* What is and what is not TOML is compared with another parser in toml_peer.py; here are places and
 * texts of errors. */

static void test_toml_errors_have_places(void)
{
    static const struct {
        const char *text;
        int line, col;
        const char *part; /* of the message */
    } rows[] = {
        {"a", 1, 2, "'=' is expected after a key, but the file ends"},
        {"a = ", 1, 5, "a value is expected"},
        {"a = \n", 1, 5, "the line ends here"},
        {"\n\n  a = yes", 3, 7, "\"yes\" is not a value (text needs quotes)"},
        {"a = 1 b = 2", 1, 7, "the end of the line is expected, not 'b'"},
        {"a = 1\na = 2", 2, 1, "\"a\" is set twice (first in line 1)"},
        {"[a]\n[a]", 2, 2, "\"a\" is set twice (first in line 1)"},
        {"a = 1\n[a.b]", 2, 2, "\"a\" cannot be extended"},
        {"a = \"x", 1, 7, "a string is not closed"},
        {"a = \"x\nb = 1", 1, 7, "not closed before the line ends"},
        {"a = \"C:\\Windows\"", 1, 9, "quote Windows paths with '...'"},
        {"a = '\xc3\xa9\xc3\xa9' x", 1, 10, "the end of the line"},
        {"a = 99999999999999999999", 1, 5, "does not fit 64 bits"},
        {"a = [1, 2", 1, 10, "',' or ']' is expected in an array"},
        {"a = {b = 1", 1, 11, "',' or '}' is expected"},
        {"a = {b = 1,}", 1, 12, "a key is expected, not '}'"},
        {"[a", 1, 3, "']' is expected"},
        {"[[a]", 1, 4, "']]' is expected"},
        {"a = 'x\x01'", 1, 7, "control character 0x01"},
        {"ok = 1\nb = '\xc3\xa9\xff'", 2, 7, "0xff is not UTF-8"},
        {"\"\"\"a\"\"\" = 1", 1, 1, "a key cannot be a multi-line string"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct toml_table *t = NULL;
        struct err err = {0};

        test_row(rows[i].text);
        CHECK_INT(toml_parse(&a, str_c(rows[i].text), &t, &err), ERR_INVAL);
        CHECK_INT(err.line, rows[i].line);
        CHECK_INT(err.col, rows[i].col);
        if (!strstr(err.text, rows[i].part))
            test_fail(__FILE__, __LINE__, "the message is \"%s\"", err.text);
        CHECK(t == NULL);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_toml_values_know_their_places(void)
{
    struct arena a = {0};
    struct toml_table *t;
    struct err err;
    const struct toml_value *v;

    CHECK_INT(toml_parse(&a, STR("\xef\xbb\xbfx = 1\r\n[s]\r\n  'k y' = [1,\n  '\xc3\xa9']\r\n"),
                  &t, &err),
        0);
    v = toml_get(t, STR("x"));
    CHECK_INT(v->line, 1);
    CHECK_INT(v->col, 5);
    CHECK_INT(v->i, 1);
    v = toml_get(toml_get(t, STR("s"))->table, STR("k y"));
    CHECK_INT(v->line, 3);
    CHECK_INT(v->col, 11);
    CHECK_INT(v->array->n, 2);
    CHECK_INT(v->array->v[1].line, 4);
    CHECK_STR(v->array->v[1].s, "\xc3\xa9");
    CHECK(toml_get(t, STR("none")) == NULL);
    arena_fini(&a);
}

static void test_toml_keeps_order_and_finds_many(void)
{
    struct arena a = {0};
    struct buf b = {0};
    struct toml_table *t;
    struct err err;
    int64_t i = 0;

    for (int k = 0; k < 5000; k++)
        buf_printf(&b, "key%d = %d\n", k, k);
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), 0);
    CHECK_INT(t->n, 5000);
    for (const struct toml_entry *e = t->first; e; e = e->next, i++)
        CHECK(e->value.i == i);
    CHECK_INT(toml_get(t, STR("key4711"))->i, 4711);
    buf_fini(&b);
    arena_fini(&a);
}

static void nest(struct buf *b, const char *open, int n)
{
    buf_clear(b);
    buf_add_lit(b, "a=");
    for (int i = 0; i < n; i++)
        buf_add_str(b, str_c(open));
}

static void test_toml_bounds_depth(void)
{
    struct arena a = {0};
    struct buf b = {0};
    struct toml_table *t;
    struct err err = {0};

    nest(&b, "[", TOML_MAX_DEPTH);
    for (int i = 0; i < TOML_MAX_DEPTH; i++)
        buf_add_char(&b, ']');
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), 0);
    nest(&b, "[", 100000);
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), ERR_INVAL);
    CHECK(strstr(err.text, "nested") != NULL);
    nest(&b, "{a=", 100000);
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), ERR_INVAL);
    buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        buf_add_lit(&b, "a.");
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), ERR_INVAL);
    CHECK(strstr(err.text, "parts") != NULL);
    buf_fini(&b);
    arena_fini(&a);
}

static void test_toml_refuses_huge_text(void)
{
    struct arena a = {0};
    struct buf b = {0};
    struct toml_table *t;
    struct err err;

    memset(buf_reserve(&b, TOML_MAX_TEXT + 1), '\n', TOML_MAX_TEXT + 1);
    b.len = TOML_MAX_TEXT + 1;
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), ERR_TOOBIG);
    b.len--;
    CHECK_INT(toml_parse(&a, buf_str(&b), &t, &err), 0);
    buf_fini(&b);
    arena_fini(&a);
}

static void test_toml_value_stands_alone(void)
{
    struct arena a = {0};
    struct toml_value v = {0};
    struct err err;

    CHECK_INT(toml_parse_value(&a, STR(" [1, 2] "), &v, &err), 0);
    CHECK_INT(v.array->n, 2);
    CHECK_INT(toml_parse_value(&a, STR("1 2"), &v, &err), ERR_INVAL);
    CHECK_INT(toml_parse_value(&a, STR("1 # c"), &v, &err), ERR_INVAL);
    CHECK_INT(toml_parse_value(&a, STR(""), &v, &err), ERR_INVAL);
    arena_fini(&a);
}

const struct test tests_toml[] = {
    TEST(test_toml_errors_have_places),
    TEST(test_toml_values_know_their_places),
    TEST(test_toml_keeps_order_and_finds_many),
    TEST(test_toml_bounds_depth),
    TEST(test_toml_refuses_huge_text),
    TEST(test_toml_value_stands_alone),
    TEST_END,
};
