/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "platform/fs.h"
#include "platform/sysinfo.h"

enum { USAGE_FILE_MAX = 65536 };

static int usage_read(int64_t pid, const char *name, struct buf *out)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, name);
    buf_clear(out);
    return fs_read_file(path, USAGE_FILE_MAX, out);
}

/* The fields behind the name, which may hold spaces and parentheses: state is number 3. */
static uint64_t usage_stat_field(struct str text, int number)
{
    struct str rest = str_sub(text, (size_t)(str_rchr(text, ')') + 2), text.len), field;
    uint64_t v = 0;

    for (int i = 3; i <= number; i++)
        if (!str_split(&rest, ' ', &field))
            return 0;
    return str_u64(field, &v) == 0 ? v : 0;
}

/* "Pss:    123 kB" */
static uint64_t usage_proportional(struct str text)
{
    struct str line;
    uint64_t kb;

    while (str_split(&text, '\n', &line)) {
        if (!str_starts(line, STR("Pss:")))
            continue;
        line = str_trim(str_sub(line, 4, line.len));
        if (str_ends(line, STR(" kB")) && str_u64(str_sub(line, 0, line.len - 3), &kb) == 0)
            return kb * 1024;
    }
    return 0;
}

static uint64_t usage_descriptors(int64_t pid)
{
    char path[64];
    uint64_t n = 0;
    const struct dirent *e;
    DIR *d;

    (void)snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)pid);
    d = opendir(path);
    if (!d)
        return 0;
    while ((e = readdir(d)) != NULL)
        n += e->d_name[0] != '.';
    (void)closedir(d); /* it was only read */
    return n;
}

int sysinfo_usage(int64_t pid, struct sysinfo_usage *out)
{
    struct sysinfo_usage u = {0};
    struct buf b = {0};
    uint64_t ticks = 0;
    int rc = usage_read(pid, "stat", &b);

    if (rc == 0) {
        for (int i = 14; i <= 17; i++) /* utime, stime, cutime, cstime */
            ticks += usage_stat_field(buf_str(&b), i);
        u.cpu_ns = ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
        u.resident = usage_stat_field(buf_str(&b), 24) * (uint64_t)sysconf(_SC_PAGESIZE);
        if (usage_read(pid, "smaps_rollup", &b) == 0)
            u.proportional = usage_proportional(buf_str(&b));
        u.descriptors = usage_descriptors(pid);
        *out = u;
    }
    buf_fini(&b);
    return rc == ERR_IO ? ERR_NOTFOUND : rc; /* it ended meanwhile */
}
