/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* What the server tells about itself and about keys' insides. */
#include <stdio.h>

#include "kv/glob.h"
#include "kv/keys.h"
#include "kv/redis/state.h"
#include "platform/clock.h"
#include "platform/process.h"

static const char *policy_name(struct redis_call *c)
{
    switch (kv_store_policy(c->store)) {
    case KV_NOEVICTION:
        return "noeviction";
    case KV_VOLATILE_LRU:
        return "volatile-lru";
    case KV_ALLKEYS_RANDOM:
        return "allkeys-random";
    default:
        return "allkeys-lru";
    }
}

/* ---- INFO ---- */

static void info_server(struct redis_call *c, struct buf *out)
{
    uint64_t up = (net_loop_now(c->server->loop) - c->server->started) / 1000;

    buf_printf(out,
        "# Server\r\nredis_version:" REDIS_VERSION "\r\nredis_mode:standalone\r\n"
        "server_name:ephpm\r\nephpm_version:" EPHPM_VERSION "\r\narch_bits:64\r\n"
        "process_id:%lld\r\nrun_id:%s\r\ntcp_port:0\r\nuptime_in_seconds:%llu\r\n"
        "uptime_in_days:%llu\r\n",
        (long long)process_id(), c->server->run_id, (unsigned long long)up,
        (unsigned long long)up / 86400);
}

static void info_clients(struct redis_call *c, struct buf *out)
{
    struct redis_stats st;

    redis_server_stats(c->server, &st);
    buf_printf(out,
        "# Clients\r\nconnected_clients:%llu\r\nmaxclients:%u\r\nblocked_clients:%llu\r\n"
        "pubsub_clients:%llu\r\n",
        (unsigned long long)st.clients, c->server->opt.max_connections,
        (unsigned long long)st.blocked, (unsigned long long)st.subscribed);
}

static void info_memory(struct redis_call *c, struct buf *out)
{
    struct kv_stats st;

    kv_store_stats(c->store, &st);
    buf_printf(out, "# Memory\r\nused_memory:%llu\r\nmaxmemory:%llu\r\nmaxmemory_policy:%s\r\n",
        (unsigned long long)st.used, (unsigned long long)st.memory, policy_name(c));
}

static void info_stats(struct redis_call *c, struct buf *out)
{
    struct redis_stats st;
    struct kv_stats kv;

    redis_server_stats(c->server, &st);
    kv_store_stats(c->store, &kv);
    buf_printf(out,
        "# Stats\r\ntotal_connections_received:%llu\r\ntotal_commands_processed:%llu\r\n"
        "total_net_input_bytes:%llu\r\ntotal_net_output_bytes:%llu\r\n"
        "rejected_connections:%llu\r\ntotal_error_replies:%llu\r\n",
        (unsigned long long)st.connections, (unsigned long long)st.commands,
        (unsigned long long)st.bytes_in, (unsigned long long)st.bytes_out,
        (unsigned long long)st.rejected, (unsigned long long)st.errors);
    buf_printf(out,
        "expired_keys:%llu\r\nevicted_keys:%llu\r\nkeyspace_hits:%llu\r\nkeyspace_misses:%llu\r\n"
        "pubsub_channels:%zu\r\n",
        (unsigned long long)kv.expired, (unsigned long long)kv.evicted, (unsigned long long)kv.hits,
        (unsigned long long)kv.misses, c->client->site->channels.count);
}

static void info_replication(struct redis_call *c, struct buf *out)
{
    (void)c;
    buf_add_lit(out, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
}

static void info_keyspace(struct redis_call *c, struct buf *out)
{
    uint64_t keys = kv_store_count(c->store);

    buf_add_lit(out, "# Keyspace\r\n");
    if (keys)
        buf_printf(out, "db0:keys=%llu\r\n", (unsigned long long)keys);
}

static void cmd_info(struct redis_call *c)
{
    static const struct {
        const char *name;
        void (*add)(struct redis_call *c, struct buf *out);
    } rows[] = {{"server", info_server}, {"clients", info_clients}, {"memory", info_memory},
        {"stats", info_stats}, {"replication", info_replication}, {"keyspace", info_keyspace}};
    bool all = c->argc == 1;

    for (size_t i = 1; i < c->argc; i++)
        all =
            all || call_is(c, i, "all") || call_is(c, i, "everything") || call_is(c, i, "default");
    buf_clear(c->buf);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        bool wanted = all;

        for (size_t i = 1; i < c->argc; i++)
            wanted = wanted || call_is(c, i, rows[k].name);
        if (!wanted)
            continue;
        if (c->buf->len)
            buf_add_lit(c->buf, "\r\n");
        rows[k].add(c, c->buf);
    }
    reply_verbatim(c->reply, buf_str(c->buf));
}

/* ---- CONFIG ---- */

/* Of these the file ephpm.toml decides; clients ask for them by Redis's names. */
struct parameter {
    const char *name;
    char value[32];
};

enum { PARAMETERS = 10 };

static void list_parameters(struct redis_call *c, struct parameter out[PARAMETERS])
{
    struct kv_stats st;
    size_t n = 0;

#define ADD(name_, ...)                                                               \
    do {                                                                              \
        out[n].name = (name_);                                                        \
        (void)snprintf(out[n++].value, sizeof(out[0].value), __VA_ARGS__); /* fits */ \
    } while (0)
    kv_store_stats(c->store, &st);
    ADD("maxmemory", "%llu", (unsigned long long)st.memory);
    ADD("maxmemory-policy", "%s", policy_name(c));
    ADD("maxclients", "%u", c->server->opt.max_connections);
    ADD("timeout", "%u", c->server->opt.idle_timeout_secs);
    ADD("databases", "1");
    ADD("appendonly", "no");
    ADD("save", "%s", "");
    ADD("proto-max-bulk-len", "%llu",
        (unsigned long long)MIN(c->server->opt.max_input_buffer, (size_t)KV_VALUE_MAX));
    ADD("client-query-buffer-limit", "%llu", (unsigned long long)c->server->opt.max_input_buffer);
    ADD("cluster-enabled", "no");
#undef ADD
}

static void config_get(struct redis_call *c)
{
    struct parameter rows[PARAMETERS];
    size_t n = 0, at = reply_deferred(c->reply);

    list_parameters(c, rows);
    for (size_t k = 0; k < PARAMETERS; k++)
        for (size_t i = 2; i < c->argc; i++)
            if (kv_glob(c->argv[i], str_c(rows[k].name))) {
                reply_bulk_c(c->reply, rows[k].name);
                reply_bulk_c(c->reply, rows[k].value);
                n++;
                break;
            }
    reply_deferred_map(c->reply, at, n);
}

/* What is already so may be set; everything else is for the file. */
static void config_set(struct redis_call *c)
{
    struct parameter rows[PARAMETERS];

    if (c->argc % 2) {
        call_arity_error(c);
        return;
    }
    list_parameters(c, rows);
    for (size_t i = 2; i < c->argc; i += 2) {
        size_t k = 0;

        while (k < PARAMETERS && !call_is(c, i, rows[k].name))
            k++;
        if (k == PARAMETERS) {
            reply_errorf(c->reply,
                "ERR Unknown option or number of arguments for CONFIG SET - '%.*s'",
                (int)MIN(c->argv[i].len, (size_t)128), c->argv[i].p);
            return;
        }
        if (!str_ieq(c->argv[i + 1], str_c(rows[k].value))) {
            reply_errorf(c->reply,
                "ERR CONFIG SET failed (possibly related to argument '%s') - can't set immutable "
                "config: it is set in ephpm.toml",
                rows[k].name);
            return;
        }
    }
    reply_ok(c->reply);
}

static void config_resetstat(struct redis_call *c)
{
    c->server->stats = (struct redis_stats){0};
    reply_ok(c->reply);
}

static void config_help(struct redis_call *c)
{
    static const char *const lines[] = {"CONFIG <subcommand> [<arg> [value] [opt] ...]",
        "GET <pattern> [<pattern> ...]", "    Return parameters matching the glob-like patterns.",
        "SET <directive> <value>", "    Refused: settings are in ephpm.toml.", "RESETSTAT",
        "    Reset statistics reported by the INFO command."};

    call_help(c, lines, ARRAY_LEN(lines));
}

static void cmd_config(struct redis_call *c)
{
    static const struct redis_subcommand rows[] = {{"get", config_get, -3}, {"set", config_set, -4},
        {"resetstat", config_resetstat, 2}, {"help", config_help, 2}, {0}};

    call_subcommand(c, rows);
}

/* ---- a key's insides ---- */

/* False: the error, or that there is no such key, was written. */
static bool look(struct redis_call *c, struct str key, struct kv_info *info)
{
    if (kv_store_info(c->store, key, info) == 0)
        return true;
    reply_null(c->reply);
    return false;
}

static const char *encoding_of(struct redis_call *c, struct str key, const struct kv_info *info)
{
    struct kv_value v;
    int64_t n;

    switch (info->type) {
    case KV_HASH:
    case KV_SET:
        return "hashtable";
    case KV_LIST:
        return "quicklist";
    case KV_ZSET:
        return "skiplist";
    case KV_INT:
        return "int";
    default:
        break;
    }
    if (call_get_string(c, key, &v) != 0)
        return "raw";
    if (v.bytes.len <= 20 && redis_int(v.bytes, &n))
        return "int";
    return v.bytes.len <= 44 ? "embstr" : "raw";
}

static void object_encoding(struct redis_call *c)
{
    struct kv_info info;

    if (look(c, c->argv[2], &info))
        reply_bulk_c(c->reply, encoding_of(c, c->argv[2], &info));
}

static void object_refcount(struct redis_call *c)
{
    struct kv_info info;

    if (look(c, c->argv[2], &info))
        reply_int(c->reply, 1);
}

/* The store knows whether a key was read since eviction last came by, and not when. */
static void object_idletime(struct redis_call *c)
{
    struct kv_info info;

    if (look(c, c->argv[2], &info))
        reply_int(c->reply, 0);
}

static void object_freq(struct redis_call *c)
{
    struct kv_info info;

    if (look(c, c->argv[2], &info))
        reply_error(c->reply,
            "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please "
            "note that when switching between policies at runtime LRU and LFU data will take some "
            "time to adjust.");
}

static void object_help(struct redis_call *c)
{
    static const char *const lines[] = {"OBJECT <subcommand> [<arg> [value] [opt] ...]",
        "ENCODING <key>", "    Return the kind of internal representation of the value.",
        "FREQ <key>", "    Refused: access frequency is not tracked.", "IDLETIME <key>",
        "    Return 0: when a key was read last is not known.", "REFCOUNT <key>",
        "    Return 1: values are not shared."};

    call_help(c, lines, ARRAY_LEN(lines));
}

static void cmd_object(struct redis_call *c)
{
    static const struct redis_subcommand rows[] = {{"encoding", object_encoding, 3},
        {"refcount", object_refcount, 3}, {"idletime", object_idletime, 3},
        {"freq", object_freq, 3}, {"help", object_help, 2}, {0}};

    call_subcommand(c, rows);
}

static void memory_usage(struct redis_call *c)
{
    struct kv_info info;

    if (c->argc == 5 ? !call_is(c, 3, "samples") : c->argc != 3)
        call_syntax_error(c);
    else if (look(c, c->argv[2], &info))
        reply_int(c->reply, (int64_t)info.bytes);
}

static void memory_help(struct redis_call *c)
{
    static const char *const lines[] = {"MEMORY <subcommand> [<arg> [value] [opt] ...]",
        "USAGE <key> [SAMPLES <count>]", "    Return memory in bytes used by <key> and its value."};

    call_help(c, lines, ARRAY_LEN(lines));
}

static void cmd_memory(struct redis_call *c)
{
    static const struct redis_subcommand rows[] = {
        {"usage", memory_usage, -3}, {"help", memory_help, 2}, {0}};

    call_subcommand(c, rows);
}

/* ---- others ---- */

static void cmd_time(struct redis_call *c)
{
    uint64_t us = clock_wall_us();

    reply_array(c->reply, 2);
    reply_bulk_int(c->reply, (int64_t)(us / 1000000));
    reply_bulk_int(c->reply, (int64_t)(us % 1000000));
}

/* There are no replicas to wait for. */
static void cmd_wait(struct redis_call *c)
{
    int64_t n;

    if (call_int(c, 1, &n) && call_int_in(c, 2, 0, INT64_MAX, "timeout is negative", &n))
        reply_int(c->reply, 0);
}

const struct redis_command redis_server_commands[] = {
    {"info", cmd_info, -1, 0, 0, 0, 0, "1.0.0",
        "Returns information and statistics about the server."},
    {"config", cmd_config, -2, CMD_ADMIN, 0, 0, 0, "2.0.0", "Tells about the configuration."},
    {"command", redis_cmd_command, -1, 0, 0, 0, 0, "2.8.13",
        "Returns detailed information about all commands."},
    {"object", cmd_object, -2, CMD_READONLY, 2, 2, 1, "2.2.3", "Tells about a key's value."},
    {"memory", cmd_memory, -2, CMD_READONLY, 2, 2, 1, "4.0.0", "Tells the memory of a key."},
    {"time", cmd_time, 1, CMD_FAST, 0, 0, 0, "2.6.0", "Returns the server time."},
    {"wait", cmd_wait, 3, 0, 0, 0, 0, "3.0.0",
        "Returns 0: there are no replicas that could acknowledge writes."},
    {0},
};
