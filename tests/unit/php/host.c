/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "platform/fs.h"
#include "unit/test.h"

struct host_reply reply;
struct host_client client;
char host_root[256];
struct kv_store *host_store;

static size_t body_at, written;

/* --- callbacks -------------------------------------------------------------------------------- */

static int on_read(void *arg, char *p, size_t n, size_t *got)
{
    /* Small pieces, as a network would give them. */
    *got = MIN(MIN(n, client.body.len - body_at), (size_t)1000);
    if (*got)
        memcpy(p, client.body.p + body_at, *got);
    body_at += *got;
    if (client.interrupt_on_read)
        embed_interrupt();
    return 0;
}

static bool gone(void)
{
    return client.gone_after && written >= client.gone_after;
}

static void add_fields(struct buf *b, const struct embed_head *head, const char *prefix)
{
    for (size_t i = 0; i < head->nfields; i++)
        buf_printf(b, "%s" STR_F ": " STR_F "\n", prefix, STR_A(head->fields[i].name),
            STR_A(head->fields[i].value));
}

static int on_head(void *arg, const struct embed_head *head)
{
    reply.heads++;
    reply.status = head->status;
    buf_add_str(&reply.reason, head->reason);
    add_fields(&reply.head, head, "");
    return gone() ? ERR_CLOSED : 0;
}

static int on_informational(void *arg, const struct embed_head *head)
{
    char prefix[16];

    (void)snprintf(prefix, sizeof(prefix), "%d ", head->status);
    add_fields(&reply.informational, head, prefix);
    return 0;
}

static int on_write(void *arg, const char *p, size_t n)
{
    CHECK(reply.heads == 1);
    CHECK(reply.finishes == 0);
    if (gone())
        return ERR_CLOSED;
    reply.writes++;
    written += n;
    buf_add(&reply.body, p, n);
    return 0;
}

static int on_flush(void *arg)
{
    if (reply.flushes++ == 0)
        reply.head_at_flush = reply.heads > 0;
    reply.body_at_flush = reply.body.len;
    return gone() ? ERR_CLOSED : 0;
}

static int on_finish(void *arg)
{
    reply.finishes++;
    reply.body_at_finish = reply.body.len;
    return 0;
}

static bool on_aborted(void *arg)
{
    return gone();
}

static void on_log(
    void *arg, enum embed_log_kind kind, struct str message, const char *script, uint32_t line)
{
    const char *slash = script ? strrchr(script, '/') : NULL;

    buf_printf(&reply.log, "%d|%s:%u|" STR_F "\n", (int)kind,
        slash    ? slash + 1
        : script ? script
                 : "-",
        line, STR_A(message));
}

static void on_reset(void *arg)
{
    reply.resets++;
}

/* --- interruption ----------------------------------------------------------------------------- */

static struct sigaction before_alarm;

static void on_alarm(int sig)
{
    embed_interrupt();
}

void host_interrupt_soon(void)
{
    struct sigaction act = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_interval = {.tv_sec = 2}, .it_value = {.tv_usec = 50000}};

    CHECK_INT(sigaction(SIGALRM, &act, &before_alarm), 0);
    CHECK_INT(setitimer(ITIMER_REAL, &soon, NULL), 0);
}

void host_interrupt_stop(void)
{
    struct itimerval off = {0};

    CHECK_INT(setitimer(ITIMER_REAL, &off, NULL), 0);
    CHECK_INT(sigaction(SIGALRM, &before_alarm, NULL), 0);
}

/* --- life ------------------------------------------------------------------------------------- */

static struct kv_store *open_store(void)
{
    struct kv_options options = {.memory = KV_MEMORY_MIN, .policy = KV_NOEVICTION};
    struct kv_store *store = NULL;
    int fd = -1;

    CHECK_INT(kv_store_create(&options, &fd), 0);
    CHECK_INT(kv_store_open(fd, &store), 0);
    fs_close(fd);
    host_store = store;
    return store;
}

bool host_start(const char *ini)
{
    static char ini_file[512], entries[1024];
    static const char *const admin[] = {
        "memory_limit", "64M", "user_agent", "o'clock \"x\"", NULL, NULL};
    const struct embed_host host = {.read_body = on_read,
        .send_head = on_head,
        .send_informational = on_informational,
        .write = on_write,
        .flush = on_flush,
        .finish = on_finish,
        .aborted = on_aborted,
        .log = on_log,
        .opcache_reset = on_reset};
    struct embed_options opt = {.sapi_name = "fpm-fcgi",
        .ini_file = ini_file,
        .ini_scan_dir = "",
        .ini_entries = entries,
        .admin_ini = admin,
        .php_binary = "/bin/sh",
        .clear_env = true,
        .chdir_per_request = true,
        .user_ini = true,
        .kv = open_store()};
    /* Part of PHP itself from 8.5 on. */
    const char *opcache = embed_has_opcache() ? "" : "zend_extension=opcache\n";
    struct err err = {0};

    (void)snprintf(host_root, sizeof(host_root), "/tmp/ephpm-unit-php-XXXXXX");
    if (!mkdtemp(host_root))
        return false;
    host_file("conf/php.ini",
        "extension=posix\ndisplay_errors=0\nlog_errors=1\n"
        "precision=11\nhtml_errors=1\noutput_buffering=4096\nvariables_order=GPCS\n"
        "user_ini.cache_ttl=300\nregister_argc_argv=0\nhard_timeout=1\n");
    (void)snprintf(ini_file, sizeof(ini_file), "%s/conf/php.ini", host_root);
    (void)snprintf(entries, sizeof(entries),
        "%sopcache.enable=1\nopcache.validate_timestamps=1\nopcache.revalidate_freq=0\nopcache.jit="
        "disable\n"
        "opcache.file_update_protection=0\nopcache.memory_consumption=16\nprecision=12\n%s"
        "sys_temp_dir=%s\n[PATH=%s/perdir]\nprecision=5\n[HOST=per.host]\nprecision=6\n",
        opcache, ini, host_root, host_root);
    (void)setenv("EPHPM_TEST_SECRET", "leak", 1);
    if (embed_startup(&opt, &host, &err) < 0) {
        test_fail(__FILE__, __LINE__, "embed_startup: %s", err.text);
        return false;
    }
    return true;
}

void host_stop(void)
{
    char command[512];

    embed_shutdown();
    kv_store_close(host_store);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", host_root);
    CHECK_INT(system(command), 0);
}

void host_file(const char *name, const char *text)
{
    static int version;
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {0}};
    char path[512];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", host_root, name);
    for (char *p = path + strlen(host_root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        (void)mkdir(path, 0755);
        *p = '/';
    }
    f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f)
        return;
    CHECK(fputs(text, f) >= 0);
    CHECK_INT(fflush(f), 0);
    /* OPcache compares seconds: every version of a file gets its own. */
    times[1].tv_sec = (time_t)(1600000000 + version++);
    CHECK_INT(futimens(fileno(f), times), 0);
    CHECK_INT(fclose(f), 0);
}

/* --- requests --------------------------------------------------------------------------------- */

struct embed_request *host_request(const char *script)
{
    static struct embed_request req;
    static char filename[512], name[256];
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(filename, sizeof(filename), "%s/%s", host_root, script);
    (void)snprintf(name, sizeof(name), "/%s", script);
    req = (struct embed_request){
        .method = STR("GET"),
        .uri = str_c(name),
        .query = STR(""),
        .script_filename = str_c(filename),
        .script_name = str_c(name),
        .document_root = str_c(host_root),
        .document_uri = str_c(name),
        .protocol = STR("HTTP/1.1"),
        .scheme = STR("http"),
        .server_name = STR("test.example"),
        .server_addr = STR("127.0.0.1"),
        .server_port = STR("8080"),
        .remote_addr = STR("192.0.2.7"),
        .remote_port = STR("4711"),
        .server_software = STR("ephpm"),
        .request_id = STR("id-1"),
        .content_length = -1,
        .time = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
    };
    return &req;
}

void host_run(struct embed_request *req)
{
    struct buf *bufs[] = {
        &reply.reason, &reply.head, &reply.body, &reply.log, &reply.informational};

    for (size_t i = 0; i < ARRAY_LEN(bufs); i++)
        buf_fini(bufs[i]);
    reply = (struct host_reply){0};
    body_at = written = 0;
    embed_run(req, &reply.result);
    client = (struct host_client){0};
}

static void write_code(const char *code)
{
    struct buf b = {0};

    buf_add_lit(&b, "<?php ");
    buf_add_str(&b, str_c(code));
    host_file("t.php", buf_cstr(&b));
    buf_fini(&b);
}

void host_php(const char *code)
{
    write_code(code);
    host_run(host_request("t.php"));
}

void host_post(const char *code, const char *type, struct str body)
{
    struct embed_request *req;

    write_code(code);
    req = host_request("t.php");
    req->method = STR("POST");
    if (type)
        req->content_type = str_c(type);
    req->content_length = (int64_t)body.len;
    client.body = body;
    host_run(req);
}

bool host_has(const struct buf *b, const char *text)
{
    return str_find(buf_str(b), str_c(text)) >= 0;
}
