# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Odd and broken forms, uploads, cookies and query strings: what PHP makes of them, here and under
nginx and php-fpm. The expected values are what php-fpm 8.2 answers. Never is a worker lost, a
temporary file left, or something of one request in the next."""
import json
import random

import pytest

import ephpm
import peer
from test_php_input import B, parts

DUMP = """<?php
$files = [];
foreach ($_FILES as $k => $f) {
    if (is_string($f['tmp_name'])) {
        $f[] = $f['tmp_name'] === '' ? '' : file_get_contents($f['tmp_name']);
        unset($f['tmp_name'], $f['type']);
    } else $f = $f['name'];
    $files[$k] = is_array(reset($f)) ? $f : array_values($f);
}
$out = ['post' => $_POST, 'files' => $files, 'length' => strlen(file_get_contents('php://input')),
    'warning' => error_get_last()['message'] ?? null, 'get' => $_GET, 'cookie' => $_COOKIE];
header('X-Pid: ' . getmypid());
echo json_encode(array_filter($out), JSON_FORCE_OBJECT | JSON_INVALID_UTF8_SUBSTITUTE);
"""
VALUES = {"upload_max_filesize": "100K", "max_input_vars": "50", "max_file_uploads": "3",
          "max_multipart_body_parts": "8", "max_input_nesting_level": "5",
          "upload_tmp_dir": "{dir}/tmp", "display_errors": "0"}
M, F = "multipart/form-data; boundary=B", "application/x-www-form-urlencoded"
CD, END = b"Content-Disposition: form-data; ", b"--B--\r\n"


@pytest.fixture(scope="module", params=["ephpm", "nginx"])
def server(request):
    """Both servers: what is expected of one holds for the other."""
    if request.param == "ephpm":
        with ephpm.Server({"php": {"values": VALUES}}, {"d.php": DUMP}) as s:
            yield s
    elif peer.AVAILABLE:
        with peer.Peer(VALUES, {"d.php": DUMP}) as p:
            yield p
    else:
        pytest.skip("needs nginx, php-fpm and root")


def part(head, data=b"v"):
    return b"--B\r\n" + head + b"\r\n\r\n" + data + b"\r\n"


def field(name, data):
    return part(CD + b'name="' + name + b'"', data)


def upload(name, filename, data):
    return part(CD + b'name="' + name + b'"; filename="' + filename + b'"', data)


def dump(r):
    assert r.status == 200, r
    got = json.loads(r.text)
    if "warning" in got:
        got["warning"] = got["warning"].removeprefix("PHP Request Startup: ").split(".")[0]
    return got


def force(v):
    """Lists as the objects that PHP was told to write."""
    if isinstance(v, list):
        v = {str(i): x for i, x in enumerate(v)}
    return {k: force(x) for k, x in v.items()} if isinstance(v, dict) else v


def send(server, kind, body):
    got = dump(server.request("POST", "/d.php", {"Content-Type": kind}, body))
    assert ephpm.wait_for(lambda: not list(server.tmp.iterdir())), "a temporary file is left"
    return got


A, Z = field(b"a", b"1"), field(b"z", b"1")
# Name, type, body, and what PHP has of it: files are name, path, error, size, content.
BODIES = [
    ("fine", M, A + END,
     {'post': {'a': '1'}}),
    ("no end boundary", M, A,
     {'post': {'a': '1'}}),
    ("cut in data", M, A[:-3],
     {'post': {'a': ''}}),
    ("cut in header", M, b'--B\r\nContent-Disposition: form-data; name="a',
     {}),
    ("cut after header", M, b'--B\r\n' + CD + b'name="a"\r\n\r\n',
     {'post': {'a': ''}}),
    ("file cut", M, b'--B\r\n' + CD + b'name="f"; filename="x"\r\n\r\nhalf',
     {'files': {'f': ['x', 'x', 3, 0, '']}}),
    ("file cut after part", M, A + b'--B\r\n' + CD + b'name="f"; filename="x"\r\n\r\nhalf',
     {'post': {'a': '1'}, 'files': {'f': ['x', 'x', 3, 0, '']}}),
    ("long part header", M, part(CD+b'name="a"\r\nX-Long: '+b"y"*100000,b"1") + Z + END,
     {'post': {'a': '1', 'z': '1'}}),
    ("many part headers", M, part(CD+b'name="a"'+b"\r\nX-H: y"*5000,b"1") + Z + END,
     {'post': {'a': '1', 'z': '1'}}),
    ("empty boundary", "multipart/form-data; boundary=", A + END,
     {}),
    ("no boundary", "multipart/form-data", A + END,
     {'length': 59, 'warning': 'Missing boundary in multipart/form-data POST data'}),
    ("quoted boundary", 'multipart/form-data; boundary="B"', A + END,
     {'post': {'a': '1'}}),
    ("quoted boundary with space",
     'multipart/form-data; boundary="B C"', A.replace(b"--B",b"--B C")+b"--B C--\r\n",
     {'post': {'a': '1'}}),
    ("unclosed quote", 'multipart/form-data; boundary="B', A + END,
     {'length': 59, 'warning': 'Invalid boundary in multipart/form-data POST data'}),
    ("boundary then comma", 'multipart/form-data; boundary=B, x', A + END,
     {'post': {'a': '1'}}),
    ("boundary then semicolon", 'multipart/form-data; boundary=B; charset=utf-8', A + END,
     {'post': {'a': '1'}}),
    ("upper case BOUNDARY", 'multipart/form-data; BOUNDARY=B', A + END,
     {'post': {'a': '1'}}),
    ("other boundary in body", M, A.replace(b"--B",b"--C")+b"--C--\r\n",
     {}),
    ("preamble", M, b"hello\r\nthere\r\n" + A + END,
     {'post': {'a': '1'}}),
    ("epilogue", M, A + END + b"trailing\r\n"+Z + END,
     {'post': {'a': '1', 'z': '1'}}),
    ("bare lf", M, (A + END).replace(b"\r\n",b"\n"),
     {'post': {'a': '1'}}),
    ("empty body", M, b"",
     {}),
    ("only end", M, END,
     {}),
    ("no disposition", M, b"--B\r\nContent-Type: text/plain\r\n\r\n1\r\n" + A + END,
     {'post': {'a': '1'}}),
    ("no name", M, part(b"Content-Disposition: form-data",b"1")+A + END,
     {'warning': 'File Upload Mime headers garbled'}),
    ("empty name", M, field(b'', b"1")+A + END,
     {'post': {'a': '1'}}),
    ("attachment", M, part(b'Content-Disposition: attachment; name="a"',b"1") + END,
     {'post': {'a': '1'}}),
    ("unquoted name", M, part(CD+b'name=a', b"1") + END,
     {'post': {'a': '1'}}),
    ("single quotes", M, part(CD+b"name='a'",b"1") + END,
     {'post': {'a': '1'}}),
    ("escaped quote", M, part(CD+b'name="a\\"b"',b"1") + END,
     {'post': {'a"b': '1'}}),
    ("nul in name", M, field(b'a\0b', b"1") + END,
     {'post': {'a': '1'}}),
    ("nul in data", M, field(b'a', b"1\x002") + END,
     {'post': {'a': '1\x002'}}),
    ("nul in filename", M, upload(b'f', b'a\0b.txt', b"1") + END,
     {'files': {'f': ['a', 'a', 0, 1, '1']}}),
    ("nested", M, field(b'a[b][c]', b"1") + field(b'a[b][]', b"2") + END,
     {'post': {'a': {'b': {'c': '1', '0': '2'}}}}),
    ("too deep", M, field(b'a[1][2][3][4][5][6][7]', b"1") + field(b'z', b"1") + END,
     {'post': {'z': '1'}, 'warning': 'Input variable nesting level exceeded 5'}),
    ("open bracket", M, field(b'a[b', b"1") + END,
     {'post': {'a_b': '1'}}),
    ("close bracket", M, field(b'a]b', b"1") + END,
     {'post': {'a]b': '1'}}),
    ("leading bracket", M, field(b'[b]', b"1") + END,
     {}),
    ("after bracket", M, field(b'a[b]c', b"1") + END,
     {'post': {'a': {'b': '1'}}}),
    ("globals", M,
     field(b'GLOBALS', b"1") + field(b'GLOBALS[x]', b"1") + field(b'_SERVER[x]', b"1") + END,
     {'post': {'GLOBALS': {'x': '1'}, '_SERVER': {'x': '1'}}}),
    ("file nested", M, upload(b'f[a][b]', b'x', b"1") + END,
     {'files': {'f': {'a': {'b': 'x'}}}}),
    ("file open bracket", M, upload(b'f[a', b'x', b"1") + END,
     {}),
    ("file bracket trick", M, upload(b'f[tmp_name', b'x', b"1") + upload(b'f]', b'y', b"1") + END,
     {}),
    ("file leading bracket", M, upload(b'[tmp_name]', b'x', b"1") + END,
     {}),
    ("file without name", M, part(CD+b'filename="x"',b"1") + END,
     {'files': [['x', 'x', 0, 1, '1']]}),
    ("file path", M, upload(b'f', b'../../etc/passwd', b"1") + END,
     {'files': {'f': ['passwd', '../../etc/passwd', 0, 1, '1']}}),
    ("file windows path", M, upload(b'f', b'C:\\\\dir\\\\x.txt', b"1") + END,
     {'files': {'f': ['x.txt', 'C:\\dir\\x.txt', 0, 1, '1']}}),
    ("file utf8", M, part(CD+"name=\"f\"; filename=\"ü.txt\"".encode(),b"1") + END,
     {'files': {'f': ['ü.txt', 'ü.txt', 0, 1, '1']}}),
    ("file latin1", M, upload(b'f', b'\xfc.txt', b"1") + END,
     {'files': {'f': ['�.txt', '�.txt', 0, 1, '1']}}),
    ("file star", M, part(CD+b"name=\"f\"; filename*=UTF-8''x.txt",b"1") + END,
     {'post': {'f': '1'}}),
    ("file same name twice", M, upload(b'f', b'x', b"1") + upload(b'f', b'y', b"2") + END,
     {'files': {'f': ['y', 'y', 0, 1, '2']}}),
    ("file and field of one name", M, upload(b'f', b'x', b"1") + field(b'f', b"2") + END,
     {'post': {'f': '2'}, 'files': {'f': ['x', 'x', 0, 1, '1']}}),
    ("base64", M, part(CD+b'name="a"\r\nContent-Transfer-Encoding: base64',b"MQ==") + END,
     {'post': {'a': 'MQ=='}}),
    ("max file size garbage", M, field(b'MAX_FILE_SIZE', b"abc") + upload(b'f', b'x', b"1") + END,
     {'post': {'MAX_FILE_SIZE': 'abc'}, 'files': {'f': ['x', 'x', 0, 1, '1']}}),
    ("max file size negative", M, field(b'MAX_FILE_SIZE', b"-1") + upload(b'f', b'x', b"1") + END,
     {'post': {'MAX_FILE_SIZE': '-1'}, 'files': {'f': ['x', 'x', 2, 0, '']}}),
    ("too many parts", M, b"".join(part(CD+b'name="a%d"'%i,b"1") for i in range(12)) + END,
     {'post': {'a0': '1', 'a1': '1', 'a2': '1', 'a3': '1', 'a4': '1', 'a5': '1', 'a6': '1', 'a7': '1'},
      'warning': 'Multipart body parts limit exceeded 8'}),
    ("too many files", M, b"".join(part(CD+b'name="f%d"; filename="x"'%i,b"1") for i in range(6)) + END,
     {'files': {'f0': ['x', 'x', 0, 1, '1'], 'f1': ['x', 'x', 0, 1, '1'], 'f2': ['x', 'x', 0, 1, '1']},
      'warning': 'Maximum number of allowable file uploads has been exceeded'}),
    ("boundary in data", M, field(b'a', b"x--B y") + END,
     {'post': {'a': 'x--B y'}}),
    ("boundary prefix in data", M, field(b'a', b"x\r\n--Bee\r\ny") + END,
     {'post': {'a': 'x'}}),
    ("folded header", M, part(b'Content-Disposition: form-data;\r\n name="a"',b"1") + END,
     {'post': {'a': '1'}}),
    ("space before colon", M, part(b'Content-Disposition : form-data; name="a"',b"1") + Z + END,
     {'post': {'z': '1'}}),
    ("lower case header", M, part(b'content-disposition: form-data; name="a"',b"1") + END,
     {'post': {'a': '1'}}),
    ("multipart mixed", "multipart/mixed; boundary=B", A + END,
     {'length': 59}),
    ("multipart upper", "Multipart/Form-Data; boundary=B", A + END,
     {'post': {'a': '1'}}),
    ("type with space", " multipart/form-data ; boundary=B", A + END,
     {'post': {'a': '1'}}),
    ("form odd",
     F, b"a=1&&=x&b&c=&d[=1&e]=2&[f]=3&g[h=4& i=5&j.k=6&l m=7&n%00o=8&p=%00q&r=%zz&s=%e9&t;u=9",
     {'post': {'a': '1', 'b': '', 'c': '', 'd_': '1', 'e]': '2', 'g_h': '4',
      'i': '5', 'j_k': '6', 'l_m': '7', 'n': '8', 'p': '\x00q', 'r': '%zz', 's': '�', 't;u': '9'}, 'length': 84}),
    ("form arrays", F, b"a[]=1&a[]=2&a[x]=3&a=4&b[c][d]=1&b[c]=2&c[[d]]=1&d[]e=1",
     {'post': {'a': '4', 'b': {'c': '2'}, 'c': {'[d': '1'}, 'd': ['1']}, 'length': 55}),
    ("form deep", F, b"a[1][2][3][4][5][6]=1&b=1",
     {'post': {'b': '1'}, 'length': 25, 'warning': 'Input variable nesting level exceeded 5'}),
    ("form globals", F, b"GLOBALS=1&_SERVER[x]=1&_POST[y]=1&this=1",
     {'post': {'GLOBALS': '1', '_SERVER': {'x': '1'}, '_POST': {'y': '1'}, 'this': '1'}, 'length': 40}),
    ("form type junk", F+"x", b"a=1",
     {'length': 3}),
    ("form type semicolon", F+";", b"a=1",
     {'post': {'a': '1'}, 'length': 3}),
    ("form type comma", F+", text/plain", b"a=1",
     {'post': {'a': '1'}, 'length': 3}),
]


@pytest.mark.parametrize("kind, body, want", [c[1:] for c in BODIES], ids=[c[0] for c in BODIES])
def test_body(server, kind, body, want):
    assert send(server, kind, body) == force(want)


def test_long_names_and_boundaries(server):
    for n in 4000, 20000:
        assert send(server, M, field(b"n" * n, b"1") + A + END)["post"]["n" * n] == "1"
    assert send(server, F, b"n" * 50000 + b"=1")["post"] == {"n" * 50000: "1"}
    long = b"B" * 6000
    got = send(server, "multipart/form-data; boundary=" + "B" * 6000,
               (A + END).replace(b"--B", b"--" + long))
    assert "post" not in got
    assert got["warning"] == "Boundary too large in multipart/form-data POST data"


def test_limits_are_of_one_request(server):
    got = send(server, F, b"&".join(b"v%d=1" % i for i in range(60)))
    assert len(got["post"]) == 51 and got["warning"].startswith("Input variables exceeded 50")
    assert send(server, F, b"a=1") == {"post": {"a": "1"}, "length": 3}


@pytest.mark.parametrize("cookie, want", [
    ("a=1;b=2", {"a": "1", "b": "2"}), ("a", {"a": ""}), ("=x", {}), ("a=%zz", {"a": "%zz"}),
    ("a=1; a=2", {"a": "1"}), ("a.b=1", {"a_b": "1"}), (" c[d]=1; c[e]=2", {"c": {"d": "1", "e": "2"}}),
    ("__Host-a=1; __Secure-b=2", {"__Host-a": "1", "__Secure-b": "2"}), ("..Host-a=1", {}),
    ("_.Host-a=1", {}), ("[Host-a=1", {}), ("a=+x%20y", {"a": "+x y"}), ("a=b=c", {"a": "b=c"}),
    ('a="q q"', {"a": '"q q"'}), ("a=1,b=2", {"a": "1,b=2"}), ("\x80=\x81", {"\ufffd": "\ufffd"}),
    (";;;", {}), ("a=1;\tb=2", {"a": "1", "b": "2"}), ("a[b]=1; a=2", {"a": {"b": "1"}}),
])
def test_cookie(server, cookie, want):
    assert dump(server.get("/d.php", {"Cookie": cookie})).get("cookie", {}) == want


@pytest.mark.parametrize("query, want", [
    ("a+b=c+d", {"a_b": "c d"}), ("a=1&a=2", {"a": "2"}), ("a[]=1&a[]", {"a": {"0": "1", "1": ""}}),
    ("%5B=1", {}), ("a=%00b", {"a": "\0b"}), ("?a=1", {"?a": "1"}), ("&", {}),
    ("a%5Bb%5D=1", {"a": {"b": "1"}}), ("a=\xff", {"a": "\ufffd"}), ("a[1][2][3][4][5][6]=1&b=2", {"b": "2"}),
])
def test_query(server, query, want):
    assert dump(server.get("/d.php?" + query)).get("get", {}) == want


def test_broken_multipart_in_a_row_keeps_the_connection_and_the_worker(server):
    """On one connection, each answer is of its own request."""
    with server.connect() as c:
        for name, kind, body, want in BODIES:
            r = c.request("POST", "/d.php", {"Content-Type": kind}, body)
            assert dump(r) == force(want), name
            r = c.request("GET", "/d.php?n=" + name.replace(" ", "+"))
            assert dump(r) == {"get": {"n": name}}, name


def test_multipart_of_random_bytes_does_no_harm(server):
    rng = random.Random(5)
    pids = set()
    good = parts(("a", None, b"1", None), ("f", "x", b"data", "a/b")).replace(b"--" + B.encode(), b"--B")
    for _ in range(60):
        body = bytearray(good)
        for _ in range(rng.randrange(1, 8)):
            at = rng.randrange(len(body))
            body[at:at + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
        r = server.request("POST", "/d.php", {"Content-Type": M}, bytes(body))
        assert r.status == 200, bytes(body)
        pids.add(r.get("X-Pid"))
    assert len(pids) <= 2, "a worker was lost"
    assert ephpm.wait_for(lambda: not list(server.tmp.iterdir()))
    assert send(server, M, A + END) == {"post": {"a": "1"}}
