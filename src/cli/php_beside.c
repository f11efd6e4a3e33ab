/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/php_command.h"

#include <stdint.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/cli.h"
#include "platform/process.h"

int cli_php_path(char *out, size_t cap)
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

bool cli_php_is_inside(void)
{
    return false;
}

bool cli_php_claims(int argc, char **argv)
{
    return false;
}

int cli_php_become(int argc, char **argv, const char *name)
{
    char path[4096];
    int rc = cli_php_path(path, sizeof(path));

    if (name) {
        argv++;
        argv[0] = (char *)(uintptr_t)name;
    }
    if (rc == 0)
        rc = process_exec(path, argv);
    fprintf(stderr, "ephpm: the program for php cannot be started: %s: %s\n", path, err_text(rc));
    return CLI_FAILED;
}
