/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_KV_BED_H
#define EPHPM_TESTS_UNIT_KV_BED_H

/* A store to try things on, and short forms of what tests do most. */

#include "kv/store.h"
#include "platform/fs.h"
#include "unit/test.h"

struct bed {
    int fd;
    struct kv_store *s;
    struct buf buf;
    struct kv_value v;
};

void bed_open(struct bed *b, size_t memory, enum kv_policy policy);
void bed_close(struct bed *b);
int bed_set(struct bed *b, const char *key, const char *value);
/* The string at the key, "(none)", or "(other)" for other types; until the next one. */
struct str bed_get(struct bed *b, const char *key);
/* Frees what deleted collections have left. */
void bed_reclaim(struct bed *b);
struct kv_stats bed_stats(struct bed *b);

static inline struct kv_value bed_string(const char *text)
{
    return (struct kv_value){.type = KV_STRING, .bytes = str_c(text)};
}

static inline struct kv_value bed_int(int64_t i)
{
    return (struct kv_value){.type = KV_INT, .i = i};
}

#define MB(n) ((size_t)(n) << 20)

#endif
