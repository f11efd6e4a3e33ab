/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Statements that are long, deep or cut short. */
#include "base/mem.h"
#include "db/sql/digest.h"
#include "db/sql/parse.h"
#include "db/sql/print.h"
#include "db/sql/words.h"
#include "unit/db_sql/dump.h"
#include "unit/test.h"

static const struct sql_parse_options options = {0, 80036};

/* head, then piece n times, then tail */
static struct buf repeat(const char *head, const char *piece, size_t n, const char *tail)
{
    struct buf b = {0};

    buf_add_str(&b, str_c(head));
    for (size_t i = 0; i < n; i++)
        buf_add_str(&b, str_c(piece));
    buf_add_str(&b, str_c(tail));
    return b;
}

static int parse_error(struct str text)
{
    struct arena arena = {0};
    struct sql_stmt *s;
    struct db_error e = {0};
    struct str rest;
    int rc = sql_parse(&arena, text, &options, &s, &rest, &e);

    arena_fini(&arena);
    return rc ? e.number : 0;
}

static void test_a_megabyte_is_parsed(void)
{
    static const struct {
        const char *head, *piece, *tail;
    } rows[] = {
        {"insert into t values (0, '')", ",(1, 'abc')", ""},
        {"insert into t values ('", "it\\'s ", "')"},
        {"insert into t values ('x')", ",('abcdefghijklmnopqrstuvwxyz')", ";"},
        {"select * from t where a in (0", ", 1", ")"},
        {"select * from t where a = 1", " or a = 2", ""},
        {"select * from t where a = 1", " and (a = 2 or b)", ""},
        {"select 'a'", " 'b'", ""},
        {"select concat('a'", ", b, 1", ")"},
        {"select 1 /*", " *", " */"},
        {"select 1", " /* x */", ""},
        {"select 1 ", " -- x\n", ""},
        {"select case a", " when 1 then 2", " end"},
        {"set @a0 = 1", ", @a = 1", ""},
        {"create table t (c int", ", `d` varchar(20) not null default 'x'", ")"},
        {"drop table a", ", b", ""},
        {"select a", ", b c", " from t"},
        {"insert into t values (0x", "41", ")"},
        {"select `", "``", "`"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b =
            repeat(rows[i].head, rows[i].piece, 1000000 / strlen(rows[i].piece), rows[i].tail);
        struct buf digest = {0};

        test_row(rows[i].head);
        CHECK_INT(parse_error(buf_str(&b)), 0);
        (void)sql_digest(&digest, buf_str(&b), 0, 1000);
        CHECK(digest.len <= 1000);
        buf_fini(&digest);
        buf_fini(&b);
    }
    test_row(NULL);
}

static void test_deep_statements_are_refused(void)
{
    static const struct {
        const char *head, *piece, *middle, *end;
    } rows[] = {
        {"select ", "(", "1", ")"},
        {"select ", "-", "1", ""},
        {"select ", "not ", "1", ""},
        {"select ", "!", "1", ""},
        {"select ", "f(", "1", ")"},
        {"select ", "(select ", "1", ")"},
        {"select 1 from ", "(", "t", ")"},
        {"select 1 from ", "((select 1) union ", "(select 2)", ")"},
        {"", "(", "select 1", ")"},
        {"select 1", " + 1", "", ""},
        {"select 1", " xor 2", "", ""},
        {"select a", " like b", "", ""},
        {"select ", "case when ", "1", " then 1 end"},
        {"select ", "interval 1 day + ", "a", ""},
        {"select 1", " union select 1", "", ""},
        {"select 1 from t", " join t", "", ""},
        {"select 1 from t", ", t", "", ""},
        {"select 1 from t", " natural join t", "", ""},
        {"select ", "{fn ", "1", "}"},
        {"select 1 from ", "{oj ", "t", "}"},
        {"", "with a as (", "select 1", ") select 1"},
        {"", "explain ", "select 1", ""},
        {"select @a", " := @a", "", ""},
        {"select a", " collate utf8mb4_bin", "", ""},
        {"select 1 in ", "(select 1 in ", "(1)", ")"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b = repeat(rows[i].head, rows[i].piece, 100000, rows[i].middle);
        struct buf end = repeat("", rows[i].end, 100000, "");

        buf_add_str(&b, buf_str(&end));
        test_row(rows[i].piece);
        CHECK(parse_error(buf_str(&b)) != 0);
        buf_fini(&b);
        buf_fini(&end);
    }
    test_row(NULL);
}

static void test_moderate_depth_is_accepted(void)
{
    struct buf b = repeat("select ", "(", 150, "1");
    struct buf end = repeat("", ")", 150, "");

    buf_add_str(&b, buf_str(&end));
    CHECK_INT(parse_error(buf_str(&b)), 0);
    buf_fini(&b);
    buf_fini(&end);
    b = repeat("select 1", " + 1", 400, "");
    CHECK_INT(parse_error(buf_str(&b)), 0);
    buf_fini(&b);
    b = repeat("select 1", " union all select 1", 400, "");
    CHECK_INT(parse_error(buf_str(&b)), 0);
    buf_fini(&b);
}

/* Whatever a statement is cut to, there is an answer, and the memory behind it is not read. */
static void test_every_beginning_has_an_answer(void)
{
    static const char text[] =
        "/*!40101 select */ `a``b`.c, 'x\\'y''z', \"q\" 'r', 0x41, x'41', b'1', 1.5e-3, @a := "
        "@@session.b, _utf8mb4'x' collate utf8mb4_bin, count(distinct a, b), trim(leading 'x' "
        "from y), cast(a as char(10)), a->'$.b', sum(a) over (partition by b order by c rows "
        "between 1 preceding and current row) from (t join u using (a)) left join (select 1 "
        "union select 2) v on t.a = v.a where a in (select 1) and b between 1 and 2 and c like "
        "'x' escape '!' group by a with rollup having b order by c desc limit 1 offset 2 for "
        "update -- x";

    for (size_t i = 0; i < sizeof(text); i++) {
        char *copy = mem_new(i);
        struct buf digest = {0};

        memcpy(copy, text, i);
        (void)parse_error(str_n(copy, i));
        (void)sql_digest(&digest, str_n(copy, i), 0, 64);
        buf_fini(&digest);
        mem_free(copy);
    }
    CHECK_INT(parse_error(str_c(text)), 0);
}

static void test_statements_are_taken_one_by_one(void)
{
    struct str rest = STR("select 1; ; insert into t values (';') ;\n/* ; */ select ?, ?;;  ");
    struct arena arena = {0};
    struct sql_stmt *s;
    struct db_error e;

    CHECK_INT(sql_parse(&arena, rest, &options, &s, &rest, &e), 0);
    CHECK_STR(s->text, "select 1");
    CHECK(sql_parse(&arena, rest, &options, &s, &rest, &e) != 0);
    CHECK_INT(e.number, 1065);
    rest = str_sub(rest, 1, rest.len);
    CHECK_INT(sql_parse(&arena, rest, &options, &s, &rest, &e), 0);
    CHECK_STR(s->text, "insert into t values (';') ");
    CHECK_INT(sql_parse(&arena, rest, &options, &s, &rest, &e), 0);
    CHECK_STR(s->text, "/* ; */ select ?, ?");
    CHECK_INT(s->n_params, 2);
    CHECK_STR(rest, ";");
    arena_fini(&arena);
}

static void test_positions_are_those_of_the_text(void)
{
    static const char *const want[] = {"a + 1", "(b)", "count( * )", "'x' 'y'", "-c"};
    struct arena arena = {0};
    struct sql_stmt *s;
    struct db_error e;
    struct str rest;

    CHECK_INT(sql_parse(&arena, STR(" \n select a + 1 , (b), count( * ) x,'x' 'y' , -c from t"),
                  &options, &s, &rest, &e),
        0);
    for (uint32_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct sql_expr *x = s->query->body->items.v[i].expr;

        CHECK_STR(str_sub(s->text, x->pos, x->end - x->pos), want[i]);
    }
    arena_fini(&arena);
}

static void test_words_are_found_in_any_case(void)
{
    for (int w = W_NO_WORD + 1; w < W__COUNT; w++) {
        struct str text = sql_word_text((enum sql_word)w);

        CHECK_INT(sql_word_find(text), w);
        if (w > W_NO_WORD + 1)
            CHECK(str_cmp(sql_word_text((enum sql_word)(w - 1)), text) < 0);
    }
    CHECK_INT(sql_word_find(STR("sElEcT")), W_SELECT);
    CHECK_INT(sql_word_find(STR("selec")), W_NO_WORD);
    CHECK_INT(sql_word_find(STR("zzz")), W_NO_WORD);
    CHECK_INT(sql_word_find(STR("")), W_NO_WORD);
}

extern const struct test tests_size[];
const struct test tests_size[] = {TEST(test_a_megabyte_is_parsed),
    TEST(test_deep_statements_are_refused), TEST(test_moderate_depth_is_accepted),
    TEST(test_every_beginning_has_an_answer), TEST(test_statements_are_taken_one_by_one),
    TEST(test_positions_are_those_of_the_text), TEST(test_words_are_found_in_any_case), TEST_END};
