/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_PLATFORM_TMPDIR_H
#define EPHPM_TESTS_UNIT_PLATFORM_TMPDIR_H

/*
 * A temporary directory for one test.
 *     struct tmpdir t; tmpdir_init(&t); ... tmpdir_path(&t, "a/b") ... tmpdir_fini(&t);
 */

#include <stdint.h>

struct tmpdir {
    char path[256];
    char space[4][512];
    unsigned turn;
};

void tmpdir_init(struct tmpdir *t);
/* Removes it with all that is in it. */
void tmpdir_fini(struct tmpdir *t);
/* The path of a name inside; valid for the next three calls. */
const char *tmpdir_path(struct tmpdir *t, const char *name);
/* Writes a file, making the directories on its way. */
void tmpdir_write(struct tmpdir *t, const char *name, const char *text);

#endif
