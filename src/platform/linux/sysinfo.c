/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sysinfo.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "platform/fs.h"

/* A place in a cgroup tree: the mount and this process's path below it ("" is the mount itself). */
struct cgroup {
    char mount[PATH_MAX];
    char path[PATH_MAX];
};

enum { SYSINFO_FILE_MAX = 1 << 20 };

/* The file root + name, NUL-terminated; false when it cannot be read. */
static bool sysinfo_read(const char *root, const char *name, struct buf *out)
{
    char path[PATH_MAX * 2 + 64];
    int n = snprintf(path, sizeof(path), "%s%s", root ? root : "", name);

    buf_clear(out);
    if (n < 0 || (size_t)n >= sizeof(path) || fs_read_file(path, SYSINFO_FILE_MAX, out) != 0)
        return false;
    (void)buf_cstr(out); /* for the NUL */
    return true;
}

static bool sysinfo_copy(char *out, size_t cap, struct str s)
{
    if (s.len >= cap)
        return false;
    memcpy(out, s.p ? s.p : "", s.len);
    out[s.len] = '\0';
    return true;
}

/* Whether the comma-separated list names the controller. */
static bool cgroup_names(struct str list, const char *controller)
{
    struct str one;

    while (str_split(&list, ',', &one))
        if (str_eq(one, str_c(controller)))
            return true;
    return false;
}

/*
 * Finds this process's place for a controller in /proc/self/cgroup, whose lines are
 * "id:controllers:path"; version 2 has an empty list of controllers and controller is NULL.
 */
static bool cgroup_find(const char *root, const char *controller, struct cgroup *out)
{
    struct buf b = {0};
    struct str rest, line;
    bool found = false;

    if (sysinfo_read(root, "/proc/self/cgroup", &b)) {
        rest = buf_str(&b);
        while (!found && str_split(&rest, '\n', &line)) {
            struct str id, list;

            if (!str_split(&line, ':', &id) || !str_split(&line, ':', &list) || !line.p)
                continue;
            if (controller ? !cgroup_names(list, controller) : list.len != 0)
                continue;
            /* A process outside of its namespace's root sees "/../x": only the root is left. */
            if (str_find(line, STR("/..")) >= 0 || str_eq(line, STR("/")))
                line = STR("");
            found = sysinfo_copy(out->path, sizeof(out->path), line);
        }
    }
    buf_fini(&b);
    (void)snprintf(out->mount, sizeof(out->mount), "/sys/fs/cgroup%s%s", controller ? "/" : "",
        controller ? controller : "");
    return found;
}

/* Reads file at the cgroup's present level. */
static bool cgroup_read(const char *root, const struct cgroup *g, const char *file, struct buf *out)
{
    char name[PATH_MAX * 2 + 64];
    int n = snprintf(name, sizeof(name), "%s%s/%s", g->mount, g->path, file);

    return n > 0 && (size_t)n < sizeof(name) && sysinfo_read(root, name, out);
}

/* One level up; false at the mount. */
static bool cgroup_up(struct cgroup *g)
{
    char *slash = strrchr(g->path, '/');

    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* The smallest number in file from the process's cgroup up; UINT64_MAX when there is none. "max" is
 * no number. */
static uint64_t cgroup_least(const char *root, struct cgroup *g, const char *file)
{
    uint64_t least = UINT64_MAX, v;
    struct buf b = {0};

    do {
        if (cgroup_read(root, g, file, &b) && str_u64(str_trim(buf_str(&b)), &v) == 0)
            least = MIN(least, v);
    } while (cgroup_up(g));
    buf_fini(&b);
    return least;
}

static uint64_t sysinfo_mem_total(const char *root)
{
    struct buf b = {0};
    struct str rest, line;
    uint64_t kb = 0;

    if (sysinfo_read(root, "/proc/meminfo", &b)) {
        rest = buf_str(&b);
        while (str_split(&rest, '\n', &line)) {
            if (!str_starts(line, STR("MemTotal:")))
                continue;
            line = str_trim(str_sub(line, strlen("MemTotal:"), line.len));
            if (str_ends(line, STR(" kB")))
                line.len -= 3;
            if (str_u64(line, &kb) != 0)
                kb = 0;
            break;
        }
    }
    buf_fini(&b);
    return kb * 1024;
}

struct sysinfo_memory sysinfo_memory(const char *root)
{
    struct sysinfo_memory m = {.bytes = sysinfo_mem_total(root), .source = SYSINFO_SYSTEM};
    enum sysinfo_source source = SYSINFO_CGROUP2;
    uint64_t limit = UINT64_MAX;
    struct cgroup g;

    if (cgroup_find(root, NULL, &g))
        limit = cgroup_least(root, &g, "memory.max");
    if (limit == UINT64_MAX && cgroup_find(root, "memory", &g)) {
        limit = cgroup_least(root, &g, "memory.limit_in_bytes");
        source = SYSINFO_CGROUP1;
        /* Version 1 says "no limit" as the largest multiple of a page. */
        if (limit > INT64_MAX - (1 << 16))
            limit = UINT64_MAX;
    }
    if (limit != UINT64_MAX && (m.bytes == 0 || limit < m.bytes))
        return (struct sysinfo_memory){.bytes = limit, .source = source};
    if (m.bytes == 0)
        m.source = SYSINFO_UNKNOWN;
    return m;
}

/* Version 2: "quota period" or "max period" in one file. 0 when there is no limit. */
static double cgroup2_cores(const char *root, struct cgroup *g)
{
    struct buf b = {0};
    double least = 0;

    do {
        struct str rest, quota;
        uint64_t q, p;

        if (!cgroup_read(root, g, "cpu.max", &b))
            continue;
        rest = str_trim(buf_str(&b));
        if (!str_split(&rest, ' ', &quota) || str_u64(quota, &q) != 0 || str_u64(rest, &p) != 0)
            continue;
        if (q && p && (least == 0 || (double)q / (double)p < least))
            least = (double)q / (double)p;
    } while (cgroup_up(g));
    buf_fini(&b);
    return least;
}

/* Version 1: two files; a quota of -1 is none. */
static double cgroup1_cores(const char *root, struct cgroup *g)
{
    struct buf b = {0};
    double least = 0;

    do {
        uint64_t q, p;

        if (!cgroup_read(root, g, "cpu.cfs_quota_us", &b) ||
            str_u64(str_trim(buf_str(&b)), &q) != 0)
            continue;
        if (!cgroup_read(root, g, "cpu.cfs_period_us", &b) ||
            str_u64(str_trim(buf_str(&b)), &p) != 0)
            continue;
        if (q && p && (least == 0 || (double)q / (double)p < least))
            least = (double)q / (double)p;
    } while (cgroup_up(g));
    buf_fini(&b);
    return least;
}

/* Cores that this process may run on. */
static double sysinfo_cores(void)
{
    cpu_set_t set;
    long n;

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    n = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than a cpu_set_t holds */
    return n > 0 ? (double)n : 0;
}

struct sysinfo_cpu sysinfo_cpu(const char *root)
{
    struct sysinfo_cpu c = {.cores = sysinfo_cores(), .source = SYSINFO_SYSTEM};
    enum sysinfo_source source = SYSINFO_CGROUP2;
    struct cgroup g;
    double quota = 0;

    if (cgroup_find(root, NULL, &g))
        quota = cgroup2_cores(root, &g);
    if (quota == 0 && cgroup_find(root, "cpu", &g)) {
        quota = cgroup1_cores(root, &g);
        source = SYSINFO_CGROUP1;
    }
    if (quota > 0 && (c.cores == 0 || quota < c.cores))
        return (struct sysinfo_cpu){.cores = quota, .source = source};
    if (c.cores == 0)
        c = (struct sysinfo_cpu){.cores = 1, .source = SYSINFO_UNKNOWN};
    return c;
}

uint64_t sysinfo_resident(int64_t pid)
{
    char name[64];
    struct buf b = {0};
    struct str rest, total, resident;
    uint64_t pages = 0;

    if (pid == 0)
        pid = getpid();
    (void)snprintf(name, sizeof(name), "/proc/%lld/statm", (long long)pid);
    if (sysinfo_read(NULL, name, &b)) {
        rest = buf_str(&b);
        if (!str_split(&rest, ' ', &total) || !str_split(&rest, ' ', &resident) ||
            str_u64(resident, &pages) != 0)
            pages = 0;
    }
    buf_fini(&b);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
