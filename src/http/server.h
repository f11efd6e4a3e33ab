/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_SERVER_H
#define EPHPM_HTTP_SERVER_H

/*
 * The HTTP server of one event loop: listeners, connections, and what they share.
 *
 * Reading order of http: uri, fields, host, h1_parser, h1_body (bytes to a request) - router
 * (request to a decision) - server, conn (a connection's life), exchange (one request and its
 * answer), handlers (static files, redirects, errors) - response, compress, cond, range, static,
 * mime, error_page, access_log (the answer's parts) - limits, forwarded, proxy_protocol.
 *
 * The engine above fills struct http_hooks: which site a request belongs to, and what to do with
 * PHP requests. The way of a request: conn.c reads and parses it, checks limits and host, asks
 * `site`, routes; files and errors are answered in handlers.c; a PHP request goes to `php` once its
 * body is complete (memory or spool file; on streaming paths at once). The engine answers through
 * exchange.h. A file that PHP names instead of a body is found by internal.c.
 *
 * Everything runs on the loop's thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "http/access_log.h"
#include "http/compress.h"
#include "http/error_page.h"
#include "http/fields.h"
#include "http/file_cache.h"
#include "http/forwarded.h"
#include "http/h1_parser.h"
#include "http/limits.h"
#include "http/router.h"
#include "http/static.h"
#include "net/deadline.h"
#include "net/loop.h"

struct http_exchange;
struct http_conn;
struct http_server;

/* A folder that appears at a path, for files that PHP names (internal.h). */
struct http_internal {
    struct str path; /* "/protected": no slash at the end */
    struct str dir;  /* absolute, no slash at the end, links not resolved; NUL follows */
    struct str site; /* empty: all */
};

/*
 * What the configuration says, as one immutable snapshot. Requests in flight keep the one they
 * began with (http_settings_ref). All pointers live in the arena, or are owned by what `owner`
 * releases.
 */
struct http_settings {
    struct h1_limits head;
    uint64_t max_body;                 /* 0: no limit */
    size_t body_memory;                /* larger bodies go to a spool file */
    const char *spool_dir;             /* NULL: the system's */
    const struct str *streaming_paths; /* globs over the decoded path */
    size_t nstreaming_paths;
    bool underscores; /* in header names */
    const struct str *trusted_hosts;
    size_t ntrusted_hosts;
    struct forwarded_rules proxies;
    bool proxy_protocol;
    uint64_t header_ms, idle_ms, body_ms, send_ms, request_ms; /* 0: off */
    size_t response_memory;   /* queued bytes per response before spooling */
    uint64_t response_spool;  /* and at most this much in the spool */
    struct router_site route; /* document_root is the site's, not this one's */
    struct static_config static_files;
    struct file_cache_config files;
    struct compress_policy compress;
    bool compress_streams; /* responses that are flushed in pieces, too */
    bool compress_events;  /* text/event-stream, too */
    struct fields custom;  /* configured response headers */
    const struct error_page_file *error_pages;
    size_t nerror_pages;
    const struct http_internal *internal; /* folders for X-Accel-Redirect, see internal.h */
    size_t ninternal;
    struct str internal_path; /* besides /_ephpm/: goes to hooks.internal; empty: none */
    struct forwarded_rules internal_allow; /* for the engine: who may ask for it */
    struct str server;                     /* Server header; empty: none */
    struct http_limits_config limits;
    bool limits_on; /* any of them */
    /* private */
    struct arena arena;
    void *owner;
    void (*release)(void *owner);
    int refs;
};

struct http_settings *http_settings_new(void);
struct http_settings *http_settings_ref(struct http_settings *s);
void http_settings_unref(struct http_settings *s); /* NULL is fine */

/* Where a request's files are. The engine's object; root is copied. */
struct http_site {
    struct str name;
    struct str root;        /* resolved document root */
    struct str server_name; /* for SERVER_NAME; empty: the request's host */
    void *owner;            /* the engine's */
};

enum http_gone {
    HTTP_GONE_CLIENT,  /* the client closed or broke the connection */
    HTTP_GONE_TIMEOUT, /* request timeout: 504 was sent */
    HTTP_GONE_SHUTDOWN
};

/* What happens to connections and requests, for statistics. */
enum http_event {
    HTTP_EVENT_ACCEPTED,
    HTTP_EVENT_REFUSED,     /* a connection, for one of the limits */
    HTTP_EVENT_BAD_REQUEST, /* it could not be parsed */
    HTTP_EVENT_HEADER_TIMEOUT,
    HTTP_EVENT_BODY_TIMEOUT,
    HTTP_EVENT_SEND_TIMEOUT,
    HTTP_EVENT_REQUEST_TIMEOUT,
    HTTP_EVENT_BODY_TOO_LARGE,
    HTTP_EVENT_RATE_LIMITED,
    HTTP_EVENT_SITE_RATE_LIMITED
};

struct http_hooks {
    void *arg;
    /* The site of a request. False: *status is the answer (404, 503). Called once per request,
     * after the head. */
    bool (*site)(void *arg, struct http_exchange *x, struct http_site *out, int *status);
    /* /_ephpm/..., settings.internal_path, and all of a listener for internal requests: true when
     * it answered, or will after http_exchange_defer(). */
    bool (*internal)(void *arg, struct http_exchange *x);
    /* Run PHP: x->route.kind is ROUTE_PHP and the body is complete, or x->body.mode is
     * HTTP_BODY_STREAM. */
    void (*php)(void *arg, struct http_exchange *x);
    /* Streamed body bytes (or their end) came. */
    void (*body)(void *arg, struct http_exchange *x);
    /* What was refused with ERR_AGAIN by http_respond_data() may be tried again. */
    void (*room)(void *arg, struct http_exchange *x);
    /* x, which had gone to `php` (or was deferred) and is not answered in full, must be forgotten
     * now. */
    void (*gone)(void *arg, struct http_exchange *x, enum http_gone why);
    /* The answer of x->status is over, whoever gave it. May be NULL. */
    void (*finished)(void *arg, const struct http_exchange *x);
    /* May be NULL. */
    void (*event)(void *arg, enum http_event e);
};

struct http_counters {
    uint64_t accepted, refused, requests, parse_errors, timeouts, bytes_sent, bytes_received;
    uint64_t status_class[6];
};

struct http_server {
    struct net_loop *loop;
    struct http_settings *settings; /* current */
    struct http_hooks hooks;
    struct file_cache *files;
    struct compress_pool *compressors;
    struct access_log *access_log; /* NULL: none */
    struct http_counters counters;
    size_t nconns;
    size_t nrequests; /* under way, without internal ones */
    /* private to server.c and conn.c */
    struct deadline_set deadlines;
    struct deadline_class on_header, on_idle, on_fresh, on_body, on_receive, on_send, on_request,
        on_linger;
    struct http_limits limits;
    struct list conns;
    struct list graveyard; /* closed connections, freed before the loop sleeps */
    struct list listeners;
    struct net_timer *accept_pause;
    struct net_watch *file_watch;
    struct buf head; /* response heads are built here */
    char *scratch;   /* HTTP_SCRATCH bytes that every read goes to first */
    char date[32];
    uint64_t date_at; /* second of the cached Date */
    uint64_t id_seed, id_next;
    bool draining; /* no keep-alive any more */
};

enum { HTTP_SCRATCH = 65536 };

/* Takes a reference to settings. hooks are copied. The server must be told before each sleep:
 * http_server_before_sleep(). */
int http_server_init(struct http_server *s, struct net_loop *l, struct http_settings *settings,
    const struct http_hooks *hooks) MUST_CHECK;
/* New requests follow these from now on. */
void http_server_set_settings(struct http_server *s, struct http_settings *settings);
/* Takes a listening socket over. internal: all its requests go to hooks.internal. */
int http_server_listen(struct http_server *s, sock_t fd, bool internal) MUST_CHECK;
/* Takes what waits in the listeners' queues and closes them, and idle connections (see
 * http_conn_drain()); answers from now on say Connection: close. */
void http_server_drain(struct http_server *s);
/* Closes everything. `gone` is called for requests in PHP. */
void http_server_fini(struct http_server *s);
/* Answers 503 to a connection that there is no room for, and closes it. */
void http_server_refuse(struct http_server *s, sock_t fd);
/* Tells hooks.event. */
void http_server_event(struct http_server *s, enum http_event e);
/* Memory and files that hold bodies of requests and answers for which there is no room elsewhere.
 */
struct http_spool {
    uint64_t request_files, request_bytes;
    uint64_t response_files, response_bytes;
};
struct http_spool http_server_spool(const struct http_server *s);
/* Frees what was closed in this round. */
void http_server_before_sleep(struct http_server *s);
/* Current Date value, and the wall clock in microseconds. */
struct str http_server_date(struct http_server *s);

#endif
