/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * A store into which somebody writes anything anywhere, its locks excepted. The input is a program:
 * an operation byte and its operands, until it ends. Nothing crashes or hangs; after a flush the
 * store is as good as new.
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "kv/collections.h"
#include "kv/layout.h"
#include "kv/repair.h"
#include "kv/shard.h"
#include "platform/fs.h"

#define MEMORY  KV_MEMORY_MIN
#define LARGEST 100000
#define STEPS   50

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *p;
    size_t left;
};

struct bed {
    struct kv_store *s;
    struct buf buf;
    struct kv_value out;
    char *bytes; /* for values */
};

/* Up to 8 bytes, zero-extended. */
static uint64_t get(struct input *in, size_t n)
{
    uint64_t v = 0;

    n = MIN(n, in->left);
    memcpy(&v, in->p, n);
    in->p += n;
    in->left -= n;
    return v;
}

static struct str get_key(struct input *in)
{
    static const char names[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    return str_n(names + get(in, 1) % 16, 1);
}

static struct kv_value get_value(struct bed *b, struct input *in)
{
    static const uint32_t sizes[] = {0, 8, 100, 3000, 40000, 70000, 8, 100};

    if (get(in, 1) % 4 == 0)
        return (struct kv_value){.type = KV_INT, .i = (int64_t)get(in, 2)};
    return (struct kv_value){
        .type = KV_STRING, .bytes = {b->bytes, sizes[get(in, 1) % ARRAY_LEN(sizes)]}};
}

/* A section of the segment, without locks and what the opening process has checked. */
static char *get_place(struct bed *b, struct input *in, size_t *room)
{
    const struct kv_plan *p = &b->s->plan;
    char *base = b->s->base;
    struct kv_shard *sh = b->s->shards;

    switch (get(in, 1) % 8) {
    case 0:
        *room = KV_HEADER_SIZE - offsetof(struct kv_header, freed);
        return base + offsetof(struct kv_header, freed);
    case 1:
        *room = sizeof(*sh) - offsetof(struct kv_shard, changes);
        return (char *)&sh->changes;
    case 2:
        *room = p->marks - p->buckets;
        return base + p->buckets;
    case 3:
    case 4:
        *room = p->data - p->pages;
        return base + p->pages;
    default:
        *room = p->end - p->data;
        return base + p->data;
    }
}

/* Bytes of the input, or a word of them many times, at a place that entries are likely at. */
static void scribble(struct bed *b, struct input *in)
{
    size_t room, at, n, step;
    char *p = get_place(b, in, &room);
    uint64_t word;

    at = (size_t)get(in, 2) * 16 % room;
    n = (size_t)get(in, 1);
    step = (size_t)(get(in, 1) % 64 + 1) * 4;
    word = get(in, 4);
    for (; n > 0 && at + 4 <= room; n--, at += step)
        memcpy(p + at, &word, 4);
}

/* A reference of one kind in the place of another: chains that join, cycles. */
static void cross(struct bed *b, struct input *in)
{
    _Atomic uint32_t *from = kv_bucket_of(b->s, kv_hash(b->s, get_key(in)));
    _Atomic uint32_t *to = kv_bucket_of(b->s, kv_hash(b->s, get_key(in)));
    uint32_t ref = KV_GET(*from);

    if (get(in, 1) % 2 && kv_room(b->s, KV_GET(*to)))
        to = &kv_at(b->s, KV_GET(*to))->next;
    KV_SET(*to, ref);
}

static bool on_key(void *arg, struct str key)
{
    return ++*(unsigned *)arg < 1000;
}

static void use(struct bed *b, struct input *in)
{
    struct str key = get_key(in);
    struct kv_value v = get_value(b, in);
    uint64_t cursor = get(in, 1), version;
    unsigned seen = 0;
    int64_t n;
    size_t len;

    switch (get(in, 1) % 12) {
    case 0:
        (void)!kv_store_del(b->s, key);
        break;
    case 1:
        (void)!kv_store_incr(b->s, key, 1, &n);
        break;
    case 2:
        (void)!kv_store_append(b->s, key, v.type == KV_STRING ? v.bytes : STR("x"), &len);
        break;
    case 3:
        kv_store_scan(b->s, &cursor, STR("*"), 100, on_key, &seen);
        break;
    case 4:
        kv_store_sweep(b->s, 1000);
        break;
    case 5:
        (void)!kv_store_wait(b->s, key, get(in, 1), 0, &b->buf, &b->out, &version);
        break;
    case 6:
        kv_shard_lock(b->s, 0);
        kv_repair(b->s, 0);
        kv_shard_unlock(b->s, 0);
        break;
    case 7:
        (void)!kv_store_getset(b->s, key, &v, &b->buf, &b->out);
        break;
    case 8:
        (void)!kv_store_expire(b->s, key, (int64_t)get(in, 1));
        (void)!kv_store_ttl(b->s, key, &n);
        break;
    default:
        if (kv_store_get(b->s, key, &b->buf, &b->out) == 0)
            ENSURE(b->buf.len <= KV_VALUE_MAX);
        break;
    }
}

/* Collections, whose trees may lead anywhere. */
static void use_coll(struct bed *b, struct input *in)
{
    static const enum kv_type kinds[] = {KV_HASH, KV_LIST, KV_SET, KV_ZSET};
    enum kv_type kind = kinds[get(in, 1) % 4];
    struct kv_range range = {.by = KV_BY_RANK, .start = (int64_t)get(in, 1), .stop = 200};
    struct str key = get_key(in), other = get_key(in), member = get_key(in);
    struct kv_items items = {0};
    uint64_t at = 0, n;
    struct kv_info info;
    struct kv_zadd done;
    size_t removed;

    switch (get(in, 1) % 12) {
    case 0:
        (void)!kv_coll_rem(b->s, key, kind, &member, 1, &removed);
        break;
    case 1:
        (void)!kv_list_trim(b->s, key, range.start, -range.start);
        break;
    case 2:
        (void)!kv_zset_rem_range(b->s, key, &range, &n);
        break;
    case 3:
        (void)!kv_coll_scan(b->s, key, kind, &at, 10, &items);
        break;
    case 4:
        (void)!kv_coll_read(b->s, key, &at, 100, &info, &items);
        break;
    case 5:
        (void)!kv_coll_random(b->s, key, kind, 5, &items);
        break;
    case 6:
        (void)!kv_set_pop(b->s, key, 3, &items);
        break;
    case 7:
        (void)!kv_store_copy(b->s, key, other, 0);
        break;
    case 8:
        (void)!kv_list_pop(b->s, key, KV_TAIL, (uint64_t)range.start, &items);
        break;
    case 9:
        (void)!kv_zset_add(b->s, key,
            &(struct kv_item){.member = member, .score = (double)get(in, 1)}, 1, 0, &done);
        break;
    default:
        (void)!kv_coll_all(b->s, key, kind, &items);
        break;
    }
    kv_items_fini(&items);
}

/* Many elements at once, more than a leaf has. */
static void add_coll(struct bed *b, struct input *in)
{
    enum { N = 100 };
    static const enum kv_type kinds[] = {KV_HASH, KV_LIST, KV_SET, KV_ZSET};
    struct str key = get_key(in);
    size_t n = get(in, 1) % N;
    uint64_t first = get(in, 1);
    struct kv_item items[N];

    for (size_t i = 0; i < n; i++) {
        items[i] = (struct kv_item){
            .member = {b->bytes + first + i, i % 20}, .score = (double)((first * i) % 16)};
        items[i].value = (struct kv_value){.type = KV_STRING, .bytes = {b->bytes, i}};
        b->bytes[first + i] = (char)(i * 7);
    }
    (void)!kv_coll_add(b->s, key, kinds[get(in, 1) % 4], items, n);
}

static void set(struct bed *b, struct input *in)
{
    struct str key = get_key(in);
    struct kv_value v = get_value(b, in);

    (void)!kv_store_set(b->s, key, &v, 0, (int64_t)get(in, 1) % 3 * 1000);
}

static void check_good_as_new(struct bed *b)
{
    struct kv_value v = {.type = KV_STRING, .bytes = {b->bytes, LARGEST}};
    struct kv_stats st;

    kv_store_flush(b->s);
    kv_store_stats(b->s, &st);
    ENSURE(st.used == 0 && st.keys == 0);
    ENSURE(kv_store_set(b->s, STR("k"), &v, 0, 0) == 0);
    ENSURE(kv_store_get(b->s, STR("k"), &b->buf, &b->out) == 0);
    ENSURE(str_eq(b->out.bytes, v.bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct bed b = {0};
    unsigned how = (unsigned)get(&in, 1);
    struct kv_options opt = {
        MEMORY, (enum kv_policy)(how % 4), {(enum kv_algorithm)(how / 4 % 4), 1, 64}};
    bool all_pages = true;
    int fd;

    ENSURE(kv_store_create(&opt, &fd) == 0);
    ENSURE(kv_store_open(fd, &b.s) == 0);
    b.bytes = mem_new(LARGEST);
    for (int i = 0; i < STEPS && in.left > 0; i++) {
        unsigned op = (unsigned)get(&in, 1) % 16;

        if (op < 2)
            scribble(&b, &in);
        else if (op < 3)
            cross(&b, &in);
        else if (op < 6)
            set(&b, &in);
        else if (op < 9)
            add_coll(&b, &in);
        else if (op < 12)
            use_coll(&b, &in);
        else
            use(&b, &in);
    }
    /* A page whose owner word was written over belongs to nobody for good. */
    for (uint32_t p = 0; p < b.s->plan.npages; p++) {
        uint32_t owner = KV_GET(b.s->pages[p].owner);

        all_pages = all_pages && (owner == 0 || owner >> 8 == 1);
    }
    if (all_pages)
        check_good_as_new(&b);
    kv_store_close(b.s);
    buf_fini(&b.buf);
    mem_free(b.bytes);
    fs_close(fd);
    return 0;
}
