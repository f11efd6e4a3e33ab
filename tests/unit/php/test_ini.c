/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"
#include "unit/test.h"

/* The name is not a literal: OPcache puts the value of a system setting into cached code. */
static const char show[] = "<?php $name = 'precision'; echo ini_get($name);";

static void test_ini_entries_override_the_file(void)
{
    host_php("echo ini_get('precision'), ' ', ini_get('html_errors'), ' ', "
             "ini_get('implicit_flush'), ' ', "
             "ini_get('max_execution_time'), ' ', ini_get('output_buffering');");
    CHECK_BODY("12 1 0 30 4096");
}

static void test_ini_admin_values_are_locked(void)
{
    host_php("var_export([ini_get('memory_limit'), ini_set('memory_limit', '1G'), "
             "ini_get('memory_limit'),"
             "ini_get('user_agent')]);");
    CHECK_HAS(reply.body, "0 => '64M',\n  1 => false,\n  2 => '64M',\n  3 => 'o\\'clock \"x\"'");
    host_file("locked/.user.ini", "memory_limit=1G\n");
    host_file("locked/t.php", "<?php echo ini_get('memory_limit');");
    host_run(host_request("locked/t.php"));
    CHECK_BODY("64M");
}

static void test_ini_user_files_from_root_to_script(void)
{
    host_file("u/.user.ini", "precision=7\nuser_agent=outer\ndefault_mimetype=text/x-outer\n");
    host_file("u/v/.user.ini", "precision=8\nenable_dl=1\n");
    host_file("u/v/w/t.php", "<?php echo ini_get('precision'), ' ', ini_get('default_mimetype'), ' "
                             "', ini_get('enable_dl');");
    host_file("u/t.php", show);
    host_run(host_request("u/v/w/t.php"));
    /* enable_dl may be set by the system only. */
    CHECK_BODY("8 text/x-outer 1");
    host_run(host_request("u/t.php"));
    CHECK_BODY("7");
    host_php("echo ini_get('precision'), ini_get('default_mimetype');");
    CHECK_BODY("12text/html");
}

static void test_ini_user_file_of_the_script_only_when_outside_the_root(void)
{
    struct embed_request *req;
    char root[300];

    host_file("a/.user.ini", "precision=9\nuser_agent=a\n");
    host_file("a/b/.user.ini", "default_mimetype=text/x-b\n");
    host_file("a/b/t.php", "<?php echo ini_get('precision'), ini_get('default_mimetype');");
    (void)snprintf(root, sizeof(root), "%s/other", host_root);
    req = host_request("a/b/t.php");
    req->document_root = str_c(root);
    host_run(req);
    CHECK_BODY("12text/x-b");
}

static void test_ini_user_file_is_cached_until_it_expires(void)
{
    struct embed_request *req;

    host_file("ttl/.user.ini", "precision=7\n");
    host_file("ttl/t.php", show);
    host_run(host_request("ttl/t.php"));
    CHECK_BODY("7");
    host_file("ttl/.user.ini", "precision=8\n");
    host_run(host_request("ttl/t.php"));
    CHECK_BODY("7");
    req = host_request("ttl/t.php");
    req->time += 301;
    host_run(req);
    CHECK_BODY("8");
}

static void test_ini_broken_user_file_does_not_stop_the_script(void)
{
    host_file("bad/.user.ini", "precision = 7\n[[[\n= (\n");
    host_file("bad/t.php", "<?php echo 'runs';");
    host_run(host_request("bad/t.php"));
    CHECK_BODY("runs");
    CHECK_INT(reply.result.end, EMBED_OK);
}

static void test_ini_user_file_may_set_the_session(void)
{
    host_file(
        "sess/.user.ini", "session.name=XS\ndate.timezone=Asia/Tokyo\nmbstring.language=neutral\n");
    host_file("sess/t.php", "<?php echo session_name(), date_default_timezone_get(), "
                            "function_exists('chroot') ? 1 : 0;");
    for (int i = 0; i < 2; i++) {
        host_run(host_request("sess/t.php"));
        CHECK_BODY("XSAsia/Tokyo0");
        CHECK_STR(buf_str(&reply.log), "");
        host_php("echo session_name(), date_default_timezone_get();");
        CHECK_BODY("PHPSESSIDUTC");
    }
}

static void test_ini_sections_of_path_and_host(void)
{
    struct embed_request *req;

    host_file("perdir/t.php", show);
    host_run(host_request("perdir/t.php"));
    CHECK_BODY("5");
    host_file("t.php", show);
    req = host_request("t.php");
    req->server_name = STR("per.host");
    host_run(req);
    CHECK_BODY("6");
    host_run(host_request("t.php"));
    CHECK_BODY("12");
}

const struct test tests_ini[] = {
    TEST(test_ini_entries_override_the_file),
    TEST(test_ini_admin_values_are_locked),
    TEST(test_ini_user_files_from_root_to_script),
    TEST(test_ini_user_file_of_the_script_only_when_outside_the_root),
    TEST(test_ini_user_file_is_cached_until_it_expires),
    TEST(test_ini_broken_user_file_does_not_stop_the_script),
    TEST(test_ini_user_file_may_set_the_session),
    TEST(test_ini_sections_of_path_and_host),
    TEST_END,
};
