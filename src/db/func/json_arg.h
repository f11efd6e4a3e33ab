/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_JSON_ARG_H
#define EPHPM_DB_FUNC_JSON_ARG_H

#include "db/func/call.h"
#include "db/func/json.h"

/* The argument as a JSON value of that type letter (list.h); in the arena, copied there. NULL: an
 * error was raised. */
struct json *json_value_arg(struct call *c, struct arena *arena, int i, char type);
/* Letter n of `types`, 'n' when it has fewer. */
char json_type_letter(struct str types, size_t n);

#endif
