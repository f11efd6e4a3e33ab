/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_CONN_H
#define EPHPM_DB_MYSQL_CONN_H

/*
 * Private to mysql/: one connection, which its thread owns from greeting to end. Answers gather in
 * `out` and leave with one write at the end of a command, or when there are MYSQL_FLUSH bytes.
 */

#include <stdatomic.h>

#include "base/arena.h"
#include "base/list.h"
#include "db/mysql/auth.h"
#include "db/mysql/io.h"
#include "db/mysql/server.h"
#include "db/mysql/value.h"
#include "db/session.h"

enum {
    MYSQL_FLUSH = 64 << 10,
    MYSQL_KEEP = 64 << 10,        /* larger buffers are given back after a command */
    MYSQL_LOGIN_MAX = 128 << 10,  /* bytes of a packet before the client is known */
    MYSQL_STATEMENTS = 16382,     /* of a connection at the same time */
    MYSQL_CURSOR_MAX = 256 << 20, /* bytes of the rows behind a cursor */
};

struct mysql_statement;

struct mysql_conn {
    struct list node; /* in the server's list; its lock */
    struct list wait; /* in its queue, until a thread has it */
    struct mysql_server *server;
    sock_t fd;
    _Atomic bool ending; /* the server stops, or the session was killed */
    bool local;          /* came by the Unix socket */
    char host[SOCK_ADDR_TEXT];
    /* the thread's */
    struct mysql_io io;
    uint64_t id;
    uint8_t scramble[MYSQL_SCRAMBLE];
    uint32_t capabilities;
    struct db_session *session; /* NULL until logged in */
    struct buf in;              /* bytes that came, from a packet's header on */
    size_t used;                /* of them: belong to the payload that was given out */
    struct buf out;
    uint8_t seq;                         /* of the next packet, theirs or ours */
    int failed;                          /* the client is gone: nothing more is sent */
    struct arena arena;                  /* one command's */
    struct mysql_statement **statements; /* by number */
    uint32_t nstatements, cap_statements, last_statement;
};

/* server.c */
struct mysql_secret;
/* A copy of the account; false when there is none. Any thread. */
bool mysql_server_find(struct mysql_server *s, struct str user, struct mysql_secret *secret,
    char *database, size_t cap);
const struct mysql_options *mysql_server_options(const struct mysql_server *s);
const struct mysql_tls *mysql_server_tls(const struct mysql_server *s); /* NULL: none */
struct mysql_rsa *mysql_server_rsa(const struct mysql_server *s);
bool mysql_server_stops(const struct mysql_server *s);

/* conn.c */
/* From greeting to end. */
void mysql_conn_run(struct mysql_conn *c);
/* The next payload of at most max bytes, whose packets begin with the number seq; valid until the
 * next call. An error was answered, if it was the client's: the connection ends. exact: not a byte
 * more is taken from the socket. */
int mysql_conn_read(struct mysql_conn *c, size_t max, bool exact, struct str *payload) MUST_CHECK;
/* Sends what has gathered. */
int mysql_conn_flush(struct mysql_conn *c);

/* login.c */
/* Greets and logs in. An error was answered. */
int mysql_login_first(struct mysql_conn *c) MUST_CHECK;
/* COM_CHANGE_USER. */
int mysql_login_again(struct mysql_conn *c, struct str payload) MUST_CHECK;

/* command.c */
/* One command and its answer. False: the connection ends. */
bool mysql_command(struct mysql_conn *c, struct str payload);

/* statement.c: the commands on prepared statements; payload without the command's byte. */
void mysql_statement_prepare(struct mysql_conn *c, struct str payload);
void mysql_statement_execute(struct mysql_conn *c, struct str payload);
void mysql_statement_fetch(struct mysql_conn *c, struct str payload);
void mysql_statement_long_data(struct mysql_conn *c, struct str payload);
void mysql_statement_reset(struct mysql_conn *c, struct str payload);
void mysql_statement_close(struct mysql_conn *c, struct str payload);
/* All of them, before the session goes or is reset. gone: the session has closed its part. */
void mysql_statement_close_all(struct mysql_conn *c, bool gone);

/* answer.c */
void mysql_answer_ok(struct mysql_conn *c, const struct db_ok *ok);
/* OK with the session's status and nothing else. */
void mysql_answer_done(struct mysql_conn *c);
/* The end of columns or rows, in the form that the client knows. */
void mysql_answer_eof(struct mysql_conn *c, uint16_t status, uint16_t warnings);
void mysql_answer_error(struct mysql_conn *c, const struct db_error *e);
void mysql_answer_column(struct mysql_conn *c, const struct db_column *col);
static inline bool mysql_knows_no_eof(const struct mysql_conn *c)
{
    return (c->capabilities & MYSQL_DEPRECATE_EOF) != 0;
}

/* How results reach the client; the sink of one command. */
struct mysql_answer {
    struct mysql_conn *conn;
    bool binary;
    bool fields;                    /* COM_FIELD_LIST: columns alone */
    struct mysql_statement *cursor; /* its rows are kept, to be fetched */
    struct db_column *columns;      /* what rows are encoded by; in the connection's arena */
    uint32_t ncolumns;
    size_t began; /* where in `out` a result with a cursor begins */
    uint8_t began_seq;
    bool ended;
};
struct db_sink mysql_answer_sink(struct mysql_answer *a);

/* statement.c, for the sink */
/* The cursor's rows begin, a row comes (its payload), they end. */
void mysql_cursor_open(struct mysql_statement *s, const struct db_column *columns, uint32_t n);
int mysql_cursor_row(struct mysql_statement *s, const struct db_value *values);
void mysql_cursor_end(struct mysql_statement *s);
void mysql_cursor_drop(struct mysql_statement *s);

#endif
