/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_SRV_H
#define EPHPM_DB_STORE_SRV_H

/* Inside a server: server.h is what others see of it. */

#include "base/arena.h"
#include "db/store/digests.h"
#include "db/store/file.h"
#include "db/store/locks.h"

struct info_relation;

struct db_server {
    struct db_server_config config;
    struct arena arena; /* of the configuration and system tables */
    struct db_stats *counters;
    _Atomic uint64_t next_id;
    _Atomic int stopping;
    uint64_t started_us; /* wall clock */
    struct db_tz *zone;  /* the process's, NULL when it is UTC; sessions borrow it */
    struct store_locks locks;
    struct store_digests digests;
    /* Tables of information_schema, one for each of info_relations(); immutable. */
    struct db_cat_table **system_tables;
    const struct info_relation *relations;
    uint32_t n_relations;
    pthread_mutex_t mutex;
    /* under the mutex: */
    struct list sessions;
    uint32_t n_sessions;
    struct store_db **dbs;
    _Atomic uint32_t n_dbs; /* also read without it: numbers that are only shown */
    /* the checkpointer's */
    pthread_t thread;
    pthread_mutex_t work_mutex;
    pthread_cond_t work;
    bool quit, woken, has_thread;
};

/* By name; NULL. Databases stay as long as the server. */
struct store_db *srv_db(struct db_server *server, struct str name);
/* Counts a session in, opening the file; srv_release() counts it out. */
int srv_acquire(struct db_server *server, struct str name, struct store_db **out,
    struct db_error *e) MUST_CHECK;
void srv_release(struct db_server *server, struct store_db *db);

/* checkpoint.c */
void srv_thread_start(struct db_server *server);
void srv_thread_stop(struct db_server *server);

#endif
