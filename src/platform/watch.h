/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_WATCH_H
#define EPHPM_PLATFORM_WATCH_H

/*
 * Change notices for directories (inotify). One watcher has one pollable descriptor. Where the
 * system has none, watch_open() says ERR_UNSUPPORTED and callers fall back to checking.
 */

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"

struct watch;
/* dir: the id from watch_add, or -1 for "notices were lost, everything may have changed". name may
 * be "". */
typedef void watch_cb(void *arg, int dir, const char *name);

int watch_open(struct watch **out) MUST_CHECK;
void watch_close(struct watch *w); /* NULL is fine */
int watch_fd(const struct watch *w);
/* Watches names in a directory: created, removed, renamed, written, attributes. Adding it twice
 * gives the same id. */
int watch_add(struct watch *w, const char *dir, int *id) MUST_CHECK;
void watch_remove(struct watch *w, int id);
/* Delivers what is pending, before it returns; does not block. The callback may add and remove, but
 * not close. */
void watch_read(struct watch *w, watch_cb *cb, void *arg);

#endif
