/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The tables: a document that they take survives being serialized, and its dump reads back. */
#include <stdint.h>

#include "base/mem.h"
#include "engine/config.h"
#include "engine/config_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct loaded {
    struct arena arena;
    struct config base; /* only the sections of it are filled */
    struct conf conf;
};

static void start(struct loaded *l)
{
    memset(l, 0, sizeof(*l));
    conf_init(&l->conf, &config_table, &l->base, &l->arena);
}

static void check_round_trip(struct loaded *from)
{
    struct buf one = {0}, two = {0};
    struct loaded to;
    struct err err;

    start(&to);
    conf_serialize(&from->conf, &one);
    ENSURE(conf_deserialize(&to.conf, buf_str(&one), &err) == 0);
    conf_serialize(&to.conf, &two);
    ENSURE(str_eq(buf_str(&one), buf_str(&two)));
    buf_clear(&one);
    conf_dump(&to.conf, &one);
    arena_fini(&to.arena);
    buf_fini(&one);
    buf_fini(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct loaded l;
    struct err err = {0};

    start(&l);
    if (conf_read_text(&l.conf, "fuzz", str_n((const char *)data, size), &err) == 0)
        check_round_trip(&l);
    else
        ENSURE(err.text[0]);
    arena_fini(&l.arena);
    start(&l);
    (void)(conf_deserialize(&l.conf, str_n((const char *)data, size), &err) == 0);
    arena_fini(&l.arena);
    return 0;
}
