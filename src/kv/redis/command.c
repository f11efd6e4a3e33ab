/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/command.h"

#include "base/mem.h"
#include "kv/redis/commands.h"
#include "kv/redis/state.h"

/* ---- the table by name ---- */

static uint32_t hash(struct str name)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < name.len; i++)
        h = (h ^ (unsigned char)str_lower_char(name.p[i])) * 16777619u;
    return h ^ h >> 15;
}

void redis_commands_index(struct redis_server *s)
{
    size_t n = 0;

    for (const struct redis_group *g = redis_groups; g->name; g++)
        for (const struct redis_command *cmd = g->commands; cmd->name; cmd++, n++) {
            uint32_t at = hash(str_c(cmd->name));

            while (s->slots[at & (REDIS_COMMAND_SLOTS - 1)])
                at++;
            s->slots[at & (REDIS_COMMAND_SLOTS - 1)] = cmd;
        }
    ENSURE(n <= REDIS_COMMAND_SLOTS / 2);
}

const struct redis_command *redis_command_find(const struct redis_server *s, struct str name)
{
    const struct redis_command *cmd;

    for (uint32_t at = hash(name); (cmd = s->slots[at & (REDIS_COMMAND_SLOTS - 1)]) != NULL; at++)
        if (str_ieq(name, str_c(cmd->name)))
            return cmd;
    return NULL;
}

/* ---- keys ---- */

static size_t numkeys(
    const struct redis_command *cmd, const struct str *argv, size_t argc, size_t *out, size_t max)
{
    size_t at = (size_t)cmd->first;
    int64_t n;

    if (at >= argc || !redis_int(argv[at], &n) || n < 0 || (uint64_t)n > argc - at - 1)
        return 0;
    for (size_t i = 0; i < (size_t)n && i < max; i++)
        out[i] = at + 1 + i;
    return (size_t)n;
}

size_t redis_command_keys(
    const struct redis_command *cmd, const struct str *argv, size_t argc, size_t *out, size_t max)
{
    size_t last, n = 0;

    if (cmd->flags & CMD_MOVABLE)
        return cmd->keys(argv, argc, out, max);
    if (cmd->flags & CMD_NUMKEYS)
        return numkeys(cmd, argv, argc, out, max);
    if (cmd->first <= 0)
        return 0;
    last = cmd->last < 0 ? argc - (size_t)-cmd->last : (size_t)cmd->last;
    for (size_t i = (size_t)cmd->first; i <= last && i < argc; i += (size_t)cmd->step, n++)
        if (n < max)
            out[n] = i;
    return n;
}

/* ---- running ---- */

static void unknown(struct redis_client *c, const struct str *argv, size_t argc)
{
    struct buf args = {0};

    for (size_t i = 1; i < argc && args.len < 128; i++)
        buf_printf(&args, "'%.*s' ", (int)MIN(argv[i].len, 128 - args.len), argv[i].p);
    reply_errorf(&c->reply, "ERR unknown command '%.*s', with args beginning with: %s",
        (int)MIN(argv[0].len, (size_t)128), argv[0].p, buf_cstr(&args));
    buf_fini(&args);
}

/* False: the command is refused, and the error was written. */
static bool allowed(struct redis_client *c, const struct redis_command *cmd, size_t argc)
{
    if (cmd->arity >= 0 ? argc != (size_t)cmd->arity : argc < (size_t)-cmd->arity)
        reply_errorf(&c->reply, "ERR wrong number of arguments for '%s' command", cmd->name);
    else if (UNLIKELY(!c->authenticated) && !(cmd->flags & CMD_NO_AUTH))
        reply_error(&c->reply, "NOAUTH Authentication required.");
    else if (c->multi && cmd->flags & CMD_NOT_IN_MULTI)
        reply_error(&c->reply, "ERR Command not allowed inside a transaction");
    else if (redis_client_subscribed(c) && c->reply.resp == 2 && !(cmd->flags & CMD_PUBSUB))
        reply_errorf(&c->reply,
            "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET "
            "are allowed in this context",
            cmd->name);
    else
        return true;
    return false;
}

/* The engine acts on keys with which a deploy announces itself; not behind the 64th of a command.
 */
static void tell_opcache(struct redis_call *c)
{
    size_t keys[64], n = redis_command_keys(c->cmd, c->argv, c->argc, keys, ARRAY_LEN(keys));

    for (size_t i = 0; i < MIN(n, ARRAY_LEN(keys)); i++) {
        struct str key = c->argv[keys[i]];
        struct kv_value v;

        if (str_starts(key, STR("opcache:")) && call_get_string(c, key, &v) == 0)
            c->server->hooks.on_opcache(c->server->hooks.arg, c->client->site->name,
                strcmp(c->client->user, "default") == 0, key, v.bytes);
    }
}

void redis_command_call(struct redis_call *c)
{
    struct redis_server *s = c->server;
    size_t before = c->reply->out.len;

    c->client->last = c->cmd;
    s->stats.commands++;
    c->cmd->run(c);
    if (UNLIKELY(c->reply->out.len > before && c->reply->out.p[before] == '-'))
        s->stats.errors++;
    if (!(c->cmd->flags & CMD_WRITE))
        return;
    /* Who waits has written nothing. */
    if (c->client->blocked && c->reply->out.len == before)
        return;
    if (s->nblocked)
        redis_block_written(c);
    if (s->hooks.on_opcache && c->argc > 1 &&
        (c->cmd->first != c->cmd->last || str_starts(c->argv[1], STR("opcache:"))))
        tell_opcache(c);
}

void redis_command_run(struct redis_client *client, const struct str *argv, size_t argc)
{
    struct redis_server *s = client->server;
    const struct redis_command *cmd = redis_command_find(s, argv[0]);
    struct redis_call call = {.server = s,
        .client = client,
        .store = client->site ? client->site->store : NULL,
        .reply = &client->reply,
        .cmd = cmd,
        .argv = argv,
        .argc = argc,
        .buf = &s->buf};

    client->reply.muted = client->reply_off || client->reply_skip;
    client->reply_skip = false;
    client->reply.unsaid = 0;
    if (!cmd)
        unknown(client, argv, argc);
    if (!cmd || !allowed(client, cmd, argc)) {
        client->multi_failed = client->multi;
        s->stats.errors++;
        return;
    }
    if (client->multi && !(cmd->flags & CMD_NO_MULTI)) {
        redis_multi_queue(client, cmd, argv, argc);
        return;
    }
    redis_command_call(&call);
    redis_block_serve(s);
}
