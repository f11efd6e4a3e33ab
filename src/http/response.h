/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_RESPONSE_H
#define EPHPM_HTTP_RESPONSE_H

/*
 * Response heads: checking what an application emitted, and writing the bytes of HTTP/1.
 *
 * PHP lets through lines that must not reach a wire (header('NoColon'), status -1), so a head is
 * always checked here first; the rest of the server only sees a struct response_head.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "http/fields.h"

/* Why a field, or a status, did not get through. */
enum response_drop {
    RESPONSE_DROP_NAME,       /* empty or not a token */
    RESPONSE_DROP_VALUE,      /* CR, LF, NUL inside */
    RESPONSE_DROP_HOP,        /* belongs to the connection, which is ours */
    RESPONSE_DROP_LENGTH,     /* Content-Length not a number, or several that differ */
    RESPONSE_DROP_STATUS,     /* outside 200-599; name is empty, value the number */
    RESPONSE_DROP_STATUS_LINE /* a "Status:" field that is no status */
};

/* Runs during response_check() only. */
typedef void response_drop_cb(void *arg, enum response_drop why, struct str name, struct str value);
/* "bad_name", "bad_value", ...: for logs. */
const char *response_drop_name(enum response_drop why);

enum response_buffering {
    RESPONSE_BUFFERING_DEFAULT,
    RESPONSE_BUFFERING_ON,
    RESPONSE_BUFFERING_OFF
};

struct response_head {
    int status;             /* 200-599 */
    struct str reason;      /* the application's, or the table's */
    struct fields fields;   /* order, case and duplicates kept; without Content-Length */
    int64_t content_length; /* as the application declared it, -1 if it did not */
    bool no_body;           /* 204, 304: nothing may follow, no Content-Length, no chunks */
    /* Instructions to the server, taken out of the fields; p == NULL when absent. */
    struct str accel_redirect; /* X-Accel-Redirect */
    struct str sendfile;       /* X-Sendfile */
    struct str accel_charset;
    struct str accel_expires;
    struct str accel_limit_rate;
    enum response_buffering buffering;
};

/* What an application emitted. */
struct response_raw {
    int status;
    struct str reason; /* empty: from the table */
    const struct fields *fields;
};

/*
 * Fills out from raw.  Strings of out point into raw's and must not outlive them; the field vector
 * lives in a.  on_drop may be NULL.  Never fails: a status that is no final status becomes 500.
 */
void response_check(const struct response_raw *raw, struct arena *a, response_drop_cb *on_drop,
    void *arg, struct response_head *out);
/* The same for an informational head (103). ERR_INVAL unless the status is 102 to 199: 100 and 101
 * are the server's own. */
int response_check_info(const struct response_raw *raw, struct arena *a, response_drop_cb *on_drop,
    void *arg, struct response_head *out) MUST_CHECK;
/* An empty head of the server's own, with the table's reason. */
void response_head_init(struct response_head *h, int status, struct arena *a);

/* Removes every field of that name; returns how many there were. */
size_t response_fields_remove(struct fields *f, struct str name);
/* One field of that name remains, at the place of the first, or is added. */
void response_fields_set(struct fields *f, struct str name, struct str value);

/* The standard reason phrase, "Unknown" for others. Static. */
struct str response_reason(int status);
/* 1xx, 204, 304. */
bool response_forbids_body(int status);
bool response_is_hop_by_hop(struct str name);

enum response_framing {
    RESPONSE_LENGTH,  /* Content-Length: length */
    RESPONSE_CHUNKED, /* Transfer-Encoding: chunked */
    RESPONSE_NONE,    /* neither: no body, or it ends with the connection */
};

enum response_connection {
    RESPONSE_CONN_NONE,       /* HTTP/1.1 keep-alive needs no word */
    RESPONSE_CONN_KEEP_ALIVE, /* said to HTTP/1.0 clients */
    RESPONSE_CONN_CLOSE,
    RESPONSE_CONN_UPGRADE, /* 101; Upgrade itself is among the fields */
};

struct response_send {
    enum response_framing framing; /* overruled by response_forbids_body() */
    uint64_t length;
    enum response_connection connection;
    struct str
        date; /* IMF-fixdate, cached by the caller; left out when empty or when the head has Date */
    struct str server; /* left out when empty or when the head has Server */
    const struct fields
        *custom; /* configured fields; they replace the head's of the same name; may be NULL */
};

/* Appends status line, fields and the empty line. */
void response_write_head(
    struct buf *out, const struct response_head *h, const struct response_send *send);
/* Applies configured fields to f: same-named ones are replaced, Set-Cookie is added. For HTTP/2;
 * response_write_head() does it by itself. Borrows custom's strings. */
void response_apply_custom(struct fields *f, const struct fields *custom);

#endif
