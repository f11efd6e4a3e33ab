/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* ephpm-php: the executable that is linked with one libphp. */
#include "cli/php_main.h"

int main(int argc, char **argv)
{
    return php_main(argc, argv);
}
