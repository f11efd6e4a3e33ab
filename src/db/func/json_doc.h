/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_JSON_DOC_H
#define EPHPM_DB_FUNC_JSON_DOC_H

/* Arguments that are documents and paths. */

#include "db/func/call.h"
#include "db/func/json.h"

/* False: NULL, or an error was raised. */
bool json_doc(struct call *c, int i, struct json **out);
/* many: wildcards are fine. */
bool json_path_arg(struct call *c, int i, bool many, struct json_path *out);
void ret_json(struct call *c, const struct json *j);

#endif
