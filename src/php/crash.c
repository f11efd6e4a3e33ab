/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

/*
 * The last words of a worker. Everything here runs in a signal handler over memory that may be
 * damaged: no allocation, no stdio, no locks; a second fault while PHP's frames are walked ends the
 * walk and nothing else.
 */

enum { FRAMES_MAX = 50, BLOCK_CAP = 16384, STACK_SIZE = 65536 };

struct text {
    char *p;
    size_t len, cap;
};

static char alternate_stack[STACK_SIZE];
static char block[BLOCK_CAP];
static sigjmp_buf walk_again;
static volatile sig_atomic_t walking;
static struct text *volatile walk_text;

/* --- text ------------------------------------------------------------------------------------- */

static void put_n(struct text *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n && t->len < t->cap; i++)
        t->p[t->len++] = p[i];
}

static void put(struct text *t, const char *p)
{
    put_n(t, p, strlen(p));
}

/* One byte at a time, and control characters out: what a script is called may come from a client.
 */
static void put_safe(struct text *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n && t->len < t->cap; i++)
        t->p[t->len++] = (unsigned char)p[i] < 0x20 || p[i] == 0x7f ? '?' : p[i];
}

static void put_number(struct text *t, uintptr_t v, unsigned base)
{
    char digits[24];
    size_t at = sizeof(digits);

    do {
        digits[--at] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    put_n(t, digits + at, sizeof(digits) - at);
}

static void put_zstr(struct text *t, const zend_string *s)
{
    if (s)
        put_safe(t, ZSTR_VAL(s), MIN(ZSTR_LEN(s), (size_t)1024));
}

/* --- frames ----------------------------------------------------------------------------------- */

static void put_place(struct text *t, const zend_execute_data *ex)
{
    while (ex && (!ex->func || !ZEND_USER_CODE(ex->func->type)))
        ex = ex->prev_execute_data;
    if (!ex) {
        put(t, "[internal]");
        return;
    }
    put_zstr(t, ex->func->op_array.filename);
    put(t, "(");
    put_number(t, ex->opline ? ex->opline->lineno : 0, 10);
    put(t, ")");
}

static void put_frame(struct text *t, const zend_execute_data *ex, unsigned number)
{
    const zend_function *fn = ex->func;

    put(t, "#");
    put_number(t, number, 10);
    put(t, " ");
    put_place(t, ex);
    put(t, ": ");
    if (fn->common.scope && fn->common.function_name) {
        put_zstr(t, fn->common.scope->name);
        put(t, "::");
    }
    if (fn->common.function_name) {
        put_zstr(t, fn->common.function_name);
        put(t, "()");
    } else {
        put(t, "{main}");
    }
    put(t, "\n");
}

/* A frame per include appears as {main} of that file. Deep recursion is cut: the innermost frames
 * tell most. */
static void put_frames(struct text *t)
{
    const zend_execute_data *ex = EG(current_execute_data);
    unsigned n = 0;

    for (; ex && n < FRAMES_MAX; ex = ex->prev_execute_data) {
        if (!ex->func)
            continue;
        put_frame(t, ex, n++);
    }
    if (ex)
        put(t, "#... more frames\n");
}

size_t embed_backtrace(char *out, size_t cap)
{
    struct text t = {.p = out, .cap = cap};

    if (embed_g.started && embed_g.req)
        put_frames(&t);
    return t.len;
}

/* --- the handler ------------------------------------------------------------------------------ */

static const struct {
    int sig;
    const char *name;
} signals[] = {
    {SIGSEGV, "SIGSEGV"},
    {SIGBUS, "SIGBUS"},
    {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},
    {SIGABRT, "SIGABRT"},
};

static void put_request(struct text *t)
{
    const struct embed_request *req = embed_g.req;

    if (!req)
        return;
    put(t, "script: ");
    put_safe(t, req->script_filename.p, req->script_filename.len);
    put(t, "\nrequest: ");
    put_safe(t, req->method.p, req->method.len);
    put(t, " ");
    put_safe(t, req->uri.p, MIN(req->uri.len, (size_t)2048));
    if (req->request_id.p) {
        put(t, " id=");
        put_safe(t, req->request_id.p, MIN(req->request_id.len, (size_t)128));
    }
    put(t, "\n");
}

static void die_by(int sig)
{
    sigset_t set;

    (void)signal(sig, SIG_DFL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, sig);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(sig);
    _exit(128 + sig);
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
    struct text t = {.p = block, .cap = sizeof(block) - 1};
    const char *name = "?";

    if (walking == 1)
        siglongjmp(walk_again, 1);
    if (walking)
        die_by(sig);
    walking = 1;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (signals[i].sig == sig)
            name = signals[i].name;
    put(&t, "=== ephpm fatal signal ===\nsignal: ");
    put(&t, name);
    put(&t, " address: 0x");
    put_number(&t, (uintptr_t)info->si_addr, 16);
    put(&t, " pid: ");
    put_number(&t, (uintptr_t)getpid(), 10);
    put(&t, " php: ");
    put(&t, PHP_VERSION);
    put(&t, "\n");
    walk_text = &t;
    if (sigsetjmp(walk_again, 1) == 0) {
        put_request(&t);
        put_frames(&t);
    } else {
        put((struct text *)walk_text, "(the call stack is damaged)\n");
    }
    walking = 2;
    put(&t, "=== end ===\n");
    (void)!write(STDERR_FILENO, t.p, t.len);
    die_by(sig);
}

void embed_install_crash_handler(void)
{
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof(alternate_stack)};
    struct sigaction action = {
        .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

    if (embed_sanitizer_on())
        return; /* its own report is better */
    (void)sigaltstack(&stack, NULL);
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)sigaction(signals[i].sig, &action, NULL);
}
