/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_SYSINFO_H
#define EPHPM_PLATFORM_SYSINFO_H

/* What the machine (or the container) offers. */

#include <stdint.h>

enum sysinfo_source {
    SYSINFO_CGROUP2,
    SYSINFO_CGROUP1,
    SYSINFO_JOB,
    SYSINFO_SYSTEM,
    SYSINFO_UNKNOWN
};

struct sysinfo_memory {
    uint64_t bytes; /* 0 when unknown */
    enum sysinfo_source source;
};

struct sysinfo_cpu {
    double cores; /* quota, or the number of usable cores */
    enum sysinfo_source source;
};

/* The tightest limit on the way from this process's cgroup to the root, else the whole machine.
 * root is the directory that stands for "/" (tests pass a made-up tree); NULL is "/". */
struct sysinfo_memory sysinfo_memory(const char *root);
struct sysinfo_cpu sysinfo_cpu(const char *root);
/* "cgroup v2", "cgroup v1", "job-object", "system-total", "unknown". */
const char *sysinfo_source_name(enum sysinfo_source s);
/* Resident memory of a process in bytes, 0 when unknown. pid 0: this one. */
uint64_t sysinfo_resident(int64_t pid);

#endif
