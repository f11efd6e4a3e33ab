/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_COMPAT_H
#define EPHPM_PHP_COMPAT_H

/*
 * PHP's headers, and all differences between PHP 8.2 and 8.5 that the php folder meets.  The only
 * place for PHP_VERSION_ID.  Include it instead of PHP's own headers.
 */

#include "php.h"

#include "SAPI.h"
#include "ext/random/php_random.h"
#include "ext/standard/basic_functions.h"
#include "ext/standard/head.h"
#include "ext/standard/php_standard.h"
#include "ext/standard/php_var.h"
#include "php_ini.h"
#include "php_main.h"
#include "php_output.h"
#include "php_variables.h"
#include "zend_exceptions.h"
#include "zend_extensions.h"
#include "zend_interfaces.h"
#include "zend_observer.h"
#include "zend_signal.h"
#include "zend_smart_str.h"
#include "zend_stream.h"
#include "zend_vm.h"

/* What the patches in sdk/patches add, each with a macro of its own; a distribution's PHP does not
 * have the header. */
#if __has_include("zend_ephpm.h")
#include "zend_ephpm.h"
#endif

/* A PHP without sessions does not have the header. */
#if __has_include("ext/session/php_session.h")
#include "ext/session/php_session.h"
#define COMPAT_SESSION 1
#else
#define COMPAT_SESSION 0
#endif

/* Ours (base/attr.h) evaluate the same. */
#undef MIN
#undef MAX

#if PHP_VERSION_ID < 80200 || PHP_VERSION_ID >= 80600
#error "PHP 8.2 to 8.5 are supported"
#endif
#ifdef ZTS
#error "a non-thread-safe PHP is needed"
#endif

/* New random state: the values drawn before a fork must not repeat in its children. */
static inline void compat_random_reset(void)
{
    RANDOM_G(combined_lcg_seeded) = false;
    RANDOM_G(mt19937_seeded) = false;
#if PHP_VERSION_ID >= 80400
    RANDOM_G(fallback_seed_state).initialized = false;
#endif
}

/* In the newer versions; weak, since it came within a minor version's life. */
extern void php_child_init(void) __attribute__((weak));

/* Exported, but in no header. */
extern PHPAPI char *php_ini_opened_path;
extern PHPAPI char *php_ini_scanned_path;
extern PHPAPI char *php_ini_scanned_files;

/* What PHP itself wants done in a forked child (fresh keys of the memory manager, timers). */
static inline void compat_child_init(void)
{
    if (php_child_init)
        php_child_init();
}

/* 8.2 installs seven signal handlers at each request start unless told that nobody replaces them.
 */
static inline void compat_signals_once(void)
{
#ifdef ZEND_SIGNALS
    SIGG(reset) = 0;
#endif
}

static inline void compat_signals_startup(void)
{
#ifdef ZEND_SIGNALS
    zend_signal_startup();
#endif
}

/* Whether timer.c can stand in for PHP's timer: it is the one of POSIX interval timers. */
#if defined(ZEND_MAX_EXECUTION_TIMERS) || defined(ZEND_WIN32)
#define COMPAT_OWN_TIMER 0
#else
#define COMPAT_OWN_TIMER 1
#endif

/* How it does: by PHP's hooks, or by functions of the same name, which the dynamic linker prefers
 * to those of a libphp.so. */
#ifdef ZEND_EPHPM_TIMER_HOOKS
#define COMPAT_TIMER_HOOKS 1
#else
#define COMPAT_TIMER_HOOKS 0
#endif

/* What the stock command does, by version. */
#if PHP_VERSION_ID >= 80500
#define COMPAT_CLI_ARGV      "" /* $argv is there without the setting */
#define COMPAT_CLI_Z(option)    /* -z is gone */
#define COMPAT_CLI_INI_PARAM 2  /* --ini=diff */
#define COMPAT_CLI_INI_PATH  "\"%s\""
static inline const char *compat_ini_default(const zend_ini_entry *e)
{
    return e->def->value;
}
#else
#define COMPAT_CLI_ARGV      "register_argc_argv=1\n"
#define COMPAT_CLI_Z(option) option,
#define COMPAT_CLI_INI_PARAM 0
#define COMPAT_CLI_INI_PATH  "%s"
static inline const char *compat_ini_default(const zend_ini_entry *e)
{
    (void)e;
    return NULL; /* it is not asked for */
}
#endif
enum {
    COMPAT_HAS_OPCACHE = PHP_VERSION_ID >= 80500,    /* built in; before, an extension to load */
    COMPAT_LINTS_MANY = PHP_VERSION_ID >= 80300,     /* php -l takes several files */
    COMPAT_STDIN_OF_STDIN = PHP_VERSION_ID >= 80400, /* STDIN for a program on standard input */
    COMPAT_REFUSES_ON_STDERR = PHP_VERSION_ID >= 80400,
    COMPAT_CGI_SAYS_NTS = PHP_VERSION_ID >= 80400,          /* php-cgi -v */
    COMPAT_SERVES_INDEX_FOR_DOTS = PHP_VERSION_ID >= 80400, /* php -S */
};

/* Are there allocations that may fail, in this version's headers? */
#ifdef HASH_FALLIBLE
#define COMPAT_FALLIBLE 1
#else
#define COMPAT_FALLIBLE 0
#endif

/*
 * A string as long as somebody else chose. NULL: memory_limit is reached, and PHP ends the script
 * when the function that called returns. Without allocations that can fail it ends it at once, and
 * does not return; with them it ends the whole process when others go far beyond the limit.
 */
static inline zend_string *compat_string(const char *p, size_t n)
{
#if COMPAT_FALLIBLE
    return zend_string_finit(p, n, false, true);
#else
    return zend_string_init(p, n, false);
#endif
}

static inline const char *compat_vm_kind(void)
{
    switch (zend_vm_kind()) {
    case ZEND_VM_KIND_CALL:
        return "CALL";
    case ZEND_VM_KIND_SWITCH:
        return "SWITCH";
    case ZEND_VM_KIND_GOTO:
        return "GOTO";
    case ZEND_VM_KIND_HYBRID:
        return "HYBRID";
    default:
        return "TAILCALL";
    }
}

/* From 8.5 on the JIT speaks the tail calls' convention, too. */
static inline bool compat_vm_has_jit(void)
{
    int kind = zend_vm_kind();

    return kind == ZEND_VM_KIND_CALL || kind == ZEND_VM_KIND_HYBRID ||
           (PHP_VERSION_ID >= 80500 && strcmp(compat_vm_kind(), "TAILCALL") == 0);
}

#endif
