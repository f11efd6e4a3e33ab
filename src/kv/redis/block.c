/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * Clients that wait for a key. Their command is run again when one of the keys was written: at once
 * when a client of this server did it, within REDIS_POLL_MS when PHP did (the key's version in the
 * store tells). Who came first is asked first.
 */
#include "base/mem.h"
#include "kv/redis/state.h"

/* A key that somebody waits for. */
struct redis_key {
    struct redis_site *site;
    struct list waits; /* struct wait, in the order in which they came */
    struct list ready; /* in the server's list, or alone */
    uint64_t version;
    unsigned pins; /* by waits, and while it is served */
    size_t len;
    char name[];
};

struct wait {
    struct list node;
    struct redis_key *key;
    struct redis_blocked *blocked;
};

struct redis_blocked {
    struct list node; /* in the server's waiting, or in those that go on */
    struct redis_client *client;
    const struct redis_command *cmd;
    struct arena memory; /* words and waits */
    struct str *argv;
    size_t argc;
    struct wait *waits;
    size_t nwaits;
    struct net_timer *timer;
    redis_timeout_cb *timeout;
    bool again; /* the command waits on */
};

static struct str name_of(const struct redis_key *k)
{
    return str_n(k->name, k->len);
}

static uint64_t version_now(const struct redis_key *k)
{
    uint64_t version = 0;

    /* Whether the key is there does not matter: a change of either kind counts. */
    (void)kv_store_version(k->site->store, name_of(k), &version);
    return version;
}

static struct redis_key *key_get(struct redis_site *site, struct str name)
{
    struct redis_key *k = map_get(&site->keys, name);

    if (k)
        return k;
    k = mem_new(sizeof(*k) + name.len);
    k->site = site;
    k->len = name.len;
    if (name.len)
        memcpy(k->name, name.p, name.len);
    list_init(&k->waits);
    list_init(&k->ready);
    (void)map_set(&site->keys, name, k);
    return k;
}

static void key_release(struct redis_key *k)
{
    if (k->pins || !list_empty(&k->waits))
        return;
    list_remove(&k->ready);
    (void)map_del(&k->site->keys, name_of(k));
    mem_free(k);
}

/* ---- beginning and end ---- */

static void blocked_free(struct redis_blocked *b)
{
    struct redis_server *s = b->client->server;

    for (size_t i = 0; i < b->nwaits; i++) {
        list_remove(&b->waits[i].node);
        b->waits[i].key->pins--;
        key_release(b->waits[i].key);
    }
    list_remove(&b->node);
    net_timer_close(b->timer);
    b->client->blocked = NULL;
    arena_fini(&b->memory);
    mem_free(b);
    s->nblocked--;
    if (s->nblocked == 0)
        net_timer_stop(s->poll);
}

void redis_block_cancel(struct redis_client *c)
{
    if (c->blocked)
        blocked_free(c->blocked);
}

/* The client was answered. */
static void go_on(struct redis_client *c)
{
    redis_block_cancel(c);
    if (c->state == REDIS_BLOCKED)
        c->state = REDIS_READY;
    redis_client_resume(c);
}

static void on_timeout(void *arg)
{
    struct redis_blocked *b = arg;
    struct redis_client *c = b->client;
    struct redis_server *s = c->server;

    redis_server_enter(s);
    b->timeout(&c->reply);
    go_on(c);
    redis_server_leave(s);
}

bool redis_block_end(struct redis_client *c, bool error)
{
    if (!c->blocked)
        return false;
    if (error)
        reply_error(&c->reply, "UNBLOCKED client unblocked via CLIENT UNBLOCK");
    else
        c->blocked->timeout(&c->reply);
    go_on(c);
    return true;
}

static void copy_words(struct redis_blocked *b, const struct redis_call *c)
{
    b->cmd = c->cmd;
    b->argc = c->argc;
    b->argv = arena_new(&b->memory, c->argc * sizeof(*b->argv));
    for (size_t i = 0; i < c->argc; i++)
        b->argv[i] = arena_str(&b->memory, c->argv[i]);
}

void redis_block(
    struct redis_call *c, const struct str *keys, size_t n, int64_t ms, redis_timeout_cb *timeout)
{
    struct redis_server *s = c->server;
    struct redis_blocked *b = c->client->blocked;

    if (c->in_multi) {
        timeout(c->reply);
        return;
    }
    if (b) {
        b->again = true;
        return;
    }
    b = mem_new(sizeof(*b));
    b->client = c->client;
    b->timeout = timeout;
    copy_words(b, c);
    b->waits = arena_new(&b->memory, n * sizeof(*b->waits));
    b->nwaits = n;
    for (size_t i = 0; i < n; i++) {
        struct redis_key *k = key_get(c->client->site, keys[i]);

        if (list_empty(&k->waits))
            k->version = version_now(k);
        b->waits[i] = (struct wait){.key = k, .blocked = b};
        list_push(&k->waits, &b->waits[i].node);
        k->pins++;
    }
    if (ms) {
        b->timer = net_timer_open(s->loop, on_timeout, b);
        net_timer_start(b->timer, (uint64_t)ms, 0);
    }
    list_push(&s->waiting, &b->node);
    c->client->blocked = b;
    c->client->state = REDIS_BLOCKED;
    if (s->nblocked++ == 0)
        net_timer_start(s->poll, REDIS_POLL_MS, REDIS_POLL_MS);
}

/* ---- waking ---- */

static void set_ready(struct redis_server *s, struct redis_key *k)
{
    if (list_empty(&k->ready))
        list_push(&s->ready, &k->ready);
}

void redis_block_written(struct redis_call *c)
{
    size_t some[64], *at = some;
    size_t n = redis_command_keys(c->cmd, c->argv, c->argc, some, ARRAY_LEN(some));

    if (n > ARRAY_LEN(some)) {
        at = mem_new_array(n, sizeof(*at));
        n = redis_command_keys(c->cmd, c->argv, c->argc, at, n);
    }
    for (size_t i = 0; i < n; i++) {
        struct redis_key *k = map_get(&c->client->site->keys, c->argv[at[i]]);

        if (k)
            set_ready(c->server, k);
    }
    if (at != some)
        mem_free(at);
}

/* True: it was answered. */
static bool run_again(struct redis_server *s, struct redis_blocked *b)
{
    struct redis_client *client = b->client;
    struct redis_call call = {.server = s,
        .client = client,
        .store = client->site->store,
        .reply = &client->reply,
        .cmd = b->cmd,
        .argv = b->argv,
        .argc = b->argc,
        .buf = &s->buf};

    b->again = false;
    redis_command_call(&call);
    return !b->again;
}

/* Asks those who wait for the key; who was answered comes into `done`. */
static void serve_key(struct redis_server *s, struct redis_key *k, struct list *done)
{
    struct list turn, *it;

    list_init(&turn);
    k->pins++;
    k->version = version_now(k);
    while ((it = list_pop(&k->waits)) != NULL)
        list_push(&turn, it);
    while ((it = list_pop(&turn)) != NULL) {
        struct wait *w = CONTAINER_OF(it, struct wait, node);
        struct redis_blocked *b = w->blocked;

        list_push(&k->waits, it);
        if (!run_again(s, b))
            continue;
        for (size_t i = 0; i < b->nwaits; i++)
            list_remove(&b->waits[i].node);
        list_remove(&b->node);
        list_push(done, &b->node);
    }
    k->pins--;
    key_release(k);
}

void redis_block_serve(struct redis_server *s)
{
    struct list done, *it;

    if (LIKELY(list_empty(&s->ready)) || s->serving)
        return;
    s->serving = true;
    list_init(&done);
    while ((it = list_pop(&s->ready)) != NULL)
        serve_key(s, CONTAINER_OF(it, struct redis_key, ready), &done);
    s->serving = false;
    while ((it = list_pop(&done)) != NULL)
        go_on(CONTAINER_OF(it, struct redis_blocked, node)->client);
    /* What they went on with may have written, too. */
    redis_block_serve(s);
}

/* Other processes write, too. */
static void on_poll(void *arg)
{
    struct redis_server *s = arg;

    redis_server_enter(s);
    list_each (it, &s->waiting) {
        struct redis_blocked *b = CONTAINER_OF(it, struct redis_blocked, node);

        for (size_t i = 0; i < b->nwaits; i++)
            if (version_now(b->waits[i].key) != b->waits[i].key->version)
                set_ready(s, b->waits[i].key);
    }
    redis_server_leave(s);
}

void redis_block_init(struct redis_server *s)
{
    list_init(&s->ready);
    list_init(&s->waiting);
    s->poll = net_timer_open(s->loop, on_poll, s);
}

void redis_block_fini(struct redis_server *s)
{
    net_timer_close(s->poll);
}

void redis_block_site_fini(struct redis_site *site)
{
    ENSURE(site->keys.count == 0); /* clients are closed first */
}
