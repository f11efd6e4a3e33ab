/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <pthread.h>

#include "platform/clock.h"
#include "unit/db_store/fixture.h"

enum { THREADS = 6, ROUNDS = 40 };

struct work {
    struct fixture *f;
    int number;
    int failed;
    pthread_t thread;
};

/* Adds to the counter in all ways; readers look that the sum of both rows is always the same. */
static void *write_and_read(void *arg)
{
    struct work *w = arg;
    struct client c;
    int i;

    client_open(&c, w->f, 0);
    for (i = 0; i < ROUNDS; i++) {
        if (w->number % 3 == 0) {
            client_run(&c, "BEGIN");
            client_run(&c, "SELECT v FROM t WHERE id = 1");
            client_run(&c, "UPDATE t SET v = v + 1 WHERE id = 1");
            client_run(&c, "UPDATE t SET v = v - 1 WHERE id = 2");
            w->failed += strcmp(client_run(&c, "COMMIT"), "ok 0") != 0;
        } else if (w->number % 3 == 1) {
            w->failed += client_number(&c, "SELECT SUM(v) FROM t") != 1000;
        } else {
            w->failed += strncmp(client_run(&c, "INSERT INTO log (n) VALUES (1)"), "ok 1", 4) != 0;
        }
    }
    client_close(&c);
    return NULL;
}

static void test_threads_write_and_read_together(void)
{
    struct work w[THREADS];
    struct fixture f;
    struct client c;

    fixture_init(&f);
    f.config.lock_wait_s = 50;
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    client_run(&c, "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, n INT)");
    client_run(&c, "INSERT INTO t VALUES (1, 0), (2, 1000)");
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct work){.f = &f, .number = i};
        CHECK_INT(pthread_create(&w[i].thread, NULL, write_and_read, &w[i]), 0);
    }
    for (int i = 0; i < 20; i++) { /* definitions come in between */
        client_run(&c, "ALTER TABLE log ADD COLUMN extra INT");
        client_run(&c, "ALTER TABLE log DROP COLUMN extra");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        CHECK_INT(w[i].failed, 0);
    }
    CHECK_INT(client_number(&c, "SELECT v FROM t WHERE id = 1"), THREADS / 3 * ROUNDS);
    CHECK_INT(client_number(&c, "SELECT COUNT(*) FROM log"), THREADS / 3 * ROUNDS);
    CHECK_INT(client_number(&c, "SELECT MAX(id) FROM log"), THREADS / 3 * ROUNDS);
    client_close(&c);
    fixture_fini(&f);
}

struct slow {
    struct fixture *f;
    const char *sql;
    uint64_t id;
    _Atomic int ready;
    char answer[200];
    pthread_t thread;
};

static void *run_slow(void *arg)
{
    struct slow *s = arg;
    struct client c;

    client_open(&c, s->f, 0);
    s->id = c.id;
    s->ready = 1;
    snprintf(s->answer, sizeof(s->answer), "%s", client_run(&c, s->sql));
    client_close(&c);
    return NULL;
}

/* Kills it again until it ends: the statement may not have begun. */
static void kill_until_ended(struct slow *s)
{
    while (!s->ready)
        clock_sleep_ms(1);
    for (int i = 0; i < 200; i++) {
        clock_sleep_ms(10);
        if (db_server_kill(s->f->server, s->id, true) != 0)
            break;
    }
}

static void test_threads_kill_what_runs(void)
{
    static const char *const texts[] = {
        "SELECT SLEEP(100)",
        "SELECT COUNT(*) FROM n a, n b, n c, n d, n e",
        "UPDATE t SET a = 1",
        "SELECT GET_LOCK('x', 100)",
    };
    struct fixture f;
    struct client c;

    fixture_init(&f);
    f.config.lock_wait_s = 50;
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (a INT)");
    client_run(&c, "CREATE TABLE n (a INT)");
    for (int i = 0; i < 7; i++)
        client_run(&c, i ? "INSERT INTO n SELECT a FROM n" : "INSERT INTO n VALUES (1), (2), (3)");
    client_run(&c, "SELECT GET_LOCK('x', 0)");
    client_run(&c, "BEGIN");
    client_run(&c, "INSERT INTO t VALUES (1)");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct slow s = {.f = &f, .sql = texts[i]};
        uint64_t start = clock_mono_ms();

        test_row(texts[i]);
        CHECK_INT(pthread_create(&s.thread, NULL, run_slow, &s), 0);
        kill_until_ended(&s);
        pthread_join(s.thread, NULL);
        CHECK(clock_mono_ms() - start < 20000);
        CHECK(strstr(s.answer, "1317") || strstr(s.answer, "SLEEP(100)\n1") ||
              strstr(s.answer, "NULL"));
    }
    test_row(NULL);
    client_close(&c);
    fixture_fini(&f);
}

static void test_threads_statement_has_its_time(void)
{
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE n (a INT)");
    for (int i = 0; i < 7; i++)
        client_run(&c, i ? "INSERT INTO n SELECT a FROM n" : "INSERT INTO n VALUES (1), (2), (3)");
    client_run(&c, "SET max_execution_time = 50");
    CHECK_STR(str_c(client_run(&c, "SELECT COUNT(*) FROM n a, n b, n c, n d, n e")),
        "3024 HY000 Query execution was interrupted, maximum statement execution time exceeded");
    CHECK_STR(str_c(client_run(&c, "SELECT 1")), "1\n1");
    client_close(&c);
    fixture_fini(&f);
}

static void *stop_soon(void *arg)
{
    clock_sleep_ms(100);
    db_server_stop(arg);
    return NULL;
}

static void test_threads_stop_ends_statements(void)
{
    struct fixture f;
    struct client c;
    pthread_t thread;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    CHECK_INT(pthread_create(&thread, NULL, stop_soon, f.server), 0);
    client_run(&c, "DO SLEEP(100)");
    pthread_join(thread, NULL);
    CHECK(db_session_killed(c.s));
    CHECK_STR(str_c(client_run(&c, "SELECT 1")), "1053 08S01 Server shutdown in progress");
    client_close(&c);
    fixture_fini(&f);
}

const struct test tests_threads[] = {
    TEST(test_threads_write_and_read_together),
    TEST(test_threads_kill_what_runs),
    TEST(test_threads_statement_has_its_time),
    TEST(test_threads_stop_ends_statements),
    TEST_END,
};
