# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""`ephpm cgi` answers as php-cgi does: variables, bodies, heads, exit codes.

A table of requests runs through both, with nothing in the environment but what the request has.
"""
import os
import random
import re
import shutil
import subprocess

import pytest

import ephpm
from test_cli import VERSION

STOCK = shutil.which(f"php-cgi{VERSION}")

FILES = {
    "show.php": "<?php header('X-Foo: bar'); setcookie('a', 'b'); ksort($_SERVER); $h = getallheaders();"
                " ksort($h); foreach (['REQUEST_TIME', 'REQUEST_TIME_FLOAT'] as $k) unset($_SERVER[$k]);"
                " var_dump($_SERVER, $_GET, $_POST, $_COOKIE, $_FILES, file_get_contents('php://input'),"
                " getenv('QUERY_STRING'), PHP_SAPI, php_sapi_name(), defined('STDIN'), getcwd(), $h,"
                " headers_list());",
    "dir/index.php": "<?php echo $_SERVER['SCRIPT_NAME'] ?? '-', ' ', $_SERVER['PATH_INFO'] ?? '-', ' ',"
                     " $_SERVER['PHP_SELF'], ' ', getcwd();",
    "shebang.php": "#!/usr/bin/php-cgi\n<?php header('HTTP/1.1 404 Nope');"
                   " header('Content-Type: text/plain'); echo 'x';",
    "location.php": "<?php header('Location: /elsewhere');",
    "status.php": "<?php http_response_code((int)$_GET['c']); echo 'body';",
    "fatal.php": "<?php echo 'before'; nosuch();",
    "bad.php": "<?php foo(",
    "exit.php": "<?php exit(4);",
    "upload.php": "<?php $f = $_FILES['f']; echo $f['name'], $f['size'], $f['error'],"
                  " file_get_contents($f['tmp_name']), $_POST['t'];",
    "big.php": "<?php echo strlen(file_get_contents('php://input'));",
}

MULTIPART = ("--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n--b\r\nContent-Disposition:"
             " form-data; name=\"f\"; filename=\"n.txt\"\r\n\r\nabc\r\n--b--\r\n")
GET = {"REDIRECT_STATUS": "200", "REQUEST_METHOD": "GET"}
POST = {"REDIRECT_STATUS": "200", "REQUEST_METHOD": "POST"}
FORM = "application/x-www-form-urlencoded"
NGINX = {**GET, "SCRIPT_NAME": "/show.php", "DOCUMENT_ROOT": "{dir}", "REQUEST_URI": "/show.php/a?x",
         "PATH_INFO": "/a", "SERVER_NAME": "h", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1",
         "GATEWAY_INTERFACE": "CGI/1.1", "REMOTE_ADDR": "192.0.2.1", "HTTP_HOST": "h",
         "HTTP_X_FORWARDED_FOR": "a", "HTTP_COOKIE": "k=v; l=m", "HTTP_AUTHORIZATION": "Basic YTpi"}

# Script, environment, arguments, body. {dir} is the folder.
REQUESTS = {
    "get": ("show.php", {**GET, "QUERY_STRING": "a=1&b[]=2"}, [], ""),
    "no query": ("show.php", GET, [], ""),
    "query without =": ("show.php", {**GET, "QUERY_STRING": "a+b"}, [], ""),
    "like nginx": ("show.php", NGINX, [], ""),
    "settings": ("show.php", GET, ["-n", "-d", "arg_separator.input=;", "-C"], ""),
    "post": ("show.php", {**POST, "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "7"}, [], "a=1&b=2"),
    "post raw": ("show.php", {**POST, "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": "2"}, [], "{}"),
    "post without a type": ("show.php", {**POST, "CONTENT_LENGTH": "2"}, [], "ab"),
    "post without a length": ("show.php", {**POST, "CONTENT_TYPE": FORM}, [], "a=1"),
    "body shorter than said": ("show.php", {**POST, "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "70"}, [], "a=1"),
    "body longer than said": ("show.php", {**POST, "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "3"}, [], "a=1&b=2"),
    "put": ("show.php", {**GET, "REQUEST_METHOD": "PUT", "CONTENT_LENGTH": "3"}, [], "abc"),
    "big body": ("big.php", {**POST, "CONTENT_LENGTH": "3000000"}, [], "x" * 3000000),
    "upload": ("upload.php", {**POST, "CONTENT_TYPE": "multipart/form-data; boundary=b",
                              "CONTENT_LENGTH": str(len(MULTIPART))}, [], MULTIPART),
    "no boundary": ("show.php", {**POST, "CONTENT_TYPE": "multipart/form-data", "CONTENT_LENGTH": "1"}, [], "x"),
    "post too big": ("show.php", {**POST, "CONTENT_TYPE": FORM, "CONTENT_LENGTH": "7"},
                     ["-d", "post_max_size=5"], "a=1&b=2"),
    "head": ("show.php", {**GET, "REQUEST_METHOD": "HEAD"}, [], ""),
    "own method": ("show.php", {**GET, "REQUEST_METHOD": "BREW"}, [], ""),
    "status line": ("shebang.php", GET, [], ""),
    "redirect": ("location.php", GET, [], ""),
    "redirect after post": ("location.php", {**POST, "SERVER_PROTOCOL": "HTTP/1.1"}, [], ""),
    "204": ("status.php", {**GET, "QUERY_STRING": "c=204"}, [], ""),
    "418": ("status.php", {**GET, "QUERY_STRING": "c=418"}, [], ""),
    "500": ("status.php", {**GET, "QUERY_STRING": "c=500"}, [], ""),
    "fatal": ("fatal.php", GET, ["-d", "display_errors=0"], ""),
    "fatal shown": ("fatal.php", GET, ["-n", "-d", "display_errors=1"], ""),
    "syntax": ("bad.php", GET, ["-n"], ""),
    "exit code": ("exit.php", GET, [], ""),
    "working folder": ("dir/index.php", GET, [], ""),
    "-C has no say in a request": ("dir/index.php", GET, ["-C"], ""),
    "-C": (None, {}, ["-C", "-f", "dir/index.php"], ""),
    "no -C": (None, {}, ["-f", "dir/index.php"], ""),
    "missing": ("missing.php", GET, [], ""),
    "no script": (None, GET, [], ""),
    "-f has no say in a request": (None, GET, ["-f", "{dir}/show.php"], ""),
    "-f does not win": ("exit.php", GET, ["-f", "{dir}/show.php"], ""),
    "translated": (None, {**GET, "PATH_TRANSLATED": "{dir}/show.php"}, [], ""),
    "options of the client": ("shebang.php", {**GET, "QUERY_STRING": "-s"}, ["-s"], ""),
    "encoded options of the client": ("shebang.php", {**GET, "QUERY_STRING": "%2dn+-s"}, ["-n", "-s"], ""),
    "command line": (None, {}, ["{dir}/shebang.php"], ""),
    "quiet": (None, {}, ["-q", "{dir}/shebang.php"], ""),
    "-f is quiet": (None, {}, ["-f", "{dir}/shebang.php"], ""),
    "arguments": (None, {}, ["-f", "{dir}/show.php", "a=1", "b=2"], ""),
    "arguments as such": (None, {}, ["-d", "register_argc_argv=1", "-f", "{dir}/show.php", "a=1", "b=2"], ""),
    "arguments without -f": (None, {}, ["-d", "register_argc_argv=1", "{dir}/show.php", "x", "y"], ""),
    "standard input with the setting": (None, {}, ["-d", "register_argc_argv=1"], "<?php var_dump($argv ?? 0);"),
    "standard input": (None, {}, [], "<?php echo 5; exit(4);"),
    "missing file": (None, {}, ["missing.php"], ""),
    "version": (None, {}, ["-v"], ""),
    "redirect_status_env": ("exit.php", {"REQUEST_METHOD": "GET", "MINE": "1"},
                            ["-d", "cgi.redirect_status_env=MINE"], ""),
    "no force_redirect": ("show.php", {"REQUEST_METHOD": "GET"}, ["-d", "cgi.force_redirect=0"], ""),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    d = tmp_path_factory.mktemp("cgi")
    for name, text in FILES.items():
        (d / name).parent.mkdir(exist_ok=True)
        (d / name).write_text(text)
    (d / "php-cgi").symlink_to(ephpm.EPHPM_PHP)
    return d


def run(program, folder, script, env, args, body):
    env = {k: v.replace("{dir}", str(folder)) for k, v in env.items()}
    env["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]  # set by test_cli
    if script:
        env["SCRIPT_FILENAME"] = f"{folder}/{script}"
    return subprocess.run([program, *(a.replace("{dir}", str(folder)) for a in args)], env=env, cwd=folder,
                          input=body.encode("latin-1"), capture_output=True, timeout=60)


def result(p):
    return p.returncode, p.stdout.decode("latin-1"), p.stderr.decode("latin-1")


@pytest.mark.skipif(not STOCK, reason=f"php{VERSION}-cgi is not installed")
@pytest.mark.parametrize("name", REQUESTS)
def test_same_as_stock(folder, name):
    ours = result(run(folder / "php-cgi", folder, *REQUESTS[name]))
    assert ours == result(run(STOCK, folder, *REQUESTS[name]))


def test_names(folder):
    """The same by `ephpm cgi`, by a link to either program, and by the role."""
    request = REQUESTS["post"]
    want = result(run(folder / "php-cgi", folder, *request))
    (folder / "ephpm-cgi").symlink_to(ephpm.EPHPM)
    assert result(run(folder / "ephpm-cgi", folder, *request)) == want
    script, env, args, body = request
    assert result(run(ephpm.EPHPM, folder, script, env, ["cgi", *args], body)) == want
    assert result(run(ephpm.EPHPM_PHP, folder, script, env, ["--role=cgi", *args], body)) == want


@pytest.mark.parametrize("env", [{"REQUEST_METHOD": "GET"}, {"SERVER_SOFTWARE": "x"}, {"SERVER_NAME": "x"},
                                 {"GATEWAY_INTERFACE": "CGI/1.1"}], ids=lambda e: next(iter(e)))
def test_refuses_to_be_called_directly(folder, env):
    """A server that lets clients name the program would let them run any file by PATH_INFO."""
    p = run(folder / "php-cgi", folder, "show.php", env, [], "")
    assert p.returncode == 255
    assert p.stdout.startswith(b"Status: 400 Bad Request\r\n") and b"REDIRECT_STATUS" in p.stdout
    assert b"X-Foo" not in p.stdout


def test_client_does_not_choose_the_role(folder):
    """A query without "=" becomes arguments: one of them asked for another program than php-cgi."""
    env = {**GET, "QUERY_STRING": "--role%3Dversion"}
    p = run(folder / "php-cgi", folder, "exit.php", env, ["--role=version"], "")
    assert p.returncode == 4 and p.stdout.startswith(b"Content-type: "), p


def test_path_behind_the_script(folder):
    """A server that splits no paths: the script is the first file on the way (cgi.fix_pathinfo)."""
    env = {**GET, "DOCUMENT_ROOT": "{dir}", "SCRIPT_NAME": "/dir/index.php/a/b"}
    p = run(folder / "php-cgi", folder, "dir/index.php/a/b", env, [], "")
    assert p.stdout.endswith(f"/dir/index.php /a/b /dir/index.php/a/b {folder}/dir".encode()), p
    p = run(folder / "php-cgi", folder, "dir/index.php/a/b", env, ["-d", "cgi.fix_pathinfo=0"], "")
    assert p.stdout.startswith(b"Status: 404 ")


def test_client_does_not_set_a_proxy(folder):
    """httpoxy: a header "Proxy" must not become the variable that HTTP clients obey."""
    p = run(folder / "php-cgi", folder, "show.php", {**GET, "HTTP_PROXY": "http://evil"}, [], "")
    assert p.returncode == 0 and b"evil" not in p.stdout


@pytest.mark.parametrize("length", ["abc", "-5", "1e3", "0x10", "99999999999999999999", " 3", "3 "])
def test_content_length_that_is_none(folder, length):
    p = run(folder / "php-cgi", folder, "show.php", {**POST, "CONTENT_LENGTH": length}, [], "abc")
    assert p.returncode == 255 and p.stdout.startswith(b"Status: 400 ") and length.encode() in p.stdout


@pytest.mark.parametrize("args", [["-y"], ["--nosuch"], ["-c"], ["-b", "9000"], ["-T", "5"]])
def test_unknown_options(folder, args):
    p = run(folder / "php-cgi", folder, None, {}, args, "")
    assert p.returncode == 1 and p.stdout.startswith(b"Usage: php-cgi") and b"Error in argument" in p.stderr


def test_odd_environments(folder):
    """Whatever a broken server sends: a head that is one, and no crash."""
    rng = random.Random(7)
    names = ["REQUEST_METHOD", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH", "SCRIPT_NAME", "PATH_INFO",
             "PATH_TRANSLATED", "DOCUMENT_ROOT", "REQUEST_URI", "SERVER_NAME", "SERVER_PROTOCOL",
             "HTTP_COOKIE", "HTTP_HOST", "HTTP_AUTHORIZATION", "HTTP_", "HTTP_X-Y", "HTTP_A B"]
    values = ["", " ", "/", "//", "/..", "x" * 9000, "%", "%00", "\r\nX: y", "\u00ff\u00fe", "a=b&" * 999,
              "Basic !!!", "Digest x=", "multipart/form-data; boundary=", "0", "HTTP/9", ";=;,", "[]=[[["]
    for _ in range(60):
        env = {n: rng.choice(values) for n in rng.sample(names, rng.randint(1, len(names)))}
        p = run(folder / "php-cgi", folder, "show.php", {**env, "REDIRECT_STATUS": "1"}, [], "body")
        assert p.returncode in (0, 255), (env, p)
        head = p.stdout.split(b"\r\n\r\n")[0]
        for line in head.split(b"\r\n"):
            assert re.match(rb"[\w-]+: ", line), (env, line)


def test_reader_leaves(folder):
    """A server that closes its end stops the script at the next output."""
    (folder / "endless.php").write_text("<?php while (true) echo str_repeat('x', 10000);")
    p = subprocess.Popen([folder / "php-cgi"], env={**GET, "SCRIPT_FILENAME": f"{folder}/endless.php",
                                                      "ASAN_OPTIONS": os.environ["ASAN_OPTIONS"]},
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    os.read(p.stdout.fileno(), 100)
    p.stdout.close()
    assert p.wait(timeout=30) is not None
