/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_EXCHANGE_H
#define EPHPM_HTTP_EXCHANGE_H

/*
 * One request and its answer.
 *
 * An exchange belongs to its connection and lives from the request's head to the last byte of the
 * answer given to the socket's queue. The engine gets it in hooks.php and may answer until it has
 * called http_respond_end() or http_respond_cut(), or until hooks.gone: after either the pointer is
 * dead.
 *
 * An answer starts with a head and is held back until it is clear how long the body is: until the
 * end, a flush, or EXCHANGE_HOLD bytes. A short page therefore leaves with Content-Length in one
 * write.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "http/forwarded.h"
#include "http/h1_body.h"
#include "http/h1_parser.h"
#include "http/host.h"
#include "http/response.h"
#include "http/router.h"
#include "http/server.h"
#include "http/uri.h"

enum { EXCHANGE_HOLD = 65536 };

enum http_body_mode {
    HTTP_BODY_NONE,
    HTTP_BODY_MEMORY, /* in `data` */
    HTTP_BODY_SPOOL,  /* in `fd` */
    HTTP_BODY_STREAM, /* handed over as it comes, see http_body_take() */
    HTTP_BODY_DISCARD /* nobody wants it */
};

struct http_body {
    enum http_body_mode mode;
    bool done;        /* all of it has come */
    uint64_t size;    /* bytes so far */
    struct buf data;  /* MEMORY: all; STREAM: what was not taken yet */
    struct buf taken; /* STREAM: what http_body_take() gave last */
    int fd;           /* SPOOL; -1 else; closed with the exchange */
    /* private to conn.c */
    struct h1_body framing;
    bool continue_due; /* the client waits for 100 Continue */
};

enum http_stage {
    EXCHANGE_HEAD,    /* reading or routing */
    EXCHANGE_BODY,    /* collecting the body */
    EXCHANGE_HANDLER, /* the engine has it (hooks.php was called) */
    EXCHANGE_ANSWERED /* the whole answer is with the socket's queue */
};

/* Whose answer it is, for statistics. */
enum http_handler { HTTP_BY_ERROR, HTTP_BY_STATIC, HTTP_BY_PHP, HTTP_BY_INTERNAL };

struct http_exchange {
    struct arena arena; /* of this request */
    struct http_conn *conn;
    struct http_server *server;
    struct http_settings *settings;
    void *owner; /* the engine's, from hooks.php on */
    enum http_stage stage;
    struct h1_head head; /* strings are in the arena */
    struct uri uri;
    struct str path; /* decoded and normalised */
    struct host host;
    struct str http_host;  /* the Host value as PHP shall see it */
    struct forwarded from; /* who the client is */
    struct http_site site;
    struct route route;
    struct http_body body;
    char id[17];      /* request id, hex */
    uint64_t wall_us; /* arrival */
    uint64_t start_ns;
    uint64_t php_us;   /* for the access log */
    int64_t worker_id; /* -1: none */
    enum http_handler handler;
    bool counted; /* in the server's nrequests */
    bool is_head;
    bool keep_alive;
    /* the answer; private to exchange.c */
    struct response_head answer;
    bool has_answer; /* the head was given */
    unsigned infos;  /* informational heads sent */
    bool head_sent;
    bool chunked;
    bool discard; /* drop the body: HEAD, 204, 304, X-Sendfile */
    bool close_after;
    bool send_instead;  /* X-Accel-Redirect or X-Sendfile */
    int status;         /* as sent */
    int64_t promised;   /* Content-Length that was sent, -1: none */
    uint64_t body_sent; /* before coding */
    uint64_t body_wire; /* after it, for the log */
    uint64_t coded;     /* of body_sent: what a coding was applied to; 0: none was */
    struct buf hold;    /* body held back before the head is sent */
    struct buf blocked; /* bytes for the wire that the queue refused */
    struct compress *encoder;
    struct fields answer_copy;
};

/* --- the request --------------------------------------------------------------------------- */

/* STREAM bodies: takes up to max bytes as a borrowed str, valid until the next call; empty when
 * nothing is there. */
struct str http_body_take(struct http_exchange *x, size_t max);
/* Local and peer address of the connection (PROXY protocol respected). */
const struct sock_addr *http_exchange_local(const struct http_exchange *x);
const struct sock_addr *http_exchange_peer(const struct http_exchange *x);
/* Does the request come from this machine itself, to an address of its own? */
bool http_exchange_is_self(const struct http_exchange *x);

/* From hooks.internal: the answer comes later. x->owner must be set; x stays until it is answered,
 * or hooks.gone is called with it. */
void http_exchange_defer(struct http_exchange *x);

/* --- the answer ---------------------------------------------------------------------------- */

/* The final head. Once. The strings are copied. */
void http_respond_head(struct http_exchange *x, const struct response_raw *raw);
/* An informational head (103), if the client is HTTP/1.1 and nothing was sent yet. */
void http_respond_info(struct http_exchange *x, const struct response_raw *raw);
/* Body bytes, copied. ERR_AGAIN: nothing was taken, the client is slow: wait for hooks.room.
 * ERR_CLOSED: it is gone (hooks.gone follows). */
int http_respond_data(struct http_exchange *x, struct str data) MUST_CHECK;
/* Everything so far leaves now. */
int http_respond_flush(struct http_exchange *x) MUST_CHECK;
/* The answer is complete. x is dead afterwards. */
void http_respond_end(struct http_exchange *x);
/* The answer cannot be completed: an error page when nothing was sent yet, else the connection is
 * cut. x is dead afterwards. */
void http_respond_cut(struct http_exchange *x, int status, const char *why);
/* A whole answer: error page of a status, with an optional extra field. x is dead afterwards. */
void http_respond_status(struct http_exchange *x, int status, struct str extra_name,
    struct str extra_value, const char *why);
/* A whole answer from memory. x is dead afterwards. */
void http_respond_simple(
    struct http_exchange *x, int status, struct str content_type, struct str body);
/* Was something of the final answer sent already? */
bool http_respond_started(const struct http_exchange *x);

/* --- between the files of http --------------------------------------------------------------- */

/* handlers.c: answers x->route when it is not PHP. x is dead afterwards. */
void http_handle_route(struct http_exchange *x);
/* handlers.c: sends the file that X-Accel-Redirect or X-Sendfile named, with the application's
 * head. x is dead afterwards. */
void http_handle_send_instead(struct http_exchange *x);
/* handlers.c: routes x->path in x->site. */
void http_route(struct http_exchange *x);
/* exchange.c */
void http_exchange_init(struct http_exchange *x, struct http_server *s, struct http_conn *c);
void http_exchange_fini(struct http_exchange *x);
/* Sends a head and the start of its body of known length; the caller queues the rest itself
 * (files). */
int http_exchange_send_head(struct http_exchange *x, const struct response_head *h, uint64_t length,
    bool forbid_body, struct str body, bool more);
/* The queue drained: tries again what it refused. */
void http_exchange_drained(struct http_exchange *x);
/* conn.c: the stream of a connection; the end of an exchange. */
struct stream *http_conn_stream(struct http_conn *c);
void http_conn_exchange_done(struct http_conn *c);
/* conn.c: the answer is complete, but not all of it is with the stream yet. */
void http_conn_answered(struct http_conn *c);
/* Cuts the connection, with the reason for the log. */
void http_conn_cut(struct http_conn *c, const char *why);
/* The answer made progress: the send deadline starts again. */
void http_conn_sending(struct http_conn *c);

#endif
