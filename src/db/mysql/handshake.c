/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/handshake.h"

#include "base/err.h"

enum {
    PROTOCOL_VERSION = 10,
    SCRAMBLE_1 = 8, /* so much of it comes before the rest of the capabilities */
    LOGIN_FILLER = 23,
    AUTH_SWITCH = 0xfe,
    AUTH_MORE = 1
};

static const struct {
    enum mysql_plugin plugin;
    struct str name;
} plugins[] = {
    {MYSQL_PLUGIN_NATIVE, STR("mysql_native_password")},
    {MYSQL_PLUGIN_SHA2, STR("caching_sha2_password")},
};

enum mysql_plugin mysql_plugin_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        if (str_eq(name, plugins[i].name))
            return plugins[i].plugin;
    }
    return MYSQL_PLUGIN_UNKNOWN;
}

struct str mysql_plugin_name(enum mysql_plugin p)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        if (plugins[i].plugin == p)
            return plugins[i].name;
    }
    return STR_NONE;
}

static void put_nul(struct buf *b, struct str s)
{
    buf_add_str(b, s);
    buf_add_char(b, '\0');
}

void mysql_put_greeting(struct buf *b, const struct mysql_greeting *g)
{
    buf_add_char(b, PROTOCOL_VERSION);
    put_nul(b, STR(MYSQL_VERSION));
    mysql_put_int(b, g->id, 4);
    buf_add(b, g->scramble, SCRAMBLE_1);
    buf_add_char(b, '\0');
    mysql_put_int(b, g->capabilities, 2);
    mysql_put_int(b, MYSQL_CHARSET, 1);
    mysql_put_int(b, g->status, 2);
    mysql_put_int(b, g->capabilities >> 16, 2);
    mysql_put_int(b, MYSQL_SCRAMBLE + 1, 1);
    mysql_put_int(b, 0, 8);
    mysql_put_int(b, 0, 2);
    buf_add(b, g->scramble + SCRAMBLE_1, MYSQL_SCRAMBLE - SCRAMBLE_1);
    buf_add_char(b, '\0');
    put_nul(b, mysql_plugin_name(MYSQL_PLUGIN_GREETED));
}

/* Names and values of what the client is; they are only checked. */
static void parse_attributes(struct mysql_reader *r)
{
    struct mysql_reader in = mysql_reader(mysql_read_lenstr(r));

    while (in.rest.len && !in.bad) {
        (void)mysql_read_lenstr(&in); /* name */
        (void)mysql_read_lenstr(&in); /* value */
    }
    r->bad = r->bad || in.bad;
}

static void parse_plugin_and_attributes(
    struct mysql_reader *r, uint32_t capabilities, struct mysql_login *l)
{
    l->plugin = MYSQL_PLUGIN_NATIVE;
    if (capabilities & MYSQL_PLUGIN_AUTH && r->rest.len)
        l->plugin = mysql_plugin_find(mysql_read_nul_or_end(r));
    if (capabilities & MYSQL_CONNECT_ATTRS && r->rest.len)
        parse_attributes(r);
}

int mysql_parse_login(struct str payload, struct mysql_login *out)
{
    struct mysql_reader r = mysql_reader(payload);
    struct mysql_login l = {0};

    l.capabilities = (uint32_t)mysql_read_int(&r, 4);
    /* Without these it is a client of before 2004, whose packet looks different. */
    if (!(l.capabilities & MYSQL_PROTOCOL_41) || !(l.capabilities & MYSQL_SECURE_CONNECTION))
        return ERR_PROTO;
    l.max_packet = (uint32_t)mysql_read_int(&r, 4);
    l.charset = (uint8_t)mysql_read_int(&r, 1);
    (void)mysql_read_bytes(&r, LOGIN_FILLER);
    if (r.bad)
        return ERR_PROTO;
    if (l.capabilities & MYSQL_SSL && r.rest.len == 0) {
        l.wants_tls = true;
        *out = l;
        return 0;
    }
    l.user = mysql_read_nul(&r);
    if (l.capabilities & MYSQL_PLUGIN_AUTH_LENENC)
        l.auth = mysql_read_lenstr(&r);
    else
        l.auth = mysql_read_bytes(&r, mysql_read_int(&r, 1));
    if (l.capabilities & MYSQL_CONNECT_WITH_DB && r.rest.len)
        l.database = mysql_read_nul_or_end(&r);
    parse_plugin_and_attributes(&r, l.capabilities, &l);
    if (r.bad)
        return ERR_PROTO;
    *out = l;
    return 0;
}

int mysql_parse_change_user(struct str payload, uint32_t capabilities, struct mysql_login *out)
{
    struct mysql_reader r = mysql_reader(payload);
    struct mysql_login l = {.capabilities = capabilities, .charset = MYSQL_CHARSET};

    l.user = mysql_read_nul(&r);
    l.auth = mysql_read_bytes(&r, mysql_read_int(&r, 1));
    l.database = mysql_read_nul_or_end(&r);
    if (r.rest.len)
        l.charset = (uint8_t)mysql_read_int(&r, 2);
    parse_plugin_and_attributes(&r, capabilities, &l);
    if (r.bad)
        return ERR_PROTO;
    *out = l;
    return 0;
}

void mysql_put_auth_switch(struct buf *b, enum mysql_plugin p, const uint8_t *scramble)
{
    buf_add_char(b, (char)AUTH_SWITCH);
    put_nul(b, mysql_plugin_name(p));
    buf_add(b, scramble, MYSQL_SCRAMBLE);
    buf_add_char(b, '\0');
}

void mysql_put_auth_more(struct buf *b, struct str data)
{
    buf_add_char(b, AUTH_MORE);
    buf_add_str(b, data);
}
