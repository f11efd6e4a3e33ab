# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Request bodies in PHP: forms, uploads and their error codes, php://input, limits."""
import json
import pathlib

import pytest

import ephpm
from scripts import snippet

DUMP = """<?php
header('Content-Type: application/json');
$in = file_get_contents('php://input');
foreach ($_FILES as $k => $f) if (is_string($f['tmp_name']) && $f['tmp_name'] !== '')
    $_FILES[$k] += ['is' => is_uploaded_file($f['tmp_name']), 'md5' => md5_file($f['tmp_name'])];
echo json_encode(['post' => $_POST, 'files' => $_FILES, 'length' => strlen($in),
    'again' => strlen(file_get_contents('php://input')), 'input' => substr($in, 0, 500),
    'warning' => error_get_last()['message'] ?? null], JSON_INVALID_UTF8_SUBSTITUTE);
"""
CONFIG = {
    "server": {"request": {"max_body_size": "8MB"}},
    "php": {"values": {"upload_max_filesize": "100K", "post_max_size": "1M",
                       "max_input_vars": "50", "max_file_uploads": "3", "variables_order": "GPCS",
                       "upload_tmp_dir": "{dir}/tmp"}},
}
FORM = "application/x-www-form-urlencoded"
B = "XbX"


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, {"d.php": DUMP}) as s:
        yield s


def send(server, body, kind=FORM, method="POST", path="/d.php"):
    r = server.request(method, path, {"Content-Type": kind} if kind else (), body)
    assert r.status == 200, r
    return json.loads(r.text)


def parts(*items):
    """A multipart body. items: (name, file name or None, bytes, type or None)."""
    out = b""
    for name, filename, data, kind in items:
        out += f'--{B}\r\nContent-Disposition: form-data; name="{name}"'.encode()
        if filename is not None:
            out += f'; filename="{filename}"'.encode()
        out += (f"\r\nContent-Type: {kind}" if kind else "").encode() + b"\r\n\r\n" + data + b"\r\n"
    return out + f"--{B}--\r\n".encode()


def upload(server, *items, **more):
    return send(server, parts(*items), f"multipart/form-data; boundary={B}", **more)


def test_form(server):
    got = send(server, b"a=1&b[]=2&b[]=3&c.d=4&e+f=5&g[k][l]=%C3%BC+x&h=1&h=2&empty=&novalue")
    assert got["post"] == {"a": "1", "b": ["2", "3"], "c_d": "4", "e_f": "5",
                           "g": {"k": {"l": "ü x"}}, "h": "2", "empty": "", "novalue": ""}
    assert got["length"] == got["again"] == 67


@pytest.mark.parametrize("method, kind, parsed", [
    ("POST", "Application/X-WWW-Form-URLEncoded", True),
    ("POST", FORM + "; charset=UTF-8", True),
    ("POST", "application/json", False),
    ("POST", "text/plain", False),
    ("POST", None, False),
    ("PUT", FORM, False),
    ("PATCH", FORM, False),
    ("DELETE", FORM, False),
    ("GET", FORM, False),
])
def test_which_bodies_become_post(server, method, kind, parsed):
    got = send(server, b"a=1", kind, method)
    assert got["post"] == ({"a": "1"} if parsed else [])
    assert (got["length"], got["again"], got["input"]) == (3, 3, "a=1")


def test_large_bodies_come_through_memory_and_file(server):
    for n in 0, 1, 65535, 65536, 65537, 900_000:
        got = send(server, b"x" * n, "text/plain")
        assert got["length"] == got["again"] == n


def test_uploads(server):
    data = bytes(range(256)) * 300
    got = upload(server, ("a", None, b"1", None), ("f", "../dir/n\u00e4me.txt", data, "text/plain"),
                 ("g[]", "one.bin", b"1", "x/y"), ("g[]", "", b"", "application/octet-stream"))
    assert got["post"] == {"a": "1"} and got["length"] == 0
    f = got["files"]["f"]
    assert f.pop("tmp_name").startswith(str(server.tmp))
    assert f.pop("md5") and f.pop("is")
    assert f == {"name": "näme.txt", "full_path": "../dir/näme.txt", "type": "text/plain",
                 "error": 0, "size": len(data)}
    assert got["files"]["g"]["name"] == ["one.bin", ""]
    assert got["files"]["g"]["error"] == [0, 4]
    # They are gone with the request.
    assert ephpm.wait_for(lambda: not list(pathlib.Path(server.tmp).glob("php*")))


@pytest.mark.parametrize("items, error", [
    ([("f", "big.bin", b"x" * 110_000, "a/b")], 1),
    ([("MAX_FILE_SIZE", None, b"10", None), ("f", "x.bin", b"x" * 11, "a/b")], 2),
    ([("f", "", b"", "application/octet-stream")], 4),
    ([("f", "ok.bin", b"x" * 100_000, "a/b")], 0),
])
def test_upload_error_codes(server, items, error):
    f = upload(server, *items)["files"]["f"]
    assert f["error"] == error
    assert f["size"] == (len(items[-1][2]) if error == 0 else 0)


def test_upload_cut_off_is_partial(server):
    body = parts(("f", "x.bin", b"x" * 1000, "a/b"))[:-400]
    f = send(server, body, f"multipart/form-data; boundary={B}")["files"]["f"]
    assert f["error"] == 3


def test_upload_without_a_temporary_directory(serve):
    s = serve({"php": {"ini_overrides": {"upload_tmp_dir": "/nonexistent/upload",
                                         "sys_temp_dir": "/nonexistent/sys"}}}, {"d.php": DUMP},
              env={"TMPDIR": "/nonexistent/tmpdir"})
    f = upload(s, ("f", "x", b"abc", "a/b"))["files"]["f"]
    assert f["error"] == 6


def test_too_many_files(server):
    got = upload(server, *[(f"f{i}", "n", b"x", "a/b") for i in range(5)])
    assert len(got["files"]) == 3


def test_post_max_size(server):
    got = upload(server, ("a", None, b"1", None), ("f", "x", b"x" * 1_200_000, "a/b"))
    assert (got["post"], got["files"]) == ([], [])
    assert "exceeds the limit of 1048576 bytes" in got["warning"]


def test_max_input_vars(server):
    got = send(server, "&".join(f"v{i}=1" for i in range(80)).encode())
    assert len(got["post"]) == 51 and "Input variables exceeded 50" in got["warning"]


def test_missing_boundary_leaves_the_body(server):
    got = send(server, parts(("a", None, b"1", None)), "multipart/form-data")
    assert got["post"] == [] and "Missing boundary" in got["warning"]
    assert got["length"] > 0


def test_body_beyond_the_servers_limit_is_413(server):
    r = server.request("POST", "/d.php", {"Content-Type": "text/plain",
                                          "Content-Length": str(9 << 20)}, b"")
    assert r.status == 413


def test_raw_multipart_without_post_reading(serve):
    s = serve({"php": {"values": {"enable_post_data_reading": "0"}}}, {"d.php": DUMP})
    body = parts(("a", None, b"1", None))
    got = send(s, body, f"multipart/form-data; boundary={B}")
    assert got["post"] == [] and got["length"] == len(body)


def test_move_uploaded_file(server):
    path = snippet(server, """$t = $_FILES['f']['tmp_name']; $to = dirname($t) . '/moved';
        echo json_encode([move_uploaded_file($t, $to), file_get_contents($to), file_exists($t),
            move_uploaded_file('/etc/hostname', $to . '2')]); unlink($to);""")
    r = server.request("POST", path, {"Content-Type": f"multipart/form-data; boundary={B}"},
                       parts(("f", "x", b"content", "a/b")))
    assert json.loads(r.text) == [True, "content", False, False]


def test_stream_of_input_can_be_rewound(server):
    path = snippet(server, """$f = fopen('php://input', 'r'); $a = fread($f, 3); rewind($f);
        echo $a, '|', fread($f, 100), '|',
            stream_get_contents(fopen('php://input', 'r'), -1, 4);""")
    r = server.request("POST", path, {"Content-Type": "text/plain"}, b"abcdefg")
    assert r.text == "abc|abcdefg|efg"


def test_no_body_is_left_for_the_next_request(server):
    path = snippet(server, "echo 'not read';")
    with server.connect() as c:
        for n in 10, 70_000, 300_000:
            r = c.request("POST", path, {"Content-Type": "text/plain"}, b"z" * n)
            assert r.text == "not read"
            got = json.loads(c.request("POST", "/d.php", {"Content-Type": FORM}, b"a=1").text)
            assert got["post"] == {"a": "1"} and got["input"] == "a=1"


# --- the extension filter -------------------------------------------------------------------------

FILTERED = {"f.php": """<?php
$before = $_SERVER['HTTP_X_A'] ?? null;
$_SERVER['HTTP_X_A'] = 'changed';
echo json_encode([
    'server' => $before, 'odd' => [$_SERVER['ODD_NAME'] ?? null, isset($_SERVER['ODD.NAME'])],
    'env' => [$_ENV['PLAIN'] ?? null, $_ENV['ODD_NAME'] ?? null, $_ENV['HTTP_X_A'] ?? null],
    'kept' => [filter_input(INPUT_SERVER, 'HTTP_X_A'), filter_input(INPUT_SERVER, 'ODD_NAME'),
               filter_input(INPUT_SERVER, 'REQUEST_TIME'), filter_has_var(INPUT_SERVER, 'DOCUMENT_ROOT')],
    'kept_env' => [filter_input(INPUT_ENV, 'PLAIN'), filter_has_var(INPUT_ENV, 'HTTP_X_A')],
    'again' => [filter_input_array(INPUT_SERVER, ['PLAIN' => FILTER_VALIDATE_INT]), $_SERVER['HTTP_X_A']],
]);"""}


@pytest.mark.parametrize("order", ["EGPCS", "GPCS"])
@pytest.mark.parametrize("default", ["unsafe_raw", "special_chars"])
def test_what_the_filter_keeps_is_the_same_whether_it_waits_or_not(serve, default, order):
    """With unsafe_raw it gets $_SERVER and $_ENV only when a script asks for them."""
    s = serve({"php": {"env": [["PLAIN", "7"], ["ODD.NAME", "<o>"]],
                       "ini_overrides": [["filter.default", default], ["variables_order", order]]}}, FILTERED)
    escaped, has_env = default == "special_chars", order == "EGPCS"
    for value in "<1>", "<2>":  # nothing of a request is another's
        r = json.loads(s.get("/f.php", headers={"X-A": value}).text)
        shown = value.replace("<", "&#60;").replace(">", "&#62;") if escaped else value
        odd = "&#60;o&#62;" if escaped else "<o>"
        assert r["server"] == shown
        assert r["odd"] == [odd, False]
        assert r["env"] == (["7", odd, shown] if has_env else [None] * 3)
        assert r["kept"] == [value, "<o>", None, True]
        assert r["kept_env"] == (["7", True] if has_env else [None, False])
        assert r["again"] == [{"PLAIN": 7}, "changed"]
