/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_CLI_H
#define EPHPM_CLI_CLI_H

/*
 * The command line. Each command is a row in main.c with its flags; commands that talk to a running
 * server are in remote.c and find it by the control socket that the same configuration gives.
 */

#include <stdbool.h>

#include "engine/config.h"

enum { CLI_OVERRIDES = 16 };

/* What the command line said. Strings point into argv or live as long as the process. */
struct cli {
    const char *command;
    const char *argument;    /* of `config`: check, dump, reference */
    const char *config_path; /* NULL: ephpm.toml in the current folder, if there is one */
    const char *site;        /* NULL: all */
    bool json;               /* status */
    int verbosity;
    bool has_port;
    struct config_override overrides[CLI_OVERRIDES];
    size_t noverrides;
    char **env;
};

/* Commands; each returns the exit code. */
int cli_serve(struct cli *c);
int cli_dev(struct cli *c);
int cli_config(struct cli *c);
int cli_remote(struct cli *c, const char *cmd);
/* Loads what the server of this command line would use; prints the error. NULL on failure. */
struct config *cli_load(struct cli *c, enum config_mode mode);
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

#endif
