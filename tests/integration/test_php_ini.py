# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Where PHP's settings come from, and which of two wins."""
import json

import pytest

import ephpm
from scripts import snippet

SHOW = """<?php echo json_encode(array_map('ini_get', array_combine($_GET['k'], $_GET['k'])));"""


def show(server, *names, path="/show.php", host=None):
    r = server.get(path + "?" + "&".join(f"k[]={n}" for n in names),
                   {"Host": host} if host else ())
    assert r.status == 200, r
    got = json.loads(r.text)
    return [got[n] for n in names]


@pytest.fixture(scope="module")
def server():
    with ephpm.Server({"php": {"user_ini": True, "values": {"user_ini.cache_ttl": "1",
                                                            "precision": "10"}}}, {
        "show.php": SHOW, "a/show.php": SHOW, "a/b/show.php": SHOW, "a/b/c/show.php": SHOW,
        ".user.ini": "precision = 5\nuser_agent = \"root\"\nmemory_limit = 77M\n"
                     "opcache.enable = 0\nallow_url_fopen = 0\n",
        "a/.user.ini": "precision = 6\n",
        "a/b/c/.user.ini": "auto_prepend_file = before.inc\nupload_max_filesize = 1K\n"
                           "post_max_size = 2K\n",
        "a/b/c/before.inc": "<?php $before = true;",
        "a/b/c/post.php": "<?php echo json_encode([isset($before), $_POST, $_FILES['f']['error'] ?? null, "
                          "error_get_last()['message'] ?? null]);",
    }) as s:
        yield s


def test_user_ini_from_the_root_down(server):
    assert show(server, "precision", "user_agent", "memory_limit") == ["5", "root", "77M"]
    assert show(server, "precision", "user_agent", path="/a/show.php") == ["6", "root"]
    assert show(server, "precision", "user_agent", path="/a/b/show.php") == ["6", "root"]


def test_user_ini_cannot_set_what_is_the_systems(server):
    assert show(server, "allow_url_fopen") == ["1"]


def test_user_ini_acts_on_the_body_of_this_request(server):
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    before, post, _, warning = json.loads(
        server.request("POST", "/a/b/c/post.php", kind, b"a=" + b"x" * 3000).text)
    assert before and post == [] and "exceeds the limit of 2048 bytes" in warning
    body = (b'--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'
            + b"x" * 1500 + b"\r\n--B--\r\n")
    got = json.loads(server.request("POST", "/a/b/c/post.php", {
        "Content-Type": "multipart/form-data; boundary=B"}, body).text)
    assert got[2] == 1
    # And on no other.
    r = server.request("POST", snippet(server, "echo strlen($_POST['a']);"), kind, b"a=" + b"x" * 3000)
    assert r.text == "3000"


def test_user_ini_is_read_again_after_its_time(server):
    server.write("d/show.php", SHOW)
    server.write("d/.user.ini", "user_agent = one\n")
    assert show(server, "user_agent", path="/d/show.php") == ["one"]
    server.write("d/.user.ini", "user_agent = two\n")
    assert ephpm.wait_for(
        lambda: show(server, "user_agent", path="/d/show.php") == ["two"], 5, 0.2)


def test_user_ini_is_never_served(server):
    for path in "/.user.ini", "/a/.user.ini", "/a/b/../.user.ini", "/%2euser.ini":
        assert server.get(path).status in (403, 404)


def test_user_ini_may_have_another_name(serve):
    s = serve({"php": {"values": {"user_ini.filename": ".app.ini"}}}, {
        "show.php": SHOW, ".user.ini": "precision = 5\n", ".app.ini": "precision = 6\n"})
    assert show(s, "precision") == ["6"]
    assert s.get("/.app.ini").status in (403, 404) and s.get("/.user.ini").status in (403, 404)


def test_user_ini_is_cached_for_its_time(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1}}, {  # user_ini.cache_ttl is 300 s
        "a/show.php": SHOW, "a/.user.ini": "user_agent = one\n"})
    assert show(s, "user_agent", path="/a/show.php") == ["one"]
    s.write("a/.user.ini", "user_agent = two\n")
    s.write("a/b/show.php", SHOW)
    assert show(s, "user_agent", path="/a/show.php") == ["one"]
    assert show(s, "user_agent", path="/a/b/show.php") == ["two"]  # not asked for before
    assert s.cli("deploy").returncode == 0
    assert show(s, "user_agent", path="/a/show.php") == ["two"]


def test_user_ini_can_be_off(serve):
    s = serve({"php": {"user_ini": False}}, {"show.php": SHOW, ".user.ini": "precision = 5\n"})
    assert show(s, "precision") == ["14"]


def test_settings_of_a_request_end_with_it(server):
    path = snippet(server, "echo ini_get('precision'); ini_set('precision', '3');")
    assert [server.get(path).text for _ in range(4)] == ["5"] * 4


@pytest.mark.parametrize("php, ini, want", [
    ({}, "", "128M"),
    ({}, "memory_limit = 65M", "65M"),
    ({"memory_limit": "66M"}, "memory_limit = 65M", "66M"),
    ({"memory_limit": "66M", "values": {"memory_limit": "67M"}}, "", "67M"),
    ({"values": {"memory_limit": "67M"}, "admin_values": {"memory_limit": "68M"}}, "", "68M"),
    ({"memory_limit": "66M", "values": {"memory_limit": "67M"},
      "admin_values": {"memory_limit": "68M"}, "ini_overrides": {"memory_limit": "69M"}},
     "memory_limit = 65M", "69M"),
])
def test_precedence(serve, php, ini, want):
    s = ephpm.Server({"php": {"memory_limit": None}}, {"show.php": SHOW}, mode="serve", start=False)
    try:
        (s.dir / "php.ini").write_text(ini)
        default = {"memory_limit": "128M"} if not ini and "memory_limit" not in php and not php else {}
        s.write_config({"php": {"memory_limit": None, "ini_file": "{dir}/php.ini", **default, **php}})
        s.start()
        assert show(s, "memory_limit") == [want]
    finally:
        s.__exit__(None)


@pytest.mark.parametrize("by_key", [False, True])
def test_scan_directories_win_over_derived_settings(serve, by_key):
    s = ephpm.Server(start=False)
    folder = s.dir / "conf.d"
    folder.mkdir()
    (folder / "10-a.ini").write_text("memory_limit = 61M\nmax_execution_time = 7\nhtml_errors = Off\n")
    (folder / "20-b.ini").write_text("memory_limit = 62M\n")
    s.write("show.php", SHOW)
    config = {"memory_limit": None}
    if by_key:
        config["ini_scan_dir"] = f":{folder}"
    else:
        s.env["PHP_INI_SCAN_DIR"] = f":{folder}"
    s.write_config({"php": config})
    try:
        s.start()
        assert show(s, "memory_limit", "max_execution_time", "html_errors") == ["62M", "7", ""]
        assert s.log_lines("autotune")[0].count("memory_limit=62M*") == 1
    finally:
        s.__exit__(None)


def test_values_may_be_changed_and_admin_values_may_not(serve):
    s = serve({"php": {"values": {"precision": "4", "memory_limit": "70M"},
                       "admin_values": {"serialize_precision": "5", "open_basedir": "/"}}}, {
        "show.php": SHOW, ".user.ini": "serialize_precision = 9\nprecision = 8\n",
        "set.php": "<?php echo json_encode([ini_set('precision', '6'), "
                   "@ini_set('serialize_precision', '6'), ini_get('serialize_precision'), "
                   "@ini_set('open_basedir', '/tmp')]);"})
    assert show(s, "precision", "serialize_precision") == ["8", "5"]
    assert json.loads(s.get("/set.php").text) == ["8", False, "5", False]


def test_odd_values_arrive_as_they_are(serve):
    odd = {"user_agent": "it's; \"odd\" = ${HOME} & more", "error_prepend_string": "a\\b'c",
           "error_append_string": ""}
    s = serve({"php": {"values": odd}}, {"show.php": SHOW})
    assert show(s, *odd) == list(odd.values())


def test_defaults_of_serve_and_dev(serve):
    names = ["display_errors", "log_errors", "zend.assertions", "opcache.validate_timestamps",
             "html_errors", "implicit_flush", "max_execution_time"]
    s = serve({}, {"show.php": SHOW})
    assert show(s, *names) == ["0", "1", "-1", "0", "1", "", "30"]
    s = serve({}, {"show.php": SHOW}, mode="dev")
    assert show(s, *names) == ["1", "1", "1", "1", "1", "", "30"]


def test_disable_functions(serve):
    s = serve({"php": {"admin_values": {"disable_functions": "exec,phpinfo"}}},
              {"x.php": "<?php echo json_encode(array_map('function_exists', ['exec', 'phpinfo', 'system']));"})
    assert json.loads(s.get("/x.php").text) == [False, False, True]


def test_locked_section_does_not_stay_in_the_code_that_opcache_keeps(serve):
    s = ephpm.Server(start=False)
    (s.dir / "php.ini").write_text(f"[HOST=a.test]\nprecision = 5\n[PATH={s.root}/p]\nprecision = 6\n")
    for path in "x.php", "p/x.php":
        s.write(path, "<?php include '%s/inc.php';" % s.root)
    s.write("inc.php", "<?php echo ini_get('precision'), ini_get_all()['precision']['access'];")
    s.write_config({"php": {"ini_file": "{dir}/php.ini", "workers": 1, "workers_min": 1}})
    s.start()
    with s:
        for _ in range(2):
            for host, path, want in (("a.test", "/x.php", "54"), ("b.test", "/x.php", "147"),
                                     ("b.test", "/p/x.php", "64"), ("b.test", "/x.php", "147")):
                assert s.get(path, {"Host": host}).text == want


def test_unknown_setting_is_told(serve):
    s = serve({"php": {"admin_values": {"no.such": "1"}}}, {"x.php": "<?php echo 1;"})
    s.wait_log(r'"?no\.such')
    assert s.get("/x.php").text == "1"
