/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* A spool on a disk that is full: a tmpfs of a few pages, for which one must be root. */
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

const struct test tests_stream_disk[] = {
    TEST(test_stream_disk_full_takes_nothing),
    TEST_END,
};
