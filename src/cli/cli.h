/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_CLI_H
#define EPHPM_CLI_CLI_H

/*
 * The command line. Each command is a row in main.c with its flags; commands that talk to a running
 * server are in remote.c and find it by the control socket that the same configuration gives; those
 * that talk to a store, here or on another machine, are in kv.c, by the protocol of resp.h; those
 * on a database in db.c, by that of sqlclient.h.
 */

#include <stdbool.h>

#include "engine/config.h"
#include "platform/sock.h"

struct json_value;

enum { CLI_OVERRIDES = 16 };

/* What the command line said. Strings point into argv or live as long as the process. */
struct cli {
    const char *command;
    const char **args; /* what follows it */
    size_t nargs;
    const char *config_path; /* NULL: ephpm.toml in the current folder, if there is one */
    const char *site;        /* NULL: all */
    bool all;                /* --all was said */
    bool json;               /* status */
    bool plain, force;       /* db */
    int verbosity;
    const char *host, *port, *user, *password, *socket; /* NULL: not said, as below */
    const char *ttl, *by, *count;                       /* kv */
    const char *rev;                                    /* deploy */
    const char *path;                                   /* of a backup, absolute */
    struct config_override overrides[CLI_OVERRIDES];
    size_t noverrides;
    char **env;
};

/* Commands; each returns the exit code. */
int cli_serve(struct cli *c);
int cli_dev(struct cli *c);
int cli_config(struct cli *c);
int cli_remote(struct cli *c, const char *cmd);
int cli_kv(struct cli *c);
int cli_db(struct cli *c);
/* Deploy and cache reset of a server that is named: by the Redis protocol. */
int cli_announce(struct cli *c, const char *cmd);
/* A connection to the store of c->site of the server on this machine; it speaks the Redis protocol.
 * Prints why when it fails, and returns the exit code. */
int cli_remote_store(struct cli *c, sock_t *out) MUST_CHECK;
/* A command of the control socket whose answer is for us: the last line, in the arena. Prints why
 * when it fails, or is refused, and returns the exit code. */
int cli_remote_ask(
    struct cli *c, const char *cmd, struct arena *a, struct json_value **out) MUST_CHECK;
/* Prints what is wrong with the command line; returns the exit code. */
int cli_usage(const char *text, const char *what);
/* "1.5 MB"; out has room for 32 bytes, and is returned. */
const char *cli_size(int64_t bytes, char *out);
/* Loads what the server of this command line would use; prints the error. NULL on failure. */
struct config *cli_load(struct cli *c, enum config_mode mode);
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

#endif
