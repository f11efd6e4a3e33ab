/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_BOOT_H
#define EPHPM_ENGINE_BOOT_H

/*
 * What the master tells a prototype of settings besides the ini text (ini.h): items of the message
 * "boot", each "name=value" but for the names and paths.
 *
 *   extension   a name or path of an extension to load
 *   env         a variable of the site
 *   admin       a locked setting
 *   setting     the name of one that is in the ini text, for a warning when PHP lacks it
 *   path        of a [[php.path]] table, outer ones before inner ones; its settings follow:
 *   path_value  a setting of its requests
 *   path_admin  a locked one
 */

#include "engine/config.h"
#include "engine/ipc.h"

/* How PHP reaches the site's database. */
struct boot_db {
    const char *socket;
    uint16_t port; /* 0: not on TCP */
    const char *user;
    const char *password;
    const char *name;
};

struct boot_options {
    const char *site;
    bool user_env; /* USER and HOME are those of uid, unless the configuration has them */
    uint32_t uid;
    const struct config *kv; /* as the stores were made; NULL: there are none */
    uint16_t redis_port;     /* as bound; 0: not on TCP */
    struct boot_db db;       /* socket NULL: there is none */
};

void boot_add_settings(
    struct ipc_out *out, const struct config *cfg, const struct boot_options *opt);

#endif
