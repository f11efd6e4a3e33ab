/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_MESSAGE_H
#define EPHPM_ENGINE_MESSAGE_H

/*
 * What the channel's messages carry.
 *
 * Strings travel as items, in the machine's byte order (both ends run on it and the channel checked
 * the layout), unaligned:
 *
 *   item:     | u32: tag (low 8 bits), length (high 24 bits) | bytes | NUL |
 *   request:  | message_request_fixed | items of members, ascending tags | headers | env |
 *   head:     | message_head_fixed | reason item, if any | fields |
 *   headers, env, fields: a name item and a value item each
 *   DONE, READY: one fixed struct each
 *
 * A member that does not apply (p == NULL) has no item. Encoders append to a buf in one go.
 * Decoders are pure and take the bytes for hostile: every length is checked against what is left,
 * every string ends in a NUL that is really there, counts are bounded before anything is allocated,
 * unknown tags, flags and trailing bytes are ERR_CORRUPT. Decoded strings point into the input,
 * which must stay valid and unchanged as long as they are used: copy a message out of the channel
 * before decoding. What a string says (a header value with a line break, a status of 7) is for
 * those to judge who use it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct arena;
struct buf;

#define MESSAGE_MAX_FIELDS     1024       /* headers of a request or a response head */
#define MESSAGE_MAX_ENV        1024       /* env entries of a request */
#define MESSAGE_MAX_STRING     0xffffffu  /* bytes of one string */
#define MESSAGE_MAX_HEAD_BYTES (1u << 20) /* of an encoded response head */

struct message_field {
    struct str name;
    struct str value;
};

/* CHANNEL_REQUEST. The members mean what they mean in struct embed_request (php/embed.h). */
struct message_request {
    struct str method, uri, query; /* always there */
    struct str script_filename;    /* always there */
    struct str script_name, path_info, document_root, document_uri, path;
    struct str protocol, scheme;
    struct str server_name, server_addr, server_port;
    struct str remote_addr, remote_port;
    struct str server_software;
    struct str content_type, cookie, authorization;
    struct str request_id;
    int64_t content_length;      /* -1: no body and no header */
    double time;                 /* arrival, seconds since 1970 */
    uint32_t request_timeout_ms; /* wall clock, 0: none */
    bool https;
    bool head_only;      /* HEAD: output is counted, not sent */
    bool body_streaming; /* length not known yet; CHANNEL_BODY messages follow as they come */
    bool body_fd;        /* the body is a file: CHANNEL_BODY_FD follows */
    bool measured;       /* DONE shall say cpu_ns, which takes two system calls */
    const struct message_field *headers;
    size_t nheaders;
    const struct message_field *env;
    size_t nenv;
};

/* Appends the block to out. ERR_TOOBIG: a string or a count over the limits above. ERR_INVAL: a
 * member that must be there is not. */
int message_request_encode(const struct message_request *req, struct buf *out) MUST_CHECK;
/* Arrays are allocated in a; strings point into p. ERR_CORRUPT; out is untouched then. */
int message_request_decode(
    const char *p, size_t n, struct arena *a, struct message_request *out) MUST_CHECK;

/* CHANNEL_HEAD and CHANNEL_INFO. */
struct message_head {
    int status;                         /* as PHP has it, any number */
    struct str reason;                  /* p == NULL: the standard one */
    const struct message_field *fields; /* names are not empty */
    size_t nfields;
};

/* ERR_TOOBIG: over the limits. ERR_INVAL: a field without a name. */
int message_head_encode(const struct message_head *head, struct buf *out) MUST_CHECK;
int message_head_decode(
    const char *p, size_t n, struct arena *a, struct message_head *out) MUST_CHECK;

/* CHANNEL_DONE. */
enum message_end { /* as enum embed_end */
    MESSAGE_END_OK,
    MESSAGE_END_FATAL,
    MESSAGE_END_TIMEOUT,
    MESSAGE_END_MEMORY,
    MESSAGE_END_BROKEN,
    MESSAGE_END_COUNT
};

enum message_replace {
    MESSAGE_STAYS,
    MESSAGE_REPLACE_REQUESTS, /* it served php.max_requests */
    MESSAGE_REPLACE_MEMORY,   /* it keeps more than php.max_worker_memory */
    MESSAGE_REPLACE_PHP,      /* PHP is not fit for another request */
    MESSAGE_REPLACE_COUNT
};

struct message_done {
    enum message_end end;
    int status;           /* as sent */
    uint64_t memory_peak; /* bytes, PHP's own count */
    uint64_t resident;    /* bytes of the process, a hint; 0: not measured */
    uint64_t php_us;      /* microseconds from the request block to the end of shutdown functions */
    enum message_replace replace; /* not MESSAGE_STAYS: the worker must not get another request */
    bool client_gone;
    /* sessions in the store: opened, taken over from the dead, not written for want of room */
    uint16_t sessions, sessions_taken_over, sessions_not_written;
    uint64_t session_wait_us;
    uint64_t cpu_ns; /* of PHP in this request; 0: it was not measured */
};

void message_done_encode(const struct message_done *done, struct buf *out);
int message_done_decode(const char *p, size_t n, struct message_done *out) MUST_CHECK;

/* CHANNEL_READY. */
struct message_ready {
    uint32_t pid;
    char php_version[32]; /* printable ASCII, NUL-terminated */
    bool opcache;
    bool jit;
};

void message_ready_encode(const struct message_ready *ready, struct buf *out);
int message_ready_decode(const char *p, size_t n, struct message_ready *out) MUST_CHECK;

#endif
