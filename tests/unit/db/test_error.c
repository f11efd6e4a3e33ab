/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/error.h"
#include "db/type.h"
#include "unit/test.h"

static void test_error_has_number_state_and_text(void)
{
    struct db_error e = {0};

    CHECK(db_error_set(&e, DB_E_NO_SUCH_TABLE, "app", "wp_posts") != 0);
    CHECK_INT(e.number, 1146);
    CHECK_STR(str_c(e.state), "42S02");
    CHECK_STR(str_c(e.text), "Table 'app.wp_posts' doesn't exist");
}

static void test_error_packed_comes_back(void)
{
    struct db_error e = {0}, back = {0};
    char text[600];

    db_error_set(&e, DB_E_DUP_ENTRY, "a:b", "t.key");
    db_error_pack(&e, text);
    CHECK(db_error_unpack(text, &back));
    CHECK_INT(back.number, 1062);
    CHECK_STR(str_c(back.state), "23000");
    CHECK_STR(str_c(back.text), "Duplicate entry 'a:b' for key 't.key'");
    CHECK(!db_error_unpack("UNIQUE constraint failed: t.a", &back));
    CHECK(!db_error_unpack("\0011:2", &back));
    CHECK(!db_error_unpack(NULL, &back));
}

static void test_error_is_cut_between_characters(void)
{
    struct db_error e = {0};
    char name[600];

    memset(name, 'a', sizeof(name));
    name[599] = '\0';
    for (size_t i = 0; i + 1 < 599; i += 2)
        memcpy(name + i, "\xC3\xA9", 2);
    db_error_text(&e, DB_E_UNKNOWN, "x%s", name);
    CHECK(str_is_utf8(str_c(e.text)));
    CHECK_INT(strlen(e.text) >= 508, 1);
}

static void test_type_names_and_numbers(void)
{
    CHECK_STR(db_base_name(DB_T_MEDIUMTEXT), "mediumtext");
    CHECK_INT(db_base_wire(DB_T_BIGINT), 8);
    CHECK_INT(db_base_wire(DB_T_DECIMAL), 246);
}

const struct test tests_error[] = {TEST(test_error_has_number_state_and_text),
    TEST(test_error_packed_comes_back), TEST(test_error_is_cut_between_characters),
    TEST(test_type_names_and_numbers), TEST_END};
