/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/serve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "php/embed.h"
#include "php/ini_search.h"
#include "platform/fs.h"
#include "platform/process.h"

enum { SERVE_CONNS = SOCK_WAIT_MAX - 1, SERVE_BACKLOG = 128, SERVE_READ = 16384 };

struct serve_loop {
    struct serve serve;
    sock_t listener;
    struct serve_conn conns[SERVE_CONNS]; /* the first nconns, oldest first */
    size_t nconns;
};

static bool serve_has_workers; /* log lines tell the process then */

void serve_log(const char *fmt, ...)
{
    time_t now = time(NULL);
    char when[32] = "", line[1024], process[32] = "";
    struct tm tm;
    va_list ap;

    if (localtime_r(&now, &tm))
        (void)strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
    va_start(ap, fmt);
    (void)vsnprintf(line, sizeof(line), fmt, ap); /* a cut line is fine */
    va_end(ap);
    if (serve_has_workers)
        (void)snprintf(process, sizeof(process), "[%lld] ", (long long)process_id());
    fprintf(stderr, "%s[%s] %s\n", process, when, line);
}

/* --- connections ------------------------------------------------------------------------------ */

static void serve_log_conn(const struct serve_conn *c, const char *what)
{
    char peer[SOCK_ADDR_TEXT];

    (void)sock_addr_format(&c->peer, peer);
    serve_log("%s %s", peer, what);
}

static void serve_close(struct serve_loop *l, size_t i)
{
    struct serve_conn *c = &l->conns[i];

    serve_log_conn(c, "Closing");
    sock_close(c->sock);
    buf_fini(&c->in);
    memmove(c, c + 1, (l->nconns - i - 1) * sizeof(*c));
    l->nconns--;
}

static void serve_accept(struct serve_loop *l)
{
    struct serve_conn c = {.sock = SOCK_NONE};

    if (sock_accept(l->listener, &c.sock, &c.peer) < 0)
        return; /* it left again */
    if (l->nconns == SERVE_CONNS)
        serve_close(l, 0); /* the one that has said nothing for the longest time */
    l->conns[l->nconns++] = c;
    serve_log_conn(&c, "Accepted");
}

/* False: the connection is done with. */
static bool serve_read(const struct serve *s, struct serve_conn *c)
{
    size_t got = 0;
    int rc = sock_recv(c->sock, buf_reserve(&c->in, SERVE_READ), SERVE_READ, &got);

    if (rc == ERR_AGAIN)
        return true;
    if (rc)
        return false;
    c->in.len += got;
    return serve_request(s, c) == ERR_AGAIN;
}

static void serve_turn(struct serve_loop *l)
{
    sock_t socks[SERVE_CONNS + 1];
    bool ready[SERVE_CONNS + 1] = {false};
    size_t n = l->nconns;

    for (size_t i = 0; i < n; i++)
        socks[i] = l->conns[i].sock;
    socks[n] = l->listener;
    if (sock_wait_any(socks, n + 1, -1, ready) < 0)
        return; /* a signal that PHP handles */
    /* From the end, since closing moves what comes behind. */
    for (size_t i = n; i > 0; i--)
        if (ready[i - 1] && !serve_read(&l->serve, &l->conns[i - 1]))
            serve_close(l, i - 1);
    if (ready[n])
        serve_accept(l);
}

/* --- start ------------------------------------------------------------------------------------ */

/* "localhost:8000": the name that everybody writes is known without asking. */
static int serve_parse_address(const char *text, struct sock_addr *at)
{
    struct str s = str_c(text);
    struct buf b = {0};
    int rc;

    if (str_starts(s, STR("localhost:"))) {
        buf_add_lit(&b, "127.0.0.1:");
        buf_add_str(&b, str_sub(s, sizeof("localhost:") - 1, s.len));
        rc = sock_addr_parse(buf_str(&b), at);
        buf_fini(&b);
        return rc;
    }
    return str_chr(s, ':') < 0 ? ERR_INVAL : sock_addr_parse(s, at);
}

static int serve_prepare(struct serve *s, const struct embed_cli_serve *want)
{
    const char *root = want->document_root ? want->document_root : ".";
    struct fs_stat st;

    if (serve_parse_address(want->address, &s->at) < 0) {
        fprintf(stderr, "Invalid address: %s (127.0.0.1:8000, [::1]:8000 or localhost:8000)\n",
            want->address);
        return 1;
    }
    if (fs_realpath(root, s->document_root, sizeof(s->document_root)) < 0 ||
        fs_stat(s->document_root, &st) < 0) {
        fprintf(stderr, "Directory %s does not exist.\n", root);
        return 1;
    }
    if (st.kind != FS_DIR) {
        fprintf(stderr, "%s is not a directory.\n", root);
        return 1;
    }
    if (want->router && fs_realpath(want->router, s->router, sizeof(s->router)) < 0) {
        fprintf(stderr, "The router script %s does not exist.\n", want->router);
        return 1;
    }
    s->index_for_dots = want->index_for_dots;
    return 0;
}

static int serve_start_php(const struct embed_cli_serve *want)
{
    static struct embed_ini_search search; /* PHP points into it as long as it runs */
    struct embed_options opt = {.sapi_name = "cli-server",
        .ini_none = want->no_ini,
        .ini_entries = want->ini_entries,
        .php_binary = want->binary,
        .chdir_per_request = true,
        .limit_extensions_off = true};
    struct err err = {0};
    int rc;

    embed_ini_search_begin(&search, opt.sapi_name, want->binary, want->ini_file, want->no_ini);
    opt.ini_file = search.path;
    rc = embed_startup(&opt, serve_host(), &err);
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    else
        embed_ini_search_end(&search);
    return rc;
}

/* $PHP_CLI_SERVER_WORKERS more processes that accept at the same socket and end with this one. */
static int serve_fork_workers(void)
{
    const char *text = getenv("PHP_CLI_SERVER_WORKERS");
    long n = text ? strtol(text, NULL, 10) : 0;
    int64_t parent = process_id(), pid;
    int rc = 0;

    if (text && n <= 1)
        fprintf(stderr, "number of workers must be larger than 1\n");
    if (n <= 1)
        return 0;
    serve_has_workers = true;
    for (long i = 0; i < n && rc == 0; i++) {
        rc = process_fork(&pid);
        if (rc == 0 && pid == 0) {
            embed_after_fork();
            return process_die_with_parent(parent);
        }
    }
    return rc;
}

int serve_main(const struct embed_cli_serve *want)
{
    static struct serve_loop l;
    int rc;

    if (serve_prepare(&l.serve, want))
        return 1;
    rc = sock_listen(&l.serve.at, SERVE_BACKLOG, &l.listener);
    if (rc) {
        serve_log("Failed to listen on %s (reason: %s)", want->address, err_text(rc));
        return 1;
    }
    if (serve_start_php(want))
        return 1;
    /* The port, when 0 was asked for. */
    if (sock_local_addr(l.listener, &l.serve.at) < 0)
        return 1;
    (void)snprintf(l.serve.address, sizeof(l.serve.address), STR_F ":%u",
        STR_A(str_sub(str_c(want->address), 0, (size_t)str_rchr(str_c(want->address), ':'))),
        l.serve.at.port);
    rc = serve_fork_workers();
    if (rc) {
        serve_log("Failed to start a worker (reason: %s)", err_text(rc));
        return 1;
    }
    serve_log(
        "PHP %s Development Server (http://%s) started", embed_php_version(), l.serve.address);
    for (;;)
        serve_turn(&l);
}
