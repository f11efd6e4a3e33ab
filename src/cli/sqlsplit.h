/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_SQLSPLIT_H
#define EPHPM_CLI_SQLSPLIT_H

/*
 * Divides a text into statements, as the clients of MySQL do: at semicolons that are not in quotes
 * or comments, or at what a line `DELIMITER //` says. Pure; text comes in pieces.
 */

#include "base/buf.h"

struct sqlsplit {
    struct buf text;   /* what has come and was not given out */
    unsigned line;     /* of the statement that was given out last, from 1 on */
    bool no_backslash; /* sql_mode has NO_BACKSLASH_ESCAPES */
    /* private to sqlsplit.c */
    size_t at; /* looked at so far */
    unsigned at_line;
    int state;
    char quote;
    bool begun; /* a statement, or a comment before it */
    bool solid; /* and it is more than comments */
    char delimiter[16];
};

void sqlsplit_init(struct sqlsplit *s);
void sqlsplit_fini(struct sqlsplit *s);
void sqlsplit_add(struct sqlsplit *s, struct str text);
/* The next statement without its delimiter, valid until the next call; false when none is complete.
 * end: nothing more comes, so the rest is one, too. Those that are
 * empty, or comments, are left out. */
bool sqlsplit_next(struct sqlsplit *s, bool end, struct str *statement);

#endif
