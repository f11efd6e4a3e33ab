/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_TIMEFMT_H
#define EPHPM_CORE_TIMEFMT_H

/*
 * Dates as text, in UTC, without locale, time zone database or allocation. Pure and thread-safe.
 * Times beyond the years 0-9999 are cut to that range.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { TIMEFMT_MAX = 32 };

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 IMF-fixdate). Writes a NUL; returns the length, 29. */
size_t timefmt_http(int64_t sec, char out[TIMEFMT_MAX]);
/*
 * Any of the three forms of RFC 9110 section 5.6.7: IMF-fixdate, RFC 850, asctime. Two-digit years
 * 70-99 are 19xx, the others 20xx. The day's name is checked to be one, not to be the right one.
 * ERR_INVAL.
 */
int timefmt_http_parse(struct str s, int64_t *sec) MUST_CHECK;
/* "2026-01-31T12:00:00.123Z" from microseconds since 1970; returns 24. */
size_t timefmt_iso_ms(uint64_t wall_us, char out[TIMEFMT_MAX]);
/* "31/Jan/2026:12:00:00 +0000" (common log format); returns 26. */
size_t timefmt_common_log(int64_t sec, char out[TIMEFMT_MAX]);

#endif
