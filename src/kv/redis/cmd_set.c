/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Sets. */
#include "base/map.h"
#include "base/mem.h"
#include "kv/redis/coll.h"
#include "platform/random.h"

/* ---- one set ---- */

static void cmd_sadd(struct redis_call *c)
{
    size_t added = 0;
    int r = kv_set_add(c->store, c->argv[1], c->argv + 2, c->argc - 2, &added);

    coll_reply_int(c, r, (int64_t)added);
}

static void cmd_srem(struct redis_call *c)
{
    coll_cmd_rem(c, KV_SET);
}

static void cmd_scard(struct redis_call *c)
{
    coll_cmd_len(c, KV_SET);
}

static void cmd_sismember(struct redis_call *c)
{
    coll_cmd_has(c, KV_SET);
}

static void cmd_sscan(struct redis_call *c)
{
    coll_cmd_scan(c, KV_SET);
}

static void cmd_srandmember(struct redis_call *c)
{
    if (c->argc > 3)
        call_syntax_error(c);
    else
        coll_cmd_random(c, KV_SET, NULL);
}

static void cmd_smismember(struct redis_call *c)
{
    uint64_t n;

    if (!coll_len(c, c->argv[1], KV_SET, &n))
        return;
    reply_array(c->reply, c->argc - 2);
    for (size_t i = 2; i < c->argc; i++)
        reply_int(c->reply, kv_coll_has(c->store, c->argv[1], KV_SET, c->argv[i]) == 0);
}

static void reply_members(struct redis_call *c, struct kv_items *items)
{
    struct kv_item item;

    reply_set(c->reply, items->n);
    while (kv_items_next(items, &item))
        reply_bulk(c->reply, item.member);
}

static void cmd_smembers(struct redis_call *c)
{
    struct kv_items items = {0};

    if (coll_all(c, c->argv[1], KV_SET, &items))
        reply_members(c, &items);
    kv_items_fini(&items);
}

static void cmd_spop(struct redis_call *c)
{
    struct kv_items items = {0};
    struct kv_item item;
    uint64_t count = 1;
    int r;

    if (c->argc > 3) {
        call_syntax_error(c);
        return;
    }
    if (c->argc == 3 && !coll_count(c, 2, &count))
        return;
    r = kv_set_pop(c->store, c->argv[1], count, &items);
    if (r)
        call_store_error(c, r);
    else if (c->argc == 3)
        reply_members(c, &items);
    else if (kv_items_next(&items, &item))
        reply_bulk(c->reply, item.member);
    else
        reply_null(c->reply);
    kv_items_fini(&items);
}

/* First to the new place, then away from the old one: who is killed in between leaves it in both.
 */
static void cmd_smove(struct redis_call *c)
{
    struct str from = c->argv[1], to = c->argv[2], member = c->argv[3];
    size_t n;
    uint64_t len;
    int r = kv_coll_has(c->store, from, KV_SET, member);
    int target = kv_coll_len(c->store, to, KV_SET, &len);

    if (r == 0)
        r = target;
    else if (r == ERR_NOTFOUND && target == ERR_TYPE && kv_store_exists(c->store, from))
        r = target;
    if (r == 0 && !str_eq(from, to)) {
        r = kv_set_add(c->store, to, &member, 1, &n);
        if (r == 0)
            r = kv_coll_rem(c->store, from, KV_SET, &member, 1, &n);
    }
    coll_reply_int(c, r == ERR_NOTFOUND ? 0 : r, r == 0);
}

/* ---- several sets ---- */

/* Members gathered; the items of `all` are borrowed. */
struct gathered {
    struct kv_items all;
    struct buf members; /* struct kv_item, one after the other */
    size_t n;
};

static void gather(struct gathered *g, const struct kv_item *item)
{
    buf_add(&g->members, item, sizeof(*item));
    g->n++;
}

static void gathered_fini(struct gathered *g)
{
    kv_items_fini(&g->all);
    buf_fini(&g->members);
}

typedef bool combine_cb(
    struct redis_call *c, const struct str *keys, size_t n, uint64_t limit, struct gathered *g);

/* Is it in all of these sets, or in none of them? 1, 0, or an error. */
static int is_in(
    struct redis_call *c, const struct str *keys, size_t n, struct str member, bool in_all)
{
    for (size_t i = 0; i < n; i++) {
        int r = kv_coll_has(c->store, keys[i], KV_SET, member);

        if (r && r != ERR_NOTFOUND)
            return r;
        if ((r == 0) != in_all)
            return 0;
    }
    return 1;
}

/* Members of the first set of which is_in() says so of the others. */
static bool select_members(struct redis_call *c, struct str first, const struct str *others,
    size_t n, bool in_all, uint64_t limit, struct gathered *g)
{
    struct kv_item item;

    if (!coll_all(c, first, KV_SET, &g->all))
        return false;
    while ((limit == 0 || g->n < limit) && kv_items_next(&g->all, &item)) {
        int r = is_in(c, others, n, item.member, in_all);

        if (r < 0) {
            call_store_error(c, r);
            return false;
        }
        if (r)
            gather(g, &item);
    }
    return true;
}

static bool intersect(
    struct redis_call *c, const struct str *keys, size_t n, uint64_t limit, struct gathered *g)
{
    uint64_t len, least = UINT64_MAX;
    size_t smallest = 0;

    for (size_t i = 0; i < n; i++) {
        if (!coll_len(c, keys[i], KV_SET, &len))
            return false;
        if (len < least) {
            least = len;
            smallest = i;
        }
    }
    return least == 0 || select_members(c, keys[smallest], keys, n, true, limit, g);
}

static bool subtract(
    struct redis_call *c, const struct str *keys, size_t n, uint64_t limit, struct gathered *g)
{
    uint64_t len;

    for (size_t i = 0; i < n; i++)
        if (!coll_len(c, keys[i], KV_SET, &len))
            return false;
    return select_members(c, keys[0], keys + 1, n - 1, false, limit, g);
}

/* Adds those members of one set that are not known yet; keeps their bytes. */
static bool unite_one(struct redis_call *c, struct str key, struct map *known)
{
    struct kv_items items = {0};
    struct kv_item item;
    bool good = coll_all(c, key, KV_SET, &items);

    while (good && kv_items_next(&items, &item))
        if (!map_get(known, item.member))
            (void)map_set(known, item.member, known);
    kv_items_fini(&items);
    return good;
}

struct united {
    struct map known;
    struct gathered members;
};

static bool unite(struct redis_call *c, const struct str *keys, size_t n, struct united *u)
{
    struct kv_item item = {0};
    size_t it = 0;
    void *value;

    map_init(&u->known, random_u64());
    for (size_t i = 0; i < n; i++)
        if (!unite_one(c, keys[i], &u->known))
            return false;
    while (map_next(&u->known, &it, &item.member, &value))
        gather(&u->members, &item);
    return true;
}

static void reply_gathered(struct redis_call *c, const struct gathered *g)
{
    struct kv_item item;

    reply_set(c->reply, g->n);
    for (size_t i = 0; i < g->n; i++) {
        memcpy(&item, g->members.p + i * sizeof(item), sizeof(item));
        reply_bulk(c->reply, item.member);
    }
}

static void store_gathered(struct redis_call *c, const struct gathered *g)
{
    const struct kv_item *items = (const struct kv_item *)(const void *)g->members.p;
    int r = kv_coll_replace(c->store, c->argv[1], KV_SET, items, g->n, 0);

    coll_reply_int(c, r, (int64_t)g->n);
}

static void combine(struct redis_call *c, combine_cb *cb, bool store)
{
    size_t first = store ? 2 : 1;
    struct gathered g = {0};

    if (cb(c, c->argv + first, c->argc - first, 0, &g)) {
        if (store)
            store_gathered(c, &g);
        else
            reply_gathered(c, &g);
    }
    gathered_fini(&g);
}

static void combine_union(struct redis_call *c, bool store)
{
    size_t first = store ? 2 : 1;
    struct united u = {0};

    if (unite(c, c->argv + first, c->argc - first, &u)) {
        if (store)
            store_gathered(c, &u.members);
        else
            reply_gathered(c, &u.members);
    }
    gathered_fini(&u.members);
    map_fini(&u.known);
}

static void cmd_sinter(struct redis_call *c)
{
    combine(c, intersect, false);
}

static void cmd_sinterstore(struct redis_call *c)
{
    combine(c, intersect, true);
}

static void cmd_sdiff(struct redis_call *c)
{
    combine(c, subtract, false);
}

static void cmd_sdiffstore(struct redis_call *c)
{
    combine(c, subtract, true);
}

static void cmd_sunion(struct redis_call *c)
{
    combine_union(c, false);
}

static void cmd_sunionstore(struct redis_call *c)
{
    combine_union(c, true);
}

static void cmd_sintercard(struct redis_call *c)
{
    struct gathered g = {0};
    int64_t limit = 0;
    size_t n;

    if (!coll_numkeys_card(c, &n, &limit))
        return;
    if (intersect(c, c->argv + 2, n, (uint64_t)limit, &g))
        reply_int(c->reply, (int64_t)g.n);
    gathered_fini(&g);
}

#define WRITE (CMD_WRITE | CMD_DENYOOM)
#define READ  CMD_READONLY

const struct redis_command redis_set_commands[] = {
    {"sadd", cmd_sadd, -3, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Adds one or more members to a set."},
    {"srem", cmd_srem, -3, CMD_WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Removes one or more members from a set."},
    {"scard", cmd_scard, 2, READ | CMD_FAST, 1, 1, 1, "1.0.0",
        "Returns the number of members in a set."},
    {"sismember", cmd_sismember, 3, READ | CMD_FAST, 1, 1, 1, "1.0.0",
        "Determines whether a member belongs to a set."},
    {"smismember", cmd_smismember, -3, READ | CMD_FAST, 1, 1, 1, "6.2.0",
        "Determines whether multiple members belong to a set."},
    {"smembers", cmd_smembers, 2, READ, 1, 1, 1, "1.0.0", "Returns all members of a set."},
    {"spop", cmd_spop, -2, CMD_WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Returns and removes random members of a set."},
    {"srandmember", cmd_srandmember, -2, READ, 1, 1, 1, "1.0.0",
        "Returns random members of a set."},
    {"smove", cmd_smove, 4, CMD_WRITE | CMD_FAST, 1, 2, 1, "1.0.0",
        "Moves a member from one set to another."},
    {"sinter", cmd_sinter, -2, READ, 1, -1, 1, "1.0.0",
        "Returns the intersection of multiple sets."},
    {"sinterstore", cmd_sinterstore, -3, WRITE, 1, -1, 1, "1.0.0",
        "Stores the intersection of multiple sets in a key."},
    {"sintercard", cmd_sintercard, -3, READ | CMD_NUMKEYS, 1, 1, 1, "7.0.0",
        "Returns the number of members of the intersection of multiple sets."},
    {"sunion", cmd_sunion, -2, READ, 1, -1, 1, "1.0.0", "Returns the union of multiple sets."},
    {"sunionstore", cmd_sunionstore, -3, WRITE, 1, -1, 1, "1.0.0",
        "Stores the union of multiple sets in a key."},
    {"sdiff", cmd_sdiff, -2, READ, 1, -1, 1, "1.0.0", "Returns the difference of multiple sets."},
    {"sdiffstore", cmd_sdiffstore, -3, WRITE, 1, -1, 1, "1.0.0",
        "Stores the difference of multiple sets in a key."},
    {"sscan", cmd_sscan, -3, READ, 1, 1, 1, "2.8.0", "Iterates over members of a set."},
    {0},
};
