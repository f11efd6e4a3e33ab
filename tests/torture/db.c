/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * torture_db [ROUNDS]  A process in which several sessions write to one database is killed at a
 * random moment, again and again. After each time:
 *
 *  - Nothing acknowledged is lost: each writer's last transaction that was answered is there.
 *  - Nothing is half there: a transaction's rows are all in the tables, or none.
 *  - The file is sound, and its catalog and its tables agree (db_server_check()).
 *
 * Ends with a line "N passed, N failed".
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/log.h"
#include "db/session.h"
#include "db/store/server.h"
#include "platform/clock.h"
#include "platform/random.h"

#define WRITERS 3
#define MOST_MS 120

/* What the killed process was told; shared with the one that kills. */
struct board {
    _Atomic uint64_t acknowledged[WRITERS];
    _Atomic uint64_t failed;
};

struct base {
    char dir[64];
    char path[96];
    struct db_stats stats;
    struct db_server *server;
};

struct client {
    struct db_session *s;
    long long value; /* the first one of the last row */
    int error;
    char text[600];
};

struct writer {
    struct base *base;
    struct board *board;
    int number;
    pthread_t thread;
};

static int failures;

static void check(bool good, const char *what, long long a, long long b)
{
    if (good)
        return;
    failures++;
    printf("FAIL %s (%lld, %lld)\n", what, a, b);
}

/* ---- a client ---- */

static int on_columns(void *arg, const struct db_column *columns, uint32_t n)
{
    return 0;
}

static int on_row(void *arg, const struct db_value *values, uint32_t n)
{
    struct client *c = arg;

    c->value = values[0].kind == DB_V_TEXT ? strtoll(values[0].s.p, NULL, 10) : values[0].i;
    return 0;
}

static void on_ok(void *arg, const struct db_ok *ok)
{
}

static void on_error(void *arg, const struct db_error *e)
{
    struct client *c = arg;

    c->error = e->number;
    snprintf(c->text, sizeof(c->text), "%d %s", e->number, e->text);
}

static bool run(struct client *c, const char *format, ...) PRINTF_LIKE(2, 3);

static bool run(struct client *c, const char *format, ...)
{
    struct db_sink sink = {c, on_columns, on_row, on_ok, on_ok, on_error};
    char sql[500];
    va_list args;

    va_start(args, format);
    vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    c->error = 0;
    c->value = -1;
    db_session_query(c->s, str_c(sql), &sink);
    return c->error == 0;
}

static void base_open(struct base *b)
{
    struct db_file file = {STR("app"), str_c(b->path), STR("app")};
    struct db_server_config config = {.files = &file, .n_files = 1, .max_wal = 256 << 10};
    struct err err = {0};

    if (db_server_new(&config, &b->stats, &b->server, &err) != 0) {
        printf("%s\n", err.text);
        exit(1);
    }
}

static bool client_open(struct client *c, struct base *b)
{
    struct db_login login = {.user = STR("app"),
        .host = STR("localhost"),
        .database = STR("app"),
        .account_db = STR("app"),
        .charset = 45};
    struct db_error e = {0};

    memset(c, 0, sizeof(*c));
    if (db_session_new(b->server, db_server_next_id(b->server), &login, &c->s, &e) == 0)
        return true;
    printf("FAIL login: %s\n", e.text);
    failures++;
    return false;
}

/* ---- the process that is killed ---- */

/* Definitions among the transactions: tables come, change and go. */
static bool define(struct client *c, uint64_t n)
{
    switch (n % 4) {
    case 0:
        return run(c, "CREATE TABLE IF NOT EXISTS extra (a INT PRIMARY KEY, b VARCHAR(20))");
    case 1:
        return run(c, "INSERT IGNORE INTO extra (a) VALUES (%llu)", (unsigned long long)n);
    case 2:
        return run(c, "ALTER TABLE extra MODIFY b VARCHAR(%llu)", (unsigned long long)n % 50 + 20);
    default:
        return run(c, "DROP TABLE IF EXISTS extra");
    }
}

static bool transaction(struct client *c, int writer, uint64_t n)
{
    return run(c, "BEGIN") &&
           run(c, "INSERT INTO log (writer, n, text) VALUES (%d, %llu, REPEAT('x', %llu))", writer,
               (unsigned long long)n, (unsigned long long)n % 3000) &&
           run(c, "UPDATE counters SET n = %llu WHERE writer = %d", (unsigned long long)n,
               writer) &&
           run(c, "COMMIT");
}

static void *write_on(void *arg)
{
    struct writer *w = arg;
    struct client c;
    uint64_t n;

    if (!client_open(&c, w->base))
        return NULL;
    run(&c, "SELECT n FROM counters WHERE writer = %d", w->number);
    n = (uint64_t)c.value;
    atomic_store(&w->board->acknowledged[w->number], n); /* one may not have been answered */
    for (;;) {
        if (w->number == 0 && n % 5 == 0 && !define(&c, n / 5)) {
            printf("FAIL %s\n", c.text);
            atomic_fetch_add(&w->board->failed, 1);
        }
        if (!transaction(&c, w->number, ++n)) {
            printf("FAIL %s\n", c.text);
            atomic_fetch_add(&w->board->failed, 1);
            return NULL;
        }
        atomic_store(&w->board->acknowledged[w->number], n);
    }
}

static NORETURN void child(struct base *b, struct board *board)
{
    struct writer w[WRITERS];

    base_open(b);
    for (int i = 0; i < WRITERS; i++) {
        w[i] = (struct writer){b, board, i, 0};
        if (pthread_create(&w[i].thread, NULL, write_on, &w[i]) != 0)
            _exit(1);
    }
    for (;;)
        pause();
}

/* ---- the one that kills, and looks ---- */

static void look(struct base *b, struct board *board)
{
    struct client c;
    struct db_error e = {0};
    struct buf report = {0};

    base_open(b);
    if (client_open(&c, b)) {
        for (int i = 0; i < WRITERS; i++) {
            long long told = (long long)atomic_load(&board->acknowledged[i]), n;

            run(&c, "SELECT n FROM counters WHERE writer = %d", i);
            n = c.value;
            check(n >= told && n <= told + 1, "an acknowledged transaction is lost", n, told);
            run(&c, "SELECT MAX(n) FROM log WHERE writer = %d", i);
            check(n == 0 || c.value == n, "half a transaction", c.value, n);
            run(&c, "SELECT COUNT(*) FROM log WHERE writer = %d", i);
            check(c.value == n, "rows are missing", c.value, n);
        }
        db_session_free(c.s);
    }
    if (db_server_check(b->server, STR("app"), &report, &e) != 0 || report.len) {
        failures++;
        printf("FAIL check: %s " STR_F "\n", e.number ? e.text : "", STR_A(buf_str(&report)));
    }
    buf_fini(&report);
    db_server_free(b->server);
}

static void prepare(struct base *b)
{
    struct client c;

    base_open(b);
    if (!client_open(&c, b))
        exit(1);
    run(&c, "CREATE TABLE log (id BIGINT AUTO_INCREMENT PRIMARY KEY, writer INT, n INT, "
            "text TEXT, UNIQUE KEY w (writer, n))");
    run(&c, "CREATE TABLE counters (writer INT PRIMARY KEY, n INT)");
    for (int i = 0; i < WRITERS; i++)
        run(&c, "INSERT INTO counters VALUES (%d, 0)", i);
    db_session_free(c.s);
    db_server_free(b->server);
}

static void clean_up(struct base *b)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[128];

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        snprintf(name, sizeof(name), "%s%s", b->path, suffixes[i]);
        (void)unlink(name); /* it may not be there */
    }
    (void)rmdir(b->dir);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 15, round;
    struct board *board =
        mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct base b = {.dir = "/tmp/ephpm-torture-db-XXXXXX"};

    if (board == MAP_FAILED || !mkdtemp(b.dir))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    log_set_level(LOG_ERROR);
    snprintf(b.path, sizeof(b.path), "%s/app.db", b.dir);
    prepare(&b);
    for (round = 0; round < rounds && failures == 0; round++) {
        pid_t pid = fork();
        uint32_t ms;

        if (pid == 0)
            child(&b, board);
        random_bytes(&ms, sizeof(ms));
        clock_sleep_ms(5 + ms % MOST_MS);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        look(&b, board);
    }
    failures += (int)atomic_load(&board->failed);
    printf("%llu transactions\n",
        (unsigned long long)(board->acknowledged[0] + board->acknowledged[1] +
                             board->acknowledged[2]));
    clean_up(&b);
    printf("%d passed, %d failed\n", round - (failures > 0), failures);
    return failures > 0;
}
