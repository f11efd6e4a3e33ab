/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "db/mysql/value.h"
#include "unit/test.h"

#define INT_(v_)  {.kind = DB_V_INT, .i = (v_)}
#define UINT_(v_) {.kind = DB_V_UINT, .u = (v_)}
#define REAL_(v_) {.kind = DB_V_REAL, .d = (v_)}
#define TEXT_(v_) {DB_V_TEXT, {0}, STR(v_)}

/* One value in both protocols; the binary one without the row's header and bitmap. */
static const struct {
    const char *name;
    enum db_base base;
    uint8_t decimals;
    struct db_value value;
    struct str text;
    struct str binary;
} values[] = {
    {"tinyint", DB_T_TINYINT, 0, INT_(-1), STR("\x02-1"), STR("\xff")},
    {"smallint", DB_T_SMALLINT, 0, INT_(258),
        STR("\x03"
            "258"),
        STR("\x02\x01")},
    {"mediumint", DB_T_MEDIUMINT, 0, INT_(-2), STR("\x02-2"), STR("\xfe\xff\xff\xff")},
    {"int", DB_T_INT, 0, UINT_(4294967295),
        STR("\x0a"
            "4294967295"),
        STR("\xff\xff\xff\xff")},
    {"bigint", DB_T_BIGINT, 0, INT_(INT64_MIN), STR("\x14-9223372036854775808"),
        STR("\0\0\0\0\0\0\0\x80")},
    {"bigint of digits", DB_T_BIGINT, 0, TEXT_("18446744073709551615"),
        STR("\x14"
            "18446744073709551615"),
        STR("\xff\xff\xff\xff\xff\xff\xff\xff")},
    {"int that is real", DB_T_INT, 0, REAL_(2.5),
        STR("\x01"
            "3"),
        STR("\x03\0\0\0")},
    {"int that is no number", DB_T_INT, 0, TEXT_("x"), STR("\x01x"), STR("\0\0\0\0")},
    {"year", DB_T_YEAR, 0, INT_(0),
        STR("\x04"
            "0000"),
        STR("\0\0")},
    {"year 2024", DB_T_YEAR, 0, INT_(2024),
        STR("\x04"
            "2024"),
        STR("\xe8\x07")},
    {"float", DB_T_FLOAT, 31, REAL_(1.5),
        STR("\x03"
            "1.5"),
        STR("\0\0\xc0\x3f")},
    {"float of 6 digits", DB_T_FLOAT, 31, REAL_(0.1F),
        STR("\x03"
            "0.1"),
        STR("\xcd\xcc\xcc\x3d")},
    {"double", DB_T_DOUBLE, 31, REAL_(0.1),
        STR("\x03"
            "0.1"),
        STR("\x9a\x99\x99\x99\x99\x99\xb9\x3f")},
    {"double(10,2)", DB_T_DOUBLE, 2, INT_(3),
        STR("\x04"
            "3.00"),
        STR("\0\0\0\0\0\0\x08\x40")},
    {"decimal", DB_T_DECIMAL, 2, TEXT_("-0.50"), STR("\x05-0.50"), STR("\x05-0.50")},
    {"decimal that is int", DB_T_DECIMAL, 0, INT_(12),
        STR("\x02"
            "12"),
        STR("\x02"
            "12")},
    {"text", DB_T_VARCHAR, 0, TEXT_("abc"),
        STR("\x03"
            "abc"),
        STR("\x03"
            "abc")},
    {"empty text", DB_T_TEXT, 0, TEXT_(""), STR("\0"), STR("\0")},
    {"date", DB_T_DATE, 0, TEXT_("2024-01-31"),
        STR("\x0a"
            "2024-01-31"),
        STR("\x04\xe8\x07\x01\x1f")},
    {"zero date", DB_T_DATE, 0, TEXT_("0000-00-00"),
        STR("\x0a"
            "0000-00-00"),
        STR("\0")},
    {"no date", DB_T_DATE, 0, TEXT_("x"), STR("\x01x"), STR("\0")},
    {"datetime", DB_T_DATETIME, 0, TEXT_("2024-01-31 10:20:30"),
        STR("\x13"
            "2024-01-31 10:20:30"),
        STR("\x07\xe8\x07\x01\x1f\x0a\x14\x1e")},
    {"datetime at midnight", DB_T_TIMESTAMP, 0, TEXT_("2024-01-31 00:00:00"),
        STR("\x13"
            "2024-01-31 00:00:00"),
        STR("\x04\xe8\x07\x01\x1f")},
    {"datetime(6)", DB_T_DATETIME, 6, TEXT_("2024-01-31 10:20:30.000500"),
        STR("\x1a"
            "2024-01-31 10:20:30.000500"),
        STR("\x0b\xe8\x07\x01\x1f\x0a\x14\x1e\xf4\x01\0\0")},
    {"zero datetime", DB_T_DATETIME, 0, TEXT_("0000-00-00 00:00:00"),
        STR("\x13"
            "0000-00-00 00:00:00"),
        STR("\0")},
    {"time", DB_T_TIME, 0, TEXT_("-25:01:02"), STR("\x09-25:01:02"),
        STR("\x08\x01\x01\0\0\0\x01\x01\x02")},
    {"time(1)", DB_T_TIME, 1, TEXT_("00:00:00.5"),
        STR("\x0a"
            "00:00:00.5"),
        STR("\x0c\0\0\0\0\0\0\0\0\x20\xa1\x07\0")},
    {"zero time", DB_T_TIME, 0, TEXT_("00:00:00"),
        STR("\x08"
            "00:00:00"),
        STR("\0")},
    {"json", DB_T_JSON, 0, TEXT_("{}"), STR("\x02{}"), STR("\x02{}")},
};

static void test_value_rows_of_both_protocols(void)
{
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct db_column c = {.type = {.base = values[i].base, .length = -1, .decimals = -1},
            .decimals = values[i].decimals};

        test_row(values[i].name);
        buf_clear(&b);
        mysql_put_text_row(&b, &c, &values[i].value, 1);
        CHECK(str_eq(buf_str(&b), values[i].text));
        buf_clear(&b);
        mysql_put_binary_row(&b, &c, &values[i].value, 1);
        CHECK(str_starts(buf_str(&b), STR("\0\0")));
        CHECK(str_eq(str_sub(buf_str(&b), 2, b.len), values[i].binary));
    }
    test_row(NULL);
    buf_fini(&b);
}

static void test_value_bits_and_zerofill(void)
{
    struct db_column bit = {.type = {.base = DB_T_BIT, .length = 10}};
    struct db_column fill = {.type = {.base = DB_T_INT, .length = 5, .zerofill = true}};
    struct db_value v[] = {INT_(258), INT_(42)};
    struct buf b = {0};

    mysql_put_text_row(&b, &bit, &v[0], 1);
    CHECK(str_eq(buf_str(&b), STR("\x02\x01\x02")));
    buf_clear(&b);
    mysql_put_text_row(&b, &fill, &v[1], 1);
    CHECK(str_eq(buf_str(&b), STR("\x05"
                                  "00042")));
    buf_fini(&b);
}

static void test_value_nulls_are_bits(void)
{
    struct db_column c[8];
    struct db_value v[8];
    struct buf b = {0};

    memset(c, 0, sizeof(c));
    for (int i = 0; i < 8; i++) {
        c[i].type.base = i == 7 ? DB_T_NULL : DB_T_TINYINT;
        v[i] = (struct db_value){.kind = i % 2 ? DB_V_INT : DB_V_NULL, .i = i};
    }
    mysql_put_binary_row(&b, c, v, 8);
    /* Columns 0, 2, 4, 6 are NULL, and 7 by its type: bits 2, 4, 6, 8 and 9. */
    CHECK(str_eq(buf_str(&b), STR("\0\x54\x03\x01\x03\x05")));
    buf_clear(&b);
    mysql_put_text_row(&b, c, v, 2);
    CHECK(str_eq(buf_str(&b), STR("\xfb\x01"
                                  "1")));
    buf_fini(&b);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    struct str payload; /* one parameter: bitmap, 1, type, value */
    int rc;
    enum db_value_kind kind;
    int64_t i;
    const char *text;
} params[] = {
    {"null by bit", STR("\x01\x01\x08\0"), 0, DB_V_NULL, 0, NULL},
    {"null by type", STR("\0\x01\x06\0"), 0, DB_V_NULL, 0, NULL},
    {"tiny", STR("\0\x01\x01\0\xfe"), 0, DB_V_INT, -2, NULL},
    {"tiny unsigned", STR("\0\x01\x01\x80\xfe"), 0, DB_V_UINT, 254, NULL},
    {"short", STR("\0\x01\x02\0\xfe\xff"), 0, DB_V_INT, -2, NULL},
    {"year", STR("\0\x01\x0d\x80\xe8\x07"), 0, DB_V_UINT, 2024, NULL},
    {"long", STR("\0\x01\x03\0\0\0\0\x80"), 0, DB_V_INT, INT32_MIN, NULL},
    {"longlong", STR("\0\x01\x08\0\xff\xff\xff\xff\xff\xff\xff\xff"), 0, DB_V_INT, -1, NULL},
    {"float", STR("\0\x01\x04\0\0\0\xc0\x3f"), 0, DB_V_REAL, 1, NULL},
    {"double", STR("\0\x01\x05\0\0\0\0\0\0\0\x08\x40"), 0, DB_V_REAL, 3, NULL},
    {"string", STR("\0\x01\xfd\0\x02hi"), 0, DB_V_TEXT, 0, "hi"},
    {"string of bytes", STR("\0\x01\xfd\0\x02\xff\xfe"), 0, DB_V_BLOB, 0, "\xff\xfe"},
    {"blob", STR("\0\x01\xfc\0\x02hi"), 0, DB_V_BLOB, 0, "hi"},
    {"decimal",
        STR("\0\x01\xf6\0\x04"
            "1.50"),
        0, DB_V_TEXT, 0, "1.50"},
    {"date", STR("\0\x01\x0a\0\x04\xe8\x07\x01\x1f"), 0, DB_V_TEXT, 0, "2024-01-31"},
    {"zero date", STR("\0\x01\x0a\0\0"), 0, DB_V_TEXT, 0, "0000-00-00"},
    {"datetime", STR("\0\x01\x0c\0\x07\xe8\x07\x01\x1f\x0a\x14\x1e"), 0, DB_V_TEXT, 0,
        "2024-01-31 10:20:30"},
    {"timestamp", STR("\0\x01\x07\0\x0b\xe8\x07\x01\x1f\x0a\x14\x1e\x01\0\0\0"), 0, DB_V_TEXT, 0,
        "2024-01-31 10:20:30.000001"},
    {"time", STR("\0\x01\x0b\0\x08\x01\x01\0\0\0\x01\x02\x03"), 0, DB_V_TEXT, 0, "-25:02:03"},
    {"zero time", STR("\0\x01\x0b\0\0"), 0, DB_V_TEXT, 0, "00:00:00"},
    {"date of 5 bytes", STR("\0\x01\x0a\0\x05\xe8\x07\x01\x1f\0"), ERR_PROTO, 0, 0, NULL},
    {"unknown type", STR("\0\x01\x20\0\x02hi"), ERR_PROTO, 0, 0, NULL},
    {"cut value", STR("\0\x01\xfd\0\x05hi"), ERR_PROTO, 0, 0, NULL},
    {"cut types", STR("\0\x01\xfd"), ERR_PROTO, 0, 0, NULL},
    {"cut number", STR("\0\x01\x08\0\x01"), ERR_PROTO, 0, 0, NULL},
    {"no types ever", STR("\0\0\x02hi"), ERR_INVAL, 0, 0, NULL},
    {"nothing", STR(""), ERR_PROTO, 0, 0, NULL},
};

static void test_value_parameters_are_read(void)
{
    for (size_t i = 0; i < ARRAY_LEN(params); i++) {
        struct mysql_param_type type = {0};
        struct mysql_params p = {.n = 1, .types = &type};
        struct mysql_reader r = mysql_reader(params[i].payload);
        struct arena arena = {0};
        struct db_value v = {0};

        test_row(params[i].name);
        CHECK_INT(mysql_parse_params(&p, &r, &arena, &v), params[i].rc);
        if (params[i].rc == 0) {
            CHECK_INT(v.kind, params[i].kind);
            if (v.kind == DB_V_INT || v.kind == DB_V_UINT)
                CHECK_INT(v.i, params[i].i);
            if (v.kind == DB_V_REAL)
                CHECK_INT((int64_t)v.d, params[i].i);
            if (params[i].text)
                CHECK_STR(v.s, params[i].text);
        }
        arena_fini(&arena);
    }
    test_row(NULL);
}

static void test_value_types_are_remembered(void)
{
    struct mysql_param_type types[2] = {{0}, {0}};
    struct mysql_params p = {.n = 2, .types = types};
    struct arena arena = {0};
    struct db_value v[2];
    struct mysql_reader r = mysql_reader(STR("\0\x01\x01\0\xfd\0\x05\x01"
                                             "a"));

    CHECK_INT(mysql_parse_params(&p, &r, &arena, v), 0);
    CHECK_INT(v[0].i, 5);
    r = mysql_reader(STR("\0\0\x06\x01"
                         "b"));
    CHECK_INT(mysql_parse_params(&p, &r, &arena, v), 0);
    CHECK_INT(v[0].i, 6);
    CHECK_STR(v[1].s, "b");
    arena_fini(&arena);
}

static void test_value_long_data_takes_its_place(void)
{
    struct mysql_param_type types[2] = {{0}, {0}};
    struct mysql_long_data data[2];
    struct mysql_params p = {.n = 2, .types = types, .long_data = data};
    struct arena arena = {0};
    struct db_value v[2];
    struct mysql_reader r = mysql_reader(STR("\0\x01\xfc\0\x01\0\x07"));

    memset(data, 0, sizeof(data));
    data[0].given = true;
    buf_add_lit(&data[0].bytes, "long");
    CHECK_INT(mysql_parse_params(&p, &r, &arena, v), 0);
    CHECK_STR(v[0].s, "long");
    CHECK_INT(v[1].i, 7);
    buf_fini(&data[0].bytes);
    arena_fini(&arena);
}

const struct test tests_value[] = {TEST(test_value_rows_of_both_protocols),
    TEST(test_value_bits_and_zerofill), TEST(test_value_nulls_are_bits),
    TEST(test_value_parameters_are_read), TEST(test_value_types_are_remembered),
    TEST(test_value_long_data_takes_its_place), TEST_END};
