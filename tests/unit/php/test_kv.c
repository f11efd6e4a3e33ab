/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"
#include "unit/test.h"

struct row {
    const char *name, *code, *want;
};

static void run_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char code[2000];

        kv_store_flush(host_store);
        test_row(rows[i].name);
        (void)snprintf(
            code, sizeof(code), "function out(...$v) { echo json_encode($v); } %s", rows[i].code);
        host_php(code);
        CHECK_BODY(rows[i].want);
    }
    test_row(NULL);
}

static void test_kv_php_values_come_back(void)
{
    static const struct row rows[] = {
        {"missing", "var_dump(ephpm_kv_get('k'));", "NULL\n"},
        {"string", "out(ephpm_kv_set('k', 'v'), ephpm_kv_get('k'));", "[true,\"v\"]"},
        {"empty", "ephpm_kv_set('k', ''); var_dump(ephpm_kv_get('k'));", "string(0) \"\"\n"},
        {"int", "ephpm_kv_set('k', 42); var_dump(ephpm_kv_get('k'));", "int(42)\n"},
        {"float", "ephpm_kv_set('k', -0.5); var_dump(ephpm_kv_get('k'));", "float(-0.5)\n"},
        {"bool", "ephpm_kv_set('k', false); var_dump(ephpm_kv_get('k'));", "bool(false)\n"},
        {"null", "ephpm_kv_set('k', null); out(ephpm_kv_get('k'), ephpm_kv_exists('k'));",
            "[null,true]"},
        {"array", "ephpm_kv_set('k', ['a' => [1, 2.5]]); out(ephpm_kv_get('k'));",
            "[{\"a\":[1,2.5]}]"},
        {"object",
            "ephpm_kv_set('k', new DateTime('2020-01-02'));"
            "echo ephpm_kv_get('k')->format('Y-m-d');",
            "2020-01-02"},
        {"reference",
            "$a = [1]; $a[1] = &$a[0]; ephpm_kv_set('k', $a); $b = ephpm_kv_get('k');"
            "$b[0] = 7; out($b);",
            "[[7,7]]"},
        {"looks serialized", "ephpm_kv_set('k', 'i:5;'); var_dump(ephpm_kv_get('k'));",
            "string(4) \"i:5;\"\n"},
        {"bytes",
            "ephpm_kv_set(\"\\0k\\xff\", \"\\0\\1\"); echo bin2hex(ephpm_kv_get(\"\\0k\\xff\"));",
            "0001"},
        {"large",
            "ephpm_kv_set('k', str_repeat('ab', 200000)); echo md5(ephpm_kv_get('k')) =="
            "md5(str_repeat('ab', 200000)) ? 'same' : 'other';",
            "same"},
        {"int key", "ephpm_kv_set(5, 'five'); out(ephpm_kv_get('5'));", "[\"five\"]"},
        {"nested",
            "class N implements JsonSerializable { public $k; function __construct($k) {"
            "$this->k = $k; } function __unserialize(array $d): void {"
            "$this->k = ephpm_kv_get($d['k']); } function jsonSerialize(): mixed {"
            "return $this->k; } }"
            "ephpm_kv_set('inner', 'in'); ephpm_kv_set('k', [new N('inner'), 'rest']);"
            "out(ephpm_kv_get('k'));",
            "[[\"in\",\"rest\"]]"},
    };

    run_rows(rows, ARRAY_LEN(rows));
}

static void test_kv_php_hashes(void)
{
    static const struct row rows[] = {
        {"set and get", "out(ephpm_kv_hset('h', 'f', 'v'), ephpm_kv_hget('h', 'f'));",
            "[true,\"v\"]"},
        {"missing", "out(ephpm_kv_hget('h', 'f'), ephpm_kv_hdel('h', 'f'), ephpm_kv_hgetall('h'));",
            "[null,0,[]]"},
        {"kinds",
            "foreach ([5, -0.5, 'x', false, null, [1, 'a' => 2]] as $i => $v)"
            "ephpm_kv_hset('h', \"f$i\", $v); $all = ephpm_kv_hgetall('h'); ksort($all);"
            "out($all, ephpm_kv_hget('h', 'f0') === 5, ephpm_kv_hget('h', 'f1') === -0.5);",
            "[{\"f0\":5,\"f1\":-0.5,\"f2\":\"x\",\"f3\":false,\"f4\":null,\"f5\":{\"0\":1,"
            "\"a\":2}},true,true]"},
        {"int fields", "ephpm_kv_hset('h', 7, 'x'); var_dump(key(ephpm_kv_hgetall('h')));",
            "int(7)\n"},
        {"del",
            "ephpm_kv_hset('h', 'f', 1); out(ephpm_kv_hdel('h', 'f'), ephpm_kv_hdel('h', 'f'),"
            "ephpm_kv_exists('h'));",
            "[1,0,false]"},
        {"many",
            "for ($i = 0; $i < 5000; $i++) ephpm_kv_hset('h', \"f$i\", $i);"
            "for ($i = 0; $i < 5000; $i += 2) ephpm_kv_hdel('h', \"f$i\");"
            "$all = ephpm_kv_hgetall('h'); out(count($all), array_sum($all));",
            "[2500,6250000]"},
        {"large",
            "out(ephpm_kv_hset('h', 'f', str_repeat('x', 200000)),"
            "strlen(ephpm_kv_hget('h', 'f')));",
            "[true,200000]"},
        {"keeps its deadline",
            "ephpm_kv_hset('h', 'f', 1); ephpm_kv_expire('h', 100); ephpm_kv_hset('h', 'g', 1);"
            "out(ephpm_kv_ttl('h'));",
            "[100]"},
        {"of a value",
            "ephpm_kv_set('k', 'v'); out(ephpm_kv_hset('k', 'f', 1), ephpm_kv_hget('k', 'f'),"
            "ephpm_kv_hdel('k', 'f'), ephpm_kv_hgetall('k'), ephpm_kv_get('k'));",
            "[false,null,0,[],\"v\"]"},
        {"value of a hash",
            "ephpm_kv_hset('h', 'f', 1); out(ephpm_kv_get('h'), ephpm_kv_incr('h'),"
            "ephpm_kv_cas('h', null, 1), ephpm_kv_setnx('h', 1), ephpm_kv_exists('h'),"
            "ephpm_kv_keys(), ephpm_kv_set('h', 'v'), ephpm_kv_get('h'));",
            "[null,false,false,false,true,[\"h\"],true,\"v\"]"},
        {"field too long",
            "try { ephpm_kv_hset('h', str_repeat('x', 32769), 1); } catch (ValueError $e) {"
            "echo $e->getMessage(); }",
            "ephpm_kv_hset(): Argument #2 ($field) must not be longer than 32768 bytes"},
    };

    run_rows(rows, ARRAY_LEN(rows));
}

static void test_kv_php_operations(void)
{
    static const struct row rows[] = {
        {"setnx", "out(ephpm_kv_setnx('k', 1), ephpm_kv_setnx('k', 2), ephpm_kv_get('k'));",
            "[true,false,1]"},
        {"del", "ephpm_kv_set('k', 1); out(ephpm_kv_del('k'), ephpm_kv_del('k'));", "[1,0]"},
        {"exists", "ephpm_kv_set('k', 1); out(ephpm_kv_exists('k'), ephpm_kv_exists('j'));",
            "[true,false]"},
        {"incr",
            "out(ephpm_kv_incr('k'), ephpm_kv_incr_by('k', 5), ephpm_kv_decr('k'),"
            "ephpm_kv_decr_by('k', 10));",
            "[1,6,5,-5]"},
        {"incr a string", "ephpm_kv_set('k', '41'); out(ephpm_kv_incr('k'), ephpm_kv_get('k'));",
            "[42,42]"},
        {"incr text", "ephpm_kv_set('k', 'x'); out(ephpm_kv_incr('k'), ephpm_kv_get('k'));",
            "[false,\"x\"]"},
        {"overflow",
            "ephpm_kv_set('k', PHP_INT_MAX); out(ephpm_kv_incr('k'),"
            "ephpm_kv_get('k') === PHP_INT_MAX, ephpm_kv_decr_by('k', PHP_INT_MIN));",
            "[false,true,false]"},
        {"ttl",
            "ephpm_kv_set('k', 1, 100); ephpm_kv_set('j', 1); $p = ephpm_kv_pttl('k');"
            "out(ephpm_kv_ttl('k'), $p > 90000 && $p <= 100000, ephpm_kv_ttl('j'),"
            "ephpm_kv_pttl('j'), ephpm_kv_ttl('none'), ephpm_kv_pttl('none'));",
            "[100,true,-1,-1,-2,-2]"},
        {"expire",
            "ephpm_kv_set('k', 1); out(ephpm_kv_expire('k', 50), ephpm_kv_ttl('k'),"
            "ephpm_kv_expire('none', 50), ephpm_kv_expire('k', 0), ephpm_kv_exists('k'));",
            "[true,50,false,true,false]"},
        {"long ttl", "out(ephpm_kv_set('k', 1, PHP_INT_MAX), ephpm_kv_ttl('k') > 1000000);",
            "[true,true]"},
        {"mset and mget",
            "out(ephpm_kv_mset(['a' => 1, 'b' => 'two', 7 => [3]]),"
            "ephpm_kv_mget(['x' => 'a', 'b', 'none', 7]));",
            "[true,{\"x\":1,\"0\":\"two\",\"1\":null,\"2\":[3]}]"},
        {"mset with ttl", "ephpm_kv_mset(['a' => 1], 9); out(ephpm_kv_ttl('a'));", "[9]"},
        {"cas",
            "out(ephpm_kv_cas('k', null, 'a'), ephpm_kv_cas('k', null, 'b'),"
            "ephpm_kv_cas('k', 'b', 'c'), ephpm_kv_cas('k', 'a', [1]),"
            "ephpm_kv_cas('k', [2], 'd'), ephpm_kv_cas('k', [1], 'd', 5), ephpm_kv_get('k'),"
            "ephpm_kv_ttl('k'));",
            "[true,false,false,true,false,true,\"d\",5]"},
        {"cas to null deletes",
            "ephpm_kv_set('k', 'a'); out(ephpm_kv_cas('k', 'b', null), ephpm_kv_exists('k'),"
            "ephpm_kv_cas('k', 'a', null), ephpm_kv_exists('k'), ephpm_kv_cas('k', null, null));",
            "[false,true,true,false,true]"},
        {"mset of references",
            "class S { function __serialize(): array { global $x; $x = 'changed'; return []; } }"
            "$x = str_repeat('y', 3); ephpm_kv_mset(['a' => &$x, 'b' => new S]);"
            "out(ephpm_kv_get('a'), $x);",
            "[\"yyy\",\"changed\"]"},
        {"mset is all or nothing",
            "ephpm_kv_set('a', 'old'); out(ephpm_kv_mset(['a' => 1, 'b' =>"
            "str_repeat('x', 1500000)]), ephpm_kv_get('a'), ephpm_kv_exists('b'));",
            "[false,\"old\",false]"},
        {"mset of nothing", "out(ephpm_kv_mset([]), ephpm_kv_mget([]));", "[true,[]]"},
        {"binary keys of mset",
            "ephpm_kv_mset([\"\\0\" => 1, '' => 2]); out(ephpm_kv_get(''),"
            "ephpm_kv_get(\"\\0\"));",
            "[2,1]"},
        {"cas type", "ephpm_kv_set('k', 1); out(ephpm_kv_cas('k', '1', 2));", "[false]"},
        {"keys",
            "foreach (['a:1', 'a:2', 'b:1', 'a*', 'a'] as $k) ephpm_kv_set($k, 1);"
            "$all = ephpm_kv_keys(); sort($all); $a = ephpm_kv_keys('a:'); sort($a);"
            "out($all, $a, ephpm_kv_keys('a*'), count(ephpm_kv_keys('', 2)),"
            "ephpm_kv_keys('none'));",
            "[[\"a\",\"a*\",\"a:1\",\"a:2\",\"b:1\"],[\"a:1\",\"a:2\"],[\"a*\"],2,[]]"},
        {"flush", "ephpm_kv_set('k', 1); out(ephpm_kv_flush_all(), ephpm_kv_get('k'));",
            "[true,null]"},
        {"wait",
            "$a = ephpm_kv_wait('k', 0, 1000); ephpm_kv_set('k', ['v']);"
            "$b = ephpm_kv_wait('k', $a['version'], 1000);"
            "$c = ephpm_kv_wait('k', $b['version'], 10); $d = ephpm_kv_wait('k', -1, -1);"
            "out($a['value'], $b['value'], $b['version'] > $a['version'], $c, $d['value']);",
            "[null,[\"v\"],true,false,[\"v\"]]"},
        {"named arguments",
            "out(ephpm_kv_set(value: 1, key: 'k', ttl: 3), ephpm_kv_ttl(key: 'k'));", "[true,3]"},
        {"full", "out(ephpm_kv_set('k', str_repeat('x', 1500000)), ephpm_kv_exists('k'));",
            "[false,false]"},
    };

    run_rows(rows, ARRAY_LEN(rows));
}

static void test_kv_php_errors_name_the_argument(void)
{
#define TRY(call)                                              \
    "try { " call "; echo 'nothing'; } catch (Throwable $e) {" \
    "echo get_class($e), ': ', $e->getMessage(); }"
    static const struct row rows[] = {
        {"long key", TRY("ephpm_kv_get(str_repeat('k', 32769))"),
            "ValueError: ephpm_kv_get(): Argument #1 ($key) must not be longer than 32768 bytes"},
        {"longest key", TRY("ephpm_kv_set(str_repeat('k', 32768), 1)"), "nothing"},
        {"long key of many", TRY("ephpm_kv_mget(['a', str_repeat('k', 32769)])"),
            "ValueError: ephpm_kv_mget(): Argument #1 ($keys) must not be longer than 32768 bytes"},
        {"bad key of many", TRY("ephpm_kv_mget(['a', 1.5])"),
            "TypeError: ephpm_kv_mget(): Argument #1 ($keys) must be an array of strings, float in "
            "it"},
        {"long key to set", TRY("ephpm_kv_mset([str_repeat('k', 32769) => 1])"),
            "ValueError: ephpm_kv_mset(): Argument #1 ($values) must not be longer than 32768 "
            "bytes"},
        {"negative ttl of many", TRY("ephpm_kv_mset(['k' => 1], -5)"),
            "ValueError: ephpm_kv_mset(): Argument #2 ($ttl) must be greater than or equal to 0"},
        {"closure of many", TRY("ephpm_kv_mset(['k' => 1, 'j' => fn() => 1])"),
            "Exception: Serialization of 'Closure' is not allowed"},
        {"negative ttl of cas", TRY("ephpm_kv_cas('k', null, 1, -1)"),
            "ValueError: ephpm_kv_cas(): Argument #4 ($ttl) must be greater than or equal to 0"},
        {"float to be counted", TRY("ephpm_kv_incr_by('k', 1.5)"), "nothing"},
        {"negative ttl", TRY("ephpm_kv_set('k', 1, -1)"),
            "ValueError: ephpm_kv_set(): Argument #3 ($ttl) must be greater than or equal to 0"},
        {"negative expire", TRY("ephpm_kv_expire('k', -1)"),
            "ValueError: ephpm_kv_expire(): Argument #2 ($ttl) must be greater than or equal to 0"},
        {"closure", TRY("ephpm_kv_set('k', fn() => 1)"),
            "Exception: Serialization of 'Closure' is not allowed"},
        {"limit", TRY("ephpm_kv_keys('', 0)"),
            "ValueError: ephpm_kv_keys(): Argument #2 ($limit) must be greater than 0"},
        {"array as key", TRY("ephpm_kv_get([])"),
            "TypeError: ephpm_kv_get(): Argument #1 ($key) must be of type string, array given"},
        {"too few", TRY("ephpm_kv_set('k')"),
            "ArgumentCountError: ephpm_kv_set() expects at least 2 arguments, 1 given"},
    };

    run_rows(rows, ARRAY_LEN(rows));
    host_php("echo ephpm_kv_exists('k') ? 'there' : 'none';");
    CHECK_BODY("none");
}

/* The store is as usable as before when PHP gives up in the midst of using it. */
static void test_kv_php_survives_a_fatal_error(void)
{
    kv_store_flush(host_store);
    host_php("ini_set('memory_limit', '8M'); ephpm_kv_set('k', str_repeat('x', 500000));"
             "$all = []; for (;;) $all[] = ephpm_kv_get('k');");
    CHECK_INT(reply.result.end, EMBED_MEMORY);
    host_php("class Bad { function __serialize(): array { exit('left'); } }"
             "ephpm_kv_set('j', new Bad);");
    CHECK_BODY("left");
    host_php("echo strlen(ephpm_kv_get('k')), ephpm_kv_set('j', 'j') ? 'set' : 'not';");
    CHECK_BODY("500000set");
}

/* So a deploy or a timeout of the front ends a request. */
static void test_kv_php_wait_ends_with_its_request(void)
{
    kv_store_flush(host_store);
    host_interrupt_soon();
    host_php("$v = ephpm_kv_wait('k', 0, 0)['version'];"
             "ephpm_kv_wait('k', $v, 600000); echo 'went on';");
    host_interrupt_stop();
    CHECK_INT(reply.result.end, EMBED_TIMEOUT);
    CHECK_LACKS(reply.body, "went on");
}

/* Igbinary's header, as another PHP may have stored it. */
static void test_kv_php_value_of_an_extension_that_is_not_loaded(void)
{
    static const char bytes[] = "\0\0\0\2\x14\0";
    struct kv_value v = {.type = KV_SERIALIZED, .bytes = {bytes, sizeof(bytes) - 1}};

    kv_store_flush(host_store);
    CHECK_INT(kv_store_set(host_store, STR("k"), &v, 0, 0), 0);
    host_php("var_dump(extension_loaded('igbinary'), ephpm_kv_get('k'));");
    CHECK_BODY("bool(false)\nNULL\n");
    CHECK_HAS(reply.log, "The value was stored with igbinary, which is not loaded");
    v.bytes = STR("nonsense");
    CHECK_INT(kv_store_set(host_store, STR("k"), &v, 0, 0), 0);
    host_php("var_dump(ephpm_kv_get('k'));");
    CHECK_BODY("NULL\n");
}

/* PHP's own clock stands still meanwhile. */
static void test_kv_php_wait_counts_for_max_execution_time(void)
{
    kv_store_flush(host_store);
    host_php("set_time_limit(1); $v = ephpm_kv_wait('k', 0, 0)['version'];"
             "for ($i = 0; $i < 100; $i++) ephpm_kv_wait('k', $v, 300); echo 'went on';");
    CHECK_HAS(reply.log, "Maximum execution time of 1 second exceeded");
    CHECK_LACKS(reply.body, "went on");
    /* Each limit begins anew: the waits together are longer than it. */
    host_php("$v = ephpm_kv_wait('k', 0, 0)['version'];"
             "for ($i = 0; $i < 3; $i++) { set_time_limit(3); ephpm_kv_wait('k', $v, 1100); }"
             "echo 'went on';");
    CHECK_BODY("went on");
}

static void test_kv_php_wait_takes_no_time(void)
{
    kv_store_flush(host_store);
    /* It slept, and not as often as one does who looks again and again. */
    host_php(
        "$slept = fn() => getrusage()['ru_nvcsw']; $t = hrtime(true);"
        "$v = ephpm_kv_wait('k', 0, 0)['version']; $before = $slept();"
        "ephpm_kv_wait('k', $v, 1000); $n = $slept() - $before; $t = (hrtime(true) - $t) / 1e9;"
        "echo $n >= 1 && $n <= 20 * $t ? 'idle' : $n;");
    CHECK_BODY("idle");
}

const struct test tests_kv[] = {TEST(test_kv_php_values_come_back), TEST(test_kv_php_hashes),
    TEST(test_kv_php_operations), TEST(test_kv_php_errors_name_the_argument),
    TEST(test_kv_php_survives_a_fatal_error), TEST(test_kv_php_wait_ends_with_its_request),
    TEST(test_kv_php_value_of_an_extension_that_is_not_loaded),
    TEST(test_kv_php_wait_counts_for_max_execution_time), TEST(test_kv_php_wait_takes_no_time),
    TEST_END};
