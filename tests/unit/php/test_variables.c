/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "unit/php/host.h"
#include "unit/test.h"

/* A request with everything: /sub/t.php/en/x?a=1&b */
static struct embed_request *full_request(void)
{
    static const struct embed_field headers[] = {
        {STR("Host"), STR("ex:9999")},
        {STR("X-Forwarded-For"), STR("1.2.3.4")},
        {STR("Sec-CH-UA"), STR("\"x\"")},
        {STR("DNT"), STR("0")},
        {STR("X-Empty"), STR("")},
        {STR("Proxy"), STR("http://evil")},
        {STR("Transfer-Encoding"), STR("chunked")},
        {STR("Authorization"), STR("Basic dTpwOjE=")},
        {STR("Cookie"), STR("a=1; b=2; a=3")},
        {STR("Content-Type"), STR("text/x")},
        {STR("Content-Length"), STR("3")},
    };
    static const struct embed_field env[] = {
        {STR("APP_ENV"), STR("prod")},
        {STR("SERVER_SOFTWARE"), STR("Apache")},
    };
    struct embed_request *req = host_request("sub/t.php");

    req->uri = STR("/sub/t.php/e%6e/x?a=1&b");
    req->query = STR("a=1&b");
    req->path_info = STR("/en/x");
    req->document_uri = STR("/sub/t.php/en/x");
    req->content_type = STR("text/x");
    req->content_length = 3;
    req->cookie = STR("a=1; b=2; a=3");
    req->authorization = STR("Basic dTpwOjE=");
    req->headers = headers;
    req->nheaders = ARRAY_LEN(headers);
    req->env = env;
    req->nenv = ARRAY_LEN(env);
    return req;
}

struct row {
    const char *expression;
    const char *want;
};

/* One script that prints every expression as JSON. */
static void check_rows(struct embed_request *req, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct buf code = {0};

        buf_printf(&code,
            "<?php ini_set('serialize_precision', '-1'); echo json_encode(%s, "
            "JSON_UNESCAPED_SLASHES);",
            rows[i].expression);
        host_file("sub/t.php", buf_cstr(&code));
        buf_fini(&code);
        host_run(req);
        test_row(rows[i].expression);
        if (str_starts(str_c(rows[i].want), STR("$ROOT"))) {
            struct buf want = {0};

            buf_printf(&want, "\"%s%s", host_root, rows[i].want + 5);
            CHECK_BODY(buf_cstr(&want));
            buf_fini(&want);
        } else {
            CHECK_BODY(rows[i].want);
        }
    }
    test_row(NULL);
}

static void test_variables_full_request(void)
{
    static const struct row rows[] = {
        {"$_SERVER['SCRIPT_FILENAME']", "$ROOT/sub/t.php\""},
        {"$_SERVER['SCRIPT_NAME']", "\"/sub/t.php\""},
        {"$_SERVER['PATH_INFO']", "\"/en/x\""},
        {"$_SERVER['PATH_TRANSLATED']", "$ROOT/en/x\""},
        {"$_SERVER['PHP_SELF']", "\"/sub/t.php/en/x\""},
        {"$_SERVER['DOCUMENT_ROOT']", "$ROOT\""},
        {"$_SERVER['DOCUMENT_URI']", "\"/sub/t.php/en/x\""},
        {"$_SERVER['REQUEST_URI']", "\"/sub/t.php/e%6e/x?a=1&b\""},
        {"$_SERVER['QUERY_STRING']", "\"a=1&b\""},
        {"$_SERVER['REQUEST_METHOD']", "\"GET\""},
        {"$_SERVER['SERVER_PROTOCOL']", "\"HTTP/1.1\""},
        {"$_SERVER['REQUEST_SCHEME']", "\"http\""},
        {"isset($_SERVER['HTTPS'])", "false"},
        {"$_SERVER['SERVER_NAME']", "\"test.example\""},
        {"$_SERVER['SERVER_PORT']", "\"8080\""},
        {"$_SERVER['SERVER_ADDR']", "\"127.0.0.1\""},
        {"$_SERVER['REMOTE_ADDR']", "\"192.0.2.7\""},
        {"$_SERVER['REMOTE_PORT']", "\"4711\""},
        {"$_SERVER['GATEWAY_INTERFACE']", "\"CGI/1.1\""},
        {"$_SERVER['REDIRECT_STATUS']", "\"200\""},
        {"$_SERVER['SERVER_SOFTWARE']", "\"Apache\""},
        {"$_SERVER['APP_ENV']", "\"prod\""},
        {"$_SERVER['REQUEST_ID']", "\"id-1\""},
        {"$_SERVER['CONTENT_TYPE']", "\"text/x\""},
        {"$_SERVER['CONTENT_LENGTH']", "\"3\""},
        {"$_SERVER['HTTP_HOST']", "\"ex:9999\""},
        {"$_SERVER['HTTP_X_FORWARDED_FOR']", "\"1.2.3.4\""},
        {"$_SERVER['HTTP_SEC_CH_UA']", "\"\\\"x\\\"\""},
        {"$_SERVER['HTTP_DNT']", "\"0\""},
        {"$_SERVER['HTTP_X_EMPTY']", "\"\""},
        {"isset($_SERVER['HTTP_PROXY'])", "false"},
        {"getenv('HTTP_PROXY')", "false"},
        {"isset($_SERVER['HTTP_TRANSFER_ENCODING'])", "false"},
        {"$_SERVER['HTTP_AUTHORIZATION']", "\"Basic dTpwOjE=\""},
        {"[$_SERVER['PHP_AUTH_USER'], $_SERVER['PHP_AUTH_PW']]", "[\"u\",\"p:1\"]"},
        {"$_COOKIE", "{\"a\":\"1\",\"b\":\"2\"}"},
        {"$_GET", "{\"a\":\"1\",\"b\":\"\"}"},
        {"array_intersect(['USER','HOME','PATH','FCGI_ROLE','argv','argc'], array_keys($_SERVER))",
            "[]"},
        {"is_int($_SERVER['REQUEST_TIME']) && (int)$_SERVER['REQUEST_TIME_FLOAT'] === "
         "$_SERVER['REQUEST_TIME']",
            "true"},
        {"getenv('REQUEST_URI')", "\"/sub/t.php/e%6e/x?a=1&b\""},
        {"getenv('HTTP_HOST')", "\"ex:9999\""},
        {"getenv('APP_ENV')", "\"prod\""},
        {"getenv('SERVER_SOFTWARE')", "\"Apache\""},
        {"getenv('PATH') !== false", "true"},
        {"getenv('EPHPM_TEST_SECRET')", "false"},
        {"[getenv()['SCRIPT_NAME'], getenv()['APP_ENV'], isset(getenv()['EPHPM_TEST_SECRET'])]",
            "[\"/sub/t.php\",\"prod\",false]"},
        {"trim(shell_exec('echo $APP_ENV$EPHPM_TEST_SECRET$REQUEST_URI'))", "\"prod\""},
        {"(function () { putenv('APP_ENV=test'); return getenv('APP_ENV'); })()", "\"test\""},
        {"(function () { putenv('APP_ENV=test'); return getenv()['APP_ENV']; })()", "\"test\""},
        {"getenv('APP_ENV')", "\"prod\""},
        {"$_ENV", "[]"},
        {"filter_input(INPUT_SERVER, 'HTTP_X_FORWARDED_FOR')", "\"1.2.3.4\""},
        {"filter_has_var(INPUT_SERVER, 'REQUEST_ID')", "true"},
        {"filter_input_array(INPUT_SERVER, ['APP_ENV' => FILTER_DEFAULT, 'HTTP_DNT' => "
         "FILTER_VALIDATE_INT, "
         "'HTTP_PROXY' => FILTER_DEFAULT])",
            "{\"APP_ENV\":\"prod\",\"HTTP_DNT\":0,\"HTTP_PROXY\":null}"},
        {"(function () { $_SERVER['REQUEST_ID'] = 'mine'; $_SERVER['new'] = 1; "
         "return [filter_input(INPUT_SERVER, 'REQUEST_ID'), filter_has_var(INPUT_SERVER, 'new'), "
         "$_SERVER['REQUEST_ID'], $_SERVER['new']]; })()",
            "[\"id-1\",false,\"mine\",1]"},
        {"[filter_input(INPUT_GET, 'a'), filter_input(INPUT_COOKIE, 'b')]", "[\"1\",\"2\"]"},
        {"getallheaders()['X-Forwarded-For']", "\"1.2.3.4\""},
        {"array_keys(apache_request_headers())", "[\"Host\",\"X-Forwarded-For\",\"Sec-Ch-Ua\","
                                                 "\"Dnt\",\"X-Empty\",\"Authorization\",\"Cookie\","
                                                 "\"Content-Type\",\"Content-Length\"]"},
        {"PHP_SAPI . php_sapi_name()", "\"fpm-fcgifpm-fcgi\""},
        {"PHP_BINARY !== ''", "true"},
        {"basename(getcwd())", "\"sub\""},
        {"[__FILE__ === $_SERVER['SCRIPT_FILENAME'], get_included_files() === [__FILE__]]",
            "[true,true]"},
    };

    check_rows(full_request(), rows, ARRAY_LEN(rows));
}

static void test_variables_bare_request(void)
{
    static const struct row rows[] = {
        {"array_intersect(['PATH_INFO','PATH_TRANSLATED','CONTENT_TYPE','CONTENT_LENGTH','PHP_AUTH_"
         "USER','APP_ENV',"
         "'HTTP_COOKIE','REMOTE_USER'], array_keys($_SERVER))",
            "[]"},
        {"$_SERVER['PHP_SELF']", "\"/sub/t.php\""},
        {"$_SERVER['QUERY_STRING']", "\"\""},
        {"$_SERVER['SERVER_SOFTWARE']", "\"ephpm\""},
        {"getenv('APP_ENV')", "false"},
        {"getenv('SERVER_SOFTWARE')", "\"ephpm\""},
        {"getallheaders()", "[]"},
        {"$_COOKIE", "[]"},
    };

    check_rows(host_request("sub/t.php"), rows, ARRAY_LEN(rows));
}

static void test_variables_https_and_missing_peer(void)
{
    static const struct row rows[] = {
        {"[$_SERVER['HTTPS'], $_SERVER['REQUEST_SCHEME'], $_SERVER['REQUEST_METHOD']]",
            "[\"on\",\"https\",\"QUERY\"]"},
        {"[isset($_SERVER['REMOTE_ADDR']), $_SERVER['REMOTE_PORT']]", "[false,\"\"]"},
        {"[$_SERVER['HTTP_COOKIE'], $_SERVER['HTTP_AUTHORIZATION'], $_SERVER['PHP_AUTH_DIGEST']]",
            "[\"c=d\",\"Digest username=\\\"x\\\"\",\"username=\\\"x\\\"\"]"},
        {"isset($_SERVER['PHP_AUTH_USER'])", "false"},
    };
    struct embed_request *req = host_request("sub/t.php");

    req->scheme = STR("https");
    req->method = STR("QUERY");
    req->remote_addr = STR_NONE;
    req->remote_port = STR("");
    req->cookie = STR("c=d");
    req->authorization = STR("Digest username=\"x\"");
    check_rows(req, rows, ARRAY_LEN(rows));
}

static void test_variables_malformed_authorization_has_no_user(void)
{
    static const char *const values[] = {"Basic !!!", "Basic dXNlcg==", "Bearer dTpw", "Basic", ""};

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct embed_request *req;

        host_file("t.php", "<?php echo json_encode([$_SERVER['PHP_AUTH_USER'] ?? null, "
                           "$_SERVER['PHP_AUTH_PW'] ?? null]);");
        req = host_request("t.php");
        req->authorization = str_c(values[i]);
        host_run(req);
        test_row(values[i]);
        CHECK_BODY("[null,null]");
    }
    test_row(NULL);
}

static void test_variables_long_header_name_is_kept(void)
{
    static char name[400];
    struct embed_field header = {str_n(name, sizeof(name)), STR("x")};
    struct embed_request *req;

    memset(name, 'a', sizeof(name));
    host_file("t.php", "<?php foreach ($_SERVER as $k => $v) if (strlen($k) > 100) "
                       "echo strlen($k), $v, getenv($k); echo strlen(key(getallheaders()));");
    req = host_request("t.php");
    req->headers = &header;
    req->nheaders = 1;
    host_run(req);
    CHECK_BODY("405xx400");
}

static void test_variables_second_dash_of_a_header_name_is_kept_as_fpm_does(void)
{
    static const struct embed_field headers[] = {
        {STR("X--Test"), STR("1")}, {STR("X---Y"), STR("2")}, {STR("X-"), STR("3")}};
    static const struct row rows[] = {
        {"getallheaders()", "{\"X-_test\":\"1\",\"X-_-Y\":\"2\",\"X-\":\"3\"}"},
        {"$_SERVER['HTTP_X__TEST']", "\"1\""},
    };
    struct embed_request *req = host_request("sub/t.php");

    req->headers = headers;
    req->nheaders = ARRAY_LEN(headers);
    check_rows(req, rows, ARRAY_LEN(rows));
}

const struct test tests_variables[] = {
    TEST(test_variables_full_request),
    TEST(test_variables_bare_request),
    TEST(test_variables_https_and_missing_peer),
    TEST(test_variables_malformed_authorization_has_no_user),
    TEST(test_variables_long_header_name_is_kept),
    TEST(test_variables_second_dash_of_a_header_name_is_kept_as_fpm_does),
    TEST_END,
};
