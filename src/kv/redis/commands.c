/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/commands.h"

const struct redis_group redis_groups[] = {
    {"string", redis_string_commands},
    {"transactions", redis_multi_commands},
    {"pubsub", redis_pubsub_commands},
    {"connection", redis_connection_commands},
    {0},
};
