/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SESSION_H
#define EPHPM_DB_SESSION_H

/*
 * What the wire (mysql/) asks of the engine (store/). Written down here so that either can be built
 * and tested without the other.
 *
 * Threads: a session belongs to one thread at a time, and its calls block: on SQLite, on the
 * turn to write, on SLEEP() and GET_LOCK(). Different sessions run in parallel. Only
 * db_server_kill() and db_server_stop() may be called from any thread.
 */

#include "db/error.h"
#include "db/value.h"

struct db_server;
struct db_session;
struct db_prepared;

/* Status flags of OK and EOF packets. */
enum db_status {
    DB_STATUS_IN_TRANS = 1,
    DB_STATUS_AUTOCOMMIT = 2,
    DB_STATUS_MORE_RESULTS = 8,
    DB_STATUS_NO_GOOD_INDEX = 16,
    DB_STATUS_NO_INDEX = 32,
    DB_STATUS_CURSOR_EXISTS = 64,
    DB_STATUS_LAST_ROW_SENT = 128,
    DB_STATUS_DB_DROPPED = 256,
    DB_STATUS_NO_BACKSLASH_ESCAPES = 512,
};

/* Client capabilities that change what a session does. */
enum db_client_flags {
    DB_CLIENT_FOUND_ROWS = 2, /* affected rows are those found, not those changed */
    DB_CLIENT_IGNORE_SPACE = 256,
    DB_CLIENT_INTERACTIVE = 1024, /* interactive_timeout instead of wait_timeout */
    DB_CLIENT_MULTI_STATEMENTS = 65536,
};

/* How a statement without rows ended, or what follows the last row. */
struct db_ok {
    uint64_t affected;
    uint64_t insert_id;
    uint16_t status; /* db_status */
    uint16_t warnings;
    struct str info; /* "Rows matched: 1  Changed: 1  Warnings: 0", or empty */
};

/*
 * Where results go. The session calls, for each statement of the text: either ok(); or columns(),
 * row() any number of times, end(); or error(), at any point, after which no statement follows.
 * Memory handed over is valid during the call. row() and columns() return 0, or an error of
 * base/err.h when the client is gone, which ends the statement; nothing is called afterwards.
 */
struct db_sink {
    void *arg;
    int (*columns)(void *arg, const struct db_column *columns, uint32_t n);
    int (*row)(void *arg, const struct db_value *values, uint32_t n);
    void (*end)(void *arg, const struct db_ok *ok); /* only status and warnings count */
    void (*ok)(void *arg, const struct db_ok *ok);
    void (*error)(void *arg, const struct db_error *e);
};

struct db_login {
    struct str user;
    struct str host;       /* of the client: "localhost" or an address */
    struct str database;   /* to use, or empty */
    struct str account_db; /* the name of the database that the account owns */
    uint32_t client_flags; /* db_client_flags */
    uint8_t charset;       /* number of the client's collation */
};

/* The session's number (CONNECTION_ID()); the wire says it in its greeting, before login. */
uint64_t db_server_next_id(struct db_server *server);

/* Bad database: e says so (1049, 1044), and nothing was made. */
int db_session_new(struct db_server *server, uint64_t id, const struct db_login *login,
    struct db_session **out, struct db_error *e) MUST_CHECK;
/* Rolls back, frees temporary tables, locks and prepared statements. NULL is fine. */
void db_session_free(struct db_session *s);
/* As after a new login with the same account: COM_RESET_CONNECTION. */
int db_session_reset(struct db_session *s, struct db_error *e) MUST_CHECK;

/* Status flags now; for packets that the wire makes itself. */
uint16_t db_session_status(const struct db_session *s);
/* Seconds a client may be silent, as its session variables say now. */
uint32_t db_session_wait_timeout(const struct db_session *s);
uint32_t db_session_max_packet(const struct db_session *s);
/* COM_SET_OPTION */
void db_session_set_multi(struct db_session *s, bool on);
/* COM_INIT_DB */
int db_session_use(struct db_session *s, struct str database, struct db_error *e) MUST_CHECK;
/* COM_QUERY: one statement, or several when the client may send them. Everything that goes wrong
 * with the SQL goes to the sink. */
void db_session_query(struct db_session *s, struct str text, const struct db_sink *sink);

/* COM_STMT_PREPARE. The statement lives until db_prepared_close() or the session's end or reset. */
int db_session_prepare(
    struct db_session *s, struct str text, struct db_prepared **out, struct db_error *e) MUST_CHECK;
uint32_t db_prepared_params(const struct db_prepared *p);
/* Columns of the result as far as they are known before execution (types of parameters may change
 * them); *n is 0 for statements without rows. Valid until close or the next execution. */
const struct db_column *db_prepared_columns(const struct db_prepared *p, uint32_t *n);
void db_session_execute(struct db_session *s, struct db_prepared *p, const struct db_value *params,
    uint32_t n_params, const struct db_sink *sink);
void db_prepared_close(struct db_prepared *p);

/* COM_FIELD_LIST: columns() of the table's columns whose names match the LIKE pattern, then end().
 */
void db_session_fields(
    struct db_session *s, struct str table, struct str pattern, const struct db_sink *sink);
/* COM_STATISTICS: one line; valid until the session's next call. */
struct str db_session_statistics(struct db_session *s);

/* KILL and COM_PROCESS_KILL: ends the session's statement, or its connection when !query_only
 * (its next wait for the client returns). From any thread. ERR_NOTFOUND. */
int db_server_kill(struct db_server *server, uint64_t id, bool query_only) MUST_CHECK;
/* Was the session killed? The wire asks after each command and while it waits. */
bool db_session_killed(const struct db_session *s);
/* Called with the session's number when it is killed, from the killer's thread, to wake its wait.
 */
void db_session_on_kill(struct db_session *s, void (*cb)(void *arg), void *arg);

#endif
