# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Laravel's cache, counters, locks, tags and sessions in the key-value store: two workers, deploys, artisan of another PHP."""
import json
import subprocess

import pytest

from application import SHARED, Copy, at_once
from browser import Browser
from ephpm import php_minor
from scripts import snippet

APP = "laravel-app"
CACHE = """<?php
return ['default' => 'ephpm', 'stores' => ['ephpm' => ['driver' => 'ephpm']], 'prefix' => 'sample'];
"""
ROUTES = r"""
use Illuminate\Support\Facades\Cache;
use Illuminate\Http\Request;

Route::get('/kv/page', function (Request $r) {
    $by = Cache::remember('page', 60, fn () => getmypid());
    usleep(1000 * (int) $r->query('ms', 0));
    return ['pid' => getmypid(), 'by' => $by];
});
Route::get('/kv/lock', function (Request $r) {
    $lock = Cache::lock('job', 30);
    $from = hrtime(true);
    $got = $r->query('wait') ? $lock->block(10) : $lock->get();
    $waited = intdiv(hrtime(true) - $from, 1000000);
    if ($got) {
        usleep(1000 * (int) $r->query('ms', 0));
        $released = $lock->release();
    }
    return ['got' => $got, 'waited' => $waited, 'released' => $released ?? null];
});
Route::get('/kv/limited', fn () => ['n' => 1])
    ->middleware(Illuminate\Routing\Middleware\ThrottleRequests::class . ':3,1');
Route::post('/kv/run', function (Request $r) {
    return ['out' => eval($r->getContent())];
});
"""


@pytest.fixture(scope="module")
def app():
    with Copy(APP) as copy:
        copy.add_adapters()
        for file in (copy.folder / "bootstrap/cache").glob("*.php"):
            file.unlink()
        copy.write("config/cache.php", CACHE)
        copy.replace("config/app.php", "[App\\Providers\\RouteServiceProvider::class]",
                     "[App\\Providers\\RouteServiceProvider::class, Ephpm\\Laravel\\EphpmServiceProvider::class]")
        copy.replace("config/session.php", "'driver' => 'file'", "'driver' => 'ephpm'")
        copy.append("routes/plain.php", ROUTES)
        yield copy


@pytest.fixture(scope="module")
def server(app):
    with app.serve(over={"php": {"workers": 2, "workers_min": 2}}) as s:
        yield s


def run(server, code):
    r = server.post("/kv/run", code.encode(), {"Content-Type": "text/plain"})
    assert r.status == 200, r.text[:3000]
    return json.loads(r.text)["out"]


def test_two_workers_have_one_cache(server):
    assert server.get("/kv/page").status == 200
    both = at_once(server, ["/kv/page?ms=300"] * 2)
    assert both[0]["pid"] != both[1]["pid"] and both[0]["by"] == both[1]["by"]


def test_cache_outlives_a_deploy(server):
    before = json.loads(server.get("/kv/page").text)
    assert server.cli("deploy").returncode == 0
    after = json.loads(server.get("/kv/page").text)
    assert after["by"] == before["by"] and after["pid"] not in (before["pid"], before["by"])


def test_what_a_store_does(server):
    assert run(server, r"""
        use Illuminate\Support\Facades\Cache;
        Cache::flush();
        ephpm_kv_set('other', 1);
        $out = [Cache::put('a', ['x' => 1], 60), Cache::get('a'), Cache::get('none', 'default'),
            Cache::add('b', 1, 60), Cache::add('b', 2, 60), Cache::increment('b', 4), Cache::decrement('b'),
            Cache::increment('new'), Cache::forever('c', 'c'), Cache::many(['a', 'c', 'none']),
            Cache::putMany(['d' => 1.5, 'e' => false], 60), Cache::get('d'), Cache::has('e'), Cache::pull('c'),
            Cache::forget('a'), Cache::forget('a'), Cache::put('f', 1, -1), Cache::has('f'),
            Cache::put('g', 1, now()->addMinutes(5)), ephpm_kv_ttl('laravel:sample:g') > 290,
            Cache::getPrefix(), Cache::flush(), Cache::get('b'), ephpm_kv_get('other'), ephpm_kv_keys('laravel:')];
        return $out;
    """) == [True, {"x": 1}, "default", True, False, 5, 4, 1, True, {"a": {"x": 1}, "c": "c", "none": None},
             True, 1.5, True, "c", True, False, False, False, True, True, "laravel:sample:", True, None, 1, []]


def test_tags(server):
    assert run(server, r"""
        use Illuminate\Support\Facades\Cache;
        Cache::tags(['red'])->put('k', 1, 60); Cache::tags(['red', 'blue'])->put('k', 2, 60);
        $before = [Cache::tags(['red'])->get('k'), Cache::tags(['red', 'blue'])->get('k'), Cache::get('k')];
        Cache::tags('blue')->flush();
        return [$before, Cache::tags(['red'])->get('k'), Cache::tags(['red', 'blue'])->get('k')];
    """) == [[1, 2, None], 1, None]


def test_lock_keeps_the_other_worker_out(server):
    answers = at_once(server, ["/kv/lock?ms=1500"] * 2)
    assert sorted(r["got"] for r in answers) == [False, True]
    assert [r["released"] for r in answers if r["got"]] == [True]
    both = sorted(at_once(server, ["/kv/lock?ms=1500&wait=1"] * 2), key=lambda r: r["waited"])
    assert all(r["got"] for r in both) and both[0]["waited"] + 100 < both[1]["waited"]


def test_lock_of_another_owner_is_not_released(server):
    assert run(server, r"""
        use Illuminate\Support\Facades\Cache;
        $a = Cache::lock('l', 30); $b = Cache::lock('l', 30);
        $out = [$a->get(), $b->get(), $b->release(), Cache::restoreLock('l', $a->owner())->release(), $b->get()];
        $b->forceRelease();
        return [...$out, ephpm_kv_exists('laravel:sample:l')];
    """) == [True, False, False, True, True, False]


def test_rate_limit_counts_for_all_workers(server):
    statuses = [server.get("/kv/limited").status for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_sessions_are_in_the_store_and_outlive_a_deploy(app, server):
    browser = Browser(server)
    assert json.loads(browser.get("/session/count").text) == {"n": 1}
    assert json.loads(browser.get("/session/count").text) == {"n": 2}
    browser.close()
    assert server.cli("deploy").returncode == 0
    assert json.loads(browser.get("/session/count").text) == {"n": 3}
    browser.close()


def test_artisan_without_a_store_works_but_locks_nothing(app):
    def artisan(*args):
        return subprocess.run(["php" + php_minor(), "artisan", *args, "--no-ansi"], cwd=app.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)

    r = artisan("migrate:status")
    assert "ephpm" not in r.stdout, r.stdout
    code = ("require 'vendor/autoload.php'; $app = require 'bootstrap/app.php';"
            "$app->make(Illuminate\\Contracts\\Console\\Kernel::class)->bootstrap();"
            "$c = $app['cache']; $c->put('k', 1, 60); echo $c->get('k'), ' ';"
            "try { $c->lock('l')->get(); } catch (LogicException $e) { echo $e->getMessage(); }")
    r = subprocess.run(["php" + php_minor(), "-d", "error_reporting=0", "-r", code], cwd=app.folder,
                       text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert r.stdout.startswith('1 The lock "l" needs the key-value store of ephpm: '), r.stdout


def test_smoke_checks_hold(app, server):
    r = subprocess.run([SHARED / "check-app.sh", app.folder, server.url], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    assert r.returncode == 0, r.stdout
    assert json.loads(server.get(snippet(
        server, "echo json_encode(count(ephpm_kv_keys('laravel:sample:')));")).text) > 0
