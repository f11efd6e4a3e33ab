/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/h1_response.h"

#include <string.h>

static struct h1_response *response_of(llhttp_t *parser)
{
    return parser->data;
}

/* 1: there is no body, whatever the fields say; -1: an error. */
static int on_headers_complete(llhttp_t *parser)
{
    struct h1_response *r = response_of(parser);

    if (parser->http_major != 1)
        return -1;
    r->status = parser->status_code;
    r->in_body = true;
    return r->no_body || r->status == 204 || r->status == 304 ? 1 : 0;
}

static int on_body(llhttp_t *parser, const char *p, size_t n)
{
    response_of(parser)->body += n;
    return 0;
}

/* Stops llhttp behind the answer, unless it was one of those that announce another. */
static int on_message_complete(llhttp_t *parser)
{
    struct h1_response *r = response_of(parser);

    if (parser->status_code >= 100 && parser->status_code < 200 && parser->status_code != 101) {
        r->in_body = false;
        r->status = 0;
        return 0;
    }
    r->keep_alive = llhttp_should_keep_alive(parser) && parser->status_code != 101;
    r->complete = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

void h1_response_init(struct h1_response *r)
{
    *r = (struct h1_response){0};
}

void h1_response_begin(struct h1_response *r, bool no_body)
{
    r->status = 0;
    r->body = r->head = 0;
    r->in_body = r->complete = r->keep_alive = false;
    r->no_body = no_body;
    llhttp_init(&r->parser, HTTP_RESPONSE, &settings);
    r->parser.data = r;
}

int h1_response_feed(struct h1_response *r, const char *p, size_t n, size_t *consumed)
{
    bool was_head = !r->in_body;
    llhttp_errno_t rc = llhttp_execute(&r->parser, p, n);

    if (r->complete) {
        const char *end = llhttp_get_error_pos(&r->parser);

        /* Without a position all of it was the answer's. */
        *consumed = end && end >= p && end <= p + n ? (size_t)(end - p) : n;
        return 0;
    }
    if (rc != HPE_OK)
        return ERR_PROTO;
    if (was_head && !r->in_body)
        r->head += n;
    return r->head > H1_RESPONSE_HEAD_MAX ? ERR_PROTO : ERR_AGAIN;
}

int h1_response_end(struct h1_response *r)
{
    if (!r->complete)
        (void)llhttp_finish(&r->parser); /* calls on_message_complete() where the end is one */
    r->keep_alive = false;
    return r->complete ? 0 : ERR_CLOSED;
}
