/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/cgi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "php_getopt.h"
#include "php_ini_builder.h"

#include "php/builtin.h"
#include "php/cli.h"
#include "php/ini_search.h"
#include "platform/fs.h"
#include "platform/process.h"

/* --- the host: standard input and output ------------------------------------------------------ */

struct cgi {
    const struct embed_request *req;
    int64_t body_read;
    bool no_head; /* -q */
    struct buf head;
};

static int read_body(void *arg, char *p, size_t n, size_t *got)
{
    struct cgi *c = arg;
    int64_t left = c->req->content_length - c->body_read;
    int rc;

    *got = 0;
    if (left <= 0)
        return 0;
    rc = fs_read_some(0, p, (size_t)MIN((int64_t)n, left), got);
    if (rc == 0)
        c->body_read += (int64_t)*got;
    return rc;
}

static int write_all(const char *p, size_t n)
{
    for (size_t done = 0, part; done < n; done += part)
        if (fs_write_some(1, p + done, n - done, &part) < 0)
            return ERR_CLOSED;
    return 0;
}

static void add_status(struct buf *b, const struct embed_head *head)
{
    const char *text = embed_status_text(head->status);

    if (head->reason.p)
        buf_printf(b, "Status: %d " STR_F "\r\n", head->status, STR_A(head->reason));
    else if (text)
        buf_printf(b, "Status: %d %s\r\n", head->status, text);
    else
        buf_printf(b, "Status: %d\r\n", head->status);
}

static int send_head(void *arg, const struct embed_head *head)
{
    struct cgi *c = arg;
    int rc;

    if (c->no_head)
        return 0;
    if (head->status != 200 || head->reason.p)
        add_status(&c->head, head);
    for (size_t i = 0; i < head->nfields; i++) {
        const struct embed_field *f = &head->fields[i];
        /* PHP's own spelling, which those who read php-cgi's output letter by letter wait for. */
        bool type = str_ieq(f->name, STR("Content-Type"));

        buf_add_str(&c->head, type ? STR("Content-type") : f->name);
        buf_add_lit(&c->head, ": ");
        buf_add_str(&c->head, f->value);
        buf_add_lit(&c->head, "\r\n");
    }
    buf_add_lit(&c->head, "\r\n");
    rc = write_all(c->head.p, c->head.len);
    buf_fini(&c->head);
    return rc;
}

static int write_body(void *arg, const char *p, size_t n)
{
    return write_all(p, n);
}

static void log_message(
    void *arg, enum embed_log_kind kind, struct str message, const char *script, uint32_t line)
{
    fprintf(stderr, STR_F "\n", STR_A(message));
    (void)fflush(stderr); /* nowhere to complain */
}

/* --- command line ----------------------------------------------------------------------------- */

#define OPTION(letter_, param_, name_) {letter_, param_, (char *)(uintptr_t)name_}

static const opt_struct options[] = {
    OPTION('a', 0, "interactive"),
    OPTION('C', 0, "no-chdir"),
    OPTION('c', 1, "php-ini"),
    OPTION('d', 1, "define"),
    OPTION('e', 0, "profile-info"),
    OPTION('f', 1, "file"),
    OPTION('h', 0, "help"),
    OPTION('?', 0, "usage"),
    OPTION('i', 0, "info"),
    OPTION('m', 0, "modules"),
    OPTION('n', 0, "no-php-ini"),
    OPTION('q', 0, "no-header"),
    OPTION('v', 0, "version"),
    OPTION('z', 1, "zend-extension"),
    {'-', 0, NULL},
};

static const char usage[] =
    "Usage: php-cgi [options] [-f] FILE [QUERY...]\n"
    "       php-cgi [options]                 (the request is in the environment, RFC 3875)\n"
    "\n"
    "  -f FILE        run this file (a server's request names its own by SCRIPT_FILENAME); no "
    "head\n"
    "  -c PATH        php.ini, or the folder to look for it\n"
    "  -n             no php.ini and no scanned files\n"
    "  -d NAME=VALUE  one setting\n"
    "  -z FILE        load a Zend extension\n"
    "  -C             stay in the current folder\n"
    "  -q             no head in the output\n"
    "  -a, -e         accepted, without effect\n"
    "  -i, -m, -v     phpinfo(), extensions, version\n"
    "  -h             this text\n"
    "\n"
    "A request that seems to come from a web server needs REDIRECT_STATUS, which a client cannot\n"
    "set; -d cgi.force_redirect=0 turns that off.\n";

struct command {
    const char *ini_file, *file;
    bool no_ini, no_chdir, quiet;
    int first; /* argument behind the options */
    struct php_ini_builder settings;
};

static void add_extension(struct php_ini_builder *b, const char *path)
{
    php_ini_builder_quoted(b, ZEND_STRL("zend_extension"), path, strlen(path));
}

/* RFC 3875 4.4: a server makes arguments of a query without "=". An option among them would be the
 * client's. */
static bool query_is_option(void)
{
    const char *query = getenv("QUERY_STRING");
    char *decoded, *p;
    bool option;

    if (!query || strchr(query, '='))
        return false;
    decoded = p = strdup(query);
    if (!p)
        return true;
    (void)php_url_decode(decoded, strlen(decoded));
    while (*p && (unsigned char)*p <= ' ')
        p++;
    option = *p == '-';
    free(decoded);
    return option;
}

/* False: nothing is to be run, *code is the exit code. */
static bool read_command(int argc, char **argv, struct command *c, int *code)
{
    int option;
    char *arg = NULL;

    c->first = 1;
    if (query_is_option())
        return true;
    while ((option = php_getopt(argc, argv, options, &arg, &c->first, 1, 2)) != -1) {
        switch (option) {
        case 'a':
            fputs("Interactive mode enabled\n\n", stdout); /* that is all there is to it */
            (void)fflush(stdout);                          /* before what is written past it */
            break;
        case 'C':
            c->no_chdir = true;
            break;
        case 'c':
            c->ini_file = arg;
            break;
        case 'd':
            php_ini_builder_define(&c->settings, arg);
            break;
        case 'f':
            c->file = arg;
            break;
        case 'n':
            c->no_ini = true;
            break;
        case 'q':
            c->quiet = true;
            break;
        case 'z':
            add_extension(&c->settings, arg);
            break;
        case 'i':
        case 'm':
        case 'v':
            *code = embed_cli_main("cgi-fcgi", NULL, argc, argv);
            return false;
        case 'h':
        case '?':
        case PHP_GETOPT_INVALID_ARG:
            fputs(usage, stdout);
            *code = option == PHP_GETOPT_INVALID_ARG;
            return false;
        default:
            break;
        }
    }
    return true;
}

/* --- one request ------------------------------------------------------------------------------ */

static int refuse(const struct cgi *c, int status, const char *text)
{
    if (!c->no_head)
        printf("Status: %d %s\r\nContent-type: text/html; charset=UTF-8\r\n\r\n", status,
            embed_status_text(status));
    printf("%s\n", text);
    (void)fflush(stdout);
    return 255;
}

/* cgi.* settings are registered by nobody here, so php.ini is asked. */
static zend_string *setting(const char *name)
{
    const zval *value = cfg_get_entry(name, strlen(name));

    return value && Z_TYPE_P(value) == IS_STRING ? Z_STR_P(value) : NULL;
}

static bool setting_on(const char *name, bool by_default)
{
    zend_string *value = setting(name);

    return value ? zend_ini_parse_bool(value) : by_default;
}

/* php-cgi must not be called as if it were a script: it would run whatever PATH_INFO names. */
static bool may_run(void)
{
    const zend_string *other = setting("cgi.redirect_status_env");

    return !embed_cgi_is_web() || !setting_on("cgi.force_redirect", true) ||
           getenv("REDIRECT_STATUS") || getenv("HTTP_REDIRECT_STATUS") ||
           (other && ZSTR_LEN(other) && getenv(ZSTR_VAL(other)));
}

/* The program's name takes the place of what was before its arguments. */
static void set_arguments(struct embed_request *r, const char *file, char **arguments)
{
    r->argv = arguments - 1;
    r->argv[0] = (char *)(uintptr_t)file;
    while (r->argv[r->argc])
        r->argc++;
}

static int run(struct cgi *c, const struct command *cmd, char **argv)
{
    bool web = embed_cgi_is_web();
    /* A server's arguments are a client's, RFC 3875 4.4. */
    const char *file = web ? NULL : cmd->file ? cmd->file : argv[cmd->first];
    int skip = cmd->first + (cmd->file || !argv[cmd->first] ? 0 : 1);
    struct embed_cgi_request r;
    struct embed_result result = {.exit_status = 255};
    struct err err = {0};
    int rc;

    c->no_head = cmd->quiet || (cmd->file && !web);
    if (!may_run())
        return refuse(c, 400,
            "A web server called this program without REDIRECT_STATUS. Set it in the server's "
            "configuration, or cgi.force_redirect to 0.");
    if (!web && !file)
        file = EMBED_SCRIPT_STDIN;
    rc = embed_cgi_request_read(
        &r, file, setting_on("cgi.fix_pathinfo", true), web ? NULL : argv + cmd->first, &err);
    if (!web && strcmp(file, EMBED_SCRIPT_STDIN) != 0)
        set_arguments(&r.req, file, argv + skip);
    c->req = &r.req;
    if (rc == ERR_NOTFOUND)
        result.exit_status = refuse(c, 404, "No input file specified.");
    else if (rc)
        result.exit_status = refuse(c, 400, err.text);
    else
        embed_run(&r.req, &result);
    c->req = NULL;
    embed_cgi_request_fini(&r);
    return result.exit_status;
}

int embed_cgi_main(int argc, char **argv)
{
    static char binary[PATH_MAX];
    struct cgi c = {0};
    struct embed_host host = {.arg = &c,
        .read_body = read_body,
        .send_head = send_head,
        .write = write_body,
        .log = log_message};
    struct embed_options opt = {.sapi_name = "cgi-fcgi",
        .limit_extensions_off = true,
        .cgi_environment = true,
        .user_ini = true};
    struct embed_ini_search search;
    struct command cmd = {0};
    struct err err = {0};
    int code = 255;

    embed_cgi_guard_environment();
    php_ini_builder_init(&cmd.settings);
    if (!read_command(argc, argv, &cmd, &code))
        goto done;
    process_ignore_sigpipe();
    if (embed_builtin_command(binary, sizeof(binary)) < 0)
        binary[0] = '\0'; /* PHP_BINARY is empty then */
    embed_ini_search_begin(&search, opt.sapi_name, binary, cmd.ini_file, cmd.no_ini);
    opt.ini_file = search.path;
    opt.ini_none = cmd.no_ini;
    opt.ini_entries = php_ini_builder_finish(&cmd.settings);
    opt.php_binary = binary;
    opt.chdir_per_request = embed_cgi_is_web() || !cmd.no_chdir; /* as php-cgi takes -C */
    if (embed_startup(&opt, &host, &err) < 0) {
        fprintf(stderr, "php-cgi: %s\n", err.text);
    } else {
        embed_ini_search_end(&search);
        code = run(&c, &cmd, argv);
        embed_shutdown();
    }
    embed_ini_search_fini(&search);
done:
    php_ini_builder_deinit(&cmd.settings);
    return code;
}
