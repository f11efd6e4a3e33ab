/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_LOG_H
#define EPHPM_CORE_LOG_H

/*
 * The log: one line per event, written with one system call.
 *
 * A line has a time, a level, the role that wrote it, an event name and fields:
 *     2026-01-31T12:00:00.123Z warn front: worker_died site=default pid=4711 signal=SIGSEGV uri="/a
 * b" or, as JSON, one object with the same names.  alert means "our bug" and fails tests; error
 * needs an operator; warn may; info is life cycle; debug and trace are for us.
 *
 * The sink is the one mutable global of the program.  log_emit() may be called from any thread; it
 * never blocks for long: when the descriptor is a full pipe the line is dropped and counted, and
 * the next line that gets through says how many were.  Values are escaped, so that no input can
 * forge a line.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum log_level { LOG_ALERT, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };
enum log_format { LOG_TEXT, LOG_JSON };

enum log_kind {
    LOG_KIND_END,
    LOG_KIND_STR,
    LOG_KIND_INT,
    LOG_KIND_UINT,
    LOG_KIND_FLOAT,
    LOG_KIND_BOOL
};

struct log_field {
    enum log_kind kind;
    const char *key;
    struct str s; /* an unset one (p == NULL) is left out of the line */
    int64_t i;
    uint64_t u;
    double f;
};

#define F_STR(key_, str_)   ((struct log_field){.kind = LOG_KIND_STR, .key = (key_), .s = (str_)})
#define F_CSTR(key_, cstr_) F_STR(key_, str_c(cstr_))
#define F_INT(key_, v_)     ((struct log_field){.kind = LOG_KIND_INT, .key = (key_), .i = (v_)})
#define F_UINT(key_, v_)    ((struct log_field){.kind = LOG_KIND_UINT, .key = (key_), .u = (v_)})
#define F_FLOAT(key_, v_)   ((struct log_field){.kind = LOG_KIND_FLOAT, .key = (key_), .f = (v_)})
#define F_BOOL(key_, v_)    ((struct log_field){.kind = LOG_KIND_BOOL, .key = (key_), .u = (v_)})
/* err_text() of a code under "error". */
#define F_ERR(code_) F_CSTR("error", err_text(code_))

/* Lines go to fd (default 2, never closed here). role is copied. With fd 2 and a $JOURNAL_STREAM
 * that is ours, each line starts with "<N>". */
void log_init(const char *role, int fd, enum log_format format, enum log_level level);
void log_set_level(enum log_level level);
void log_set_role(const char *role);
enum log_level log_get_level(void);
/* "alert error warn info debug trace". ERR_INVAL. */
int log_level_parse(struct str s, enum log_level *out) MUST_CHECK;
const char *log_level_name(enum log_level level);

bool log_enabled(enum log_level level);
/* fields end with kind LOG_KIND_END. */
void log_emit(enum log_level level, const char *event, const struct log_field *fields);

#define LOG_AT(level_, event_, ...)                                                            \
    do {                                                                                       \
        if (log_enabled(level_))                                                               \
            log_emit(level_, event_,                                                           \
                (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){.kind = LOG_KIND_END}}); \
    } while (0)
#define log_alert(...) LOG_AT(LOG_ALERT, __VA_ARGS__)
#define log_error(...) LOG_AT(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  LOG_AT(LOG_WARN, __VA_ARGS__)
#define log_info(...)  LOG_AT(LOG_INFO, __VA_ARGS__)
#define log_debug(...) LOG_AT(LOG_DEBUG, __VA_ARGS__)
#define log_trace(...) LOG_AT(LOG_TRACE, __VA_ARGS__)

#endif
