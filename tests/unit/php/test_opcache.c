/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "unit/php/host.h"
#include "unit/test.h"

static void test_opcache_is_on_and_hit(void)
{
    host_file("hits.php",
        "<?php $s = opcache_get_status(true); echo json_encode([$s['opcache_enabled'],"
        "$s['scripts'][__FILE__]['hits'] ?? -1]);");
    host_run(host_request("hits.php"));
    host_run(host_request("hits.php"));
    CHECK_BODY("[true,1]");
    host_run(host_request("hits.php"));
    CHECK_BODY("[true,2]");
}

static void count_script(void *arg, struct str path)
{
    struct buf *b = arg;

    buf_add_str(b, path);
    buf_add_char(b, '\n');
}

static void test_opcache_scripts_are_listed(void)
{
    struct buf b = {0};

    host_file("listed.php", "<?php echo 1;");
    host_run(host_request("listed.php"));
    CHECK_INT(embed_opcache_scripts(count_script, &b), 0);
    CHECK_HAS(b, "/listed.php\n");
    buf_fini(&b);
}

static void compile(const char *name, const char *text, int want, int line, const char *message)
{
    struct err err = {0};
    char path[400];

    host_file(name, text);
    (void)snprintf(path, sizeof(path), "%s/%s", host_root, name);
    test_row(name);
    CHECK_INT(embed_compile(path, &err), want);
    CHECK_INT(err.line, line);
    if (message && !strstr(err.text, message))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", err.text, message);
    test_row(NULL);
}

static void test_opcache_compile(void)
{
    struct buf b = {0};

    compile("compiled.php", "<?php class Compiled {}", 0, 0, NULL);
    CHECK_INT(embed_opcache_scripts(count_script, &b), 0);
    CHECK_HAS(b, "/compiled.php\n");
    buf_fini(&b);
    compile("syntax.php", "<?php\n\n$x = 1 +;\n", ERR_INVAL, 3, "syntax error");
    compile("redeclared.php", "<?php\nfunction rd() {}\nfunction rd() {}\n", ERR_INVAL, 3,
        "Cannot redeclare");
    CHECK_INT(embed_compile("/nonexistent/x.php", NULL), ERR_INVAL);
    host_php("echo class_exists('Compiled') ? 'leaked' : 'clean';");
    CHECK_BODY("clean");
    CHECK_STR(buf_str(&reply.log), "");
}

static void test_opcache_reset_is_told(void)
{
    host_php("opcache_reset(); echo 1;");
    CHECK_BODY("1");
    CHECK_INT(reply.resets, 1);
    host_php("echo 2;");
    CHECK_BODY("2");
}

static void test_opcache_status(void)
{
    struct embed_status s;

    host_php("echo PHP_VERSION;");
    embed_get_status(&s);
    CHECK_STR(buf_str(&reply.body), s.php_version);
    CHECK_STR(buf_str(&reply.body), embed_php_version());
    CHECK_STR(str_c(s.sapi), "fpm-fcgi");
    CHECK(s.vm_kind[0] != '\0');
    CHECK(s.opcache);
    CHECK(!s.jit);
    CHECK_STR(str_c(s.jit_mode), "disable");
    CHECK(s.opcache_free > 1000000);
    CHECK(s.opcache_used > 1000000);
}

const struct test tests_opcache[] = {
    TEST(test_opcache_is_on_and_hit),
    TEST(test_opcache_scripts_are_listed),
    TEST(test_opcache_compile),
    TEST(test_opcache_reset_is_told),
    TEST(test_opcache_status),
    TEST_END,
};
