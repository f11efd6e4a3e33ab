/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sysinfo.h"

#include <windows.h>

#include <psapi.h>

#include "base/attr.h"
#include "platform/windows/oserr.h"

/* The limit of this process's job object, UINT64_MAX when there is none. */
static uint64_t sysinfo_job_memory(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION j = {0};
    uint64_t least = UINT64_MAX;

    if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &j, sizeof(j), NULL))
        return least;
    if (j.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY)
        least = MIN(least, (uint64_t)j.JobMemoryLimit);
    if (j.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY)
        least = MIN(least, (uint64_t)j.ProcessMemoryLimit);
    return least;
}

struct sysinfo_memory sysinfo_memory(const char *root)
{
    MEMORYSTATUSEX m = {.dwLength = sizeof(m)};
    uint64_t limit = sysinfo_job_memory();

    if (!GlobalMemoryStatusEx(&m))
        m.ullTotalPhys = 0;
    if (limit != UINT64_MAX && limit != 0 && (m.ullTotalPhys == 0 || limit < m.ullTotalPhys))
        return (struct sysinfo_memory){.bytes = limit, .source = SYSINFO_JOB};
    return (struct sysinfo_memory){
        .bytes = m.ullTotalPhys,
        .source = m.ullTotalPhys ? SYSINFO_SYSTEM : SYSINFO_UNKNOWN,
    };
}

/* Cores of this process's group that it may run on. */
static double sysinfo_cores(void)
{
    DWORD_PTR mine = 0, system = 0;
    SYSTEM_INFO i;

    if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &system) && mine)
        return __builtin_popcountll(mine);
    GetSystemInfo(&i);
    return i.dwNumberOfProcessors;
}

struct sysinfo_cpu sysinfo_cpu(const char *root)
{
    JOBOBJECT_CPU_RATE_CONTROL_INFORMATION r = {0};
    struct sysinfo_cpu c = {.cores = sysinfo_cores(), .source = SYSINFO_SYSTEM};
    const DWORD hard = JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
    SYSTEM_INFO i;
    double quota;

    if (!QueryInformationJobObject(NULL, JobObjectCpuRateControlInformation, &r, sizeof(r), NULL) ||
        (r.ControlFlags & hard) != hard || r.CpuRate == 0)
        return c;
    /* Hundredths of a percent of the whole machine. */
    GetSystemInfo(&i);
    quota = (double)i.dwNumberOfProcessors * r.CpuRate / 10000;
    if (quota < c.cores)
        c = (struct sysinfo_cpu){.cores = quota, .source = SYSINFO_JOB};
    return c;
}

static uint64_t sysinfo_time_ns(const FILETIME *t)
{
    return (((uint64_t)t->dwHighDateTime << 32) | t->dwLowDateTime) * 100;
}

int sysinfo_usage(int64_t pid, struct sysinfo_usage *out)
{
    PROCESS_MEMORY_COUNTERS_EX m = {.cb = sizeof(m)};
    FILETIME created, ended, kernel, user;
    DWORD handles = 0;
    HANDLE h = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);

    if (!h)
        return GetLastError() == ERROR_INVALID_PARAMETER ? ERR_NOTFOUND : oserr_last();
    *out = (struct sysinfo_usage){0};
    if (GetProcessMemoryInfo(h, (PROCESS_MEMORY_COUNTERS *)&m, sizeof(m))) {
        out->resident = m.WorkingSetSize;
        out->proportional = m.PrivateUsage;
    }
    if (GetProcessTimes(h, &created, &ended, &kernel, &user))
        out->cpu_ns = sysinfo_time_ns(&kernel) + sysinfo_time_ns(&user);
    if (GetProcessHandleCount(h, &handles))
        out->descriptors = handles;
    (void)CloseHandle(h); /* ours */
    return 0;
}

uint64_t sysinfo_resident(int64_t pid)
{
    PROCESS_MEMORY_COUNTERS m = {.cb = sizeof(m)};
    HANDLE h = pid == 0 ? GetCurrentProcess()
                        : OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);

    if (!h)
        return 0;
    if (!GetProcessMemoryInfo(h, &m, sizeof(m)))
        m.WorkingSetSize = 0;
    (void)CloseHandle(h); /* does nothing for the handle of this process */
    return m.WorkingSetSize;
}
