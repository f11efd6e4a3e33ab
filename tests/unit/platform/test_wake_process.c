/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>

#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "platform/shm.h"
#include "platform/sock.h"
#include "platform/wake.h"
#include "unit/test.h"

extern const struct test tests_wake_process[];

static void test_wake_word_reaches_another_process(void)
{
    _Atomic uint32_t *word = NULL;
    struct process_status st;
    void *p = NULL;
    int64_t pid;
    int fd = -1;

    CHECK_INT(shm_create("ephpm-test", 4096, &fd), 0);
    CHECK_INT(shm_map(fd, 4096, &p), 0);
    word = p;
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        while (atomic_load(word) == 0)
            if (wake_wait(word, 0, 10000) != 0)
                process_exit_now(1);
        process_exit_now((int)atomic_load(word));
    }
    CHECK_INT(wake_wait(word, 0, 50), ERR_TIMEOUT); /* lets it fall asleep */
    atomic_store(word, 42);
    wake_word(word, 1);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.end, PROCESS_EXITED);
    CHECK_INT(st.code, 42);
    shm_unmap(p, 4096);
    fs_close(fd);
}

/* A peer that is killed in its sleep leaves the word usable. */
static void test_wake_survives_a_killed_sleeper(void)
{
    _Atomic uint32_t *word = NULL;
    struct process_status st;
    void *p = NULL;
    int64_t pid;
    int fd = -1;

    CHECK_INT(shm_create("ephpm-test", 4096, &fd), 0);
    CHECK_INT(shm_map(fd, 4096, &p), 0);
    word = p;
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        process_exit_now(wake_wait(word, 0, -1) ? 1 : 0);
    }
    CHECK_INT(wake_wait(word, 0, 50), ERR_TIMEOUT); /* lets it fall asleep */
    CHECK_INT(process_kill(pid, SIGKILL), 0);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.end, PROCESS_SIGNALED);
    CHECK_INT(st.code, SIGKILL);
    wake_word(word, 10);
    CHECK_INT(wake_wait(word, 0, 10), ERR_TIMEOUT);
    shm_unmap(p, 4096);
    fs_close(fd);
}

static void wake_on_alarm(int sig)
{
}

static void test_wake_wait_tells_of_signals(void)
{
    struct sigaction sa = {.sa_handler = wake_on_alarm}, old;
    _Atomic uint32_t word = 0;
    struct process_status st;
    int64_t pid, me = process_id();

    CHECK_INT(sigaction(SIGALRM, &sa, &old), 0);
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        /* after the other one has fallen asleep */
        process_exit_now(wake_wait(&word, 0, 50) != ERR_TIMEOUT || process_kill(me, SIGALRM) != 0);
    }
    CHECK_INT(wake_wait(&word, 0, 10000), ERR_INTR);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.code, 0);
    CHECK_INT(sigaction(SIGALRM, &old, NULL), 0);
}

static void test_wake_bell_rings_until_cleared(void)
{
    int bell = -1;

    CHECK_INT(wake_bell_open(&bell), 0);
    CHECK_INT(sock_wait_readable(bell, 0), ERR_TIMEOUT);
    for (int i = 0; i < 100; i++)
        wake_bell_ring(bell);
    CHECK_INT(sock_wait_readable(bell, 0), 0);
    CHECK_INT(sock_wait_readable(bell, 0), 0);
    wake_bell_clear(bell);
    CHECK_INT(sock_wait_readable(bell, 0), ERR_TIMEOUT);
    wake_bell_clear(bell); /* does not block */
    fs_close(bell);
}

const struct test tests_wake_process[] = {
    TEST(test_wake_word_reaches_another_process),
    TEST(test_wake_survives_a_killed_sleeper),
    TEST(test_wake_wait_tells_of_signals),
    TEST(test_wake_bell_rings_until_cleared),
    TEST_END,
};
