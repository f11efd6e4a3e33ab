/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sysinfo.h"

const char *sysinfo_source_name(enum sysinfo_source s)
{
    switch (s) {
    case SYSINFO_CGROUP2:
        return "cgroup v2";
    case SYSINFO_CGROUP1:
        return "cgroup v1";
    case SYSINFO_JOB:
        return "job-object";
    case SYSINFO_SYSTEM:
        return "system-total";
    default:
        return "unknown";
    }
}
