/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Reads statements from standard input, each with a NUL behind it, and writes a line for each:
 * "ok KIND", "refused WHAT" or "error NUMBER TEXT". An argument is the sql_mode's number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "db/sql/parse.h"

static void check(struct arena *arena, struct str text, const struct sql_parse_options *options)
{
    struct sql_stmt *s;
    struct db_error e;
    struct str rest = text;

    do {
        if (sql_parse(arena, rest, options, &s, &rest, &e)) {
            for (char *c = e.text; *c; c++) {
                if (*c == '\n' || *c == '\r')
                    *c = ' ';
            }
            printf("error %d %s\n", e.number, e.text);
            return;
        }
    } while (rest.len);
    if (s->kind == SQL_STMT_REFUSED)
        printf("refused " STR_F "\n", STR_A(s->name));
    else
        printf("ok %d\n", (int)s->kind);
}

int main(int argc, char **argv)
{
    struct sql_parse_options options = {argc > 1 ? (uint32_t)atoll(argv[1]) : 0, 80036};
    struct arena arena = {0};
    struct buf in = {0};
    const char *p;
    ssize_t n;

    while ((n = read(0, buf_reserve(&in, 65536), 65536)) > 0)
        in.len += (size_t)n;
    for (p = in.p; p < in.p + in.len;) {
        const char *end = memchr(p, '\0', (size_t)(in.p + in.len - p));

        if (!end)
            end = in.p + in.len;
        check(&arena, str_n(p, (size_t)(end - p)), &options);
        arena_reset(&arena);
        p = end + 1;
    }
    arena_fini(&arena);
    buf_fini(&in);
    return 0;
}
