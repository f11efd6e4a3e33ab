/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_TORTURE_COLL_H
#define EPHPM_TESTS_TORTURE_COLL_H

/*
 * Collections under torture. Elements say where they belong: a member and its value or score are
 * made of the same number, so what is torn or mixed up is found by its reader. Some collections
 * have deadlines and may be evicted.
 */

#include "kv/collections.h"

/* One operation, chosen by these random bits. False: something made no sense. */
bool coll_step(struct kv_store *s, uint64_t random);
/* Nobody else uses the store: every collection is consistent in itself; then deletes all. */
bool coll_check_all(struct kv_store *s);

#endif
