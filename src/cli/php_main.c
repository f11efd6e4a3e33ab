/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* ephpm-php: the executable that is linked with one libphp. */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "engine/prototype.h"
#include "php/embed.h"
#include "platform/process.h"

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--role=prototype") == 0) {
        process_title_init(argc, argv);
        log_init("prototype", 2, LOG_TEXT, LOG_INFO);
        process_ignore_sigpipe();
        return prototype_main();
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("ephpm-php %s, PHP %s\n", EPHPM_VERSION, embed_php_version());
        return 0;
    }
    fprintf(stderr, "ephpm-php is started by ephpm; it does nothing by itself.\n");
    return 2;
}
