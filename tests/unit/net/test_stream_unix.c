/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* What Wine does not do, and a disk that is full: a tmpfs, for which one must be root. */
#include <sys/mount.h>

#include "net/stream.h"
#include "unit/net/stream_end.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

enum { DISK = 256 * 1024 };

static void test_stream_disk_full_takes_nothing(void)
{
    struct tmpdir t;
    struct end e;
    uint64_t queued;

    tmpdir_init(&t);
    if (mount("tmpfs", t.path, "tmpfs", 0, "size=256k") != 0) {
        printf("skipped: a tmpfs cannot be mounted here\n");
        tmpdir_fini(&t);
        return;
    }
    end_open(&e, true);
    stream_set_limits(
        &e.s, &(struct stream_limits){.memory = 0, .spool = 1 << 30, .spool_dir = t.path});
    CHECK_INT(end_fill(&e, 10000), ERR_NOSPACE);
    queued = stream_queued(&e.s);
    CHECK(queued <= DISK && queued + 10000 > DISK);
    CHECK_INT(end_write(&e, 10000), ERR_NOSPACE);
    CHECK_INT(stream_queued(&e.s), queued);
    CHECK_INT(e.s.error, 0);
    end_run_to_end(&e);
    /* One write larger than the disk is kept in memory, and nothing behind it. */
    CHECK_INT(end_write(&e, 1000 * 1000), 0);
    CHECK(e.s.queued_memory > DISK);
    CHECK_INT(end_write(&e, 300 * 1000), ERR_NOSPACE);
    end_run_to_end(&e);
    CHECK_INT(end_fill(&e, 10000), ERR_NOSPACE);
    end_run_to_end(&e);
    CHECK_INT(e.errors, 0);
    end_close(&e);
    CHECK_INT(umount(t.path), 0);
    tmpdir_fini(&t);
}

/* (Wine sends FIN instead.) */
static void test_stream_abort_resets(void)
{
    struct end e;
    size_t got = 0;
    char c;

    end_open(&e, false);
    stream_abort(&e.s);
    stream_abort(&e.s);
    CHECK_INT(sock_wait_readable(e.peer, 5000), 0);
    CHECK_INT(sock_recv(e.peer, &c, 1, &got), ERR_CLOSED);
    end_close(&e);
    end_open(&e, false);
    stream_close(&e.s);
    CHECK_INT(sock_wait_readable(e.peer, 5000), 0);
    CHECK_INT(sock_recv(e.peer, &c, 1, &got), ERR_EOF);
    end_close(&e);
}

const struct test tests_stream_unix[] = {
    TEST(test_stream_disk_full_takes_nothing),
    TEST(test_stream_abort_resets),
    TEST_END,
};
