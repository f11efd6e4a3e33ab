/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "net/stream.h"

#include "platform/fs.h"
#include "unit/net/stream_end.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

enum { KB = 1024, MB = 1024 * 1024 };

static void limit(struct end *e, size_t memory, uint64_t spool)
{
    stream_set_limits(&e->s, &(struct stream_limits){.memory = memory, .spool = spool});
}

/* A file of the pattern's first n bytes. */
static int pattern_file(struct tmpdir *t, const char *name, size_t n)
{
    const char *path = tmpdir_path(t, name);
    int fd = -1;

    CHECK_INT(fs_write_file(path, end_pattern(0, n), n, 0600), 0);
    CHECK_INT(fs_open_read(path, &fd), 0);
    return fd;
}

static void count_release(void *arg)
{
    (*(int *)arg)++;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void test_stream_small_write_goes_at_once(void)
{
    struct end e;

    end_open(&e, false);
    CHECK_INT(end_write(&e, 1000), 0);
    CHECK_INT(e.s.sent, 1000);
    CHECK_INT(stream_queued(&e.s), 0);
    CHECK(stream_has_room(&e.s));
    CHECK_INT(stream_write(&e.s, NULL, 0, false), 0);
    end_run_to_end(&e);
    CHECK_INT(e.drained + e.progress + e.readable + e.errors, 0); /* nothing had been queued */
    end_close(&e);
}

/* Everything from memory, from the spool, or from memory first and then the spool. */
static void test_stream_slow_reader_gets_all(void)
{
    static const struct {
        const char *name;
        bool full;
        size_t memory;
        uint64_t spool;
        size_t write, times, read;
    } rows[] = {
        {"memory, one write", true, 8 * MB, 0, 1 * MB, 1, 64 * KB},
        {"memory, small writes", true, 8 * MB, 0, 1000, 3000, 100 * KB},
        {"spool, one write", true, 1, 8 * MB, 1 * MB, 1, 64 * KB},
        {"spool, small writes", true, 1, 8 * MB, 5000, 600, 100 * KB},
        {"memory and spool", true, 200 * KB, 8 * MB, 30000, 100, 100 * KB},
        {"TCP, memory and spool", false, 1 * MB, 64 * MB, 1 * MB, 32, 1 * MB},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct end e;

        test_row(rows[i].name);
        end_open(&e, rows[i].full);
        limit(&e, rows[i].memory, rows[i].spool);
        e.read_step = rows[i].read;
        for (size_t k = 0; k < rows[i].times; k++)
            CHECK_INT(end_write(&e, rows[i].write), 0);
        CHECK(stream_queued(&e.s) > 0);
        CHECK_INT(stream_queued(&e.s) + e.s.sent, e.wrote.len);
        end_run_to_end(&e);
        CHECK_INT(e.drained, 1);
        CHECK(e.progress > 0 || !e.small);
        CHECK_INT(e.errors, 0);
        CHECK_INT(e.s.sent, e.wrote.len);
        end_close(&e);
    }
    test_row(NULL);
}

static void test_stream_keeps_order_of_all_kinds(void)
{
    struct tmpdir t;
    struct end e;
    int fd, released = 0;

    tmpdir_init(&t);
    fd = pattern_file(&t, "f", 300 * KB);
    end_open(&e, true);
    limit(&e, 400 * KB, 8 * MB);
    e.read_step = 200 * KB;
    CHECK_INT(end_write(&e, 300 * KB), 0); /* the socket and memory */
    CHECK_INT(stream_write_file(&e.s, fd, 7, 300 * KB - 7, count_release, &released), 0);
    end_expect(&e, end_pattern(7, 300 * KB - 7), 300 * KB - 7);
    CHECK_INT(end_write(&e, 900 * KB), 0); /* spool */
    CHECK(e.s.spool_left > 0);
    CHECK_INT(stream_write_file(&e.s, fd, 0, 1, count_release, &released), 0);
    end_expect(&e, end_pattern(0, 1), 1);
    CHECK_INT(end_write(&e, 10), 0); /* spool, since there is some */
    CHECK_INT(released, 0);
    end_run_to_end(&e);
    CHECK_INT(released, 2);
    CHECK_INT(end_write(&e, 600 * KB), 0);
    CHECK_INT(stream_write_file(&e.s, fd, 0, 300 * KB, NULL, NULL), 0);
    end_expect(&e, end_pattern(0, 300 * KB), 300 * KB);
    end_run_to_end(&e);
    end_close(&e);
    fs_close(fd);
    tmpdir_fini(&t);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void test_stream_full_takes_nothing(void)
{
    static const struct {
        const char *name;
        size_t memory;
        uint64_t spool;
    } rows[] = {{"memory", 64 * KB, 0}, {"spool", 64 * KB, 500 * KB}, {"spool only", 0, 500 * KB}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct end e;
        uint64_t queued;

        test_row(rows[i].name);
        end_open(&e, true);
        limit(&e, rows[i].memory, rows[i].spool);
        CHECK_INT(end_fill(&e, 10000), ERR_FULL);
        CHECK(!stream_has_room(&e.s));
        queued = stream_queued(&e.s);
        CHECK(queued + 10000 >= rows[i].memory + rows[i].spool);
        CHECK(queued <= rows[i].memory + rows[i].spool + 2 * 10000);
        CHECK_INT(end_write(&e, 10), ERR_FULL);
        CHECK_INT(stream_queued(&e.s), queued);
        end_run_to_end(&e);
        CHECK(stream_has_room(&e.s));
        CHECK_INT(end_write(&e, 10000), 0);
        end_run_to_end(&e);
        CHECK_INT(e.errors, 0);
        end_close(&e);
    }
    test_row(NULL);
}

static void test_stream_first_write_may_pass_the_limits(void)
{
    struct end e;

    end_open(&e, true);
    limit(&e, 1 * KB, 0);
    CHECK_INT(end_write(&e, 1 * MB), 0);
    CHECK_INT(end_write(&e, 1), ERR_FULL);
    end_run_to_end(&e);
    end_close(&e);
}

/* What a reader took once does not stay on the disk for as long as it lags behind. */
static void test_stream_spool_is_used_again_from_its_start(void)
{
    struct end e;

    end_open(&e, true);
    limit(&e, 0, 1 * MB);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(end_fill(&e, 50000), ERR_FULL);
        CHECK(e.s.spool_end >= 1 * MB && e.s.spool_end <= 1 * MB + 50000);
        end_run_to_end(&e);
        CHECK_INT(e.s.spool_end, 0);
        CHECK_INT(e.s.spool_left, 0);
    }
    CHECK_INT(e.drained, 5);
    end_close(&e);
}

static bool half_was_read(void *arg)
{
    struct end *e = arg;

    (void)end_read(e, 4096);
    return e->got.len > e->wrote.len / 2;
}

static void test_stream_spool_stays_within_its_size_while_some_is_left(void)
{
    struct end e;

    end_open(&e, true);
    limit(&e, 0, 300 * KB);
    CHECK_INT(end_fill(&e, 30000), ERR_FULL);
    if (e.small) {
        net_run_until(e.loop, half_was_read, &e);
        CHECK(e.s.spool_left > 0 && e.s.spool_left < 300 * KB);
        CHECK_INT(end_write(&e, 1000), ERR_FULL); /* the file has its size */
    }
    end_run_to_end(&e);
    CHECK(stream_has_room(&e.s));
    end_close(&e);
}

static void test_stream_spool_that_cannot_be_made(void)
{
    struct end e;
    int rc;

    end_open(&e, true);
    stream_set_limits(&e.s,
        &(struct stream_limits){.memory = 100 * KB, .spool = 1 * MB, .spool_dir = "/none/of/it"});
    rc = end_fill(&e, 30000);
    CHECK_INT(rc, ERR_NOSPACE);
    CHECK(stream_queued(&e.s) <= 100 * KB);
    end_run_to_end(&e);
    CHECK_INT(end_fill(&e, 1 * MB), ERR_NOSPACE);
    CHECK(stream_queued(&e.s) > 0 && stream_queued(&e.s) <= 1 * MB); /* alone: kept in memory */
    end_run_to_end(&e);
    CHECK_INT(e.errors, 0);
    end_close(&e);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_stream_file_is_released_once(void)
{
    static const struct {
        const char *name;
        uint64_t len;
        bool full, to_end;
    } rows[] = {
        {"empty", 0, false, true},
        {"small", 100, false, true},
        {"large", 1 * MB, true, true},
        {"closed meanwhile", 1 * MB, true, false},
    };
    struct tmpdir t;
    int fd;

    tmpdir_init(&t);
    fd = pattern_file(&t, "f", 1 * MB);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct end e;
        int released = 0;

        test_row(rows[i].name);
        end_open(&e, rows[i].full);
        CHECK_INT(stream_write_file(&e.s, fd, 0, rows[i].len, count_release, &released), 0);
        end_expect(&e, end_pattern(0, (size_t)rows[i].len), (size_t)rows[i].len);
        if (rows[i].to_end) {
            end_run_to_end(&e);
            CHECK_INT(released, 1);
        } else {
            CHECK_INT(released, 0);
            stream_close(&e.s);
            CHECK_INT(released, 1);
            CHECK_INT(stream_write_file(&e.s, fd, 0, 1, count_release, &released), ERR_CLOSED);
            CHECK_INT(released, 2); /* the second one's */
        }
        end_close(&e);
        CHECK_INT(released, rows[i].to_end ? 1 : 2);
    }
    test_row(NULL);
    fs_close(fd);
    tmpdir_fini(&t);
}

static bool has_error(void *arg)
{
    return ((struct end *)arg)->errors > 0;
}

static bool read_until_error(void *arg)
{
    struct end *e = arg;
    char bytes[65536];
    size_t got = 0;

    (void)!sock_recv(e->peer, bytes, sizeof(bytes), &got);
    return has_error(arg);
}

static void test_stream_file_that_became_shorter(void)
{
    struct tmpdir t;
    struct end e;
    int fd, released = 0;

    tmpdir_init(&t);
    fd = pattern_file(&t, "f", 1000);
    end_open(&e, true);
    CHECK_INT(end_write(&e, 1 * MB), 0);
    CHECK_INT(stream_write_file(&e.s, fd, 0, 1001, count_release, &released), 0);
    net_run_until(e.loop, read_until_error, &e);
    CHECK_INT(e.code, ERR_IO);
    CHECK_INT(released, 1);
    end_close(&e);
    CHECK_INT(released, 1);
    fs_close(fd);
    tmpdir_fini(&t);
}

/* --- errors and closing ----------------------------------------------------------------------- */

static void test_stream_error_is_told_once_by_the_loop(void)
{
    static const struct {
        const char *name;
        bool queue; /* something waits when the peer goes, else a write finds out */
        bool reset;
    } rows[] = {{"queued", true, false}, {"queued, reset", true, true}, {"write", false, true}};
    struct tmpdir t;
    int fd;

    tmpdir_init(&t);
    fd = pattern_file(&t, "f", 100);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct end e;
        int released = 0;

        test_row(rows[i].name);
        end_open(&e, rows[i].queue);
        stream_want_read(&e.s, true);
        if (rows[i].queue) {
            limit(&e, 8 * MB, 0);
            CHECK_INT(end_write(&e, 1 * MB), 0);
            while (stream_queued(&e.s) == 0) /* TCP takes more */
                CHECK_INT(end_write(&e, 1 * MB), 0);
            CHECK_INT(stream_write_file(&e.s, fd, 0, 100, count_release, &released), 0);
        }
        if (rows[i].reset)
            sock_set_reset_on_close(e.peer);
        sock_close(e.peer);
        e.peer = SOCK_NONE;
        if (!rows[i].queue) {
            stream_want_read(&e.s, false);
            net_run_for(e.loop, 20);
            CHECK_INT(end_fill(&e, 1000), ERR_CLOSED);
        }
        CHECK_INT(e.errors, 0);
        net_run_until(e.loop, has_error, &e);
        stream_want_read(&e.s, true);
        net_run_for(e.loop, 20);
        CHECK_INT(e.errors, 1);
        CHECK_INT(e.code, ERR_CLOSED);
        CHECK_INT(stream_queued(&e.s), 0);
        CHECK_INT(released, rows[i].queue ? 1 : 0);
        CHECK_INT(end_write(&e, 1), ERR_CLOSED);
        CHECK_INT(e.drained, 0);
        end_close(&e);
        CHECK_INT(e.errors, 1);
    }
    test_row(NULL);
    fs_close(fd);
    tmpdir_fini(&t);
}

static bool is_gone(void *arg)
{
    struct end *e = arg;
    char bytes[65536];
    size_t got = 0;

    if (e->peer != SOCK_NONE)
        (void)!sock_recv(e->peer, bytes, sizeof(bytes), &got);
    return e->s.watch == NULL;
}

static void test_stream_closes_inside_each_callback(void)
{
    static const char *const rows[] = {"readable", "drained", "progress", "error"};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str text = STR("x");
        size_t sent = 0;
        struct end e;

        test_row(rows[i]);
        end_open(&e, true);
        if (i == 2 && !e.small) { /* everything goes in one turn */
            end_close(&e);
            continue;
        }
        limit(&e, 8 * MB, 0);
        e.close_readable = i == 0;
        e.close_drained = i == 1;
        e.close_progress = i == 2;
        e.close_error = i == 3;
        if (i != 0)
            CHECK_INT(end_write(&e, 1 * MB), 0);
        /* There is also something to read, which must not be told after the close. */
        CHECK_INT(sock_sendv(e.peer, &text, 1, false, &sent), 0);
        if (i == 0)
            stream_want_read(&e.s, true);
        if (i == 3) {
            sock_close(e.peer);
            e.peer = SOCK_NONE;
        }
        net_run_until(e.loop, is_gone, &e);
        net_run_for(e.loop, 10);
        CHECK_INT(e.readable, i == 0);
        CHECK_INT(e.drained, i == 1);
        CHECK_INT(e.errors, i == 3);
        CHECK(i != 2 || e.progress == 1);
        CHECK_INT(end_write(&e, 1), ERR_CLOSED);
        end_close(&e);
    }
    test_row(NULL);
}

static bool was_readable(void *arg)
{
    return ((struct end *)arg)->readable > 0;
}

static void test_stream_reads_on_demand(void)
{
    struct str text = STR("hello");
    size_t sent = 0, got = 0;
    struct end e;
    char c[8];

    end_open(&e, false);
    CHECK_INT(sock_sendv(e.peer, &text, 1, false, &sent), 0);
    net_run_for(e.loop, 10);
    CHECK_INT(e.readable, 0);
    stream_want_read(&e.s, true);
    CHECK_INT(e.readable, 0);
    net_run_until(e.loop, was_readable, &e);
    CHECK_INT(e.s.received, 5);
    CHECK_INT(stream_read(&e.s, c, sizeof(c), &got), ERR_AGAIN);
    stream_want_read(&e.s, false);
    e.readable = 0;
    CHECK_INT(sock_sendv(e.peer, &text, 1, false, &sent), 0);
    net_run_for(e.loop, 10);
    CHECK_INT(e.readable, 0);
    CHECK_INT(stream_read(&e.s, c, sizeof(c), &got), 0);
    CHECK_STR(str_n(c, got), "hello");
    sock_shutdown_send(e.peer);
    stream_want_read(&e.s, true);
    net_run_until(e.loop, was_readable, &e);
    CHECK_INT(stream_read(&e.s, c, sizeof(c), &got), ERR_EOF);
    CHECK_INT(end_write(&e, 100), 0); /* only one direction ended */
    end_run_to_end(&e);
    end_close(&e);
}

const struct test tests_stream[] = {
    TEST(test_stream_small_write_goes_at_once),
    TEST(test_stream_slow_reader_gets_all),
    TEST(test_stream_keeps_order_of_all_kinds),
    TEST(test_stream_full_takes_nothing),
    TEST(test_stream_first_write_may_pass_the_limits),
    TEST(test_stream_spool_is_used_again_from_its_start),
    TEST(test_stream_spool_stays_within_its_size_while_some_is_left),
    TEST(test_stream_spool_that_cannot_be_made),
    TEST(test_stream_file_is_released_once),
    TEST(test_stream_file_that_became_shorter),
    TEST(test_stream_error_is_told_once_by_the_loop),
    TEST(test_stream_closes_inside_each_callback),
    TEST(test_stream_reads_on_demand),
    TEST_END,
};
