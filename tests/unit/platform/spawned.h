/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_PLATFORM_SPAWNED_H
#define EPHPM_TESTS_UNIT_PLATFORM_SPAWNED_H

/* What the test binary does when a test started it: unit_platform --spawned WHAT ... */
int spawned_main(int argc, char **argv);

#endif
