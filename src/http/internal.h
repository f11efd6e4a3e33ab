/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_INTERNAL_H
#define EPHPM_HTTP_INTERNAL_H

/*
 * Files that PHP has sent by naming them, and the folders for them ([[server.internal]]).
 *
 * X-Accel-Redirect holds a path as in a URL: below an internal path it is a file of that folder,
 * else one of the document root.  X-Sendfile holds a file's own name.  Either way the file, links
 * resolved, has to lie in the folder that it was named through, so that no link and no ".." leads
 * out of it; and PHP source of the document root is not sent.
 */

#include "http/exchange.h"

/* The internal folder that a decoded path lies in, the longest; NULL: none. Valid as long as the
 * settings. */
const struct http_internal *internal_find(const struct http_exchange *x, struct str path);

/* What x->answer named: NULL and its absolute path, and x->route.file and .stat are it; or why it
 * is not sent. */
const char *internal_file(struct http_exchange *x, struct str *file);

/* The value of X-Accel-Mapping for the site, "/srv/files/=/protected/, ..."; empty: nothing is
 * configured. */
struct str internal_mapping(struct http_exchange *x);

#endif
