/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

/* Statements that differ in their values only have the same text. */
static void test_values_leave_the_text(void)
{
    struct fixture f;
    char first[2000];

    fixture_open(&f);
    tables_make(&f);
    CHECK(fixture_translate(&f, "select * from t where s = 'a' and id in (1, 2) limit 5"));
    str_put(first, sizeof(first), fixture_sql(&f));
    CHECK(fixture_translate(&f, "select * from t where s = 'b' and id in (7, 9) limit 6"));
    CHECK_STR(fixture_sql(&f), first);
    CHECK(f.plan->cacheable);
    fixture_close(&f);
}

/* A parameter of the client keeps its number. */
static void test_parameters_of_the_client_keep_their_number(void)
{
    struct fixture f;
    const struct tr_step *step;

    fixture_open(&f);
    tables_make(&f);
    CHECK(fixture_translate(&f, "select ?, s from t where i = 5 and s = ? limit ?"));
    step = &f.plan->steps[0];
    CHECK_INT(step->n_params, 4);
    CHECK(step->params[0].from_client && step->params[0].index == 0);
    CHECK(!step->params[1].from_client && step->params[1].value.i == 5);
    CHECK(step->params[2].from_client && step->params[2].index == 1);
    CHECK(step->params[3].from_client && step->params[3].index == 2);
    fixture_close(&f);
}

static void test_rows_found_are_counted_though_unchanged(void)
{
    struct fixture f;

    fixture_open(&f);
    tables_make(&f);
    CHECK(fixture_run(&f, "insert into p (name, n) values ('a', 1), ('b', 2), ('c', 2)"));
    CHECK(fixture_run(&f, "update p set n = 2"));
    CHECK_INT(f.affected, 1);
    CHECK_INT(f.session.matched, 3);
    CHECK(fixture_run(&f, "update p set n = 3 where n = 2 and name <> 'c' and id > 0"));
    CHECK_INT(f.session.matched, 2);
    CHECK(fixture_run(&f, "update p set n = 4 where name = 'a' or n = 3"));
    CHECK_INT(f.session.matched, 2);
    fixture_close(&f);
}

static void test_depth_is_bounded(void)
{
    struct fixture f;
    struct buf b = {0};

    fixture_open(&f);
    tables_make(&f);
    buf_add_lit(&b, "select 1");
    for (int i = 0; i < 20000; i++)
        buf_add_lit(&b, "+1");
    (void)fixture_run(&f, buf_cstr(&b));
    CHECK(f.error.number > 0);
    buf_clear(&b);
    buf_add_lit(&b, "select id from t where id = 0");
    for (int i = 0; i < 3000; i++)
        buf_printf(&b, " or id = %d", i);
    CHECK(fixture_run(&f, buf_cstr(&b)));
    buf_clear(&b);
    buf_add_lit(&b, "select id from t where id in (1");
    for (int i = 0; i < 40000; i++)
        buf_printf(&b, ",%d", i);
    buf_add_lit(&b, ")");
    CHECK(fixture_run(&f, buf_cstr(&b)));
    buf_fini(&b);
    fixture_close(&f);
}

/* TIMESTAMP columns are compared as they lie, in UTC, so that their index is used. */
static void test_timestamp_of_a_zone_uses_the_index(void)
{
    struct fixture f;

    fixture_open(&f);
    tables_make(&f);
    f.env.utc = false;
    f.session.utc_offset = 3600;
    CHECK(fixture_run(&f, "insert into t (ts) values ('2024-01-31 10:00:00')"));
    CHECK(fixture_run(&f, "select ts from t where ts = '2024-01-31 10:00:00'"));
    CHECK_STR(str_c(f.text), "2024-01-31 10:00:00");
    CHECK(fixture_explain(&f, "select ts from t where ts > '2024-01-31'"));
    CHECK(strstr(f.text, "INDEX t__ts (ts>?)") != NULL);
    f.env.utc = true;
    CHECK(fixture_run(&f, "select ts from t"));
    CHECK_STR(str_c(f.text), "2024-01-31 09:00:00");
    fixture_close(&f);
}

const struct test tests_more[] = {
    TEST(test_values_leave_the_text),
    TEST(test_parameters_of_the_client_keep_their_number),
    TEST(test_rows_found_are_counted_though_unchanged),
    TEST(test_depth_is_bounded),
    TEST(test_timestamp_of_a_zone_uses_the_index),
    TEST_END,
};
