/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/clock.h"

#include <windows.h>

uint64_t clock_mono_ns(void)
{
    LARGE_INTEGER now, hz;

    /* Neither fails from Windows XP on. */
    (void)QueryPerformanceFrequency(&hz);
    (void)QueryPerformanceCounter(&now);
    /* In two steps, since ticks * 10^9 would overflow. */
    return (uint64_t)(now.QuadPart / hz.QuadPart) * 1000000000u +
           (uint64_t)(now.QuadPart % hz.QuadPart) * 1000000000u / (uint64_t)hz.QuadPart;
}

uint64_t clock_mono_ms(void)
{
    return GetTickCount64();
}

uint64_t clock_wall_us(void)
{
    const uint64_t unix_epoch = 116444736000000000u; /* in units of 100 ns since 1601 */
    FILETIME t;

    GetSystemTimePreciseAsFileTime(&t);
    return ((((uint64_t)t.dwHighDateTime << 32) | t.dwLowDateTime) - unix_epoch) / 10;
}

uint64_t clock_cpu_ns(void)
{
    FILETIME made, ended, kernel, user;

    if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user))
        return 0;
    return ((((uint64_t)kernel.dwHighDateTime + user.dwHighDateTime) << 32) + kernel.dwLowDateTime +
               user.dwLowDateTime) *
           100;
}

void clock_sleep_ms(unsigned ms)
{
    Sleep(ms);
}
