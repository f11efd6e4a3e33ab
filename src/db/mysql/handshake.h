/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_HANDSHAKE_H
#define EPHPM_DB_MYSQL_HANDSHAKE_H

/*
 * The first packets of a connection: the server's greeting, what the client answers, and the
 * packets of authentication. Pure: bytes in, bytes out; who is let in is decided in auth.h.
 */

#include "db/mysql/packet.h"

enum mysql_capability {
    MYSQL_LONG_PASSWORD = 1 << 0,
    MYSQL_FOUND_ROWS = 1 << 1,
    MYSQL_LONG_FLAG = 1 << 2,
    MYSQL_CONNECT_WITH_DB = 1 << 3,
    MYSQL_NO_SCHEMA = 1 << 4,
    MYSQL_COMPRESS = 1 << 5,
    MYSQL_LOCAL_FILES = 1 << 7,
    MYSQL_IGNORE_SPACE = 1 << 8,
    MYSQL_PROTOCOL_41 = 1 << 9,
    MYSQL_INTERACTIVE = 1 << 10,
    MYSQL_SSL = 1 << 11,
    MYSQL_TRANSACTIONS = 1 << 13,
    MYSQL_SECURE_CONNECTION = 1 << 15,
    MYSQL_MULTI_STATEMENTS = 1 << 16,
    MYSQL_MULTI_RESULTS = 1 << 17,
    MYSQL_PS_MULTI_RESULTS = 1 << 18,
    MYSQL_PLUGIN_AUTH = 1 << 19,
    MYSQL_CONNECT_ATTRS = 1 << 20,
    MYSQL_PLUGIN_AUTH_LENENC = 1 << 21,
    MYSQL_DEPRECATE_EOF = 1 << 24,
    /* What the greeting offers; MYSQL_SSL besides when there is a certificate. */
    MYSQL_CAPABILITIES = MYSQL_LONG_PASSWORD | MYSQL_FOUND_ROWS | MYSQL_LONG_FLAG |
                         MYSQL_CONNECT_WITH_DB | MYSQL_NO_SCHEMA | MYSQL_IGNORE_SPACE |
                         MYSQL_PROTOCOL_41 | MYSQL_INTERACTIVE | MYSQL_TRANSACTIONS |
                         MYSQL_SECURE_CONNECTION | MYSQL_MULTI_STATEMENTS | MYSQL_MULTI_RESULTS |
                         MYSQL_PS_MULTI_RESULTS | MYSQL_PLUGIN_AUTH | MYSQL_CONNECT_ATTRS |
                         MYSQL_PLUGIN_AUTH_LENENC | MYSQL_DEPRECATE_EOF,
};

enum { MYSQL_SCRAMBLE = 20, MYSQL_CHARSET = 45 /* utf8mb4_general_ci */ };

/* The one in the greeting, in VERSION() and in @@version. */
#define MYSQL_VERSION "8.0.36-ephpm"

/* How a password is proved. */
enum mysql_plugin {
    MYSQL_PLUGIN_UNKNOWN,
    MYSQL_PLUGIN_NATIVE,
    MYSQL_PLUGIN_SHA2,
    MYSQL_PLUGIN_GREETED = MYSQL_PLUGIN_SHA2
};

enum mysql_plugin mysql_plugin_find(struct str name);
struct str mysql_plugin_name(enum mysql_plugin p);

struct mysql_greeting {
    uint64_t id;
    uint32_t capabilities;
    uint16_t status;
    const uint8_t *scramble; /* MYSQL_SCRAMBLE bytes, none of them 0 */
};

/* Appends the payload. */
void mysql_put_greeting(struct buf *b, const struct mysql_greeting *g);

/* What a client wants. Borrows from the payload. */
struct mysql_login {
    uint32_t capabilities;
    uint32_t max_packet;
    uint8_t charset;
    bool wants_tls; /* an SSLRequest: TLS begins now, and the answer comes again */
    struct str user;
    struct str auth; /* the proof */
    struct str database;
    enum mysql_plugin plugin; /* UNKNOWN: one that we have not */
};

/* The client's answer to the greeting, or an SSLRequest. ERR_PROTO. */
int mysql_parse_login(struct str payload, struct mysql_login *out) MUST_CHECK;
/* COM_CHANGE_USER's payload after the command's byte, of a client with those capabilities. Only
 * user, auth, database, charset and plugin are set. ERR_PROTO. */
int mysql_parse_change_user(
    struct str payload, uint32_t capabilities, struct mysql_login *out) MUST_CHECK;

/* "Prove it in that way." */
void mysql_put_auth_switch(struct buf *b, enum mysql_plugin p, const uint8_t *scramble);
/* More of the exchange of caching_sha2_password. */
void mysql_put_auth_more(struct buf *b, struct str data);
enum { MYSQL_AUTH_PUBLIC_KEY = 2, MYSQL_AUTH_FAST = 3, MYSQL_AUTH_FULL = 4 };

#endif
