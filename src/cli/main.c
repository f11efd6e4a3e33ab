/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/bench/bench.h"
#include "cli/kv.h"
#include "cli/php_command.h"
#include "core/log.h"
#include "engine/dbrole.h"
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
    "  kv ...        the key-value store: keys [PATTERN], get K, set K V, del K..., incr K, ttl "
    "K,\n"
    "                ping, top\n"
    "  db ...        the database: shell, check, backup FILE, import FILE, export [FILE]\n"
    "  bench ...     benchmarks of PHP and of servers (ephpm bench --help)\n"
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
    "  --site NAME               deploy, cache reset, reload: only this site (else: --all); kv, "
    "db:\n"
    "                            whose store or database\n"
    "  --rev TEXT                deploy: what is deployed; kept at opcache:revision:SITE\n"
    "  --ttl SECONDS             kv set: when the key expires\n"
    "  --by N                    kv incr: by how much (1)\n"
    "  --count N                 kv top: end after N lines\n"
    "  --host HOST, --port N, --socket PATH, --user NAME, --password TEXT\n"
    "                            kv, deploy, cache reset: a server elsewhere, by the Redis "
    "protocol\n"
    "                            ($EPHPM_KV_PASSWORD is a password, too)\n"
    "  -v                        more log; twice: all of it\n"
    "  --plain                   db shell: without the mariadb or mysql client\n"
    "  --force                   db import: go on after an error\n"
    "  --json                    status: as JSON\n"
    "  -h, --help\n"
    "\n"
    "Docs: docs/getting-started.md, docs/configuration.md\n";

int cli_usage(const char *text, const char *what)
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
    const char *key;      /* the setting; NULL: it goes to the member at offset */
    size_t offset;        /* of a string in struct cli */
    const char *commands; /* that know it; NULL: all */
};

static const struct cli_flag cli_flags[] = {
    {"-c", "--config", NULL, offsetof(struct cli, config_path), NULL},
    {"-l", "--listen", "server.listen", 0, NULL},
    {"-d", "--document-root", "server.document_root", 0, NULL},
    {"-p", "--port", NULL, offsetof(struct cli, port), "dev kv deploy cache"},
    {"-s", "--sites", "server.sites_dir", 0, NULL},
    {"", "--site", NULL, offsetof(struct cli, site), NULL},
    {"", "--host", NULL, offsetof(struct cli, host), "kv deploy cache"},
    {"", "--user", NULL, offsetof(struct cli, user), "kv deploy cache"},
    {"", "--password", NULL, offsetof(struct cli, password), "kv deploy cache"},
    {"", "--socket", NULL, offsetof(struct cli, socket), "kv deploy cache"},
    {"", "--ttl", NULL, offsetof(struct cli, ttl), "kv"},
    {"", "--by", NULL, offsetof(struct cli, by), "kv"},
    {"", "--count", NULL, offsetof(struct cli, count), "kv"},
    {"", "--rev", NULL, offsetof(struct cli, rev), "deploy"},
};

static const char **cli_flag_at(struct cli *c, const struct cli_flag *f)
{
    return (const char **)(void *)((char *)c + f->offset);
}

static int cli_flag_set(struct cli *c, const struct cli_flag *f, const char *value)
{
    if (f->key)
        cli_override(c, f->key, value, f->long_name);
    else
        *cli_flag_at(c, f) = value;
    return 0;
}

static bool cli_knows(struct str commands, const char *command)
{
    struct str one;

    while (str_split(&commands, ' ', &one))
        if (str_eq(one, str_c(command)))
            return true;
    return false;
}

/* A flag that the command would ignore. */
static int cli_check_flags(struct cli *c)
{
    for (size_t i = 0; i < ARRAY_LEN(cli_flags); i++) {
        const struct cli_flag *f = &cli_flags[i];
        char text[64];

        if (!f->commands || !*cli_flag_at(c, f) || cli_knows(str_c(f->commands), c->command))
            continue;
        if (strcmp(c->command, "serve") == 0 && strcmp(f->long_name, "--port") == 0)
            return cli_usage("--port is for dev; serve takes", "--listen ADDR");
        (void)snprintf(text, sizeof(text), "%s does not know", c->command);
        return cli_usage(text, f->long_name);
    }
    return 0;
}

/* dev --port N. */
static int cli_set_port(struct cli *c)
{
    uint64_t port;
    char *listen;

    if (!c->port || strcmp(c->command, "dev") != 0)
        return 0;
    if (str_u64(str_c(c->port), &port) || port > 65535)
        return cli_usage("--port wants a number up to 65535, not", c->port);
    listen = mem_new(32); /* as long as the process */
    (void)snprintf(listen, 32, "127.0.0.1:%u", (unsigned)port);
    cli_override(c, "server.listen", listen, "--port");
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

/* A word that is no flag: the command, then what it works on. */
static void cli_word(struct cli *c, const char *word)
{
    if (c->command)
        c->args[c->nargs++] = word;
    else
        c->command = word;
}

static int cli_parse(struct cli *c, int argc, char **argv)
{
    bool words = false; /* after "--" */
    int rc = 0;

    c->args = mem_new_array((size_t)argc + 1, sizeof(*c->args)); /* as long as the process */
    for (int i = 1; i < argc; i++) {
        bool taken = false;

        if (!words)
            rc = cli_try_flag(c, argv, argc, &i, &taken);
        if (rc)
            return rc;
        if (taken)
            continue;
        if (words || argv[i][0] != '-')
            cli_word(c, argv[i]);
        else if (strcmp(argv[i], "--") == 0)
            words = true;
        else if (strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "--verbose") == 0)
            c->verbosity++;
        else if (strcmp(argv[i], "-vv") == 0)
            c->verbosity += 2;
        else if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            c->command = "--help";
        else if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0)
            c->command = "--version";
        else if (strcmp(argv[i], "--all") == 0)
            c->all = true;
        else if (strcmp(argv[i], "--json") == 0)
            c->json = true;
        else if (strcmp(argv[i], "--plain") == 0)
            c->plain = true;
        else if (strcmp(argv[i], "--force") == 0)
            c->force = true;
        else
            return cli_usage("unknown flag", argv[i]);
    }
    if (c->all)
        c->site = NULL;
    if (c->verbosity)
        cli_override(c, "server.logging.level", c->verbosity > 1 ? "trace" : "debug", "-v");
    if (!c->command)
        c->command = "dev";
    if ((c->plain || c->force) && strcmp(c->command, "db") != 0)
        return cli_usage("it is for db:", c->plain ? "--plain" : "--force");
    rc = cli_check_flags(c);
    return rc ? rc : cli_set_port(c);
}

/* --- php ------------------------------------------------------------------------------------- */

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

/* The arguments are all that command's. Done first, since each php pays for it. */
static int cli_php(int argc, char **argv)
{
    if (cli_is_php_link(argv[0]))
        return cli_php_become(argc, argv, NULL);
    return cli_php_become(argc, argv, strcmp(argv[1], "cgi") == 0 ? "php-cgi" : "php");
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
        .php_inside = cli_php_is_inside(),
    };

    return master_main(&opt);
}

int cli_serve(struct cli *c)
{
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
    const char *what = c->nargs ? c->args[0] : "dump";
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
    return kv_is_remote(c) ? cli_announce(c, "deploy") : cli_remote(c, "deploy");
}

static int cli_cache(struct cli *c)
{
    if (c->nargs == 0 || strcmp(c->args[0], "reset") != 0)
        return cli_usage("the command is", "cache reset");
    return kv_is_remote(c) ? cli_announce(c, "cache reset") : cli_remote(c, "cache_reset");
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
    size_t arguments; /* at most */
} cli_commands[] = {
    {"dev", cli_dev, 0},
    {"serve", cli_serve, 0},
    {"deploy", cli_deploy, 0},
    {"cache", cli_cache, 1},
    {"reload", cli_reload, 0},
    {"status", cli_status, 0},
    {"stop", cli_stop, 0},
    {"config", cli_config, 1},
    {"kv", cli_kv, SIZE_MAX},
    {"db", cli_db, SIZE_MAX},
    {"help", cli_print_help, 0},
    {"--help", cli_print_help, 0},
    {"--version", cli_version, 0},
};

int main(int argc, char **argv)
{
    struct cli c = {.env = environ};
    int rc;

    if (cli_php_claims(argc, argv))
        return cli_php_become(argc, argv, NULL);
    if (cli_is_php(argc, argv))
        return cli_php(argc, argv);
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
    if (argc > 1 && strcmp(argv[1], "--role=db") == 0) {
        process_title_init(argc, argv);
        process_set_title("ephpm: db");
        log_init("db", 2, LOG_TEXT, LOG_INFO);
        return dbrole_main();
    }
    /* Its flags are its own. */
    if (argc > 1 && strcmp(argv[1], "bench") == 0)
        return bench_main(argc - 2, argv + 2);
    /* Before parsing: the title takes the memory of argv, which the options go on pointing into. */
    process_title_init(argc, argv);
    c.env = environ;
    rc = cli_parse(&c, argc, argv);
    if (rc)
        return rc;
    log_init("ephpm", 2, LOG_TEXT, LOG_WARN);
    for (size_t i = 0; i < ARRAY_LEN(cli_commands); i++) {
        if (strcmp(cli_commands[i].name, c.command) != 0)
            continue;
        if (c.nargs > cli_commands[i].arguments)
            return cli_usage("too many arguments", c.args[cli_commands[i].arguments]);
        return cli_commands[i].run(&c);
    }
    return cli_usage("unknown command", c.command);
}
