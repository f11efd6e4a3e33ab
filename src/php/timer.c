/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#if COMPAT_OWN_TIMER

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * max_execution_time with fewer system calls.  Two functions take the place of libphp's own, by its
 * hooks if it has been patched to have some, or because the dynamic linker prefers the
 * executable's. (Where it does not, libphp's run and nothing else changes.)
 *
 * PHP installs the handler, arms ITIMER_PROF and disarms it in every request: four system calls.
 * Here the handler stays, an unset timer is only marked so, and a timer that was armed less than
 * SLACK ago for this limit or a shorter one is used for this request too: when it fires, it is
 * armed once more for the wall time by which it was early.  That is never less than the missing CPU
 * time, so a script always gets its whole limit, and at most SLACK more.
 *
 * The states belong to the thread that runs PHP; the handler reads them between two of its
 * instructions.
 */

enum {
    SLACK_NS = 10 * 1000 * 1000,
    LONGEST = 1 << 30 /* seconds: a limit that is longer (PHP_INT_MAX) is as good as this one */
};

static volatile sig_atomic_t active;   /* a limit is on */
static volatile sig_atomic_t armed;    /* the kernel's timer runs */
static volatile sig_atomic_t extended; /* it was armed again for early_ns */
static volatile int64_t early_ns;      /* the limit began this long after the timer was armed */
static int64_t armed_at;
static zend_long armed_for;
static bool handler_stays;

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void arm(int64_t ns)
{
    struct itimerval t = {.it_value = {ns / 1000000000, ns % 1000000000 / 1000 + 1}};

    if (ns % 1000000000 == 0)
        t.it_value.tv_usec = 0;
    (void)setitimer(ITIMER_PROF, &t, NULL);
    armed = 1;
}

/* The script did not come to the check of its own limit in hard_timeout seconds: no way back, as in
 * PHP. */
static void die_hard(void)
{
    static const char text[] =
        "Fatal error: Maximum execution time and hard_timeout exceeded (terminated)\n";
    static char trace[4096];

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)!write(STDERR_FILENO, trace, embed_backtrace(trace, sizeof(trace)));
    _exit(124);
}

void embed_timer_expire(void)
{
    active = 0;
    /* PHP's zend_timeout() comes next, and puts its own handler in. */
    handler_stays = false;
    if (zend_on_timeout)
        zend_on_timeout((int)EG(timeout_seconds));
    zend_atomic_bool_store_ex(&EG(timed_out), true);
    zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
    if (EG(hard_timeout) > 0)
        arm((int64_t)MIN(EG(hard_timeout), (zend_long)LONGEST) * 1000000000);
}

static void on_timer(int sig)
{
    armed = 0;
    if (zend_atomic_bool_load_ex(&EG(timed_out)))
        die_hard();
    if (!active)
        return;
    if (!extended && early_ns > 0) {
        extended = 1;
        arm(early_ns);
        return;
    }
    embed_timer_expire();
}

static void install_handler(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigset_t set;

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPROF, &action, NULL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPROF);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    handler_stays = true;
}

static void timer_set(zend_long seconds)
{
    int64_t now;

    active = 0;
    embed_g.waited_ns = 0;
    EG(timeout_seconds) = seconds;
    seconds = MIN(seconds, (zend_long)LONGEST);
    if (seconds > 0) {
        if (!handler_stays) {
            install_handler();
            armed = 0;
        }
        now = now_ns();
        if (!armed || armed_for > seconds || seconds - armed_for > 86400 || extended ||
            now - armed_at >= SLACK_NS) {
            armed_for = seconds;
            armed_at = now;
            arm((int64_t)seconds * 1000000000);
        }
        early_ns = now - armed_at + (int64_t)(seconds - armed_for) * 1000000000;
        extended = 0;
        active = 1;
    }
    zend_atomic_bool_store_ex(&EG(timed_out), false);
}

static void timer_unset(void)
{
    struct itimerval none = {0};

    active = 0;
    if (armed && !handler_stays) {
        /* PHP takes its handler away with the request, and the signal would end the process. */
        (void)setitimer(ITIMER_PROF, &none, NULL);
        armed = 0;
    }
    zend_atomic_bool_store_ex(&EG(timed_out), false);
}

#if COMPAT_TIMER_HOOKS

static void on_set_timeout(zend_long seconds, bool reset_signals)
{
    timer_set(seconds);
}

void embed_timer_startup(void)
{
    zend_set_timeout_hook = on_set_timeout;
    zend_unset_timeout_hook = timer_unset;
}

#else

ZEND_API void zend_set_timeout(zend_long seconds, bool reset_signals)
{
    timer_set(seconds);
}

ZEND_API void zend_unset_timeout(void)
{
    timer_unset();
}

void embed_timer_startup(void)
{
}

#endif

/* Timers do not survive a fork; a script's pcntl_signal() may have replaced the handler. */
void embed_timer_forget(void)
{
    armed = 0;
    handler_stays = false;
}

#else

void embed_timer_startup(void)
{
}

void embed_timer_forget(void)
{
}

void embed_timer_expire(void)
{
    if (zend_on_timeout)
        zend_on_timeout((int)EG(timeout_seconds));
    zend_atomic_bool_store_ex(&EG(timed_out), true);
    zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

#endif
