/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_MIME_H
#define EPHPM_HTTP_MIME_H

/*
 * File extension to Content-Type, and which types are worth compressing.  Static tables; pure.
 */

#include <stdbool.h>

#include "base/str.h"

struct mime {
    const char *ext;   /* lower case, without the dot; "" for the default */
    struct str type;   /* whole Content-Type value, with charset=utf-8 for text; static */
    bool compressible; /* false for what is compressed already */
};

/* By the extension of the last path segment, any case; application/octet-stream when there is none
 * or it is unknown. Never NULL; static. */
const struct mime *mime_of_path(struct str path);
/* Is a response of this Content-Type (parameters and case ignored) worth compressing?  text/ and
 * anything javascript, json, xml, svg, wasm, uncompressed fonts. False for an empty one. */
bool mime_compressible(struct str content_type);
/* The media type alone: before ';', trimmed. Borrows. */
struct str mime_essence(struct str content_type);

#endif
