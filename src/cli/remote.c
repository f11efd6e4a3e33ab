/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "core/json.h"
#include "core/timefmt.h"
#include "platform/sock.h"

enum { REMOTE_WAIT_MS = 600000 };

static void remote_status_generation(const struct json_value *g)
{
    printf("  generation %lld  %-8s php %s  jit %s  workers %lld/%lld  %s\n",
        (long long)json_get_int(g, "id", 0), json_get_str(g, "state").p, json_get_str(g, "php").p,
        json_get_str(g, "jit").p, (long long)json_get_int(g, "workers", 0),
        (long long)json_get_int(g, "workers_max", 0), json_get_str(g, "root").p);
}

static void remote_status_front(const struct json_value *f)
{
    const struct json_value *gens = json_get(f, "generations");

    printf("  connections %lld  requests %lld  php %lld  2xx %lld  3xx %lld  4xx %lld  5xx %lld  "
           "shed %lld  crashed %lld\n",
        (long long)json_get_int(f, "connections", 0), (long long)json_get_int(f, "requests", 0),
        (long long)json_get_int(f, "php_executed", 0), (long long)json_get_int(f, "status_2xx", 0),
        (long long)json_get_int(f, "status_3xx", 0), (long long)json_get_int(f, "status_4xx", 0),
        (long long)json_get_int(f, "status_5xx", 0), (long long)json_get_int(f, "shed", 0),
        (long long)json_get_int(f, "workers_crashed", 0));
    if (!gens)
        return;
    for (const struct json_value *g = gens->first; g; g = g->next) {
        const struct json_value *ws = json_get(g, "workers");

        for (const struct json_value *w = ws ? ws->first : NULL; w; w = w->next) {
            struct str uri = json_get_str(w, "uri");

            printf("    worker %lld  pid %lld  %-8s served %lld  " STR_F "\n",
                (long long)json_get_int(w, "id", 0), (long long)json_get_int(w, "pid", 0),
                json_get_str(w, "state").p, (long long)json_get_int(w, "served", 0), STR_A(uri));
        }
    }
}

const char *cli_size(int64_t bytes, char *out)
{
    static const char units[] = "KMGT";
    double n = (double)bytes / 1024;
    size_t i = 0;

    for (; n >= 1024 && units[i + 1]; i++)
        n /= 1024;
    (void)snprintf(out, 32, "%.*f %cB", n < 10 ? 1 : 0, n, units[i]);
    return out;
}

static void remote_status_snapshot(const struct json_value *s)
{
    int64_t saved = json_get_int(s, "saved", 0);
    char at[TIMEFMT_MAX] = "never";

    if (saved > 0)
        (void)timefmt_iso_ms((uint64_t)saved * 1000000, at); /* always as long */
    printf("    snapshot %s  keys %lld  saved %s  %s\n", json_get_str(s, "state").p,
        (long long)json_get_int(s, "keys", 0), at, json_get_str(s, "file").p);
}

static void remote_status_kv(const struct json_value *kv)
{
    const struct json_value *sites = json_get(kv, "sites");
    char used[32], memory[32];

    for (const struct json_value *s = sites ? sites->first : NULL; s; s = s->next) {
        printf("  store %s  keys %lld  memory %s of %s  hits %lld  misses %lld  evicted %lld  "
               "repaired %lld\n",
            json_get_str(s, "site").p, (long long)json_get_int(s, "keys", 0),
            cli_size(json_get_int(s, "used", 0), used),
            cli_size(json_get_int(s, "memory", 0), memory), (long long)json_get_int(s, "hits", 0),
            (long long)json_get_int(s, "misses", 0), (long long)json_get_int(s, "evicted", 0),
            (long long)json_get_int(s, "repaired", 0));
        if (json_get(s, "snapshot"))
            remote_status_snapshot(json_get(s, "snapshot"));
    }
}

static void remote_status_db(const struct json_value *db)
{
    const struct json_value *all = json_get(db, "databases");

    if (!all)
        return;
    printf(
        "  database role %lld  connections %lld  statements %lld  errors %lld  slow %lld  refused "
        "%lld  denied %lld\n",
        (long long)json_get_int(db, "pid", 0), (long long)json_get_int(db, "connections", 0),
        (long long)json_get_int(db, "statements", 0), (long long)json_get_int(db, "errors", 0),
        (long long)json_get_int(db, "slow", 0), (long long)json_get_int(db, "refused", 0),
        (long long)json_get_int(db, "denied", 0));
    for (const struct json_value *d = all->first; d; d = d->next) {
        struct str error = json_get_str(d, "error");

        printf("    database %s of %s  %s%s" STR_F "\n", json_get_str(d, "database").p,
            json_get_str(d, "site").p, json_get_str(d, "path").p, error.len ? "  " : "",
            STR_A(error));
    }
}

static double remote_number(const struct json_value *v, const char *key)
{
    const struct json_value *n = json_get(v, key);

    return n && n->kind == JSON_NUMBER ? n->number : 0;
}

/* What was found out of the JIT, or is being found out. */
static void remote_status_jit(const struct json_value *j)
{
    struct str choice = json_get_str(j, "jit"), reason = json_get_str(j, "reason");

    printf("  jit auto %s  %s%s%s%s%s" STR_F "\n", json_get_str(j, "site").p,
        json_get_str(j, "state").p, choice.p ? " " : "", choice.p ? choice.p : "",
        json_get_bool(j, "remembered", false) ? " (remembered)" : "", reason.p ? ": " : "",
        STR_A(reason));
    printf(
        "    cpu per request: on %.1f us (%lld requests)  off %.1f us (%lld)  kinds %lld  covered "
        "%.1f %%  jit saves %.1f %%\n",
        remote_number(j, "on_us"), (long long)json_get_int(j, "on_samples", 0),
        remote_number(j, "off_us"), (long long)json_get_int(j, "off_samples", 0),
        (long long)json_get_int(j, "kinds", 0), remote_number(j, "covered_percent"),
        remote_number(j, "saves_percent"));
}

static void remote_status(const struct json_value *v)
{
    const struct json_value *gens = json_get(v, "generations");
    const struct json_value *front = json_get(v, "front");
    const struct json_value *jit = json_get(v, "jit_auto");

    printf("ephpm %s  %s  http://%s  master %lld  user %s\n", json_get_str(v, "version").p,
        json_get_str(v, "mode").p, json_get_str(v, "listen").p,
        (long long)json_get_int(v, "master_pid", 0), json_get_str(v, "user").p);
    for (const struct json_value *g = gens ? gens->first : NULL; g; g = g->next)
        remote_status_generation(g);
    for (const struct json_value *j = jit ? jit->first : NULL; j; j = j->next)
        remote_status_jit(j);
    remote_status_kv(json_get(v, "kv"));
    remote_status_db(json_get(v, "db"));
    if (front && front->kind == JSON_OBJECT)
        remote_status_front(front);
}

/* Prints one line of the answer. True when it was the last one; *code is the exit code then. */
static bool remote_line(const char *cmd, struct str line, bool raw, int *code)
{
    struct arena a = {0};
    struct json_value *v = NULL;
    struct err err = {0};
    bool last = false;

    if (json_parse(&a, line, &v, &err)) {
        fprintf(stderr, "ephpm: the server's answer is not understood: %s\n", err.text);
        *code = CLI_FAILED;
        last = true;
    } else if (json_get_str(v, "progress").p) {
        fprintf(stderr, "  %s\n", json_get_str(v, "progress").p);
    } else {
        bool ok = json_get_bool(v, "ok", false);

        last = true;
        *code = ok ? CLI_OK : CLI_FAILED;
        if (!ok)
            fprintf(stderr, "ephpm: %s refused: %s\n", cmd, json_get_str(v, "error").p);
        else if (raw)
            printf(STR_F "\n", STR_A(line));
        else if (strcmp(cmd, "status") == 0)
            remote_status(v);
        else
            printf("%s\n", json_get_str(v, "message").p);
    }
    arena_fini(&a);
    return last;
}

/* The command's line. */
static int remote_send(sock_t s, const struct cli *c, const char *cmd)
{
    struct buf b = {0};
    struct json_writer w = JSON_WRITER(&b);
    struct str part;
    size_t sent = 0;
    int rc;

    json_open_object(&w);
    json_add_str(&w, "cmd", str_c(cmd));
    if (c->site)
        json_add_str(&w, "site", str_c(c->site));
    if (c->rev)
        json_add_str(&w, "rev", str_c(c->rev));
    if (c->path)
        json_add_str(&w, "path", str_c(c->path));
    json_close_object(&w);
    buf_add_char(&b, '\n');
    part = buf_str(&b);
    rc = sock_sendv(s, &part, 1, false, &sent);
    if (rc == 0 && sent != part.len)
        rc = ERR_IO;
    buf_fini(&b);
    if (rc)
        fprintf(stderr, "ephpm: the server does not take the command: %s\n", err_text(rc));
    return rc;
}

static int remote_talk(sock_t s, const struct cli *c, const char *cmd)
{
    struct buf b = {0};
    size_t got;
    int code = CLI_FAILED;
    bool last = remote_send(s, c, cmd) != 0;

    while (!last) {
        ptrdiff_t nl = str_chr(buf_str(&b), '\n');

        if (nl >= 0) {
            last = remote_line(cmd, str_n(b.p, (size_t)nl), c->json, &code);
            buf_consume(&b, (size_t)nl + 1);
            continue;
        }
        if (sock_wait_readable(s, REMOTE_WAIT_MS) ||
            sock_recv(s, buf_reserve(&b, 65536), 65536, &got)) {
            fprintf(stderr, "ephpm: the server ended the conversation\n");
            break;
        }
        b.len += got;
    }
    buf_fini(&b);
    return code;
}

/* The place of a server follows from its configuration, which may not be the one given here. */
static void remote_nobody(const struct config *cfg, const char *path, int rc)
{
    const char *key = cfg->server.control_socket ? "server.control_socket" : "server.listen";
    const char *value = cfg->server.control_socket ? path : cfg->server.listen;
    struct conf_mark mark = conf_mark_of(&cfg->conf, key);

    fprintf(stderr,
        "ephpm: no server answers at %s: %s\n"
        "The place follows from %s = \"%s\" (%s): give the --config or --listen of the server\n",
        path, err_text(rc), key, value, mark.where ? mark.where : "default");
}

/* The control socket of the server that this command line's configuration is of. */
static int remote_connect(struct cli *c, sock_t *out)
{
    struct config *cfg = cli_load(c, CONFIG_SERVE);
    struct buf path = {0};
    int rc;

    if (!cfg)
        return CLI_FAILED;
    config_control_path(cfg, &path);
    if (!path.len) {
        fprintf(stderr, "ephpm: server.control_socket is empty: no command reaches this server\n");
        config_unref(cfg);
        return CLI_FAILED;
    }
    rc = sock_connect_local(buf_cstr(&path), out);
    if (rc)
        remote_nobody(cfg, buf_cstr(&path), rc);
    buf_fini(&path);
    config_unref(cfg);
    return rc ? CLI_FAILED : CLI_OK;
}

int cli_remote(struct cli *c, const char *cmd)
{
    sock_t s;
    int code = remote_connect(c, &s);

    if (code == CLI_OK) {
        code = remote_talk(s, c, cmd);
        sock_close(s);
    }
    return code;
}

/* The server's one line says whether it handed us over; what follows is not its own any more. So it
 * is read byte by byte. */
static int remote_answer(sock_t s, struct buf *line)
{
    size_t got;
    char byte;

    while (line->len < 4096) {
        int rc = sock_wait_readable(s, REMOTE_WAIT_MS);

        if (rc == 0)
            rc = sock_recv(s, &byte, 1, &got);
        if (rc)
            return rc;
        if (byte == '\n')
            return 0;
        buf_add_char(line, byte);
    }
    return ERR_PROTO;
}

int cli_remote_store(struct cli *c, sock_t *out)
{
    struct buf line = {0};
    struct arena a = {0};
    struct json_value *v = NULL;
    struct err err = {0};
    sock_t s;
    int code = remote_connect(c, &s);

    if (code)
        return code;
    code = CLI_FAILED;
    if (remote_send(s, c, "kv") == 0) {
        if (remote_answer(s, &line) || json_parse(&a, buf_str(&line), &v, &err))
            fprintf(stderr, "ephpm: the server ended the conversation\n");
        else if (json_get_bool(v, "ok", false))
            code = CLI_OK;
        else
            fprintf(stderr, "ephpm: kv refused: %s\n", json_get_str(v, "error").p);
    }
    arena_fini(&a);
    buf_fini(&line);
    if (code)
        sock_close(s);
    else
        *out = s;
    return code;
}

int cli_remote_ask(struct cli *c, const char *cmd, struct arena *a, struct json_value **out)
{
    struct buf b = {0};
    struct err err = {0};
    size_t got;
    sock_t s;
    int code = remote_connect(c, &s), rc;

    if (code)
        return code;
    rc = remote_send(s, c, cmd);
    if (rc == 0) {
        do { /* it closes after the answer */
            rc = sock_wait_readable(s, -1);
            if (rc == 0)
                rc = sock_recv(s, buf_reserve(&b, 65536), 65536, &got);
            if (rc == 0)
                b.len += got;
        } while (rc == 0);
        if (json_parse(a, arena_str(a, str_trim(buf_str(&b))), out, &err)) {
            fprintf(stderr, "ephpm: the server ended the conversation\n");
            rc = ERR_PROTO;
        } else if (!json_get_bool(*out, "ok", false)) {
            fprintf(stderr, "ephpm: refused: %s\n", json_get_str(*out, "error").p);
            rc = ERR_INVAL;
        } else {
            rc = 0;
        }
    }
    sock_close(s);
    buf_fini(&b);
    return rc ? CLI_FAILED : CLI_OK;
}
