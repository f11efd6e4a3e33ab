/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* COMMAND: what the table says of commands. */
#include "base/mem.h"
#include "kv/glob.h"
#include "kv/redis/commands.h"
#include "kv/redis/state.h"

static size_t count_all(void)
{
    size_t n = 0;

    for (const struct redis_group *g = redis_groups; g->name; g++)
        for (const struct redis_command *cmd = g->commands; cmd->name; cmd++)
            n++;
    return n;
}

static void reply_flags(struct reply *r, const struct redis_command *cmd)
{
    static const struct {
        unsigned flag;
        const char *name;
    } rows[] = {{CMD_WRITE, "write"}, {CMD_READONLY, "readonly"}, {CMD_DENYOOM, "denyoom"},
        {CMD_ADMIN, "admin"}, {CMD_PUBSUB, "pubsub"}, {CMD_BLOCKING, "blocking"},
        {CMD_FAST, "fast"}, {CMD_NO_AUTH, "no_auth"}, {CMD_NO_MULTI, "no_multi"},
        {CMD_NUMKEYS | CMD_MOVABLE, "movablekeys"}};
    size_t n = 0, at = reply_deferred(r);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (cmd->flags & rows[i].flag) {
            reply_simple(r, str_c(rows[i].name));
            n++;
        }
    reply_deferred_set(r, at, n);
}

/* Of keys that a number of words tells, only the first place can be said. */
static void reply_info(struct reply *r, const struct redis_command *cmd)
{
    bool fixed = !(cmd->flags & (CMD_NUMKEYS | CMD_MOVABLE));

    reply_array(r, 10);
    reply_bulk_c(r, cmd->name);
    reply_int(r, cmd->arity);
    reply_flags(r, cmd);
    reply_int(r, fixed ? cmd->first : 0);
    reply_int(r, fixed ? cmd->last : 0);
    reply_int(r, fixed ? cmd->step : 0);
    reply_set(r, 0);   /* ACL categories */
    reply_array(r, 0); /* tips */
    reply_array(r, 0); /* key specifications */
    reply_array(r, 0); /* subcommands */
}

static void reply_docs(struct reply *r, const struct redis_command *cmd, const char *group)
{
    reply_bulk_c(r, cmd->name);
    reply_map(r, 3);
    reply_bulk_c(r, "summary");
    reply_bulk_c(r, cmd->summary);
    reply_bulk_c(r, "since");
    reply_bulk_c(r, cmd->since);
    reply_bulk_c(r, "group");
    reply_bulk_c(r, group);
}

static void command_all(struct redis_call *c)
{
    reply_array(c->reply, count_all());
    for (const struct redis_group *g = redis_groups; g->name; g++)
        for (const struct redis_command *cmd = g->commands; cmd->name; cmd++)
            reply_info(c->reply, cmd);
}

static void command_info(struct redis_call *c)
{
    if (c->argc == 2) {
        command_all(c);
        return;
    }
    reply_array(c->reply, c->argc - 2);
    for (size_t i = 2; i < c->argc; i++) {
        const struct redis_command *cmd = redis_command_find(c->server, c->argv[i]);

        if (cmd)
            reply_info(c->reply, cmd);
        else
            reply_null_array(c->reply);
    }
}

static void command_count(struct redis_call *c)
{
    reply_int(c->reply, (int64_t)count_all());
}

static bool is_named(const struct redis_call *c, const struct redis_command *cmd)
{
    for (size_t i = 2; i < c->argc; i++)
        if (str_ieq(c->argv[i], str_c(cmd->name)))
            return true;
    return c->argc == 2;
}

static void command_docs(struct redis_call *c)
{
    size_t n = 0, at = reply_deferred(c->reply);

    for (const struct redis_group *g = redis_groups; g->name; g++)
        for (const struct redis_command *cmd = g->commands; cmd->name; cmd++)
            if (is_named(c, cmd)) {
                reply_docs(c->reply, cmd, g->name);
                n++;
            }
    reply_deferred_map(c->reply, at, n);
}

static void command_list(struct redis_call *c)
{
    struct str pattern = STR_NONE;
    size_t n = 0, at = reply_deferred(c->reply);

    if (c->argc == 5 && call_is(c, 2, "filterby") && call_is(c, 3, "pattern")) {
        pattern = c->argv[4];
    } else if (c->argc != 2) {
        call_syntax_error(c);
        return;
    }
    for (const struct redis_group *g = redis_groups; g->name; g++)
        for (const struct redis_command *cmd = g->commands; cmd->name; cmd++)
            if (!pattern.p || kv_glob(pattern, str_c(cmd->name))) {
                reply_bulk_c(c->reply, cmd->name);
                n++;
            }
    reply_deferred_array(c->reply, at, n);
}

static void command_getkeys(struct redis_call *c)
{
    const struct redis_command *cmd = redis_command_find(c->server, c->argv[2]);
    const struct str *argv = c->argv + 2;
    size_t argc = c->argc - 2, *keys, n;

    if (!cmd) {
        reply_error(c->reply, "ERR Invalid command specified");
        return;
    }
    if (cmd->arity >= 0 ? argc != (size_t)cmd->arity : argc < (size_t)-cmd->arity) {
        reply_error(c->reply, "ERR Invalid number of arguments specified for command");
        return;
    }
    keys = mem_new_array(argc, sizeof(*keys));
    n = redis_command_keys(cmd, argv, argc, keys, argc);
    if (n == 0) {
        reply_error(c->reply, "ERR The command has no key arguments");
    } else {
        reply_array(c->reply, n);
        for (size_t i = 0; i < n; i++)
            reply_bulk(c->reply, argv[keys[i]]);
    }
    mem_free(keys);
}

static void command_help(struct redis_call *c)
{
    static const char *const lines[] = {"COMMAND <subcommand> [<arg> [value] [opt] ...]",
        "(no subcommand)", "    Return details about all commands.", "COUNT",
        "    Return the total number of commands in this server.", "LIST [FILTERBY PATTERN <p>]",
        "    Return the names of commands.", "INFO [<command-name> ...]",
        "    Return details about multiple commands.", "DOCS [<command-name> ...]",
        "    Return documentation details about multiple commands.", "GETKEYS <full-command>",
        "    Return the keys from a full command."};

    call_help(c, lines, ARRAY_LEN(lines));
}

void redis_cmd_command(struct redis_call *c)
{
    static const struct redis_subcommand rows[] = {{"count", command_count, 2},
        {"info", command_info, -2}, {"docs", command_docs, -2}, {"list", command_list, -2},
        {"getkeys", command_getkeys, -3}, {"help", command_help, 2}, {0}};

    if (c->argc == 1)
        command_all(c);
    else
        call_subcommand(c, rows);
}
