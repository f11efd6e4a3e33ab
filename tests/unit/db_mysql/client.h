/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_DB_MYSQL_CLIENT_H
#define EPHPM_TESTS_DB_MYSQL_CLIENT_H

/*
 * A client of the protocol that does what tests want, also wrongly. Blocking; a failure of the
 * connection shows as packets that are empty.
 */

#include "base/buf.h"
#include "db/mysql/auth.h"
#include "db/stats.h"
#include "platform/sock.h"

struct db_server;
struct mysql_server;

/* A server with the test engine on a loop of its own thread. */
struct test_server {
    struct db_server *engine;
    struct mysql_server *server;
    struct db_stats stats;
    char path[64];
    uint64_t stopped_ms; /* how long it took to end */
    /* private */
    struct test_loop *loop;
};

/* Accounts: bob with "secret", nil without a password. */
void test_server_start(struct test_server *s, unsigned max_connections);
void test_server_stop(struct test_server *s);

struct test_client {
    sock_t fd;
    struct buf in;
    struct str payload; /* the last packet's, until the next one */
    uint8_t seq;        /* of the last packet */
    uint8_t scramble[MYSQL_SCRAMBLE];
    uint64_t id;
};

void client_open(struct test_client *c, const struct test_server *s);
void client_close(struct test_client *c);
/* Logs in; the last packet is OK or the error. */
void client_login(struct test_client *c, const char *user, const char *password,
    enum mysql_plugin plugin, const char *database, uint32_t capabilities);
/* Open and logged in as bob. */
void client_begin(struct test_client *c, const struct test_server *s, uint32_t capabilities);
void client_send(struct test_client *c, uint8_t seq, struct str payload);
/* The next packet; false at the end of the connection. */
bool client_read(struct test_client *c);
/* A command and the first packet of its answer. */
void client_command(struct test_client *c, uint8_t command, struct str rest);
void client_query(struct test_client *c, const char *text);
/* Reads a result's packets up to the one that ends it (EOF, OK, error); the count of rows. */
unsigned client_rows(struct test_client *c, bool deprecate_eof);
/* Of the last packet: is it an error, with that number? */
int client_error(const struct test_client *c);
bool client_is_ok(const struct test_client *c);

#endif
