/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/sqlclient.h"

#include <stdio.h>

#include "core/sha256.h"
#include "db/mysql/handshake.h"
#include "db/mysql/packet.h"

enum {
    CLIENT_READ = 1 << 16,
    CLIENT_MORE_RESULTS = 8,
    CLIENT_COM_QUERY = 3,
    CLIENT_COM_QUIT = 1,
    CLIENT_CAPABILITIES = MYSQL_LONG_PASSWORD | MYSQL_LONG_FLAG | MYSQL_PROTOCOL_41 |
                          MYSQL_TRANSACTIONS | MYSQL_SECURE_CONNECTION | MYSQL_MULTI_STATEMENTS |
                          MYSQL_MULTI_RESULTS | MYSQL_PLUGIN_AUTH | MYSQL_PLUGIN_AUTH_LENENC,
    HEADER_OK = 0x00,
    HEADER_EOF = 0xfe,
    HEADER_ERROR = 0xff,
    EOF_MAX = 9 /* bytes: a longer packet that begins so is a row */
};

static int client_lost(struct sqlclient *c, int rc)
{
    c->number = 0;
    (void)snprintf(c->error, sizeof(c->error), "the connection was lost: %s", err_text(rc));
    return rc == ERR_INVAL ? ERR_PROTO : rc;
}

static int client_send(struct sqlclient *c, struct buf *packets)
{
    struct str rest = buf_str(packets);
    size_t sent;
    int rc = 0;

    while (rest.len && rc == 0) {
        rc = sock_sendv(c->fd, &rest, 1, false, &sent);
        if (rc == 0)
            rest = str_sub(rest, sent, rest.len);
    }
    buf_fini(packets);
    return rc ? client_lost(c, rc) : 0;
}

static int client_read(struct sqlclient *c, struct str *payload)
{
    struct mysql_framing f;

    buf_consume(&c->in, c->used);
    c->used = 0;
    mysql_framing_init(&f, c->seq, SIZE_MAX >> 1);
    for (;;) {
        size_t len = c->in.len, got;
        enum mysql_frame_result r = mysql_frame(&f, c->in.p, &len);
        int rc;

        c->in.len = len;
        if (r == MYSQL_FRAME_OK) {
            c->seq = f.seq;
            c->used = MYSQL_HEADER + f.payload;
            *payload = str_n(c->in.p + MYSQL_HEADER, f.payload);
            return 0;
        }
        if (r != MYSQL_FRAME_MORE)
            return client_lost(c, ERR_PROTO);
        rc = sock_recv(c->fd, buf_reserve(&c->in, CLIENT_READ), CLIENT_READ, &got);
        if (rc)
            return client_lost(c, rc);
        c->in.len += got;
    }
}

static int client_error(struct sqlclient *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    struct str text;

    (void)mysql_read_int(&r, 1);
    c->number = (int)mysql_read_int(&r, 2);
    text = mysql_read_rest(&r);
    if (str_starts(text, STR("#")))
        text = str_sub(text, 6, text.len);
    (void)str_put(c->error, sizeof(c->error), text);
    return ERR_INVAL;
}

static uint8_t client_first(struct str payload)
{
    return payload.len ? (uint8_t)*payload.p : HEADER_OK;
}

/* --- login ------------------------------------------------------------------------------------ */

static void client_digest(struct str a, struct str b, uint8_t out[SHA256_SIZE])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, a);
    sha256_add(&h, b);
    sha256_end(&h, out);
}

/* See db/mysql/auth.h: the fast proof of caching_sha2_password. */
static size_t client_proof(const char *password, struct str scramble, uint8_t out[SHA256_SIZE])
{
    uint8_t once[SHA256_SIZE], twice[SHA256_SIZE], mask[SHA256_SIZE];

    if (!*password)
        return 0;
    client_digest(str_c(password), STR_NONE, once);
    client_digest(str_n((const char *)once, SHA256_SIZE), STR_NONE, twice);
    client_digest(str_n((const char *)twice, SHA256_SIZE), scramble, mask);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        out[i] = once[i] ^ mask[i];
    return SHA256_SIZE;
}

static int client_greeting(struct sqlclient *c, char scramble[MYSQL_SCRAMBLE])
{
    enum { PART = 8, BETWEEN = 19 };
    struct str payload;
    struct mysql_reader r;
    int rc = client_read(c, &payload);

    if (rc)
        return rc;
    if (client_first(payload) == HEADER_ERROR)
        return client_error(c, payload);
    r = mysql_reader(payload);
    (void)mysql_read_int(&r, 1);
    (void)mysql_read_nul(&r);
    (void)mysql_read_int(&r, 4);
    (void)str_put(scramble, PART + 1, mysql_read_bytes(&r, PART));
    (void)mysql_read_bytes(&r, BETWEEN);
    if (r.rest.len < MYSQL_SCRAMBLE - PART)
        return client_lost(c, ERR_PROTO);
    memcpy(scramble + PART, r.rest.p, MYSQL_SCRAMBLE - PART);
    return 0;
}

static int client_login(struct sqlclient *c, const struct sqlclient_login *l)
{
    uint32_t capabilities = CLIENT_CAPABILITIES | (*l->database ? MYSQL_CONNECT_WITH_DB : 0);
    char scramble[MYSQL_SCRAMBLE + 1];
    uint8_t proof[SHA256_SIZE];
    struct buf b = {0};
    struct str payload;
    size_t mark;
    int rc = client_greeting(c, scramble);

    if (rc)
        return rc;
    mark = mysql_begin(&b);
    mysql_put_int(&b, capabilities, 4);
    mysql_put_int(&b, MYSQL_CHUNK, 4);
    mysql_put_int(&b, MYSQL_CHARSET, 1);
    for (unsigned i = 0; i < 23; i++)
        buf_add_char(&b, '\0');
    buf_add(&b, l->user, strlen(l->user) + 1);
    mysql_put_lenstr(&b, str_n((const char *)proof,
                             client_proof(l->password, str_n(scramble, MYSQL_SCRAMBLE), proof)));
    if (*l->database)
        buf_add(&b, l->database, strlen(l->database) + 1);
    buf_add_str(&b, mysql_plugin_name(MYSQL_PLUGIN_SHA2));
    buf_add_char(&b, '\0');
    mysql_end(&b, mark, &c->seq);
    rc = client_send(c, &b);
    if (rc == 0)
        rc = client_read(c, &payload);
    if (rc == 0 && str_eq(payload, STR("\x01\x03"))) /* the proof is right */
        rc = client_read(c, &payload);
    if (rc)
        return rc;
    if (client_first(payload) == HEADER_ERROR)
        return client_error(c, payload);
    if (client_first(payload) == HEADER_OK)
        return 0;
    (void)snprintf(c->error, sizeof(c->error), "the password is not the server's");
    return ERR_ACCESS;
}

int sqlclient_open(struct sqlclient *c, const struct sqlclient_login *l)
{
    int rc;

    memset(c, 0, sizeof(*c));
    rc = sock_connect_local(l->socket, &c->fd);
    if (rc) {
        (void)snprintf(
            c->error, sizeof(c->error), "no server answers at %s: %s", l->socket, err_text(rc));
        return rc;
    }
    rc = client_login(c, l);
    if (rc) {
        sock_close(c->fd);
        buf_fini(&c->in);
    }
    return rc;
}

void sqlclient_close(struct sqlclient *c)
{
    struct buf b = {0};
    uint8_t seq = 0;
    size_t mark = mysql_begin(&b);

    buf_add_char(&b, CLIENT_COM_QUIT);
    mysql_end(&b, mark, &seq);
    (void)!client_send(c, &b); /* the server may be gone */
    sock_close(c->fd);
    buf_fini(&c->in);
    arena_fini(&c->arena);
}

/* --- results ---------------------------------------------------------------------------------- */

static int client_columns(struct sqlclient *c, uint64_t n)
{
    struct str payload;
    int rc = 0;

    if (n == 0 || n > UINT16_MAX)
        return client_lost(c, ERR_PROTO);
    c->ncolumns = (uint32_t)n;
    c->columns = arena_new(&c->arena, n * sizeof(*c->columns));
    c->row = arena_new(&c->arena, n * sizeof(*c->row));
    for (uint32_t i = 0; i < n && rc == 0; i++) {
        struct mysql_reader r;

        rc = client_read(c, &payload);
        if (rc)
            return rc;
        r = mysql_reader(payload);
        for (unsigned skip = 0; skip < 4; skip++) /* catalog, schema, table, its real name */
            (void)mysql_read_lenstr(&r);
        c->columns[i].name = arena_str(&c->arena, mysql_read_lenstr(&r));
        (void)mysql_read_lenstr(&r);
        (void)mysql_read_lenenc(&r);
        c->columns[i].charset = (uint16_t)mysql_read_int(&r, 2);
        (void)mysql_read_int(&r, 4);
        c->columns[i].type = (uint8_t)mysql_read_int(&r, 1);
        c->columns[i].flags = (uint16_t)mysql_read_int(&r, 2);
        if (r.bad)
            return client_lost(c, ERR_PROTO);
    }
    return client_read(c, &payload); /* EOF */
}

static int client_result(struct sqlclient *c)
{
    struct str payload;
    struct mysql_reader r;
    int rc = client_read(c, &payload);

    arena_reset(&c->arena);
    c->ncolumns = 0;
    c->affected = 0;
    c->status = 0;
    if (rc)
        return rc;
    r = mysql_reader(payload);
    if (client_first(payload) == HEADER_ERROR)
        return client_error(c, payload);
    if (client_first(payload) != HEADER_OK)
        return client_columns(c, mysql_read_lenenc(&r));
    (void)mysql_read_int(&r, 1);
    c->affected = mysql_read_lenenc(&r);
    (void)mysql_read_lenenc(&r);
    c->status = (uint16_t)mysql_read_int(&r, 2);
    return 0;
}

int sqlclient_query(struct sqlclient *c, struct str text)
{
    struct buf b = {0};
    size_t mark = mysql_begin(&b);
    int rc;

    c->number = 0;
    c->seq = 0;
    buf_add_char(&b, CLIENT_COM_QUERY);
    buf_add_str(&b, text);
    mysql_end(&b, mark, &c->seq);
    rc = client_send(c, &b);
    return rc ? rc : client_result(c);
}

int sqlclient_row(struct sqlclient *c)
{
    struct str payload;
    struct mysql_reader r;
    int rc = client_read(c, &payload);

    if (rc)
        return rc;
    if (client_first(payload) == HEADER_ERROR)
        return client_error(c, payload);
    r = mysql_reader(payload);
    if (client_first(payload) == HEADER_EOF && payload.len < EOF_MAX) {
        (void)mysql_read_int(&r, 3);
        c->status = (uint16_t)mysql_read_int(&r, 2);
        return ERR_EOF;
    }
    for (uint32_t i = 0; i < c->ncolumns; i++) {
        c->row[i] = STR_NONE;
        if (r.rest.len && (uint8_t)*r.rest.p == 0xfb) {
            (void)mysql_read_int(&r, 1);
        } else {
            c->row[i] = mysql_read_lenstr(&r);
            if (!c->row[i].p)
                c->row[i] = STR("");
        }
    }
    return r.bad ? client_lost(c, ERR_PROTO) : 0;
}

int sqlclient_more(struct sqlclient *c)
{
    return c->status & CLIENT_MORE_RESULTS ? client_result(c) : ERR_EOF;
}
