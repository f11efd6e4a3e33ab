/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Logins: never beyond the payload, and what is taken from it lies in it. */
#include "base/mem.h"
#include "db/mysql/handshake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct str part, struct str whole)
{
    ENSURE(part.len == 0 || (part.p >= whole.p && part.p + part.len <= whole.p + whole.len));
}

static void check(const struct mysql_login *m, struct str payload)
{
    check_within(m->user, payload);
    check_within(m->auth, payload);
    check_within(m->database, payload);
    ENSURE(str_chr(m->user, '\0') < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mysql_login m;
    uint32_t capabilities = MYSQL_CAPABILITIES;
    char *copy;

    if (size < 1)
        return 0;
    copy = mem_new(size - 1);
    memcpy(copy, data + 1, size - 1);
    if (mysql_parse_login(str_n(copy, size - 1), &m) == 0) {
        check(&m, str_n(copy, size - 1));
        ENSURE(m.capabilities & MYSQL_PROTOCOL_41);
    }
    if (data[0] & 1)
        capabilities &= ~(uint32_t)MYSQL_PLUGIN_AUTH;
    if (data[0] & 2)
        capabilities &= ~(uint32_t)MYSQL_CONNECT_ATTRS;
    if (mysql_parse_change_user(str_n(copy, size - 1), capabilities, &m) == 0)
        check(&m, str_n(copy, size - 1));
    mem_free(copy);
    return 0;
}
