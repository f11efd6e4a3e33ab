/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* A client that sends anything and ends: the server answers or closes, and forgets the client. */
#include "base/mem.h"
#include "kv/redis/state.h"
#include "platform/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bed {
    struct net_loop *loop;
    struct redis_server *server;
    struct kv_store *store;
};

static void on_sleep(void *arg)
{
    struct bed *b = arg;

    if (b->server->nclients == 0)
        net_loop_stop(b->loop);
}

static struct bed *bed(void)
{
    static struct bed b;
    struct redis_options opt = {.max_connections = 10, .max_input_buffer = 1 << 20};
    int fd;

    if (b.loop)
        return &b;
    ENSURE(kv_store_create(&(struct kv_options){8 << 20, KV_ALLKEYS_LRU}, &fd) == 0);
    ENSURE(kv_store_open(fd, &b.store) == 0);
    fs_close(fd);
    ENSURE(net_loop_new(&b.loop) == 0);
    ENSURE(redis_server_open(b.loop, &opt, NULL, &b.server) == 0);
    ENSURE(redis_server_add_site(b.server, "default", b.store) == 0);
    net_loop_on_sleep(b.loop, on_sleep, &b);
    return &b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bed *b = bed();
    struct str in = str_n((const char *)data, size);
    sock_t pair[2];
    size_t sent = 0;

    if (size == 0)
        return 0;
    ENSURE(sock_stream_pair(pair) == 0);
    if (sock_sendv(pair[1], &in, 1, false, &sent) != 0)
        sent = 0; /* less is an input as well */
    sock_shutdown_send(pair[1]);
    ENSURE(redis_client_new(b->server, pair[0]) != NULL);
    net_loop_run(b->loop);
    sock_close(pair[1]);
    return 0;
}
