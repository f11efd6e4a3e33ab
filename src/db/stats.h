/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STATS_H
#define EPHPM_DB_STATS_H

/*
 * What a database server counts since its process started: the wire (mysql/) its connections and
 * bytes, the sessions (store/) their statements. The role makes one, gives it to both, and shows it
 * in /metrics and in the status; SHOW STATUS reads it too.
 *
 * Every member is an atomic word; the threads add to it without an order among them (relaxed), and
 * whoever reads gets each word for itself.
 */

#include <stdatomic.h>
#include <stdint.h>

/* X(name, text): classes of statements, as `ephpm_query_total` and the status name them. */
#define DB_CLASS_LIST(X)          \
    X(SELECT, "select")           \
    X(INSERT, "insert")           \
    X(UPDATE, "update")           \
    X(DELETE, "delete")           \
    X(REPLACE, "replace")         \
    X(DDL, "ddl")                 \
    X(TRANSACTION, "transaction") \
    X(SET, "set")                 \
    X(SHOW, "show")               \
    X(OTHER, "other")             \
    X(INVALID, "invalid") /* what the parser refused */

enum db_class {
#define DB_CLASS_ENUM(name, text) DB_CLASS_##name,
    DB_CLASS_LIST(DB_CLASS_ENUM)
#undef DB_CLASS_ENUM
        DB_CLASS_COUNT
};

typedef _Atomic uint64_t db_counter;

struct db_stats {
    /* the wire */
    db_counter connections;   /* accepted, ever */
    db_counter connected;     /* now */
    db_counter max_connected; /* most at the same time */
    db_counter refused;       /* 1040: there were too many */
    db_counter denied;        /* wrong user, password or database, or a bad handshake */
    db_counter aborted;       /* ended without COM_QUIT: lost, silent too long, bad packets */
    db_counter bytes_in;      /* with packet headers */
    db_counter bytes_out;
    db_counter commands; /* COM_... of all kinds: "Questions" */
    db_counter running;  /* commands at work now: "Threads_running" */
    db_counter threads_created;
    db_counter threads_cached; /* waiting for a connection now */
    /* the sessions */
    db_counter statements[DB_CLASS_COUNT]; /* ended, well or not */
    db_counter errors[DB_CLASS_COUNT];     /* of those, answered with an error */
    db_counter rows_sent;
    db_counter rows_changed;
    db_counter slow;     /* longer than the threshold */
    db_counter prepared; /* prepared statements now */
    db_counter commits;  /* of transactions that wrote */
    db_counter rollbacks;
    db_counter lock_waits; /* had to wait for the turn to write */
    db_counter lock_wait_us;
    db_counter lock_timeouts; /* 1205 */
    db_counter deadlocks;     /* 1213 */
    db_counter cache_hits;    /* of translated statements */
    db_counter cache_misses;
};

static inline void db_count(db_counter *c, uint64_t n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static inline void db_uncount(db_counter *c, uint64_t n)
{
    atomic_fetch_sub_explicit(c, n, memory_order_relaxed);
}

static inline uint64_t db_counted(const db_counter *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

#endif
