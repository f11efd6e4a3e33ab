/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* A process that is killed in the middle of an operation, after each so many machine instructions.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kv/keys.h"
#include "unit/kv/bed.h"

#ifdef __SANITIZE_THREAD__
#define KILLS 2
#elif defined(EPHPM_SANITIZED)
#define KILLS 20
#else
#define KILLS 60
#endif
#define OTHERS 40

#define LONG                                                                       \
    "the new value, which needs a larger block than the old one did, by far, and " \
    "a page of its own since no other value is that long"

struct killed {
    struct bed b;
    void (*operation)(struct bed *b);
    const char *before, *after; /* the key's value; NULL: none */
    int64_t counter;            /* it is this number instead, and one more afterwards */
    uint64_t version;           /* of the key before */
};

/* The child, stopped right before the operation. */
static pid_t start(struct killed *k)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        (void)raise(SIGSTOP);
        k->operation(&k->b);
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFSTOPPED(status) ? pid : -1;
}

/* True: after so many instructions it still runs. */
static bool advance(pid_t pid, unsigned steps, unsigned *done)
{
    int status = 0;

    for (*done = 0; *done < steps; ++*done) {
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid ||
            !WIFSTOPPED(status))
            return false;
    }
    return true;
}

static void setup(struct killed *k)
{
    char name[32];

    kv_store_flush(k->b.s);
    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(name, sizeof(name), "other %d", i);
        CHECK_INT(bed_set(&k->b, name, name), 0);
    }
    if (k->before)
        CHECK_INT(bed_set(&k->b, "key", k->before), 0);
    if (k->counter)
        CHECK_INT(kv_store_incr(k->b.s, STR("key"), k->counter, &k->b.v.i), 0);
    (void)!kv_store_wait(k->b.s, STR("key"), 0, 0, &k->b.buf, &k->b.v, &k->version);
}

/* Whoever waits for the key is told, also of what the dead one did not come to tell. */
static void check_told(struct killed *k)
{
    int r = kv_store_wait(k->b.s, STR("key"), k->version, 0, &k->b.buf, &k->b.v, &k->version);

    CHECK(r == 0 || r == ERR_NOTFOUND);
}

/* Returns whether the operation was seen done. */
static bool check(struct killed *k)
{
    struct str now;
    char name[32];
    bool is_old, is_new;

    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(name, sizeof(name), "other %d", i);
        CHECK_STR(bed_get(&k->b, name), name);
    }
    /* A read that needs no lock, one that waits for it, and a change. */
    now = bed_get(&k->b, "key");
    is_old = str_eq(now, str_c(k->before ? k->before : "(none)"));
    is_new = str_eq(now, str_c(k->after ? k->after : "(none)"));
    if (k->counter) {
        is_old = k->b.v.i == k->counter;
        is_new = k->b.v.i == k->counter + 1;
    }
    CHECK(is_old || is_new);
    CHECK_INT(bed_stats(&k->b).keys, OTHERS + !str_eq(now, STR("(none)")));
    if (is_new)
        check_told(k);
    CHECK_INT(bed_set(&k->b, "key", "later"), 0);
    CHECK_STR(bed_get(&k->b, "key"), "later");
    CHECK_INT(kv_store_del(k->b.s, STR("key")), 0);
    for (int i = 0; i < OTHERS; i++) {
        (void)snprintf(name, sizeof(name), "other %d", i);
        CHECK_INT(kv_store_del(k->b.s, str_c(name)), 0);
    }
    CHECK_INT(bed_stats(&k->b).used, 0);
    return is_new;
}

static void kill_everywhere(struct killed *k)
{
    unsigned total, steps, done, seen_old = 0;
    pid_t pid;

    bed_open(&k->b, MB(2), KV_NOEVICTION);
    setup(k);
    pid = start(k);
    CHECK(pid > 0 && !advance(pid, 1000000, &total));
    CHECK(check(k));
    for (unsigned i = 0; i < KILLS && !test_failures; i++) {
        setup(k);
        pid = start(k);
        steps = (unsigned)((uint64_t)total * i / KILLS);
        if (pid < 0 || !advance(pid, steps, &done))
            break;
        CHECK_INT(kill(pid, SIGKILL), 0);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
        if (!check(k))
            seen_old++;
    }
    CHECK(seen_old > 0);
    CHECK(bed_stats(&k->b).repaired > 0);
    CHECK_INT(bed_stats(&k->b).dropped, 0);
    bed_close(&k->b);
}

static void op_set(struct bed *b)
{
    (void)bed_set(b, "key", LONG);
}

static void op_del(struct bed *b)
{
    (void)!kv_store_del(b->s, STR("key"));
}

static void op_append(struct bed *b)
{
    size_t len;

    (void)!kv_store_append(b->s, STR("key"), STR("tail"), &len);
}

static void op_incr(struct bed *b)
{
    int64_t n;

    (void)!kv_store_incr(b->s, STR("key"), 1, &n);
}

static void op_getset(struct bed *b)
{
    struct kv_value v = bed_string("of the same size");

    (void)!kv_store_getset(b->s, STR("key"), &v, &b->buf, &b->v);
}

static void op_mset(struct bed *b)
{
    struct kv_pair pairs[] = {{STR("other 1"), bed_string("other 1")},
        {STR("key"), bed_string("one of three")}, {STR("other 2"), bed_string("other 2")}};

    (void)!kv_store_mset(b->s, pairs, ARRAY_LEN(pairs), 0);
}

static void op_setrange(struct bed *b)
{
    size_t len;

    (void)!kv_store_setrange(b->s, STR("key"), 4, STR("tail"), &len);
}

static void test_killed_while_replacing(void)
{
    struct killed k = {.operation = op_set, .before = "old", .after = LONG};

    kill_everywhere(&k);
}

static void test_killed_while_adding(void)
{
    struct killed k = {.operation = op_set, .after = LONG};

    kill_everywhere(&k);
}

static void test_killed_while_deleting(void)
{
    struct killed k = {.operation = op_del, .before = LONG};

    kill_everywhere(&k);
}

static void test_killed_while_appending(void)
{
    struct killed k = {.operation = op_append, .before = "the ", .after = "the tail"};

    kill_everywhere(&k);
}

static void test_killed_while_counting(void)
{
    struct killed k = {.operation = op_incr, .counter = 41};

    kill_everywhere(&k);
}

static void test_killed_while_exchanging(void)
{
    struct killed k = {
        .operation = op_getset, .before = "of the size same", .after = "of the same size"};

    kill_everywhere(&k);
}

static void test_killed_while_setting_many(void)
{
    struct killed k = {.operation = op_mset, .before = "old", .after = "one of three"};

    kill_everywhere(&k);
}

static void test_killed_while_overwriting(void)
{
    struct killed k = {
        .operation = op_setrange, .before = "the head, ...", .after = "the tail, ..."};

    kill_everywhere(&k);
}

const struct test tests_killed[] = {TEST(test_killed_while_replacing),
    TEST(test_killed_while_adding), TEST(test_killed_while_deleting),
    TEST(test_killed_while_appending), TEST(test_killed_while_counting),
    TEST(test_killed_while_exchanging), TEST(test_killed_while_setting_many),
    TEST(test_killed_while_overwriting), TEST_END};
