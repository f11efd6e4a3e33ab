/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Channels and patterns of a site, and who subscribed to them. */
#include "base/mem.h"
#include "kv/glob.h"
#include "kv/redis/state.h"

/* Bytes of a pattern: comparing it may take its length times that of a channel's name. */
#define PATTERN_MAX 1024

/* A channel, or a pattern of channels, with at least one subscriber. */
struct redis_channel {
    struct list node; /* of a pattern: in the site's list */
    struct list subscribers;
    size_t count;
    bool is_pattern;
    size_t len;
    char name[];
};

/* A client in a channel. */
struct redis_subscription {
    struct list in_client;
    struct list in_channel;
    struct redis_client *client;
    struct redis_channel *channel;
};

static struct str name_of(const struct redis_channel *ch)
{
    return str_n(ch->name, ch->len);
}

static struct redis_channel *find(struct redis_site *site, struct str name, bool is_pattern)
{
    return map_get(is_pattern ? &site->patterns_by_name : &site->channels, name);
}

static struct redis_channel *open_channel(struct redis_site *site, struct str name, bool is_pattern)
{
    struct redis_channel *ch = find(site, name, is_pattern);

    if (ch)
        return ch;
    ch = mem_new(sizeof(*ch) + name.len);
    list_init(&ch->node);
    list_init(&ch->subscribers);
    ch->is_pattern = is_pattern;
    ch->len = name.len;
    if (name.len)
        memcpy(ch->name, name.p, name.len);
    if (is_pattern)
        list_push(&site->patterns, &ch->node);
    (void)map_set(is_pattern ? &site->patterns_by_name : &site->channels, name, ch);
    return ch;
}

static struct map *own(struct redis_client *c, bool is_pattern)
{
    return is_pattern ? &c->patterns_by_name : &c->channels_by_name;
}

static void end(struct redis_subscription *s)
{
    struct redis_channel *ch = s->channel;
    struct redis_site *site = s->client->site;

    list_remove(&s->in_client);
    list_remove(&s->in_channel);
    (void)map_del(own(s->client, ch->is_pattern), name_of(ch));
    --*(ch->is_pattern ? &s->client->npatterns : &s->client->nchannels);
    if (--ch->count == 0) {
        list_remove(&ch->node);
        (void)map_del(ch->is_pattern ? &site->patterns_by_name : &site->channels, name_of(ch));
        mem_free(ch);
    }
    mem_free(s);
}

void redis_pubsub_reset(struct redis_client *c)
{
    struct list *it;

    while ((it = list_first(&c->channels)) != NULL)
        end(CONTAINER_OF(it, struct redis_subscription, in_client));
    while ((it = list_first(&c->patterns)) != NULL)
        end(CONTAINER_OF(it, struct redis_subscription, in_client));
}

void redis_pubsub_site_fini(struct redis_site *site)
{
    ENSURE(site->channels.count == 0 && list_empty(&site->patterns)); /* clients end first */
}

/* ---- subscribing ---- */

/* name NULL: none was left. Like messages, it comes with CLIENT REPLY OFF, too. */
static void reply_change(struct redis_call *c, const char *kind, const struct str *name)
{
    bool muted = c->reply->muted;

    c->reply->muted = false;
    reply_push(c->reply, 3);
    reply_bulk_c(c->reply, kind);
    if (name)
        reply_bulk(c->reply, *name);
    else
        reply_null(c->reply);
    reply_int(c->reply, (int64_t)(c->client->nchannels + c->client->npatterns));
    c->reply->muted = muted;
}

static void subscribe(struct redis_call *c, bool is_pattern)
{
    struct redis_client *client = c->client;

    for (size_t i = 1; i < c->argc; i++) {
        if (!map_get(own(client, is_pattern), c->argv[i])) {
            struct redis_subscription *s = mem_new(sizeof(*s));

            s->client = client;
            s->channel = open_channel(client->site, c->argv[i], is_pattern);
            s->channel->count++;
            list_push(&s->channel->subscribers, &s->in_channel);
            list_push(is_pattern ? &client->patterns : &client->channels, &s->in_client);
            (void)map_set(own(client, is_pattern), c->argv[i], s);
            ++*(is_pattern ? &client->npatterns : &client->nchannels);
        }
        reply_change(c, is_pattern ? "psubscribe" : "subscribe", &c->argv[i]);
    }
}

static void unsubscribe(struct redis_call *c, bool is_pattern)
{
    const char *kind = is_pattern ? "punsubscribe" : "unsubscribe";
    struct list *all = is_pattern ? &c->client->patterns : &c->client->channels, *it;

    for (size_t i = 1; i < c->argc; i++) {
        struct redis_subscription *s = map_get(own(c->client, is_pattern), c->argv[i]);

        if (s)
            end(s);
        reply_change(c, kind, &c->argv[i]);
    }
    if (c->argc > 1)
        return;
    if (list_empty(all))
        reply_change(c, kind, NULL);
    while ((it = list_first(all)) != NULL) {
        struct redis_subscription *s = CONTAINER_OF(it, struct redis_subscription, in_client);
        struct redis_channel *ch = s->channel;
        struct buf name = {0};
        struct str n;

        buf_add_str(&name, name_of(ch));
        n = buf_str(&name);
        end(s);
        reply_change(c, kind, &n);
        buf_fini(&name);
    }
}

static void cmd_subscribe(struct redis_call *c)
{
    subscribe(c, false);
}

static bool check_pattern(struct redis_call *c, struct str pattern)
{
    if (pattern.len <= PATTERN_MAX)
        return true;
    reply_errorf(c->reply, "ERR pattern exceeds maximum allowed size (%d bytes)", PATTERN_MAX);
    return false;
}

static void cmd_psubscribe(struct redis_call *c)
{
    for (size_t i = 1; i < c->argc; i++)
        if (!check_pattern(c, c->argv[i]))
            return;
    subscribe(c, true);
}

static void cmd_unsubscribe(struct redis_call *c)
{
    unsubscribe(c, false);
}

static void cmd_punsubscribe(struct redis_call *c)
{
    unsubscribe(c, true);
}

/* ---- publishing ---- */

/* Its own message comes before the reply to PUBLISH. */
static size_t deliver(
    struct redis_call *c, struct redis_channel *ch, struct str channel, struct str message)
{
    size_t n = 0;

    list_each_safe (it, &ch->subscribers) {
        struct redis_subscription *s = CONTAINER_OF(it, struct redis_subscription, in_channel);
        struct reply *r = &s->client->reply;
        bool muted = r->muted;

        r->muted = false;
        reply_push(r, ch->is_pattern ? 4 : 3);
        reply_bulk_c(r, ch->is_pattern ? "pmessage" : "message");
        if (ch->is_pattern)
            reply_bulk(r, name_of(ch));
        reply_bulk(r, channel);
        reply_bulk(r, message);
        r->muted = muted;
        n++;
        redis_server_wrote(c->server, s->client);
    }
    return n;
}

static void cmd_publish(struct redis_call *c)
{
    struct redis_site *site = c->client->site;
    struct redis_channel *ch = map_get(&site->channels, c->argv[1]);
    size_t n = ch ? deliver(c, ch, c->argv[1], c->argv[2]) : 0;

    list_each_safe (it, &site->patterns) {
        ch = CONTAINER_OF(it, struct redis_channel, node);
        if (kv_glob(name_of(ch), c->argv[1]))
            n += deliver(c, ch, c->argv[1], c->argv[2]);
    }
    reply_int(c->reply, (int64_t)n);
}

/* ---- PUBSUB ---- */

static void pubsub_channels(struct redis_call *c)
{
    size_t it = 0, n = 0, at;
    struct str name;
    void *ch;

    if (c->argc > 2 && !check_pattern(c, c->argv[2]))
        return;
    at = reply_deferred(c->reply);
    while (map_next(&c->client->site->channels, &it, &name, &ch))
        if (c->argc < 3 || kv_glob(c->argv[2], name)) {
            reply_bulk(c->reply, name);
            n++;
        }
    reply_deferred_array(c->reply, at, n);
}

static void pubsub_numsub(struct redis_call *c)
{
    reply_array(c->reply, 2 * (c->argc - 2));
    for (size_t i = 2; i < c->argc; i++) {
        struct redis_channel *ch = map_get(&c->client->site->channels, c->argv[i]);

        reply_bulk(c->reply, c->argv[i]);
        reply_int(c->reply, ch ? (int64_t)ch->count : 0);
    }
}

static void pubsub_numpat(struct redis_call *c)
{
    int64_t n = 0;

    list_each (it, &c->client->site->patterns)
        n++;
    reply_int(c->reply, n);
}

static void pubsub_help(struct redis_call *c)
{
    static const char *const lines[] = {"PUBSUB <subcommand> [<arg> [value] [opt] ...]",
        "CHANNELS [<pattern>]", "    Return the currently active channels matching a <pattern>.",
        "NUMPAT", "    Return number of subscriptions to patterns.", "NUMSUB [<channel> ...]",
        "    Return the number of subscribers for the specified channels."};

    call_help(c, lines, ARRAY_LEN(lines));
}

static const struct redis_subcommand pubsub_subcommands[] = {{"channels", pubsub_channels, -2},
    {"numsub", pubsub_numsub, -2}, {"numpat", pubsub_numpat, 2}, {"help", pubsub_help, 2}, {0}};

static void cmd_pubsub(struct redis_call *c)
{
    call_subcommand(c, pubsub_subcommands);
}

const struct redis_command redis_pubsub_commands[] = {
    {"subscribe", cmd_subscribe, -2, CMD_PUBSUB, 0, 0, 0, "2.0.0",
        "Listens for messages published to channels."},
    {"unsubscribe", cmd_unsubscribe, -1, CMD_PUBSUB, 0, 0, 0, "2.0.0",
        "Stops listening to messages posted to channels."},
    {"psubscribe", cmd_psubscribe, -2, CMD_PUBSUB, 0, 0, 0, "2.0.0",
        "Listens for messages published to channels that match patterns."},
    {"punsubscribe", cmd_punsubscribe, -1, CMD_PUBSUB, 0, 0, 0, "2.0.0",
        "Stops listening to messages published to channels that match patterns."},
    {"publish", cmd_publish, 3, CMD_FAST, 0, 0, 0, "2.0.0", "Posts a message to a channel."},
    {"pubsub", cmd_pubsub, -2, 0, 0, 0, 0, "2.8.0", "Tells about channels and subscribers."},
    {0},
};
