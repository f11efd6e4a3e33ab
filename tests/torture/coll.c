/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "torture/coll.h"

#include <stdio.h>

#define EACH    6   /* collections of a kind */
#define MEMBERS 400 /* numbers that are used in one */
#define LARGE   70000

static const enum kv_type kinds[] = {KV_HASH, KV_LIST, KV_SET, KV_ZSET};

static struct str key_of(char *p, enum kv_type kind, unsigned i)
{
    return str_n(p, (size_t)snprintf(p, 32, "coll:%d:%u", kind, i));
}

/* "m123", with more bytes for some numbers. */
static struct str text_of(char *p, char first, unsigned number)
{
    size_t n = (size_t)snprintf(p, 300, "%c%u", first, number), most = number % 50 * 4;

    while (n < most)
        p[n++] = '.';
    return str_n(p, n);
}

static struct kv_item item_of(char member[300], char value[300], enum kv_type kind, unsigned number)
{
    struct kv_item item = {.member = text_of(member, 'm', number), .score = number / 3};

    if (kind == KV_LIST)
        item.member = STR_NONE;
    item.value = (struct kv_value){.type = KV_STRING};
    if (kind == KV_HASH || kind == KV_LIST)
        item.value.bytes = text_of(value, 'v', number);
    return item;
}

/* Does the element say the same everywhere? */
static bool is_whole(enum kv_type kind, const struct kv_item *item)
{
    struct str text = kind == KV_LIST ? item->value.bytes : item->member;
    char member[300], value[300];
    struct kv_item same;
    unsigned number = 0;

    for (size_t i = 1; i < text.len && text.p[i] != '.'; i++)
        number = number * 10 + (unsigned)(text.p[i] - '0');
    same = item_of(member, value, kind, number % 100000);
    if (kind == KV_HASH && item->value.bytes.len == LARGE)
        return str_eq(item->member, same.member) && item->value.bytes.p[LARGE - 1] == 'L';
    return str_eq(item->member, same.member) && str_eq(item->value.bytes, same.value.bytes) &&
           (kind != KV_ZSET || item->score == same.score);
}

/* All of it at one moment: as many elements as it says, all whole, in order. */
static bool read_all(struct kv_store *s, struct str key, enum kv_type kind)
{
    struct kv_items items = {0};
    struct kv_info info;
    struct kv_item item;
    uint64_t at = 0, n = 0;
    double last = 0;
    bool good = true;
    int r = kv_coll_read(s, key, &at, SIZE_MAX, &info, &items);

    for (; r == 0 && good && kv_items_next(&items, &item); n++) {
        good = is_whole(kind, &item) && (kind != KV_ZSET || item.score >= last);
        last = item.score;
    }
    kv_items_fini(&items);
    if (r)
        return r == ERR_NOTFOUND;
    return good && info.type == kind && n == info.count && n > 0 && at == 0;
}

static int add(struct kv_store *s, struct str key, enum kv_type kind, unsigned number)
{
    char large[LARGE];
    char member[300], value[300];
    struct kv_item item = item_of(member, value, kind, number);

    if (kind == KV_HASH && number % 100 == 7) {
        memset(large, 'L', sizeof(large));
        item.value.bytes = str_n(large, sizeof(large));
    }
    return kv_coll_add(s, key, kind, &item, 1);
}

static int take(struct kv_store *s, struct str key, enum kv_type kind, unsigned number)
{
    struct kv_items items = {0};
    char member[300];
    struct str name = text_of(member, 'm', number);
    size_t removed;
    int r;

    if (kind == KV_LIST)
        r = kv_list_pop(s, key, number % 2 ? KV_HEAD : KV_TAIL, 1, &items);
    else if (kind == KV_ZSET && number % 20 == 0)
        r = kv_zset_pop(s, key, KV_HEAD, 10, &items);
    else if (kind == KV_SET && number % 20 == 0)
        r = kv_set_pop(s, key, 10, &items);
    else
        r = kv_coll_rem(s, key, kind, &name, 1, &removed);
    kv_items_fini(&items);
    return r == ERR_NOTFOUND ? 0 : r;
}

static int replace(struct kv_store *s, struct str key, enum kv_type kind, unsigned number)
{
    enum { N = 100 };
    char members[N][300], values[N][300];
    struct kv_item items[N];

    for (unsigned i = 0; i < N; i++)
        items[i] = item_of(members[i], values[i], kind, (number + i) % MEMBERS);
    return kv_coll_replace(s, key, kind, items, N, number % 2 ? 0 : 1 + number * 100);
}

bool coll_step(struct kv_store *s, uint64_t random)
{
    enum kv_type kind = kinds[random % 4];
    unsigned number = (unsigned)(random >> 8) % MEMBERS, op = (unsigned)(random >> 32) % 100;
    unsigned which = (unsigned)(random >> 48) % EACH;
    char name[32];
    struct str key = key_of(name, kind, which);
    uint64_t len = 0;
    int r = kv_coll_len(s, key, kind, &len);

    if (r)
        return false;
    if (len > MEMBERS && kind == KV_LIST)
        r = kv_list_trim(s, key, 0, MEMBERS / 2);
    else if (op < 50)
        r = add(s, key, kind, number);
    else if (op < 80)
        r = take(s, key, kind, number);
    else if (op < 82)
        r = replace(s, key, kind, number);
    else if (op < 83)
        (void)!kv_store_expire(s, key, number * 100);
    else if (op < 84)
        (void)!kv_store_del(s, key);
    else
        return read_all(s, key, kind);
    return r == 0 || r == ERR_FULL;
}

/* The trees of a collection have the same elements. */
static bool trees_agree(struct kv_store *s, struct str key, enum kv_type kind)
{
    struct kv_items items = {0};
    uint64_t cursor = 0, len = 0, rank, n = 0;
    struct kv_item item;
    double score;
    bool good = kv_coll_len(s, key, kind, &len) == 0;

    do {
        good = good && kv_coll_scan(s, key, kind, &cursor, 100, &items) == 0;
        for (; good && kv_items_next(&items, &item); n++)
            good =
                is_whole(kind, &item) &&
                (kind != KV_ZSET || (kv_zset_rank(s, key, item.member, false, &rank, &score) == 0 &&
                                        rank < len && score == item.score));
    } while (good && cursor);
    kv_items_fini(&items);
    return good && n == len;
}

bool coll_check_all(struct kv_store *s)
{
    bool good = true;
    char name[32];

    for (unsigned k = 0; k < 4; k++) {
        for (unsigned i = 0; i < EACH; i++) {
            struct str key = key_of(name, kinds[k], i);

            good = good && read_all(s, key, kinds[k]) &&
                   (kinds[k] == KV_LIST || trees_agree(s, key, kinds[k]));
            (void)!kv_store_del(s, key);
        }
    }
    return good;
}
