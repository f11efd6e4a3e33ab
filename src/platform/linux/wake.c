/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/linux/oserr.h"

int wake_wait(_Atomic uint32_t *word, uint32_t seen, int timeout_ms)
{
    struct timespec t, *limit = NULL;

    if (timeout_ms >= 0) {
        t.tv_sec = timeout_ms / 1000;
        t.tv_nsec = (long)(timeout_ms % 1000) * 1000000;
        limit = &t;
    }
    /* Not the PRIVATE operation: the word may lie in memory shared with another process. */
    if (syscall(SYS_futex, word, FUTEX_WAIT, seen, limit, NULL, 0) == 0 || errno == EAGAIN)
        return 0;
    return oserr_last();
}

void wake_word(_Atomic uint32_t *word, int n)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0); /* the count is of no use */
}

int wake_bell_open(int *fd)
{
    int f = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (f < 0)
        return oserr_last();
    *fd = f;
    return 0;
}

void wake_bell_ring(int fd)
{
    uint64_t one = 1;

    /* EAGAIN: the counter is full, so the bell is ringing already. */
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

void wake_bell_clear(int fd)
{
    uint64_t count;

    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        continue;
}
