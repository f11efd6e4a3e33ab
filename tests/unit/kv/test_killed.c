/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* A process that is killed in the middle of an operation, after each so many machine instructions.
 */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kv/collections.h"
#include "kv/keys.h"
#include "unit/kv/bed.h"

/* A step is two switches of processes: the bound is time. */
#ifdef __SANITIZE_THREAD__
#define KILLS               2
#define KILLS_OF_COLLECTION 0 /* one process runs at a time: the sanitizer has nothing to see */
#elif defined(EPHPM_SANITIZED)
#define KILLS               20
#define KILLS_OF_COLLECTION 2
#else
#define KILLS               16
#define KILLS_OF_COLLECTION 3 /* which are changed in many more steps */
#endif
#define STEPS_MAX    1000000
#define STEPS_ENOUGH 400000u /* in all kills of an operation together */
#define KILLS_LEAST  6u
#define OTHERS       40

#define LONG                                                                       \
    "the new value, which needs a larger block than the old one did, by far, and " \
    "a page of its own since no other value is that long"

struct killed {
    struct bed b;
    void (*operation)(struct bed *b);
    const char *before, *after; /* the key's value; NULL: none */
    int64_t counter;            /* it is this number instead, and one more afterwards */
    uint64_t version;           /* of the key before */
    /* Or it is a collection, of which this is what is in it. */
    enum kv_type kind;
    struct buf contents_before, contents_after;
    bool has_after; /* the first operation is not disturbed */
    int elements;   /* 0: ELEMENTS */
};

#define ELEMENTS      100 /* more than a leaf has */
#define MANY_ELEMENTS 600 /* more than are freed at once */

static struct kv_item item_of(char name[32], int i)
{
    struct kv_item item = {.score = i % 7};

    (void)snprintf(name, 32, "element %d", i);
    item.member = str_c(name);
    item.value = bed_string(name);
    return item;
}

static void fill(struct killed *k)
{
    static struct kv_item items[MANY_ELEMENTS];
    static char names[MANY_ELEMENTS][32];
    int n = k->elements ? k->elements : ELEMENTS;

    for (int i = 0; i < n; i++)
        items[i] = item_of(names[i], i);
    CHECK_INT(kv_coll_replace(k->b.s, STR("key"), k->kind, items, (size_t)n, 0), 0);
}

/* Everything in all trees of the collection; the numbers of elements are the same. */
static void read_contents(struct killed *k, struct buf *out)
{
    struct kv_items items = {0};
    uint64_t cursor = 0, count = 0;
    struct kv_item item;
    size_t n, scanned = 0;

    buf_clear(out);
    CHECK_INT(kv_coll_len(k->b.s, STR("key"), k->kind, &count), 0);
    CHECK_INT(kv_coll_all(k->b.s, STR("key"), k->kind, &items), 0);
    for (n = 0; kv_items_next(&items, &item); n++)
        buf_printf(
            out, STR_F "=" STR_F ":%g ", STR_A(item.member), STR_A(item.value.bytes), item.score);
    CHECK_INT(n, count);
    do {
        if (k->kind == KV_LIST)
            break;
        CHECK_INT(kv_coll_scan(k->b.s, STR("key"), k->kind, &cursor, 50, &items), 0);
        for (; kv_items_next(&items, &item); scanned++)
            buf_printf(out, STR_F ":%g ", STR_A(item.member), item.score);
    } while (cursor);
    CHECK(k->kind == KV_LIST || scanned == count);
    kv_items_fini(&items);
}

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
    if (k->kind) {
        fill(k);
        read_contents(k, &k->contents_before);
    }
    if (k->before)
        CHECK_INT(bed_set(&k->b, "key", k->before), 0);
    if (k->counter)
        CHECK_INT(kv_store_incr(k->b.s, STR("key"), k->counter, &k->b.v.i), 0);
    (void)kv_store_version(k->b.s, STR("key"), &k->version);
}

/* Whoever waits for the key is told, also of what the dead one did not come to tell. */
static void check_told(struct killed *k)
{
    int r = kv_store_wait(k->b.s, STR("key"), k->version, 0, &k->b.buf, &k->b.v, &k->version);

    CHECK(r == 0 || r == ERR_NOTFOUND || r == ERR_TYPE);
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
    if (k->kind) {
        struct buf contents = {0};

        read_contents(k, &contents);
        if (!k->has_after)
            buf_add_str(&k->contents_after, buf_str(&contents));
        k->has_after = true;
        is_old = str_eq(buf_str(&contents), buf_str(&k->contents_before));
        is_new = str_eq(buf_str(&contents), buf_str(&k->contents_after));
        buf_fini(&contents);
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
    bed_reclaim(&k->b);
    CHECK_INT(bed_stats(&k->b).used, 0);
    return is_new;
}

/* How often the operation was seen not done. */
static unsigned kill_often(struct killed *k, unsigned total, unsigned kills)
{
    unsigned done, seen_old = 0;

    for (unsigned i = 0; i < kills && !test_failures; i++) {
        pid_t pid;

        setup(k);
        pid = start(k);
        if (pid < 0 || !advance(pid, (unsigned)((uint64_t)total * i / kills), &done))
            break;
        CHECK_INT(kill(pid, SIGKILL), 0);
        CHECK_INT(waitpid(pid, NULL, 0), pid);
        if (!check(k))
            seen_old++;
    }
    return seen_old;
}

static void kill_everywhere(struct killed *k)
{
    unsigned total = 0, seen_old, kills = k->kind ? KILLS_OF_COLLECTION : KILLS, first;
    pid_t pid;

    if (kills == 0)
        return;
    bed_open(&k->b, MB(2), KV_NOEVICTION);
    setup(k);
    pid = start(k);
    CHECK(pid > 0 && !advance(pid, STEPS_MAX, &total));
    CHECK(check(k));
    /* A long operation is killed less often, unless that misses it. */
    first = MIN(kills, MAX(2 * STEPS_ENOUGH / MAX(total, 1u), KILLS_LEAST));
    seen_old = kill_often(k, total, first);
    if (first < kills && (seen_old == 0 || bed_stats(&k->b).repaired == 0))
        seen_old = kill_often(k, total, kills);
    CHECK(seen_old > 0);
    CHECK(bed_stats(&k->b).repaired > 0);
    CHECK_INT(bed_stats(&k->b).dropped, 0);
    buf_fini(&k->contents_before);
    buf_fini(&k->contents_after);
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

static void op_hash(struct bed *b)
{
    struct kv_item items[4];
    char names[4][32];
    size_t n;

    for (int i = 0; i < 4; i++) {
        items[i] = item_of(names[i], i * 30);
        items[i].value = bed_string("another value");
    }
    (void)!kv_hash_set(b->s, STR("key"), items, 4, 0, &n);
}

static void op_list(struct bed *b)
{
    (void)!kv_list_trim(b->s, STR("key"), 5, -10);
}

static void op_set_pop(struct bed *b)
{
    char names[4][32];
    struct str members[4];
    size_t n;

    for (int i = 0; i < 4; i++)
        members[i] = item_of(names[i], i * 25).member;
    (void)!kv_coll_rem(b->s, STR("key"), KV_SET, members, 4, &n);
}

static void op_zset(struct bed *b)
{
    struct kv_zadd done;
    struct kv_item items[2];
    char names[2][32];

    items[0] = item_of(names[0], 5);
    items[1] = item_of(names[1], 1000);
    items[0].score = items[1].score = 2.5;
    (void)!kv_zset_add(b->s, STR("key"), items, 2, 0, &done);
}

static void test_killed_while_changing_a_hash(void)
{
    struct killed k = {.operation = op_hash, .kind = KV_HASH};

    kill_everywhere(&k);
}

static void test_killed_while_changing_a_list(void)
{
    struct killed k = {.operation = op_list, .kind = KV_LIST};

    kill_everywhere(&k);
}

static void test_killed_while_changing_a_set(void)
{
    struct killed k = {.operation = op_set_pop, .kind = KV_SET};

    kill_everywhere(&k);
}

static void test_killed_while_changing_a_sorted_set(void)
{
    struct killed k = {.operation = op_zset, .kind = KV_ZSET};

    kill_everywhere(&k);
}

static void op_zset_range(struct bed *b)
{
    struct kv_range range = {.by = KV_BY_RANK, .start = 50, .stop = 52};
    uint64_t n;

    (void)!kv_zset_rem_range(b->s, STR("key"), &range, &n);
}

static void test_killed_while_removing_from_a_sorted_set(void)
{
    struct killed k = {.operation = op_zset_range, .kind = KV_ZSET};

    kill_everywhere(&k);
}

/* A whole collection goes: what is not freed yet is found. */
static void test_killed_while_deleting_a_collection(void)
{
    struct killed k = {.operation = op_del, .kind = KV_ZSET};

    kill_everywhere(&k);
}

/* One that is too large for that goes in steps. */
static void test_killed_while_deleting_a_large_collection(void)
{
    struct killed k = {.operation = op_del, .kind = KV_ZSET, .elements = MANY_ELEMENTS};

    kill_everywhere(&k);
}

static void op_reclaim(struct bed *b)
{
    (void)!kv_store_del(b->s, STR("key"));
    (void)kv_store_reclaim(b->s, 3);
}

static void test_killed_while_freeing_a_large_collection(void)
{
    struct killed k = {.operation = op_reclaim, .kind = KV_HASH, .elements = MANY_ELEMENTS};

    kill_everywhere(&k);
}

const struct test tests_killed[] = {TEST(test_killed_while_replacing),
    TEST(test_killed_while_adding), TEST(test_killed_while_deleting),
    TEST(test_killed_while_appending), TEST(test_killed_while_counting),
    TEST(test_killed_while_exchanging), TEST(test_killed_while_setting_many),
    TEST(test_killed_while_overwriting), TEST(test_killed_while_changing_a_hash),
    TEST(test_killed_while_changing_a_list), TEST(test_killed_while_changing_a_set),
    TEST(test_killed_while_changing_a_sorted_set),
    TEST(test_killed_while_removing_from_a_sorted_set),
    TEST(test_killed_while_deleting_a_collection),
    TEST(test_killed_while_deleting_a_large_collection),
    TEST(test_killed_while_freeing_a_large_collection), TEST_END};
