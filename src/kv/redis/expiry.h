/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_EXPIRY_H
#define EPHPM_KV_REDIS_EXPIRY_H

/* Deadlines as commands give them: "EX 10", "PXAT 1700000000000". */

#include "kv/redis/command.h"

struct redis_expiry {
    bool given;
    bool absolute; /* ms since 1970, else ms from now */
    int64_t ms;
};

/* Words i and i + 1, if word i is EX, PX, EXAT or PXAT. 1: they are; 0: it is another word; -1: the
 * error was written. */
int redis_expiry_parse(struct redis_call *c, size_t i, struct redis_expiry *out);
/* A number in a unit of 1 or 1000 ms, more than 0 if need be; false: the error was written. */
bool redis_expiry_number(struct redis_call *c, size_t i, int64_t unit, bool absolute, bool positive,
    struct redis_expiry *out);
/* ms from now, at least 1; negative: it has passed; 0: none was given. */
int64_t redis_expiry_ttl(const struct redis_expiry *e);

#endif
