/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"
#include "unit/test.h"

struct row {
    const char *code;
    int status;
    const char *reason;
    const char *body;
    const char *has;   /* in the head, NULL: do not look */
    const char *lacks; /* not in the head */
    const char *log;   /* in the log */
};

static const struct row heads[] = {
    {"echo 1;", 200, "", "1", "Content-Type: text/html; charset=UTF-8\n", NULL, NULL},
    {"header('HTTP/1.1 299 Foo Bar'); echo http_response_code();", 299, "Foo Bar", "299", NULL,
        NULL, NULL},
    {"header('HTTP/1.1 299');", 299, "", "", NULL, NULL, NULL},
    {"header('HTTP/');", 200, "", "", NULL, NULL, NULL},
    {"header('HTTP/1.1 404 Gone Fishing'); http_response_code(500);", 500, "", "", NULL, NULL,
        NULL},
    {"header('Status: 404 Not Found'); echo http_response_code();", 404, "Not Found", "200", NULL,
        "Status", NULL},
    {"header('Status: nonsense');", 200, "", "", NULL, "Status", NULL},
    {"header('Status: 404'); header('HTTP/1.1 201 Made');", 201, "Made", "", NULL, "Status", NULL},
    {"header('Location: /x');", 302, "", "", "Location: /x\n", NULL, NULL},
    {"header('Location: /x', true, 201);", 201, "", "", "Location: /x\n", NULL, NULL},
    {"header('WWW-Authenticate: Basic');", 401, "", "", NULL, NULL, NULL},
    {"http_response_code(-1);", -1, "", "", NULL, NULL, NULL},
    {"http_response_code(999);", 999, "", "", NULL, NULL, NULL},
    {"header('NoColon'); header(': empty'); echo 1;", 200, "", "1", NULL, "NoColon",
        "without a name"},
    {"header(\"X: a\\r\\nY: b\"); echo 1;", 200, "", "1", NULL, "Y: b",
        "more than a single header"},
    {"header('X-A: 1'); header('x-a: 2');", 200, "", "", "x-a: 2\n", "X-A: 1", NULL},
    {"header('X-A: 1'); header('X-A: 2', false);", 200, "", "", "X-A: 1\nX-A: 2\n", NULL, NULL},
    {"header('X-A: 1'); header_remove('X-A');", 200, "", "", NULL, "X-A", NULL},
    {"setcookie('a', '1'); setcookie('a', '2');", 200, "", "", "Set-Cookie: a=1\nSet-Cookie: a=2\n",
        NULL, NULL},
    {"header('Content-Type: text/plain');", 200, "", "", "Content-Type: text/plain;charset=UTF-8\n",
        NULL, NULL},
    {"header('Content-Type:');", 200, "", "", NULL, "ontent-", NULL},
    {"header('Content-Type: image/png'); http_response_code(304);", 304, "", "", NULL, "ontent-",
        NULL},
    {"header_register_callback(function () { header('X-C: 1'); header_remove('X-D'); }); "
     "header('X-D: 1'); echo 'b';",
        200, "", "b", "X-C: 1\n", "X-D", NULL},
    {"echo str_repeat('x', 5000); header('X-L: 1'); ob_end_clean();", 200, "", NULL, NULL, "X-L",
        "headers already sent"},
    {"header('X-V:   a  b  ');", 200, "", "", "X-V: a  b\n", NULL, NULL},
    {"session_start();", 200, "", "", "Cache-Control: no-store", NULL, NULL},
    {"header('X-R: 1'); echo json_encode(apache_response_headers()['X-R']);", 200, "", "\"1\"",
        NULL, NULL, NULL},
    /* a space before the colon stayed in the name */
    {"header_remove(); header('X-S : 1'); header(' : '); echo json_encode(array_diff_key("
     "apache_response_headers(), ['Content-type' => 1]));",
        200, "", "{\"X-S\":\"1\"}", NULL, NULL, NULL},
};

static void test_output_heads(void)
{
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        const struct row *r = &heads[i];

        host_php(r->code);
        test_row(r->code);
        CHECK_INT(reply.heads, 1);
        CHECK_INT(reply.status, r->status);
        CHECK_INT(reply.result.status, r->status);
        CHECK_INT(reply.result.end, EMBED_OK);
        CHECK_STR(buf_str(&reply.reason), r->reason);
        if (r->body)
            CHECK_BODY(r->body);
        if (r->has)
            CHECK_HAS(reply.head, r->has);
        if (r->lacks)
            CHECK_LACKS(reply.head, r->lacks);
        if (r->log)
            CHECK_HAS(reply.log, r->log);
    }
    test_row(NULL);
}

static void test_output_head_method_has_no_body(void)
{
    struct embed_request *req;

    host_file("t.php", "<?php header('Content-Length: 5'); echo 'Hello'; error_log('ran');");
    req = host_request("t.php");
    req->method = STR("HEAD");
    host_run(req);
    CHECK_BODY("");
    CHECK_HAS(reply.head, "Content-Length: 5\n");
    CHECK_HAS(reply.log, "1|t.php:1|ran");
}

static void test_output_small_writes_are_joined(void)
{
    host_php("ini_set('output_buffering', 0); while (ob_get_level()) ob_end_clean();"
             "for ($i = 0; $i < 1000; $i++) echo 'abc';");
    CHECK_INT(reply.body.len, 3000);
    CHECK_INT(reply.writes, 1);
    host_php("echo str_repeat('x', 1000000);");
    CHECK_INT(reply.body.len, 1000000);
}

static void test_output_flush_reaches_the_host(void)
{
    host_php("echo 'a'; ob_flush(); flush(); echo 'b';");
    CHECK_INT(reply.flushes, 1);
    CHECK_INT(reply.body_at_flush, 1);
    CHECK(reply.head_at_flush);
    CHECK_BODY("ab");
}

static void test_output_flush_without_output_sends_the_head(void)
{
    host_php("header('X-A: 1'); flush(); $sent = headers_sent(); header('X-B: 1'); echo "
             "json_encode($sent);");
    CHECK(reply.head_at_flush);
    CHECK_HAS(reply.head, "X-A: 1\n");
    CHECK_LACKS(reply.head, "X-B");
    CHECK_BODY("true");
}

static void test_output_finish_ends_the_response(void)
{
    host_php(
        "register_shutdown_function(function () { echo 'shutdown'; error_log('down ' . "
        "connection_status()); });"
        "ob_start(); echo 'answer'; $a = fastcgi_finish_request(); $b = fastcgi_finish_request();"
        "echo str_repeat('late', 10000); flush(); header('X-Late: 1');"
        "error_log(json_encode([$a, $b, connection_status(), connection_aborted()]));");
    CHECK_BODY("answer");
    CHECK_INT(reply.finishes, 1);
    CHECK_INT(reply.body_at_finish, 6);
    CHECK_INT(reply.flushes, 0);
    CHECK_LACKS(reply.head, "X-Late");
    CHECK_HAS(reply.log, "[true,false,0,0]");
    CHECK_HAS(reply.log, "down 0");
    CHECK_INT(reply.result.end, EMBED_OK);
}

static void test_output_finish_without_body(void)
{
    host_php("header('Location: /r', true, 302); fastcgi_finish_request(); echo 'X-Risky: yes';");
    CHECK_INT(reply.status, 302);
    CHECK_INT(reply.finishes, 1);
    CHECK_BODY("");
}

static void test_output_body_after_finish_can_be_read(void)
{
    host_file("noread/.user.ini", "enable_post_data_reading=0\n");
    host_file("noread/t.php",
        "<?php fastcgi_finish_request(); error_log('got ' . file_get_contents('php://input'));");
    struct embed_request *req = host_request("noread/t.php");

    req->method = STR("POST");
    req->content_type = STR("multipart/form-data; boundary=b");
    req->content_length = 4;
    client.body = STR("body");
    host_run(req);
    CHECK_HAS(reply.log, "got body");
    CHECK_INT(reply.result.end, EMBED_OK);
}

static const char abort_code[] =
    "ignore_user_abort(%s); register_shutdown_function(function () { error_log('status ' . "
    "connection_status()); });"
    "for ($i = 0; $i < 1000; $i++) { echo str_repeat('x', 5000); flush(); }"
    "error_log('end ' . connection_aborted());";

static void run_abort(const char *ignore)
{
    struct buf code = {0};

    buf_printf(&code, "%.*s%s%s", 18, abort_code, ignore, abort_code + 20);
    client.gone_after = 50000;
    host_php(buf_cstr(&code));
    buf_fini(&code);
}

static void test_output_abort_ends_the_script(void)
{
    run_abort("false");
    CHECK(reply.result.client_gone);
    CHECK_INT(reply.result.end, EMBED_OK);
    CHECK_HAS(reply.log, "status 1");
    CHECK_LACKS(reply.log, "end ");
    CHECK(reply.body.len < 100000);
}

static void test_output_abort_can_be_ignored(void)
{
    run_abort("true");
    CHECK(reply.result.client_gone);
    CHECK_HAS(reply.log, "end 1");
    CHECK(reply.body.len < 100000);
}

static void test_output_early_hints(void)
{
    host_php("header('Link: </a.css>; rel=preload'); $r = headers_send(103); header('X-Final: 1'); "
             "echo $r;");
    CHECK_HAS(reply.informational, "103 Link: </a.css>; rel=preload\n");
    CHECK_LACKS(reply.informational, "X-Final");
    CHECK_HAS(reply.head, "X-Final: 1\n");
    CHECK_INT(reply.status, 200);
    CHECK_BODY("103");
    host_php("try { headers_send(101); } catch (ValueError $e) { echo 'no'; }");
    CHECK_BODY("no");
    host_php("echo headers_send(404); echo headers_send(103);");
    CHECK_INT(reply.status, 404);
    CHECK_BODY("4040");
}

const struct test tests_output[] = {
    TEST(test_output_heads),
    TEST(test_output_head_method_has_no_body),
    TEST(test_output_small_writes_are_joined),
    TEST(test_output_flush_reaches_the_host),
    TEST(test_output_flush_without_output_sends_the_head),
    TEST(test_output_finish_ends_the_response),
    TEST(test_output_finish_without_body),
    TEST(test_output_body_after_finish_can_be_read),
    TEST(test_output_abort_ends_the_script),
    TEST(test_output_abort_can_be_ignored),
    TEST(test_output_early_hints),
    TEST_END,
};
