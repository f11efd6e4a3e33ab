/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_FILE_H
#define EPHPM_DB_STORE_FILE_H

/*
 * A database: its file, the handles on it, its catalog, the turn to write, the cache of translated
 * statements. There is one for each that the server was told of, whether its file is open or not.
 * Any thread, except where it says otherwise; the mutex is held for moments only.
 */

#include <pthread.h>

#include "db/store/handle.h"
#include "db/store/plans.h"
#include "db/store/server.h"
#include "db/store/tables.h"
#include "db/store/vars.h"

struct store_db {
    const struct db_server_config *config;
    struct db_stats *counters;
    struct str name;
    const char *path;
    struct str account;
    uint64_t seed;
    struct store_turn turn;
    struct store_plans plans;
    _Atomic uint64_t wal_pages; /* of the log, after the last commit */
    _Atomic uint64_t commits;   /* that changed something */
    pthread_mutex_t mutex;
    /* under the mutex: */
    struct store_tables *tables; /* NULL while the file is not open */
    struct store_vars globals;   /* SET GLOBAL */
    struct list idle;            /* handles; the one used last first */
    uint32_t n_idle;
    uint32_t n_handles; /* all that are open */
    uint32_t sessions;
    bool dropped;     /* DROP DATABASE emptied it */
    uint64_t used_ms; /* when its last session ended */
    /* the checkpointer's: */
    uint64_t checked_at; /* wal_pages when it looked last */
    uint64_t optimized_ms, optimized_at;
    /* set once: */
    void (*wake)(void *arg); /* the log has grown */
    void *wake_arg;
};

void store_db_init(struct store_db *db, const struct db_server_config *config,
    const struct db_file *file, struct db_stats *counters);
/* No handle may be in use. */
void store_db_fini(struct store_db *db);

/* Opens the file if it is not open, making it when it is missing. */
int store_db_open(struct store_db *db, struct db_error *e) MUST_CHECK;
/* Closes idle handles, and forgets the catalog when none is left. */
void store_db_close_idle(struct store_db *db);
/* The file is open already. */
int store_db_borrow(struct store_db *db, struct store_handle **out, struct db_error *e) MUST_CHECK;
void store_db_return(struct store_handle *h);
/* The catalog of now; the caller's reference. */
struct store_tables *store_db_tables(struct store_db *db) MUST_CHECK;
/* Takes the reference. */
void store_db_set_tables(struct store_db *db, struct store_tables *t);
/* A commit left the log with so many pages. */
void store_db_wal(struct store_db *db, uint64_t pages);

#endif
