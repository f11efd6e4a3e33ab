/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* The form that tables are kept in: what can be read says the same when it is written and read
 * again, and can be shown and made. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "db/ddl/ddl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct db_cat_table *no_table(void *arg, struct str schema, struct str name)
{
    (void)arg;
    (void)schema;
    (void)name;
    return NULL;
}

/* Without the right hash nothing under it would ever be reached. */
static void with_head(struct buf *out, struct str body)
{
    uint64_t h = 14695981039346656037U;

    for (size_t i = 0; i < body.len; i++)
        h = (h ^ (unsigned char)body.p[i]) * 1099511628211U;
    buf_printf(out, "ephpm-table 1 %016llx\n", (unsigned long long)h);
    buf_add_str(out, body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tr_env env = {.table = no_table};
    struct str in = str_n((const char *)data, size), *statements;
    struct buf text = {0}, first = {0}, second = {0}, show = {0};
    struct db_cat_table *t, *again;
    struct arena arena = {0};
    struct db_error e;
    uint32_t n;
    int r;

    r = ddl_load(&arena, in, &t);
    ENSURE(r == 0 || r == ERR_CORRUPT || r == ERR_VERSION);
    with_head(&text, in);
    r = ddl_load(&arena, buf_str(&text), &t);
    ENSURE(r == 0 || r == ERR_CORRUPT);
    if (r == 0) {
        ddl_save(&first, t);
        ENSURE(ddl_load(&arena, buf_str(&first), &again) == 0);
        ddl_save(&second, again);
        ENSURE(str_eq(buf_str(&first), buf_str(&second)));
        ddl_show(&show, t, 1);
        (void)!ddl_sqlite(&arena, t, t->name, &env, &statements, &n, &e);
    }
    buf_fini(&text);
    buf_fini(&first);
    buf_fini(&second);
    buf_fini(&show);
    arena_fini(&arena);
    return 0;
}
