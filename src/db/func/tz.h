/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_TZ_H
#define EPHPM_DB_FUNC_TZ_H

/*
 * Time zones: fixed offsets ("+02:00") and named ones, read from the system's zoneinfo files. A
 * zone is immutable and may be shared by threads; whoever opened it closes it.
 */

#include <stdint.h>

#include "base/str.h"

struct db_tz;

/* "+hh:mm" or "-hh:mm", up to 14:00, into seconds; false when it is no offset. */
bool db_tz_offset(struct str text, int64_t *seconds) MUST_CHECK;
/* A named zone ("Europe/Vienna", "UTC", "SYSTEM" is the process's); ERR_NOTFOUND. */
int db_tz_open(struct str name, struct db_tz **out) MUST_CHECK;
void db_tz_close(struct db_tz *tz);
/* Is it UTC at all times? */
bool db_tz_is_utc(const struct db_tz *tz);
/* Seconds east of Greenwich at that time. */
int64_t db_tz_from_utc(const struct db_tz *tz, int64_t utc);
/* UTC of a local time (seconds as if it were UTC). Times that are skipped become the moment of the
 * change, those that come twice their first, as MySQL does. *gap: it was skipped. */
int64_t db_tz_to_utc(const struct db_tz *tz, int64_t local, bool *gap);

#endif
