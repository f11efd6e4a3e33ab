/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * bench_kv [KEYS [memory]]  What an operation of the key-value store costs with 64-byte values: one
 * process, then four at once; or what memory each key takes, only. CPU time tells on a busy
 * machine, the clock's time on a quiet one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "kv/collections.h"

#define STEPS 1000000u
#define VALUE 64

enum operation { GET, SET, INCR, MISS, MIX };

static const char *const names[] = {"get", "set", "incr, one key", "get, missing", "90% get"};

struct bench {
    struct kv_store *s;
    struct buf buf;
    unsigned keys;
    uint64_t random;
};

static double seconds(clockid_t id)
{
    struct timespec t;

    (void)clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* "user:0000001234": 15 bytes, made without printf(), which would cost more than the store. */
static struct str key_of(char *p, unsigned i, char first)
{
    memcpy(p, "user:0000000000", 15);
    p[0] = first;
    for (char *q = p + 14; i; i /= 10)
        *q-- = (char)('0' + i % 10);
    return str_n(p, 15);
}

static void step(struct bench *b, enum operation op)
{
    static const char bytes[VALUE];
    struct kv_value v = {.type = KV_STRING, .bytes = {bytes, VALUE}};
    char name[16];
    struct str key;
    int64_t n;

    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    key = key_of(name, (unsigned)((b->random >> 32) * b->keys >> 32), op == MISS ? 'x' : 'u');
    if (op == MIX)
        op = (b->random >> 20) % 10 == 0 ? SET : GET;
    if (op == SET)
        ENSURE(kv_store_set(b->s, key, &v, 0, 0) == 0);
    else if (op == INCR)
        ENSURE(kv_store_incr(b->s, STR("counter"), 1, &n) == 0);
    else
        (void)!kv_store_get(b->s, key, &b->buf, &v);
}

static void measure(struct bench *b, enum operation op, const char *who)
{
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);

    for (unsigned i = 0; i < STEPS; i++)
        step(b, op);
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = seconds(CLOCK_MONOTONIC) - wall;
    printf("%-12s %-14s %6.0f ns CPU %6.0f ns elapsed\n", who, names[op], cpu / STEPS * 1e9,
        wall / STEPS * 1e9);
    fflush(stdout);
}

/* ---- collections ---- */

enum { HSET, HGET, LPUSH, LINDEX, ZADD, ZRANK, COLL_OPERATIONS };

static const char *const coll_names[] = {
    "hset", "hget", "lpush", "lindex, middle", "zadd", "zrank"};

/* Fills while i is new, then changes and reads. */
static void coll_step(struct bench *b, int op, unsigned i, unsigned n)
{
    struct kv_value v = {.type = KV_STRING, .bytes = STR("a value of an element")};
    char name[16];
    struct kv_item item = {.member = key_of(name, i, 'm'), .value = v, .score = (double)(i % 1000)};
    struct kv_zadd done;
    uint64_t at;
    size_t added;
    double score;

    if (op == HSET)
        ENSURE(kv_hash_set(b->s, STR("hash"), &item, 1, 0, &added) == 0);
    else if (op == HGET)
        ENSURE(kv_hash_get(b->s, STR("hash"), item.member, &b->buf, &v) == 0);
    else if (op == LPUSH)
        ENSURE(kv_list_push(b->s, STR("list"), KV_HEAD, &v, 1, 0, &at) == 0);
    else if (op == LINDEX)
        ENSURE(kv_list_index(b->s, STR("list"), n / 2, &b->buf, &v) == 0);
    else if (op == ZADD)
        ENSURE(kv_zset_add(b->s, STR("zset"), &item, 1, 0, &done) == 0);
    else
        ENSURE(kv_zset_rank(b->s, STR("zset"), item.member, false, &at, &score) == 0);
}

static void collections(struct bench *b, unsigned n)
{
    static const char *const keys[] = {"hash", "list", "zset"};
    double cpu;

    for (int op = HSET; op < COLL_OPERATIONS; op++) {
        unsigned steps = op == HSET || op == LPUSH || op == ZADD ? n : 100000;

        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (unsigned i = 0; i < steps; i++) {
            b->random = b->random * 6364136223846793005u + 1442695040888963407u;
            coll_step(b, op, steps == n ? i : (unsigned)((b->random >> 32) * n >> 32), n);
        }
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        printf("%7u elements %-14s %6.0f ns CPU\n", n, coll_names[op], cpu / steps * 1e9);
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct kv_info info;

        ENSURE(kv_store_info(b->s, str_c(keys[i]), &info) == 0);
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        ENSURE(kv_store_del(b->s, str_c(keys[i])) == 0);
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        printf("%7u elements of a %s: %.0f bytes for each, %.1f ms to delete them\n", n, keys[i],
            (double)info.bytes / (double)info.count, cpu * 1e3);
    }
}

static void together(int fd, unsigned keys, unsigned n, enum operation op)
{
    fflush(stdout);
    for (unsigned i = 0; i < n; i++) {
        if (fork() == 0) {
            struct bench b = {.keys = keys, .random = i + 1};

            ENSURE(kv_store_open(fd, &b.s) == 0);
            measure(&b, op, "one of four");
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        continue;
}

int main(int argc, char **argv)
{
    struct bench b = {
        .keys = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000, .random = 1};
    struct kv_stats st;
    int fd;

    ENSURE(kv_store_create(&(struct kv_options){(size_t)256 << 20, KV_ALLKEYS_LRU}, &fd) == 0);
    ENSURE(kv_store_open(fd, &b.s) == 0);
    for (unsigned i = 0; i < b.keys; i++) {
        char name[16], bytes[VALUE] = {0};
        struct kv_value v = {.type = KV_STRING, .bytes = {bytes, VALUE}};

        ENSURE(kv_store_set(b.s, key_of(name, i, 'u'), &v, 0, 0) == 0);
    }
    kv_store_stats(b.s, &st);
    printf("%u keys, %u-byte values, %.0f bytes of memory for each\n", b.keys, VALUE,
        (double)st.used / (double)st.keys);
    if (argc > 2)
        return 0;
    for (int op = GET; op <= MIX; op++)
        measure(&b, (enum operation)op, "one process");
    for (int op = GET; op <= MIX; op++)
        together(fd, b.keys, 4, (enum operation)op);
    kv_store_close(b.s);
    ENSURE(kv_store_create(&(struct kv_options){(size_t)512 << 20, KV_NOEVICTION}, &fd) == 0);
    ENSURE(kv_store_open(fd, &b.s) == 0);
    collections(&b, 100);
    collections(&b, 100000);
    collections(&b, 1000000);
    return 0;
}
