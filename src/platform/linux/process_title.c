/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * The title that ps shows lies where the kernel put the arguments, with the environment right
 * behind.  Both are copied elsewhere once, and the whole area becomes room for titles.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/process.h"

enum { PROCESS_TITLE_MAX = 256 };

/* Of the process as such, like the memory they describe; set by process_title_init() in main. */
static char *process_title_area;
static size_t process_title_size;
static size_t process_title_used; /* bytes that may not be 0 */
static bool process_title_own;    /* what is there is a title, no longer the arguments */
/* The copied environment; setenv() moves on to an array of its own, the strings stay in use. */
static char **process_title_env __attribute__((used));

/* Grows end while the strings lie one behind the other. */
static char *process_title_extend(char *end, char *const *strings)
{
    for (; *strings; strings++)
        if (*strings == end)
            end += strlen(*strings) + 1;
    return end;
}

void process_title_init(int argc, char **argv)
{
    char *end, **env;
    size_t n = 0;

    if (process_title_area || argc < 1 || !argv[0])
        return;
    end = process_title_extend(argv[0], argv);
    end = process_title_extend(end, environ);
    process_title_area = argv[0];
    process_title_size = (size_t)(end - argv[0]);
    process_title_used = process_title_size;
    while (environ[n])
        n++;
    /* These copies live as long as the process, so nothing frees them. */
    env = mem_new_array(n + 1, sizeof(*env));
    for (size_t i = 0; i < n; i++)
        env[i] = mem_dup_str(environ[i], strlen(environ[i]));
    environ = process_title_env = env;
    for (int i = 0; i < argc; i++)
        argv[i] = mem_dup_str(argv[i], strlen(argv[i]));
    /* libc prints it in its messages and points into the area, too. */
    program_invocation_name = argv[0];
    program_invocation_short_name = strrchr(argv[0], '/');
    program_invocation_short_name =
        program_invocation_short_name ? program_invocation_short_name + 1 : argv[0];
}

/* The kernel's own name has 15 bytes: "ephpm: worker x" gives "ephpm:worker x". */
static void process_set_short_name(const char *title)
{
    static char last[16]; /* a worker changes its title twice per request, this name never */
    char name[16];
    size_t n = 0;

    for (const char *p = title; *p && n < sizeof(name) - 1; p++)
        if (*p != ' ' || p == title || p[-1] != ':')
            name[n++] = *p;
    name[n] = '\0';
    if (strcmp(name, last) == 0)
        return;
    memcpy(last, name, sizeof(last));
    (void)prctl(PR_SET_NAME, name, 0, 0, 0); /* cannot fail */
}

static void process_title_show(const char *title, size_t n)
{
    memcpy(process_title_area, title, n);
    if (process_title_used > n)
        memset(process_title_area + n, 0, process_title_used - n);
    process_title_used = n;
}

int process_title_put(struct str title)
{
    if (process_title_size < 2)
        return ERR_UNSUPPORTED;
    process_title_own = true;
    process_title_show(title.p, MIN(title.len, process_title_size - 1));
    return 0;
}

struct str process_title(void)
{
    return process_title_own ? str_n(process_title_area, process_title_used) : STR("");
}

void process_set_title_parts(const struct str *parts, size_t count)
{
    char title[PROCESS_TITLE_MAX];
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += str_put(title + n, sizeof(title) - n, parts[i]);
    process_set_short_name(title);
    if (process_title_size < 2)
        return;
    process_title_show(title, MIN(n, process_title_size - 1));
}

void process_set_title(const char *fmt, ...)
{
    char title[PROCESS_TITLE_MAX];
    struct str part;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(title, sizeof(title), fmt, ap); /* a cut title is fine */
    va_end(ap);
    part = str_c(title);
    process_set_title_parts(&part, 1);
}
