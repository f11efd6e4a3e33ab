/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_SNAPSHOT_H
#define EPHPM_KV_SNAPSHOT_H

/*
 * A store's content in a file, and back.
 *
 * Saving goes through the keys one after the other while others read and change them. Each string
 * and number is in the file as it was at one moment between begin and end, a collection too; two
 * keys may be from different moments. A key that is there all the time is in the file. No lock is
 * held for longer than copying one value or KV_SNAPSHOT_ELEMENTS elements takes, except for a
 * collection that changes again and again while it is read: that one is copied at once.
 *
 * The file grows under another name in the same folder, is written to the disk, and takes the place
 * of the last one in one step. Whatever goes wrong before that, a full disk or the end of the
 * process, leaves the last one as it is; what a killed process left is removed by the next save.
 * The file is readable for its owner alone.
 *
 * Deadlines are times of day in it: the time while nothing ran counts.
 *
 * A struct kv_snapshot is used by one thread, with a struct kv_store that no other one uses
 * meanwhile (kv_store_open_other()). Errors name the file and the reason.
 */

#include "kv/store.h"

#define KV_SNAPSHOT_ELEMENTS 512

struct kv_snapshot;

/* Begins. ERR_ACCESS, ERR_NOTFOUND, ERR_NOSPACE and the like. */
int kv_snapshot_begin(
    struct kv_store *s, const char *path, struct kv_snapshot **out, struct err *err) MUST_CHECK;
/* Writes about so many keys. ERR_AGAIN: there is more. 0: all is on the disk, under its name. */
int kv_snapshot_step(struct kv_snapshot *n, size_t keys, struct err *err) MUST_CHECK;
/* How many keys were written so far. */
uint64_t kv_snapshot_keys(const struct kv_snapshot *n);
/* Ends it, done or not; NULL is fine. */
void kv_snapshot_end(struct kv_snapshot *n);

/* All of it. *keys (may be NULL) were written. */
int kv_snapshot_save(
    struct kv_store *s, const char *path, uint64_t *keys, struct err *err) MUST_CHECK;

struct kv_snapshot_loaded {
    uint64_t keys;    /* put into the store, those included that gave way to later ones */
    uint64_t expired; /* whose time was over */
    uint64_t full;    /* for which the store had no room */
    int64_t created;  /* when the snapshot was begun, ms since 1970 */
};

/*
 * Puts what is in the file into the store, beside what is there; a key that is in both becomes the
 * file's. When memory does not suffice, the store's policy decides what gives way.
 *
 * The file is read twice: before anything is put, all of it is checked, so that a damaged file
 * changes nothing, whatever its size. ERR_NOTFOUND: there is none. ERR_CORRUPT: damaged, cut or no
 * snapshot at all; ERR_VERSION: of another version of the server or another kind of machine. Such a
 * file is kept under the name "<path>.damaged-<seconds since 1970>", which the error's text says.
 */
int kv_snapshot_load(struct kv_store *s, const char *path, struct kv_snapshot_loaded *out,
    struct err *err) MUST_CHECK;

/* Gives the file that name, whatever is in it; *as (emptied first) is the name. ERR_NOTFOUND. */
int kv_snapshot_set_aside(const char *path, struct buf *as) MUST_CHECK;

/* The same as loading for a file that is open, which stays where it is. */
int kv_snapshot_read(
    struct kv_store *s, int fd, struct kv_snapshot_loaded *out, struct err *err) MUST_CHECK;

#endif
