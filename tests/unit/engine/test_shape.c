/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/shape.h"

#include "unit/engine/config_text.h"

extern const struct test tests_shape[];

struct machine {
    uint64_t mib;
    double cores;
    enum sysinfo_source mem, cpu;
};

static const struct machine small = {320, 0.25, SYSINFO_CGROUP2, SYSINFO_CGROUP2};
static const struct machine four = {4096, 4, SYSINFO_SYSTEM, SYSINFO_SYSTEM};

static struct shape resolve(
    const char *text, enum config_mode mode, const struct machine *m, const char *php)
{
    struct config *cfg = config_text(text, mode);
    struct sysinfo_memory memory = {m->mib << 20, m->mem};
    struct sysinfo_cpu cpu = {m->cores, m->cpu};
    struct shape s = {0};
    struct err err;

    if (shape_resolve(cfg, mode, &memory, &cpu, php, &s, &err) != 0)
        test_fail(__FILE__, __LINE__, "%s", err.text);
    config_unref(cfg);
    return s;
}

static void test_shape_derives_from_the_machine(void)
{
    static const struct {
        const char *name;
        struct machine m;
        int64_t workers, opcache, interned, buffer;
        const char *limit;
    } cases[] = {
        {"320 MiB, a quarter", {320, 0.25, SYSINFO_CGROUP2, SYSINFO_CGROUP2}, 4, 64, 8, 32, "128M"},
        {"4 GiB, 4", {4096, 4, SYSINFO_SYSTEM, SYSINFO_SYSTEM}, 16, 512, 32, 64, "220M"},
        {"1 GiB, 1", {1024, 1, SYSINFO_SYSTEM, SYSINFO_SYSTEM}, 4, 184, 11, 32, "194M"},
        {"2 GiB, 1.5", {2048, 1.5, SYSINFO_CGROUP1, SYSINFO_CGROUP1}, 8, 368, 23, 32, "202M"},
        {"64 GiB, 32", {65536, 32, SYSINFO_SYSTEM, SYSINFO_SYSTEM}, 64, 512, 32, 64, "1015M"},
        {"512 MiB, 8: memory bounds", {512, 8, SYSINFO_SYSTEM, SYSINFO_SYSTEM}, 8, 92, 8, 32,
            "128M"},
        {"64 MiB", {64, 1, SYSINFO_CGROUP2, SYSINFO_SYSTEM}, 2, 64, 8, 32, "128M"},
        {"unknown memory", {0, 2, SYSINFO_UNKNOWN, SYSINFO_SYSTEM}, 8, 128, 8, 64, "128M"},
        {"unknown cores", {4096, 0, SYSINFO_SYSTEM, SYSINFO_UNKNOWN}, 4, 512, 32, 64, "880M"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct shape s = resolve("", CONFIG_SERVE, &cases[i].m, "8.2.29");

        test_row(cases[i].name);
        CHECK_INT(s.workers, cases[i].workers);
        CHECK_INT(s.opcache_mb, cases[i].opcache);
        CHECK_INT(s.interned_mb, cases[i].interned);
        CHECK_INT(s.jit_buffer_mb, cases[i].buffer);
        CHECK_STR(str_c(s.memory_limit), cases[i].limit);
        CHECK_INT(s.workers_min, 1);
    }
    test_row(NULL);
}

static void test_shape_modes_differ(void)
{
    struct shape s = resolve("", CONFIG_SERVE, &four, "8.2.29");

    CHECK(!s.validate_timestamps);
    CHECK_INT(s.revalidate_freq, -1);
    CHECK_INT(s.max_files, 20000);
    CHECK_STR(str_c(s.realpath_size), "16M");
    CHECK_INT(s.realpath_ttl, 600);
    CHECK_INT(s.assertions, -1);
    CHECK(!s.display_errors);
    CHECK_INT(s.queue_size, 1024);
    CHECK_INT(s.shed_after, 10000);
    CHECK_INT(s.max_worker_memory, 2 * INT64_C(220) << 20);
    s = resolve("", CONFIG_DEV, &four, "8.2.29");
    CHECK(s.validate_timestamps);
    CHECK_INT(s.revalidate_freq, 0);
    CHECK_INT(s.opcache_mb, -1);
    CHECK_INT(s.interned_mb, -1);
    CHECK_INT(s.max_files, -1);
    CHECK_STR(str_c(s.realpath_size), "");
    CHECK_INT(s.realpath_ttl, -1);
    CHECK_INT(s.assertions, 1);
    CHECK(s.display_errors);
    CHECK_INT(s.jit, CONFIG_JIT_DISABLE);
    CHECK_INT(s.jit_buffer_mb, 0);
    CHECK_STR(str_c(s.memory_limit), "128M");
    s = resolve("", CONFIG_SERVE, &small, "8.2.29");
    CHECK_INT(s.queue_size, 256);
}

static void test_shape_jit_policy(void)
{
    static const struct {
        const char *text;
        enum config_mode mode;
        const char *php;
        enum config_jit want;
        bool warned;
    } cases[] = {
        {"", CONFIG_SERVE, "8.2.29", CONFIG_JIT_TRACING, false},
        {"", CONFIG_SERVE, "8.2.29-1~deb12u1", CONFIG_JIT_TRACING, false},
        {"", CONFIG_SERVE, "8.3.31", CONFIG_JIT_TRACING, false},
        {"", CONFIG_SERVE, "8.4.23", CONFIG_JIT_TRACING, false},
        {"", CONFIG_SERVE, "8.4.24", CONFIG_JIT_FUNCTION, false},
        {"", CONFIG_SERVE, "8.4.30", CONFIG_JIT_FUNCTION, false},
        {"", CONFIG_SERVE, "8.5.4", CONFIG_JIT_TRACING, false},
        {"", CONFIG_SERVE, "8.5.5", CONFIG_JIT_FUNCTION, false},
        {"", CONFIG_SERVE, "8.5.10", CONFIG_JIT_FUNCTION, false},
        {"", CONFIG_SERVE, "8.5.11", CONFIG_JIT_TRACING, false},
        {"", CONFIG_SERVE, "8.6.0", CONFIG_JIT_TRACING, false},
        {"", CONFIG_DEV, "8.2.29", CONFIG_JIT_DISABLE, false},
        {"[php]\nopcache_jit='auto'", CONFIG_SERVE, "8.5.5", CONFIG_JIT_FUNCTION, false},
        {"[php]\nopcache_jit='auto'", CONFIG_SERVE, "8.2.29", CONFIG_JIT_TRACING, false},
        {"[php]\nopcache_jit='auto'", CONFIG_DEV, "8.2.29", CONFIG_JIT_DISABLE, false},
        {"[server]\nsites_dir='/tmp'\n[php]\nopcache_jit='auto'", CONFIG_SERVE, "8.2.29",
            CONFIG_JIT_DISABLE, false},
        {"[php]\nopcache_jit='tracing'", CONFIG_DEV, "8.2.29", CONFIG_JIT_TRACING, false},
        {"[php]\nopcache_jit='tracing'", CONFIG_SERVE, "8.5.5", CONFIG_JIT_TRACING, true},
        {"[php]\nopcache_jit='function'", CONFIG_SERVE, "8.2.29", CONFIG_JIT_FUNCTION, false},
        {"[php]\nopcache_jit='disable'", CONFIG_SERVE, "8.2.29", CONFIG_JIT_DISABLE, false},
        {"[server]\nsites_dir='s'", CONFIG_SERVE, "8.2.29", CONFIG_JIT_TRACING, false},
        {"[php]\nopcache_jit_buffer_size=0", CONFIG_SERVE, "8.2.29", CONFIG_JIT_TRACING, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct shape s = resolve(cases[i].text, cases[i].mode, &four, cases[i].php);

        test_row(cases[i].php);
        CHECK_INT(s.jit, cases[i].want);
        CHECK_INT(s.warnings[0] != NULL, cases[i].warned);
        CHECK(s.jit_reason != NULL);
        if (s.jit != CONFIG_JIT_DISABLE && !s.pinned.jit_buffer_mb)
            CHECK(s.jit_buffer_mb >= 32);
    }
    test_row(NULL);
}

static void test_shape_without_a_jit_in_the_interpreter(void)
{
    static const struct {
        const char *text;
        bool warned;
    } cases[] = {
        {"", false},
        {"[php]\nopcache_jit='disable'", false},
        {"[php]\nopcache_jit='tracing'", true},
        {"[php]\nopcache_jit='function'", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config *cfg = config_text(cases[i].text, CONFIG_SERVE);
        struct shape s = resolve(cases[i].text, CONFIG_SERVE, &four, "8.2.29");
        struct buf line = {0};

        test_row(cases[i].text);
        shape_without_jit(&s);
        CHECK_INT(s.warnings[0] != NULL, cases[i].warned);
        /* PHP would only complain about these. */
        shape_adopt_ini(
            &s, cfg, STR("opcache.jit=tracing\nopcache.jit_buffer_size=64M\n"), STR_NONE);
        CHECK_INT(s.jit, CONFIG_JIT_DISABLE);
        CHECK_INT(s.jit_buffer_mb, 0);
        shape_line_jit(&s, &line);
        CHECK(str_find(buf_str(&line), STR("TAILCALL")) >= 0);
        buf_fini(&line);
        config_unref(cfg);
    }
    test_row(NULL);
}

static void test_shape_refuses_odd_versions(void)
{
    static const char *const texts[] = {"", "8", "8.2", "8.2.", "x.y.z", "8.x.1", "-8.2.1"};
    struct config *cfg = config_text("", CONFIG_SERVE);
    struct sysinfo_memory memory = {0};
    struct sysinfo_cpu cpu = {0};
    struct shape s;
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        test_row(texts[i]);
        CHECK_INT(shape_resolve(cfg, CONFIG_SERVE, &memory, &cpu, texts[i], &s, &err), ERR_INVAL);
    }
    test_row(NULL);
    config_unref(cfg);
}

static const char pins[] =
    "[php]\nworkers=3\nworkers_min=2\nqueue_size=9\nshed_after_ms=50\nmemory_limit=-1\n"
    "opcache_memory_consumption=256\nopcache_interned_strings_buffer=12\n"
    "opcache_jit_buffer_size=40\nopcache_jit='function'\nopcache_max_accelerated_files=5000\n"
    "realpath_cache_size='1M'\nrealpath_cache_ttl=5\nzend_assertions=0\n"
    "opcache_validate_timestamps=true\nopcache_revalidate_freq=3\n";

static void test_shape_pins_win(void)
{
    for (int mode = CONFIG_SERVE; mode <= CONFIG_DEV; mode++) {
        struct shape s = resolve(pins, (enum config_mode)mode, &four, "8.2.29");

        CHECK_INT(s.workers, 3);
        CHECK_INT(s.workers_min, 2);
        CHECK_INT(s.queue_size, 9);
        CHECK_INT(s.shed_after, 50);
        CHECK_STR(str_c(s.memory_limit), "-1");
        CHECK_INT(s.max_worker_memory, 0);
        CHECK_INT(s.opcache_mb, 256);
        CHECK_INT(s.interned_mb, 12);
        CHECK_INT(s.jit_buffer_mb, 40);
        CHECK_INT(s.jit, CONFIG_JIT_FUNCTION);
        CHECK_INT(s.max_files, 5000);
        CHECK_STR(str_c(s.realpath_size), "1M");
        CHECK_INT(s.realpath_ttl, 5);
        CHECK_INT(s.assertions, 0);
        CHECK(s.validate_timestamps);
        CHECK_INT(s.revalidate_freq, 3);
    }
}

static void check_lines(const struct shape *s, const char *autotune, const char *jit)
{
    struct buf b = {0};

    shape_line_autotune(s, &b);
    CHECK_STR(buf_str(&b), autotune);
    buf_clear(&b);
    shape_line_jit(s, &b);
    CHECK_STR(buf_str(&b), jit);
    buf_fini(&b);
}

static void test_shape_lines_say_what_was_derived(void)
{
    struct shape s = resolve("", CONFIG_SERVE, &small, "8.2.29");

    check_lines(&s,
        "autotune (serve): cpu_quota=0.25 mem=320MiB (cgroup v2) -> workers=4[cgroup_quota] "
        "opcache.memory_consumption=64MB memory_limit=128M interned=8MB jit_buffer=32MB "
        "(jit=tracing) max_files=20000 realpath=16M/ttl=600 validate_timestamps=0 assertions=-1",
        "jit (serve): ON tracing buffer 32MB (serve mode)");
    s = resolve(pins, CONFIG_SERVE, &four, "8.2.29");
    check_lines(&s,
        "autotune (serve): cpu_quota=4.00 mem=4096MiB (system-total) -> workers=3*[explicit] "
        "opcache.memory_consumption=256MB* memory_limit=-1* interned=12MB* jit_buffer=40MB* "
        "(jit=function*) max_files=5000* realpath=1M*/ttl=5* validate_timestamps=1* assertions=0*",
        "jit (serve): ON function buffer 40MB (explicit)");
    s = resolve("", CONFIG_DEV, &four, "8.2.29");
    check_lines(&s,
        "autotune (dev): cpu_quota=4.00 mem=4096MiB (system-total) -> "
        "workers=16[host_parallelism] opcache.memory_consumption=default memory_limit=128M "
        "interned=default jit_buffer=0MB (jit=disable) max_files=default "
        "realpath=default/ttl=default validate_timestamps=1 assertions=1",
        "jit (dev): OFF (dev mode)");
    s = resolve("[php]\nopcache_jit_buffer_size=0", CONFIG_SERVE, &four, "8.2.29");
    {
        struct buf b = {0};

        shape_line_jit(&s, &b);
        CHECK_STR(buf_str(&b), "jit (serve): OFF (php.opcache_jit_buffer_size is 0)");
        buf_fini(&b);
    }
}

static void test_shape_adopts_ini_settings(void)
{
    const struct str file = STR("memory_limit = 256M\nopcache.memory_consumption=192\n"
                                "opcache.jit_buffer_size=0\nzend.assertions = -1\n"
                                "realpath_cache_size=4096K\n");
    struct shape s = resolve("", CONFIG_SERVE, &four, "8.2.29");
    struct config *cfg = config_text("", CONFIG_SERVE);

    shape_adopt_ini(&s, cfg, file, STR("opcache.jit=1205\nopcache.validate_timestamps=On\n"));
    CHECK_INT(s.max_worker_memory, 512 << 20);
    CHECK_INT(s.jit, CONFIG_JIT_FUNCTION);
    check_lines(&s,
        "autotune (serve): cpu_quota=4.00 mem=4096MiB (system-total) -> "
        "workers=16[host_parallelism] "
        "opcache.memory_consumption=192MB* memory_limit=256M* interned=32MB jit_buffer=0MB* "
        "(jit=function*) max_files=20000 realpath=4096K*/ttl=600 validate_timestamps=1* "
        "assertions=-1",
        "jit (serve): OFF (opcache.jit_buffer_size of the ini settings)");
    /* What is there already does not count as pinned. */
    s = resolve("", CONFIG_SERVE, &four, "8.2.29");
    shape_adopt_ini(&s, cfg, STR(""), STR("opcache.jit=tracing\nopcache.jit_buffer_size=64M\n"));
    check_lines(&s,
        "autotune (serve): cpu_quota=4.00 mem=4096MiB (system-total) -> "
        "workers=16[host_parallelism] "
        "opcache.memory_consumption=512MB memory_limit=220M interned=32MB jit_buffer=64MB "
        "(jit=tracing) max_files=20000 realpath=16M/ttl=600 validate_timestamps=0 assertions=-1",
        "jit (serve): ON tracing buffer 64MB (serve mode)");
    config_unref(cfg);
}

static void test_shape_php_bytes(void)
{
    CHECK_INT(shape_php_bytes("128M"), 128 << 20);
    CHECK_INT(shape_php_bytes("1g"), 1 << 30);
    CHECK_INT(shape_php_bytes("1000"), 1000);
    CHECK(shape_php_bytes("-1") == UINT64_MAX);
}

const struct test tests_shape[] = {
    TEST(test_shape_derives_from_the_machine),
    TEST(test_shape_modes_differ),
    TEST(test_shape_jit_policy),
    TEST(test_shape_without_a_jit_in_the_interpreter),
    TEST(test_shape_refuses_odd_versions),
    TEST(test_shape_pins_win),
    TEST(test_shape_lines_say_what_was_derived),
    TEST(test_shape_adopts_ini_settings),
    TEST(test_shape_php_bytes),
    TEST_END,
};
