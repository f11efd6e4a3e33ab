# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The requests of walk_cases.py, answered by nginx + php-fpm, Apache httpd with mod_php, and ephpm.
Where ephpm and nginx differ, KNOWN has to say why. Where nginx and Apache httpd differ, ephpm
follows nginx; the report lists it.

Needs ../shared/apps (what starts the peers), nginx, php-fpm, Apache httpd with mod_php.
"""
import fnmatch
import hashlib
import os
import socket
import subprocess
import tempfile

import pytest

import differences
import ephpm
import peers
import walk_cases
from differences import Line, Outcome
from httpc import Connection

INI = {"post_max_size": "3G", "upload_max_filesize": "3G", "max_file_uploads": "1100",
       "max_input_vars": "20000"}
STRICT, SIZES, RANGES = "Strict parsing", "Sizes of a request's head", "Ranges"
REPEATED, HOPS = "Repeated request headers", "Fields that concern the connection"
REFUSALS, HOST = "Statuses of refusals", "Host of an absolute request target"
CONDITIONS, PAGES = "Conditional requests", "Error pages"
TYPES, COMPRESSION = "Types of static files", "Compression"

KNOWN = [
    Line("Empty variables are absent", "nginx",
         r'server\[(CONTENT_LENGTH|CONTENT_TYPE|PATH_INFO|REMOTE_USER)\] = ""'),
    Line("Empty variables are absent", "nginx", r'header\[content-(length|type)\] = ""'),
    Line("Empty variables are absent", "ephpm", r"header = \[\]", "version/1.0-without-host"),
    Line("No REMOTE_USER from the client", "nginx", r'server\[REMOTE_USER\] = ".*"',
         "authorization/*"),
    Line("PATH_TRANSLATED", "ephpm", r'server\[PATH_TRANSLATED\] = ".*"', "path/*"),
    Line("DOCUMENT_URI", "nginx", r'server\[DOCUMENT_URI\] = "/\w+(/index)?\.php"', "path/*"),
    Line("DOCUMENT_URI", "ephpm", r'server\[DOCUMENT_URI\] = "/\w+(/index)?\.php/.*"', "path/*"),
    Line(REPEATED, "both", r'(server\[HTTP_|header\[).*', "field/repeated/*"),
    Line(REPEATED, "both", r'(server\[HTTP_COOKIE|header\[cookie|cookie\[).*', "cookie/two-*"),
    Outcome(REPEATED, "200", "400", "field/repeated/content-type"),
    Outcome(REPEATED, "400", "200", "field/repeated/if-none-match"),
    Line(HOST, "nginx", r'(server\[HTTP_HOST\]|header\[host\]) = "conf.test"',
         "host/absolute-form*"),
    Line(HOST, "ephpm", r'(server\[HTTP_HOST\]|header\[host\]) = "(?i:abs.test)(:81)?"',
         "host/absolute-form*"),
    Line(HOST, "nginx", r'server\[REQUEST_URI\] = "\?x=1"', "host/absolute-form-query"),
    Line(HOST, "ephpm", r'server\[REQUEST_URI\] = "/\?x=1"', "host/absolute-form-query"),
    Line(TYPES, "nginx", r"(?i:content-type): (text/(html|plain|css)|application/json)"),
    Line(TYPES, "ephpm",
         r"(?i:content-type): (text/(html|plain|css)|application/json); charset=utf-8"),
    Line(TYPES, "nginx", r"content-type: application/javascript"),
    Line(TYPES, "ephpm", r"content-type: text/javascript; charset=utf-8"),
    Line(PAGES, "ephpm", r"allow: GET, HEAD"),
    Line(PAGES, "nginx", r"then: closed", "condition/*"),
    Line(PAGES, "ephpm", r"then: 200", "condition/*"),
    Line("Redirects of directories", "nginx", r"location: http://conf.test:\d+(/.*)"),
    Line("Redirects of directories", "ephpm", r"location: /(dir|plain)/(\?a=b)?"),
    Outcome("Directories without an index file", "403", "200", "path/dir-empty", "head/*empty/"),
    Outcome("Directories without an index file", "301", "200", "path/dir-empty-no-slash"),
    Line(HOPS, "nginx", r'(server\[HTTP_TRANSFER_ENCODING\]|header\[transfer-encoding\]) = .*'),
    Line(HOPS, "nginx", r"trailer: x", "answer/*"),
    Line("100 Continue", "nginx", r"interim: 100", "expect/*"),
    Line("Persistent connections of HTTP/1.0", "nginx", "then: closed", "version/1.0-keep-alive"),
    Line("Persistent connections of HTTP/1.0", "ephpm", "then: 200", "version/1.0-keep-alive"),
    Outcome("Methods", "400", "200", "method/get", "method/Post", "method/FOO!BAR",
            "method/options-star"),
    Outcome("Methods", "405", "200", "method/index/*"),
    Outcome("Methods", "400", "405", "method/static/get", "method/static/Post",
            "method/static/FOO!BAR", "method/connect-authority"),
    Outcome(STRICT, "200", "400", "method/leading-two-crlf", "method/two-spaces", "version/1.10",
            "version/1.1 ", "path/hash", "field/control", "field/delete", "field/no-colon",
            "field/brackets", "field/high-name", "field/equals", "field/slash", "field/lf-only",
            "chunked/lf", "chunked/space", "chunked/extension-space", "chunked/bad-trailer",
            "host/*"),
    Outcome(STRICT, "200", "505", "version/1.2"),
    Outcome(STRICT, "501", "200", "framing/tab"),
    Line(STRICT, "nginx", r'(server\[HTTP_X_A\]|header\[x-a\]) = "\\tv\\tw\\t"', "field/tab"),
    Line(STRICT, "ephpm", r'(server\[HTTP_X_A\]|header\[x-a\]) = "v\\tw"', "field/tab"),
    Line(STRICT, "nginx", r'(server\[CONTENT_LENGTH\]|header\[content-length\]) = "0003"',
         "framing/length/zeros"),
    Line(STRICT, "ephpm", r'(server\[CONTENT_LENGTH\]|header\[content-length\]) = "3"',
         "framing/length/zeros"),
    Outcome(REFUSALS, "400", "505", "version/0.9"),
    Outcome(REFUSALS, "505", "400", "version/11"),
    Outcome(REFUSALS, "closed", "400", "version/none"),
    Outcome(REFUSALS, "501", "400", "framing/*"),
    Outcome(REFUSALS, "400", "431", "field/60-KB"),
    Outcome(SIZES, "400", "200", "field/long-9000"),
    Outcome(SIZES, "200", "431", "field/101-fields"),
    Line("Line ends in paths", "both",
         r'server\[(DOCUMENT_URI|PATH_INFO|PHP_SELF|SCRIPT_\w+)\] = .*', "path/newline-info"),
    Outcome(CONDITIONS, "200", "304", "condition/*/ims-new", "condition/*/inm-same-ims-old"),
    Outcome("Answers without a body", "not HTTP: 204 announces a body", "204",
            "answer/field/204-length"),
    Line(RANGES, "ephpm", "accept-ranges: bytes"),
    # The types in its parts are longer, see above.
    Line(RANGES, "both", r"content-length: \d+", "range/static/*"),
    Outcome(RANGES, "416", "200", "range/static/*", "range/head/static/*"),
    Outcome(RANGES, "416", "206", "range/static/huge", "range/static/comma*"),
    Outcome(RANGES, "206", "200", "range/head/static/*"),
    *(Line(COMPRESSION, "both", r"(content-encoding|etag|accept-ranges|vary): .*", f"coding/{case}")
      for case in ("*/star", "*/x-gzip", "*/identity-first", "via/*", "1.0/*", "head/big.php",
                   "answer/1024", "answer/no-transform", "answer/500", "answer/vary")),
    Line(COMPRESSION, "both", r"a line of text|\(\d+ bytes, .*\)", "coding/*/star"),
    Outcome(COMPRESSION, "200", "206", "coding/range/big.txt"),
]

# Where Apache httpd differs from both: the row of the table in docs/differences.md, and the cases.
APACHE = {
    "a chunked body": ["chunked/*", "framing/upper", "framing/tab", "expect/chunked"],
    "a body that is malformed, or too long": ["chunked/*", "framing/length/max"],
    "`X_A`, `X.A`, `X!A`, `Proxy`": [
        "field/underscore", "field/dot", "field/tokens", "field/proxy", "field/http-host",
        "field/repeated/dash-underscore", "framing/underscore"],
    "`X--A` in `getallheaders()`": ["field/minus", "field/two-minus"],
    "two `Cookie` fields": ["cookie/two-*"],
    "two `Content-Type` or `Authorization` fields": [
        "field/repeated/content-type", "field/repeated/authorization"],
    "folded header lines": ["field/fold*"],
    "`Transfer-Encoding` with `Content-Length`, with another coding, with HTTP/1.0": [
        "framing/both*", "framing/twice", "framing/gzip", "framing/list",
        "version/1.0-chunked"],
    "60 KiB of fields; 101 fields": ["field/60-KB", "field/101-fields"],
    "`Expect` of something else": ["expect/other", "expect/list"],
    "unusual methods, for a file": ["method/static/*", "method/directory/OPTIONS"],
    "`POST` to a file": ["method/directory/POST", "body/static/*", "chunked/static"],
    "`TRACE`, `CONNECT`": ["method/TRACE", "method/CONNECT", "method/connect-authority"],
    "a missing `.php` file and a front controller": [
        "path/none-php*", "path/front-php-inside", "head/*none.php"],
    "`/file.txt/more`": ["path/static-*"],
    "`%2F`, `%5C`, `%25` in a path; `%00`": ["path/*slash*", "path/double-encoded", "path/nul*"],
    "a name of more than 255 bytes in a path": ["path/long"],
    "absolute request target": ["host/absolute-form*"],
    "`Host: name:`, without a port": ["host/colon-only"],
    "`HTTP/2.0` in a request line": ["version/2.0"],
    "`PATH_TRANSLATED`": ["path/*info*", "path/trailing-slash*"],
    "redirect of a directory": ["path/dir*", "head/*plain"],
    "odd lists of ranges of a file": ["range/static/*"],
    "`Range` for a script": ["range/php/*", "range/post/*"],
    "412": ["condition/*"],
    "`header('Status: 404 Gone')`": ["answer/field/status-field"],
    "`X-Accel-...` headers of a script": ["answer/field/accel-expires"],
    "compressed answers": ["coding/*"],
    "": ["path/well-known"],  # only so in the peer's configuration
}


@pytest.fixture(scope="module")
def root():
    with peers.document_root(walk_cases.FILES) as folder:
        yield folder


def unlimited(nginx_conf):
    return nginx_conf.replace("max_body_size 64m", "max_body_size 3g")


UNLIMITED = {"server": {"request": {"max_body_size": "3GB"}}}


def walk(peer, globs=("*",)):
    with Connection(peer.address) as c:
        peer.etag = c.request(target="/static/ten.txt").get("ETag").encode()
    return {case.name: peers.answer(peer, case) for case in walk_cases.CASES
            if any(fnmatch.fnmatchcase(case.name, g) for g in globs)}


@pytest.fixture(scope="module")
def answers(root):
    """{"nginx": {case: lines}, "apache": ..., "ephpm": ...}"""
    peers.need("nginx", "apache")
    out = {}
    with peers.nginx(root, INI, unlimited) as peer:
        out["nginx"] = walk(peer)
    with peers.apache(root, INI) as peer:
        out["apache"] = walk(peer)
    with peers.ours(root, INI, UNLIMITED) as s:
        out["ephpm"] = walk(s)
        s.check()
    return out


def test_report_of_all_differences(answers, capsys):
    path = differences.write_report("requests", answers, KNOWN)
    with capsys.disabled():
        print(f"\nall differences: {path}")
    assert len(answers["ephpm"]) >= 800


def test_only_known_differences(answers):
    bad = {}
    for name, nginx in answers["nginx"].items():
        if left := differences.unexplained(name, nginx, answers["ephpm"][name], KNOWN):
            bad[name] = left
    assert not bad, "\n".join(f"{name}:\n  " + "\n  ".join(v) for name, v in bad.items())


def test_every_known_difference_is_there(answers):
    """A row that explains nothing any more shall go. Other versions of nginx have fewer."""
    version = subprocess.run(["nginx", "-v"], stderr=subprocess.PIPE, text=True, check=True).stderr
    if "nginx/1.22." not in version:
        pytest.skip(f"the rows are those of nginx 1.22, this is {version.strip()}")
    used = set()
    for name, nginx in answers["nginx"].items():
        rest = [k for k in KNOWN if k not in used]
        used |= differences.rows_in_use(name, nginx, answers["ephpm"][name], rest)
    unused = [vars(k) for k in KNOWN if k not in used]
    assert not unused


def test_bodies_are_the_same_everywhere(answers):
    """Forms, uploads and other bodies are PHP's own matter: no server may differ."""
    names = [n for n in answers["nginx"] if n.startswith(("multipart/", "body/form/", "query/"))]
    assert len(names) > 180
    for name in names:
        if name != "multipart/put":
            assert answers["nginx"][name][0] == answers["apache"][name][0] == "status: 200", name


def test_differences_of_apache_are_in_the_table(answers):
    table = (ephpm.REPOSITORY / "docs/differences.md").read_text()
    assert not [row for row in APACHE if row and f"\n| {row} |" not in table]
    globs = sum(APACHE.values(), [])
    left = {}
    for name, nginx in answers["nginx"].items():
        lines = differences.apache_lines(answers["apache"][name], nginx, answers["ephpm"][name])
        if lines and not any(fnmatch.fnmatchcase(name, g) for g in globs):
            left[name] = lines
    assert not left


def test_most_answers_are_identical_to_a_peer(answers):
    same = {peer: sum(answers[peer][n] == answers["ephpm"][n] for n in answers["ephpm"])
            for peer in ("nginx", "apache")}
    assert same["nginx"] > 270 and same["apache"] > 230, same


def test_known_differences_are_documented():
    assert {k.heading for k in KNOWN} <= differences.headings()


def test_bodies_over_the_limits_of_php_are_the_same(root):
    """What does not fit: PHP's defaults for the number of files and fields, small sizes."""
    ini = {"max_file_uploads": "20", "max_input_vars": "1000", "max_multipart_body_parts": "-1",
           "post_max_size": "1M", "upload_max_filesize": "1K", "max_input_nesting_level": "64"}
    globs = ("multipart/1000-*", "multipart/1-MiB", "multipart/all-bytes", "multipart/array*",
             "body/form/*", "body/size/1-MiB", "chunked/1-MiB", "query/*", "cookie/*")
    peers.need("nginx")
    with peers.nginx(root, ini, unlimited) as peer:
        nginx = walk(peer, globs)
    with peers.ours(root, ini, UNLIMITED) as s:
        ephpm_ = walk(s, globs)
        s.check()
    assert len(nginx) > 80
    left = {n: differences.unexplained(n, nginx[n], ephpm_[n], KNOWN) for n in nginx}
    assert not {n: v for n, v in left.items() if v}
    # The limits do bite: neither all files and fields, nor any of what is too long as a whole.
    assert "post = []" in nginx["multipart/1-MiB"] and "files = []" in nginx["multipart/1-MiB"]
    assert any('"f19"' in v or "[f19]" in v for v in nginx["multipart/1000-files"])
    assert not any("[f20]" in v for v in nginx["multipart/1000-files"])


# --- more than two gigabytes ---------------------------------------------------------------------

HUGE = (2 << 30) + 4097
HUGE_PHP = """<?php
$f = $_FILES['f'] ?? null;
$h = $f ? fopen($f['tmp_name'], 'r') : null;
if ($h) fseek($h, -4097, SEEK_END);
echo json_encode([$f['size'] ?? null, $f['error'] ?? null, $h ? md5(stream_get_contents($h)) : null,
    $_SERVER['CONTENT_LENGTH'], $_POST]);
"""


def send_huge(address):
    """Uploads a file of more than 2 GiB, nearly all of it a hole."""
    head = b'--BB\r\nContent-Disposition: form-data; name="f"; filename="h.bin"\r\n\r\n'
    tail = b'\r\n--BB\r\nContent-Disposition: form-data; name="a"\r\n\r\nlast\r\n--BB--\r\n'
    with tempfile.TemporaryFile() as f, Connection(address, timeout=300) as c:
        f.truncate(HUGE)
        os.pwrite(f.fileno(), b"x" * 4097, HUGE - 4097)
        c.send(b"POST /huge.php HTTP/1.1\r\nHost: conf.test\r\nConnection: close\r\n"
               b"Content-Type: multipart/form-data; boundary=BB\r\n"
               b"Content-Length: %d\r\n\r\n%s" % (len(head) + HUGE + len(tail), head))
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        c.sock.sendfile(f)
        c.send(tail)
        return c.read_response()


@pytest.mark.skipif(not os.environ.get("EPHPM_TEST_HUGE"),
                    reason="writes 8 GiB below /tmp and takes minutes; EPHPM_TEST_HUGE=1 runs it")
def test_upload_of_more_than_two_gigabytes():
    peers.need("nginx")
    with peers.document_root({"huge.php": HUGE_PHP}) as root:
        with peers.nginx(root, INI, unlimited) as peer:
            nginx = send_huge(peer.address)
        with peers.ours(root, INI, UNLIMITED) as s:
            r = send_huge(s.address)
        assert (r.status, r.body) == (nginx.status, nginx.body)
        assert r.text.startswith(f'[{HUGE},0,"{hashlib.md5(b"x" * 4097).hexdigest()}"'), r
