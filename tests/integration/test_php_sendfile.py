# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Files that PHP has the server send from folders outside of the document root ([[server.internal]]):
X-Accel-Redirect, X-Sendfile, X-Accel-Mapping, and who cannot reach them."""
import json
import os
import pathlib

import pytest

import ephpm
from scripts import snippet

CONFIG = """
[[server.internal]]
path = "/protected/"
dir = "{dir}/store"
[[server.internal]]
path = "/protected/deeper"
dir = "{dir}/current/"
[[server.internal]]
path = "/gone/"
dir = "{dir}/no-such-folder"
"""
DATA = b"0123456789" * 100
SEND = "<?php header($_GET['h']); header('Content-Type: application/x-thing'); echo 'replaced';"
SYMFONY = "/usr/share/php/Symfony/Component/HttpFoundation/autoload.php"


def fill(s):
    for path, data in {"store/a.bin": DATA, "store/sub/b c+d%.txt": b"odd", "store/p.php": b"<?php 1;",
                       "store/\u00fc.txt": b"utf", "release/c.txt": b"deep", "secret.txt": b"root:",
                       "store-other/x.txt": b"root:"}.items():
        full = s.dir / path
        full.parent.mkdir(exist_ok=True)
        full.write_bytes(data)
    (s.dir / "store/out.txt").symlink_to(s.dir / "secret.txt")
    (s.dir / "store/outdir").symlink_to("/etc")
    (s.dir / "store/inner.txt").symlink_to("a.bin")
    (s.dir / "current").symlink_to("release")
    (s.dir / "store/unreadable").write_bytes(b"root:")
    (s.dir / "store/unreadable").chmod(0)
    os.mkfifo(s.dir / "store/fifo")


@pytest.fixture(scope="module")
def server():
    s = ephpm.Server(CONFIG, {
        "send.php": SEND, "index.php": "<?php echo 'front';", "a.txt": "of the root", "x.php~": "src",
        "protected/a.bin": "shadowed", "protected/run.php": "<?php echo 'ran';",
        "protectedness.txt": "another name", ".user.ini": "precision = 14\n"}, start=False)
    fill(s)
    s.start()
    with s:
        yield s


def send(s, header, **more):
    return s.request(more.pop("method", "GET"), "/send.php?h=" + header.replace("%", "%25").replace(
        "+", "%2B").replace(" ", "%20").replace("\u00fc", "%C3%BC").replace("#", "%23"), **more)


@pytest.mark.parametrize("named, body", [
    ("/protected/a.bin", DATA),
    ("/protected/sub/b%20c+d%25.txt", b"odd"),
    ("/protected/sub/b c+d%25.txt", b"odd"),
    ("/protected/\u00fc.txt", b"utf"),
    ("/protected/%C3%BC.txt", b"utf"),
    ("%2Fprotected%2Fa.bin", DATA), ("%2fprotected/a.bin?q", DATA),
    ("/protected/p.php", b"<?php 1;"),
    ("/protected/inner.txt", DATA),
    ("/protected/sub/../a.bin", DATA),
    ("/protected//a.bin", DATA),
    ("/protected/a.bin?with=query", DATA),
    ("/protected/deeper/c.txt", b"deep"),
    ("/a.txt", b"of the root"),
])
def test_accel_redirect(server, named, body):
    r = send(server, f"X-Accel-Redirect: {named}")
    assert (r.status, r.body) == (200, body)
    assert r.get("Content-Type") == "application/x-thing"
    assert r.get("Content-Length") == str(len(body)) and "X-Accel-Redirect" not in r


@pytest.mark.parametrize("named", [
    "/protected/none", "/protected/", "/protected", "/protected/sub", "/protected/out.txt",
    "/protected/outdir/hostname", "/protected/unreadable", "/protected/fifo",
    "/protected/../secret.txt", "/protected/%2e%2e/secret.txt", "/protected/..%2fsecret.txt",
    "/../secret.txt", "/protected/a.bin%00", "/protected/%zz", "protected/a.bin", "/gone/x",
    "%2F..%2Fsecret.txt", "%2", "%2F", "/protected-other/x.txt", "/send.php", "/SEND.PHP", "/x.php~", "/.user.ini",
    "http://localhost/protected/a.bin", "/protected/deeper/../../secret.txt",
])
def test_accel_redirect_that_leads_nowhere_or_out_is_404(server, named):
    start = len(server.log())
    r = send(server, f"X-Accel-Redirect: {named}")
    assert r.status == 404
    server.wait_log("internal_file_refused", start=start)
    assert b"root:" not in r.body and b"<?php" not in r.body and DATA not in r.body


@pytest.mark.parametrize("path, status", [
    ("store/a.bin", 200), ("release/c.txt", 200), ("current/c.txt", 200), ("root/a.txt", 200),
    ("store/sub/../a.bin", 200), ("store/../secret.txt", 404), ("secret.txt", 404),
    ("store/out.txt", 404), ("store/outdir/hostname", 404), ("store-other/x.txt", 404),
    ("store", 404), ("root/send.php", 404),
])
def test_sendfile(server, path, status):
    r = send(server, f"X-Sendfile: {server.dir}/{path}")
    assert r.status == status and "X-Sendfile" not in r
    assert b"root:" not in r.body and b"<?php" not in r.body


@pytest.mark.parametrize("target", [
    "/protected/a.bin", "/protected/", "/protected", "/protected/none", "/protected/run.php",
    "/protected/run.php/info", "//protected/a.bin", "/x/../protected/a.bin", "/%70rotected/a.bin",
    "/protected%2Fa.bin", "/protected/deeper/c.txt", "/protected/../protected/a.bin", "/gone/x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_client_cannot_ask_for_it(server, target, method):
    r = server.request(method, target, body=b"x" if method == "POST" else None)
    assert r.status == 404 and b"ran" not in r.body and DATA not in r.body


def test_folder_that_is_missing_is_told_at_the_start(server):
    assert len([x for x in server.log_lines("config_warning") if "no-such-folder for /gone/" in x]) == 1
    assert "store for" not in server.log()


def test_other_names_are_not_internal(server):
    assert server.get("/protectedness.txt").text == "another name"
    assert server.get("/Protected/x").text == "front"


def test_ranges_conditions_and_head(server):
    r = send(server, "X-Accel-Redirect: /protected/a.bin", headers={"Range": "bytes=5-14"})
    assert (r.status, r.body, r.get("Content-Range")) == (206, b"5678901234", "bytes 5-14/1000")
    r = send(server, "X-Accel-Redirect: /protected/a.bin", method="HEAD")
    assert (r.status, r.body, r.get("Content-Length")) == (200, b"", "1000")
    r = send(server, "X-Accel-Redirect: /protected/a.bin")
    again = send(server, "X-Accel-Redirect: /protected/a.bin",
                 headers={"If-None-Match": r.get("ETag")})
    assert (again.status, again.body) == (304, b"")


ASK = """echo json_encode([$_SERVER['HTTP_X_SENDFILE_TYPE'] ?? null,
    $_SERVER['HTTP_X_ACCEL_MAPPING'] ?? null, getallheaders()['X-Accel-Mapping'] ?? null]);"""


def test_php_is_told_and_clients_cannot_say_it(server, serve):
    path = snippet(server, ASK)
    real = pathlib.Path(server.dir).resolve()
    mapping = (f"{real}/store/=/protected/, {real}/release/=/protected/deeper/, "
               f"{real}/no-such-folder/=/gone/")
    for headers in ((), {"X-Sendfile-Type": "X-Sendfile", "x-accel-mapping": "/=/protected/"}):
        assert json.loads(server.get(path, headers).text) == ["X-Accel-Redirect", mapping, mapping]
    other = serve()
    path = snippet(other, ASK)
    assert json.loads(other.get(path).text) == [None, None, None]
    # With nothing configured it is a header like any other, as under nginx.
    assert json.loads(other.get(path, {"X-Sendfile-Type": "a", "X-Accel-Mapping": "b"}).text) == [
        "a", "b", "b"]


def test_client_cannot_say_it_with_underscores(serve):
    """X_Accel_Mapping is the same variable; getenv() found it first."""
    s = ephpm.Server("[server.request]\nunderscores_in_headers = true\n" + CONFIG, start=False)
    fill(s)
    s.start()
    with s:
        path = snippet(s, "echo getenv('HTTP_X_SENDFILE_TYPE'), getenv('HTTP_X_ACCEL_MAPPING');")
        text = s.get(path, {"X_Sendfile_Type": "evil", "X-Accel_Mapping": "evil"}).text
        assert text.startswith("X-Accel-Redirect/") and "evil" not in text


def test_document_root_that_became_a_link_is_not_followed(serve):
    """The folder that was served counts, not what a script puts in its place."""
    s = serve(files={"swap.php": "<?php rename($_GET['root'], $_GET['root'] . '-was');"
                                 " symlink($_GET['to'], $_GET['root']); header('X-Accel-Redirect: /secret.txt');"})
    other = s.dir / "elsewhere"
    other.mkdir()
    (other / "secret.txt").write_text("root:")
    s.dir.chmod(0o777)
    r = s.get(f"/swap.php?root={s.root}&to={other}")
    assert s.root.is_symlink() and (s.root / "secret.txt").read_text() == "root:"
    assert r.status == 404 and "root:" not in r.text


@pytest.mark.skipif(not os.path.exists(SYMFONY), reason="php-symfony-http-foundation is missing")
@pytest.mark.parametrize("file, body", [("store/a.bin", DATA), ("store/inner.txt", DATA),
                                        ("current/c.txt", b"deep")])
def test_binary_file_response_of_symfony(server, file, body):
    path = snippet(server, f"""require '{SYMFONY}';
        use Symfony\\Component\\HttpFoundation\\{{BinaryFileResponse, Request}};
        BinaryFileResponse::trustXSendfileTypeHeader();
        $request = Request::createFromGlobals();
        $r = new BinaryFileResponse('{server.dir}/{file}', 200, ['Content-Type' => 'x/y']);
        $r->setContentDisposition('attachment');
        $r->prepare($request); $r->headers->set('X-Was', $r->headers->get('X-Accel-Redirect'));
        $r->send();""")
    r = server.get(path)
    assert (r.status, r.body) == (200, body), r
    assert r.get("X-Was").replace("%2F", "/").startswith("/protected/") and r.get("Content-Length") == str(len(body))
    assert r.get("Content-Disposition").startswith("attachment;")
    r = server.get(path, {"Range": "bytes=1-2"})
    assert (r.status, r.body) == (206, body[1:3])


def test_folders_of_one_site(serve):
    s = ephpm.Server("""
[server]
sites_dir = "{root}/sites"
[php]
workers = 1
workers_min = 1
[[server.internal]]
path = "/files/"
dir = "{dir}/store"
site = "alpha"
""", {f"sites/{x}/send.php": SEND for x in ("alpha", "beta")}, start=False)
    fill(s)
    s.write("sites/beta/files/own.txt", "of beta")
    s.start()
    with s:
        host = {"Host": "alpha"}
        assert send(s, "X-Accel-Redirect: /files/a.bin", headers=host).body == DATA
        assert s.get("/files/a.bin", host).status == 404
        host = {"Host": "beta"}
        assert send(s, "X-Accel-Redirect: /files/a.bin", headers=host).status == 404
        assert send(s, f"X-Sendfile: {s.dir}/store/a.bin", headers=host).status == 404
        assert s.get("/files/own.txt", host).text == "of beta"


def test_reload_changes_them(serve):
    s = ephpm.Server(start=False)
    fill(s)
    s.write("send.php", SEND)
    s.start()
    with s:
        assert send(s, "X-Accel-Redirect: /protected/a.bin").status == 404
        s.write_config(CONFIG)
        assert s.cli("reload").returncode == 0
        assert send(s, "X-Accel-Redirect: /protected/a.bin").body == DATA


@pytest.mark.parametrize("table, says", [
    ('path = "/"\ndir = "/srv"', "would leave nothing to clients"),
    ('path = "/a/"\ndir = "srv"', '"srv" must be an absolute path'),
    ('path = "/a/"', "dir is missing"),
    ('path = "/a=b/"\ndir = "/srv"', "must not hold a comma, an equals sign"),
    ('path = "/a/"\ndir = "/srv"\n[[server.internal]]\npath = "/a/"\ndir = "/opt"', "has two tables"),
    ('path = "/a/"\ndirectory = "/srv"', "unknown key directory"),
])
def test_mistakes_are_refused(table, says):
    s = ephpm.Server(start=False)
    s.config_path.write_text("[[server.internal]]\n" + table + "\n")
    done = s.cli("config")
    s.__exit__(None)
    assert done.returncode != 0 and says in done.stderr and "server.internal" in done.stderr
