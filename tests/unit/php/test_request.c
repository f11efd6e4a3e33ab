/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/php/host.h"
#include "unit/test.h"

static void test_request_hello(void)
{
    host_php("echo 'Hello';");
    CHECK_INT(reply.result.end, EMBED_OK);
    CHECK_INT(reply.status, 200);
    CHECK_INT(reply.result.status, 200);
    CHECK_INT(reply.heads, 1);
    CHECK(reply.result.memory_peak > 100000);
    CHECK(!reply.result.replace);
    CHECK_BODY("Hello");
    CHECK_HAS(reply.head, "X-Powered-By: PHP/8.");
    CHECK_HAS(reply.head, "\nContent-Type: text/html; charset=UTF-8\n");
}

struct end_row {
    const char *code;
    enum embed_end end;
    int status;
    const char *body;
    const char *log;
};

static const struct end_row ends[] = {
    {"echo 1; exit(3);", EMBED_OK, 200, "1", NULL},
    {"exit('s');", EMBED_OK, 200, "s", NULL},
    {"exit(255);", EMBED_OK, 200, "", NULL},
    {"trigger_error('boom', E_USER_ERROR);", EMBED_FATAL, 500, "", "PHP Fatal error:  boom"},
    {"no_such();", EMBED_FATAL, 500, "", "Call to undefined function no_such()"},
    {"http_response_code(404); throw new Exception('x');", EMBED_FATAL, 404, "",
        "Uncaught Exception: x"},
    {"header('X-Kept: 1'); throw new Exception('x');", EMBED_FATAL, 500, "",
        "Uncaught Exception: x"},
    {"echo 'part'; ob_flush(); flush(); throw new Exception('x');", EMBED_FATAL, 200, "part",
        "Uncaught"},
    {"ini_set('display_errors', 1); throw new Exception('x');", EMBED_FATAL, 200, NULL, "Uncaught"},
    {"if (", EMBED_FATAL, 500, "", "PHP Parse error"},
    {"class A {} class A {}", EMBED_FATAL, 500, "", "declare class A"},
    {"$s = str_repeat('x', 100 << 20);", EMBED_MEMORY, 500, "", "Allowed memory size of 67108864"},
    {"function f($n) { return f($n + 1) . 'x'; } f(1);", EMBED_MEMORY, 500, "",
        "Allowed memory size"},
    {"register_shutdown_function(function () { echo http_response_code(); }); throw new "
     "Exception('x');",
        EMBED_FATAL, 500, "500", "Uncaught"},
    {"set_error_handler(fn () => true); trigger_error('x', E_USER_ERROR); echo 'on';", EMBED_OK,
        200, "on", NULL},
    {"try { eval('if ('); } catch (ParseError $e) { echo 'caught'; }", EMBED_OK, 200, "caught",
        NULL},
    {"class D { function __destruct() { throw new Exception('late'); } } $d = new D; echo 1;",
        EMBED_FATAL, 500, "1", "late"},
    {"set_exception_handler(function ($e) { echo 'handled'; }); throw new Exception('x');",
        EMBED_OK, 200, "handled", NULL},
    {"set_time_limit(1); for (;;);", EMBED_TIMEOUT, 500, "",
        "Maximum execution time of 1 second exceeded"},
    /* A limit beyond what the kernel's timer takes replaces the shorter one all the same. */
    {"function used() { $u = getrusage(); return $u['ru_utime.tv_sec'] + $u['ru_utime.tv_usec'] / "
     "1e6; }"
     "set_time_limit(1); set_time_limit(PHP_INT_MAX); $end = used() + 1.2; while (used() < $end); "
     "echo 'long';",
        EMBED_OK, 200, "long", NULL},
    {"echo 'ok';", EMBED_OK, 200, "ok", NULL},
};

static void test_request_ends(void)
{
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const struct end_row *r = &ends[i];

        host_php(r->code);
        test_row(r->code);
        CHECK_INT(reply.result.end, r->end);
        CHECK_INT(reply.status, r->status);
        CHECK_INT(reply.heads, 1);
        CHECK(!reply.result.replace);
        if (r->body)
            CHECK_BODY(r->body);
        if (r->log)
            CHECK_HAS(reply.log, r->log);
        else
            CHECK_STR(buf_str(&reply.log), "");
    }
    test_row(NULL);
}

static void test_request_log_has_script_and_line(void)
{
    host_php("\n\nerror_log('mine');\n$x = $undefined;\nerror_log(str_repeat('y', 5000));");
    CHECK_HAS(reply.log, "1|t.php:3|mine\n");
    CHECK_HAS(reply.log, "0|t.php:4|PHP Warning:  Undefined variable $undefined");
    CHECK(reply.log.len > 5000);
    /* No frame runs any more when an uncaught exception is reported. */
    host_php("\nthrow new Exception('x');");
    CHECK_HAS(reply.log, "0|t.php:2|PHP Fatal error:  Uncaught Exception: x");
}

struct refuse_row {
    const char *script;
    int status;
    const char *body;
};

static void test_request_refuses_what_is_no_script(void)
{
    static const struct refuse_row rows[] = {
        {"nope.php", 404, "File not found.\n"},
        {"t.php/below.php", 404, "File not found.\n"},
        {"image.jpg", 403, "Access denied.\n"},
        {"directory.php", 403, "Access denied.\n"},
        {"T.PHP", 403, "Access denied.\n"},
    };

    host_file("t.php", "<?php echo 1;");
    host_file("image.jpg", "<?php echo 'executed';");
    host_file("directory.php/x", "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        host_run(host_request(rows[i].script));
        test_row(rows[i].script);
        CHECK_INT(reply.status, rows[i].status);
        CHECK_BODY(rows[i].body);
        CHECK_INT(reply.result.end, EMBED_OK);
        CHECK_LACKS(reply.log, "PHP Warning");
        CHECK_HAS(reply.log, rows[i].script);
    }
    test_row(NULL);
}

static void test_request_removed_script_is_404_even_when_cached(void)
{
    char path[512];

    host_file("gone.php", "<?php echo 'here';");
    host_run(host_request("gone.php"));
    CHECK_BODY("here");
    (void)snprintf(path, sizeof(path), "%s/gone.php", host_root);
    CHECK_INT(unlink(path), 0);
    host_run(host_request("gone.php"));
    CHECK_INT(reply.status, 404);
    CHECK_BODY("File not found.\n");
}

static void test_request_prepend_and_append(void)
{
    host_file("pp/.user.ini", "auto_prepend_file=pre.inc\nauto_append_file=post.inc\n");
    host_file("pp/pre.inc", "<?php echo 'pre ';");
    host_file("pp/post.inc", "<?php echo ' post';");
    host_file("pp/t.php", "<?php echo 'main';");
    host_run(host_request("pp/t.php"));
    CHECK_BODY("pre main post");
    /* What was prepended is not part of a refusal. */
    host_run(host_request("pp/none.php"));
    CHECK_INT(reply.status, 404);
    CHECK_BODY("File not found.\n");
}

/* --- interruption ----------------------------------------------------------------------------- */

static void test_request_interrupt_ends_it_with_a_trace(void)
{
    host_interrupt_soon();
    host_php("class C { static function spin() {\nfor (;;);\n} }\nC::spin();");
    host_interrupt_stop();
    CHECK_INT(reply.result.end, EMBED_TIMEOUT);
    CHECK_INT(reply.status, 500);
    CHECK_HAS(reply.log, "t.php(2): C::spin()\n#1 ");
    CHECK_HAS(reply.log, "t.php(4): {main}");
    CHECK_HAS(reply.log, "Request time limit of the server exceeded");
    host_php("echo 'next';");
    CHECK_BODY("next");
    CHECK_INT(reply.result.end, EMBED_OK);
}

static void test_request_interrupt_before_it_is_forgotten(void)
{
    embed_interrupt();
    host_php("for ($i = 0; $i < 1000; $i++); echo 'fine';");
    CHECK_BODY("fine");
    CHECK_INT(reply.result.end, EMBED_OK);
}

static void test_request_interrupt_runs_shutdown_functions(void)
{
    host_interrupt_soon();
    host_php("register_shutdown_function(function () { error_log('cleaned'); }); while (true);");
    host_interrupt_stop();
    CHECK_HAS(reply.log, "cleaned");
    CHECK_INT(reply.result.end, EMBED_TIMEOUT);
}

/* --- state ------------------------------------------------------------------------------------ */

static const char state_print[] =
    "echo json_encode(['precision' => ini_get('precision'), 'level' => error_reporting(), 'locale' "
    "=> setlocale(LC_ALL, 0),"
    "'cwd' => basename(getcwd()), 'umask' => umask(), 'tz' => date_default_timezone_get(), 'const' "
    "=> defined('LEAK'),"
    "'env' => getenv('LEAK'), 'env2' => trim((string)shell_exec('echo $LEAK')), 'ob' => "
    "ob_get_level(),"
    "'fn' => function_exists('leak_fn'), 'err' => error_get_last(), 'path' => get_include_path(), "
    "'code' => http_response_code(),"
    "'limit' => ini_get('max_execution_time'), 'libxml' => libxml_use_internal_errors(), 'headers' "
    "=> count(headers_list()),"
    "'abort' => ignore_user_abort(), 'global' => isset($GLOBALS['leak']), 'session' => "
    "session_status(), 'post' => $_POST,"
    "'files' => $_FILES, 'user' => $_SERVER['PHP_AUTH_USER'] ?? null, 'input' => "
    "file_get_contents('php://input'),"
    "'uploads' => is_uploaded_file('/etc/passwd'), 'handler' => set_error_handler(null) === "
    "null]);";

static void test_request_leaves_no_state(void)
{
    struct buf clean = {0};

    host_php(state_print);
    buf_add_str(&clean, buf_str(&reply.body));
    CHECK_HAS(clean, "\"ob\":1,\"fn\":false,\"err\":null");
    host_post(
        "function leak_fn() {} define('LEAK', 1); ini_set('precision', 3); error_reporting(0);"
        "setlocale(LC_ALL, 'C.UTF-8'); chdir('/'); umask(0); "
        "date_default_timezone_set('Asia/Tokyo');"
        "putenv('LEAK=1'); ob_start(); @$x->y; set_include_path('/leak'); http_response_code(404);"
        "set_time_limit(5); libxml_use_internal_errors(true); header('X-Leak: 1'); "
        "ignore_user_abort(true);"
        "$GLOBALS['leak'] = 1; set_error_handler(fn () => true);",
        "application/x-www-form-urlencoded", STR("a=1&b=2"));
    CHECK_INT(reply.status, 404);
    host_php(state_print);
    CHECK_STR(buf_str(&reply.body), buf_cstr(&clean));
    /* And after a fatal error, and after memory ran out. */
    host_php("umask(0); putenv('LEAK=1'); ini_set('precision', 3); chdir('/'); no_such();");
    host_php("ini_set('precision', 3); $s = str_repeat('x', 100 << 20);");
    host_php(state_print);
    CHECK_STR(buf_str(&reply.body), buf_cstr(&clean));
    buf_fini(&clean);
}

/* As many as make PHP's table of functions grow. */
static void test_request_leaves_no_function(void)
{
    struct buf code = {0};

    buf_add_lit(&code, "function leftover_first() {}\n");
    for (int i = 0; i < 5000; i++)
        buf_printf(&code, "function leftover_%d() {}\n", i);
    buf_add_lit(&code, "echo function_exists('chroot') ? 'chroot' : 'fine';");
    for (int i = 0; i < 3; i++) {
        host_php(buf_cstr(&code));
        CHECK_BODY("fine");
    }
    host_php("echo count(get_defined_functions()['user']);");
    CHECK_BODY("0");
    buf_fini(&code);
}

static void test_request_random_is_not_repeated(void)
{
    struct buf first = {0};

    host_php("mt_srand(1); mt_rand();");
    host_php("echo mt_rand(), ' ', rand(), ' ', uniqid();");
    buf_add_str(&first, buf_str(&reply.body));
    host_php("echo mt_rand(), ' ', rand(), ' ', uniqid();");
    CHECK(!str_eq(buf_str(&first), buf_str(&reply.body)));
    buf_fini(&first);
}

static void test_request_shutdown_function_has_the_script_directory(void)
{
    host_file("deep/er/t.php",
        "<?php register_shutdown_function(function () { echo basename(getcwd()); });");
    host_run(host_request("deep/er/t.php"));
    CHECK_BODY("er");
    host_php("echo getcwd() === __DIR__ ? 'same' : getcwd();");
    CHECK_BODY("same");
}

static long resident_pages(void)
{
    char line[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY);
    const char *second;

    CHECK(fd >= 0);
    CHECK(read(fd, line, sizeof(line) - 1) > 0);
    (void)close(fd);
    second = strchr(line, ' ');
    return second ? atol(second) : 0;
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void test_request_thousand_do_not_grow(void)
{
    static const struct embed_field env[] = {{STR("APP_ENV"), STR("prod")}};
    struct embed_request *req;
    long before = 0;
    int fds = 0;

    host_file("many.php",
        "<?php $a = range(1, 1000); echo count($a), $_SERVER['PHP_AUTH_USER'], $_POST['a'] ?? '';"
        "if ($_GET['n'] % 10 === 0) throw new Exception('x');");
    for (int i = 0; i < 1000; i++) {
        char query[32];

        if (i == 200) {
            before = resident_pages();
            fds = open_descriptors();
        }
        (void)snprintf(query, sizeof(query), "n=%d", i);
        req = host_request("many.php");
        req->query = str_c(query);
        req->method = STR("POST");
        req->content_type = STR("application/x-www-form-urlencoded");
        req->content_length = 3;
        req->authorization = STR("Basic dTpwOjE=");
        req->path_info = STR("/a");
        req->cookie = STR("a=b");
        req->env = env;
        req->nenv = 1;
        client.body = STR("a=7");
        host_run(req);
        CHECK_BODY(i % 10 ? "1000u7" : "1000u7");
        CHECK_INT(reply.result.end, i % 10 ? EMBED_OK : EMBED_FATAL);
        CHECK_INT(reply.status, i % 10 ? 200 : 500);
    }
    CHECK_INT(open_descriptors(), fds);
    /* Sanitizers keep freed memory for a while. */
#ifdef EPHPM_SANITIZED
    before += 100000;
#endif
    CHECK(resident_pages() - before < 64);
}

const struct test tests_request[] = {
    TEST(test_request_hello),
    TEST(test_request_ends),
    TEST(test_request_log_has_script_and_line),
    TEST(test_request_refuses_what_is_no_script),
    TEST(test_request_removed_script_is_404_even_when_cached),
    TEST(test_request_prepend_and_append),
    TEST(test_request_interrupt_ends_it_with_a_trace),
    TEST(test_request_interrupt_before_it_is_forgotten),
    TEST(test_request_interrupt_runs_shutdown_functions),
    TEST(test_request_leaves_no_state),
    TEST(test_request_leaves_no_function),
    TEST(test_request_random_is_not_repeated),
    TEST(test_request_shutdown_function_has_the_script_directory),
    TEST(test_request_thousand_do_not_grow),
    TEST_END,
};
