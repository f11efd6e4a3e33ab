# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Symfony's cache, tags and locks in the key-value store: two workers, deploys, the console of another PHP."""
import json
import os
import subprocess

import pytest

from application import SHARED, Copy, at_once
from ephpm import php_minor
from scripts import snippet

APP = "symfony-app"
CONFIG = """
framework:
    cache:
        app: cache.adapter.ephpm
        pools:
            pages.pool: { adapter: cache.adapter.ephpm, tags: true }
services:
    cache.adapter.ephpm:
        class: Ephpm\\Symfony\\CacheAdapter
        abstract: true
        arguments: ['', 0]
        tags: [{ name: cache.pool, clearer: cache.default_clearer, reset: reset }]
    Ephpm\\Symfony\\LockStore: ~
    Symfony\\Component\\Lock\\LockFactory: { arguments: ['@Ephpm\\Symfony\\LockStore'] }
"""
CONTROLLER = r"""<?php
namespace App\Controller;

use Symfony\Bundle\FrameworkBundle\Controller\AbstractController;
use Symfony\Component\HttpFoundation\{JsonResponse, Request};
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Routing\Annotation\Route;
use Symfony\Contracts\Cache\{CacheInterface, ItemInterface, TagAwareCacheInterface};

class KvController extends AbstractController
{
    #[Route('/kv/page', name: 'kv_page')]
    public function page(CacheInterface $cache, Request $r): JsonResponse
    {
        $value = $cache->get('page', function (ItemInterface $item) {
            $item->expiresAfter(60);

            return ['by' => getmypid(), 'at' => new \DateTimeImmutable('2020-01-02'), 'null' => null];
        });
        usleep(1000 * $r->query->getInt('ms'));

        return $this->json(['pid' => getmypid(), 'by' => $value['by'], 'at' => $value['at']->format('Y')]);
    }

    #[Route('/kv/tags', name: 'kv_tags')]
    public function tags(TagAwareCacheInterface $pagesPool, Request $r): JsonResponse
    {
        if ($r->query->has('forget')) {
            $pagesPool->invalidateTags([$r->query->get('forget')]);
        }
        $out = ['pid' => getmypid()];
        foreach (['a' => ['red'], 'b' => ['red', 'blue'], 'c' => []] as $key => $tags) {
            $out[$key] = $pagesPool->get($key, function (ItemInterface $item) use ($tags) {
                $item->tag($tags);

                return ephpm_kv_incr('made');
            });
        }
        usleep(1000 * $r->query->getInt('ms'));

        return $this->json($out);
    }

    #[Route('/kv/lock', name: 'kv_lock')]
    public function lock(LockFactory $locks, Request $r): JsonResponse
    {
        $lock = $locks->createLock('job', 30);
        $from = hrtime(true);
        $got = $lock->acquire($r->query->getBoolean('wait'));
        $waited = intdiv(hrtime(true) - $from, 1000000);
        if ($got) {
            $lock->refresh();
            usleep(1000 * $r->query->getInt('ms'));
            $lock->release();
        }

        return $this->json(['got' => $got, 'waited' => $waited]);
    }
}
"""


@pytest.fixture(scope="module")
def app():
    with Copy(APP) as copy:
        copy.add_adapters()
        copy.append("vendor/autoload.php",
                    "require_once '/usr/share/php/Symfony/Component/Lock/autoload.php';\n")
        copy.write("config/packages/prod/zz_ephpm.yaml", CONFIG)
        copy.write("src/Controller/KvController.php", CONTROLLER)
        console(copy, "cache:clear")
        yield copy


@pytest.fixture(scope="module")
def server(app):
    with app.serve(over={"php": {"workers": 2, "workers_min": 2}}) as s:
        yield s


def console(app, *args):
    """bin/console with Debian's PHP, which has no store, as the user of the server."""
    command = ["php" + php_minor(), "bin/console", *args, "--env=prod", "--no-interaction"]
    if os.getuid() == 0:
        command = ["setpriv", "--reuid=www-data", "--regid=www-data", "--clear-groups", *command]
    r = subprocess.run(command, cwd=app.folder, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=300)
    assert r.returncode == 0, r.stdout
    return r.stdout


def keys(server, prefix):
    return json.loads(server.get(snippet(
        server, f"echo json_encode(ephpm_kv_keys('{prefix}', 1000));")).text)


def test_two_workers_have_one_cache(server):
    first, second = at_once(server, ["/kv/page?ms=300"] * 2)
    assert first["pid"] != second["pid"]
    again = at_once(server, ["/kv/page?ms=300"] * 2)
    assert len({r["pid"] for r in again}) == 2
    # Both may have made it at first; one value stayed.
    assert {(r["by"], r["at"]) for r in again} <= {(r["by"], "2020") for r in (first, second)}
    assert len({r["by"] for r in again}) == 1
    assert len([k for k in keys(server, "symfony:") if k.endswith(":page")]) == 1, keys(server, "")


def test_cache_outlives_a_deploy(server):
    before = json.loads(server.get("/kv/page").text)
    assert server.cli("deploy").returncode == 0
    after = json.loads(server.get("/kv/page").text)
    assert after["by"] == before["by"] and after["pid"] not in (before["pid"], before["by"])


def test_tags_make_values_old_for_all_workers(server):
    both = at_once(server, ["/kv/tags?ms=300"] * 2)
    old = json.loads(server.get("/kv/tags").text)
    assert len({r["pid"] for r in both}) == 2
    json.loads(server.get("/kv/tags?forget=blue").text)
    new = at_once(server, ["/kv/tags?ms=300"] * 2)
    assert len({r["pid"] for r in new}) == 2
    for r in new:
        assert (r["a"], r["c"]) == (old["a"], old["c"]) and r["b"] > old["b"]
    json.loads(server.get("/kv/tags?forget=red").text)
    last = json.loads(server.get("/kv/tags").text)
    assert last["a"] > old["a"] and last["b"] > new[0]["b"] and last["c"] == old["c"]


def test_lock_keeps_the_other_worker_out(server):
    got = sorted(r["got"] for r in at_once(server, ["/kv/lock?ms=1500"] * 2))
    assert got == [False, True]
    both = sorted(at_once(server, ["/kv/lock?ms=1500&wait=1"] * 2), key=lambda r: r["waited"])
    assert both[0]["got"] and both[1]["got"]
    assert both[0]["waited"] + 100 < both[1]["waited"]
    assert keys(server, "symfony-lock:") == []


def test_console_without_a_store_works(app, server):
    """It says what it does, and the server's cache is none of its business."""
    value = json.loads(server.get("/kv/page").text)["by"]
    assert "pages.pool" in console(app, "cache:pool:list")
    console(app, "cache:pool:clear", "cache.app")
    assert json.loads(server.get("/kv/page").text)["by"] == value


def test_clear_takes_its_own_keys_only(app, server):
    code = """
$_SERVER['APP_ENV'] = 'prod';
require __DIR__ . '/../vendor/autoload.php';
ephpm_kv_set('other', 1);
$a = new Ephpm\\Symfony\\CacheAdapter('one'); $b = new Ephpm\\Symfony\\CacheAdapter('ones');
foreach ([$a, $b] as $pool) $pool->save($pool->getItem('k')->set(null));
$a->clear();
echo json_encode([$a->hasItem('k'), $b->getItem('k')->isHit(), $b->getItem('k')->get(), ephpm_kv_get('other')]);
"""
    assert json.loads(server.get(snippet(server, code)).text) == [False, True, None, 1]


def test_smoke_checks_hold(app, server):
    r = subprocess.run([SHARED / "check-app.sh", app.folder, server.url], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    assert r.returncode == 0, r.stdout
