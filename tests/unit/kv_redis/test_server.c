/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/server.h"

#include "base/mem.h"
#include "core/sha256.h"
#include "kv/collections.h"
#include "kv/redis/state.h"
#include "platform/fs.h"
#include "unit/test.h"

extern const struct test tests_server[];

/* A server with two sites, and a client whose answers are gathered until it is closed. */
struct bed {
    struct net_loop *loop;
    struct net_timer *timer;
    struct redis_server *server;
    struct kv_store *stores[2];
    sock_t peer;
    struct buf got;
    struct buf told; /* by the hook */
    int ticks;
    void (*each_tick)(struct bed *b); /* may be NULL */
    bool reads;
    bool closed;
};

static void on_tick(void *arg)
{
    struct bed *b = arg;
    size_t got;
    int r = 0;

    while (r == 0 && b->reads) {
        r = sock_recv(b->peer, buf_reserve(&b->got, 65536), 65536, &got);
        if (r == 0)
            b->got.len += got;
    }
    if (r == ERR_EOF || r == ERR_CLOSED || (!b->reads && b->server->nclients == 0))
        b->closed = true;
    if (b->closed || ++b->ticks > 20000)
        net_loop_stop(b->loop);
    if (b->each_tick && !b->closed)
        b->each_tick(b);
}

static void on_opcache(
    void *arg, const char *site, bool is_default, struct str key, struct str value)
{
    struct bed *b = arg;

    buf_printf(&b->told, "%s " STR_F "=" STR_F ";", site, STR_A(key), STR_A(value));
}

static struct kv_store *new_store(void)
{
    struct kv_store *s;
    int fd;

    ENSURE(kv_store_create(&(struct kv_options){64 << 20, KV_ALLKEYS_LRU}, &fd) == 0);
    ENSURE(kv_store_open(fd, &s) == 0);
    fs_close(fd);
    return s;
}

static void bed_open(struct bed *b, struct redis_options opt)
{
    struct redis_hooks hooks = {b, on_opcache};

    *b = (struct bed){.peer = SOCK_NONE, .reads = true};
    opt.max_connections = opt.max_connections ? opt.max_connections : 10;
    opt.max_input_buffer = opt.max_input_buffer ? opt.max_input_buffer : 1 << 20;
    ENSURE(net_loop_new(&b->loop) == 0);
    ENSURE(redis_server_open(b->loop, &opt, &hooks, &b->server) == 0);
    b->stores[0] = new_store();
    b->stores[1] = new_store();
    ENSURE(redis_server_add_site(b->server, "first", b->stores[0]) == 0);
    ENSURE(redis_server_add_site(b->server, "second", b->stores[1]) == 0);
    b->timer = net_timer_open(b->loop, on_tick, b);
    net_timer_start(b->timer, 1, 1);
}

static void bed_close(struct bed *b)
{
    redis_server_close(b->server);
    net_timer_close(b->timer);
    net_loop_free(b->loop);
    kv_store_close(b->stores[0]);
    kv_store_close(b->stores[1]);
    buf_fini(&b->got);
    buf_fini(&b->told);
}

/* All answers to what is sent; the connection ends with it unless the server keeps it open. */
static struct str ask(struct bed *b, struct str in)
{
    sock_t pair[2];
    size_t sent = 0;

    ENSURE(sock_stream_pair(pair) == 0);
    ENSURE(sock_sendv(pair[1], &in, 1, false, &sent) == 0 && sent == in.len);
    b->peer = pair[1];
    b->closed = false;
    b->ticks = 0;
    buf_clear(&b->got);
    ENSURE(redis_client_new(b->server, pair[0]) != NULL);
    net_loop_run(b->loop);
    CHECK(b->closed);
    sock_close(pair[1]);
    return buf_str(&b->got);
}

static void test_server_answers_a_pipeline_in_order(void)
{
    struct bed b;

    bed_open(&b, (struct redis_options){0});
    CHECK_STR(
        ask(&b, STR("set a 1\r\nincr a\r\nget a\r\nget b\r\nnope x\r\nget\r\nquit\r\nget a\r\n")),
        "+OK\r\n:2\r\n$1\r\n2\r\n$-1\r\n"
        "-ERR unknown command 'nope', with args beginning with: 'x' \r\n"
        "-ERR wrong number of arguments for 'get' command\r\n+OK\r\n");
    bed_close(&b);
}

static void test_server_closes_after_a_protocol_error(void)
{
    struct bed b;

    bed_open(&b, (struct redis_options){0});
    CHECK_STR(ask(&b, STR("ping\r\n*1\r\n!x\r\nping\r\n")),
        "+PONG\r\n-ERR Protocol error: expected '$', got '!'\r\n");
    bed_close(&b);
}

static void test_server_asks_who_is_there(void)
{
    struct bed b;

    bed_open(&b, (struct redis_options){.password = STR("pass")});
    CHECK_STR(ask(&b, STR("get a\r\nauth no\r\nauth pass\r\nget a\r\nreset\r\nget a\r\nquit\r\n")),
        "-NOAUTH Authentication required.\r\n"
        "-WRONGPASS invalid username-password pair or user is disabled.\r\n+OK\r\n$-1\r\n+RESET\r\n"
        "-NOAUTH Authentication required.\r\n+OK\r\n");
    CHECK_STR(ask(&b, STR("auth default pass\r\nping\r\nquit\r\n")), "+OK\r\n+PONG\r\n+OK\r\n");
    CHECK_STR(ask(&b, STR("*11\r\n")), "-ERR Protocol error: unauthenticated multibulk length\r\n");
    bed_close(&b);
    bed_open(&b, (struct redis_options){0});
    CHECK_STR(ask(&b, STR("auth pass\r\nquit\r\n")),
        "-ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?\r\n+OK\r\n");
    bed_close(&b);
}

static void test_server_gives_a_site_its_own_store(void)
{
    struct kv_value v = {.type = KV_INT, .i = 7};
    struct buf in = {0};
    char mac[SHA256_HEX];
    struct bed b;

    bed_open(&b, (struct redis_options){.secret = STR("geheim"), .many_sites = true});
    ENSURE(kv_store_set(b.stores[1], STR("a"), &v, 0, 0) == 0);
    sha256_hmac_hex(STR("geheim"), STR("second"), mac);
    buf_printf(&in, "get a\r\nauth second %.*s\r\nget a\r\nquit\r\n", SHA256_HEX, mac);
    CHECK_STR(
        ask(&b, buf_str(&in)), "-NOAUTH Authentication required.\r\n+OK\r\n$1\r\n7\r\n+OK\r\n");
    buf_clear(&in);
    buf_printf(&in, "auth first %.*s\r\nquit\r\n", SHA256_HEX, mac);
    CHECK_STR(ask(&b, buf_str(&in)),
        "-WRONGPASS invalid username-password pair or user is disabled.\r\n+OK\r\n");
    CHECK_STR(ask(&b, STR("auth default x\r\nquit\r\n")),
        "-WRONGPASS invalid username-password pair or user is disabled.\r\n+OK\r\n");
    buf_fini(&in);
    bed_close(&b);
}

static void test_server_tells_of_deploys(void)
{
    struct bed b;

    bed_open(&b, (struct redis_options){0});
    (void)ask(&b, STR("set opcache:version:first 5\r\nset other 1\r\nquit\r\n"));
    CHECK_STR(buf_str(&b.told), "first opcache:version:first=5;");
    bed_close(&b);
}

static void test_server_closes_who_does_not_read(void)
{
    struct buf in = {0};
    struct bed b;

    bed_open(&b, (struct redis_options){0});
    b.reads = false;
    buf_add_lit(&in, "setrange a 1000000 x\r\n");
    for (int i = 0; i < 400; i++)
        buf_add_lit(&in, "get a\r\n");
    (void)ask(&b, buf_str(&in));
    CHECK_INT(b.server->nclients, 0);
    CHECK(b.server->stats.bytes_out < REDIS_OUTPUT_MAX + (4 << 20));
    buf_fini(&in);
    bed_close(&b);
}

static void test_server_closes_the_idle(void)
{
    struct bed b;

    bed_open(&b, (struct redis_options){.idle_timeout_secs = 1});
    CHECK_STR(ask(&b, STR("ping\r\n")), "+PONG\r\n");
    bed_close(&b);
}

/* As PHP would, in another process: first a string, which nobody waits for, then an element.
 */
static void write_later(struct bed *b)
{
    struct kv_value v = {.type = KV_STRING, .bytes = STR("x")};
    uint64_t len;

    if (b->ticks == 20)
        CHECK_INT(kv_store_set(b->stores[0], STR("a"), &v, 0, 0), 0);
    if (b->ticks == 60) {
        CHECK_INT(kv_store_del(b->stores[0], STR("a")), 0);
        CHECK_INT(kv_list_push(b->stores[0], STR("a"), KV_TAIL, &v, 1, 0, &len), 0);
    }
}

static void test_server_wakes_who_waits_for_a_key(void)
{
    struct bed b;

    bed_open(&b, (struct redis_options){0});
    b.each_tick = write_later;
    CHECK_STR(ask(&b, STR("blpop b a a 0\r\nping\r\nquit\r\n")),
        "*2\r\n$1\r\na\r\n$1\r\nx\r\n+PONG\r\n+OK\r\n");
    b.each_tick = NULL;
    CHECK_STR(ask(&b, STR("blpop b a a 0.01\r\nquit\r\n")), "*-1\r\n+OK\r\n");
    CHECK_INT(b.server->nblocked, 0);
    bed_close(&b);
}

const struct test tests_server[] = {TEST(test_server_answers_a_pipeline_in_order),
    TEST(test_server_closes_after_a_protocol_error), TEST(test_server_asks_who_is_there),
    TEST(test_server_gives_a_site_its_own_store), TEST(test_server_tells_of_deploys),
    TEST(test_server_closes_who_does_not_read), TEST(test_server_closes_the_idle),
    TEST(test_server_wakes_who_waits_for_a_key), TEST_END};
