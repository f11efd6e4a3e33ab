# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What PHP is told about a request: $_SERVER, getenv(), getallheaders(), authorization."""
import json
import os
import pwd
import re

import pytest

import ephpm
import httpc
from scripts import snippet

DUMP = """<?php
header('Content-Type: application/json');
echo json_encode(['server' => $_SERVER, 'env' => getenv(), 'all' => getallheaders(),
    'get' => $_GET, 'cookie' => $_COOKIE], JSON_INVALID_UTF8_SUBSTITUTE);
"""
FILES = {"sub/t.php": DUMP, "index.php": DUMP, "sp ace/ü.php": DUMP}
CONFIG = {
    "server": {"security": {"trusted_proxies": ["127.0.0.2"]}},
    "php": {"env": {"APP_ENV": "prod", "SERVER_NAME": "override.test", "EMPTY": ""},
            "values": {"variables_order": "GPCS", "register_argc_argv": "0"}},
}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def dump(server, target, headers=(), **more):
    r = server.get(target, headers, **more)
    assert r.status == 200, r
    return json.loads(r.text)


def test_server_exactly(server):
    with server.connect() as c:
        r = c.request("GET", "/sub/t.php/en/x%20y?a=1&b", {"X-A": "1", "Connection": "close"},
                      host="site.test:99")
        port = str(c.port)
    got = json.loads(r.text)["server"]
    root = str(server.root)
    user = pwd.getpwnam(server.status()["user"])
    assert re.fullmatch(r"[0-9a-f]{16}", got.pop("REQUEST_ID"))
    assert int(got["REQUEST_TIME_FLOAT"]) == got["REQUEST_TIME"]
    assert got.pop("REQUEST_TIME_FLOAT") > 1e9 and got.pop("REQUEST_TIME")
    assert got.pop("EPHPM_GENERATION") == "1" and got.pop("EPHPM_WORKER").isdigit()
    assert re.fullmatch(r"ephpm/[\d.]+ \(nginx compatible\)", got.pop("SERVER_SOFTWARE"))
    assert got == {
        "SCRIPT_FILENAME": f"{root}/sub/t.php", "SCRIPT_NAME": "/sub/t.php",
        "PATH_INFO": "/en/x y", "PATH_TRANSLATED": f"{root}/en/x y",
        "PHP_SELF": "/sub/t.php/en/x y", "DOCUMENT_ROOT": root,
        "DOCUMENT_URI": "/sub/t.php/en/x y", "REQUEST_URI": "/sub/t.php/en/x%20y?a=1&b",
        "QUERY_STRING": "a=1&b", "REQUEST_METHOD": "GET", "SERVER_PROTOCOL": "HTTP/1.1",
        "REQUEST_SCHEME": "http", "SERVER_ADDR": "127.0.0.1", "SERVER_PORT": str(server.port),
        "REMOTE_ADDR": "127.0.0.1", "REMOTE_PORT": port, "GATEWAY_INTERFACE": "CGI/1.1",
        "REDIRECT_STATUS": "200", "HTTP_HOST": "site.test:99", "HTTP_X_A": "1",
        "HTTP_CONNECTION": "close", "APP_ENV": "prod", "EMPTY": "",
        "SERVER_NAME": "override.test", "USER": user.pw_name, "HOME": user.pw_dir}


@pytest.mark.parametrize("target, script, info, query, uri", [
    ("/", "/index.php", None, "", None),
    ("/?", "/index.php", None, "", None),
    ("/no/such/page?x=%26", "/index.php", None, "x=%26", None),
    ("/index.php/a%2Fb", "/index.php", "/a/b", "", None),
    ("/sub/t.php/", "/sub/t.php", "/", "", None),
    ("/sub/../sub/t.php", "/sub/t.php", None, "", None),
    ("//sub//t.php", "/sub/t.php", None, "", None),
    ("/sub/t.php?/x.php", "/sub/t.php", None, "/x.php", None),
    ("/sp%20ace/%C3%BC.php/%C3%A9", "/sp ace/ü.php", "/é", "", None),
    ("http://other.test/sub/t.php?q", "/sub/t.php", None, "q", "/sub/t.php?q"),
])
def test_paths(server, target, script, info, query, uri):
    v = dump(server, target)["server"]
    assert v["SCRIPT_NAME"] == script
    assert v["SCRIPT_FILENAME"] == str(server.root) + script
    assert v.get("PATH_INFO") == info
    assert ("PATH_TRANSLATED" in v) == (info is not None)
    assert v["PHP_SELF"] == script + (info or "")
    assert v["QUERY_STRING"] == query
    assert v["REQUEST_URI"] == (uri or target)


def test_header_names_and_values(server):
    v = dump(server, "/sub/t.php", [
        ("X-Forwarded-For-Real", " padded  inside \t"), ("x-zero", "0"), ("X-Empty", ""),
        ("X_Under", "dropped"), ("Proxy", "http://evil.test"), ("X-Dup", "1"), ("X-Dup", "2"),
        ("Cookie", "a=1; b=x%20y"), ("Cookie", "c=3"), ("TE", "trailers"), ("X-9", "n"),
        ("Content-Type", "text/x")])
    s = v["server"]
    assert s["HTTP_X_FORWARDED_FOR_REAL"] == "padded  inside"
    assert (s["HTTP_X_ZERO"], s["HTTP_X_EMPTY"], s["HTTP_X_9"]) == ("0", "", "n")
    assert s["HTTP_X_DUP"] == "1, 2"
    assert s["HTTP_COOKIE"] == "a=1; b=x%20y; c=3"
    assert v["cookie"] == {"a": "1", "b": "x y", "c": "3"}
    assert s["CONTENT_TYPE"] == "text/x" and "CONTENT_LENGTH" not in s
    for name in "HTTP_X_UNDER", "HTTP_PROXY", "HTTP_TRANSFER_ENCODING", "HTTPS", "AUTH_TYPE":
        assert name not in s, name
        assert name not in v["env"], name
    assert v["all"]["X-Forwarded-For-Real"] == "padded  inside"
    assert v["all"]["Content-Type"] == "text/x" and "Content-Length" not in v["all"]


@pytest.mark.parametrize("headers, status", [
    ([("Content-Length", "1"), ("Content-Length", "2")], 400),
    ([("Host", "a"), ("Host", "b")], 400),
    ([("X-Nul", "a\0b")], 400),
])
def test_ambiguous_requests_never_reach_php(server, headers, status):
    assert server.get("/sub/t.php", headers).status == status


def test_authorization(server):
    s = dump(server, "/sub/t.php", {"Authorization": "Basic Ym9iOnA6dw=="})["server"]  # bob:p:w
    assert (s["PHP_AUTH_USER"], s["PHP_AUTH_PW"]) == ("bob", "p:w")
    assert s["HTTP_AUTHORIZATION"] == "Basic Ym9iOnA6dw==" and "REMOTE_USER" not in s
    s = dump(server, "/sub/t.php", {"Authorization": 'Digest username="x"'})["server"]
    assert s["PHP_AUTH_DIGEST"] == 'username="x"' and "PHP_AUTH_USER" not in s
    s = dump(server, "/sub/t.php", {"Authorization": "Bearer tok"})["server"]
    assert s["HTTP_AUTHORIZATION"] == "Bearer tok" and "PHP_AUTH_USER" not in s
    # The next request of the same worker has none of it.
    for _ in range(6):
        s = dump(server, "/sub/t.php")["server"]
        assert not [k for k in s if "AUTH" in k]


def test_forwarded_by_a_trusted_proxy(server):
    head = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https", "Connection": "close"}
    with httpc.Connection(server.address, source="127.0.0.2") as c:
        s = json.loads(c.request("GET", "/sub/t.php", head).text)["server"]
    assert (s["HTTPS"], s["REQUEST_SCHEME"], s["REMOTE_ADDR"]) == ("on", "https", "192.0.2.7")
    s = dump(server, "/sub/t.php", head)["server"]
    assert "HTTPS" not in s and s["REQUEST_SCHEME"] == "http" and s["REMOTE_ADDR"] == "127.0.0.1"


def test_content_length_of_a_chunked_body(server):
    r = server.request("POST", "/sub/t.php", {"Transfer-Encoding": "chunked"},
                       httpc.chunked(b"abc", b"defg"))
    s = json.loads(r.text)["server"]
    assert s["CONTENT_LENGTH"] == "7"


@pytest.mark.parametrize("method", ["PROPFIND", "get", "QUERY", "M-SEARCH"])
def test_method_is_kept(server, method):
    assert json.loads(server.request(method, "/sub/t.php").text)["server"][
        "REQUEST_METHOD"] == method


def test_http_1_0(server):
    r = server.raw(b"GET /sub/t.php HTTP/1.0\r\n\r\n")
    s = json.loads(r.partition(b"\r\n\r\n")[2])["server"]
    assert s["SERVER_PROTOCOL"] == "HTTP/1.0" and "HTTP_HOST" not in s


def test_header_with_a_long_name_reaches_php(server):
    got = dump(server, "/sub/t.php", {"X-" + "n" * 1000: "v"})
    assert got["server"]["HTTP_X_" + "N" * 1000] == "v" and got["all"]["X-N" + "n" * 999] == "v"


def test_getallheaders_spells_odd_names_as_fpm_does(server):
    got = dump(server, "/sub/t.php", {"-": "1", "X--A---b": "2", "x-": "3"})
    assert {"_": "1", "X-_a-_-B": "2", "X-": "3"}.items() <= got["all"].items(), got["all"]


def test_getenv(server):
    path = snippet(server, """echo json_encode([
        getenv('REQUEST_URI'), getenv('HTTP_X_A'), getenv('APP_ENV'), getenv('HTTP_PROXY'),
        getenv('NO_SUCH'), getenv('EPHPM_BIN'), $_ENV, shell_exec('echo $APP_ENV')]);""")
    got = json.loads(server.get(path, {"X-A": "1", "Proxy": "x"}).text)
    assert got == [path, "1", "prod", False, False, False, [], "prod\n"]
    env = dump(server, "/sub/t.php", {"X-B": "2"})["env"]
    assert env["APP_ENV"] == "prod" and env["HTTP_X_B"] == "2" and env["QUERY_STRING"] == ""


def test_environment_of_the_server_is_not_seen_in_serve(serve):
    files = {"e.php": "<?php echo json_encode([getenv('SECRET_OF_HOST'), $_SERVER['SECRET_OF_HOST'] "
                      "?? null, getenv('PATH') !== false, $_ENV['APP'] ?? null]);"}
    env = {"SECRET_OF_HOST": "s"}
    more = {"env": {"APP": "x"}, "values": {"variables_order": "EGPCS"}}
    s = serve({"php": more}, files, env=env)
    assert json.loads(s.get("/e.php").text) == [False, None, True, "x"]
    s = serve({"php": {**more, "clear_env": False}}, files, env=env)
    assert json.loads(s.get("/e.php").text) == ["s", "s", True, "x"]


def test_proxy_of_the_environment_is_not_the_clients(serve):
    """The header Proxy must not become HTTP_PROXY; a variable of that name is the operator's."""
    s = serve({"php": {"env": {"HTTP_PROXY": "http://real.test"}}}, {
        "e.php": "<?php echo json_encode([getenv('HTTP_PROXY'), $_SERVER['HTTP_PROXY'] ?? null, "
                 "shell_exec('echo $HTTP_PROXY')]);"})
    for headers in (), {"Proxy": "http://evil.test"}:
        assert json.loads(s.get("/e.php", headers).text) == [
            "http://real.test", "http://real.test", "http://real.test\n"]


def test_sapi_and_functions(server):
    path = snippet(server, """echo json_encode([PHP_SAPI, php_sapi_name(), array_filter([
        'fastcgi_finish_request', 'getallheaders', 'apache_request_headers',
        'apache_response_headers', 'fpm_get_status'], fn ($f) => !function_exists($f)),
        ini_get('register_argc_argv'), isset($_SERVER['argv']),
        is_executable(PHP_BINARY) || PHP_BINARY === '']);""")
    assert json.loads(server.get(path + "?a+b").text) == [
        "fpm-fcgi", "fpm-fcgi", [], "0", False, True]


def test_script_directory_is_current(server):
    path = snippet(server, "echo getcwd(); chdir('/');", "/deep")
    for _ in range(4):
        assert server.get(path).text == f"{server.root}/deep"


@pytest.mark.parametrize("env,user,home", [([], "www-data", "/var/www"),
                                           ([["HOME", "/nowhere"]], "www-data", "/nowhere")])
@pytest.mark.skipif(os.geteuid() != 0, reason="changes the user")
def test_user_and_home_are_the_run_users(serve, env, user, home):
    s = serve({"server": {"run_as_user": "www-data"}, "php": {"env": env}}, {
        "e.php": "<?php echo json_encode([getenv('USER'), getenv('HOME'), $_SERVER['USER'],"
                 "$_SERVER['HOME'], trim(shell_exec('echo $USER $HOME'))]);"})
    assert json.loads(s.get("/e.php").text) == [user, home, user, home, f"{user} {home}"]
