/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * The parser of MySQL's language, in every sql_mode; what it makes of a query prints as text that
 * parses again and prints the same.
 */
#include <stdint.h>

#include "base/mem.h"
#include "db/sql/parse.h"
#include "db/sql/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parents go one deeper when they are printed in parentheses, so the limit may be met then. */
static void print_twice(struct arena *a, const struct sql_query *q)
{
    struct sql_parse_options options = {0, 80036};
    struct buf one = {0}, two = {0};
    struct sql_stmt *s;
    struct db_error e;
    struct str rest;

    sql_print_query(&one, q);
    if (sql_parse(a, buf_str(&one), &options, &s, &rest, &e) == 0) {
        ENSURE(s->kind == SQL_STMT_QUERY);
        sql_print_query(&two, s->query);
        ENSURE(str_eq(buf_str(&one), buf_str(&two)));
    } else {
        ENSURE(
            strstr(e.text, "too deep") || strstr(e.text, "too many") || strstr(e.text, "Too many"));
    }
    buf_fini(&one);
    buf_fini(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t modes[] = {0, DB_MODE_ANSI_QUOTES, DB_MODE_NO_BACKSLASH_ESCAPES,
        DB_MODE_PIPES_AS_CONCAT, DB_MODE_IGNORE_SPACE, DB_MODE_HIGH_NOT_PRECEDENCE};
    struct str text = str_n((const char *)data, size), rest;
    struct sql_parse_options options = {0, 80036};
    struct arena a = {0};
    struct sql_stmt *s;
    struct db_error e;

    if (size > 0)
        options.mode = modes[data[size - 1] % ARRAY_LEN(modes)];
    for (rest = text; rest.len > 0;) {
        if (sql_parse(&a, rest, &options, &s, &rest, &e)) {
            ENSURE(e.number != 0 && e.text[0]);
            break;
        }
        if (s->kind == SQL_STMT_QUERY)
            print_twice(&a, s->query);
    }
    arena_fini(&a);
    return 0;
}
