/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/log.h"
#include "engine/front.h"
#include "engine/kvrole.h"
#include "engine/master.h"
#include "platform/fs.h"
#include "platform/process.h"

extern char **environ;

static const char cli_help[] =
    "ephpm " EPHPM_VERSION " - runs PHP applications\n"
    "\n"
    "usage: ephpm [command] [flags]\n"
    "\n"
    "  dev           serve the current folder for development (also without a command)\n"
    "  serve         serve for production, from ephpm.toml\n"
    "  deploy        put the code that is in place now into service; refused if it is broken\n"
    "  cache reset   start with empty caches, without the check\n"
    "  reload        apply a changed ephpm.toml\n"
    "  status        what runs\n"
    "  stop          finish requests and stop\n"
    "  config        print every setting and where it comes from\n"
    "  config check  only say whether keys and values are right (not whether files exist)\n"
    "  config dump   the same as config\n"
    "  php ...       the php command: every argument is php's (ephpm php -v)\n"
    "  cgi ...       the php-cgi command: a request from the environment and standard input\n"
    "  --version     versions and features\n"
    "\n"
    "flags:\n"
    "  -c, --config FILE         configuration file (default: ephpm.toml; dev: none)\n"
    "  -l, --listen ADDR         address and port, e.g. 0.0.0.0:8080\n"
    "  -d, --document-root DIR   folder to serve\n"
    "  -p, --port N              dev: port on 127.0.0.1 (a taken one: the next free is used)\n"
    "  -s, --sites DIR           dev: a site per folder\n"
    "  --site NAME               deploy, cache reset, reload: only this site (else: --all)\n"
    "  -v                        more log; twice: all of it\n"
    "  --json                    status: as JSON\n"
    "  -h, --help\n"
    "\n"
    "Docs: docs/getting-started.md, docs/configuration.md\n";

static int cli_usage(const char *text, const char *what)
{
    fprintf(stderr, "ephpm: %s%s%s\nTry: ephpm --help\n", text, what ? ": " : "", what ? what : "");
    return CLI_USAGE;
}

static void cli_override(struct cli *c, const char *key, const char *value, const char *where)
{
    ENSURE(c->noverrides < CLI_OVERRIDES);
    c->overrides[c->noverrides++] = (struct config_override){key, value, where};
}

/* --- flags ------------------------------------------------------------------------------------ */

struct cli_flag {
    const char *short_name, *long_name;
    const char *key; /* setting; NULL: handled in cli_flag_set() */
};

static const struct cli_flag cli_flags[] = {
    {"-c", "--config", NULL},
    {"-l", "--listen", "server.listen"},
    {"-d", "--document-root", "server.document_root"},
    {"-p", "--port", NULL},
    {"-s", "--sites", "server.sites_dir"},
    {"", "--site", NULL},
};

static int cli_flag_set(struct cli *c, const struct cli_flag *f, const char *value)
{
    uint64_t port;
    char *listen;

    if (f->key) {
        cli_override(c, f->key, value, f->long_name);
        return 0;
    }
    if (strcmp(f->short_name, "-c") == 0) {
        c->config_path = value;
        return 0;
    }
    if (strcmp(f->long_name, "--site") == 0) {
        c->site = value;
        return 0;
    }
    if (str_u64(str_c(value), &port) || port > 65535)
        return cli_usage("--port wants a number up to 65535, not", value);
    listen = mem_new(32); /* as long as the process */
    (void)snprintf(listen, 32, "127.0.0.1:%u", (unsigned)port);
    cli_override(c, "server.listen", listen, "--port");
    c->has_port = true;
    return 0;
}

/* Handles argv[*i] when it is a flag with a value; *i moves on. */
static int cli_try_flag(struct cli *c, char **argv, int argc, int *i, bool *taken)
{
    struct str arg = str_c(argv[*i]);

    *taken = false;
    for (size_t k = 0; k < ARRAY_LEN(cli_flags); k++) {
        const struct cli_flag *f = &cli_flags[k];
        size_t n = strlen(f->long_name);

        if (str_starts(arg, str_c(f->long_name)) && arg.len > n && arg.p[n] == '=') {
            *taken = true;
            return cli_flag_set(c, f, argv[*i] + n + 1);
        }
        if (!str_eq(arg, str_c(f->short_name)) && !str_eq(arg, str_c(f->long_name)))
            continue;
        if (*i + 1 >= argc)
            return cli_usage("a value is missing after", argv[*i]);
        *taken = true;
        return cli_flag_set(c, f, argv[++*i]);
    }
    return 0;
}

static int cli_parse(struct cli *c, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool taken;
        int rc = cli_try_flag(c, argv, argc, &i, &taken);

        if (rc)
            return rc;
        if (taken)
            continue;
        if (strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "--verbose") == 0)
            c->verbosity++;
        else if (strcmp(argv[i], "-vv") == 0)
            c->verbosity += 2;
        else if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            c->command = "--help";
        else if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0)
            c->command = "--version";
        else if (strcmp(argv[i], "--all") == 0)
            c->site = NULL;
        else if (strcmp(argv[i], "--json") == 0)
            c->json = true;
        else if (argv[i][0] == '-')
            return cli_usage("unknown flag", argv[i]);
        else if (!c->command)
            c->command = argv[i];
        else if (!c->argument)
            c->argument = argv[i];
        else
            return cli_usage("too many arguments", argv[i]);
    }
    if (c->verbosity)
        cli_override(c, "server.logging.level", c->verbosity > 1 ? "trace" : "debug", "-v");
    return 0;
}

/* --- php: another program --------------------------------------------------------------------- */

/* ephpm-php lies beside this executable. */
static int cli_php_path(char *out, size_t cap)
{
    struct str exe;
    int rc = process_exe_path(out, cap);

    if (rc)
        return rc;
    exe = str_c(out);
    exe.len = (size_t)str_rchr(exe, '/') + 1;
    if (exe.len + sizeof("ephpm-php") > cap)
        return ERR_TOOBIG;
    (void)str_put(out + exe.len, cap - exe.len, STR("ephpm-php"));
    return 0;
}

/* A link to this program of the name of a PHP command: "php", "php8.2", "php-cgi". */
static bool cli_is_php_link(const char *argv0)
{
    struct str name = str_c(argv0);

    name = str_sub(name, (size_t)(str_rchr(name, '/') + 1), name.len);
    return str_starts(name, STR("php")) || str_starts(name, STR("ephpm-cgi"));
}

/* `ephpm php ...` and `ephpm cgi ...`, or such a link. */
static bool cli_is_php(int argc, char **argv)
{
    return argc > 0 && (cli_is_php_link(argv[0]) || (argc > 1 && (strcmp(argv[1], "php") == 0 ||
                                                                     strcmp(argv[1], "cgi") == 0)));
}

/* Becomes ephpm-php, whose name says which command it is, and whose arguments are all that
 * command's. Done first, since each php pays for it. */
static int cli_php(char **argv)
{
    static char cgi[] = "php-cgi";
    char path[4096];
    int rc = cli_php_path(path, sizeof(path));

    if (!cli_is_php_link(argv[0])) {
        argv++;
        if (strcmp(argv[0], "cgi") == 0)
            argv[0] = cgi;
    }
    if (rc == 0)
        rc = process_exec(path, argv);
    fprintf(stderr, "ephpm: the program for php cannot be started: %s: %s\n", path, err_text(rc));
    return CLI_FAILED;
}

/* --- commands --------------------------------------------------------------------------------- */

static int cli_run_master(struct cli *c, enum config_mode mode, bool next_port)
{
    struct master_options opt = {
        .mode = mode,
        .config_path = mode == CONFIG_DEV && !c->config_path ? NULL
                       : c->config_path                      ? c->config_path
                                                             : "ephpm.toml",
        .config_explicit = c->config_path != NULL,
        .overrides = c->overrides,
        .noverrides = c->noverrides,
        .env = (const char *const *)c->env,
        .try_next_port = next_port,
    };

    return master_main(&opt);
}

int cli_serve(struct cli *c)
{
    if (c->has_port)
        return cli_usage("--port is for dev; serve takes", "--listen ADDR");
    return cli_run_master(c, CONFIG_SERVE, false);
}

int cli_dev(struct cli *c)
{
    return cli_run_master(c, CONFIG_DEV, true);
}

struct config *cli_load(struct cli *c, enum config_mode mode)
{
    struct config_source src = {
        .mode = mode,
        .path = c->config_path ? c->config_path : "ephpm.toml",
        .path_explicit = c->config_path != NULL,
        .env = (const char *const *)c->env,
        .overrides = c->overrides,
        .noverrides = c->noverrides,
    };
    struct config *cfg;
    struct err err = {0};

    if (config_load(&src, &cfg, &err)) {
        fprintf(stderr, "ephpm: %s\n", err.text);
        return NULL;
    }
    return cfg;
}

int cli_config(struct cli *c)
{
    const char *what = c->argument ? c->argument : "dump";
    struct buf out = {0};
    struct config *cfg;

    if (strcmp(what, "reference") == 0) {
        config_reference(&out);
        (void)fwrite(out.p, 1, out.len, stdout);
        buf_fini(&out);
        return CLI_OK;
    }
    if (strcmp(what, "check") != 0 && strcmp(what, "dump") != 0)
        return cli_usage("config knows check and dump, not", what);
    cfg = cli_load(c, CONFIG_SERVE);
    if (!cfg)
        return CLI_FAILED;
    for (size_t i = 0; i < cfg->warnings.n; i++)
        fprintf(stderr, "warning: %s\n", cfg->warnings.v[i]);
    if (strcmp(what, "check") == 0)
        buf_add_lit(&out, "the configuration is right\n");
    else
        config_dump(cfg, &out);
    (void)fwrite(out.p, 1, out.len, stdout);
    buf_fini(&out);
    config_unref(cfg);
    return CLI_OK;
}

static int cli_version(struct cli *c)
{
    char path[4096];
    char *argv[] = {path, (char *)(uintptr_t)"--role=version", NULL};
    struct process_spawn s = {.exe = path, .argv = argv};
    struct process_status st;
    int64_t pid;

    (void)c;
    printf("ephpm %s\n", EPHPM_VERSION);
    (void)fflush(stdout); /* the PHP part prints next */
    if (cli_php_path(path, sizeof(path)))
        return CLI_OK;
    if (process_spawn(&s, &pid) == 0)
        (void)!process_wait(pid, &st); /* it said what there is to say */
    return CLI_OK;
}

static int cli_deploy(struct cli *c)
{
    return cli_remote(c, "deploy");
}

static int cli_cache(struct cli *c)
{
    if (!c->argument || strcmp(c->argument, "reset") != 0)
        return cli_usage("the command is", "cache reset");
    return cli_remote(c, "cache_reset");
}

static int cli_reload(struct cli *c)
{
    return cli_remote(c, "reload");
}

static int cli_status(struct cli *c)
{
    return cli_remote(c, "status");
}

static int cli_stop(struct cli *c)
{
    return cli_remote(c, "stop");
}

static int cli_print_help(struct cli *c)
{
    (void)c;
    fputs(cli_help, stdout);
    return CLI_OK;
}

static const struct {
    const char *name;
    int (*run)(struct cli *c);
    bool argument;
} cli_commands[] = {
    {"dev", cli_dev, false},
    {"serve", cli_serve, false},
    {"deploy", cli_deploy, false},
    {"cache", cli_cache, true},
    {"reload", cli_reload, false},
    {"status", cli_status, false},
    {"stop", cli_stop, false},
    {"config", cli_config, true},
    {"help", cli_print_help, false},
    {"--help", cli_print_help, false},
    {"--version", cli_version, false},
};

int main(int argc, char **argv)
{
    struct cli c = {.env = environ};
    int rc;

    if (cli_is_php(argc, argv))
        return cli_php(argv);
    if (argc > 1 && strcmp(argv[1], "--role=front") == 0) {
        process_title_init(argc, argv);
        process_set_title("ephpm: front");
        log_init("front", 2, LOG_TEXT, LOG_INFO);
        return front_main();
    }
    if (argc > 1 && strcmp(argv[1], "--role=kv") == 0) {
        process_title_init(argc, argv);
        process_set_title("ephpm: kv");
        log_init("kv", 2, LOG_TEXT, LOG_INFO);
        return kvrole_main();
    }
    /* Before parsing: the title takes the memory of argv, which the options go on pointing into. */
    process_title_init(argc, argv);
    c.env = environ;
    rc = cli_parse(&c, argc, argv);
    if (rc)
        return rc;
    log_init("ephpm", 2, LOG_TEXT, LOG_WARN);
    if (!c.command)
        c.command = "dev";
    for (size_t i = 0; i < ARRAY_LEN(cli_commands); i++) {
        if (strcmp(cli_commands[i].name, c.command) != 0)
            continue;
        if (c.argument && !cli_commands[i].argument)
            return cli_usage("too many arguments", c.argument);
        return cli_commands[i].run(&c);
    }
    return cli_usage("unknown command", c.command);
}
