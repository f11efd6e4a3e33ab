/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_PLANS_H
#define EPHPM_DB_STORE_PLANS_H

/*
 * Statements that were translated, so that the same text need not be again. What a translation
 * depends on is part of the key: text, database, sql_mode, character set, the catalog's version.
 * Bounded; the one that was not used longest goes. Plans are immutable and counted; any thread.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "db/stats.h"
#include "db/store/tables.h"
#include "db/translate/translate.h"

struct store_plan {
    atomic_uint refs;
    struct arena arena; /* of everything in it */
    const struct sql_stmt *stmt;
    const struct tr_plan *plan;
    struct store_tables *tables; /* that it was made for */
    enum db_class class;
    uint64_t digest; /* of the statement, and its text */
    struct str digest_text;
    /* private to plans.c */
    struct list link;
    struct str key;
    size_t size;
};

struct store_plans {
    /* private to plans.c */
    pthread_mutex_t mutex;
    struct map map;
    struct list used; /* least recently used first */
    uint32_t n;
    size_t size;
};

void store_plans_init(struct store_plans *p, uint64_t seed);
void store_plans_fini(struct store_plans *p);
/* An empty plan of refs 1; tables' reference is taken. */
struct store_plan *store_plan_new(struct store_tables *tables) MUST_CHECK;
void store_plan_unref(struct store_plan *p); /* NULL is fine */
/* A reference, or NULL. */
struct store_plan *store_plans_get(struct store_plans *p, struct str key) MUST_CHECK;
/* Keeps it under the key; the caller's reference stays the caller's. */
void store_plans_put(struct store_plans *p, struct str key, struct store_plan *plan);

#endif
