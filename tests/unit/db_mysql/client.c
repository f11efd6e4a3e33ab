/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "client.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>

#include "base/mem.h"
#include "db/mysql/server.h"
#include "engine.h"
#include "net/loop.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "unit/test.h"

/* --- the server ------------------------------------------------------------------------------- */

struct test_loop {
    pthread_t thread;
    struct net_loop *loop;
    sock_t listener;
    sock_t pipe[2]; /* written to when it shall end */
    struct net_watch *watch;
    struct test_server *server;
};

static void loop_end(void *arg, int events)
{
    struct test_loop *l = arg;
    uint64_t begin = clock_mono_ms();

    (void)events;
    test_engine_stop(l->server->engine);
    CHECK(mysql_server_close(l->server->server, 3000));
    l->server->stopped_ms = clock_mono_ms() - begin;
    net_loop_stop(l->loop);
}

static void *loop_main(void *arg)
{
    struct test_loop *l = arg;

    net_loop_run(l->loop);
    mysql_server_free(l->server->server);
    net_watch_close(l->watch);
    net_loop_free(l->loop);
    return NULL;
}

void test_server_start(struct test_server *s, unsigned max_connections)
{
    static _Atomic unsigned count;
    struct mysql_account bob = {STR("bob"), STR("secret"), STR("shop")};
    struct mysql_account nil = {STR("nil"), STR(""), STR("shop")};
    struct mysql_options opt = {.max_connections = max_connections, .timeouts = {2, 2, 2}};
    struct test_loop *l = mem_new(sizeof(*l));
    struct err err = {0};

    memset(s, 0, sizeof(*s));
    process_ignore_sigpipe();
    s->engine = test_engine_new();
    s->loop = l;
    l->server = s;
    opt.engine = s->engine;
    opt.stats = &s->stats;
    (void)snprintf(
        s->path, sizeof(s->path), "/tmp/unit-db-mysql-%lld-%u", (long long)process_id(), ++count);
    CHECK_INT(net_loop_new(&l->loop), 0);
    CHECK_INT(mysql_server_new(l->loop, &opt, &s->server, &err), 0);
    mysql_server_set_account(s->server, &bob);
    mysql_server_set_account(s->server, &nil);
    CHECK_INT(sock_listen_local(s->path, 0600, 100, &l->listener), 0);
    CHECK_INT(mysql_server_listen(s->server, l->listener), 0);
    CHECK_INT(sock_stream_pair(l->pipe), 0);
    CHECK_INT(net_watch_open(l->loop, l->pipe[0], loop_end, l, &l->watch), 0);
    net_watch_set(l->watch, NET_READ);
    CHECK_INT(pthread_create(&l->thread, NULL, loop_main, l), 0);
}

void test_server_stop(struct test_server *s)
{
    struct test_loop *l = s->loop;

    sock_close(l->pipe[1]);
    CHECK_INT(pthread_join(l->thread, NULL), 0);
    sock_close(l->pipe[0]);
    sock_close(l->listener);
    (void)!fs_unlink(s->path);
    CHECK_INT(test_engine_sessions(s->engine), 0);
    CHECK_INT(db_counted(&s->stats.connected), 0);
    test_engine_free(s->engine);
    mem_free(l);
}

/* --- the client ------------------------------------------------------------------------------- */

void client_open(struct test_client *c, const struct test_server *s)
{
    struct mysql_reader r;

    memset(c, 0, sizeof(*c));
    CHECK_INT(sock_connect_local(s->path, &c->fd), 0);
    sock_set_timeouts(c->fd, 15000, 15000);
    if (!client_read(c) || client_error(c))
        return;
    r = mysql_reader(c->payload);
    CHECK_INT(mysql_read_int(&r, 1), 10);
    CHECK_STR(mysql_read_nul(&r), MYSQL_VERSION);
    c->id = mysql_read_int(&r, 4);
    memcpy(c->scramble, mysql_read_bytes(&r, 8).p, 8);
    (void)mysql_read_bytes(&r, 19);
    memcpy(c->scramble + 8, mysql_read_bytes(&r, 12).p, 12);
    CHECK(!r.bad);
}

void client_close(struct test_client *c)
{
    sock_close(c->fd);
    buf_fini(&c->in);
}

static void client_send_all(struct test_client *c, struct str bytes)
{
    size_t sent;

    while (bytes.len && sock_sendv(c->fd, &bytes, 1, false, &sent) == 0)
        bytes = str_sub(bytes, sent, bytes.len);
}

void client_send(struct test_client *c, uint8_t seq, struct str payload)
{
    struct buf b = {0};
    size_t mark = mysql_begin(&b);

    buf_add_str(&b, payload);
    mysql_end(&b, mark, &seq);
    client_send_all(c, buf_str(&b));
    buf_fini(&b);
}

bool client_read(struct test_client *c)
{
    struct mysql_framing f;
    size_t before = c->payload.p ? MYSQL_HEADER + c->payload.len : 0;

    buf_consume(&c->in, before);
    c->payload = STR_NONE;
    for (;;) {
        size_t len = c->in.len, got;
        enum mysql_frame_result r;

        mysql_framing_init(&f, len >= 4 ? (uint8_t)c->in.p[3] : 0, SIZE_MAX >> 1);
        r = len >= 4 ? mysql_frame(&f, c->in.p, &len) : MYSQL_FRAME_MORE;
        if (r == MYSQL_FRAME_OK) {
            c->in.len = len;
            c->seq = (uint8_t)(f.seq - 1);
            c->payload = str_n(c->in.p + MYSQL_HEADER, f.payload);
            return true;
        }
        if (r != MYSQL_FRAME_MORE ||
            sock_recv(c->fd, buf_reserve(&c->in, 1 << 16), 1 << 16, &got) != 0)
            return false;
        c->in.len += got;
    }
}

static void digest(const EVP_MD *md, struct str a, struct str b, uint8_t *out)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    CHECK(EVP_DigestInit_ex(ctx, md, NULL) && EVP_DigestUpdate(ctx, a.p, a.len) &&
          EVP_DigestUpdate(ctx, b.p, b.len) && EVP_DigestFinal_ex(ctx, out, NULL));
    EVP_MD_CTX_free(ctx);
}

static size_t client_proof(
    const struct test_client *c, enum mysql_plugin plugin, const char *password, uint8_t *out)
{
    const EVP_MD *md = plugin == MYSQL_PLUGIN_NATIVE ? EVP_sha1() : EVP_sha256();
    size_t n = plugin == MYSQL_PLUGIN_NATIVE ? MYSQL_SHA1 : MYSQL_SHA256;
    struct str scramble = str_n((const char *)c->scramble, MYSQL_SCRAMBLE);
    uint8_t once[32], twice[32], mask[32];
    struct str t = str_n((const char *)twice, n);

    if (!*password)
        return 0;
    digest(md, str_c(password), STR_NONE, once);
    digest(md, str_n((const char *)once, n), STR_NONE, twice);
    if (plugin == MYSQL_PLUGIN_NATIVE)
        digest(md, scramble, t, mask);
    else
        digest(md, t, scramble, mask);
    for (size_t i = 0; i < n; i++)
        out[i] = once[i] ^ mask[i];
    return n;
}

void client_login(struct test_client *c, const char *user, const char *password,
    enum mysql_plugin plugin, const char *database, uint32_t capabilities)
{
    struct buf b = {0};
    uint8_t proof[32];
    size_t n = client_proof(c, plugin, password, proof);

    capabilities |= MYSQL_PROTOCOL_41 | MYSQL_SECURE_CONNECTION | MYSQL_PLUGIN_AUTH;
    if (*database)
        capabilities |= MYSQL_CONNECT_WITH_DB;
    mysql_put_int(&b, capabilities, 4);
    mysql_put_int(&b, 1 << 24, 4);
    mysql_put_int(&b, 45, 1);
    memset(buf_reserve(&b, 23), 0, 23);
    b.len += 23;
    buf_add(&b, user, strlen(user) + 1);
    mysql_put_int(&b, n, 1);
    buf_add(&b, proof, n);
    if (*database)
        buf_add(&b, database, strlen(database) + 1);
    buf_add_str(&b, mysql_plugin_name(plugin));
    buf_add_char(&b, '\0');
    client_send(c, 1, buf_str(&b));
    buf_fini(&b);
    (void)client_read(c);
    if (str_eq(c->payload, STR("\x01\x03"))) /* the fast proof was right: OK follows */
        (void)client_read(c);
}

void client_begin(struct test_client *c, const struct test_server *s, uint32_t capabilities)
{
    client_open(c, s);
    client_login(c, "bob", "secret", MYSQL_PLUGIN_SHA2, "", capabilities);
    CHECK(client_is_ok(c));
}

void client_command(struct test_client *c, uint8_t command, struct str rest)
{
    struct buf b = {0};

    buf_add_char(&b, (char)command);
    buf_add_str(&b, rest);
    client_send(c, 0, buf_str(&b));
    buf_fini(&b);
    (void)client_read(c);
}

void client_query(struct test_client *c, const char *text)
{
    client_command(c, 3, str_c(text));
}

unsigned client_rows(struct test_client *c, bool deprecate_eof)
{
    uint64_t columns;
    unsigned rows = 0;
    struct mysql_reader r = mysql_reader(c->payload);

    columns = mysql_read_lenenc(&r);
    for (uint64_t i = 0; i < columns + !deprecate_eof; i++)
        CHECK(client_read(c));
    while (client_read(c) && c->payload.len) {
        uint8_t first = (uint8_t)c->payload.p[0];

        if (first == 0xff || (first == 0xfe && c->payload.len < 9))
            break;
        rows++;
    }
    return rows;
}

int client_error(const struct test_client *c)
{
    struct mysql_reader r = mysql_reader(c->payload);

    return mysql_read_int(&r, 1) == 0xff ? (int)mysql_read_int(&r, 2) : 0;
}

bool client_is_ok(const struct test_client *c)
{
    return c->payload.len >= 7 && c->payload.p[0] == 0;
}
