/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_ERROR_PAGE_H
#define EPHPM_HTTP_ERROR_PAGE_H

/*
 * Bodies of the server's own error answers.  They name the status and nothing of the server.
 */

#include "base/buf.h"
#include "base/str.h"

enum error_page_kind { ERROR_PAGE_HTML, ERROR_PAGE_TEXT, ERROR_PAGE_JSON };

/* What Accept (p == NULL when absent) prefers; HTML in doubt. */
enum error_page_kind error_page_choose(struct str accept);
/* Content-Type of a kind. Static. */
struct str error_page_type(enum error_page_kind kind);
/* Appends the body for a status. detail (a sentence for the visitor) and request_id may be empty.
 */
void error_page_write(struct buf *out, enum error_page_kind kind, int status, struct str detail,
    struct str request_id);

/* A site's own page: path of a file for one status (404) or a class (4xx is 4, 5xx is 5). */
struct error_page_file {
    int status;
    struct str path;
};

/* "404", "4xx". ERR_INVAL. */
int error_page_parse_status(struct str s, int *status) MUST_CHECK;
/* The file for a status: exact before class; NULL when there is none. */
const struct error_page_file *error_page_find(
    const struct error_page_file *v, size_t n, int status);

#endif
