# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""WordPress with its object cache in the key-value store: two workers, deploys, fewer queries, another PHP."""
import json
import os
import re
import shutil
import subprocess

import pytest

import ephpm
from application import SHARED, Copy, Database, at_once, free_port
from browser import Browser
from ephpm import php_minor
from scripts import snippet

APP = "wordpress"
# Says in a header how many queries a page took.
PLUGIN = """<?php
add_action('shutdown', function () { error_log('queries ' . $GLOBALS['wpdb']->num_queries); });
"""
LOAD = "require __DIR__ . '/wp-load.php'; global $wpdb; "


@pytest.fixture(scope="module")
def app():
    with Copy(APP, {"DB_PORT": str(free_port())}) as copy:
        shutil.copy(ephpm.REPOSITORY / "php/wordpress/object-cache.php", copy.public / "wp-content")
        copy.write("public/wp-content/mu-plugins/count.php", PLUGIN)
        yield copy


@pytest.fixture(scope="module")
def database(app):
    # The original's: the copy's would be a second server on the same files.
    with Database(app.original / "db") as db:
        yield {"WP_DB_HOST": f"127.0.0.1:{db.port}"}


@pytest.fixture(scope="module")
def server(app, database):
    with app.serve(database, {"php": {"workers": 2, "workers_min": 2}}) as s:
        yield s


def run(server, code):
    r = server.get(snippet(server, LOAD + code))
    assert r.status == 200, r.text
    return json.loads(r.text)


def queries(server, path):
    """How many the page takes, as the log of the last one says."""
    at = len(server.log())
    r = server.get(path)
    assert r.status == 200, r.text
    server.wait_log(r"queries \d+", start=at)
    return int(re.search(r"queries (\d+)", server.log()[at:]).group(1))


def test_it_is_wordpresss_cache(server):
    assert run(server, """
        echo json_encode([wp_using_ext_object_cache(), wp_cache_supports('get_multiple'), count($wpdb->queries ?? [])]);
    """) == [True, True, 0]


def test_page_takes_fewer_queries_by_any_worker(server):
    run(server, "wp_cache_flush(); echo 1;")
    cold = queries(server, "/post-7/")
    # Both workers have it then, one by the other.
    warm = max(queries(server, "/post-7/") for _ in range(6))
    assert warm < cold / 2, (cold, warm)


def test_transient_of_one_worker_is_the_others(server):
    run(server, "set_transient('kv_test', ['by' => getmypid()], 60); echo 1;")
    path = snippet(server, LOAD + "usleep(300000); echo json_encode([getmypid(), get_transient('kv_test')['by']]);")
    first, second = at_once(server, [path] * 2)
    assert first[0] != second[0] and first[1] == second[1]
    assert run(server, """
        delete_transient('kv_test');
        echo json_encode([get_transient('kv_test'), $wpdb->get_var(
            "SELECT COUNT(*) FROM $wpdb->options WHERE option_name LIKE '%kv_test%'")]);
    """) == [False, "0"]


def test_option_that_changes_is_changed_for_all(server):
    for text in "Changed & kept", None:
        run(server, "update_option('kv_test_option', 'first'); echo 1;" if text else
            "delete_option('kv_test_option'); echo 1;")
        path = snippet(server, LOAD + "usleep(300000); echo json_encode(get_option('kv_test_option', 'none'));")
        assert at_once(server, [path] * 2) == ["first" if text else "none"] * 2


def test_cache_outlives_a_deploy(server):
    run(server, "wp_cache_set('kept', [1, 'two'], 'kv-test'); echo 1;")
    assert server.cli("deploy").returncode == 0
    assert run(server, "echo json_encode(wp_cache_get('kept', 'kv-test'));") == [1, "two"]
    assert queries(server, "/post-7/") < 15


def test_writing_and_reading_back(server):
    """What is edited is seen at once by every visitor, through both workers."""
    admin = Browser(server)
    page = admin.submit(admin.get("/wp-login.php"), {"log": "admin", "pwd": "admin-password"})
    assert page.url == "/wp-admin/"
    head = {"X-WP-Nonce": admin.get("/wp-admin/admin-ajax.php?action=rest-nonce").text,
            "Content-Type": "application/json"}

    def rest(method, path, data):
        r = admin.request(method, f"/wp-json/wp/v2/{path}", head, json.dumps(data).encode())
        assert r.status in (200, 201), r
        return json.loads(r.text)

    post = rest("POST", "posts", {"title": "Cached", "status": "publish", "content": "firstversion"})
    try:
        path = admin.relative(post["link"], "/")
        for text in "firstversion", "secondversion", "thirdversion":
            rest("PUT", f"posts/{post['id']}", {"content": text})
            for _ in range(4):
                r = server.get(path)
                assert r.status == 200 and text in r.text
    finally:
        rest("DELETE", f"posts/{post['id']}?force=true", {})
        admin.close()
    assert server.get(path).status == 404


def test_smoke_checks_hold(app, server):
    r = subprocess.run([SHARED / "check-app.sh", app.folder, server.url], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    assert r.returncode == 0, r.stdout


def test_another_php_goes_on_with_wordpresss_own_cache(app, database):
    r = subprocess.run(
        ["php" + php_minor(), "-d", "display_errors=0", "-r", "require 'wp-load.php'; wp_cache_set('k', 1);"
         "var_dump(wp_using_ext_object_cache(), wp_cache_get('k'), get_option('blogname'));"],
        cwd=app.public, env={**os.environ, **database}, text=True, stdout=subprocess.PIPE, timeout=60)
    assert r.stdout.splitlines()[:2] == ["NULL", "int(1)"] or r.stdout.splitlines()[:2] == ["bool(false)", "int(1)"]
    assert "Test Weblog" in r.stdout
