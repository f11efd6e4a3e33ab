/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_COMMANDS_H
#define EPHPM_KV_REDIS_COMMANDS_H

/* The list of all tables of commands. */

#include "kv/redis/command.h"

/* Ends with a group without name. */
extern const struct redis_group redis_groups[];
/* Fills the server's table by name. */
void redis_commands_index(struct redis_server *s);

#endif
