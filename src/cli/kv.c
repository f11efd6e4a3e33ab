/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "platform/clock.h"
#include "platform/fs.h"

enum { KV_PORT = 6379, KV_TOP_MS = 1000 };

/* --- connecting ------------------------------------------------------------------------------- */

static int kv_connect_tcp(const struct cli *c, sock_t *out)
{
    const char *host = c->host ? c->host : "127.0.0.1";
    uint64_t port = KV_PORT;
    int rc;

    if (c->port && (str_u64(str_c(c->port), &port) || port == 0 || port > 65535)) {
        fprintf(stderr, "ephpm: --port wants a number from 1 to 65535, not: %s\n", c->port);
        return CLI_USAGE;
    }
    rc = sock_connect_name(host, (uint16_t)port, out);
    if (rc == 0)
        return CLI_OK;
    fprintf(
        stderr, "ephpm: no server answers at %s port %u: %s\n", host, (unsigned)port, err_text(rc));
    return CLI_FAILED;
}

static int kv_connect_local(const struct cli *c, sock_t *out)
{
    int rc = sock_connect_local(c->socket, out);

    if (rc == 0)
        return CLI_OK;
    fprintf(stderr, "ephpm: no server answers at %s: %s\n", c->socket, err_text(rc));
    return CLI_FAILED;
}

/* Says who we are: a user and its password, or a password alone. */
static int kv_auth(struct resp_client *r, const char *user, const char *password)
{
    struct str argv[3] = {STR("AUTH")};
    const struct resp_value *v;
    struct err err = {0};
    size_t n = 1;

    if (user)
        argv[n++] = str_c(user);
    argv[n++] = str_c(password);
    if (resp_call(r, argv, n, &v, &err))
        fprintf(stderr, "ephpm: %s\n", err.text);
    else if (v->kind == RESP_ERROR)
        fprintf(stderr, "ephpm: " STR_F "\n", STR_A(v->s));
    else
        return CLI_OK;
    return CLI_FAILED;
}

bool kv_is_remote(const struct cli *c)
{
    return c->host || c->port || c->socket;
}

int kv_connect(struct cli *c, const char *user, struct resp_client *out)
{
    const char *password = c->password ? c->password : getenv("EPHPM_KV_PASSWORD");
    sock_t fd = SOCK_NONE;
    int code;

    if (!kv_is_remote(c))
        code = cli_remote_store(c, &fd);
    else
        code = c->socket ? kv_connect_local(c, &fd) : kv_connect_tcp(c, &fd);
    if (code)
        return code;
    resp_open(out, fd);
    if (!kv_is_remote(c) || !(password && *password))
        return CLI_OK;
    code = kv_auth(out, user, password);
    if (code)
        resp_close(out);
    return code;
}

/* --- printing --------------------------------------------------------------------------------- */

/* Bytes as they are; on a terminal control characters as \xNN, so that they cannot act on it. */
static void kv_print(struct str s)
{
    bool raw = !fs_is_terminal(1);

    for (size_t i = 0; i < s.len && !raw; i++) {
        unsigned char b = (unsigned char)s.p[i];

        if ((b < 0x20 && b != '\n' && b != '\t') || b == 0x7f)
            printf("\\x%02x", b);
        else
            putchar(b);
    }
    if (raw)
        (void)fwrite(s.p, 1, s.len, stdout);
    putchar('\n');
}

static int kv_say_error(const char *what, struct str text)
{
    fprintf(stderr, "ephpm: kv %s: " STR_F "\n", what, STR_A(text));
    return CLI_FAILED;
}

static const struct resp_value *kv_call(
    struct resp_client *r, const char *what, const struct str *argv, size_t n)
{
    const struct resp_value *v;
    struct err err = {0};

    if (resp_call(r, argv, n, &v, &err)) {
        (void)kv_say_error(what, str_c(err.text));
        return NULL;
    }
    if (v->kind == RESP_ERROR) {
        (void)kv_say_error(what, v->s);
        return NULL;
    }
    return v;
}

/* One call whose reply is printed; nothing there is a failure. */
static int kv_run(struct resp_client *r, const char *what, const struct str *argv, size_t n)
{
    const struct resp_value *v = kv_call(r, what, argv, n);

    if (!v)
        return CLI_FAILED;
    if (v->kind == RESP_NIL || (v->kind == RESP_INT && v->i == -2 && strcmp(what, "ttl") == 0))
        return kv_say_error(what, STR("there is no such key"));
    if (v->kind == RESP_INT)
        printf("%lld\n", (long long)v->i);
    else if (v->kind == RESP_ARRAY)
        return kv_say_error(what, STR("an answer of another kind was expected"));
    else
        kv_print(v->s);
    return CLI_OK;
}

/* --- commands --------------------------------------------------------------------------------- */

static int kv_get(struct cli *c, struct resp_client *r)
{
    const struct str argv[] = {STR("GET"), str_c(c->args[1])};

    return kv_run(r, "get", argv, ARRAY_LEN(argv));
}

static int kv_set(struct cli *c, struct resp_client *r)
{
    const struct str argv[] = {
        STR("SET"), str_c(c->args[1]), str_c(c->args[2]), STR("EX"), str_c(c->ttl)};

    return kv_run(r, "set", argv, c->ttl ? 5 : 3);
}

static int kv_del(struct cli *c, struct resp_client *r)
{
    struct str *argv = mem_new_array(c->nargs, sizeof(*argv));
    int code;

    argv[0] = STR("DEL");
    for (size_t i = 1; i < c->nargs; i++)
        argv[i] = str_c(c->args[i]);
    code = kv_run(r, "del", argv, c->nargs);
    mem_free(argv);
    return code;
}

static int kv_incr(struct cli *c, struct resp_client *r)
{
    const struct str argv[] = {STR("INCRBY"), str_c(c->args[1]), str_c(c->by ? c->by : "1")};

    return kv_run(r, "incr", argv, ARRAY_LEN(argv));
}

static int kv_ttl(struct cli *c, struct resp_client *r)
{
    const struct str argv[] = {STR("TTL"), str_c(c->args[1])};

    return kv_run(r, "ttl", argv, ARRAY_LEN(argv));
}

static int kv_ping(struct cli *c, struct resp_client *r)
{
    const struct str argv[] = {STR("PING")};

    (void)c;
    return kv_run(r, "ping", argv, ARRAY_LEN(argv));
}

/* By SCAN: however many there are, the server serves others in between. */
static int kv_keys(struct cli *c, struct resp_client *r)
{
    char cursor[32] = "0";
    struct str argv[] = {STR("SCAN"), str_c(cursor), STR("MATCH"),
        str_c(c->nargs > 1 ? c->args[1] : "*"), STR("COUNT"), STR("1000")};

    do {
        const struct resp_value *v = kv_call(r, "keys", argv, ARRAY_LEN(argv));

        if (!v)
            return CLI_FAILED;
        if (v->kind != RESP_ARRAY || v->n != 2 || v->items[0].s.len >= sizeof(cursor) ||
            v->items[1].kind != RESP_ARRAY)
            return kv_say_error("keys", STR("an answer of another kind was expected"));
        for (size_t i = 0; i < v->items[1].n; i++)
            kv_print(v->items[1].items[i].s);
        (void)str_put(cursor, sizeof(cursor), v->items[0].s);
        argv[1] = str_c(cursor);
    } while (strcmp(cursor, "0") != 0);
    return CLI_OK;
}

/* --- top -------------------------------------------------------------------------------------- */

struct kv_numbers {
    uint64_t at_ms, keys, used, memory, hits, misses, evicted, commands, clients;
};

/* "name:123" of INFO, 0 when it is not there. */
static uint64_t kv_info(struct str text, const char *name)
{
    struct str line;
    uint64_t n = 0;

    while (str_split(&text, '\n', &line)) {
        size_t len = strlen(name);

        if (str_starts(line, str_c(name)) && line.len > len && line.p[len] == ':' &&
            str_u64(str_trim(str_sub(line, len + 1, line.len)), &n) == 0)
            return n;
    }
    return 0;
}

static int kv_read_numbers(struct resp_client *r, struct kv_numbers *out)
{
    const struct str size[] = {STR("DBSIZE")}, info[] = {STR("INFO")};
    const struct resp_value *v = kv_call(r, "top", size, 1);

    if (!v)
        return CLI_FAILED;
    out->keys = (uint64_t)v->i;
    v = kv_call(r, "top", info, 1);
    if (!v)
        return CLI_FAILED;
    out->at_ms = clock_mono_ms();
    out->used = kv_info(v->s, "used_memory");
    out->memory = kv_info(v->s, "maxmemory");
    out->hits = kv_info(v->s, "keyspace_hits");
    out->misses = kv_info(v->s, "keyspace_misses");
    out->evicted = kv_info(v->s, "evicted_keys");
    out->commands = kv_info(v->s, "total_commands_processed");
    out->clients = kv_info(v->s, "connected_clients");
    return CLI_OK;
}

static double kv_rate(uint64_t now, uint64_t before, uint64_t ms)
{
    return now < before || ms == 0 ? 0 : (double)(now - before) * 1000 / (double)ms;
}

static void kv_top_line(const struct kv_numbers *was, const struct kv_numbers *is)
{
    uint64_t ms = is->at_ms - was->at_ms, hits = is->hits - was->hits;
    uint64_t gets = hits + is->misses - was->misses;
    char used[32], memory[32], hit[16] = "-";

    if (gets)
        (void)snprintf(hit, sizeof(hit), "%.1f%%", 100 * (double)hits / (double)gets);
    printf("keys %llu  memory %s of %s  gets/s %.0f  hit %s  commands/s %.0f  evicted/s %.0f  "
           "clients %llu",
        (unsigned long long)is->keys, cli_size((int64_t)is->used, used),
        cli_size((int64_t)is->memory, memory),
        kv_rate(is->hits + is->misses, was->hits + was->misses, ms), hit,
        kv_rate(is->commands, was->commands, ms), kv_rate(is->evicted, was->evicted, ms),
        (unsigned long long)is->clients);
}

/* A line each second; on a terminal it is the same line. */
static int kv_top(struct cli *c, struct resp_client *r)
{
    bool terminal = fs_is_terminal(1);
    uint64_t lines = 0;
    struct kv_numbers was = {0}, is = {0};
    int code;

    if (c->count && (str_u64(str_c(c->count), &lines) || lines == 0)) {
        fprintf(stderr, "ephpm: --count wants a number from 1 on, not: %s\n", c->count);
        return CLI_USAGE;
    }
    code = kv_read_numbers(r, &was);
    for (uint64_t i = 0; code == CLI_OK && (lines == 0 || i < lines); i++) {
        clock_sleep_ms(KV_TOP_MS);
        code = kv_read_numbers(r, &is);
        if (code)
            break;
        if (terminal)
            fputs("\r\033[K", stdout);
        kv_top_line(&was, &is);
        if (!terminal || i + 1 == lines)
            putchar('\n');
        if (fflush(stdout))
            break; /* nobody reads any more */
        was = is;
    }
    return code;
}

static const struct {
    const char *name;
    int (*run)(struct cli *c, struct resp_client *r);
    size_t min, max; /* arguments */
    const char *usage;
    const char *flag; /* that only it knows */
} kv_commands[] = {
    {"keys", kv_keys, 0, 1, "kv keys [PATTERN]", ""},
    {"get", kv_get, 1, 1, "kv get KEY", ""},
    {"set", kv_set, 2, 2, "kv set KEY VALUE [--ttl SECONDS]", "--ttl"},
    {"del", kv_del, 1, SIZE_MAX, "kv del KEY...", ""},
    {"incr", kv_incr, 1, 1, "kv incr KEY [--by N]", "--by"},
    {"ttl", kv_ttl, 1, 1, "kv ttl KEY", ""},
    {"ping", kv_ping, 0, 0, "kv ping", ""},
    {"top", kv_top, 0, 0, "kv top [--count N]", "--count"},
};

/* The flag that was given and the command does not know, or NULL. */
static const char *kv_stray_flag(const struct cli *c, const char *known)
{
    const char *const flags[][2] = {{"--ttl", c->ttl}, {"--by", c->by}, {"--count", c->count}};

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (flags[i][1] && strcmp(flags[i][0], known) != 0)
            return flags[i][0];
    return NULL;
}

int cli_kv(struct cli *c)
{
    const char *name = c->nargs ? c->args[0] : "";
    struct resp_client r;

    for (size_t i = 0; i < ARRAY_LEN(kv_commands); i++) {
        int code;

        if (strcmp(kv_commands[i].name, name) != 0)
            continue;
        if (c->nargs - 1 < kv_commands[i].min || c->nargs - 1 > kv_commands[i].max)
            return cli_usage("the command is", kv_commands[i].usage);
        if (kv_stray_flag(c, kv_commands[i].flag))
            return cli_usage("it does not know the flag", kv_stray_flag(c, kv_commands[i].flag));
        /* Over the network a site is a user. */
        code = kv_connect(c, c->user ? c->user : c->site, &r);
        if (code)
            return code;
        code = kv_commands[i].run(c, &r);
        resp_close(&r);
        return fflush(stdout) && code == CLI_OK ? CLI_FAILED : code;
    }
    return cli_usage("kv knows keys, get, set, del, incr, ttl, ping and top, not", name);
}

/* --- deploys ---------------------------------------------------------------------------------- */

int cli_announce(struct cli *c, const char *cmd)
{
    const char *site = c->all ? "_all" : c->site ? c->site : "_default";
    struct buf version = {0}, revision = {0}, now = {0};
    struct str set[3] = {STR("SET")};
    struct resp_client r;
    int code = kv_connect(c, c->user, &r);

    if (code)
        return code;
    buf_printf(&version, "opcache:version:%s", site);
    buf_printf(&revision, "opcache:revision:%s", site);
    buf_add_u64(&now, clock_wall_us() / 1000);
    set[1] = buf_str(&revision);
    set[2] = str_c(c->rev);
    if (c->rev && !kv_call(&r, cmd, set, 3))
        code = CLI_FAILED;
    set[1] = buf_str(&version);
    set[2] = buf_str(&now);
    if (code == CLI_OK && !kv_call(&r, cmd, set, 3))
        code = CLI_FAILED;
    if (code == CLI_OK)
        printf(STR_F " is " STR_F ": the server starts a new generation if the code is right\n",
            STR_A(buf_str(&version)), STR_A(buf_str(&now)));
    resp_close(&r);
    buf_fini(&version);
    buf_fini(&revision);
    buf_fini(&now);
    return code;
}
