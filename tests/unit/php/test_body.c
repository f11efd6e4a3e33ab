/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"
#include "unit/test.h"

#define MULTIPART "multipart/form-data; boundary=xx"

struct row {
    const char *name;
    const char *method;
    const char *type;
    const char *body;
    const char *code;
    const char *want;
    const char *log;
};

#define PART(disposition, content) \
    "--xx\r\nContent-Disposition: form-data; " disposition "\r\n\r\n" content "\r\n"
#define LAST "--xx--\r\n"

static const struct row rows[] = {
    {"form", "POST", "application/x-www-form-urlencoded", "a=1&b[]=2&b[]=3&c.d=4&e+f=5&a=6",
        "echo json_encode($_POST);",
        "{\"a\":\"6\",\"b\":[\"2\",\"3\"],\"c_d\":\"4\",\"e_f\":\"5\"}", NULL},
    {"form type with parameters, any case", "POST",
        "APPLICATION/X-WWW-Form-Urlencoded; charset=utf-8", "a=1", "echo json_encode($_POST);",
        "{\"a\":\"1\"}", NULL},
    {"json", "POST", "application/json", "{\"a\":1}",
        "echo json_encode($_POST), file_get_contents('php://input');", "[]{\"a\":1}", NULL},
    {"no type", "POST", NULL, "raw", "echo json_encode($_POST), file_get_contents('php://input');",
        "[]raw", NULL},
    {"put", "PUT", "application/x-www-form-urlencoded", "a=1",
        "echo json_encode($_POST), file_get_contents('php://input');", "[]a=1", NULL},
    {"input twice, form too", "POST", "application/x-www-form-urlencoded", "a=1",
        "echo file_get_contents('php://input'), file_get_contents('php://input');", "a=1a=1", NULL},
    {"multipart field and file", "POST", MULTIPART,
        PART("name=\"a\"", "1") PART("name=\"f\"; filename=\"../x.txt\"", "content") LAST,
        "$f = $_FILES['f']; echo json_encode([$_POST, $f['name'], $f['full_path'], $f['error'], "
        "$f['size'],"
        "is_uploaded_file($f['tmp_name']), file_get_contents($f['tmp_name']), "
        "file_get_contents('php://input')]);",
        "[{\"a\":\"1\"},\"x.txt\",\"..\\/x.txt\",0,7,true,\"content\",\"\"]", NULL},
    {"move", "POST", MULTIPART, PART("name=\"f\"; filename=\"x\"", "moved") LAST,
        "$t = __DIR__ . '/moved'; var_export(move_uploaded_file($_FILES['f']['tmp_name'], $t)); "
        "echo file_get_contents($t);",
        "truemoved", NULL},
    {"no file chosen", "POST", MULTIPART, PART("name=\"f\"; filename=\"\"", "") LAST,
        "echo json_encode([$_FILES['f']['error'], $_FILES['f']['tmp_name']]);", "[4,\"\"]", NULL},
    {"limit of the form", "POST", MULTIPART,
        PART("name=\"MAX_FILE_SIZE\"", "3") PART("name=\"f\"; filename=\"x\"", "12345") LAST,
        "echo json_encode([$_FILES['f']['error'], $_FILES['f']['size']]);", "[2,0]", NULL},
    {"boundary missing", "POST", "multipart/form-data", "raw", "echo json_encode($_POST);", "[]",
        "Missing boundary in multipart"},
    {"cut short", "POST", MULTIPART,
        "--xx\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nhal",
        "echo $_FILES['f']['error'];", "3", NULL},
};

static void test_body_table(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        struct buf code = {0};
        struct embed_request *req;

        buf_printf(&code, "<?php %s", r->code);
        host_file("t.php", buf_cstr(&code));
        buf_fini(&code);
        req = host_request("t.php");
        req->method = str_c(r->method);
        req->content_type = r->type ? str_c(r->type) : STR_NONE;
        req->content_length = (int64_t)strlen(r->body);
        client.body = str_c(r->body);
        host_run(req);
        test_row(r->name);
        CHECK_BODY(r->want);
        CHECK_INT(reply.status, 200);
        if (r->log)
            CHECK_HAS(reply.log, r->log);
        else
            CHECK_STR(buf_str(&reply.log), "");
    }
    test_row(NULL);
}

static void test_body_upload_files_are_removed(void)
{
    host_post("error_log($_FILES['f']['tmp_name']); rename($_FILES['f']['tmp_name'] . '', __DIR__ "
              ". '/kept');"
              "copy(__DIR__ . '/kept', $_FILES['f']['tmp_name']);",
        MULTIPART, STR(PART("name=\"f\"; filename=\"x\"", "1") LAST));
    host_php("echo count(glob(__DIR__ . '/php*'));");
    CHECK_BODY("0");
}

static void test_body_large_is_whole(void)
{
    struct buf b = {0};

    while (b.len < 3 * 1024 * 1024)
        buf_add_lit(&b, "0123456789abcdef");
    host_post("echo strlen($s = file_get_contents('php://input')), ' ', md5($s) === "
              "md5(file_get_contents('php://input'));",
        "application/octet-stream", buf_str(&b));
    CHECK_BODY("3145728 1");
    buf_fini(&b);
}

static void test_body_unknown_length(void)
{
    struct embed_request *req;

    host_file("t.php", "<?php echo json_encode([$_POST, isset($_SERVER['CONTENT_LENGTH'])]), "
                       "file_get_contents('php://input');");
    req = host_request("t.php");
    req->method = STR("POST");
    req->content_type = STR("application/x-www-form-urlencoded");
    req->body_streaming = true;
    client.body = STR("a=1&b=2");
    host_run(req);
    CHECK_BODY("[{\"a\":\"1\",\"b\":\"2\"},false]a=1&b=2");
    req->body_streaming = false;
    client.body = STR("a=1&b=2");
    host_run(req);
    CHECK_BODY("[[],false]");
}

static void test_body_over_post_max_size(void)
{
    host_file("small/.user.ini", "post_max_size=10\n");
    host_file("small/t.php", "<?php echo json_encode([$_POST, $_FILES]);");
    struct embed_request *req = host_request("small/t.php");

    req->method = STR("POST");
    req->content_type = STR("application/x-www-form-urlencoded");
    req->content_length = 20;
    client.body = STR("a=123456789012345678");
    host_run(req);
    CHECK_INT(reply.status, 200);
    CHECK_BODY("[[],[]]");
    CHECK_HAS(reply.log, "exceeds the limit of 10 bytes");
    /* The rest of the body is not left to the next request. */
    host_post("echo json_encode($_POST);", "application/x-www-form-urlencoded", STR("b=2"));
    CHECK_BODY("{\"b\":\"2\"}");
}

static void test_body_over_upload_max_filesize(void)
{
    host_file("small2/.user.ini", "upload_max_filesize=3\n");
    host_file("small2/t.php", "<?php echo json_encode([$_FILES['f']['error'], "
                              "$_FILES['f']['size'], $_FILES['f']['tmp_name']]);");
    struct embed_request *req = host_request("small2/t.php");

    req->method = STR("POST");
    req->content_type = STR(MULTIPART);
    client.body = STR(PART("name=\"f\"; filename=\"x\"", "12345") LAST);
    req->content_length = (int64_t)client.body.len;
    host_run(req);
    CHECK_BODY("[1,0,\"\"]");
}

static void test_body_too_many_variables_is_a_warning(void)
{
    struct buf b = {0};

    for (int i = 0; i < 1500; i++)
        buf_printf(&b, "v%d=1&", i);
    host_post("echo count($_POST) <= 1001;", "application/x-www-form-urlencoded", buf_str(&b));
    CHECK_BODY("1");
    CHECK_HAS(reply.log, "Input variables exceeded 1000");
    buf_fini(&b);
}

const struct test tests_body[] = {
    TEST(test_body_table),
    TEST(test_body_upload_files_are_removed),
    TEST(test_body_large_is_whole),
    TEST(test_body_unknown_length),
    TEST(test_body_over_post_max_size),
    TEST(test_body_over_upload_max_filesize),
    TEST(test_body_too_many_variables_is_a_warning),
    TEST_END,
};
