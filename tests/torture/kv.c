/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * torture_kv [SECONDS]  Eight processes do mixed operations on one store while a ninth kills one of
 * them every few milliseconds and starts another in its place.
 *
 *  - Every value carries its key and a checksum: a torn or misplaced one is found by its reader.
 *  - Counters lose nothing: each process adds up what it was told, and a killed one's last step is
 *    the only one in doubt.
 *  - Collections are consistent in themselves; repair walks all of their trees.
 *  - Nobody hangs: all together do something all the time, and end when told to.
 *  - Nothing is lost: when all keys are deleted, no memory is in use.
 *
 * Ends with a line "N passed, N failed".
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kv/store.h"
#include "platform/clock.h"
#include "platform/shm.h"
#include "torture/coll.h"

#define WORKERS    8
#define KEYS       20000
#define COUNTERS   8
#define MEMORY     ((size_t)16 << 20)
#define VALUE_MAX  300000
#define STUCK_MS   20000
#define EXIT_TORN  3
#define EXIT_ERROR 4

/* What the processes tell one another beside the store. */
struct board {
    _Atomic uint32_t stop;
    _Atomic uint64_t operations;
    _Atomic int64_t told[COUNTERS];
};

struct worker {
    struct kv_store *s;
    struct board *board;
    uint64_t random;
    struct buf buf;
    char value[VALUE_MAX + 64];
};

/* At the start of each value. */
struct head {
    uint64_t key;
    uint64_t sum;
    uint64_t len;
};

static struct board *board;
static int failures;

static void check(bool good, const char *what)
{
    if (good)
        return;
    failures++;
    printf("FAIL %s\n", what);
}

static uint32_t below(struct worker *w, uint32_t n)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)((w->random >> 32) * n >> 32);
}

static uint64_t checksum(const char *p, size_t n, uint64_t key)
{
    uint64_t sum = key * 0x9e3779b97f4a7c15u, word;

    for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        sum = (sum ^ word) * 0x100000001b3u;
    }
    for (; n > 0; n--)
        sum = (sum ^ (unsigned char)*p++) * 0x100000001b3u;
    return sum;
}

static struct str key_of(char *p, uint32_t i)
{
    return str_n(p, (size_t)snprintf(p, 64, "torture:%u", i));
}

static void check_value(const struct kv_value *v, uint32_t key)
{
    struct head h;

    if (v->type != KV_STRING || v->bytes.len < sizeof(h))
        _exit(EXIT_TORN);
    memcpy(&h, v->bytes.p, sizeof(h));
    if (h.key != key || h.len != v->bytes.len - sizeof(h) ||
        h.sum != checksum(v->bytes.p + sizeof(h), h.len, key))
        _exit(EXIT_TORN);
}

static void write_one(struct worker *w, uint32_t key)
{
    static const uint32_t most[] = {50, 200, 200, 1000, 1000, 4000, 4000, 20000};
    uint32_t n = below(w, below(w, 500) == 0 ? VALUE_MAX : most[below(w, 8)]);
    struct head h = {.key = key, .len = n};
    struct kv_value v = {.type = KV_STRING, .bytes = {w->value, sizeof(h) + n}};
    char name[64];
    int r;

    memset(w->value + sizeof(h), (int)below(w, 256), n);
    h.sum = checksum(w->value + sizeof(h), n, key);
    memcpy(w->value, &h, sizeof(h));
    /* All have a deadline: the counters, which have none, are never evicted. */
    if (below(w, 8) == 0)
        r = kv_store_cas(w->s, key_of(name, key), NULL, &v, 1 + below(w, 100000));
    else
        r = kv_store_set(w->s, key_of(name, key), &v, below(w, 4), 1 + below(w, 100000));
    if (r && r != ERR_EXISTS && r != ERR_NOTFOUND && r != ERR_BUSY && r != ERR_FULL)
        _exit(EXIT_ERROR);
}

static void read_one(struct worker *w, uint32_t key)
{
    struct kv_value v;
    char name[64];
    int r = below(w, 50) ? kv_store_get(w->s, key_of(name, key), &w->buf, &v)
                         : kv_store_getdel(w->s, key_of(name, key), &w->buf, &v);

    if (r == 0)
        check_value(&v, key);
    else if (r != ERR_NOTFOUND)
        _exit(EXIT_ERROR);
}

static void count_one(struct worker *w)
{
    uint32_t i = below(w, COUNTERS);
    char name[64];
    int64_t n;

    if (kv_store_incr(
            w->s, str_n(name, (size_t)snprintf(name, sizeof(name), "counter:%u", i)), 1, &n) != 0)
        _exit(EXIT_ERROR);
    atomic_fetch_add(&w->board->told[i], 1);
}

static bool count_keys(void *arg, struct str key)
{
    return ++*(unsigned *)arg < 500;
}

static void step(struct worker *w)
{
    uint32_t key = below(w, KEYS), op = below(w, 100);
    uint64_t cursor = below(w, 4096), version;
    struct kv_value v;
    char name[64];
    unsigned n = 0;

    if (below(w, 4) == 0) {
        if (!coll_step(w->s, (uint64_t)below(w, UINT32_MAX) << 32 | below(w, UINT32_MAX)))
            _exit(EXIT_TORN);
    } else if (op < 30) {
        write_one(w, key);
    } else if (op < 35) {
        (void)!kv_store_del(w->s, key_of(name, key));
    } else if (op < 38) {
        (void)!kv_store_expire(w->s, key_of(name, key), below(w, 100000));
    } else if (op < 50) {
        count_one(w);
    } else if (op < 51) {
        kv_store_scan(w->s, &cursor, STR("torture:*1*"), 50, count_keys, &n);
    } else if (op < 52) {
        if (kv_store_wait(w->s, key_of(name, key), UINT64_MAX, 1, &w->buf, &v, &version) == 0)
            check_value(&v, key);
    } else {
        read_one(w, key);
    }
}

static void work(int fd, unsigned number)
{
    struct worker *w = mem_new(sizeof(*w));

    if (kv_store_open(fd, &w->s) != 0)
        _exit(EXIT_ERROR);
    w->board = board;
    w->random = (clock_mono_ns() ^ (uint64_t)getpid() << 32 ^ number) | 1;
    while (!atomic_load(&board->stop)) {
        step(w);
        atomic_fetch_add(&board->operations, 1);
    }
    kv_store_close(w->s);
    _exit(0);
}

static pid_t start(int fd, unsigned number)
{
    pid_t pid = fork();

    if (pid == 0)
        work(fd, number);
    check(pid > 0, "fork");
    return pid;
}

/* How it ended: 0 when it was killed by us or ended well. */
static void judge(int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    check(!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_TORN, "a torn value");
    check(!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_ERROR, "an unexpected error");
    check(WIFEXITED(status), "a worker crashed");
}

static unsigned kill_for(int fd, pid_t *pids, unsigned seconds)
{
    uint64_t end = clock_mono_ns() + (uint64_t)seconds * 1000000000u, moved = clock_mono_ns();
    uint64_t seen = 0;
    unsigned kills = 0, i;
    int status;

    while (clock_mono_ns() < end && failures == 0) {
        clock_sleep_ms(1 + (unsigned)rand() % 6);
        i = (unsigned)rand() % WORKERS;
        (void)kill(pids[i], SIGKILL);
        check(waitpid(pids[i], &status, 0) == pids[i], "waitpid");
        judge(status);
        pids[i] = start(fd, i);
        kills++;
        if (atomic_load(&board->operations) != seen) {
            seen = atomic_load(&board->operations);
            moved = clock_mono_ns();
        }
        check(clock_mono_ns() - moved < STUCK_MS * 1000000ull, "nobody gets on");
    }
    return kills;
}

static void end_workers(const pid_t *pids)
{
    uint64_t end = clock_mono_ns() + STUCK_MS * 1000000ull;
    int status = 0;

    atomic_store(&board->stop, 1);
    for (unsigned i = 0; i < WORKERS; i++) {
        pid_t r;

        while ((r = waitpid(pids[i], &status, WNOHANG)) == 0 && clock_mono_ns() < end)
            clock_sleep_ms(5);
        check(r == pids[i], "a worker hangs");
        if (r == pids[i])
            judge(status);
        else
            (void)kill(pids[i], SIGKILL);
    }
}

/* Between what was told and one more for each kill. */
static void check_counters(struct kv_store *s, unsigned kills)
{
    int64_t sum = 0, told = 0, n;
    char name[64];

    for (unsigned i = 0; i < COUNTERS; i++) {
        struct str key = str_n(name, (size_t)snprintf(name, sizeof(name), "counter:%u", i));

        check(kv_store_incr(s, key, 0, &n) == 0, "a counter");
        sum += n;
        told += atomic_load(&board->told[i]);
        (void)!kv_store_del(s, key);
    }
    check(sum >= told && sum <= told + (int64_t)kills + WORKERS, "increments were lost");
}

static void check_rest(struct kv_store *s, unsigned kills)
{
    struct kv_stats st;
    struct buf buf = {0};
    struct kv_value v;
    char name[64];

    check_counters(s, kills);
    check(coll_check_all(s), "a collection is not consistent");
    for (uint32_t i = 0; i < KEYS; i++)
        if (kv_store_get(s, key_of(name, i), &buf, &v) == 0)
            check_value(&v, i);
    for (uint32_t i = 0; i < KEYS; i++)
        (void)!kv_store_del(s, key_of(name, i));
    kv_store_stats(s, &st);
    printf("%llu operations, %u kills, %llu repaired, %llu evicted, %llu expired\n",
        (unsigned long long)atomic_load(&board->operations), kills, (unsigned long long)st.repaired,
        (unsigned long long)st.evicted, (unsigned long long)st.expired);
    check(st.keys == 0, "keys that nobody can find");
    check(st.used == 0, "memory that nobody uses is not free");
    check(st.dropped == 0, "a shard made no sense");
    buf_fini(&buf);
}

int main(int argc, char **argv)
{
    unsigned seconds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 60, kills;
    struct kv_store *s = NULL;
    pid_t pids[WORKERS];
    int fd, board_fd;
    void *p;

    ENSURE(shm_create("board", sizeof(*board), &board_fd) == 0);
    ENSURE(shm_map(board_fd, sizeof(*board), &p) == 0);
    board = p;
    ENSURE(kv_store_create(&(struct kv_options){MEMORY, KV_VOLATILE_LRU}, &fd) == 0);
    ENSURE(kv_store_open(fd, &s) == 0);
    for (unsigned i = 0; i < WORKERS; i++)
        pids[i] = start(fd, i);
    kills = kill_for(fd, pids, seconds);
    end_workers(pids);
    if (failures == 0)
        check_rest(s, kills);
    kv_store_close(s);
    printf("%d passed, %d failed\n", failures == 0, failures);
    return failures != 0;
}
