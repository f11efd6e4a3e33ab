/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/wake.h"

#include <windows.h>

#include "platform/windows/oserr.h"

int wake_wait(_Atomic uint32_t *word, uint32_t seen, int timeout_ms)
{
    DWORD limit = timeout_ms < 0 ? INFINITE : (DWORD)timeout_ms;

    if (WaitOnAddress((volatile VOID *)word, &seen, sizeof(seen), limit))
        return 0;
    return oserr_last();
}

void wake_word(_Atomic uint32_t *word, int n)
{
    PVOID at = (PVOID)(uintptr_t)word;

    if (n > 1)
        WakeByAddressAll(at); /* the rest find the word as it was and sleep again */
    else if (n == 1)
        WakeByAddressSingle(at);
}

int wake_bell_open(int *fd)
{
    return ERR_UNSUPPORTED;
}

void wake_bell_ring(int fd)
{
}

void wake_bell_clear(int fd)
{
}
