/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

/* key NULL, value NULL: never used.  key NULL, value not NULL: deleted. */
struct map_slot {
    char *key;
    size_t len;
    uint64_t hash;
    void *value;
};

static char map_deleted;

void map_init(struct map *m, uint64_t seed)
{
    *m = (struct map){.seed = seed};
}

void map_fini(struct map *m)
{
    for (size_t i = 0; i < m->cap; i++)
        mem_free(m->slots[i].key);
    mem_free(m->slots);
    *m = (struct map){.seed = m->seed};
}

static uint64_t map_hash(const struct map *m, struct str key)
{
    return XXH3_64bits_withSeed(key.p ? key.p : "", key.len, m->seed);
}

/* The key's slot, or NULL; linear probing over a power-of-two table. */
static struct map_slot *map_find(const struct map *m, struct str key, uint64_t hash)
{
    if (m->cap == 0)
        return NULL;
    for (size_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct map_slot *s = &m->slots[i];

        if (!s->key && !s->value)
            return NULL;
        if (s->key && s->hash == hash && str_eq(str_n(s->key, s->len), key))
            return s;
    }
}

static void map_rehash(struct map *m)
{
    struct map_slot *old = m->slots;
    size_t old_cap = m->cap;

    m->cap = 16;
    while (m->cap < m->count * 3)
        m->cap *= 2;
    m->slots = mem_new_array(m->cap, sizeof(*m->slots));
    m->used = m->count;
    for (size_t i = 0; i < old_cap; i++) {
        size_t j;

        if (!old[i].key)
            continue;
        j = old[i].hash & (m->cap - 1);
        while (m->slots[j].key)
            j = (j + 1) & (m->cap - 1);
        m->slots[j] = old[i];
    }
    mem_free(old);
}

void *map_get(const struct map *m, struct str key)
{
    struct map_slot *s = map_find(m, key, map_hash(m, key));

    return s ? s->value : NULL;
}

void *map_set(struct map *m, struct str key, void *value)
{
    uint64_t hash = map_hash(m, key);
    struct map_slot *s = map_find(m, key, hash);
    size_t i;

    ENSURE(value);
    if (s) {
        void *old = s->value;

        s->value = value;
        return old;
    }
    if ((m->used + 1) * 3 > m->cap * 2)
        map_rehash(m);
    i = hash & (m->cap - 1);
    while (m->slots[i].key || m->slots[i].value)
        i = (i + 1) & (m->cap - 1);
    m->slots[i] = (struct map_slot){mem_dup_str(key.p, key.len), key.len, hash, value};
    m->used++;
    m->count++;
    return NULL;
}

void *map_del(struct map *m, struct str key)
{
    struct map_slot *s = map_find(m, key, map_hash(m, key));
    void *value;

    if (!s)
        return NULL;
    value = s->value;
    mem_free(s->key);
    *s = (struct map_slot){.value = &map_deleted};
    m->count--;
    return value;
}

bool map_next(const struct map *m, size_t *it, struct str *key, void **value)
{
    while (*it < m->cap) {
        struct map_slot *s = &m->slots[(*it)++];

        if (s->key) {
            *key = str_n(s->key, s->len);
            *value = s->value;
            return true;
        }
    }
    return false;
}
