/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

const char *err_text(int code)
{
    switch (code) {
    case ERR_OK:
        return "success";
#define ERR_CASE(name, value, text) \
    case value:                     \
        return text;
        ERR_LIST(ERR_CASE)
#undef ERR_CASE
    default:
        return "unknown error";
    }
}

PRINTF_LIKE(5, 0)
static int err_vset(struct err *e, int code, int line, int col, const char *fmt, va_list ap)
{
    if (!e)
        return code;
    e->code = code;
    e->line = line;
    e->col = col;
    (void)vsnprintf(e->text, sizeof(e->text), fmt, ap); /* a cut text is still the text */
    return code;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, code, 0, 0, fmt, ap);
    va_end(ap);
    return code;
}

int err_set_at(struct err *e, int code, int line, int col, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(e, code, line, col, fmt, ap);
    va_end(ap);
    return code;
}
