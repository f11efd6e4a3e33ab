/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_SERVER_H
#define EPHPM_DB_STORE_SERVER_H

/*
 * The engine's life: made by the role db, given to the wire, which makes sessions of it
 * (db/session.h). One server has several databases; a database is one file, and belongs to one
 * account.
 *
 * Threads: db_server_new() and db_server_free() from the role's main thread, with no session alive
 * at the latter. db_server_stop() and db_server_backup() from any thread. The server has one thread
 * of its own, which makes checkpoints of the write-ahead logs.
 *
 * Files are opened when the first session needs them, and stay open while they are in use; a file
 * that cannot be opened does not keep the server from serving the others: its sessions get the
 * error (1016, 1036, 1194, ...), a line in the log says why, and it is tried again by the next
 * session. Nothing is written to a file that is not ours.
 */

#include "base/err.h"
#include "db/error.h"
#include "db/stats.h"
#include "db/value.h"

struct buf;
struct db_server;

enum db_synchronous {
    DB_SYNC_FULL,   /* a commit is on the disk when it is acknowledged */
    DB_SYNC_NORMAL, /* the last commits may be lost with the power, never the database */
    DB_SYNC_OFF,    /* the operating system decides; a power loss can damage the file */
};

/* One database. Strings are copied by db_server_new(). */
struct db_file {
    struct str name;    /* as USE names it */
    struct str path;    /* of the file; its folder is made when missing, not that folder's folder */
    struct str account; /* the user it belongs to: for errors and SHOW GRANTS */
};

struct db_query_stats {
    bool enabled;
    uint32_t slow_ms;     /* statements that take longer are logged; 0: none */
    uint32_t max_digests; /* kept; the least recently seen goes */
    uint32_t digest_max;  /* bytes of a digest's text */
};

struct db_server_config {
    const struct db_file *files;
    uint32_t n_files;
    struct str version;  /* of VERSION(), as the greeting says it: "8.0.36-ephpm" */
    struct str temp_dir; /* for large sorts; empty: SQLite's choice */
    struct str socket;   /* for @@socket, or empty */
    uint16_t port;       /* for @@port */
    uint32_t dir_mode;   /* of folders that are made; 0: 0700 */
    enum db_synchronous synchronous;
    uint32_t max_open;        /* files open at the same time while idle; 0: 64 */
    uint32_t max_connections; /* for @@max_connections */
    uint32_t max_packet;      /* max_allowed_packet; 0: 64 MiB */
    uint32_t lock_wait_s;     /* innodb_lock_wait_timeout; 0: 50 */
    uint32_t statement_ms;    /* max_execution_time of SELECT, 0: none */
    uint32_t wait_s;          /* wait_timeout and interactive_timeout; 0: 28800 */
    uint32_t cache_kib;       /* of pages per handle; 0: 2048 */
    uint32_t max_temp_kib;    /* memory of a statement's sort before it goes to a file */
    uint64_t max_wal;         /* bytes of a log at which a checkpoint is made; 0: 8 MiB */
    struct db_query_stats stats;
};

/* counters must outlive the server. Opens no file yet; fails only on a bad configuration (two
 * databases of one name or one path, empty names), then err says so. */
int db_server_new(const struct db_server_config *config, struct db_stats *counters,
    struct db_server **out, struct err *err) MUST_CHECK;
/* One more database, while the server runs: with many sites, each comes up when it is first asked
 * for. n_files may be 0 at the start. ERR_EXISTS when another one has the name or the path (err
 * says so), 0 when it is there already with the same name, path and account. Any thread. */
int db_server_add(struct db_server *server, const struct db_file *file, struct err *err) MUST_CHECK;
/* Ends all statements (1053) and lets no new ones begin; sessions are freed by their owners. */
void db_server_stop(struct db_server *server);
/* Checkpoints, closes. NULL is fine. */
void db_server_free(struct db_server *server);

/* Tries to open the database now, so that a file that cannot be opened is seen at the start;
 * ERR_NOTFOUND for an unknown name. */
int db_server_open(struct db_server *server, struct str database, struct db_error *e) MUST_CHECK;

/* A copy of the database as it is at one moment, made while it is in use: written beside `path`,
 * synced, then renamed to it. Fails when path exists. */
int db_server_backup(
    struct db_server *server, struct str database, const char *path, struct db_error *e) MUST_CHECK;

/* Integrity of the file and its catalog; problems, one per line, go to report (nothing: sound). */
int db_server_check(struct db_server *server, struct str database, struct buf *report,
    struct db_error *e) MUST_CHECK;

/* One statement shape of the statistics. Times are in microseconds. */
struct db_digest {
    struct str database;
    struct str text;
    uint64_t hash;
    uint64_t count;
    uint64_t errors;
    uint64_t rows_sent;
    uint64_t rows_changed;
    uint64_t total_us;
    uint64_t max_us;
    uint64_t first_seen; /* microseconds since 1970 */
    uint64_t last_seen;
    uint64_t histogram[24]; /* of 2^i microseconds and less; the last: everything above */
};

/* Calls cb for every shape, in no order; d is valid during the call, which must not use the
 * server. database empty: of all. */
void db_server_digests(struct db_server *server, struct str database,
    void (*cb)(void *arg, const struct db_digest *d), void *arg);

#endif
