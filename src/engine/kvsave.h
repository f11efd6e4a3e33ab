/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_KVSAVE_H
#define EPHPM_ENGINE_KVSAVE_H

/*
 * Snapshots of the stores, part of the kv role: FOLDER/SITE.kv, where FOLDER is kv.persist.
 *
 * Files are read and written on a thread of their own, one at a time, with a struct kv_store that
 * belongs to that thread, so the role's loop goes on meanwhile. A store that was read, or whose
 * file there is none of, is saved whenever kv.persist_interval is over and something in it has
 * changed, and once more at the end. A store that could not be read for a reason that may pass is
 * not saved: the file stays as it is.
 *
 * What goes wrong is logged once, and once more each hour while it lasts.
 */

#include "core/json.h"
#include "engine/config.h"
#include "kv/store.h"
#include "net/loop.h"

struct kvsave;
struct kvsave_site;

enum kvsave_how {
    KVSAVE_LOADED, /* what the file holds is in the store, in one of an earlier role */
    KVSAVE_LOAD,   /* read it first */
    KVSAVE_REFUSE, /* reading it ended the role again and again: it is set aside */
};

/* The store may be used and will be saved; or error says why it cannot be. */
typedef void kvsave_ready_cb(void *arg, const char *site, const char *error);

/* A store that was removed is closed; nothing of it waits to be saved any more. */
typedef void kvsave_gone_cb(void *arg, uint64_t number);

/* The callbacks run on the loop; cb never before kvsave_add() returns. */
int kvsave_open(struct net_loop *l, const struct config_kv *config, kvsave_ready_cb *cb,
    kvsave_gone_cb *gone, void *arg, struct kvsave **out) MUST_CHECK;
/* The store stays the caller's, until kvsave_close() or kvsave_remove(). */
struct kvsave_site *kvsave_add(
    struct kvsave *v, const char *name, const struct kv_store *store, enum kvsave_how how);
/* Tries once more to read what could not be read. */
void kvsave_again(struct kvsave *v, struct kvsave_site *s);
/* The site is gone: what has changed is saved, before anything else is read or written, and the
 * store, which kvsave_add() got, is closed after that, which `gone` tells with the number. s must
 * not be used any more. */
void kvsave_remove(
    struct kvsave *v, struct kvsave_site *s, struct kv_store *store, uint64_t number);
/* "snapshot": what `ephpm status` says of it. */
void kvsave_write_status(const struct kvsave_site *s, struct json_writer *w);
/* Waits for the thread, and saves what has changed. NULL is fine. */
void kvsave_close(struct kvsave *v);

#endif
