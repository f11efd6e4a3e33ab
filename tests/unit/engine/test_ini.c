/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/ini.h"

#include "unit/engine/config_text.h"

extern const struct test tests_ini[];

static void build(const char *text, enum config_mode mode, const struct ini_site *site,
    const char *ini_file, struct buf *out)
{
    struct config *cfg = config_text(text, mode);
    struct sysinfo_memory memory = {UINT64_C(4096) << 20, SYSINFO_SYSTEM};
    struct sysinfo_cpu cpu = {4, SYSINFO_SYSTEM};
    struct shape s;
    struct err err;

    buf_clear(out);
    CHECK_INT(shape_resolve(cfg, mode, &memory, &cpu, "8.2.29", &s, &err), 0);
    ini_build_text(cfg, &s, site, str_c(ini_file), out);
    config_unref(cfg);
}

static void test_ini_serve_text(void)
{
    struct buf b = {0};

    build("", CONFIG_SERVE, NULL, NULL, &b);
    CHECK_STR(buf_str(&b), "opcache.validate_timestamps=0\n"
                           "opcache.file_update_protection=0\n"
                           "opcache.memory_consumption=512\n"
                           "opcache.interned_strings_buffer=32\n"
                           "opcache.max_accelerated_files=20000\n"
                           "opcache.jit=tracing\n"
                           "opcache.jit_buffer_size=64M\n"
                           "memory_limit=220M\n"
                           "realpath_cache_size=16M\n"
                           "realpath_cache_ttl=600\n"
                           "zend.assertions=-1\n"
                           "display_errors=0\n"
                           "log_errors=1\n"
                           "max_execution_time=30\n");
    buf_fini(&b);
}

/* The last value of a name is the one that holds. */
static struct str value_of(const struct buf *b, const char *name)
{
    struct str v = STR_NONE;

    return ini_text_get(buf_str(b), str_c(name), &v) ? v : STR_NONE;
}

static void test_ini_sessions_are_in_the_store(void)
{
    static const struct config_php_site none = {.site = "a"};
    static const struct conf_pair file = {"session.save_handler", "files"};
    static const struct conf_pair path = {"session.save_path", "/tmp"};
    const struct config_php_site files = {.values = {(struct conf_pair *)&file, 1}};
    const struct config_php_site place = {.admin_values = {(struct conf_pair *)&path, 1}};
    const struct {
        const char *name, *text, *file;
        struct ini_site site;
        enum config_mode mode;
        const char *want; /* NULL: PHP's own */
    } cases[] = {
        {"serve", "", NULL, {.store = true}, CONFIG_SERVE, "ephpm"},
        {"a site without settings", "", NULL, {.own = &none, .store = true}, CONFIG_SERVE, "ephpm"},
        {"no store", "", NULL, {.store = false}, CONFIG_SERVE, NULL},
        {"dev", "", NULL, {.store = true}, CONFIG_DEV, NULL},
        {"another place for temporary files", "", "upload_tmp_dir=/x", {.store = true},
            CONFIG_SERVE, "ephpm"},
        {"the user's php.ini", "", "session.save_handler = files", {.store = true}, CONFIG_SERVE,
            NULL},
        {"a place in it", "", "session.save_path = \"/x\"", {.store = true}, CONFIG_SERVE, NULL},
        {"values", "[php]\nvalues=[['session.save_handler','redis']]", NULL, {.store = true},
            CONFIG_SERVE, "redis"},
        {"admin values", "[php]\nadmin_values=[['session.save_handler','files']]", NULL,
            {.store = true}, CONFIG_SERVE, "files"},
        {"overrides", "[php]\nini_overrides=[['session.save_handler','files']]", NULL,
            {.store = true}, CONFIG_SERVE, "files"},
        {"a place", "[php]\nvalues=[['session.save_path','/x']]", NULL, {.store = true},
            CONFIG_SERVE, NULL},
        {"of the site", "", NULL, {.own = &files, .store = true}, CONFIG_SERVE, "files"},
        {"a place of the site", "", NULL, {.own = &place, .store = true}, CONFIG_SERVE, NULL},
        {"our folder for files", "", NULL, {.state_dir = "/state", .store = true}, CONFIG_SERVE,
            "ephpm"},
        {"asked for in dev", "[php]\nvalues=[['session.save_handler','ephpm']]", NULL,
            {.store = true}, CONFIG_DEV, "ephpm"},
        {"the place and the store",
            "[php]\nvalues=[['session.save_path','/x'],"
            "['session.save_handler','ephpm']]",
            NULL, {.store = true}, CONFIG_SERVE, "ephpm"},
    };
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        test_row(cases[i].name);
        build(cases[i].text, cases[i].mode, &cases[i].site, cases[i].file, &b);
        if (cases[i].want)
            CHECK_STR(value_of(&b, "session.save_handler"), cases[i].want);
        else
            CHECK(value_of(&b, "session.save_handler").p == NULL);
    }
    test_row(NULL);
    buf_fini(&b);
}

static void test_ini_dev_text(void)
{
    struct buf b = {0};

    build("", CONFIG_DEV, NULL, NULL, &b);
    CHECK_STR(buf_str(&b), "opcache.validate_timestamps=1\n"
                           "opcache.revalidate_freq=0\n"
                           "opcache.jit=disable\n"
                           "opcache.jit_buffer_size=0M\n"
                           "memory_limit=128M\n"
                           "zend.assertions=1\n"
                           "display_errors=1\n"
                           "log_errors=1\n"
                           "max_execution_time=30\n");
    buf_fini(&b);
}

static void test_ini_precedence(void)
{
    static const struct {
        const char *name, *text, *file, *key, *want; /* want NULL: not in the text */
    } cases[] = {
        {"derived", "", NULL, "memory_limit", "220M"},
        {"the user's php.ini beats derived", "", "memory_limit = 300M", "memory_limit", NULL},
        {"a comment sets nothing", "", "; memory_limit = 300M", "memory_limit", "220M"},
        {"a PATH section sets nothing", "", "[PATH=/x]\nmemory_limit = 300M", "memory_limit",
            "220M"},
        {"an explicit key beats it", "[php]\nmemory_limit='400M'", "memory_limit = 300M",
            "memory_limit", "400M"},
        {"values beat keys", "[php]\nmemory_limit='400M'\nvalues=[['memory_limit','1M']]", NULL,
            "memory_limit", "1M"},
        {"admin values beat values",
            "[php]\nvalues=[['memory_limit','1M']]\nadmin_values=[['memory_limit','2M']]", NULL,
            "memory_limit", "2M"},
        {"overrides beat all",
            "[php]\nmemory_limit='400M'\nadmin_values=[['memory_limit','2M']]\n"
            "ini_overrides=[['memory_limit','500M']]",
            "memory_limit = 300M", "memory_limit", "500M"},
        {"display_errors of a php.ini", "", "[PHP]\r\ndisplay_errors = On\r\n", "display_errors",
            NULL},
        {"max_execution_time of a php.ini", "", "max_execution_time=99", "max_execution_time",
            NULL},
        {"max_execution_time by key", "[php]\nmax_execution_time=30", "max_execution_time=99",
            "max_execution_time", "30"},
        {"jit by key", "[php]\nopcache_jit='disable'", "opcache.jit=1255", "opcache.jit",
            "disable"},
        {"user_ini off", "[php]\nuser_ini=false", NULL, "user_ini.filename", ""},
    };
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        test_row(cases[i].name);
        build(cases[i].text, CONFIG_SERVE, NULL, cases[i].file, &b);
        if (cases[i].want)
            CHECK_STR(value_of(&b, cases[i].key), cases[i].want);
        else
            CHECK(value_of(&b, cases[i].key).p == NULL);
    }
    test_row(NULL);
    buf_fini(&b);
}

static void test_ini_quotes_values(void)
{
    static const struct {
        const char *value, *want;
    } cases[] = {
        {"", "x=\n"},
        {"128M", "x=128M\n"},
        {"-1", "x=-1\n"},
        {"/var/lib/php", "x=/var/lib/php\n"},
        {"Europe/Berlin", "x=Europe/Berlin\n"},
        {"E_ALL & ~E_DEPRECATED", "x=E_ALL & ~E_DEPRECATED\n"},
        {"A & B", "x='A & B'\n"},
        {"a;b", "x='a;b'\n"},
        {"a=b", "x='a=b'\n"},
        {"${HOME}", "x='${HOME}'\n"},
        {"say \"hi\"", "x='say \"hi\"'\n"},
        {"it's", "x='it'\"'\"'s'\n"},
        {"'", "x=\"'\"\n"},
        {"''", "x=\"'\"\"'\"\n"},
        {"a\nextension=evil", "x='a extension=evil'\n"},
        {"\xc3\xa9", "x='\xc3\xa9'\n"},
    };
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&b);
        ini_add(&b, "x", str_c(cases[i].value));
        test_row(cases[i].value);
        CHECK_STR(buf_str(&b), cases[i].want);
    }
    test_row(NULL);
    buf_fini(&b);
}

static void test_ini_text_get_reads_php_ini(void)
{
    static const struct {
        const char *text, *want; /* of "a.b" */
    } cases[] = {
        {"a.b=1", "1"},
        {"  a.b  =  1  ; c", "1"},
        {"a.b = \"x;y\" ; c", "x;y"},
        {"a.b = 'x'", "x"},
        {"a.b=", ""},
        {"a.b=1\na.b=2", "2"},
        {"[PHP]\na.b=1\r\n", "1"},
        {"[HOST=x]\na.b=1", NULL},
        {"[HOST=x]\na.b=1\n[PHP]\na.b=2", "2"},
        {"a.bc=1", NULL},
        {"xa.b=1", NULL},
        {"#a.b=1", NULL},
        {"a.b", NULL},
        {"", NULL},
        {"[a.b=1", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str v = STR_NONE;
        bool found = ini_text_get(str_c(cases[i].text), STR("a.b"), &v);

        test_row(cases[i].text);
        CHECK_INT(found, cases[i].want != NULL);
        if (found && cases[i].want)
            CHECK_STR(v, cases[i].want);
    }
    test_row(NULL);
}

#define MULTI "[server]\nsites_dir='/srv'\n"

static void test_ini_hardens_sites(void)
{
    static const struct ini_site site = {"/srv/a:/state/a", "/state/a"};
    struct buf b = {0};
    struct str list;

    build(MULTI "[php]\nini_overrides=[['disable_functions','phpinfo, exec']]\n"
                "admin_values=[['disable_functions','ini_set']]",
        CONFIG_SERVE, &site, "disable_functions = \"show_source\"", &b);
    list = value_of(&b, "disable_functions");
    CHECK(str_starts(list, STR("show_source,ini_set,phpinfo,exec,shell_exec,")));
    CHECK(str_find(list, STR("pcntl_fork")) > 0);
    CHECK(str_find(list, STR("opcache_reset")) > 0);
    /* Once each, in one line. */
    CHECK_INT(
        str_find(str_sub(list, (size_t)str_find(list, STR(",exec,")) + 1, list.len), STR(",exec,")),
        -1);
    CHECK_INT(str_find(str_sub(buf_str(&b),
                           (size_t)str_find(buf_str(&b), STR("disable_functions")) + 1, b.len),
                  STR("disable_functions")),
        -1);
    CHECK_STR(value_of(&b, "open_basedir"), "/srv/a:/state/a");
    CHECK_STR(value_of(&b, "upload_tmp_dir"), "/state/a/tmp");
    CHECK_STR(value_of(&b, "session.save_path"), "/state/a/sessions");
    CHECK_STR(value_of(&b, "mysqli.allow_persistent"), "0");
    CHECK(value_of(&b, "opcache.restrict_api").len > 0);
    buf_fini(&b);
}

static void test_ini_hardening_can_be_turned_off(void)
{
    static const struct ini_site site = {"/srv/a", NULL};
    struct buf b = {0};
    struct str list;

    build(MULTI "[server.security]\nopen_basedir=false\nmulti_tenant_hardening=false", CONFIG_SERVE,
        &site, NULL, &b);
    CHECK(value_of(&b, "open_basedir").p == NULL);
    CHECK(value_of(&b, "mysqli.allow_persistent").p == NULL);
    list = value_of(&b, "disable_functions");
    CHECK_STR(list, "exec,shell_exec,system,passthru,proc_open,popen,pcntl_exec");
    build(MULTI "[server.security]\nopen_basedir=false\nmulti_tenant_hardening=false\n"
                "disable_shell_exec=false",
        CONFIG_SERVE, &site, NULL, &b);
    CHECK(value_of(&b, "disable_functions").p == NULL);
    /* A single site keeps what the operator wrote, and gets nothing of ours. */
    build("[php]\nini_overrides=[['disable_functions','phpinfo']]", CONFIG_SERVE, &site, NULL, &b);
    CHECK_STR(value_of(&b, "disable_functions"), "phpinfo");
    CHECK(value_of(&b, "open_basedir").p == NULL);
    buf_fini(&b);
}

static void test_ini_build_reads_the_file(void)
{
    struct config *cfg = config_text("[php]\nini_file='test_ini.ini'", CONFIG_SERVE);
    struct sysinfo_memory memory = {0};
    struct sysinfo_cpu cpu = {1, SYSINFO_SYSTEM};
    struct buf b = {0};
    struct shape s;
    struct err err;

    CHECK_INT(shape_resolve(cfg, CONFIG_SERVE, &memory, &cpu, "8.2.29", &s, &err), 0);
    CHECK_INT(ini_build(cfg, &s, NULL, &b, &err), ERR_NOTFOUND);
    CHECK(strstr(err.text, "php.ini_file = \"test_ini.ini\": cannot be read") != NULL);
    CHECK_INT(b.len, 0);
    CHECK_INT(fs_write_file("test_ini.ini", "memory_limit=1G\n", 16, 0600), 0);
    CHECK_INT(ini_build(cfg, &s, NULL, &b, &err), 0);
    CHECK_INT(fs_unlink("test_ini.ini"), 0);
    CHECK(value_of(&b, "memory_limit").p == NULL);
    CHECK_STR(value_of(&b, "log_errors"), "1");
    buf_fini(&b);
    config_unref(cfg);
}

static void test_ini_dirs_win_over_derived(void)
{
    struct buf b = {0};
    struct str v;

    CHECK_INT(fs_mkdir("test_ini.d", 0700), 0);
    CHECK_INT(fs_write_file("test_ini.d/20-b.ini", "memory_limit=2G\n", 16, 0600), 0);
    CHECK_INT(fs_write_file("test_ini.d/10-a.ini", "memory_limit=1G\n[PATH=/x]\n", 27, 0600), 0);
    CHECK_INT(fs_write_file("test_ini.d/30-c.txt", "memory_limit=3G\n", 16, 0600), 0);
    ini_read_dirs(":test_ini.d:/nonexistent", &b);
    CHECK(ini_text_get(buf_str(&b), STR("memory_limit"), &v));
    CHECK_STR(v, "2G");
    CHECK_INT(fs_unlink("test_ini.d/20-b.ini"), 0);
    CHECK_INT(fs_unlink("test_ini.d/10-a.ini"), 0);
    CHECK_INT(fs_unlink("test_ini.d/30-c.txt"), 0);
    CHECK_INT(fs_rmdir("test_ini.d"), 0);
    buf_clear(&b);
    ini_read_dirs(NULL, &b);
    CHECK_INT(b.len, 0);
    buf_fini(&b);
}

static void test_ini_sets_jit_looks_at_pairs(void)
{
    static const struct {
        const char *text;
        bool want;
    } rows[] = {
        {"", false},
        {"[php]\nopcache_jit='tracing'\nopcache_jit_buffer_size=16", false},
        {"[php]\nini_overrides=[['opcache.jit','function']]", true},
        {"[php]\nvalues=[['opcache.jit_buffer_size','8M']]", true},
        {"[php]\nadmin_values=[['opcache.jit','off']]", true},
        {"[php]\nvalues=[['opcache.jit_debug','1']]", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct config *c = config_text(rows[i].text, CONFIG_SERVE);

        test_row(rows[i].text);
        CHECK_INT(ini_sets_jit(c, NULL), rows[i].want);
        config_unref(c);
    }
    test_row(NULL);
}

const struct test tests_ini[] = {
    TEST(test_ini_sets_jit_looks_at_pairs),
    TEST(test_ini_serve_text),
    TEST(test_ini_dev_text),
    TEST(test_ini_sessions_are_in_the_store),
    TEST(test_ini_precedence),
    TEST(test_ini_quotes_values),
    TEST(test_ini_text_get_reads_php_ini),
    TEST(test_ini_hardens_sites),
    TEST(test_ini_hardening_can_be_turned_off),
    TEST(test_ini_build_reads_the_file),
    TEST(test_ini_dirs_win_over_derived),
    TEST_END,
};
