/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Parameters of prepared statements: never beyond the packet; and what was read can be written as a
 * row of any type, whose length is what a reader of that type expects. */
#include "base/mem.h"
#include "db/mysql/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARAMS = 8 };

/* Steps over a binary value as a client does that believes the announcement. */
static void skip(struct mysql_reader *r, enum db_base base)
{
    static const uint8_t sizes[DB_T__COUNT] = {[DB_T_TINYINT] = 1,
        [DB_T_SMALLINT] = 2,
        [DB_T_YEAR] = 2,
        [DB_T_MEDIUMINT] = 4,
        [DB_T_INT] = 4,
        [DB_T_FLOAT] = 4,
        [DB_T_BIGINT] = 8,
        [DB_T_DOUBLE] = 8};

    if (sizes[base])
        (void)mysql_read_int(r, sizes[base]);
    else
        (void)mysql_read_lenstr(r);
}

static void write_rows(const struct db_value *v, uint32_t n, uint8_t first)
{
    struct db_column columns[PARAMS];
    struct buf b = {0};
    struct mysql_reader r;
    struct str nulls;

    memset(columns, 0, sizeof(columns));
    for (uint32_t i = 0; i < n; i++) {
        columns[i].type = (struct db_type){.base = (enum db_base)((first + i) % DB_T__COUNT),
            .length = (first >> 3) % 70,
            .zerofill = first & 1};
        columns[i].decimals = first % 40;
    }
    mysql_put_text_row(&b, columns, v, n);
    r = mysql_reader(buf_str(&b));
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        if (r.rest.len && (uint8_t)*r.rest.p == 0xfb)
            (void)mysql_read_int(&r, 1);
        else
            (void)mysql_read_lenstr(&r);
    }
    ENSURE(!r.bad && r.rest.len == 0);
    buf_clear(&b);
    mysql_put_binary_row(&b, columns, v, n);
    r = mysql_reader(buf_str(&b));
    (void)mysql_read_int(&r, 1);
    nulls = mysql_read_bytes(&r, (n + 9) / 8);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        if (!(nulls.p[(i + 2) / 8] >> ((i + 2) % 8) & 1))
            skip(&r, columns[i].type.base);
    }
    ENSURE(!r.bad && r.rest.len == 0);
    buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mysql_param_type types[PARAMS];
    struct mysql_params p = {.types = types};
    struct db_value v[PARAMS];
    struct arena arena = {0};
    struct mysql_reader r;
    char *copy;

    if (size < 2)
        return 0;
    memset(types, 0, sizeof(types));
    memset(v, 0, sizeof(v));
    p.n = data[0] % (PARAMS + 1);
    copy = mem_new(size - 2);
    memcpy(copy, data + 2, size - 2);
    r = mysql_reader(str_n(copy, size - 2));
    if (mysql_parse_params(&p, &r, &arena, v) == 0)
        write_rows(v, p.n, data[1]);
    arena_fini(&arena);
    mem_free(copy);
    return 0;
}
