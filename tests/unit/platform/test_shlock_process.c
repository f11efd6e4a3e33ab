/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fs.h"
#include "platform/shlock.h"
#include "platform/shm.h"
#include "unit/test.h"

/* Takes the lock in a child that is killed with it. */
static void die_with(struct shlock *l, enum shlock_result want)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (shlock_lock(l) == want)
            raise(SIGKILL);
        _exit(1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_shlock_tells_of_a_killed_holder(void)
{
    struct shlock *l;
    void *p;
    int fd;

    CHECK_INT(shm_create("shlock", 4096, &fd), 0);
    CHECK_INT(shm_map(fd, 4096, &p), 0);
    l = p;
    CHECK_INT(shlock_init(l), 0);
    die_with(l, SHLOCK_OK);
    /* Dies again, before it could repair. */
    die_with(l, SHLOCK_DEAD);
    CHECK_INT(shlock_try(l), SHLOCK_DEAD);
    shlock_repaired(l);
    shlock_unlock(l);
    CHECK_INT(shlock_lock(l), SHLOCK_OK);
    shlock_unlock(l);
    shm_unmap(p, 4096);
    fs_close(fd);
}

const struct test tests_shlock_process[] = {TEST(test_shlock_tells_of_a_killed_holder), TEST_END};
