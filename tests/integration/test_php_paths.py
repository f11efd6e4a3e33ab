# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""PHP settings by path ([[php.path]]) and by site ([[php.site]]): which requests have them, what may
change them, and that they end with the request."""
import json

import pytest

import ephpm

SHOW = """<?php
$change = $_GET['set'] ?? null;
$set = $change === null ? null : @ini_set($change, $_GET['to']);
echo json_encode(['values' => array_map('ini_get', array_combine($_GET['k'] ?? [], $_GET['k'] ?? [])),
    'access' => array_map(fn ($k) => ini_get_all()[$k]['access'], array_combine($_GET['k'] ?? [], $_GET['k'] ?? [])),
    'set' => $set, 'restored' => isset($_GET['restore']) ? [ini_restore($_GET['restore']),
        ini_get($_GET['restore'])][1] : null, 'uri' => $_SERVER['SCRIPT_NAME']]);
"""
CONFIG = """
[php]
workers = 1
workers_min = 1
[php.values]
precision = 10
memory_limit = "100M"
upload_max_filesize = "1K"
post_max_size = "4K"
output_buffering = 4096
[php.admin_values]
serialize_precision = 9
[[php.path]]
path = "/admin"
values = [["precision", "11"], ["user_agent", "outer"], ["serialize_precision", "8"]]
admin_values = [["memory_limit", "111M"]]
[[php.path]]
path = "/admin/deep/"
[php.path.values]
precision = 12
upload_max_filesize = "8K"
post_max_size = "16K"
[php.path.admin_values]
memory_limit = "112M"
allow_url_fopen = 0
[[php.path]]
path = "/locked/"
admin_values = [["enable_post_data_reading", "0"], ["max_execution_time", "1"],
                ["open_basedir", "{root}/locked"], ["auto_prepend_file", "{root}/locked/before.inc"]]
[[php.path]]
path = "/s p\u00e4ce"
values = [["precision", "13"]]
"""
FILES = {
    "index.php": SHOW, "show.php": SHOW, "admin/show.php": SHOW, "admin/deep/show.php": SHOW,
    "administrator/show.php": SHOW, "s p\u00e4ce/show.php": SHOW,
    "admin/ini/show.php": SHOW,
    "admin/ini/.user.ini": "precision = 15\nmemory_limit = 99M\n",
    # The name is a literal: OPcache may put the value of a system setting into the code it keeps.
    "literal.php": "<?php echo ini_get('memory_limit'), ' ', ini_get('allow_url_fopen');",
    "admin/deep/inc.php": "<?php require __DIR__ . '/../../literal.php';",
    "admin/upload.php": "<?php echo $_FILES['f']['error'] ?? 'none';",
    "admin/deep/upload.php": "<?php echo $_FILES['f']['error'] ?? 'none';",
    "locked/finish.php": "<?php echo 'done'; fastcgi_finish_request(); file_put_contents($_GET['to'], "
                         "strlen(file_get_contents('php://input')));",
    "locked/before.inc": "<?php $before = 'before';",
    "locked/read.php": "<?php echo json_encode([$before ?? null, $_POST, strlen(file_get_contents("
                       "'php://input')), @file_get_contents('../index.php'), ini_get('max_execution_time')]);",
}


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        yield s


def show(server, path, *names, **more):
    query = "&".join([f"k[]={n}" for n in names] + [f"{k}={v}" for k, v in more.items()])
    r = server.get(f"{path}?{query}")
    assert r.status == 200, r
    return json.loads(r.text)


def values(server, path, *names):
    return list(show(server, path, *names)["values"].values())


@pytest.mark.parametrize("path, precision, limit, agent", [
    ("/show.php", "10", "100M", ""),
    ("/admin/show.php", "11", "111M", "outer"),
    ("/admin/deep/show.php", "12", "112M", "outer"),
    # What was asked for counts, not the script that a rewrite chose.
    ("/admin/no/such/page", "11", "111M", "outer"),
    ("/admin", "11", "111M", "outer"),
    ("/admin/", "11", "111M", "outer"),
    ("/admin/deep/%2e%2e/deep//show.php", "12", "112M", "outer"),
    ("/admin%2Fdeep/show.php", "12", "112M", "outer"),
    ("/administrator/show.php", "10", "100M", ""),
    ("/Admin/x", "10", "100M", ""),
    ("/index.php/admin/x", "10", "100M", ""),
    ("/s%20p%C3%A4ce/show.php", "13", "100M", ""),
])
def test_which_requests_have_them(server, path, precision, limit, agent):
    for _ in range(2):  # the one worker had other requests in between
        assert values(server, path, "precision", "memory_limit", "user_agent") == [
            precision, limit, agent]
        assert values(server, "/show.php", "precision", "memory_limit", "user_agent") == [
            "10", "100M", ""]


def test_admin_values_are_locked_for_the_request_alone(server):
    got = show(server, "/admin/show.php", "memory_limit", "precision", set="memory_limit", to="1G",
               restore="memory_limit")
    assert got["set"] is False and got["restored"] == "111M"
    assert got["values"]["memory_limit"] == "111M"
    assert got["access"] == {"memory_limit": 4, "precision": 7}
    got = show(server, "/show.php", "memory_limit", set="memory_limit", to="120M")
    assert (got["set"], got["access"]["memory_limit"]) == ("100M", 7)
    assert got["values"]["memory_limit"] == "120M"
    got = show(server, "/admin/show.php", "precision", set="precision", to="3")
    assert (got["set"], got["values"]["precision"]) == ("11", "3")
    assert values(server, "/admin/show.php", "precision") == ["11"]


def test_user_ini_wins_over_values_and_not_over_admin_values(server):
    assert values(server, "/admin/ini/show.php", "precision", "memory_limit") == ["15", "111M"]


def test_path_wins_over_what_is_locked_for_all(server):
    got = show(server, "/admin/show.php", "serialize_precision", set="serialize_precision", to="3")
    assert (got["values"]["serialize_precision"], got["set"]) == ("8", False)
    got = show(server, "/show.php", "serialize_precision", set="serialize_precision", to="3")
    assert (got["values"]["serialize_precision"], got["set"]) == ("9", False)


def test_locked_value_does_not_stay_in_the_code_that_opcache_keeps(server):
    for _ in range(2):
        assert server.get("/admin/deep/inc.php").text == "112M 0"
        assert server.get("/literal.php").text == "100M 1"


def test_upload_limits_by_path(server):
    body = (b'--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n'
            + b"x" * 3000 + b"\r\n--B--\r\n")
    kind = {"Content-Type": "multipart/form-data; boundary=B"}
    for path, error in (("/admin/upload.php", "1"), ("/admin/deep/upload.php", "0")) * 2:
        assert server.request("POST", path, kind, body).text == error
    big = body.replace(b"x" * 3000, b"x" * 6000)
    assert server.request("POST", "/admin/upload.php", kind, big).text == "none"
    assert server.request("POST", "/admin/deep/upload.php", kind, big).text == "0"


def test_settings_that_act_at_the_start_of_a_request(server):
    r = server.post("/locked/read.php", b"a=1", {"Content-Type": "application/x-www-form-urlencoded"})
    assert json.loads(r.text) == ["before", [], 3, False, "1"]


def test_body_that_is_read_after_the_answer_was_finished(server):
    """Bytes or an empty string; no crash."""
    server.write("locked/out", "").chmod(0o666)
    for n in 10, 100_000:
        r = server.post(f"/locked/finish.php?to={server.root}/locked/out", b"x" * n,
                        {"Content-Type": "application/x-www-form-urlencoded"})
        assert r.text == "done"
        assert ephpm.wait_for(lambda: (server.root / "locked/out").read_text() in ("0", str(n)))
        (server.root / "locked/out").write_text("")
    assert values(server, "/show.php", "precision") == ["10"]


def test_settings_that_php_does_not_know_or_refuses_are_told(serve):
    s = serve('[[php.path]]\npath = "/a/"\nvalues = [["no.such", "1"], ["zend.enable_gc", "1"], '
              '["date.timezone", "Nowhere/Land"]]', {"a/x.php": "<?php echo ini_get('date.timezone');"})
    s.wait_log(r"no\.such.* /a/.*unknown")
    for _ in range(3):
        assert s.get("/a/x.php").text == "UTC"


def test_value_that_php_refuses_once_is_tried_again(serve):
    """It was left out for the rest of the worker's life."""
    s = serve("""
[php]
workers = 1
workers_min = 1
values = [["open_basedir", "{root}"]]
[[php.path]]
path = "/a/"
admin_values = [["open_basedir", "{root}/narrow"]]
""", {"a/x.php": "<?php echo ini_get('open_basedir');"})
    narrow = s.root / "narrow"
    narrow.symlink_to("/etc")
    start = len(s.log())
    assert s.get("/a/x.php").text == str(s.root)
    assert s.get("/a/x.php").text == str(s.root)
    assert s.log()[start:].count("PHP refuses") == 1
    narrow.unlink()
    narrow.mkdir()
    assert s.get("/a/x.php").text == str(narrow)


@pytest.mark.parametrize("table, says", [
    ('path = "/a/"\nvalues = [["opcache.memory_consumption", "64"]]', '"opcache.memory_consumption"'),
    ('path = "/a/"\nadmin_values = [["disable_functions", "exec"]]', '"disable_functions"'),
    ('path = "/a/"\nvalues = [["extension", "redis"]]', '"extension"'),
    ('path = "/a/"\nvalues = [["opcache.preload", "x"]]', '"opcache.preload"'),
    # OPcache keeps the code as the first request read it, for all paths.
    ('path = "/a/"\nvalues = [["short_open_tag", "1"]]', '"short_open_tag"'),
    ('path = "a/"', 'path: "a/" must be a path'),
    ('path = "/a/../b"', 'must be a path'),
    ('values = []', 'path is missing'),
    ('path = "/a/"\nvalue = []', 'unknown key value (did you mean values?)'),
    ('path = 1', 'path: must be a string in quotes'),
    ('path = "/a/"\nvalues = [["a b", "1"]]', 'is no name of a PHP setting'),
    ('path = "/a/"\nvalues = [["a", "1\\n2"]]', 'control characters'),
    # It was for no request: the name of a site is a host's, in lower case.
    ('path = "/a/"\nsite = "Alpha"', 'site: "Alpha" is no name of a site'),
    ('path = "/a/"\nsite = "alpha:80"', 'site: "alpha:80" is no name of a site'),
])
def test_mistakes_are_refused_with_their_place(table, says):
    s = ephpm.Server(start=False)
    try:
        s.config_path.write_text('[server]\n[[php.path]]\npath = "/fine"\n[[php.path]]\n' + table + "\n")
        done = s.cli("config")
        assert done.returncode != 0
        assert says in done.stderr and "php.path" in done.stderr and "table 2 (line " in done.stderr
    finally:
        s.__exit__(None)


def test_dump_shows_the_tables_and_can_be_read_again(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1}}, {"a/x.php": SHOW}, env={
        "EPHPM_PHP__PATH": '[{"path": "/a/", "values": {"precision": 7}}]',
        "EPHPM_PHP__SITE": '[{"site": "default", "env": [["TOKEN", "secret!"]], '
                           '"admin_values": [["user_agent", "mine"]]}]'})
    assert values(s, "/a/x.php", "precision", "user_agent") == ["7", "mine"]
    dump = s.cli("config").stdout
    assert 'path = [{path = "/a/", values = [["precision", "7"]], admin_values = []}]' in dump
    assert 'env = "***"' in dump and "secret!" not in dump


def test_reload_changes_them(serve):
    one = {"workers": 1, "workers_min": 1}
    s = serve({"php": one}, {"a/x.php": SHOW})
    assert values(s, "/a/x.php", "precision") == ["14"]
    for n in 7, 8:
        s.write_config({"php": {**one, "path": [{"path": "/a", "values": [["precision", n]]}]}})
        assert s.cli("reload").returncode == 0
        assert values(s, "/a/x.php", "precision") == [str(n)]
    s.write_config({"php": {**one, "path": [{"path": "/a", "values": [["opcache.preload", "x"]]}]}})
    done = s.cli("reload")
    assert done.returncode == 1 and "opcache.preload" in done.stderr
    assert values(s, "/a/x.php", "precision") == ["8"]


def test_configuration_that_is_too_long_is_refused_with_its_length():
    """The server did not start, and said that its front does not listen."""
    s = ephpm.Server(start=False)
    try:
        s.config_path.write_text("".join(
            f'[[php.path]]\npath = "/{i}/"\nvalues = [["precision", "7"]]\n' for i in range(3000)))
        done = s.cli("config")
        assert done.returncode != 0 and "the configuration is too long: " in done.stderr
    finally:
        s.__exit__(None)


def test_secret_in_a_table_is_not_shown_with_its_mistake():
    s = ephpm.Server(start=False)
    try:
        s.config_path.write_text("")
        done = s.cli("config", env={
            "EPHPM_PHP__SITE": '[{"env": [["TOKEN", "hush"]], "sight": "default"}]'})
        assert done.returncode != 0 and "unknown key sight" in done.stderr
        assert "hush" not in done.stderr
    finally:
        s.__exit__(None)


# --- sites ---------------------------------------------------------------------------------------

SITES = """
[server]
sites_dir = "{root}/sites"
[php]
workers = 1
workers_min = 1
env = [["WHO", "all"], ["ALL", "yes"]]
admin_values = [["user_agent", "all"], ["disable_functions", "phpinfo"]]
[[php.site]]
site = "alpha"
values = [["precision", "5"], ["opcache.interned_strings_buffer", "9"], ["memory_limit", "70M"]]
admin_values = [["user_agent", "alpha"], ["disable_functions", "phpversion"]]
env = [["WHO", "alpha"]]
[[php.site]]
site = "beta"
values = [["user_agent", "beta"]]
[[php.path]]
path = "/x/"
values = [["precision", "6"]]
[[php.path]]
path = "/x/"
site = "beta"
values = [["precision", "7"]]
"""
TELL = """<?php echo json_encode([ini_get('precision'), ini_get('memory_limit'), ini_get('user_agent'),
    ini_get('opcache.interned_strings_buffer'), ini_set('user_agent', 'x'), getenv('WHO'),
    $_SERVER['WHO'], getenv('ALL'), array_map('function_exists', ['phpinfo', 'phpversion', 'exec'])]);
"""


@pytest.fixture(scope="module")
def sites():
    with ephpm.Server(SITES, {f"{d}{x}t.php": TELL for d in ("", "sites/alpha/", "sites/beta/")
                              for x in ("", "x/")}) as s:
        yield s


def tell(sites, host, path="/t.php"):
    return json.loads(sites.get(path, {"Host": host}).text)


def test_each_site_has_its_own(sites):
    assert tell(sites, "alpha") == ["5", "70M", "alpha", "9", False, "alpha", "alpha", "yes",
                                    [False, False, False]]
    got = tell(sites, "beta")
    assert got[0] == "14" and got[2] == "beta" and got[4:] == [
        False, "all", "all", "yes", [False, True, False]]
    assert tell(sites, "nowhere")[2] == "all"


def test_paths_of_all_sites_and_of_one(sites):
    assert [tell(sites, h, "/x/t.php")[0] for h in ("alpha", "beta", "nowhere")] == ["6", "7", "6"]


def test_tables_of_sites_that_cannot_be_are_told(serve):
    s = serve('[[php.site]]\nsite = "alpha"\nvalues = [["precision", "5"]]\n'
              '[[php.path]]\npath = "/"\nsite = "beta"', {"index.php": "<?php echo 1;"})
    assert s.log_lines('site \\"alpha\\" has no effect') and s.log_lines('site \\"beta\\" has no effect')
    s = ephpm.Server(start=False)
    s.config_path.write_text('[[php.site]]\nsite = "a"\n[[php.site]]\nsite = "a"\n')
    done = s.cli("config")
    s.__exit__(None)
    assert done.returncode != 0 and 'the site "a" has two tables' in done.stderr
