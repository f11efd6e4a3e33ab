<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
//
// ?suite=SimpleCache or Pool: runs the tests of Debian's php-cache-integration-tests in this request, of each ?of=N the
// number ?part=, and answers {passed, skipped, failed: {test: why}}. They are written for PHPUnit, of which they use
// what is below.

namespace PHPUnit\Framework {
    class Skipped extends \Exception
    {
    }

    class Failed extends \Exception
    {
    }

    abstract class TestCase
    {
        public ?string $expected = null;

        private static function check(bool $good, string $message, mixed ...$values): void
        {
            if (!$good) {
                throw new Failed($message . ' ' . json_encode($values));
            }
        }

        public function markTestSkipped(string $why = ''): never
        {
            throw new Skipped($why);
        }

        public function expectException(string $class): void
        {
            $this->expected = $class;
        }

        public function assertTrue(mixed $v, string $m = ''): void
        {
            self::check($v === true, "not true: $m", $v);
        }

        public function assertFalse(mixed $v, string $m = ''): void
        {
            self::check($v === false, "not false: $m", $v);
        }

        public function assertNull(mixed $v, string $m = ''): void
        {
            self::check($v === null, "not null: $m", $v);
        }

        public function assertEquals(mixed $a, mixed $b, string $m = ''): void
        {
            self::check($a == $b, "differ: $m", $a, $b);
        }

        public function assertSame(mixed $a, mixed $b, string $m = ''): void
        {
            self::check($a === $b, "not the same: $m", $a, $b);
        }

        public function assertCount(int $n, mixed $list, string $m = ''): void
        {
            self::check($n === \count($list), "not $n: $m", \count($list));
        }

        public function assertInstanceOf(string $class, mixed $v, string $m = ''): void
        {
            self::check($v instanceof $class, "no $class: $m", get_debug_type($v));
        }
    }
}

namespace {
    set_time_limit(300);
    require __DIR__ . '/autoload.php';
    require '/usr/share/php/Psr/SimpleCache/autoload.php';
    require '/usr/share/php/Psr/Cache/autoload.php';
    foreach (['CachePoolTest', 'SimpleCacheTest'] as $class) {
        require "/usr/share/php/Cache/IntegrationTests/$class.php";
    }

    final class SimpleCacheSuite extends Cache\IntegrationTests\SimpleCacheTest
    {
        public function createSimpleCache()
        {
            return new Ephpm\Cache\SimpleCache('suite' . getmypid());
        }
    }

    final class PoolSuite extends Cache\IntegrationTests\CachePoolTest
    {
        public function createCachePool()
        {
            return new Ephpm\Cache\Pool('suite' . getmypid());
        }
    }

    function run(string $class, string $method, array $args): ?string
    {
        $test = new $class();
        try {
            $test->setupService();
            $test->$method(...$args);
            $why = $test->expected === null ? null : 'no ' . $test->expected;
        } catch (PHPUnit\Framework\Skipped $e) {
            throw $e;
        } catch (Throwable $e) {
            $why = $test->expected !== null && $e instanceof $test->expected
                ? null : $e::class . ': ' . $e->getMessage();
        }
        $test->tearDownService();

        return $why;
    }

    $class = $_GET['suite'] . 'Suite';
    $passed = 0;
    $skipped = $failed = [];
    $number = 0;
    foreach ((new ReflectionClass($class))->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        $name = $method->getName();
        if (!str_starts_with($name, 'test') || $number++ % (int) $_GET['of'] !== (int) $_GET['part']) {
            continue;
        }
        $rows = preg_match('/@dataProvider (\w+)/', (string) $method->getDocComment(), $m)
            ? $class::{$m[1]}() : [[]];
        foreach ($rows as $i => $args) {
            try {
                $why = run($class, $name, array_values($args));
            } catch (PHPUnit\Framework\Skipped $e) {
                $skipped["$name $i"] = $e->getMessage();
                continue;
            }
            $passed += $why === null ? 1 : 0;
            if ($why !== null) {
                $failed["$name $i"] = $why;
            }
        }
    }
    echo json_encode(compact('passed', 'skipped', 'failed'));
}
