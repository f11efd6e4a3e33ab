/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_DIGEST_H
#define EPHPM_DB_SQL_DIGEST_H

/*
 * The shape of a statement without its values, so that statistics can be kept of it and no data of
 * users gets into logs: literals become ?, lists of them (...), comments go, space becomes one.
 */

#include "base/buf.h"
#include "db/type.h"

/* Appends the digest's text, at most max bytes of it; works on any bytes, also on what the parser
 * refuses. Returns its hash (over the whole digest, also when the text was cut). */
uint64_t sql_digest(struct buf *out, struct str text, uint32_t mode, size_t max);

#endif
