/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_SNAPSHOT_FORMAT_H
#define EPHPM_KV_SNAPSHOT_FORMAT_H

/*
 * The file of a snapshot: a head, records, the last of which is SNAP_END.
 *
 *   head | record, body | record, body | ... | record of SNAP_END, end
 *
 * Body of a record, by its kind:
 *   SNAP_KEY   key, then the value: bytes of a string, 8 of a number, elements of a collection.
 *              What an earlier record said of that key does not count any more.
 *   SNAP_MORE  further elements of the collection before it
 *   SNAP_GONE  a key that an earlier record told of, and that was deleted meanwhile
 *   SNAP_END   struct snap_end, and the end of the file
 *
 * An element is a struct snap_element, the member, the value. Numbers are in the byte order of the
 * machine; a file of another kind of machine looks like one of another version.
 */

#include <assert.h>
#include <stdint.h>

#include "kv/collections.h"

#define SNAP_MAGIC   "ephpmkvS"
#define SNAP_VERSION 1u

struct snap_head {
    char magic[8];
    uint32_t version;
    uint32_t zero;
    int64_t created; /* ms since 1970 */
};

enum snap_kind { SNAP_KEY = 1, SNAP_MORE, SNAP_GONE, SNAP_END };

struct snap_record {
    uint32_t size; /* of the body */
    uint8_t kind;
    uint8_t type; /* enum kv_type, of a SNAP_KEY and a SNAP_MORE */
    uint16_t key_len;
    int64_t until;  /* ms since 1970; 0: no deadline */
    uint32_t count; /* elements */
    uint32_t zero;
};

struct snap_element {
    uint8_t type; /* of the value; 0: there is none */
    uint8_t zero;
    uint16_t member_len;
    uint32_t value_len;
    double score;
};

struct snap_end {
    uint64_t keys;     /* records of the kind SNAP_KEY */
    uint64_t check[2]; /* XXH3, 128 bits, of all bytes before it */
};

static_assert(sizeof(struct snap_head) == 24, "layout");
static_assert(sizeof(struct snap_record) == 24, "layout");
static_assert(sizeof(struct snap_element) == 16, "layout");
static_assert(sizeof(struct snap_end) == 24, "layout");
static_assert(KV_KEY_MAX <= UINT16_MAX && KV_MEMBER_MAX <= UINT16_MAX, "they fit");

#define SNAP_FRAME 65536u /* a body of elements is about so long, or holds one larger element */
/* No body is longer. */
#define SNAP_BODY_MAX \
    (SNAP_FRAME + KV_KEY_MAX + (uint32_t)sizeof(struct snap_element) + KV_MEMBER_MAX + KV_VALUE_MAX)

#endif
