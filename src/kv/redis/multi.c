/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * Transactions: MULTI queues, EXEC runs. WATCH remembers the versions of keys in the store, so what
 * PHP changes counts as much as what clients do. A key that is missing at WATCH and at EXEC counts
 * as unchanged.
 *
 * EXEC is one step for other clients; processes that run PHP see one command of it after the other.
 */
#include "base/mem.h"
#include "kv/redis/state.h"
#include "platform/random.h"

struct watched {
    struct list node;
    bool missing;
    uint64_t version;
    int64_t ends; /* wall ms, 0: never; setting a deadline is a change, too */
    size_t len;
    char key[];
};

void redis_multi_init(struct redis_client *c)
{
    list_init(&c->queued);
    list_init(&c->watched);
    map_init(&c->watched_by_key, random_u64());
}

static void unwatch(struct redis_client *c)
{
    struct list *it;

    while ((it = list_pop(&c->watched)) != NULL)
        mem_free(CONTAINER_OF(it, struct watched, node));
    map_fini(&c->watched_by_key);
}

static void discard(struct redis_client *c)
{
    c->multi = c->multi_failed = false;
    c->nqueued = 0;
    list_init(&c->queued);
    arena_fini(&c->multi_memory);
}

void redis_multi_reset(struct redis_client *c)
{
    discard(c);
    unwatch(c);
}

void redis_multi_queue(
    struct redis_client *c, const struct redis_command *cmd, const struct str *argv, size_t argc)
{
    struct redis_queued *q;
    size_t bytes = argc * sizeof(*argv);

    for (size_t i = 0; i < argc; i++)
        bytes += argv[i].len;
    if (c->multi_failed) { /* will not be run */
        reply_raw(&c->reply, STR("+QUEUED\r\n"));
        return;
    }
    if (arena_used(&c->multi_memory) + bytes > REDIS_MULTI_MAX) {
        c->multi_failed = true;
        reply_error(&c->reply, "ERR too many bytes of commands in one transaction");
        return;
    }
    q = arena_new(&c->multi_memory, sizeof(*q));
    q->cmd = cmd;
    q->argc = argc;
    q->argv = arena_new(&c->multi_memory, argc * sizeof(*argv));
    for (size_t i = 0; i < argc; i++)
        q->argv[i] = arena_str(&c->multi_memory, argv[i]);
    list_push(&c->queued, &q->node);
    c->nqueued++;
    reply_raw(&c->reply, STR("+QUEUED\r\n"));
}

static void cmd_multi(struct redis_call *c)
{
    if (c->client->multi) {
        reply_error(c->reply, "ERR MULTI calls can not be nested");
        return;
    }
    c->client->multi = true;
    reply_ok(c->reply);
}

static void cmd_discard(struct redis_call *c)
{
    if (!c->client->multi) {
        reply_error(c->reply, "ERR DISCARD without MULTI");
        return;
    }
    redis_multi_reset(c->client);
    reply_ok(c->reply);
}

/* ---- watching ---- */

static void look(struct redis_call *c, struct watched *w)
{
    struct str key = str_n(w->key, w->len);
    int64_t ttl;

    w->missing = !kv_store_version(c->store, key, &w->version);
    w->ends = 0;
    if (!w->missing && kv_store_ttl(c->store, key, &ttl) == 0 && ttl != KV_NO_TTL)
        w->ends = redis_now_ms() + ttl;
}

static void cmd_watch(struct redis_call *c)
{
    if (c->client->multi) {
        reply_error(c->reply, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    for (size_t i = 1; i < c->argc; i++) {
        struct str key = c->argv[i];
        struct watched *w;

        if (map_get(&c->client->watched_by_key, key))
            continue;
        w = mem_new(sizeof(*w) + key.len);
        w->len = key.len;
        if (key.len)
            memcpy(w->key, key.p, key.len);
        look(c, w);
        list_push(&c->client->watched, &w->node);
        (void)map_set(&c->client->watched_by_key, key, w);
    }
    reply_ok(c->reply);
}

static void cmd_unwatch(struct redis_call *c)
{
    unwatch(c->client);
    reply_ok(c->reply);
}

static bool is_changed(struct redis_call *c, const struct watched *was)
{
    struct watched *now = mem_new(sizeof(*now) + was->len);
    bool changed;

    now->len = was->len;
    memcpy(now->key, was->key, was->len);
    look(c, now);
    changed = was->missing != now->missing || (!was->missing && was->version != now->version);
    /* The clocks that a deadline is told from differ by a rounding. */
    if (!changed && !was->missing)
        changed = (was->ends == 0) != (now->ends == 0) || was->ends > now->ends + 2 ||
                  now->ends > was->ends + 2;
    mem_free(now);
    return changed;
}

static bool any_changed(struct redis_call *c)
{
    list_each (it, &c->client->watched)
        if (is_changed(c, CONTAINER_OF(it, struct watched, node)))
            return true;
    return false;
}

/* ---- EXEC ---- */

static void run_queued(struct redis_call *c)
{
    struct redis_client *client = c->client;
    struct arena memory = client->multi_memory; /* commands may reset the client */
    struct list queued, *it;

    list_init(&queued);
    while ((it = list_pop(&client->queued)) != NULL)
        list_push(&queued, it);
    reply_array(c->reply, client->nqueued);
    client->multi_memory = (struct arena){0};
    redis_multi_reset(client);
    while ((it = list_pop(&queued)) != NULL) {
        struct redis_queued *q = CONTAINER_OF(it, struct redis_queued, node);
        struct redis_call call = *c;

        call.cmd = q->cmd;
        call.argv = q->argv;
        call.argc = q->argc;
        call.in_multi = true;
        redis_command_call(&call);
    }
    arena_fini(&memory);
}

static void cmd_exec(struct redis_call *c)
{
    if (!c->client->multi) {
        reply_error(c->reply, "ERR EXEC without MULTI");
        return;
    }
    if (c->client->multi_failed)
        reply_error(c->reply, "EXECABORT Transaction discarded because of previous errors.");
    else if (any_changed(c))
        reply_null_array(c->reply);
    else
        run_queued(c);
    redis_multi_reset(c->client);
}

const struct redis_command redis_multi_commands[] = {
    {"multi", cmd_multi, 1, CMD_FAST | CMD_NO_MULTI, 0, 0, 0, "1.2.0", "Starts a transaction."},
    {"exec", cmd_exec, 1, CMD_NO_MULTI, 0, 0, 0, "1.2.0",
        "Executes all commands in a transaction."},
    {"discard", cmd_discard, 1, CMD_FAST | CMD_NO_MULTI, 0, 0, 0, "2.0.0",
        "Discards a transaction."},
    {"watch", cmd_watch, -2, CMD_FAST | CMD_NO_MULTI, 1, -1, 1, "2.2.0",
        "Monitors changes to keys to determine the execution of a transaction."},
    {"unwatch", cmd_unwatch, 1, CMD_FAST, 0, 0, 0, "2.2.0", "Forgets about watched keys."},
    {0},
};
