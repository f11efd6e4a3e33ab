/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kv/lock.h"
#include "platform/clock.h"
#include "unit/php/host.h"
#include "unit/test.h"

#define HANDLER "ini_set('session.save_handler', 'ephpm'); ini_set('session.use_cookies', 0); "
/* The keys there are, without order. */
#define KEYS "(function () { $k = ephpm_kv_keys(); sort($k); return implode(' ', $k); })()"

static void run(const char *code)
{
    struct buf b = {0};

    buf_printf(&b, HANDLER "session_id('one'); %s", code);
    host_php(buf_cstr(&b));
    buf_fini(&b);
}

/* What is in the session "one" afterwards, by another request. */
static void check_data(const char *want)
{
    run("echo json_encode(ephpm_kv_get('session:one'));");
    CHECK_BODY(want);
}

static void check_unlocked(void)
{
    CHECK(!kv_store_exists(host_store, STR("session_lock:one")));
}

struct row {
    const char *name, *code, *want;
};

static void run_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        kv_store_flush(host_store);
        test_row(rows[i].name);
        run(rows[i].code);
        CHECK_BODY(rows[i].want);
        CHECK_INT(reply.result.end, EMBED_OK);
        CHECK_STR(buf_str(&reply.log), "");
        check_unlocked();
    }
    test_row(NULL);
}

static void test_session_data_comes_back(void)
{
    static const struct row rows[] = {
        {"name", "echo session_module_name();", "ephpm"},
        {"new",
            "session_start(); echo json_encode($_SESSION), " KEYS ";"
            "session_write_close(); echo ' ', " KEYS ", ephpm_kv_get('session:one');",
            "[]session:one session_lock:one session:one"},
        {"write",
            "session_start(); $_SESSION['n'] = 1; session_write_close();"
            "echo ephpm_kv_get('session:one'); session_start(); echo $_SESSION['n'];",
            "n|i:1;1"},
        {"read and close",
            "ephpm_kv_set('session:one', 'n|i:5;'); session_start(['read_and_close' => true]);"
            "echo $_SESSION['n'], " KEYS "; $_SESSION['n'] = 6;",
            "5session:one"},
        {"abort",
            "ephpm_kv_set('session:one', 'n|i:5;'); session_start(); $_SESSION['n'] = 6;"
            "session_abort(); echo ephpm_kv_get('session:one'), " KEYS ";",
            "n|i:5;session:one"},
        {"reset",
            "ephpm_kv_set('session:one', 'n|i:5;'); session_start(); $_SESSION['n'] = 6;"
            "session_reset(); echo $_SESSION['n'], count(ephpm_kv_keys('session_lock:'));",
            "51"},
        {"destroy",
            "session_start(); $_SESSION['n'] = 1; session_write_close(); session_start();"
            "echo session_destroy() ? 'gone' : 'there', " KEYS ";",
            "gone"},
        {"unset", "session_start(); $_SESSION['n'] = 1; session_unset(); echo count($_SESSION);",
            "0"},
        {"regenerate",
            "session_start(); $_SESSION['n'] = 1; echo json_encode(session_regenerate_id());"
            "$id = session_id(); session_write_close();"
            "echo $id != 'one', ephpm_kv_get('session:one'), ephpm_kv_get(\"session:$id\"),"
            "count(ephpm_kv_keys('session_lock:'));",
            "true1n|i:1;n|i:1;0"},
        {"regenerate and delete",
            "session_start(); $_SESSION['n'] = 1; echo json_encode(session_regenerate_id(true));"
            "$id = session_id(); session_write_close();"
            "echo json_encode(ephpm_kv_get('session:one')), ephpm_kv_get(\"session:$id\"),"
            "count(ephpm_kv_keys('session_lock:'));",
            "truenulln|i:1;0"},
        {"create id", "session_start(); $a = session_create_id('x-'); echo strlen($a), $a[0];",
            "34x"},
        {"gc", "session_start(); echo json_encode(session_gc());", "0"},
        {"two in one request",
            "session_start(); $_SESSION['n'] = 1; session_write_close(); session_id('two');"
            "session_start(); echo json_encode($_SESSION), " KEYS ";",
            "[]session:one session:two session_lock:two"},
        {"encode",
            "session_start(); $_SESSION['n'] = 1; echo session_encode();"
            "session_decode('m|i:2;'); echo $_SESSION['m'];",
            "n|i:1;2"},
        {"php_serialize",
            "ini_set('session.serialize_handler', 'php_serialize'); session_start();"
            "$_SESSION['a|b'] = [1]; session_write_close(); echo ephpm_kv_get('session:one');"
            "session_start(); echo json_encode($_SESSION);",
            "a:1:{s:3:\"a|b\";a:1:{i:0;i:1;}}{\"a|b\":[1]}"},
        {"php_binary",
            "ini_set('session.serialize_handler', 'php_binary'); session_start();"
            "$_SESSION['n'] = 1; session_write_close(); echo bin2hex(ephpm_kv_get('session:one'));"
            "session_start(); echo $_SESSION['n'];",
            "016e693a313b1"},
        {"large",
            "session_start(); $_SESSION['n'] = str_repeat(\"\\0x\", 200000); session_write_close();"
            "$_SESSION = []; session_start(); echo md5($_SESSION['n']) =="
            "md5(str_repeat(\"\\0x\", 200000)) ? 'same' : 'other';",
            "same"},
        {"longest id",
            "session_id(str_repeat('a,-', 85) . 'Z'); session_start(); $_SESSION['n'] = 1;"
            "session_write_close(); echo strlen(ephpm_kv_keys('session:')[0]);",
            "264"},
        {"files", "session_module_name('files'); echo session_module_name(), " KEYS ";", "files"},
        {"save path means nothing",
            "session_save_path('/nonexistent'); session_start(); echo " KEYS ";",
            "session:one session_lock:one"},
    };

    run_rows(rows, ARRAY_LEN(rows));
}

static void test_session_lifetime(void)
{
    static const struct row rows[] = {
        {"default", "session_start(); session_write_close(); echo ephpm_kv_ttl('session:one');",
            "1440"},
        {"at run time",
            "ini_set('session.gc_maxlifetime', 77); session_start(); $_SESSION['n'] = 1;"
            "session_write_close(); echo ephpm_kv_ttl('session:one');",
            "77"},
        {"unchanged data",
            "ephpm_kv_set('session:one', 'n|i:5;', 9); session_start(); session_write_close();"
            "echo ephpm_kv_ttl('session:one');",
            "1440"},
        {"written as it was",
            "ini_set('session.lazy_write', 0); ephpm_kv_set('session:one', 'n|i:5;', 9);"
            "session_start(); session_write_close(); echo ephpm_kv_ttl('session:one');",
            "1440"},
        {"read only",
            "ephpm_kv_set('session:one', 'n|i:5;', 9); session_start(['read_and_close' => 1]);"
            "echo ephpm_kv_ttl('session:one');",
            "9"},
        {"no time",
            "ini_set('session.gc_maxlifetime', 0); session_start(); session_write_close();"
            "echo ephpm_kv_ttl('session:one');",
            "1440"},
        {"very long",
            "ini_set('session.gc_maxlifetime', PHP_INT_MAX); session_start();"
            "session_write_close(); echo ephpm_kv_ttl('session:one') > 1000000;",
            "1"},
        {"over",
            "ini_set('session.gc_maxlifetime', 1); session_start(); $_SESSION['n'] = 1;"
            "session_write_close(); usleep(1010000); session_start();"
            "echo json_encode($_SESSION);",
            "[]"},
        /* Only the deadline of unchanged data moves: its version stays. */
        {"lazy",
            "ephpm_kv_set('session:one', 'n|i:5;', 9);"
            "$v = ephpm_kv_wait('session:one', 0, 0)['version']; session_start();"
            "session_write_close(); echo json_encode(ephpm_kv_wait('session:one', $v, 0));",
            "false"},
        /* It went while it was open. */
        {"gone",
            "ephpm_kv_set('session:one', 'n|i:5;'); session_start(); ephpm_kv_del('session:one');"
            "session_write_close(); echo ephpm_kv_get('session:one');",
            "n|i:5;"},
    };

    run_rows(rows, ARRAY_LEN(rows));
}

static void test_session_ids(void)
{
    static const struct row rows[] = {
        {"unknown id", "session_start(); echo session_id();", "one"},
        {"unknown id, strict",
            "ini_set('session.use_strict_mode', 1); session_start();"
            "echo session_id() == 'one' ? 'same' : 'new', count(ephpm_kv_keys('session:'));",
            "new1"},
        {"known id, strict",
            "ini_set('session.use_strict_mode', 1); ephpm_kv_set('session:one', 'n|i:5;');"
            "session_start(); echo session_id(), $_SESSION['n'];",
            "one5"},
        {"empty session, strict",
            "session_start(['read_and_close' => true]); ini_set('session.use_strict_mode', 1);"
            "session_start(); echo session_id();",
            "one"},
        {"ended, strict",
            "ini_set('session.use_strict_mode', 1); ephpm_kv_set('session:one', 'n|i:5;', 1);"
            "usleep(1010000); session_start(); echo session_id() == 'one' ? 'same' : 'new';",
            "new"},
    };
    static const struct row refused[] = {
        {"characters", "session_id('a/b'); echo json_encode(@session_start()), " KEYS ";", "false"},
        {"length",
            "session_id(str_repeat('a', 257)); echo json_encode(@session_start()), " KEYS ";",
            "false"},
    };

    run_rows(rows, ARRAY_LEN(rows));
    run_rows(refused, ARRAY_LEN(refused));
    run("session_id('../x'); session_start();");
    CHECK_HAS(reply.log, "Session ID is too long or contains illegal characters");
}

#define MINE                                                                             \
    "class Mine extends SessionHandler {"                                                \
    "function open($p, $n): bool { echo 'o'; return parent::open($p, $n); }"             \
    "function read($id): string|false { echo 'r'; return strrev(parent::read($id)); }"   \
    "function write($id, $d): bool { echo 'w'; return parent::write($id, strrev($d)); }" \
    "function close(): bool { echo 'c'; return parent::close(); }"                       \
    "function destroy($id): bool { echo 'd'; return parent::destroy($id); }"             \
    "function gc($n): int|false { echo 'g'; return parent::gc($n); } }"                  \
    "session_set_save_handler(new Mine, true);"

static void test_session_handlers_in_php(void)
{
    static const struct row rows[] = {
        {"class on top of ours",
            MINE "session_start(); $_SESSION['n'] = 1; echo session_gc(); session_write_close();"
                 "echo ephpm_kv_get('session:one'); session_start(); echo $_SESSION['n'];"
                 "session_regenerate_id(true); session_write_close();"
                 "echo count(ephpm_kv_keys('session:')), count(ephpm_kv_keys('session_lock:'));",
            "org0wc;1:i|nor1dcorwc10"},
        {"class of its own",
            "class Own implements SessionHandlerInterface { public $d = [];"
            "function open($p, $n): bool { return true; }"
            "function read($id): string|false { return $this->d[$id] ?? ''; }"
            "function write($id, $d): bool { $this->d[$id] = $d; return true; }"
            "function close(): bool { return true; }"
            "function destroy($id): bool { unset($this->d[$id]); return true; }"
            "function gc($n): int|false { return 0; } }"
            "$o = new Own; session_set_save_handler($o); session_start(); $_SESSION['n'] = 1;"
            "session_write_close(); echo $o->d['one'], " KEYS ";",
            "n|i:1;"},
        {"class that renames",
            "class Other extends SessionHandler {"
            "function read($id): string|false { return parent::read(\"x-$id\"); }"
            "function write($id, $d): bool { return parent::write(\"y-$id\", $d); } }"
            "session_set_save_handler(new Other); session_start(); $_SESSION['n'] = 1;"
            "echo " KEYS "; session_write_close(); echo '|', " KEYS ";",
            "session:x-one session_lock:x-one|session:x-one session:y-one"},
    };

    run_rows(rows, ARRAY_LEN(rows));
}

/* However a request ends, the next one gets the session, with what was there. */
static void test_session_is_free_after_any_end(void)
{
    static const struct {
        const char *name, *code, *want;
        enum embed_end end;
    } rows[] = {
        {"exit", "session_start(); $_SESSION['n'] = 6; exit;", "\"n|i:6;\"", EMBED_OK},
        {"exception", "session_start(); $_SESSION['n'] = 6; throw new Exception;", "\"n|i:6;\"",
            EMBED_FATAL},
        {"fatal error", "session_start(); $_SESSION['n'] = 6; nothing();", "\"n|i:6;\"",
            EMBED_FATAL},
        {"timeout", "session_start(); $_SESSION['n'] = 6; set_time_limit(1); for (;;);",
            "\"n|i:6;\"", EMBED_TIMEOUT},
        /* With PHP's files handler the session would be empty now. */
        {"no memory to read it",
            "ephpm_kv_set('session:one', 'n|' . serialize(str_repeat('x', 600000)));"
            "ini_set('memory_limit', memory_get_usage(true)); $pad = [];"
            "while (memory_get_usage(true) - memory_get_usage() > 500000)"
            "$pad[] = str_repeat('y', 50000); session_start();",
            NULL, EMBED_MEMORY},
        {"memory",
            "session_start(); $_SESSION['n'] = 6; $a = []; for (;;) $a[] = str_repeat('x', 9999);",
            NULL, EMBED_MEMORY},
        {"in the shutdown functions",
            "session_start(); $_SESSION['n'] = 6; register_shutdown_function(fn() => nothing());",
            "\"n|i:6;\"", EMBED_FATAL},
        {"in a write handler that fails",
            "session_set_save_handler(new class extends SessionHandler {"
            "function write($id, $d): bool { nothing(); } }, false); session_start();",
            "\"n|i:5;\"", EMBED_FATAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        kv_store_flush(host_store);
        test_row(rows[i].name);
        run("ephpm_kv_set('session:one', 'n|i:5;');");
        run(rows[i].code);
        CHECK_INT(reply.result.end, rows[i].end);
        check_unlocked();
        if (rows[i].want)
            check_data(rows[i].want);
        run("session_start(); echo isset($_SESSION['n']) ? 'read' : 'empty';");
        CHECK_BODY("read");
    }
    test_row(NULL);
}

/* Another process has the session, or is dead and had it; number tells which owner. */
static pid_t hold(int64_t ms)
{
    struct kv_lock_wait wait = {0};
    struct kv_owner owner;
    pid_t pid = fork();

    if (pid == 0) {
        kv_store_after_fork(host_store);
        kv_owner_init(&owner, 7);
        if (kv_lock_take(host_store, STR("session_lock:one"), &owner, &wait) != 0)
            _exit(1);
        (void)usleep((useconds_t)ms * 1000);
        _exit(kv_lock_release(host_store, STR("session_lock:one"), &owner) != 0);
    }
    for (int i = 0; i < 30000 && !kv_store_exists(host_store, STR("session_lock:one")); i++)
        (void)usleep(1000);
    return pid;
}

static void let_go(pid_t pid, bool killed)
{
    int status = 0;

    if (killed)
        CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(WIFSIGNALED(status), killed);
    CHECK_INT(WEXITSTATUS(status), 0);
}

static void test_session_waits_for_another_request(void)
{
    uint64_t begin;
    bool waited = false;
    pid_t pid;

    kv_store_flush(host_store);
    /* Again when the machine stood still and the other was gone before this one came. */
    for (int i = 0; i < 5 && !waited; i++) {
        begin = clock_mono_ns();
        pid = hold(300);
        run("session_start(); $_SESSION['n'] = 1; echo 'went on';");
        CHECK(clock_mono_ns() - begin >= 300000000);
        CHECK_BODY("went on");
        CHECK_INT(reply.result.sessions.opened, 1);
        CHECK_INT(reply.result.sessions.taken_over, 0);
        CHECK(reply.result.sessions.waited_ns <= clock_mono_ns() - begin);
        waited = reply.result.sessions.waited_ns >= 200000000;
        let_go(pid, false);
    }
    CHECK(waited);
    check_data("\"n|i:1;\"");
    /* Killed: the lock stays behind. */
    pid = hold(60000);
    let_go(pid, true);
    CHECK(kv_store_exists(host_store, STR("session_lock:one")));
    run("session_start(); echo $_SESSION['n'];");
    CHECK_BODY("1");
    CHECK_INT(reply.result.sessions.taken_over, 1);
    check_unlocked();
}

/* Whoever gives up has read nothing, writes nothing, and leaves the other's lock alone. */
static void test_session_wait_ends_with_its_request(void)
{
    uint64_t begin;
    pid_t pid;

    kv_store_flush(host_store);
    run("ephpm_kv_set('session:one', 'n|i:5;');");
    pid = hold(60000);
    host_interrupt_soon();
    run("session_start(); echo 'went on';");
    host_interrupt_stop();
    CHECK_INT(reply.result.end, EMBED_TIMEOUT);
    CHECK_LACKS(reply.body, "went on");
    begin = clock_mono_ms();
    run("set_time_limit(1); register_shutdown_function(function () { echo 'ended'; });"
        "session_start(); echo 'went on';");
    CHECK_INT(reply.result.end, EMBED_TIMEOUT);
    CHECK_BODY("ended");
    CHECK_HAS(reply.log, "Maximum execution time of 1 second exceeded");
    CHECK(clock_mono_ms() - begin >= 1000);
    client.gone_after = 1;
    run("echo str_repeat('x', 5000); flush(); session_start(); $_SESSION = []; exit;");
    CHECK(reply.result.client_gone);
    CHECK(kv_store_exists(host_store, STR("session_lock:one")));
    let_go(pid, true);
    check_data("\"n|i:5;\"");
}

static void test_session_full_store_is_said(void)
{
    kv_store_flush(host_store);
    run("session_start(); $_SESSION['n'] = 1; session_write_close();"
        "for ($i = 0; ephpm_kv_set(\"fill$i\", str_repeat('x', 50)); $i++);"
        "for ($i = 0; ephpm_kv_set(\"more$i\", ''); $i++);");
    run("session_start(); echo json_encode($_SESSION); $_SESSION['big'] = str_repeat('x', 400000);"
        "session_write_close(); echo 'went on';");
    CHECK_BODY("{\"n\":1}went on");
    CHECK_INT(reply.result.sessions.not_written, 1);
    CHECK_HAS(reply.log, "The session could not be written: no room for 400022 bytes in the store");
    check_unlocked();
    kv_store_flush(host_store);
    run("session_start(); $_SESSION['big'] = str_repeat('x', 1500000);");
    CHECK_INT(reply.result.end, EMBED_OK);
    CHECK_HAS(reply.log, "The session could not be written: no room for 1500017 bytes");
    kv_store_flush(host_store);
    run("ephpm_kv_set('session:one', 5); echo json_encode(session_start());");
    CHECK_BODY("false");
    CHECK_HAS(reply.log, "The key session:one holds no session");
}

const struct test tests_session[] = {TEST(test_session_data_comes_back),
    TEST(test_session_lifetime), TEST(test_session_ids), TEST(test_session_handlers_in_php),
    TEST(test_session_is_free_after_any_end), TEST(test_session_waits_for_another_request),
    TEST(test_session_wait_ends_with_its_request), TEST(test_session_full_store_is_said), TEST_END};
