/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/php_main.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/bench/php_role.h"
#include "cli/serve.h"
#include "core/log.h"
#include "engine/prototype.h"
#include "php/cgi.h"
#include "php/cli.h"
#include "php/embed.h"
#include "platform/process.h"

/* What starting PHP without extensions takes. */
enum { PHP_HEAP = 1600 * 1024 };

static int php_prototype(int argc, char **argv)
{
    log_init("prototype", 2, LOG_TEXT, LOG_INFO);
    process_ignore_sigpipe();
    return prototype_main();
}

static int php_version(int argc, char **argv)
{
    printf("ephpm-php %s, PHP %s, VM %s\n", EPHPM_VERSION, embed_php_version(), embed_vm_kind());
    return 0;
}

/* Also through a link, for programs that want one path: php-cgi, ephpm-cgi, php-cgi8.2. */
static bool php_is_cgi_link(const char *argv0)
{
    struct str name = str_c(argv0);

    name = str_sub(name, (size_t)(str_rchr(name, '/') + 1), name.len);
    return str_starts(name, STR("php-cgi")) || str_starts(name, STR("ephpm-cgi"));
}

static int php_cgi(int argc, char **argv)
{
    /* The role is not an argument of php-cgi. */
    argv[1] = argv[0];
    return embed_cgi_main(argc - 1, argv + 1);
}

static const struct {
    const char *argument;
    int (*run)(int argc, char **argv);
} php_roles[] = {
    {"--role=prototype", php_prototype},
    {"--role=version", php_version},
    {"--role=cgi", php_cgi},
    {"--role=bench", bench_php_role},
};

/* The row of php_roles, or -1. */
static int php_find_role(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(php_roles); i++)
        if (strcmp(argv[1], php_roles[i].argument) == 0)
            return (int)i;
    return -1;
}

bool php_is_role(int argc, char **argv)
{
    return php_find_role(argc, argv) >= 0;
}

int php_main(int argc, char **argv)
{
    int role;

    process_title_init(argc, argv);
    /* First, since a web server makes arguments of what a client asks for, RFC 3875 4.4. */
    if (argc > 0 && php_is_cgi_link(argv[0]))
        return embed_cgi_main(argc, argv);
    role = php_find_role(argc, argv);
    if (role >= 0)
        return php_roles[role].run(argc, argv);
    process_prepare_heap(PHP_HEAP);
    return embed_cli_main("cli", serve_main, argc, argv);
}
