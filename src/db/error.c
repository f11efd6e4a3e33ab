/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"

static const struct {
    int number;
    char state[6];
    const char *format;
} rows[] = {
#define ROW(name, number, state, format) [DB_E_##name] = {number, state, format},
    DB_ERROR_LIST(ROW)
#undef ROW
};

/* A text that was cut ends before the character that did not fit. */
static void cut_character(char *text, size_t cap)
{
    size_t n = strlen(text);

    if (n + 1 < cap)
        return;
    while (n > 0 && ((unsigned char)text[n - 1] & 0xC0) == 0x80)
        n--;
    if (n > 0 && (unsigned char)text[n - 1] >= 0xC0)
        n--;
    if (!str_is_utf8(str_n(text, strlen(text))))
        text[n] = '\0';
}

/* The formats of rows[] are ours. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void fill(struct db_error *e, enum db_error_name name, const char *format, va_list args)
{
    e->number = rows[name].number;
    memcpy(e->state, rows[name].state, sizeof(e->state));
    vsnprintf(e->text, sizeof(e->text), format, args);
    cut_character(e->text, sizeof(e->text));
}
#pragma GCC diagnostic pop

int db_error_set(struct db_error *e, enum db_error_name name, ...)
{
    va_list args;

    va_start(args, name);
    fill(e, name, rows[name].format, args);
    va_end(args);
    return ERR_INVAL;
}

void db_error_vset(struct db_error *e, enum db_error_name name, va_list args)
{
    fill(e, name, rows[name].format, args);
}

int db_error_text(struct db_error *e, enum db_error_name name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill(e, name, format, args);
    va_end(args);
    return ERR_INVAL;
}

/* "\1" number ":" state ":" text; no message of SQLite begins with that byte. */
void db_error_pack(const struct db_error *e, char out[600])
{
    snprintf(out, 600, "\001%d:%s:%s", e->number, e->state, e->text);
}

bool db_error_unpack(const char *text, struct db_error *e)
{
    char *end;
    long number;

    if (!text || text[0] != '\001')
        return false;
    number = strtol(text + 1, &end, 10);
    if (*end != ':' || strlen(end) < 7 || end[6] != ':')
        return false;
    e->number = (int)number;
    memcpy(e->state, end + 1, 5);
    e->state[5] = '\0';
    snprintf(e->text, sizeof(e->text), "%s", end + 7);
    return true;
}
