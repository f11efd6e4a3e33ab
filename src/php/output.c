/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include "main/http_status_codes.h"

#include "base/mem.h"

/* --- body ------------------------------------------------------------------------------------- */

void embed_output_reset(void)
{
    embed_g.out_len = 0;
}

static void give(const char *p, size_t n)
{
    if (n == 0 || embed_g.client_gone || !embed_g.req)
        return;
    if (embed_g.host.write(embed_g.host.arg, p, n) == ERR_CLOSED)
        embed_g.client_gone = true;
}

void embed_output_drain(void)
{
    size_t n = embed_g.out_len;

    embed_g.out_len = 0;
    give(embed_g.out, n);
}

static bool client_is_gone(void)
{
    if (!embed_g.client_gone && embed_g.host.aborted && embed_g.host.aborted(embed_g.host.arg))
        embed_g.client_gone = true;
    return embed_g.client_gone;
}

void embed_output_check_client(void)
{
    if (embed_g.req && !embed_g.finished && client_is_gone() &&
        !(PG(connection_status) & PHP_CONNECTION_ABORTED))
        php_handle_aborted_connection(); /* does not return unless ignore_user_abort is on */
}

size_t embed_output_write(const char *p, size_t n)
{
    /* Output of startup and of our own requests, and what follows fastcgi_finish_request(), has no
     * reader. */
    if (!embed_g.req || embed_g.finished)
        return n;
    if (embed_g.out_len + n > EMBED_OUT_CAP)
        embed_output_drain();
    if (n >= EMBED_OUT_CAP) {
        give(p, n);
    } else {
        memcpy(embed_g.out + embed_g.out_len, p, n);
        embed_g.out_len += n;
    }
    embed_output_check_client();
    return n;
}

/* flush(): PHP before 8.4 does not send the head of a response that has no output yet. */
void embed_output_flush(void *server_context)
{
    if (!embed_g.req || embed_g.finished)
        return;
    if (!SG(headers_sent))
        (void)sapi_send_headers();
    embed_output_drain();
    if (!embed_g.client_gone && embed_g.host.flush &&
        embed_g.host.flush(embed_g.host.arg) == ERR_CLOSED)
        embed_g.client_gone = true;
    embed_output_check_client();
}

/* --- head ------------------------------------------------------------------------------------- */

/* "HTTP/1.1 299 Foo Bar": the reason, when the line is whole and about this status. */
static struct str status_line_reason(const char *text, int status)
{
    struct str rest = str_c(text), part;
    uint64_t code;

    if (!str_istarts(rest, STR("HTTP/")) || !str_split(&rest, ' ', &part))
        return STR_NONE;
    rest = str_trim(rest);
    if (!str_split(&rest, ' ', &part) || str_u64(part, &code) < 0 || code != (uint64_t)status)
        return STR_NONE;
    rest = str_trim(rest);
    return rest.len ? rest : STR_NONE;
}

/* "404 Not Found" of a Status header. */
static bool status_header(struct str value, int *status, struct str *reason)
{
    struct str rest = str_trim(value), part;
    uint64_t code;

    if (!str_split(&rest, ' ', &part) || str_u64(part, &code) < 0 || code > 999)
        return false;
    *status = (int)code;
    *reason = str_trim(rest);
    if (reason->len == 0)
        *reason = STR_NONE;
    return true;
}

/* False: the line has no name, or nothing in it. */
static bool split_line(const sapi_header_struct *h, struct embed_field *f)
{
    struct str line = {h->header, h->header_len};
    ptrdiff_t colon = str_chr(line, ':');

    if (colon <= 0) {
        if (line.len)
            embed_logf("response header without a name dropped: \"" STR_F "\"", STR_A(line));
        return false;
    }
    f->name = str_trim(str_sub(line, 0, (size_t)colon));
    f->value = str_trim(str_sub(line, (size_t)colon + 1, line.len));
    return f->name.len > 0;
}

static size_t collect_fields(
    sapi_headers_struct *sh, struct embed_field *fields, struct embed_head *head)
{
    bool from_line = sh->http_status_line != NULL;
    bool from_header = false, location = false;
    size_t n = 0;

    for (zend_llist_element *e = sh->headers.head; e; e = e->next) {
        const sapi_header_struct *h = (const sapi_header_struct *)(void *)e->data;
        struct embed_field f;

        if (!split_line(h, &f))
            continue;
        if (str_ieq(f.name, STR("Status"))) {
            if (!from_line)
                from_line = from_header = status_header(f.value, &head->status, &head->reason);
            continue;
        }
        if (str_ieq(f.name, STR("Content-Type"))) {
            if (f.value.len == 0)
                continue;
            f.name = STR("Content-Type"); /* PHP itself says "Content-type" */
        }
        location = location || str_ieq(f.name, STR("Location"));
        fields[n++] = f;
    }
    /* As under nginx, for which 200 is what a CGI program says by saying no status. */
    if (location && head->status == 200 && !from_header) {
        head->status = 302;
        head->reason = STR_NONE;
    }
    return n;
}

/* A 304 describes what the client has; its type is not part of it. */
static size_t drop_content_type(struct embed_field *fields, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!str_ieq(fields[i].name, STR("Content-Type")))
            fields[kept++] = fields[i];
    return kept;
}

static struct embed_field *build_head(sapi_headers_struct *sh, struct embed_head *head)
{
    struct embed_field *fields = mem_new_array(zend_llist_count(&sh->headers) + 1, sizeof(*fields));

    *head = (struct embed_head){.status = sh->http_response_code ? sh->http_response_code : 200};
    if (sh->http_status_line)
        head->reason = status_line_reason(sh->http_status_line, head->status);
    head->nfields = collect_fields(sh, fields, head);
    head->fields = fields;
    return fields;
}

int embed_output_send_head(void *sapi_headers)
{
    struct embed_head head;
    struct embed_field *fields;

    if (!embed_g.req || embed_g.head_sent)
        return SAPI_HEADER_SENT_SUCCESSFULLY;
    embed_g.head_sent = true;
    fields = build_head(sapi_headers, &head);
    if (head.status == 304)
        head.nfields = drop_content_type(fields, head.nfields);
    embed_g.status = head.status;
    if (embed_g.host.send_head(embed_g.host.arg, &head) == ERR_CLOSED)
        embed_g.client_gone = true;
    mem_free(fields);
    return SAPI_HEADER_SENT_SUCCESSFULLY;
}

int embed_output_send_informational(int status)
{
    struct embed_head head;
    struct embed_field *fields;
    int r;

    if (!embed_g.req || embed_g.head_sent || !embed_g.host.send_informational)
        return ERR_UNSUPPORTED;
    fields = build_head(&SG(sapi_headers), &head);
    head.status = status;
    head.reason = STR_NONE;
    head.nfields = drop_content_type(fields, head.nfields);
    r = embed_g.host.send_informational(embed_g.host.arg, &head);
    if (r == ERR_CLOSED)
        embed_g.client_gone = true;
    mem_free(fields);
    return r;
}

const char *embed_status_text(int status)
{
    for (size_t i = 0; i < http_status_map_len; i++)
        if (http_status_map[i].code == status)
            return http_status_map[i].str;
    return NULL;
}
