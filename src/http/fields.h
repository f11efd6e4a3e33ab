/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_FIELDS_H
#define EPHPM_HTTP_FIELDS_H

/*
 * Header fields: a vector of (name, value) pairs in the order in which they came.
 *
 * The array lives in the arena given to fields_init(); the names and values are borrowed from
 * whoever added them (the read buffer, the arena) and must live as long as the vector is used.
 * Names keep their case; every look-up ignores it.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct field {
    struct str name;
    struct str value; /* without leading and trailing SP and HTAB */
};

struct fields {
    struct field *items;
    size_t count;
    /* private to fields.c */
    size_t cap;
    struct arena *arena;
};

void fields_init(struct fields *f, struct arena *arena);
/* Room for n fields in all, so that adding them moves nothing. */
void fields_reserve(struct fields *f, size_t n);
void fields_add(struct fields *f, struct str name, struct str value);

/* First value of that name, or NULL. Valid until the next fields_add(). */
const struct str *fields_get(const struct fields *f, struct str name);
size_t fields_count(const struct fields *f, struct str name);
/*
 * All values of that name as one, in order: Cookie joined by "; ", others by ", ".  One value is
 * returned as it is; several are joined in the arena. False when there is none.
 */
bool fields_join(const struct fields *f, struct str name, struct str *out);
/* Is token (case-insensitive) an element of the comma list in any field of that name?  Parameters
 * after ';' are ignored: "gzip;q=0" holds the token "gzip". */
bool fields_has_token(const struct fields *f, struct str name, struct str token);

/* Takes the next element off a comma list (quoted strings are respected, empty elements skipped,
 * OWS trimmed). False at the end. */
bool field_list_next(struct str *rest, struct str *item);
/* RFC 9110 tchar. */
bool field_is_tchar(char c);
/* Is s a token: one or more tchars? */
bool field_is_token(struct str s);
/* Has value a byte that no field value may hold (controls but HTAB, DEL)? */
bool field_value_is_bad(struct str value);

/*
 * May a request field become a CGI variable?  Not Proxy (httpoxy), not Transfer-Encoding (the body
 * is already decoded), no name with a byte outside [A-Za-z0-9-], and with '_' only when underscores
 * is set (X_A and X-A are the same variable).
 */
bool field_is_variable(struct str name, bool underscores);

#endif
