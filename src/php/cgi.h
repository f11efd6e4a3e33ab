/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_CGI_H
#define EPHPM_PHP_CGI_H

/*
 * A stand-in for php-cgi on the SAPI of embed.h: one request from the environment and standard
 * input (RFC 3875), its response to standard output. What a script sees and what becomes of its
 * headers and output is the code that the server uses.
 *
 * Single-threaded, ends with the process: whoever calls embed_cgi_main() leaves with its result.
 *
 * cgi.c has the command line, start and stop, and the host; cgi_request.c makes a request of the
 * environment.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "php/embed.h"

/* Runs php-cgi with these arguments, argv[0] included, and returns the exit code.
 * process_title_init() comes first; argv stays valid. */
int embed_cgi_main(int argc, char **argv);

/* A request that was read from the environment. */
struct embed_cgi_request {
    struct embed_request req;
    /* private to cgi_request.c: what req points to */
    struct embed_field *headers;
    struct buf text;
    char script[4096];
};

/* Does the environment look like a web server's? */
bool embed_cgi_is_web(void);
/* Takes out of the environment what a client must not set. */
void embed_cgi_guard_environment(void);
/* Reads the request. file: of the command line, or EMBED_SCRIPT_STDIN, else NULL. split_path: look
 * for the script among the folders of a path that is no file (cgi.fix_pathinfo), which changes the
 * environment. argv (NULL-terminated): of a command line, becomes the query. ERR_NOTFOUND: there is
 * no such script; ERR_INVAL: a variable has no sense, err says which. out is for
 * embed_cgi_request_fini() then, too.
 */
int embed_cgi_request_read(struct embed_cgi_request *out, const char *file, bool split_path,
    char *const *argv, struct err *err) MUST_CHECK;
void embed_cgi_request_fini(struct embed_cgi_request *r);

#endif
