# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Which file or script a path names, and what PHP is told about it."""
import json
import os

import pytest

import ephpm
import scripts

FILES = {
    "index.php": scripts.ECHO, "t.php": scripts.ECHO, "sub/t.php": scripts.ECHO,
    "dir/index.php": scripts.ECHO, "dir2/index.html": "<p>dir2", "empty/x.txt": "x",
    "php/xxx/yyy.php": scripts.ECHO, "a.php/b.php": scripts.ECHO, "a b.php": scripts.ECHO,
    "cat.jpg": "<?php echo 'executed';", "plain.txt": "plain",
    "x.php~": "<?php secret", "x.php.bak": "<?php secret", "UP.PHP": "<?php secret",
    ".env": "SECRET=1", ".git/config": "[secret]", ".user.ini": "secret=1",
    "sub/.htaccess": "secret",
    ".well-known/acme": "token", "noext": "noext", "blocked/f.txt": "secret",
    "vendor/lib.php": "<?php echo 'vendor';", "ünï.txt": "unicode", "%41.txt": "percent",
}

CONFIG = """
[server.security]
blocked_paths = ["/blocked/*", "/blocked"]
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def php(r):
    assert r.status == 200, r
    return json.loads(r.text)["server"]


@pytest.mark.parametrize("target, script, info, self_", [
    ("/", "/index.php", None, "/index.php"),
    ("/index.php", "/index.php", None, "/index.php"),
    ("/index.php/en", "/index.php", "/en", "/index.php/en"),
    ("/index.php/", "/index.php", "/", "/index.php/"),
    ("/sub/t.php/en/x?a=1&b", "/sub/t.php", "/en/x", "/sub/t.php/en/x"),
    ("/php/xxx/yyy.php", "/php/xxx/yyy.php", None, "/php/xxx/yyy.php"),
    ("/a.php/b.php", "/a.php/b.php", None, "/a.php/b.php"),
    ("/a.php/b.php/c", "/a.php/b.php", "/c", "/a.php/b.php/c"),
    ("/a%20b.php/c%20d", "/a b.php", "/c d", "/a b.php/c d"),
    ("/t.php/a%2Fb", "/t.php", "/a/b", "/t.php/a/b"),
    ("/t.php/x.php/y", "/t.php", "/x.php/y", "/t.php/x.php/y"),
    ("/dir/", "/dir/index.php", None, "/dir/index.php"),
    ("/dir/../t.php", "/t.php", None, "/t.php"),
    ("//t.php", "/t.php", None, "/t.php"),
    ("/./sub//t.php", "/sub/t.php", None, "/sub/t.php"),
    ("/pretty/url", "/index.php", None, "/index.php"),
    ("/pretty/url.html?x=1", "/index.php", None, "/index.php"),
    ("/nodir/", "/index.php", None, "/index.php"),
])
def test_script_and_path_info(server, target, script, info, self_):
    v = php(server.get(target))
    assert v["SCRIPT_NAME"] == script
    assert v.get("PATH_INFO") == info
    assert v["PHP_SELF"] == self_
    assert v["SCRIPT_FILENAME"] == f"{server.root}{script}"
    assert v["DOCUMENT_ROOT"] == str(server.root)
    assert v["REQUEST_URI"] == target
    assert v["QUERY_STRING"] == (target.split("?", 1) + [""])[1]
    assert ("PATH_TRANSLATED" in v) == (info is not None)


def test_request_uri_stays_raw(server):
    for target in "/a%2Fb?x=%2F", "/%7Euser/?", "/a//b/./c", "/x?a=b?c=d", "/x?%zz":
        v = php(server.get(target))
        assert v["REQUEST_URI"] == target


def test_query_string_is_always_set(server):
    for target, query in ("/t.php", ""), ("/t.php?", ""), ("/t.php?a&b=%20+", "a&b=%20+"), (
            "/pretty?q=1", "q=1"):
        assert php(server.get(target))["QUERY_STRING"] == query


def test_cgi_variables(server):
    with server.connect() as c:
        v = php(c.request(target="/t.php", host="ex.org:9999"))
        assert v["REMOTE_PORT"] == str(c.port)
    assert v["HTTP_HOST"] == "ex.org:9999" and v["SERVER_NAME"] == "ex.org"
    assert v["SERVER_PORT"] == str(server.port) and v["SERVER_ADDR"] == "127.0.0.1"
    assert v["REMOTE_ADDR"] == "127.0.0.1" and v["REQUEST_SCHEME"] == "http"
    assert v["GATEWAY_INTERFACE"] == "CGI/1.1" and v["SERVER_PROTOCOL"] == "HTTP/1.1"
    assert v["REQUEST_METHOD"] == "GET" and v["REDIRECT_STATUS"] == "200"
    assert v["DOCUMENT_URI"] == "/t.php" and "SERVER_SOFTWARE" in v
    for absent in "HTTPS", "PATH_INFO", "CONTENT_LENGTH", "CONTENT_TYPE", "REMOTE_USER", "argv":
        assert absent not in v, absent
    assert v["REQUEST_TIME"] == int(v["REQUEST_TIME_FLOAT"])


def test_directory_without_slash_redirects(server):
    for target, where in ("/dir", "/dir/"), ("/dir?a=1&b", "/dir/?a=1&b"), ("/dir2", "/dir2/"):
        r = server.get(target)
        assert r.status == 301 and r.get("Location") == where


def test_redirect_never_leaves_the_host(server):
    server.write("evil.com/index.html", "x")
    for target in "//evil.com", "//evil.com/..//evil.com", "/%2Fevil.com", "/\\evil.com":
        r = server.get(target)
        where = r.get("Location", "/")
        assert where.startswith("/") and not where.startswith(("//", "/\\")), target


def test_directory_index_file(server):
    assert server.get("/dir2/").text == "<p>dir2"
    assert php(server.get("/empty/"))["SCRIPT_NAME"] == "/index.php"


def test_missing_script_goes_to_the_front_controller(server):
    v = php(server.get("/nope.php?a=1"))
    assert v["SCRIPT_NAME"] == "/index.php" and v["REQUEST_URI"] == "/nope.php?a=1"


def test_missing_script_is_404_without_front_controller(serve):
    s = serve('[server]\nfallback = ["$uri", "$uri/", "=404"]', FILES)
    for target in "/nope.php", "/sub/nope.php", "/nope.php/x", "/nope.php%0A.php", \
            "/cat.jpg/x.php", "/plain.txt/x.php":
        r = s.get(target)
        assert r.status == 404 and "arning" not in r.text and "executed" not in r.text, target


def test_image_is_not_executed_as_a_script(server):
    for target in "/cat.jpg/x.php", "/cat.jpg%00.php", "/cat.jpg/.php":
        r = server.get(target)
        assert r.text != "executed" and '"SCRIPT_NAME":"\\/cat.jpg' not in r.text, target
    assert server.get("/cat.jpg").text == "<?php echo 'executed';"


def test_newline_in_path_is_harmless(server):
    pids = {w["pid"] for w in server.workers()}
    r = server.get("/index.php/PHP%0Ais_the_x.php?" + "Q" * 1800)
    assert r.status in (200, 404)
    assert {w["pid"] for w in server.workers()} == pids


def test_hidden_files_are_denied(server):
    for target in ("/.env", "/.git/config", "/.user.ini", "/sub/.htaccess", "/%2eenv", "/.%65nv",
                   "/sub/../.env", "//.env", "/.git/", "/.nothere", "/.git%2Fconfig"):
        r = server.get(target)
        assert r.status in (403, 404) and "secret" not in r.text.lower(), target
        assert server.request("POST", target).status in (403, 404)
    assert server.get("/.well-known/acme").text == "token"


def test_php_source_is_never_sent(server):
    for target in ("/x.php~", "/x.php.bak", "/UP.PHP", "/t.php.", "/t.php%20", "/t.php::$DATA",
                   "/T.PHP", "/t.php%2e", "/t.php;x", "/index.php~"):
        for method in "GET", "POST":
            r = server.request(method, target)
            assert "<?php" not in r.text and "secret" not in r.text, (method, target)
    assert server.get("/x.php~").status in (403, 404)


def test_blocked_paths(server):
    for target in "/blocked/f.txt", "/blocked/", "/blocked", "/blocked/x.php", "/blocked%2Ff.txt", \
            "/x/../blocked/f.txt":
        r = server.get(target)
        assert r.status == 403 and "secret" not in r.text, target


def test_odd_names_are_found(server):
    assert server.get("/%C3%BCn%C3%AF.txt").text == "unicode"
    assert server.get("/%2541.txt").text == "percent"  # decoded once
    assert server.get("/noext").text == "noext"


def test_symlink_out_of_the_root_is_refused(server):
    outside = server.write(server.dir / "outside.txt", "outside")
    server.write(server.dir / "outside.php", "<?php echo 'outside';")
    os.symlink(outside, server.root / "link.txt")
    os.symlink(server.dir / "outside.php", server.root / "link.php")
    os.symlink("plain.txt", server.root / "inside.txt")
    assert server.get("/link.txt").status in (403, 404)
    assert server.get("/link.php").status in (403, 404)
    assert server.get("/inside.txt").text == "plain"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user for the server")
def test_unreadable_script_is_403(server):
    server.write("locked.php", "<?php echo 1;").chmod(0o600)
    server.write("locked.txt", "x").chmod(0o600)
    assert server.get("/locked.php").status == 403
    assert server.get("/locked.txt").status == 403


def test_fifo_is_not_served(server):
    os.mkfifo(server.root / "pipe")
    assert server.get("/pipe").status in (403, 404)


def test_missing_root_index_is_404(serve):
    s = serve("", {"x.txt": "x"})
    assert s.get("/").status in (403, 404)
    assert s.get("/nope").status == 404


def test_custom_index_and_fallback(serve):
    s = serve('[server]\nindex_files = ["home.html"]\nfallback = ["$uri", "$uri.html", "=410"]',
              {"home.html": "home", "index.php": "<?php echo 1;", "about.html": "about"})
    assert s.get("/about").text == "about"
    assert s.get("/nope").status == 410
    assert s.get("/index.php").text == "1"


def test_fallback_to_static_page_and_to_script_with_query(serve):
    s = serve('[server]\nfallback = ["$uri", "/app.php?path=$uri&$query_string"]',
              {"app.php": scripts.ECHO})
    v = json.loads(s.get("/a/b%20c?x=1").text)
    assert v["get"] == {"path": "/a/b c", "x": "1"}
    assert v["server"]["REQUEST_URI"] == "/a/b%20c?x=1"
    assert v["server"]["SCRIPT_NAME"] == "/app.php" and "PATH_INFO" not in v["server"]


def test_hidden_files_ignore_and_allow(serve):
    files = {".x": "dot", "index.php": "<?php echo 1;", ".user.ini": "a=1", ".env": "E"}
    s = serve({"server": {"static": {"hidden_files": "ignore"}}}, files)
    assert s.get("/.x").status == 404
    s = serve({"server": {"static": {"hidden_files": "allow"}}}, files)
    assert s.get("/.x").text == "dot"
    assert s.get("/.user.ini").status in (403, 404)


def test_allowed_php_paths(serve):
    s = serve('[server.security]\nallowed_php_paths = ["/index.php", "/ok/*"]', FILES | {
        "ok/a.php": "<?php echo 'ok';"})
    assert s.get("/ok/a.php").text == "ok"
    assert s.get("/").status == 200
    r = s.get("/vendor/lib.php")
    assert r.status == 403 and "vendor" not in r.text


def test_root_may_be_a_symlink(serve):
    s = serve({"server": {"document_root": "{dir}/current"}}, start=False)
    (s.dir / "r1").mkdir(mode=0o755)
    s.write(s.dir / "r1/index.php", "<?php echo __DIR__, ' ', $_SERVER['DOCUMENT_ROOT'];")
    os.symlink("r1", s.dir / "current")
    s.start()
    a, b = s.get("/").text.split()
    assert a == b == str(s.dir / "r1")
