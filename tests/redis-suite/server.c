/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * The Redis protocol on a store of its own, without the rest of the server: for what judges the
 * protocol alone (Redis's test-suite, fuzzing by hand, benchmarks).
 *
 *     redis_store PORT [MEMORY_MIB [MAX_INPUT_BUFFER [POLICY]]]
 *
 * Ends on SIGINT and SIGTERM. Prints "listening" when it does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "kv/redis/server.h"
#include "platform/fs.h"

static void on_signal(void *arg, int signum)
{
    (void)signum;
    net_loop_stop(arg);
}

static void on_sweep(void *arg)
{
    kv_store_sweep(arg, 4096);
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise)
{
    uint64_t n = otherwise;

    if (argc > i && str_u64(str_c(argv[i]), &n) != 0) {
        fprintf(stderr, "redis_store: not a number: %s\n", argv[i]);
        exit(2);
    }
    return n;
}

static int check(int code, const char *what)
{
    if (code)
        fprintf(stderr, "redis_store: %s: %s\n", what, err_text(code));
    return code;
}

static int serve(struct net_loop *loop, struct redis_server *server, struct kv_store *store,
    const struct sock_addr *at)
{
    struct net_signal *sigint = NULL, *sigterm = NULL;
    struct net_timer *sweep = net_timer_open(loop, on_sweep, store);
    sock_t listener;
    int r = check(sock_listen(at, 511, &listener), "listen");

    if (r)
        return r;
    r = check(redis_server_add_site(server, "default", store), "site");
    if (r == 0)
        r = check(redis_server_listen(server, listener), "listen");
    if (r == 0)
        r = check(net_signal_open(loop, SIGINT, on_signal, loop, &sigint), "signal");
    if (r == 0)
        r = check(net_signal_open(loop, SIGTERM, on_signal, loop, &sigterm), "signal");
    if (r == 0) {
        net_timer_start(sweep, 100, 100);
        puts("listening");
        fflush(stdout);
        net_loop_run(loop);
    }
    redis_server_close(server);
    net_timer_close(sweep);
    net_signal_close(sigint);
    net_signal_close(sigterm);
    sock_close(listener);
    return r;
}

int main(int argc, char **argv)
{
    struct kv_options options = {(size_t)number(argc, argv, 2, 256) << 20,
        (enum kv_policy)number(argc, argv, 4, KV_ALLKEYS_LRU)};
    struct redis_options opt = {
        .max_connections = 10000, .max_input_buffer = (size_t)number(argc, argv, 3, 64 << 20)};
    struct sock_addr at = {
        .family = SOCK_INET4, .port = (uint16_t)number(argc, argv, 1, 6399), .ip = {127, 0, 0, 1}};
    struct redis_server *server;
    struct kv_store *store;
    struct net_loop *loop;
    int fd, r;

    log_init("redis_store", 2, LOG_TEXT, LOG_INFO);
    if (check(sock_startup(), "sockets") || check(kv_store_create(&options, &fd), "store") ||
        check(kv_store_open(fd, &store), "store") || check(net_loop_new(&loop), "loop") ||
        check(redis_server_open(loop, &opt, NULL, &server), "server"))
        return 1;
    fs_close(fd);
    r = serve(loop, server, store, &at);
    net_loop_free(loop);
    kv_store_close(store);
    return r ? 1 : 0;
}
