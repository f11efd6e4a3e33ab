/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Commands about the connection itself; CLIENT is in cmd_client.c. */
#include "kv/redis/state.h"

static void cmd_ping(struct redis_call *c)
{
    if (c->argc > 2) {
        call_arity_error(c);
    } else if (redis_client_subscribed(c->client) && c->reply->resp == 2) {
        reply_array(c->reply, 2);
        reply_bulk_c(c->reply, "pong");
        reply_bulk(c->reply, c->argc == 2 ? c->argv[1] : STR(""));
    } else if (c->argc == 2) {
        reply_bulk(c->reply, c->argv[1]);
    } else {
        reply_raw(c->reply, STR("+PONG\r\n"));
    }
}

static void cmd_echo(struct redis_call *c)
{
    reply_bulk(c->reply, c->argv[1]);
}

static void cmd_select(struct redis_call *c)
{
    int64_t n;

    if (!call_int_in(c, 1, INT32_MIN, INT32_MAX, "invalid DB index", &n))
        return;
    if (n != 0)
        reply_error(c->reply, "ERR DB index is out of range");
    else
        reply_ok(c->reply);
}

static void cmd_quit(struct redis_call *c)
{
    reply_ok(c->reply);
    redis_client_end(c->client);
}

static void cmd_reset(struct redis_call *c)
{
    struct redis_client *client = c->client;

    redis_auth_reset(client);
    client->name[0] = '\0';
    client->reply.resp = 2;
    client->reply_off = client->reply_skip = false;
    client->reply.muted = false;
    reply_simple(c->reply, STR("RESET"));
}

static void cmd_auth(struct redis_call *c)
{
    if (c->argc > 3)
        call_syntax_error(c);
    else if (redis_auth(c, c->argc == 3 ? &c->argv[1] : NULL, c->argv[c->argc - 1]))
        reply_ok(c->reply);
}

/* ---- HELLO ---- */

static void reply_hello(struct redis_call *c)
{
    reply_map(c->reply, 7);
    reply_bulk_c(c->reply, "server");
    reply_bulk_c(c->reply, "redis");
    reply_bulk_c(c->reply, "version");
    reply_bulk_c(c->reply, REDIS_VERSION);
    reply_bulk_c(c->reply, "proto");
    reply_int(c->reply, c->reply->resp);
    reply_bulk_c(c->reply, "id");
    reply_int(c->reply, (int64_t)c->client->id);
    reply_bulk_c(c->reply, "mode");
    reply_bulk_c(c->reply, "standalone");
    reply_bulk_c(c->reply, "role");
    reply_bulk_c(c->reply, "master");
    reply_bulk_c(c->reply, "modules");
    reply_array(c->reply, 0);
}

struct hello {
    int64_t resp;
    const struct str *user, *password, *name;
};

/* False: the error was written. */
static bool parse_hello(struct redis_call *c, struct hello *h)
{
    size_t i = 2;

    h->resp = c->reply->resp;
    if (c->argc > 1 && !call_int_in(c, 1, INT64_MIN, INT64_MAX,
                           "Protocol version is not an integer or out of range", &h->resp))
        return false;
    if (h->resp < 2 || h->resp > 3) {
        reply_error(c->reply, "NOPROTO unsupported protocol version");
        return false;
    }
    while (i < c->argc) {
        if (call_is(c, i, "auth") && c->argc - i > 2) {
            h->user = &c->argv[i + 1];
            h->password = &c->argv[i + 2];
            i += 3;
        } else if (call_is(c, i, "setname") && c->argc - i > 1) {
            h->name = &c->argv[i + 1];
            i += 2;
        } else {
            reply_errorf(c->reply, "ERR Syntax error in HELLO option '%.*s'",
                (int)MIN(c->argv[i].len, (size_t)128), c->argv[i].p);
            return false;
        }
    }
    return true;
}

static void cmd_hello(struct redis_call *c)
{
    struct hello h = {0};

    if (!parse_hello(c, &h))
        return;
    if (h.user && !redis_auth(c, h.user, *h.password))
        return;
    if (!c->client->authenticated) {
        reply_error(c->reply,
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
            "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and "
            "select the RESP protocol version at the same time");
        return;
    }
    if (h.name && !redis_client_set_name(c, *h.name))
        return;
    c->reply->resp = (int)h.resp;
    reply_hello(c);
}

const struct redis_command redis_connection_commands[] = {
    {"ping", cmd_ping, -1, CMD_FAST | CMD_PUBSUB, 0, 0, 0, "1.0.0",
        "Returns the server's liveliness response."},
    {"echo", cmd_echo, 2, CMD_FAST, 0, 0, 0, "1.0.0", "Returns the given string."},
    {"select", cmd_select, 2, CMD_FAST, 0, 0, 0, "1.0.0", "Changes the selected database."},
    {"quit", cmd_quit, -1, CMD_FAST | CMD_NO_AUTH | CMD_NO_MULTI | CMD_PUBSUB, 0, 0, 0, "1.0.0",
        "Closes the connection."},
    {"reset", cmd_reset, 1, CMD_FAST | CMD_NO_AUTH | CMD_NO_MULTI | CMD_PUBSUB, 0, 0, 0, "6.2.0",
        "Resets the connection."},
    {"auth", cmd_auth, -2, CMD_FAST | CMD_NO_AUTH | CMD_NOT_IN_MULTI, 0, 0, 0, "1.0.0",
        "Authenticates the connection."},
    {"hello", cmd_hello, -1, CMD_FAST | CMD_NO_AUTH | CMD_NOT_IN_MULTI, 0, 0, 0, "6.0.0",
        "Handshakes with the server."},
    {"client", redis_cmd_client, -2, 0, 0, 0, 0, "2.4.0",
        "Tells about and changes client connections."},
    {0},
};
