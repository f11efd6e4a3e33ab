/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sysinfo.h"

#include <stdlib.h>

#include "platform/fs.h"
#include "platform/process.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_sysinfo[];

struct sysinfo_file {
    const char *name, *text;
};

static void test_sysinfo_memory_table(void)
{
    static const struct {
        const char *name;
        struct sysinfo_file files[6];
        enum sysinfo_source source;
        uint64_t bytes;
    } rows[] = {
        {"nothing at all", {{NULL, NULL}}, SYSINFO_UNKNOWN, 0},
        {"machine", {{"proc/meminfo", "MemFree: 7 kB\nMemTotal:        1000 kB\nX: 1 kB\n"}},
            SYSINFO_SYSTEM, 1000 * 1024},
        {"v2, own limit",
            {{"proc/meminfo", "MemTotal: 1000000 kB\n"}, {"proc/self/cgroup", "0::/a/b\n"},
                {"sys/fs/cgroup/a/b/memory.max", "4096000\n"},
                {"sys/fs/cgroup/a/memory.max", "max\n"}},
            SYSINFO_CGROUP2, 4096000},
        {"v2, the parent is tighter",
            {{"proc/meminfo", "MemTotal: 1000000 kB\n"}, {"proc/self/cgroup", "0::/a/b\n"},
                {"sys/fs/cgroup/a/b/memory.max", "4096000\n"},
                {"sys/fs/cgroup/a/memory.max", "2048000\n"}},
            SYSINFO_CGROUP2, 2048000},
        {"v2, container root",
            {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/memory.max", "123\n"}},
            SYSINFO_CGROUP2, 123},
        {"v2, outside of the namespace",
            {{"proc/self/cgroup", "0::/../other\n"}, {"sys/fs/cgroup/memory.max", "123\n"}},
            SYSINFO_CGROUP2, 123},
        {"v2, path not visible",
            {{"proc/self/cgroup", "0::/gone/deep\n"}, {"sys/fs/cgroup/memory.max", "77\n"}},
            SYSINFO_CGROUP2, 77},
        {"v2 limit above the machine",
            {{"proc/meminfo", "MemTotal: 1000 kB\n"}, {"proc/self/cgroup", "0::/\n"},
                {"sys/fs/cgroup/memory.max", "99999999999\n"}},
            SYSINFO_SYSTEM, 1000 * 1024},
        {"v1",
            {{"proc/meminfo", "MemTotal: 1000000 kB\n"},
                {"proc/self/cgroup", "5:cpu,cpuacct:/c\n4:memory:/m/n\n0::/\n"},
                {"sys/fs/cgroup/memory/m/n/memory.limit_in_bytes", "9223372036854771712\n"},
                {"sys/fs/cgroup/memory/m/memory.limit_in_bytes", "5000\n"}},
            SYSINFO_CGROUP1, 5000},
        {"v1 without limit",
            {{"proc/meminfo", "MemTotal: 1000 kB\n"}, {"proc/self/cgroup", "4:memory:/\n"},
                {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
            SYSINFO_SYSTEM, 1000 * 1024},
        {"v1 without limit and nothing else",
            {{"proc/self/cgroup", "4:memory:/\n"},
                {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
            SYSINFO_UNKNOWN, 0},
        {"rubbish",
            {{"proc/meminfo", "MemTotal: x kB\nMemTotal"},
                {"proc/self/cgroup", "\n:\n::\n0:\n0::/\nxx"},
                {"sys/fs/cgroup/memory.max", "-5 \n"}},
            SYSINFO_UNKNOWN, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sysinfo_memory m;
        struct tmpdir t;

        tmpdir_init(&t);
        test_row(rows[i].name);
        for (size_t j = 0; j < ARRAY_LEN(rows[i].files) && rows[i].files[j].name; j++)
            tmpdir_write(&t, rows[i].files[j].name, rows[i].files[j].text);
        m = sysinfo_memory(t.path);
        CHECK_STR(str_c(sysinfo_source_name(m.source)), sysinfo_source_name(rows[i].source));
        CHECK_INT(m.bytes, rows[i].bytes);
        tmpdir_fini(&t);
    }
}

/* cores: 0 stands for the machine's own number. */
static void test_sysinfo_cpu_table(void)
{
    static const struct {
        const char *name;
        struct sysinfo_file files[6];
        enum sysinfo_source source;
        double cores;
    } rows[] = {
        {"nothing at all", {{NULL, NULL}}, SYSINFO_SYSTEM, 0},
        {"v2", {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "50000 100000\n"}},
            SYSINFO_CGROUP2, 0.5},
        {"v2, the parent is tighter",
            {{"proc/self/cgroup", "0::/a/b\n"}, {"sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"},
                {"sys/fs/cgroup/a/cpu.max", "25000 100000\n"},
                {"sys/fs/cgroup/cpu.max", "max 100000\n"}},
            SYSINFO_CGROUP2, 0.25},
        {"v2 without limit",
            {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "max 100000\n"}},
            SYSINFO_SYSTEM, 0},
        {"v2 above the machine",
            {{"proc/self/cgroup", "0::/a\n"}, {"sys/fs/cgroup/a/cpu.max", "999900000 100000\n"}},
            SYSINFO_SYSTEM, 0},
        {"v1",
            {{"proc/self/cgroup", "5:cpu,cpuacct:/c\n0::/\n"},
                {"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "75000\n"},
                {"sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n"}},
            SYSINFO_CGROUP1, 0.75},
        {"v1 without limit",
            {{"proc/self/cgroup", "5:cpu:/\n"}, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
            SYSINFO_SYSTEM, 0},
        {"rubbish", {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "5 0\n"}},
            SYSINFO_SYSTEM, 0},
    };
    double all = sysinfo_cpu("/nonexistent").cores;

    CHECK(all >= 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sysinfo_cpu c;
        struct tmpdir t;

        tmpdir_init(&t);
        test_row(rows[i].name);
        for (size_t j = 0; j < ARRAY_LEN(rows[i].files) && rows[i].files[j].name; j++)
            tmpdir_write(&t, rows[i].files[j].name, rows[i].files[j].text);
        c = sysinfo_cpu(t.path);
        CHECK_STR(str_c(sysinfo_source_name(c.source)), sysinfo_source_name(rows[i].source));
        CHECK_INT(c.cores * 1000, (rows[i].cores != 0 ? rows[i].cores : all) * 1000);
        tmpdir_fini(&t);
    }
}

static void test_sysinfo_of_this_machine(void)
{
    struct sysinfo_memory m = sysinfo_memory(NULL);
    char *block;

    CHECK(m.bytes > (16 << 20));
    CHECK(m.source != SYSINFO_UNKNOWN);
    CHECK(sysinfo_cpu(NULL).cores > 0);
    CHECK(sysinfo_resident(0) > 100000);
    CHECK_INT(sysinfo_resident(0x7ffffffe), 0);
    m.bytes = sysinfo_resident(0);
    block = malloc(32 << 20);
    memset(block, 1, 32 << 20);
    CHECK(sysinfo_resident(0) >= m.bytes + (24 << 20));
    CHECK_INT(block[12345], 1);
    free(block);
}

static void test_sysinfo_usage_of_this_process(void)
{
    struct sysinfo_usage u = {0}, later;
    volatile uint64_t spin = 0;

    CHECK_INT(sysinfo_usage(process_id(), &u), 0);
    CHECK(u.resident > 100000 && u.proportional > 10000 && u.descriptors > 0);
    do {
        for (int i = 0; i < 1000000; i++)
            spin = spin + 1;
        CHECK_INT(sysinfo_usage(process_id(), &later), 0);
    } while (later.cpu_ns < u.cpu_ns + 20000000);
    CHECK_INT(sysinfo_usage(0x7ffffffe, &u), ERR_NOTFOUND);
}

const struct test tests_sysinfo[] = {
    TEST(test_sysinfo_usage_of_this_process),
    TEST(test_sysinfo_memory_table),
    TEST(test_sysinfo_cpu_table),
    TEST(test_sysinfo_of_this_machine),
    TEST_END,
};
