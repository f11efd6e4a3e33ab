/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/php_role.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bench/stats.h"
#include "core/json.h"
#include "php/embed.h"
#include "platform/clock.h"
#include "platform/process.h"

enum { REPEATS_MAX = 1000000, WARM_UP = 50, KEPT = 256 };

/* --- the host: output is counted, and its start kept ------------------------------------------ */

struct role {
    char kept[KEPT];
    size_t nkept;
    uint64_t written;
    int status;
};

static int read_body(void *arg, char *p, size_t n, size_t *got)
{
    *got = 0;
    return 0;
}

static int send_head(void *arg, const struct embed_head *head)
{
    ((struct role *)arg)->status = head->status;
    return 0;
}

static int write_body(void *arg, const char *p, size_t n)
{
    struct role *r = arg;
    size_t room = MIN(n, sizeof(r->kept) - r->nkept);

    memcpy(r->kept + r->nkept, p, room);
    r->nkept += room;
    r->written += n;
    return 0;
}

static int flush(void *arg)
{
    return 0;
}

static bool aborted(void *arg)
{
    return false;
}

static void log_message(
    void *arg, enum embed_log_kind kind, struct str message, const char *script, uint32_t line)
{
    fprintf(stderr, STR_F "\n", STR_A(message));
    (void)fflush(stderr); /* nowhere to complain */
}

/* --- requests --------------------------------------------------------------------------------- */

struct request {
    struct embed_request r;
    char script[4096], name[64];
};

/* What a browser sends, and what the front makes of it. */
static void fill(struct request *q, const char *folder, const char *name)
{
    static const struct embed_field headers[] = {
        {STR("Host"), STR("localhost")},
        {STR("User-Agent"), STR("ephpm-bench")},
        {STR("Accept"), STR("*/*")},
    };
    size_t n = (size_t)snprintf(q->script, sizeof(q->script), "%s/%s.php", folder, name);
    size_t m = (size_t)snprintf(q->name, sizeof(q->name), "/%s.php", name);
    struct str path = str_n(q->name, MIN(m, sizeof(q->name) - 1));

    q->r = (struct embed_request){.method = STR("GET"),
        .uri = path,
        .query = STR(""),
        .script_filename = str_n(q->script, MIN(n, sizeof(q->script) - 1)),
        .script_name = path,
        .document_root = str_c(folder),
        .document_uri = path,
        .path = path,
        .protocol = STR("HTTP/1.1"),
        .scheme = STR("http"),
        .server_name = STR("localhost"),
        .server_addr = STR("127.0.0.1"),
        .server_port = STR("80"),
        .remote_addr = STR("127.0.0.1"),
        .remote_port = STR("40000"),
        .server_software = STR("ephpm"),
        .content_length = -1,
        .headers = headers,
        .nheaders = ARRAY_LEN(headers)};
}

/* One request; false when it did not answer what the first one did. */
static bool run(struct role *role, struct request *q, struct str *first)
{
    struct embed_result result = {0};
    struct str answer;

    *role = (struct role){.status = 200};
    q->r.time = (double)clock_wall_us() / 1e6;
    embed_run(&q->r, &result);
    answer = str_n(role->kept, role->nkept);
    if (!first->p)
        *first = str_n(mem_dup_str(answer.p, answer.len), answer.len); /* as long as the process */
    return result.end == EMBED_OK && role->status == 200 && str_eq(answer, *first);
}

static void print_result(const char *name, const double *us, size_t n, struct str check)
{
    struct bench_summary s = bench_summarize(us, n);
    struct embed_status status;
    struct buf out = {0};
    struct json_writer w = JSON_WRITER(&out);

    embed_get_status_quick(&status);
    json_open_object(&w);
    json_add_str(&w, "bench", str_c(name));
    json_add_float(&w, "us", s.median * (double)n);
    json_add_uint(&w, "repeats", n);
    json_add_str(&w, "check", check);
    json_add_bool(&w, "opcache", status.opcache);
    json_add_bool(&w, "jit", status.jit);
    json_close_object(&w);
    printf("%s\n", buf_cstr(&out));
    buf_fini(&out);
}

static int measure(struct role *role, const char *name, size_t repeats, const char *folder)
{
    static struct request q;
    double *us = mem_new_array(repeats, sizeof(*us));
    struct str first = STR_NONE;
    bool right = true;

    fill(&q, folder, name);
    for (size_t i = 0; i < WARM_UP; i++)
        right = run(role, &q, &first) && right;
    for (size_t i = 0; i < repeats; i++) {
        uint64_t before = clock_mono_ns();

        right = run(role, &q, &first) && right;
        us[i] = (double)(clock_mono_ns() - before) / 1000;
    }
    print_result(name, us, repeats, right ? first : STR("varies"));
    mem_free(us);
    return 0;
}

/* --- commands --------------------------------------------------------------------------------- */

/* As `ephpm serve` sets PHP up; without php.ini, unless the caller wants it. */
static int request(char **argv)
{
    static struct role role;
    const struct embed_host host = {.arg = &role,
        .read_body = read_body,
        .send_head = send_head,
        .send_informational = send_head,
        .write = write_body,
        .flush = flush,
        .aborted = aborted,
        .log = log_message};
    struct embed_options opt = {.sapi_name = "fpm-fcgi", .ini_none = strcmp(argv[3], "none") == 0};
    const char *jit = strcmp(argv[1], "off") == 0 ? "disable" : argv[1];
    struct buf ini = {0};
    struct err err = {0};
    uint64_t repeats;
    int code;

    if (str_u64(str_c(argv[2]), &repeats) || repeats < 1 || repeats > REPEATS_MAX) {
        fprintf(stderr, "ephpm-php: no number of repeats: %s\n", argv[2]);
        return 2;
    }
    /* In a program with PHP inside, the line is known to be no file. */
    if (opt.ini_none && !embed_has_opcache())
        buf_add_lit(&ini, "zend_extension=opcache\n");
    buf_printf(&ini,
        "opcache.enable=1\nopcache.validate_timestamps=0\nopcache.file_update_protection=0\n"
        "opcache.jit=%s\nopcache.jit_buffer_size=%s\nrealpath_cache_size=16M\n"
        "realpath_cache_ttl=600\nmax_execution_time=30\ndate.timezone=UTC\n",
        jit, strcmp(jit, "disable") == 0 ? "0" : "64M");
    opt.ini_entries = buf_cstr(&ini);
    if (embed_startup(&opt, &host, &err)) {
        fprintf(stderr, "ephpm-php: %s\n", err.text);
        return 1;
    }
    code = measure(&role, argv[0], (size_t)repeats, argv[4]);
    embed_shutdown();
    buf_fini(&ini);
    return code;
}

static int facts(char **argv)
{
    printf("{\"bench_facts\":true,\"ephpm\":\"%s\",\"php\":\"%s\",\"sapi\":\"fpm-fcgi\","
           "\"vm\":\"%s\"}\n",
        EPHPM_VERSION, embed_php_version(), embed_vm_kind());
    return 0;
}

static const struct {
    const char *name;
    int arguments;
    int (*run)(char **argv);
} commands[] = {
    {"facts", 0, facts},
    {"request", 5, request},
};

int bench_php_role(int argc, char **argv)
{
    process_ignore_sigpipe();
    for (size_t i = 0; argc > 2 && i < ARRAY_LEN(commands); i++)
        if (strcmp(argv[2], commands[i].name) == 0 && argc == 3 + commands[i].arguments)
            return commands[i].run(argv + 3);
    fprintf(stderr, "ephpm-php: --role=bench is for ephpm bench\n");
    return 2;
}
