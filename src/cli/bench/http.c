/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/http.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bench/url.h"
#include "cli/cli.h"
#include "platform/process.h"

static const char help[] =
    "usage: ephpm bench http URL [flags]\n"
    "\n"
    "Sends GET requests over kept connections (HTTP/1.1, no pipelining) and measures the answers.\n"
    "\n"
    "flags:\n"
    "  -c, --connections N   at the same time (16)\n"
    "  -d, --duration N      seconds (10); 0.5 is possible\n"
    "  -H, --header LINE     'Name: value'; may be repeated\n"
    "  --rate N              requests per second, at fixed times (else: as fast as they are "
    "answered)\n"
    "  --timeout N           seconds until a request has failed (30)\n"
    "  --json                as JSON, with every figure\n"
    "  -h, --help\n"
    "\n"
    "Exit code 1 when a request failed or an answer had a status of 4xx or 5xx.\n"
    "Docs: docs/bench.md\n";

static int usage(const char *text, const char *what)
{
    fprintf(stderr, "ephpm bench http: %s%s%s\nTry: ephpm bench http --help\n", text,
        what ? ": " : "", what ? what : "");
    return CLI_USAGE;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "ephpm bench http: %s\n", err->text);
    return CLI_FAILED;
}

/* --- flags ------------------------------------------------------------------------------------ */

static const struct {
    const char *short_name, *long_name;
    size_t offset; /* of a number in struct bench_http */
    unsigned max;
} numbers[] = {
    {"-c", "--connections", offsetof(struct bench_http, connections), BENCH_LOAD_CONNECTIONS},
    {"", "--rate", offsetof(struct bench_http, rate), BENCH_LOAD_RATE},
    {"", "--timeout", offsetof(struct bench_http, timeout), BENCH_LOAD_SECONDS},
};

static int set_number(struct bench_http *h, size_t flag, const char *value)
{
    char text[96];
    uint64_t n;

    if (str_u64(str_c(value), &n) || n < 1 || n > numbers[flag].max) {
        (void)snprintf(text, sizeof(text), "%s wants a number from 1 to %u, not",
            numbers[flag].long_name, numbers[flag].max);
        return usage(text, value);
    }
    *(unsigned *)(void *)((char *)h + numbers[flag].offset) = (unsigned)n;
    return 0;
}

/* Seconds with a fraction of up to three digits. */
static int set_duration(struct bench_http *h, const char *value)
{
    struct str s = str_c(value), part;
    ptrdiff_t dot = str_chr(s, '.');
    uint64_t whole, ms = 0;

    part = dot < 0 ? STR_NONE : str_sub(s, (size_t)dot + 1, s.len);
    if (str_u64(str_sub(s, 0, dot < 0 ? s.len : (size_t)dot), &whole) || part.len > 3 ||
        (dot >= 0 && str_u64(part, &ms)) || whole > BENCH_LOAD_SECONDS)
        return usage("--duration wants seconds from 0.001 to 86400, not", value);
    for (size_t i = part.len; i < 3; i++)
        ms *= 10;
    ms += whole * 1000;
    if (ms < 1 || ms > BENCH_LOAD_SECONDS * UINT64_C(1000))
        return usage("--duration wants seconds from 0.001 to 86400, not", value);
    h->duration_ms = (unsigned)ms;
    return 0;
}

static int set_header(struct bench_http *h, const char *value)
{
    if (h->nheaders == BENCH_HTTP_HEADERS)
        return usage("too many headers", value);
    h->headers[h->nheaders++] = value;
    return 0;
}

/* The value of a flag of these names at argv[*i]: behind "=", or the next argument, to which *i
 * moves on. NULL: it is another flag, or *missing: the value is not there. */
static const char *flag_value(
    const char *short_name, const char *long_name, int argc, char **argv, int *i, bool *missing)
{
    struct str arg = str_c(argv[*i]), name = str_c(long_name);

    if (str_starts(arg, name) && arg.len > name.len && arg.p[name.len] == '=')
        return arg.p + name.len + 1;
    if (!str_eq(arg, name) && !(*short_name && str_eq(arg, str_c(short_name))))
        return NULL;
    *missing = *i + 1 >= argc;
    return *missing ? NULL : argv[++*i];
}

/* A flag with a value; *taken says whether it was one. */
static int try_flag(struct bench_http *h, int argc, char **argv, int *i, bool *taken)
{
    bool missing = false;
    const char *value = flag_value("-H", "--header", argc, argv, i, &missing);

    *taken = true;
    if (value)
        return set_header(h, value);
    if (!missing)
        value = flag_value("-d", "--duration", argc, argv, i, &missing);
    if (value)
        return set_duration(h, value);
    for (size_t k = 0; k < ARRAY_LEN(numbers) && !missing; k++) {
        value = flag_value(numbers[k].short_name, numbers[k].long_name, argc, argv, i, &missing);
        if (value)
            return set_number(h, k, value);
    }
    *taken = false;
    return missing ? usage("a value is missing after", argv[*i]) : 0;
}

static int parse(struct bench_http *h, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool taken;
        int rc = try_flag(h, argc, argv, &i, &taken);

        if (rc)
            return rc;
        if (taken)
            continue;
        if (strcmp(argv[i], "--json") == 0)
            h->json = true;
        else if (argv[i][0] == '-')
            return usage("unknown flag", argv[i]);
        else if (h->url)
            return usage("too many arguments", argv[i]);
        else
            h->url = argv[i];
    }
    return h->url ? 0 : usage("the address is missing, as in http://127.0.0.1:8080/", NULL);
}

/* --- run -------------------------------------------------------------------------------------- */

/* The first address of the name that takes a connection. */
static int find_address(const struct bench_url *url, struct sock_addr *out, struct err *err)
{
    struct sock_addr all[SOCK_RESOLVE_MAX];
    size_t n;
    int rc = sock_resolve(url->host, url->port, all, ARRAY_LEN(all), &n);

    if (rc)
        return err_set(err, rc, "there is no host %s", url->host);
    for (size_t i = 0; i < n; i++) {
        sock_t s;

        rc = sock_connect(&all[i], &s);
        if (rc)
            continue;
        sock_close(s);
        *out = all[i];
        return 0;
    }
    return err_set(err, rc, "no connection to %s, port %u: %s%s", url->host, (unsigned)url->port,
        err_text(rc), rc == ERR_REFUSED ? "; is the server running?" : "");
}

static int check_descriptors(const struct bench_http *h, struct err *err)
{
    uint64_t limit = 0;
    int rc = process_raise_fd_limit(&limit);

    if (rc == 0 && limit < h->connections + 32)
        return err_set(err, ERR_MFILE,
            "%u connections are more than this process may have (%llu open files): raise the "
            "limit by ulimit -n",
            h->connections, (unsigned long long)limit);
    return rc ? err_set(err, rc, "the limit of open files is not known: %s", err_text(rc)) : 0;
}

static int report(const struct bench_http *h, const struct bench_load_result *r)
{
    struct buf out = {0}, verdict = {0};
    bool good;

    (h->json ? bench_http_json : bench_http_table)(h, r, &out);
    good = fwrite(out.p, 1, out.len, stdout) == out.len && fflush(stdout) == 0;
    bench_http_verdict(r, &verdict);
    good = good && verdict.len == 0;
    if (verdict.len)
        fprintf(stderr, "ephpm bench http: %s\n", buf_cstr(&verdict));
    buf_fini(&out);
    buf_fini(&verdict);
    return good ? CLI_OK : CLI_FAILED;
}

int bench_http_main(int argc, char **argv)
{
    struct bench_http h = {.connections = 16, .duration_ms = 10000, .timeout = 30};
    struct bench_load_result *result;
    struct bench_load load = {0};
    struct buf request = {0};
    struct bench_url url;
    struct err err = {0};
    int rc;

    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
    rc = parse(&h, argc, argv);
    if (rc)
        return rc;
    result = mem_new(sizeof(*result)); /* large */
    rc = bench_url_parse(h.url, &url, &err);
    if (rc == 0)
        rc = bench_url_request(&url, h.headers, h.nheaders, &request, &err);
    if (rc == 0)
        rc = check_descriptors(&h, &err);
    if (rc == 0)
        rc = find_address(&url, &load.to, &err);
    if (rc == 0) {
        load.request = buf_str(&request);
        load.connections = h.connections;
        load.duration_ms = h.duration_ms;
        load.timeout = h.timeout;
        load.rate = h.rate;
        rc = bench_load_run(&load, result, &err);
    }
    rc = rc ? fail(&err) : report(&h, result);
    bench_load_result_fini(result);
    mem_free(result);
    buf_fini(&request);
    return rc;
}
