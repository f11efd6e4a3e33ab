/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_SQLCLIENT_H
#define EPHPM_CLI_SQLCLIENT_H

/*
 * A client of the MySQL protocol, for commands: statements as text, results row by row. Blocks.
 * What a call gives is valid until the next one on the same client.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "db/type.h"
#include "platform/sock.h"

struct sqlclient_login {
    const char *socket; /* path of a Unix socket */
    const char *user;
    const char *password;
    const char *database; /* "": none */
};

struct sqlclient_column {
    struct str name;
    uint8_t type; /* the protocol's number */
    uint16_t charset;
    uint16_t flags;
};

struct sqlclient {
    sock_t fd;
    struct buf in;
    size_t used; /* of in: the last packet */
    uint8_t seq;
    int number;      /* of the last error of the server's; 0: there was none */
    char error[512]; /* its text, or what became of the connection */
    uint16_t status;
    /* the result that is being read */
    struct arena arena;
    struct sqlclient_column *columns;
    uint32_t ncolumns; /* 0: it has no rows */
    uint64_t affected;
    struct str *row; /* ncolumns; p NULL: NULL */
};

/* On failure error says why, and nothing is open. */
int sqlclient_open(struct sqlclient *c, const struct sqlclient_login *l) MUST_CHECK;
void sqlclient_close(struct sqlclient *c);
/* Sends a statement, and reads the beginning of its first result. ERR_INVAL: an error of the
 * server's; the connection goes on. Else it is over. */
int sqlclient_query(struct sqlclient *c, struct str text) MUST_CHECK;
/* The next row, in c->row; ERR_EOF at the end. To be called until then when there are columns. */
int sqlclient_row(struct sqlclient *c) MUST_CHECK;
/* After the last row: the next result of the same text. ERR_EOF: there is none. */
int sqlclient_more(struct sqlclient *c) MUST_CHECK;

#endif
