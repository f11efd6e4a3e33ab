/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/kv/bed.h"

#include "base/mem.h"

void bed_open(struct bed *b, size_t memory, enum kv_policy policy)
{
    *b = (struct bed){.fd = -1};
    ENSURE(kv_store_create(&(struct kv_options){memory, policy}, &b->fd) == 0);
    ENSURE(kv_store_open(b->fd, &b->s) == 0);
}

void bed_close(struct bed *b)
{
    kv_store_close(b->s);
    buf_fini(&b->buf);
    fs_close(b->fd);
}

int bed_set(struct bed *b, const char *key, const char *value)
{
    struct kv_value v = bed_string(value);

    return kv_store_set(b->s, str_c(key), &v, 0, 0);
}

struct str bed_get(struct bed *b, const char *key)
{
    int r = kv_store_get(b->s, str_c(key), &b->buf, &b->v);

    if (r)
        return r == ERR_NOTFOUND ? STR("(none)") : STR("(error)");
    return b->v.type == KV_STRING ? b->v.bytes : STR("(other)");
}

void bed_reclaim(struct bed *b)
{
    while (kv_store_reclaim(b->s, 1))
        continue;
}

struct kv_stats bed_stats(struct bed *b)
{
    struct kv_stats st;

    kv_store_stats(b->s, &st);
    return st;
}
