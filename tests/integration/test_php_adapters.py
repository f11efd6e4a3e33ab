# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The PHP adapters of php/: what both PSR caches promise, by the suite that other caches are judged by, and what ours
add. The frameworks' are tested in the applications, apps/test_kv_*.py.
"""
import json
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

import ephpm
from scripts import snippet

HERE = pathlib.Path(__file__).parent / "php"
SUITE = pathlib.Path("/usr/share/php/Cache/IntegrationTests")
PARTS = 6
START = """
header('X-Pid: ' . getmypid());
require __DIR__ . '/autoload.php';
require '/usr/share/php/Psr/SimpleCache/autoload.php';
require '/usr/share/php/Psr/Cache/autoload.php';
use Ephpm\\Cache\\{SimpleCache, Pool};
"""


@pytest.fixture(scope="module")
def server():
    s = ephpm.Server({"php": {"workers": PARTS, "workers_min": PARTS}}, start=False)
    with s:
        shutil.copytree(ephpm.REPOSITORY / "php", s.root / "adapters")
        for file in HERE.glob("*.php"):
            shutil.copy(file, s.root)
        s.start()
        yield s


def get(server, target):
    with server.connect(timeout=200) as c:
        return c.request("GET", target)


def run(server, code):
    """What the code answers, as JSON."""
    r = get(server, snippet(server, START + code))
    assert r.status == 200, r.text
    return json.loads(r.text)


@pytest.mark.parametrize("suite, least", [("SimpleCache", 190), ("Pool", 100)])
def test_contract(server, suite, least):
    if not SUITE.is_dir():
        pytest.skip("php-cache-integration-tests is not installed")
    answers = [None] * PARTS

    def ask(part):
        answers[part] = get(server, f"/suite.php?suite={suite}&part={part}&of={PARTS}")

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(PARTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    passed, failed, skipped = 0, {}, {}
    for r in answers:
        assert r.status == 200, r.text
        part = json.loads(r.text)
        passed += part["passed"]
        failed.update(part["failed"])
        skipped.update(part["skipped"])
    assert failed == {} and skipped == {}
    assert passed >= least


def test_cache_clears_only_its_own(server):
    assert run(server, """
        $a = new SimpleCache('one'); $b = new SimpleCache('ones'); $p = new Pool('one.more');
        $a->set('k', 1); $b->set('k', 2); $p->save($p->getItem('k')->set(3)); ephpm_kv_set('one', 4);
        $a->clear();
        echo json_encode([$a->get('k'), $b->get('k'), $p->getItem('k')->get(), ephpm_kv_get('one')]);
    """) == [None, 2, 3, 4]


def test_many_are_cleared(server):
    assert run(server, """
        $c = new SimpleCache('many');
        for ($i = 0; $i < 25000; $i++) $c->set("k$i", $i);
        $before = count(ephpm_kv_keys('many:', 100000)); $c->clear();
        echo json_encode([$before, ephpm_kv_keys('many:')]);
    """) == [25000, []]


def test_null_is_no_miss_and_types_stay(server):
    assert run(server, """
        $c = new SimpleCache('types');
        foreach (['n' => null, 'f' => false, 'i' => 0, 'e' => '', 'd' => 1.0, 's' => '5'] as $k => $v)
            $c->set($k, $v);
        $out = [];
        foreach (['n', 'f', 'i', 'e', 'd', 's', 'none'] as $k)
            $out[] = [var_export($c->get($k, 'default'), true), $c->has($k)];
        $pool = new Pool('types2');
        $pool->save($pool->getItem('n')->set(null));
        $out[] = [$pool->getItem('n')->isHit(), $pool->getItem('n')->get(), $pool->getItem('x')->isHit()];
        $out[] = $c->getMultiple(['n', 'none'], 'default');
        echo json_encode($out);
    """) == [["NULL", True], ["false", True], ["0", True], ["''", True], ["1.0", True],
             ["'5'", True], ["'default'", False], [True, None, False],
             {"n": None, "none": "default"}]


def test_bad_keys_lifetimes_and_names(server):
    assert run(server, """
        $c = new SimpleCache('bad'); $p = new Pool('bad');
        $try = function (callable $f) {
            try { $f(); return 'nothing'; } catch (Throwable $e) {
                return ($e instanceof Psr\\SimpleCache\\InvalidArgumentException ? '16' : '')
                    . ($e instanceof Psr\\Cache\\InvalidArgumentException ? '6' : '') . ' ' . $e->getMessage();
            }
        };
        echo json_encode([
            $try(fn() => $c->get(str_repeat('k', 32768))), $try(fn() => $c->get(str_repeat('k', 32764))),
            $try(fn() => $c->set('k', 1, 1.5)), $try(fn() => $p->getItem('a:b')),
            $try(fn() => new SimpleCache('a:b')), $try(fn() => $p->getItem('k')->expiresAfter('1')),
            $try(fn() => $c->setMultiple('no')),
        ]);
    """) == ["16 A key with the name of its cache has at most 32768 bytes", " nothing"[1:],
             "16 A lifetime is null, an int or a DateInterval, not float",
             "6 A key has none of {}()/\\@:: \"a:b\"",
             "16 The name of a cache has none of {}()/\\@:: \"a:b\"",
             "6 A lifetime is null, an int or a DateInterval, not string",
             "16 Keys or values are an array or Traversable, not string"]


def test_value_that_is_too_large_is_false_and_leaves_nothing(server):
    assert run(server, """
        ini_set('memory_limit', '400M');
        $c = new SimpleCache('large'); $c->set('k', 'old');
        $large = str_repeat('x', 67108865);
        $many = $c->setMultiple(['j' => 1, 'k' => $large]);
        echo json_encode([$c->set('k', $large), $c->has('k'), $many, $c->get('j')]);
    """) == [False, False, False, 1]


def test_counters(server):
    assert run(server, """
        $c = new SimpleCache('count'); $c->set('t', 'text'); $c->set('l', 1, 100);
        echo json_encode([$c->increment('n'), $c->increment('n', 5), $c->decrement('n', 2),
            $c->increment('t'), $c->get('n'), $c->increment('l'), ephpm_kv_ttl('count:l')]);
    """) == [1, 6, 4, False, 4, 2, 100]


def test_deferred_items_come_with_commit_or_the_end(server):
    run(server, """
        $p = new Pool('later'); $p->saveDeferred($p->getItem('a')->set('A'));
        echo json_encode([ephpm_kv_exists('later:a'), $p->hasItem('a'), $p->getItem('a')->get()]);
    """) == [False, True, "A"]
    assert run(server, "echo json_encode((new Pool('later'))->getItem('a')->get());") == "A"


REMEMBER = START + """
$c = new SimpleCache('stampede');
echo json_encode($c->remember('page', function () {
    ephpm_kv_incr('made'); usleep(300000); return ['made by' => getmypid()];
}, 60));
"""


def test_one_makes_what_many_miss(server):
    path = snippet(server, REMEMBER)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(get(server, path)))
               for _ in range(PARTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({r.text for r in answers}) == 1, [r.text for r in answers]
    assert len({r.get("X-Pid") for r in answers}) > 1
    assert run(server, """
        echo json_encode([ephpm_kv_get('made'), ephpm_kv_keys('stampede:')]);
    """) == [1, ["stampede:page"]]


def test_maker_that_fails_leaves_no_lock(server):
    assert run(server, """
        $c = new SimpleCache('fails'); $before = ephpm_kv_keys('');
        try { $c->remember('k', fn() => throw new Exception('no')); } catch (Exception $e) { $m = $e->getMessage(); }
        $left = array_diff(ephpm_kv_keys(''), $before); $v = $c->remember('k', fn() => null);
        echo json_encode([$m, $v, $left, $c->has('k')]);
    """) == ["no", None, [], True]


def test_cache_outlives_a_deploy(server):
    before = run(server, "(new SimpleCache('kept'))->set('k', [1, 'two']); echo getmypid();")
    assert server.cli("deploy").returncode == 0
    after = run(server, "echo json_encode([(new SimpleCache('kept'))->get('k'), getmypid()]);")
    assert after[0] == [1, "two"] and after[1] != before


# The interfaces' later versions have types.
TYPED = """
namespace Psr\\SimpleCache {
    interface InvalidArgumentException extends \\Throwable {}
    interface CacheInterface {
        public function get(string $key, mixed $default = null): mixed;
        public function set(string $key, mixed $value, null|int|\\DateInterval $ttl = null): bool;
        public function delete(string $key): bool;
        public function clear(): bool;
        public function getMultiple(iterable $keys, mixed $default = null): iterable;
        public function setMultiple(iterable $values, null|int|\\DateInterval $ttl = null): bool;
        public function deleteMultiple(iterable $keys): bool;
        public function has(string $key): bool;
    }
}
namespace Psr\\Cache {
    interface InvalidArgumentException extends \\Throwable {}
    interface CacheItemInterface {
        public function getKey(): string;
        public function get(): mixed;
        public function isHit(): bool;
        public function set(mixed $value): static;
        public function expiresAt(?\\DateTimeInterface $expiration): static;
        public function expiresAfter(int|\\DateInterval|null $time): static;
    }
    interface CacheItemPoolInterface {
        public function getItem(string $key): CacheItemInterface;
        public function getItems(array $keys = []): iterable;
        public function hasItem(string $key): bool;
        public function clear(): bool;
        public function deleteItem(string $key): bool;
        public function deleteItems(array $keys): bool;
        public function save(CacheItemInterface $item): bool;
        public function saveDeferred(CacheItemInterface $item): bool;
        public function commit(): bool;
    }
}
namespace {
    require __DIR__ . '/autoload.php';
    $c = new Ephpm\\Cache\\SimpleCache('typed'); $c->set('k', 1);
    $p = new Ephpm\\Cache\\Pool('typed'); $p->save($p->getItem('j')->set(2)->expiresAfter(60));
    echo json_encode([$c->get('k'), $p->getItem('j')->get()]);
}
"""


def test_typed_interfaces(server):
    r = get(server, snippet(server, TYPED))
    assert r.text == "[1,2]", r.text


def test_without_a_store_it_says_so():
    with ephpm.Server({"kv": {"enabled": False}}, start=False) as s:
        shutil.copytree(ephpm.REPOSITORY / "php", s.root / "adapters")
        for file in HERE.glob("*.php"):
            shutil.copy(file, s.root)
        s.start()
        assert run(s, """
            try { new SimpleCache('c'); } catch (LogicException $e) { echo json_encode($e->getMessage()); }
        """) == ('The cache "c" needs the key-value store of ephpm: this PHP (fpm-fcgi) has no '
                 'ephpm_kv_get(). Is it another program than ephpm, or is [kv] off?')


def test_composer_finds_the_classes(tmp_path):
    """As a path repository, without the network."""
    if not shutil.which("composer"):
        pytest.skip("composer is not installed")
    (tmp_path / "composer.json").write_text(json.dumps({
        "repositories": [{"packagist.org": False},
                         {"type": "path", "url": str(ephpm.REPOSITORY / "php"),
                          "options": {"symlink": False}}],
        "require": {"ephpm/adapters": "*@dev"}}))
    env = {**os.environ, "COMPOSER_HOME": str(tmp_path / "home"), "COMPOSER_ALLOW_SUPERUSER": "1"}
    r = subprocess.run(["composer", "install", "--no-interaction", "--quiet"], cwd=tmp_path, env=env,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    assert r.returncode == 0, r.stdout
    r = subprocess.run(["php", "-r", "require 'vendor/autoload.php';"
                        "var_dump(class_exists('Ephpm\\\\Cache\\\\Store'), Ephpm\\Cache\\Store::isThere());"],
                       cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=60)
    assert r.stdout == "bool(true)\nbool(false)\n"
