/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_URI_H
#define EPHPM_HTTP_URI_H

/*
 * Request targets (RFC 9112 section 3.2) and paths.
 *
 * uri_parse() takes a target apart without decoding anything; uri_decode_path() turns its raw path
 * into the one that names files: percent-decoded once, then normalised, as nginx does.  Pure; what
 * is not borrowed from the input is in the arena.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum uri_form {
    URI_ORIGIN,   /* "/path?query" */
    URI_ABSOLUTE, /* "http://host/path?query" */
    URI_ASTERISK  /* "*", with OPTIONS only */
};

struct uri {
    enum uri_form form;
    bool https;             /* absolute form with the https scheme */
    struct str authority;   /* absolute form: replaces Host; else empty */
    struct str request_uri; /* path and query as sent ("/" for an empty path), "*" for asterisk */
    struct str path;        /* raw */
    struct str query;       /* raw, without '?' */
    bool has_query;         /* there was a '?' */
};

/*
 * On failure *status is what to answer: 400 (ERR_INVAL), or 405 for CONNECT and TRACE
 * (ERR_UNSUPPORTED).
 * A '#', a control character, a space, user information in the authority: 400.
 */
int uri_parse(
    struct str method, struct str target, struct arena *a, struct uri *out, int *status) MUST_CHECK;

/*
 * Decodes and normalises an absolute raw path: "%XX" decoded once (so "%2F" is a slash), then "//"
 * merged into "/", "." and ".." segments resolved.  "\" and bytes that are not UTF-8 are kept, and
 * so are decoded controls.  The result starts with '/', keeps a final '/' (also of "/a/." and
 * "/a/.."), holds no NUL, and has a NUL after it.  ERR_INVAL: not absolute, a bad escape, "%00", or
 * a ".." that leaves the root.
 */
int uri_decode_path(struct str raw, struct arena *a, struct str *out) MUST_CHECK;

/* Appends path percent-encoded for use in a Location: all but unreserved, '/' and sub-delims that
 * are safe in a path. */
void uri_encode_path(struct str path, struct buf *out);

#endif
