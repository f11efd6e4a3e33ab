/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/php_command.h"

#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "cli/php_main.h"
#include "php/builtin.h"
#include "platform/process.h"

int cli_php_path(char *out, size_t cap)
{
    return process_exe_path(out, cap);
}

bool cli_php_is_inside(void)
{
    return true;
}

bool cli_php_claims(int argc, char **argv)
{
    struct str path = str_c(argc > 0 ? argv[0] : "");
    struct str name = str_sub(path, (size_t)(str_rchr(path, '/') + 1), path.len);

    return str_starts(name, STR("ephpm-php")) || embed_builtin_is_command(path) ||
           php_is_role(argc, argv);
}

int cli_php_become(int argc, char **argv, const char *name)
{
    process_title_init(argc, argv); /* the title's memory is that of all arguments */
    if (!name)
        return php_main(argc, argv);
    argv[1] = (char *)(uintptr_t)name;
    return php_main(argc - 1, argv + 1);
}
