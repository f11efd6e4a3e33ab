/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/clock.h"

#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    (void)clock_gettime(id, &t); /* fails only for an unknown clock */
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_mono_ms(void)
{
    return clock_ns(CLOCK_MONOTONIC_COARSE) / 1000000u;
}

uint64_t clock_wall_us(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000u;
}

uint64_t clock_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void clock_sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&t, NULL); /* cut short by a signal is fine */
}
