/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_ATTR_H
#define EPHPM_BASE_ATTR_H

/* Compiler attributes and the few macros that everything uses. */

#include <stddef.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define NORETURN   __attribute__((noreturn))
#define COLD       __attribute__((cold))
#ifdef __MINGW32__
#define PRINTF_LIKE(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#else
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#endif

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The struct that holds member m at address p. */
#define CONTAINER_OF(p, type, m) ((type *)(void *)((char *)(p) - offsetof(type, m)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
