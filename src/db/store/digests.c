/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/digests.h"

#include "base/mem.h"
#include "platform/clock.h"
#include "platform/random.h"

struct entry {
    struct list link;
    struct db_digest d;
    char key[sizeof(uint64_t) + sizeof(void *)];
    char *text; /* database and digest, one after the other */
};

void store_digests_init(struct store_digests *d, uint32_t max)
{
    uint64_t seed;

    random_bytes(&seed, sizeof(seed));
    pthread_mutex_init(&d->mutex, NULL);
    map_init(&d->map, seed);
    list_init(&d->used);
    d->n = 0;
    d->max = max;
}

static struct str key_of(struct entry *e)
{
    return str_n(e->key, sizeof(e->key));
}

static void drop(struct store_digests *d, struct entry *e)
{
    list_remove(&e->link);
    (void)map_del(&d->map, key_of(e));
    mem_free(e->text);
    mem_free(e);
    d->n--;
}

void store_digests_fini(struct store_digests *d)
{
    while (!list_empty(&d->used))
        drop(d, CONTAINER_OF(d->used.next, struct entry, link));
    map_fini(&d->map);
    pthread_mutex_destroy(&d->mutex);
}

static struct entry *add(
    struct store_digests *d, const char *key, struct str database, uint64_t hash, struct str text)
{
    struct entry *e = mem_new(sizeof(*e));

    while (d->n >= d->max && d->n > 0)
        drop(d, CONTAINER_OF(d->used.next, struct entry, link));
    memcpy(e->key, key, sizeof(e->key));
    e->text = mem_new(database.len + text.len + 1);
    if (database.len)
        memcpy(e->text, database.p, database.len);
    if (text.len)
        memcpy(e->text + database.len, text.p, text.len);
    e->d.database = str_n(e->text, database.len);
    e->d.text = str_n(e->text + database.len, text.len);
    e->d.hash = hash;
    e->d.first_seen = clock_wall_us();
    list_init(&e->link);
    (void)map_set(&d->map, key_of(e), e);
    d->n++;
    return e;
}

static unsigned bucket_of(uint64_t us)
{
    unsigned i = 0;

    while (i < ARRAY_LEN(((struct db_digest *)0)->histogram) - 1 && us > (1ULL << i))
        i++;
    return i;
}

void store_digests_add(struct store_digests *d, const void *db, struct str database, uint64_t hash,
    struct str text, uint64_t us, bool failed, uint64_t sent, uint64_t changed)
{
    char key[sizeof(uint64_t) + sizeof(void *)];
    struct entry *e;

    memcpy(key, &hash, sizeof(hash));
    memcpy(key + sizeof(hash), &db, sizeof(db));
    pthread_mutex_lock(&d->mutex);
    e = map_get(&d->map, str_n(key, sizeof(key)));
    if (!e)
        e = add(d, key, database, hash, text);
    list_remove(&e->link);
    list_push(&d->used, &e->link);
    e->d.count++;
    e->d.errors += failed;
    e->d.rows_sent += sent;
    e->d.rows_changed += changed;
    e->d.total_us += us;
    e->d.max_us = MAX(e->d.max_us, us);
    e->d.last_seen = clock_wall_us();
    e->d.histogram[bucket_of(us)]++;
    pthread_mutex_unlock(&d->mutex);
}

void store_digests_each(struct store_digests *d, struct str database,
    void (*cb)(void *arg, const struct db_digest *digest), void *arg)
{
    pthread_mutex_lock(&d->mutex);
    list_each (it, &d->used) {
        struct entry *e = CONTAINER_OF(it, struct entry, link);

        if (database.len == 0 || str_eq(database, e->d.database))
            cb(arg, &e->d);
    }
    pthread_mutex_unlock(&d->mutex);
}
