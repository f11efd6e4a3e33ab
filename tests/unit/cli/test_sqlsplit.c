/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "cli/sqlsplit.h"
#include "unit/test.h"

static const struct {
    const char *name;
    const char *text;
    const char *want; /* statements, each in brackets */
} cases[] = {
    {"two", "SELECT 1; SELECT 2;", "[SELECT 1][SELECT 2]"},
    {"the last without an end", "SELECT 1;\nSELECT 2", "[SELECT 1][SELECT 2]"},
    {"nothing", " \n ;; ; ", ""},
    {"quotes", "SELECT ';', \";\", `;`; x", "[SELECT ';', \";\", `;`][x]"},
    {"escaped quotes", "SELECT 'a\\';', 'b'';'; x", "[SELECT 'a\\';', 'b'';'][x]"},
    {"a backslash in backticks", "SELECT `a\\`; x", "[SELECT `a\\`][x]"},
    {"comments", "-- a; b\nSELECT 1 # ; \n; /* ; */ SELECT /* ; */ 2;",
        "[-- a; b\nSELECT 1 # ;][/* ; */ SELECT /* ; */ 2]"},
    {"comments alone", "-- a; b\n# c;\n/* d; */ ; SELECT 1; -- done", "[SELECT 1]"},
    {"no comment", "SELECT 1--2; x", "[SELECT 1--2][x]"},
    {"comments that are run", "/*!40101 SET NAMES utf8 */;\n/*M! x */;",
        "[/*!40101 SET NAMES utf8 */][/*M! x */]"},
    {"another delimiter", "DELIMITER //\nBEGIN; x; END//\nDELIMITER ;\nSELECT 1;",
        "[BEGIN; x; END][SELECT 1]"},
};

static void split_in_pieces(const char *text, size_t piece, struct buf *out)
{
    struct str rest = str_c(text), statement;
    struct sqlsplit s;

    sqlsplit_init(&s);
    while (rest.len) {
        size_t n = MIN(piece, rest.len);

        sqlsplit_add(&s, str_sub(rest, 0, n));
        rest = str_sub(rest, n, rest.len);
        while (sqlsplit_next(&s, rest.len == 0, &statement))
            buf_printf(out, "[" STR_F "]", STR_A(statement));
    }
    sqlsplit_fini(&s);
}

static void test_sqlsplit_statements_whatever_the_pieces(void)
{
    static const size_t pieces[] = {1, 2, 3, 7, 1000};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t k = 0; k < ARRAY_LEN(pieces); k++) {
            struct buf out = {0};

            test_row(cases[i].name);
            split_in_pieces(cases[i].text, pieces[k], &out);
            CHECK_STR(buf_str(&out), cases[i].want);
            buf_fini(&out);
        }
    }
    test_row(NULL);
}

static void test_sqlsplit_lines_are_counted(void)
{
    struct sqlsplit s;
    struct str statement;

    sqlsplit_init(&s);
    sqlsplit_add(&s, STR("-- one\n\nSELECT\n1;\n\nSELECT 2;\n"));
    CHECK(sqlsplit_next(&s, false, &statement));
    CHECK_INT(s.line, 3);
    CHECK(sqlsplit_next(&s, false, &statement));
    CHECK_INT(s.line, 6);
    CHECK(!sqlsplit_next(&s, true, &statement));
    sqlsplit_fini(&s);
}

/* What was typed runs when the line ends. */
static void test_sqlsplit_a_line_is_enough(void)
{
    struct sqlsplit s;
    struct str statement;

    sqlsplit_init(&s);
    sqlsplit_add(&s, STR("SELECT 1;\n"));
    CHECK(sqlsplit_next(&s, false, &statement));
    CHECK_STR(statement, "SELECT 1");
    sqlsplit_fini(&s);
}

const struct test tests_sqlsplit[] = {TEST(test_sqlsplit_statements_whatever_the_pieces),
    TEST(test_sqlsplit_lines_are_counted), TEST(test_sqlsplit_a_line_is_enough), TEST_END};
