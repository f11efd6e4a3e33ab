/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_DB_STORE_FIXTURE_H
#define EPHPM_TESTS_UNIT_DB_STORE_FIXTURE_H

/*
 * A server with the database "app" in a folder of its own, and sessions whose answers are texts:
 *
 *     a|b            the columns' names
 *     1|NULL         a row
 *     ok 2           affected rows; "id 7" and "w1" (warnings) when not 0, the info in parentheses
 *     1146 42S02 Table 'app.t' doesn't exist
 *
 * Answers of several statements follow one another.
 */

#include "base/buf.h"
#include "db/session.h"
#include "db/store/server.h"
#include "unit/test.h"

struct fixture {
    char dir[64];
    char path[96];
    struct db_stats stats;
    struct db_server_config config; /* may be changed before fixture_start() */
    struct db_file file;
    struct db_server *server;
};

/* A session and its last answer; one thread. */
struct client {
    struct db_session *s;
    struct buf out;
    uint64_t id;
};

/* One statement and what it answers; want NULL: anything that is not an error. */
struct step {
    const char *sql;
    const char *want;
};

void fixture_init(struct fixture *f);
void fixture_start(struct fixture *f);
void fixture_stop(struct fixture *f);
/* Stops, and removes the folder. */
void fixture_fini(struct fixture *f);

void client_open(struct client *c, struct fixture *f, uint32_t flags);
void client_close(struct client *c);
/* The answer, valid until the client's next one. */
const char *client_run(struct client *c, const char *sql);
const char *client_execute(
    struct client *c, const char *sql, const struct db_value *params, uint32_t n);
/* The first row's first value as a number, -1: none. */
long long client_number(struct client *c, const char *sql);
void check_steps(struct client *c, const struct step *steps, const char *file, int line);
#define CHECK_STEPS(c, steps) check_steps(c, steps, __FILE__, __LINE__)
/* A server, a session, the steps. */
void check_alone(const struct step *steps, const char *file, int line);
#define CHECK_ALONE(steps) check_alone(steps, __FILE__, __LINE__)

#endif
