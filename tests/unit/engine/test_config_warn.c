/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/engine/config_text.h"

extern const struct test tests_config_warn[];

static void test_config_warns_of_keys_without_effect(void)
{
    static const struct {
        const char *text;
        enum config_mode mode;
        const char *want; /* NULL: no warning */
    } cases[] = {
        {"[server.security]\nopen_basedir=true", CONFIG_SERVE,
            "server.security.open_basedir (test_config.toml:2:1) has no effect: acts in "
            "multi-site"},
        {"[server.security]\nopen_basedir=false", CONFIG_SERVE, NULL},
        {"[server]\nsites_dir='s'\n[server.security]\nopen_basedir=true", CONFIG_SERVE, NULL},
        {"[server.security]\ndisable_shell_exec=true", CONFIG_SERVE, "disable_shell_exec"},
        {"[server.security]\nmulti_tenant_hardening=true", CONFIG_SERVE, "multi_tenant_hardening"},
        {"[server]\nsites_domain_suffix='.x'", CONFIG_SERVE, "sites_domain_suffix"},
        {"[server]\nrun_as_group='www'", CONFIG_SERVE, "run_as_group"},
        {"[server]\nrun_as_user='www'\nrun_as_group='www'", CONFIG_SERVE, NULL},
        {"[server.response]\ncompression=false\ncompression_level=5", CONFIG_SERVE,
            "compression is off"},
        {"[server.file_cache]\nenabled=false\nmax_entries=5", CONFIG_SERVE,
            "file_cache.enabled is false"},
        {"[server.file_cache]\nmax_entries=5", CONFIG_SERVE, NULL},
        {"[server.metrics]\nlisten='127.0.0.1:9100'", CONFIG_SERVE, "metrics.enabled is false"},
        {"[server.metrics]\nenabled=true\npath='/m'", CONFIG_SERVE, NULL},
        {"[server.security]\nproxy_protocol='on'", CONFIG_SERVE, "trusted_proxies is empty"},
        {"[server.security]\nproxy_protocol='off'", CONFIG_SERVE, NULL},
        {"[server.logging]\naccess_format='json'", CONFIG_SERVE, "logging.access is empty"},
        {"[server.limits]\nper_ip_burst=5", CONFIG_SERVE, "per_ip_rate is 0"},
        {"[server.limits]\nper_site_burst=5\nper_site_rate=1", CONFIG_SERVE, NULL},
        {"[php]\nshed_after_ms=5\noverload_policy='wait'", CONFIG_SERVE, "shed_after_ms"},
        {"[php]\nopcache_revalidate_freq=5", CONFIG_SERVE, "validate_timestamps is off"},
        {"[php]\nopcache_revalidate_freq=5", CONFIG_DEV, NULL},
        {"[php]\nopcache_jit_buffer_size=64", CONFIG_DEV, "the JIT is off"},
        {"[php]\nopcache_jit_buffer_size=64", CONFIG_SERVE, NULL},
        {"[php]\nopcache_jit='auto'", CONFIG_SERVE, NULL},
        {"[php]\nopcache_jit='auto'", CONFIG_DEV, "dev has no JIT"},
        {"[server]\nsites_dir='/tmp'\n[php]\nopcache_jit='auto'", CONFIG_SERVE,
            "is the same as \"disable\": with server.sites_dir nothing is measured"},
        {"[php]\nopcache_jit='auto'\nopcache_jit_auto_secs=60", CONFIG_SERVE, NULL},
        {"[php]\nopcache_jit_auto_secs=60", CONFIG_SERVE, "opcache_jit_auto_secs"},
        {"[php]\nopcache_jit_auto_file='/x'", CONFIG_SERVE, "php.opcache_jit does not measure"},
        {"[kv]\nenabled=false\nmemory_limit='8MB'", CONFIG_SERVE, "kv.enabled is false"},
        {"[kv]\nmemory_limit='8MB'\neviction_policy='noeviction'", CONFIG_SERVE, NULL},
        {"[kv]\ncompression_level=3", CONFIG_SERVE, "kv.compression is \"none\""},
        {"[server]\ncontrol_socket=''", CONFIG_SERVE, "only SIGHUP or a restart changes code"},
        {"[server]\ncontrol_socket=''", CONFIG_DEV, NULL},
        {"[server]\ncontrol_socket=''\n[kv.redis_compat]\nenabled=true", CONFIG_SERVE, NULL},
        {"[db.sqlite]\npath='a.db'\nsynchronous='normal'", CONFIG_SERVE, NULL},
        {"[db.sqlite]\nsynchronous='normal'", CONFIG_SERVE, "there is no database"},
        {"[db.sqlite]\ndir='d'", CONFIG_SERVE,
            "db.sqlite.dir (test_config.toml:2:1) has no effect"},
        {"[db.sqlite.proxy]\nmysql_listen='127.0.0.1:3306'", CONFIG_SERVE, "there is no database"},
        {"[server]\nsites_dir='s'\n[db.sqlite]\ndir='d'\nuser='me'", CONFIG_SERVE,
            "each site's user has the site's name"},
        {"[db.analysis]\nauto_explain=true", CONFIG_SERVE, "use EXPLAIN"},
        {"[db.analysis]\nauto_explain=false", CONFIG_SERVE, NULL},
        {"[kv]\npersist_interval=10", CONFIG_SERVE, "kv.persist is not set"},
        {"[kv]\nsecret='x'", CONFIG_SERVE, "kv.redis_compat.enabled is false"},
        {"[kv.redis_compat]\nlisten=''", CONFIG_SERVE, "kv.redis_compat.enabled is false"},
        {"[kv.redis_compat]\nenabled=false", CONFIG_SERVE, NULL},
        {"[kv.redis_compat]\nenabled=true\npassword='x'", CONFIG_SERVE, NULL},
        {"[server]\nsites_dir='/s'\n[kv]\nsecret='x'\n[kv.redis_compat]\nenabled=true\n"
         "password='x'",
            CONFIG_SERVE, "sites have passwords of their own"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config *c = config_text(cases[i].text, cases[i].mode);

        test_row(cases[i].text);
        CHECK_INT(c->warnings.n, cases[i].want ? 1 : 0);
        if (c->warnings.n && cases[i].want && !strstr(c->warnings.v[0], cases[i].want))
            test_fail(__FILE__, __LINE__, "the warning is: %s", c->warnings.v[0]);
        config_unref(c);
    }
    test_row(NULL);
}

static void test_config_notes_compatibility_keys(void)
{
    struct config *c =
        config_text("[php]\nfpm_engine='spawn_blocking'\ncrash_containment=true", CONFIG_SERVE);

    CHECK_INT(c->notices.n, 2);
    CHECK_INT(c->warnings.n, 0);
    CHECK(c->notices.n == 2 && strstr(c->notices.v[0], "every worker is a process") != NULL);
    config_unref(c);
}

const struct test tests_config_warn[] = {
    TEST(test_config_warns_of_keys_without_effect),
    TEST(test_config_notes_compatibility_keys),
    TEST_END,
};
