/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_SYSINFO_H
#define EPHPM_PLATFORM_SYSINFO_H

/* What the machine (or the container) offers. */

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

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
/* What a process uses; what cannot be known is 0. */
struct sysinfo_usage {
    uint64_t resident;     /* bytes */
    uint64_t proportional; /* bytes; shared pages count for a part. Windows: private ones only */
    uint64_t cpu_ns;       /* user and system time, with children that it waited for */
    uint64_t descriptors;  /* Windows: handles */
};
/* ERR_NOTFOUND: there is no such process. Takes the longer the more memory it has: 1 ms is much. */
int sysinfo_usage(int64_t pid, struct sysinfo_usage *out) MUST_CHECK;
/* Resident memory of a process in bytes, 0 when unknown. pid 0: this one. */
uint64_t sysinfo_resident(int64_t pid);

#endif
