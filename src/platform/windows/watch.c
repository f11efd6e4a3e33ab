/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* No change notices here: callers fall back to checking. */
#include "platform/watch.h"

int watch_open(struct watch **out)
{
    return ERR_UNSUPPORTED;
}

void watch_close(struct watch *w)
{
}

int watch_fd(const struct watch *w)
{
    return -1;
}

int watch_add(struct watch *w, const char *dir, int *id)
{
    return ERR_UNSUPPORTED;
}

void watch_remove(struct watch *w, int id)
{
}

void watch_read(struct watch *w, watch_cb *cb, void *arg)
{
}
