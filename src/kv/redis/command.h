/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_COMMAND_H
#define EPHPM_KV_REDIS_COMMAND_H

/*
 * Commands: rows of tables, one table for each cmd_*.c.
 *
 * How a command is written. A row names it, its handler, how many words it has, what it does (the
 * flags) and where its keys are; commands.c lists the tables. The handler is
 *
 *     static void cmd_strlen(struct redis_call *c)
 *     {
 *         struct kv_value v;
 *         int r = call_get_string(c, c->argv[1], &v);
 *
 *         if (r == 0)
 *             reply_int(c->reply, (int64_t)v.bytes.len);
 *         else if (r == ERR_NOTFOUND)
 *             reply_int(c->reply, 0);
 *         else
 *             call_store_error(c, r);
 *     }
 *
 * argv[0] is the name; the number of words has been checked against the arity. argv is borrowed
 * until the handler returns. It writes exactly one reply to c->reply. Helpers named call_*() that
 * return bool have written the error when they return false. c->buf is for reading values into; its
 * content lives until the next use in the same command. c->store is the store of the client's site.
 *
 * A row's keys (first, last, step) matter: what they name is what WATCH, waiting clients and
 * COMMAND GETKEYS see. Rows with CMD_WRITE wake clients that wait for these keys. A command whose
 * keys cannot be told by numbers has CMD_NUMKEYS: the word at `first` says how many follow it, or
 * CMD_MOVABLE with a function of its own in `keys`.
 *
 * A command that waits (BLPOP): when there is nothing to answer yet it calls redis_block(), writes
 * nothing and returns. When one of the keys was written, by any client or process, it is run again
 * with the same words. Inside MULTI redis_block() answers as after a timeout.
 */

#include "kv/redis/reply.h"
#include "kv/store.h"

struct redis_server;
struct redis_client;
struct redis_call;

typedef void redis_handler(struct redis_call *c);
/* Adds the indexes of the words that are keys to out, at most max; how many there are. */
typedef size_t redis_keys_cb(const struct str *argv, size_t argc, size_t *out, size_t max);

enum redis_command_flags {
    CMD_WRITE = 1 << 0,
    CMD_READONLY = 1 << 1,
    CMD_DENYOOM = 1 << 2, /* may need more memory */
    CMD_ADMIN = 1 << 3,
    CMD_PUBSUB = 1 << 4, /* allowed to a client that subscribed */
    CMD_BLOCKING = 1 << 5,
    CMD_FAST = 1 << 6,
    CMD_NO_AUTH = 1 << 7,  /* answered before AUTH */
    CMD_NO_MULTI = 1 << 8, /* run at once inside MULTI */
    CMD_NUMKEYS = 1 << 9,
    CMD_MOVABLE = 1 << 10,
    CMD_NOT_IN_MULTI = 1 << 11, /* refused inside MULTI */
};

struct redis_command {
    const char *name; /* lower case */
    redis_handler *run;
    int arity; /* words with the name; -n: n or more */
    unsigned flags;
    int first, last, step; /* keys; last -1: the last word, first 0: none */
    const char *since;
    const char *summary;
    redis_keys_cb *keys; /* CMD_MOVABLE */
};

/* A table, which ends with a row without name, and the group its commands belong to. */
struct redis_group {
    const char *name; /* as COMMAND DOCS names it: "string" */
    const struct redis_command *commands;
};

extern const struct redis_command redis_string_commands[];
extern const struct redis_command redis_bitmap_commands[];
extern const struct redis_command redis_bitfield_commands[];
extern const struct redis_command redis_generic_commands[];
extern const struct redis_command redis_expire_commands[];
extern const struct redis_command redis_sort_commands[];
extern const struct redis_command redis_hash_commands[];
extern const struct redis_command redis_list_commands[];
extern const struct redis_command redis_set_commands[];
extern const struct redis_command redis_zset_commands[];
extern const struct redis_command redis_zset_many_commands[];
extern const struct redis_command redis_multi_commands[];
extern const struct redis_command redis_pubsub_commands[];
extern const struct redis_command redis_connection_commands[];
extern const struct redis_command redis_server_commands[];

/* One command being run. */
struct redis_call {
    struct redis_server *server;
    struct redis_client *client;
    struct kv_store *store;
    struct reply *reply;
    const struct redis_command *cmd;
    const struct str *argv;
    size_t argc;
    struct buf *buf;
    bool in_multi;
};

/* ---- waiting ---- */

/* The reply of a command that waited in vain: reply_null_array, reply_null. */
typedef void redis_timeout_cb(struct reply *r);
/* ms 0: for ever. The keys are copied. */
void redis_block(
    struct redis_call *c, const struct str *keys, size_t n, int64_t ms, redis_timeout_cb *timeout);
/* A timeout in seconds, as a decimal: ms, at least 1, 0 for 0. */
bool call_timeout(struct redis_call *c, size_t i, int64_t *ms);

/* ---- words ---- */

/* Is word i this one, in any case? False when there are fewer. */
bool call_is(const struct redis_call *c, size_t i, const char *word);
/* "ERR value is not an integer or out of range" */
bool call_int(struct redis_call *c, size_t i, int64_t *out);
/* The same, and what is not in the range is refused with the text (NULL: the one above). */
bool call_int_in(
    struct redis_call *c, size_t i, int64_t min, int64_t max, const char *text, int64_t *out);
/* "ERR value is not a valid float"; infinite ones are taken, NaN is not. */
bool call_double(struct redis_call *c, size_t i, double *out);
/* Whole of s as Redis takes numbers: no space, no sign but '-', no leading zero. */
bool redis_int(struct str s, int64_t *out);
bool redis_double(struct str s, double *out);
/* Numbers of INCRBYFLOAT and HINCRBYFLOAT: read and written with all digits that count, no
 * exponent.
 */
enum { REDIS_LONG_DOUBLE_MAX = 5200 };
bool redis_long_double(struct str s, long double *out);
size_t redis_put_long_double(char out[REDIS_LONG_DOUBLE_MAX], long double d);

void call_syntax_error(struct redis_call *c);
void call_arity_error(struct redis_call *c);
void call_wrong_type(struct redis_call *c);
/* The text for what a store function returned. */
void call_store_error(struct redis_call *c, int code);

/* Handlers of "CLIENT LIST" and the like; the table ends with a row without name. */
struct redis_subcommand {
    const char *name;
    redis_handler *run;
    int arity; /* with both names */
};
void call_subcommand(struct redis_call *c, const struct redis_subcommand *rows);

/* The lines, as HELP answers. */
void call_help(struct redis_call *c, const char *const *lines, size_t n);

/* ---- values ---- */

/* A string, whatever it is stored as: numbers become text. Borrows from c->buf. ERR_NOTFOUND;
 * ERR_TYPE: of another type, which call_store_error() answers with WRONGTYPE. */
int call_get_string(struct redis_call *c, struct str key, struct kv_value *v) MUST_CHECK;
/* The same, and another deadline for the key. */
int call_getex_string(struct redis_call *c, struct str key, enum kv_expiry how, int64_t ms,
    struct kv_value *v) MUST_CHECK;
/* The same as the first into another buf. */
int call_get_string_to(
    struct redis_call *c, struct str key, struct buf *buf, struct kv_value *v) MUST_CHECK;
/* v as text, of a value of a string's kind; numbers are written to text. False: it is no string. */
enum { REDIS_TEXT_MAX = 40 };
bool redis_value_text(const struct kv_value *v, char text[REDIS_TEXT_MAX], struct str *out);

/* "string", "hash" */
const char *redis_type_name(enum kv_type type);

/* ---- SCAN and its kin ---- */

struct redis_scan {
    uint64_t cursor;
    size_t count;
    struct str pattern; /* p NULL: everything matches */
    struct str type;    /* SCAN alone; p NULL: any */
};

/* Word i is the cursor, options follow. False: the error was written. */
bool redis_scan_parse(struct redis_call *c, size_t i, struct redis_scan *out);
/* The reply's start; an array of what was found follows. */
void redis_scan_reply(struct redis_call *c, uint64_t cursor);

/* ---- the table ---- */

/* By name, in any case. */
const struct redis_command *redis_command_find(const struct redis_server *s, struct str name);
/* Indexes of the words that are keys, at most max of them; how many there are. */
size_t redis_command_keys(
    const struct redis_command *cmd, const struct str *argv, size_t argc, size_t *out, size_t max);
/* Checks, then queues or runs one request. */
void redis_command_run(struct redis_client *client, const struct str *argv, size_t argc);
/* Runs the handler, and tells who waits or watches. */
void redis_command_call(struct redis_call *c);

#endif
