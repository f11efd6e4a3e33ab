/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/commands.h"

const struct redis_group redis_groups[] = {
    {"string", redis_string_commands},
    {"bitmap", redis_bitmap_commands},
    {"bitmap", redis_bitfield_commands},
    {"hash", redis_hash_commands},
    {"list", redis_list_commands},
    {"set", redis_set_commands},
    {"sorted-set", redis_zset_commands},
    {"sorted-set", redis_zset_many_commands},
    {"generic", redis_generic_commands},
    {"generic", redis_expire_commands},
    {"generic", redis_sort_commands},
    {"transactions", redis_multi_commands},
    {"pubsub", redis_pubsub_commands},
    {"connection", redis_connection_commands},
    {"server", redis_server_commands},
    {0},
};
