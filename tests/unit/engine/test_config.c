/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/config.h"

#include <stdlib.h>

#include "core/log.h"
#include "engine/config_table.h"
#include "unit/engine/config_text.h"

extern const struct test tests_config[];

static void test_config_has_the_documented_defaults(void)
{
    struct config *c = config_text("", CONFIG_SERVE);

    CHECK_STR(str_c(c->server.listen), "0.0.0.0:8080");
    CHECK_STR(str_c(c->server.document_root), ".");
    CHECK(c->server.sites_dir == NULL);
    CHECK_INT(c->server.index_files.n, 2);
    CHECK_STR(str_c(c->server.index_files.v[0]), "index.php");
    CHECK_INT(c->server.fallback.n, 3);
    CHECK_STR(str_c(c->server.fallback.v[2]), "/index.php?$query_string");
    CHECK_INT(c->server.backlog, 1024);
    CHECK_INT(c->server.request.max_body_size, 10485760);
    CHECK_INT(c->server.request.max_header_size, 32768);
    CHECK_INT(c->server.request.max_headers, 100);
    CHECK_INT(c->server.request.max_uri, 8192);
    CHECK_INT(c->server.request.memory_buffer, 65536);
    CHECK_INT(c->server.request.trusted_hosts.n, 0);
    CHECK(!c->server.request.underscores_in_headers);
    CHECK_INT(c->server.timeouts.header_read, 30000);
    CHECK_INT(c->server.timeouts.idle, 60000);
    CHECK_INT(c->server.timeouts.body, 30000);
    CHECK_INT(c->server.timeouts.send, 60000);
    CHECK_INT(c->server.timeouts.request, 300000);
    CHECK_INT(c->server.timeouts.shutdown, 30000);
    CHECK(c->server.response.compression);
    CHECK_INT(c->server.response.compression_level, 1);
    CHECK_INT(c->server.response.compression_min_size, 1024);
    CHECK_INT(c->server.response.compression_streaming, CONFIG_STREAM_OFF);
    CHECK_INT(c->server.response.buffer_memory, 1048576);
    CHECK_STR(str_c(c->server.response.server_header), "ephpm");
    CHECK_STR(str_c(c->server.static_.cache_control), "");
    CHECK_INT(c->server.static_.hidden_files, CONFIG_HIDDEN_DENY);
    CHECK(c->server.static_.etag);
    CHECK_STR(str_c(c->server.logging.access), "");
    CHECK_INT(c->server.logging.level, LOG_INFO);
    CHECK_INT(c->server.logging.format, LOG_TEXT);
    CHECK_INT(c->server.limits.max_connections, 0);
    CHECK_INT(c->server.limits.per_ip_burst, 50);
    CHECK_INT(c->server.limits.per_site_burst, 20);
    CHECK(c->server.file_cache.enabled);
    CHECK_INT(c->server.file_cache.max_entries, 10000);
    CHECK_INT(c->server.file_cache.valid_secs, 30);
    CHECK_INT(c->server.file_cache.inactive_secs, 60);
    CHECK_INT(c->server.file_cache.inline_threshold, 1048576);
    CHECK(c->server.file_cache.precompress);
    CHECK_INT(c->php.workers, 0);
    CHECK_INT(c->php.workers_min, 1);
    CHECK_INT(c->php.max_requests, 10000);
    CHECK_INT(c->php.max_execution_time, 30);
    CHECK_INT(c->php.overload_policy, CONFIG_OVERLOAD_SHED);
    CHECK_INT(c->php.shed_after, 0);
    CHECK(c->php.memory_limit == NULL);
    CHECK_INT(c->php.opcache_jit, CONFIG_JIT_UNSET);
    CHECK_STR(str_c(c->php.sapi_name), "fpm-fcgi");
    CHECK(c->php.user_ini);
    CHECK_INT(c->php.crash_loop_count, 5);
    CHECK_INT(c->php.crash_loop_seconds, 10);
    CHECK_INT(c->deploy.warmup_urls.n, 1);
    CHECK(c->deploy.warmup_scripts);
    CHECK_INT(c->deploy.timeout, 60000);
    CHECK_INT(c->deploy.drain, 30000);
    CHECK_INT(c->warnings.n, 0);
    CHECK_INT(c->notices.n, 0);
    config_unref(c);
}

static void test_config_precedence(void)
{
    static const char *const env[] = {"EPHPM_SERVER__LISTEN=127.0.0.1:2", "EPHPM_PHP__WORKERS=7",
        "EPHPM_KV_PASSWORD=x", "EPHPM_FATAL_HANDLER=0", "EPHPM_PHP__OPCACHE_JIT=disable", NULL};
    static const struct config_override over[] = {{"server.listen", "127.0.0.1:3", "--listen"}};
    static const char text[] = "[server]\nlisten='127.0.0.1:1'\nbacklog=5\n[php]\nworkers=3\n";
    struct config_source src = {.path = CONFIG_TEXT_FILE,
        .path_explicit = true,
        .env = env,
        .overrides = over,
        .noverrides = 1};
    struct config *c = NULL;
    struct err err;

    CHECK_INT(fs_write_file(CONFIG_TEXT_FILE, text, strlen(text), 0600), 0);
    if (config_load(&src, &c, &err) != 0)
        test_fail(__FILE__, __LINE__, "%s", err.text);
    CHECK_INT(fs_unlink(CONFIG_TEXT_FILE), 0);
    if (!c)
        return;
    CHECK_STR(str_c(c->server.listen), "127.0.0.1:3");
    CHECK_INT(c->php.workers, 7);
    CHECK_INT(c->server.backlog, 5);
    CHECK_INT(c->php.opcache_jit, CONFIG_JIT_DISABLE);
    CHECK(config_is_set(c, "server.backlog"));
    CHECK(!config_is_set(c, "server.pid_file"));
    config_unref(config_ref(c));
    config_unref(c);
}

static void test_config_missing_file(void)
{
    struct config_source src = {.path = "no_such_file.toml"};
    struct config *c = NULL;
    struct err err;

    CHECK_INT(config_load(&src, &c, &err), 0);
    config_unref(c);
    c = NULL;
    src.path_explicit = true;
    CHECK_INT(config_load(&src, &c, &err), ERR_NOTFOUND);
    CHECK(c == NULL);
    CHECK(strstr(err.text, "no_such_file.toml: cannot be read") != NULL);
    src.path = ".";
    src.path_explicit = false;
    CHECK_INT(config_load(&src, &c, &err), ERR_ISDIR);
    config_unref(NULL);
}

static void test_config_bad_values_are_refused(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"[server]\nlisten='nowhere'", ":2:1: server.listen = \"nowhere\": must be an address"},
        {"[server]\nlisten='127.0.0.1'", "must be an address and a port"},
        {"[server]\nlisten='127.0.0.1:99999'", "must be an address and a port"},
        {"[server]\ndocument_root=''", "must not be empty"},
        {"[server]\nlisten_=1", "did you mean server.listen?"},
        {"[server]\nmax_body_size=1", "did you mean server.request.max_body_size?"},
        {"[server]\nindex_files=['a/b']", "must be a file name"},
        {"[server]\nfallback=['=404','$uri']", "stands last"},
        {"[server]\nfallback=['=4x4']", "a status is written"},
        {"[server]\nfallback=['index.php']", "must start with"},
        {"[server]\nfallback=[]", "must not be empty"},
        {"[server]\nbacklog=0", "must be at least 1"},
        {"[server.request]\nmax_header_size=10", "must be at least 1024 bytes"},
        {"[server.request]\nmax_uri=40000", "is more than server.request.max_header_size"},
        {"[server.request]\nmax_body_size=-1", "must not be negative"},
        {"[server.timeouts]\nrequest='2d'", "must be at most"},
        {"[server.timeouts]\nidle=1\nkeep_alive=2", "is set twice"},
        {"[server.response]\ncompression_level=10", "must be at most 9"},
        {"[server.response]\ncompression_streaming='on'", "\"off\", \"sse\", \"all\""},
        {"[server.response]\nheaders=[['X Y','v']]", "is no header name"},
        {"[server.response]\nheaders=[['X-Y',\"a\\nb\"]]", "holds control characters"},
        {"[server.response]\nerror_pages=[['200','/x']]", "no status from 400 to 599"},
        {"[server.response]\nerror_pages=[['404','']]", "is empty"},
        {"[server.response]\nserver_header=\"a\\r\\nb\"", "control characters"},
        {"[server.static]\nhidden_files='hide'", "\"deny\", \"ignore\", \"allow\""},
        {"[server.security]\ntrusted_proxies=['10.0.0.0/33']", "is no address or network"},
        {"[server.security]\ntrusted_proxies=['proxy']", "is no address or network"},
        {"[server.security]\nblocked_paths=['']", "item 1 is empty"},
        {"[server.logging]\nlevel='verbose'", "\"trace\""},
        {"[server.limits]\nper_ip_rate=-1", "must be from 0"},
        {"[server.limits]\nmax_connections=-1", "must not be negative"},
        {"[php]\nopcache_jit='1255'", "\"tracing\", \"function\", \"disable\", \"auto\""},
        {"[php]\nopcache_jit=''", "must be one of"},
        {"[php]\nmemory_limit='lots'", "must be a size as PHP writes it"},
        {"[php]\nmemory_limit='1G'\nphp_memory_limit='2G'", "is set twice"},
        {"[php]\nworkers=2\nworkers_min=3",
            ":3:1: php.workers_min = 3 is more than php.workers = 2"},
        {"[php]\nini_overrides=[['a b','c']]", "is no name of a PHP setting"},
        {"[php]\nini_overrides=[['a',\"b\\nc\"]]", "holds control characters"},
        {"[php]\nenv=[['A=B','c']]", "env = ***: \"A=B\""},
        {"[php]\nfpm_engine='threads'", "\"spawn_blocking\", \"pool\""},
        {"[php]\nmode='zts'", "\"fpm\", \"worker\""},
        {"[deploy]\nwarmup_urls=['http://x/']", "must be a path that starts with"},
        {"[deploy]\ntimeout=0", "must be at least 1 ms"},
        {"[kv]\nmemory_limit='1MB'", "must be at least 2097152"},
        {"[kv]\nmemory_limit='33GB'", "must be at most 34359738368"},
        {"[kv]\neviction_policy='lru'", "\"noeviction\", \"allkeys-lru\""},
        {"[kv]\ncompression_level=-1", "must not be negative"},
        {"[kv]\ncompression='gzip'\ncompression_level=10",
            "must be between 1 and 9 with kv.compression = \"gzip\""},
        {"[kv]\ncompression='brotli'\ncompression_level=12", "must be between 0 and 11"},
        {"[kv]\ncompression='zstd'\ncompression_level=0", "must be between 1 and 19"},
        {"[kv.redis_compat]\nlisten='localhost'", "must be an address and a port"},
        {"[kv.redis_compat]\npassword=''", "must not be empty"},
        {"[kv.redis_compat]\nenabled=true\nlisten=''", "nowhere to listen"},
        {"[server]\nsites_dir='s'\n[kv.redis_compat]\nenabled=true", "needs kv.secret"},
        {"[server]\nsites_dir='s'\n[db.sqlite]\npath='a.db'", "set db.sqlite.dir"},
        {"[db.sqlite.proxy]\ntls_cert='c.pem'", "tls_key belong together"},
        {"[db.sqlite.proxy]\nmysql_listen='nowhere'", "must be an address and a port"},
        {"[db.sqlite]\nsynchronous='maybe'", "full"},
        {"[kv.redis_compat]\nmax_connections=0", "must be at least 1"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config *c = NULL;
        struct err err = {0};

        test_row(cases[i].text);
        CHECK(config_text_try(cases[i].text, CONFIG_SERVE, &c, &err) < 0);
        CHECK(c == NULL);
        if (!strstr(err.text, cases[i].want))
            test_fail(__FILE__, __LINE__, "the message is: %s", err.text);
        if (!strstr(err.text, CONFIG_TEXT_FILE ":"))
            test_fail(__FILE__, __LINE__, "no place in: %s", err.text);
        config_unref(c);
    }
    test_row(NULL);
}

static void test_config_later_features_are_refused(void)
{
    static const char *const texts[] = {"[db.mysql]\nurl='x'", "[db.postgres]\nurl='x'",
        "[db.sqlite.proxy]\nhrana_listen='127.0.0.1:1'", "[db.sqlite.replication]\nrole='primary'",
        "[db.read_write_split]\nenabled=true", "[cluster]\nenabled=true",
        "[cluster.kv]\ndata_port=1", "[[middleware]]\nlibrary='jwt'",
        "[opcache]\ncluster_invalidation=true", "[server.tls]\ncert='x'",
        "[server.http3]\nenabled=true", "[server.websocket]\nenabled=true",
        "[server]\nwebsocket_files=['w.php']", "[server.php_etag_cache]\nenabled=true",
        "[server.diagnostics]\notlp_endpoint='x'", "[server]\npreview=true", "[php]\nmode='worker'",
        "[php]\nworker_script='w.php'", "[php]\nworker_count=1", "[php]\nworker_max_requests=1",
        "[php]\nworker_backlog=1", "[php]\nworker_boot_timeout=1",
        "[php]\nworker_populate_superglobals=true", "[php]\nworker_stream_threshold=1"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct config *c = NULL;
        struct err err = {0};

        test_row(texts[i]);
        CHECK_INT(config_text_try(texts[i], CONFIG_SERVE, &c, &err), ERR_UNSUPPORTED);
        if (!strstr(err.text, "not available in this version"))
            test_fail(__FILE__, __LINE__, "the message is: %s", err.text);
        config_unref(c);
    }
    test_row(NULL);
}

static void test_config_auto_keys_resolve(void)
{
    static const struct {
        const char *text;
        enum config_mode mode;
        bool request_log, clear_env, hardening, basedir, shell;
    } cases[] = {
        {"", CONFIG_SERVE, false, true, false, false, false},
        {"", CONFIG_DEV, true, false, false, false, false},
        {"[server]\nsites_dir='s'", CONFIG_SERVE, false, true, true, true, true},
        {"[server]\nsites_dir='s'\n[server.security]\nopen_basedir=false\ndisable_shell_exec="
         "false\n"
         "multi_tenant_hardening=false",
            CONFIG_SERVE, false, true, false, false, false},
        {"[server.security]\nopen_basedir=true\nmulti_tenant_hardening=true", CONFIG_SERVE, false,
            true, false, false, false},
        {"[server.diagnostics]\nrequest_log=true\n[php]\nclear_env=false", CONFIG_SERVE, true,
            false, false, false, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config *c = config_text(cases[i].text, cases[i].mode);

        test_row(cases[i].text);
        CHECK_INT(config_request_log(c), cases[i].request_log);
        CHECK_INT(config_clear_env(c), cases[i].clear_env);
        CHECK_INT(config_hardening(c), cases[i].hardening);
        CHECK_INT(config_open_basedir(c), cases[i].basedir);
        CHECK_INT(config_disable_shell_exec(c), cases[i].shell);
        config_unref(c);
    }
    test_row(NULL);
}

static void control_path(const char *text, struct buf *out)
{
    struct config *c = config_text(text, CONFIG_SERVE);

    buf_clear(out);
    config_control_path(c, out);
    config_unref(c);
}

static void test_config_control_path_follows_listen(void)
{
    struct buf a = {0}, b = {0};

    control_path("[server]\nlisten='127.0.0.1:1'", &a);
    control_path("[server]\nlisten='127.0.0.1:2'", &b);
    CHECK(!str_eq(buf_str(&a), buf_str(&b)));
    CHECK(str_starts(buf_str(&a), STR("/")) && str_ends(buf_str(&a), STR(".sock")));
    CHECK(a.len < 100);
    control_path("[server]\nlisten='127.0.0.1:1'", &b);
    CHECK_STR(buf_str(&b), buf_cstr(&a));
    control_path("[server]\ncontrol_socket='/tmp/x.sock'", &b);
    CHECK_STR(buf_str(&b), "/tmp/x.sock");
    buf_fini(&a);
    buf_fini(&b);
}

static const char full[] =
    "[server]\nlisten='[::1]:81'\nsites_dir='/srv'\nfallback=['$uri','=404']\n"
    "[server.timeouts]\nshutdown='1500ms'\n[server.request]\nmax_body_size=0\n"
    "[server.response]\nheaders=[['X-A','\"q\" \\'],['X-A','2']]\ncompression=false\n"
    "compression_level=3\n[server.limits]\nper_ip_rate=0.1\n"
    "[php]\nopcache_jit='function'\nfpm_engine='pool'\nmemory_limit=-1\nclear_env=false\n"
    "opcache_jit_buffer_size='48M'\nzend_assertions=0\n[php.env]\nSECRET='hush'\n"
    "[deploy]\nwarmup_urls=[]\n";

static void test_config_serialize_round_trip(void)
{
    for (int dev = 0; dev < 2; dev++) {
        struct config *c = config_text(full, dev ? CONFIG_DEV : CONFIG_SERVE), *d = NULL;
        struct buf a = {0}, b = {0}, dump_c = {0}, dump_d = {0};
        struct err err;

        config_serialize(c, &a);
        if (config_deserialize(buf_str(&a), &d, &err) != 0) {
            test_fail(__FILE__, __LINE__, "%s", err.text);
            break;
        }
        config_serialize(d, &b);
        config_dump(c, &dump_c);
        config_dump(d, &dump_d);
        CHECK_STR(buf_str(&b), buf_cstr(&a));
        CHECK_STR(buf_str(&dump_d), buf_cstr(&dump_c));
        CHECK_INT(d->mode, c->mode);
        CHECK_INT(d->deploy.drain, 1500);
        CHECK_STR(str_c(d->php.env.v[0].value), "hush");
        CHECK_INT(d->warnings.n, c->warnings.n);
        CHECK(c->warnings.n > 0);
        for (size_t i = 0; i < c->warnings.n; i++)
            CHECK_STR(str_c(d->warnings.v[i]), c->warnings.v[i]);
        CHECK_INT(d->notices.n, 1);
        CHECK(strstr(buf_cstr(&dump_c), "hush") == NULL);
        config_unref(c);
        config_unref(d);
        buf_fini(&a);
        buf_fini(&b);
        buf_fini(&dump_c);
        buf_fini(&dump_d);
    }
}

static void test_config_deserialize_refuses_junk(void)
{
    static const char *const texts[] = {"", "x", "prod\n", "serve\njunk", "serve\n[1, 'a']",
        "serve\n[1, 'a', 'server.listen', 'bad']", "serve\n[1, 'a', 'no.key', 1]"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct config *c = NULL;
        struct err err;

        test_row(texts[i]);
        CHECK(config_deserialize(str_c(texts[i]), &c, &err) < 0);
        CHECK(c == NULL);
    }
    test_row(NULL);
}

/* A row whose offset lies outside of the struct, or in another row's field, would be a slip of the
 * table. */
static void test_config_table_is_sound(void)
{
    static unsigned char used[sizeof(struct config)];
    static const size_t sizes[] = {[CONF_BOOL] = sizeof(bool),
        [CONF_TRI] = sizeof(int),
        [CONF_INT] = 8,
        [CONF_SIZE] = 8,
        [CONF_MB] = 8,
        [CONF_DURATION] = 8,
        [CONF_STRING] = sizeof(char *),
        [CONF_ENUM] = sizeof(int),
        [CONF_FLOAT] = sizeof(double),
        [CONF_LIST] = sizeof(struct conf_list),
        [CONF_PAIRS] = sizeof(struct conf_pairs),
        [CONF_TABLES] = sizeof(struct conf_tables)};

    for (size_t i = 0; i < config_table.nrows; i++) {
        const struct conf_row *row = &config_table.rows[i];

        test_row(row->key);
        CHECK_INT(conf_find(&config_table, str_c(row->key)) >= 0, 1);
        if (row->alias)
            continue;
        CHECK(row->help && row->help[0]);
        CHECK(row->offset + sizes[row->kind] <= offsetof(struct config, warnings));
        for (size_t k = 0; k < sizes[row->kind]; k++)
            CHECK_INT(used[row->offset + k]++, 0);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(row->key, config_table.rows[k].key) != 0);
    }
    test_row(NULL);
}

const struct test tests_config[] = {
    TEST(test_config_has_the_documented_defaults),
    TEST(test_config_precedence),
    TEST(test_config_missing_file),
    TEST(test_config_bad_values_are_refused),
    TEST(test_config_later_features_are_refused),
    TEST(test_config_auto_keys_resolve),
    TEST(test_config_control_path_follows_listen),
    TEST(test_config_serialize_round_trip),
    TEST(test_config_deserialize_refuses_junk),
    TEST(test_config_table_is_sound),
    TEST_END,
};
