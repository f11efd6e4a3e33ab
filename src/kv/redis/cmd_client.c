/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* CLIENT: what is known of connections. A client sees and ends those of its own site only. */
#include "base/mem.h"
#include "kv/redis/state.h"

bool redis_client_set_name(struct redis_call *c, struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.p[i] < '!' || name.p[i] > '~') {
            reply_error(c->reply,
                "ERR Client names cannot contain spaces, newlines or special characters.");
            return false;
        }
    if (name.len >= REDIS_NAME_MAX) {
        reply_errorf(c->reply, "ERR Client names have at most %d characters", REDIS_NAME_MAX - 1);
        return false;
    }
    (void)str_put(c->client->name, sizeof(c->client->name), name);
    return true;
}

static const char *kind_of(const struct redis_client *c)
{
    return redis_client_subscribed(c) ? "pubsub" : "normal";
}

static void describe(const struct redis_client *c, struct buf *out)
{
    uint64_t now = net_loop_now(c->server->loop);
    const char *flags = c->blocked ? "b" : redis_client_subscribed(c) ? "P" : c->multi ? "x" : "N";

    buf_printf(out, "id=%llu addr=%s laddr=%s fd=%lld name=%s age=%llu idle=%llu flags=%s db=0 ",
        (unsigned long long)c->id, c->addr, c->laddr, (long long)c->stream.fd, c->name,
        (unsigned long long)(now - c->since) / 1000, (unsigned long long)(now - c->active) / 1000,
        flags);
    buf_printf(out,
        "sub=%zu psub=%zu ssub=0 multi=%lld qbuf=%zu qbuf-free=%zu argv-mem=0 multi-mem=%zu rbs=0 "
        "rbp=0 obl=%zu oll=0 omem=%llu tot-mem=%zu events=r cmd=%s user=%s redir=-1 resp=%d",
        c->nchannels, c->npatterns, c->multi ? (long long)c->nqueued : -1ll, c->in.len,
        c->in.cap - c->in.len, arena_used(&c->multi_memory), c->reply.out.len,
        (unsigned long long)stream_queued(&c->stream), sizeof(*c) + c->in.cap + c->reply.out.cap,
        c->last ? c->last->name : "NULL", c->user, c->reply.resp);
}

static struct redis_client *find(struct redis_call *c, int64_t id)
{
    list_each (it, &c->server->clients) {
        struct redis_client *other = CONTAINER_OF(it, struct redis_client, node);

        if ((int64_t)other->id == id && other->site == c->client->site)
            return other;
    }
    return NULL;
}

/* ---- looking ---- */

static void client_id(struct redis_call *c)
{
    reply_int(c->reply, (int64_t)c->client->id);
}

static void client_info(struct redis_call *c)
{
    buf_clear(c->buf);
    describe(c->client, c->buf);
    buf_add_char(c->buf, '\n');
    reply_verbatim(c->reply, buf_str(c->buf));
}

static void list_ids(struct redis_call *c)
{
    for (size_t i = 3; i < c->argc; i++) {
        struct redis_client *other;
        int64_t id;

        if (!call_int_in(c, i, 1, INT64_MAX, "Invalid client ID", &id))
            return;
        other = find(c, id);
        if (other) {
            describe(other, c->buf);
            buf_add_char(c->buf, '\n');
        }
    }
    reply_verbatim(c->reply, buf_str(c->buf));
}

static void client_list(struct redis_call *c)
{
    const char *kind = NULL;

    buf_clear(c->buf);
    if (c->argc >= 4 && call_is(c, 2, "id")) {
        list_ids(c);
        return;
    }
    if (c->argc == 4 && call_is(c, 2, "type")) {
        kind = call_is(c, 3, "normal") ? "normal" : call_is(c, 3, "pubsub") ? "pubsub" : NULL;
        if (!kind && !call_is(c, 3, "master") && !call_is(c, 3, "replica") &&
            !call_is(c, 3, "slave")) {
            reply_errorf(c->reply, "ERR Unknown client type '%.*s'",
                (int)MIN(c->argv[3].len, (size_t)64), c->argv[3].p);
            return;
        }
        kind = kind ? kind : "";
    } else if (c->argc != 2) {
        call_syntax_error(c);
        return;
    }
    list_each (it, &c->server->clients) {
        struct redis_client *other = CONTAINER_OF(it, struct redis_client, node);

        if (other->site != c->client->site || (kind && strcmp(kind, kind_of(other)) != 0))
            continue;
        describe(other, c->buf);
        buf_add_char(c->buf, '\n');
    }
    reply_verbatim(c->reply, buf_str(c->buf));
}

static void client_getname(struct redis_call *c)
{
    if (c->client->name[0])
        reply_bulk_c(c->reply, c->client->name);
    else
        reply_null(c->reply);
}

static void client_setname(struct redis_call *c)
{
    if (redis_client_set_name(c, c->argv[2]))
        reply_ok(c->reply);
}

static void client_getredir(struct redis_call *c)
{
    reply_int(c->reply, -1);
}

/* ---- changing ---- */

static void client_reply(struct redis_call *c)
{
    struct redis_client *client = c->client;

    if (call_is(c, 2, "on")) {
        client->reply_off = client->reply_skip = false;
        c->reply->muted = false;
        reply_ok(c->reply);
    } else if (call_is(c, 2, "off")) {
        client->reply_off = true;
    } else if (call_is(c, 2, "skip")) {
        client->reply_skip = !client->reply_off;
    } else {
        call_syntax_error(c);
    }
}

static void client_unblock(struct redis_call *c)
{
    bool error = call_is(c, 3, "error");
    struct redis_client *other;
    int64_t id;

    if (c->argc > 4 || (c->argc == 4 && !error && !call_is(c, 3, "timeout"))) {
        reply_error(c->reply, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
        return;
    }
    if (!call_int(c, 2, &id))
        return;
    other = find(c, id);
    reply_int(c->reply, other && redis_block_end(other, error));
}

static void client_no_evict(struct redis_call *c)
{
    /* Clients are closed by what they leave unread, never to make room. */
    if (call_is(c, 2, "on") || call_is(c, 2, "off"))
        reply_ok(c->reply);
    else
        call_syntax_error(c);
}

/* ---- CLIENT KILL ---- */

struct kill {
    int64_t id;
    struct str addr, laddr, user;
    const char *kind;
    bool skip_me;
};

static bool parse_kill(struct redis_call *c, struct kill *k)
{
    for (size_t i = 2; i < c->argc; i += 2) {
        if (i + 1 >= c->argc) {
            call_syntax_error(c);
            return false;
        }
        if (call_is(c, i, "id")) {
            if (!call_int_in(c, i + 1, 1, INT64_MAX, "client-id should be greater than 0", &k->id))
                return false;
        } else if (call_is(c, i, "addr")) {
            k->addr = c->argv[i + 1];
        } else if (call_is(c, i, "laddr")) {
            k->laddr = c->argv[i + 1];
        } else if (call_is(c, i, "user")) {
            k->user = c->argv[i + 1];
        } else if (call_is(c, i, "type") && call_is(c, i + 1, "normal")) {
            k->kind = "normal";
        } else if (call_is(c, i, "type") && call_is(c, i + 1, "pubsub")) {
            k->kind = "pubsub";
        } else if (call_is(c, i, "skipme") && call_is(c, i + 1, "yes")) {
            k->skip_me = true;
        } else if (call_is(c, i, "skipme") && call_is(c, i + 1, "no")) {
            k->skip_me = false;
        } else {
            call_syntax_error(c);
            return false;
        }
    }
    return true;
}

static bool is_meant(const struct redis_call *c, const struct redis_client *o, const struct kill *k)
{
    return o->site == c->client->site && (!k->id || (int64_t)o->id == k->id) &&
           (!k->addr.p || str_eq(k->addr, str_c(o->addr))) &&
           (!k->laddr.p || str_eq(k->laddr, str_c(o->laddr))) &&
           (!k->user.p || str_eq(k->user, str_c(o->user))) &&
           (!k->kind || strcmp(k->kind, kind_of(o)) == 0) && !(k->skip_me && o == c->client);
}

static void client_kill(struct redis_call *c)
{
    struct kill k = {.skip_me = true};
    bool old_form = c->argc == 3;
    int64_t n = 0;
    bool me = false;

    if (old_form)
        k = (struct kill){.addr = c->argv[2]};
    else if (!parse_kill(c, &k))
        return;
    list_each_safe (it, &c->server->clients) {
        struct redis_client *other = CONTAINER_OF(it, struct redis_client, node);

        if (!is_meant(c, other, &k))
            continue;
        n++;
        if (other == c->client)
            me = true;
        else
            redis_client_close(other, "CLIENT KILL");
    }
    if (!old_form)
        reply_int(c->reply, n);
    else if (n)
        reply_ok(c->reply);
    else
        reply_error(c->reply, "ERR No such client");
    if (me)
        redis_client_end(c->client);
}

static void client_help(struct redis_call *c)
{
    static const char *const lines[] = {"CLIENT <subcommand> [<arg> [value] [opt] ...]", "GETNAME",
        "    Return the name of the current connection.", "ID",
        "    Return the ID of the current connection.", "INFO",
        "    Return information about the current client connection.", "KILL <ip:port>",
        "    Kill connection made from <ip:port>.", "KILL <option> <value> [<option> <value> ...]",
        "    Options are: ADDR, LADDR, TYPE (NORMAL|PUBSUB), USER, SKIPME (YES|NO), ID.",
        "LIST [TYPE (NORMAL|PUBSUB)] [ID <id> ...]",
        "    Return information about client connections.", "NO-EVICT (ON|OFF)",
        "    Accepted; clients are never closed to make room.", "REPLY (ON|OFF|SKIP)",
        "    Control the replies sent to the current connection.", "SETNAME <name>",
        "    Assign the name <name> to the current connection.", "UNBLOCK <id> [TIMEOUT|ERROR]",
        "    Unblock the specified blocked client."};

    call_help(c, lines, ARRAY_LEN(lines));
}

static const struct redis_subcommand subcommands[] = {{"id", client_id, 2},
    {"info", client_info, 2}, {"list", client_list, -2}, {"getname", client_getname, 2},
    {"setname", client_setname, 3}, {"getredir", client_getredir, 2}, {"reply", client_reply, 3},
    {"unblock", client_unblock, -3}, {"no-evict", client_no_evict, 3}, {"kill", client_kill, -3},
    {"help", client_help, 2}, {0}};

void redis_cmd_client(struct redis_call *c)
{
    call_subcommand(c, subcommands);
}
