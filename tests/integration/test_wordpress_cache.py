# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""WordPress's object cache in the store, function by function and without WordPress; with it: apps/test_kv_wordpress.py."""
import json
import pathlib
import shutil
import subprocess
import threading

import pytest

import ephpm
from scripts import snippet

HERE = pathlib.Path(__file__).parent / "php"


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(start=False) as s:
        shutil.copytree(ephpm.REPOSITORY / "php", s.root / "adapters")
        shutil.copy(HERE / "wp.php", s.root)
        s.start()
        yield s


def run(server, code, query=""):
    path = snippet(server, "require __DIR__ . '/wp.php'; " + code)
    r = server.get(path + query)
    assert r.status == 200, r.text
    return json.loads(r.text)


def test_set_get_delete(server):
    assert run(server, """
        wp_cache_flush();
        $o = new stdClass; $o->n = 1; wp_cache_set('o', $o); $o->n = 2; $copy = wp_cache_get('o'); $copy->n = 3;
        wp_cache_set('false', false); wp_cache_set('null', null); wp_cache_set(7, 'seven', 'g');
        wp_cache_flush_runtime();
        $out = [wp_cache_get('o')->n, wp_cache_get('false', '', false, $f), $f, wp_cache_get('null', '', false, $f), $f,
            wp_cache_get('none', '', false, $f), $f, wp_cache_get('7', 'g'), wp_cache_get(7)];
        echo json_encode([...$out, wp_cache_delete('o'), wp_cache_delete('o'), wp_cache_get('o')]);
    """) == [1, False, True, None, True, False, False, "seven", False, True, False, False]


def test_add_replace_and_suspension(server):
    assert run(server, """
        wp_cache_flush();
        $out = [wp_cache_replace('k', 1), wp_cache_add('k', 2), wp_cache_add('k', 3), wp_cache_replace('k', 4),
            wp_cache_get('k')];
        wp_cache_flush_runtime();
        $out[] = wp_cache_add('k', 5); $out[] = wp_cache_replace('k', 6); $out[] = wp_cache_get('k');
        $suspended = true; $out[] = wp_cache_add('new', 1); $out[] = wp_cache_set('new', 1);
        echo json_encode($out);
    """) == [False, True, False, True, 4, False, True, 6, False, True]


def test_counting(server):
    assert run(server, """
        wp_cache_flush();
        wp_cache_set('n', 5); wp_cache_set('t', 'text'); wp_cache_set('s', '7'); wp_cache_set('l', 1, '', 50);
        echo json_encode([wp_cache_incr('n'), wp_cache_incr('n', 10), wp_cache_decr('n', 3), wp_cache_decr('n', 100),
            wp_cache_incr('none'), wp_cache_incr('t', 2), wp_cache_incr('s'), wp_cache_get('n', '', true),
            wp_cache_incr('l'), ephpm_kv_ttl(ephpm_kv_keys('wp:')[0]) !== 0,
            max(array_map('ephpm_kv_ttl', ephpm_kv_keys('wp:')))]);
    """) == [6, 16, 13, 0, False, 2, 8, 0, 2, True, 50]


def test_many_at_once(server):
    assert run(server, """
        wp_cache_flush();
        $out = [wp_cache_set_multiple(['a' => 1, 'b' => 2]), wp_cache_add_multiple(['b' => 3, 'c' => 4])];
        wp_cache_flush_runtime();
        $out[] = wp_cache_get_multiple(['a', 'c', 'none', 'b']);
        $out[] = wp_cache_delete_multiple(['a', 'none']);
        $out[] = wp_cache_get_multiple(['a', 'b']);
        echo json_encode($out);
    """) == [{"a": True, "b": True}, {"b": False, "c": True},
             {"a": 1, "c": 4, "none": False, "b": 2}, {"a": True, "none": False},
             {"a": False, "b": 2}]


def test_groups_blogs_and_flushes(server):
    assert run(server, """
        wp_cache_flush();
        wp_cache_add_global_groups(['users']); wp_cache_add_non_persistent_groups('counts');
        foreach ([1, 2] as $blog) {
            wp_cache_switch_to_blog($blog);
            wp_cache_set('k', "blog $blog"); wp_cache_set('u', "from $blog", 'users'); wp_cache_set('c', $blog, 'counts');
            wp_cache_set('k', 'a', 'a'); wp_cache_set('b:k', 'a2', 'a'); wp_cache_set('k', 'ab', 'a:b');
        }
        wp_cache_switch_to_blog(1); wp_cache_flush_runtime();
        $out = [wp_cache_get('k'), wp_cache_get('u', 'users'), wp_cache_get('c', 'counts'), wp_cache_get('k', 'a:b'),
            wp_cache_get('b:k', 'a')];
        wp_cache_flush_group('a');
        $out[] = [wp_cache_get('k', 'a'), wp_cache_get('k', 'a:b')];
        wp_cache_switch_to_blog(2); $out[] = wp_cache_get('k', 'a');
        ephpm_kv_set('other', 1); wp_cache_flush();
        $out[] = [ephpm_kv_keys('wp:'), ephpm_kv_get('other')];
        $out[] = [wp_cache_supports('flush_group'), wp_cache_supports('flush_everything'), wp_cache_close()];
        echo json_encode($out);
    """) == ["blog 1", "from 2", False, "ab", "a2", [False, "ab"], "a", [[], 1], [True, False, True]]


def test_two_wordpresses_are_apart(server):
    code = "$was = wp_cache_get('db'); wp_cache_set('db', DB_NAME); echo json_encode($was);"
    assert run(server, code, "?db=one") is False
    assert run(server, code, "?db=two") is False
    assert run(server, code, "?db=one") == "one"
    assert run(server, "wp_cache_flush(); echo 1;", "?db=two") == 1
    assert run(server, code, "?db=one") == "one"


def test_bad_keys_and_values(server):
    assert run(server, """
        wp_cache_flush();
        $out = [wp_cache_set('', 1), wp_cache_get(1.5), wp_cache_add(' ', 1), count($wrong), $wrong[0]];
        wp_cache_set('c', 'old'); $out[] = wp_cache_set('c', fn() => 1); $out[] = is_object(wp_cache_get('c'));
        wp_cache_flush_runtime(); $out[] = wp_cache_get('c');
        $long = str_repeat('k', 40000); $out[] = wp_cache_set($long, 'long'); wp_cache_flush_runtime();
        $out[] = wp_cache_get($long);
        $out[] = wp_cache_set('e', 1, '', -1); $out[] = wp_cache_get('e');
        echo json_encode($out);
    """) == [False, False, False, 3, "WP_Object_Cache::set Cache key must not be an empty string.",
             False, True, False, True, "long", True, False]


def test_force_sees_what_another_worker_set(server):
    assert run(server, """
        wp_cache_flush(); wp_cache_set('k', 'mine');
        $keys = array_filter(ephpm_kv_keys('wp:'), fn($k) => ephpm_kv_get($k) === 'mine');
        ephpm_kv_set(array_pop($keys), 'theirs');
        echo json_encode([wp_cache_get('k'), wp_cache_get('k', '', true), wp_cache_get('k')]);
    """) == ["mine", "theirs", "theirs"]


def test_expiry(server):
    assert run(server, """
        wp_cache_flush(); wp_cache_set('k', 1, '', 1); wp_cache_add('j', 1, '', 1); sleep(2); wp_cache_flush_runtime();
        echo json_encode([wp_cache_get('k'), wp_cache_get('j')]);
    """) == [False, False]


def test_counting_by_two_workers_loses_nothing(server):
    run(server, "wp_cache_flush(); wp_cache_set('n', 0); echo 1;")
    path = snippet(server, "require __DIR__ . '/wp.php'; for ($i = 0; $i < 2000; $i++) wp_cache_incr('n');")
    threads = [threading.Thread(target=server.get, args=(path,)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert run(server, "echo json_encode(wp_cache_get('n'));") == 4000


def test_without_a_store_nothing_is_defined():
    r = subprocess.run(
        ["php", "-r", f"define('ABSPATH', '/'); require '{ephpm.REPOSITORY}/php/wordpress/object-cache.php';"
         "var_dump(function_exists('wp_cache_init'), class_exists('WP_Object_Cache'));"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert r.stdout == "bool(false)\nbool(false)\n"
