/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/windows/process.h"

#include <psapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tlhelp32.h>

#include "platform/fs.h"
#include "platform/process.h"
#include "platform/windows/fs_path.h"
#include "platform/windows/oserr.h"

/* The signal numbers of process_kill() and of deaths, those of Linux. */
enum {
    SIG_INT = 2,
    SIG_ILL = 4,
    SIG_ABRT = 6,
    SIG_FPE = 8,
    SIG_KILL = 9,
    SIG_SEGV = 11,
    SIG_TERM = 15
};

enum { PROCESS_CHILDREN_MAX = MAXIMUM_WAIT_OBJECTS * 16 };

/* Of the process as such, like the kernel's own table on Unix. */
static struct process_child {
    DWORD pid;
    HANDLE h; /* NULL: free */
} process_children[PROCESS_CHILDREN_MAX];
static SRWLOCK process_lock = SRWLOCK_INIT;

int process_children_add(DWORD pid, HANDLE h)
{
    int rc = ERR_FULL;

    AcquireSRWLockExclusive(&process_lock);
    for (size_t i = 0; i < PROCESS_CHILDREN_MAX && rc; i++) {
        if (process_children[i].h)
            continue;
        process_children[i] = (struct process_child){pid, h};
        rc = 0;
    }
    ReleaseSRWLockExclusive(&process_lock);
    return rc;
}

/* What an exit code says: ended by process_kill(), by an exception, or by itself. */
static struct process_status process_status_of(DWORD pid, DWORD code)
{
    struct process_status st = {.pid = pid, .end = PROCESS_SIGNALED};

    if ((code & 0xffff0000u) == PROCESS_KILLED_CODE) {
        st.code = (int)(code & 0xffff);
        return st;
    }
    switch (code) {
    case STATUS_ACCESS_VIOLATION:
    case STATUS_STACK_OVERFLOW:
        st.code = SIG_SEGV;
        break;
    case STATUS_ILLEGAL_INSTRUCTION:
        st.code = SIG_ILL;
        break;
    case STATUS_INTEGER_DIVIDE_BY_ZERO:
        st.code = SIG_FPE;
        break;
    case STATUS_CONTROL_C_EXIT:
        st.code = SIG_INT;
        break;
    default:
        /* Other errors of the system: heap corruption, failed checks. */
        if (code >= 0xc0000000u && code < 0xd0000000u) {
            st.code = SIG_ABRT;
            break;
        }
        st.end = PROCESS_EXITED;
        st.code = (int)code;
    }
    return st;
}

/* Takes the child at the slot if it has ended. */
static bool process_take(struct process_child *c, struct process_status *out)
{
    FILETIME times[4] = {0};
    DWORD code = 0;

    if (!c->h || WaitForSingleObject(c->h, 0) != WAIT_OBJECT_0)
        return false;
    if (!GetExitCodeProcess(c->h, &code))
        code = PROCESS_KILLED_CODE | SIG_KILL; /* not ours to ask any more */
    *out = process_status_of(c->pid, code);
    if (GetProcessTimes(c->h, &times[0], &times[1], &times[2], &times[3]))
        for (int i = 2; i < 4; i++) /* kernel and user, in units of 100 ns */
            out->cpu_ns +=
                (((uint64_t)times[i].dwHighDateTime << 32) | times[i].dwLowDateTime) * 100;
    (void)CloseHandle(c->h); /* ours */
    *c = (struct process_child){0};
    return true;
}

int process_reap(struct process_status *out)
{
    int rc = ERR_NOTFOUND;

    AcquireSRWLockExclusive(&process_lock);
    for (size_t i = 0; i < PROCESS_CHILDREN_MAX && rc; i++) {
        if (!process_children[i].h)
            continue;
        rc = process_take(&process_children[i], out) ? 0 : ERR_AGAIN;
    }
    ReleaseSRWLockExclusive(&process_lock);
    return rc;
}

int process_wait(int64_t pid, struct process_status *out)
{
    HANDLE h = NULL;
    int rc = ERR_NOTFOUND;

    if (pid <= 0)
        return ERR_INVAL;
    AcquireSRWLockExclusive(&process_lock);
    for (size_t i = 0; i < PROCESS_CHILDREN_MAX && !h; i++)
        if (process_children[i].h && process_children[i].pid == (DWORD)pid)
            h = process_children[i].h;
    ReleaseSRWLockExclusive(&process_lock);
    if (!h)
        return rc;
    if (WaitForSingleObject(h, INFINITE) != WAIT_OBJECT_0)
        return oserr_last();
    AcquireSRWLockExclusive(&process_lock);
    for (size_t i = 0; i < PROCESS_CHILDREN_MAX && rc; i++)
        if (process_children[i].h == h && process_take(&process_children[i], out))
            rc = 0;
    ReleaseSRWLockExclusive(&process_lock);
    return rc;
}

const char *process_signal_name(int sig)
{
    switch (sig) {
    case SIG_INT:
        return "SIGINT";
    case SIG_ILL:
        return "SIGILL";
    case SIG_ABRT:
        return "SIGABRT";
    case SIG_FPE:
        return "SIGFPE";
    case SIG_KILL:
        return "SIGKILL";
    case SIG_SEGV:
        return "SIGSEGV";
    case SIG_TERM:
        return "SIGTERM";
    default:
        return "unknown signal";
    }
}

int process_kill(int64_t pid, int sig)
{
    HANDLE h;
    int rc = 0;

    if (pid <= 0 || pid > UINT32_MAX)
        return ERR_INVAL;
    if (sig != SIG_KILL && sig != SIG_TERM)
        return ERR_UNSUPPORTED;
    h = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)pid);
    if (!h)
        return GetLastError() == ERROR_INVALID_PARAMETER ? ERR_NOTFOUND : oserr_last();
    if (!TerminateProcess(h, PROCESS_KILLED_CODE | (UINT)sig))
        rc = oserr_last();
    (void)CloseHandle(h); /* ours */
    return rc;
}

bool process_alive(int64_t pid)
{
    HANDLE h;
    bool alive;

    if (pid <= 0 || pid > UINT32_MAX)
        return false;
    h = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)pid);
    if (!h)
        return GetLastError() == ERROR_ACCESS_DENIED;
    alive = WaitForSingleObject(h, 0) == WAIT_TIMEOUT;
    (void)CloseHandle(h); /* ours */
    return alive;
}

int process_start_time(int64_t pid, uint64_t *start)
{
    FILETIME made, ended, kernel, user;
    HANDLE h = NULL;
    int rc = ERR_UNSUPPORTED;

    if (pid > 0 && pid <= UINT32_MAX)
        h = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);
    if (!h)
        return process_alive(pid) ? ERR_UNSUPPORTED : ERR_NOTFOUND;
    if (WaitForSingleObject(h, 0) != WAIT_TIMEOUT) {
        rc = ERR_NOTFOUND;
    } else if (GetProcessTimes(h, &made, &ended, &kernel, &user)) {
        *start = (uint64_t)made.dwHighDateTime << 32 | made.dwLowDateTime;
        rc = 0;
    }
    (void)CloseHandle(h); /* ours */
    return rc;
}

bool process_runs(int64_t pid, uint64_t start)
{
    uint64_t is;
    int r = process_start_time(pid, &is);

    return r == 0 ? start == 0 || is == start : r != ERR_NOTFOUND;
}

int64_t process_id(void)
{
    return GetCurrentProcessId();
}

int64_t process_parent_id(void)
{
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32W e = {.dwSize = sizeof(e)};
    int64_t parent = 0;

    if (all == INVALID_HANDLE_VALUE)
        return 0;
    for (BOOL more = Process32FirstW(all, &e); more && !parent; more = Process32NextW(all, &e))
        if (e.th32ProcessID == GetCurrentProcessId())
            parent = e.th32ParentProcessID;
    (void)CloseHandle(all); /* ours */
    return parent;
}

int process_fork_adopted(int64_t reaper, int64_t *pid)
{
    return ERR_UNSUPPORTED;
}

int process_fork(int64_t *pid)
{
    return ERR_UNSUPPORTED;
}

int process_become_reaper(void)
{
    return ERR_UNSUPPORTED;
}

int process_die_with_parent(int64_t expected_parent)
{
    return ERR_UNSUPPORTED;
}

int process_open_pidfd(int64_t pid, int *fd)
{
    return ERR_UNSUPPORTED;
}

void process_exit_now(int code)
{
    _exit(code);
}

int process_exec(const char *exe, char *const *argv)
{
    return ERR_UNSUPPORTED;
}

int process_title_put(struct str title)
{
    return ERR_UNSUPPORTED;
}

struct str process_title(void)
{
    return STR("");
}

void process_title_init(int argc, char **argv)
{
}

void process_set_title(const char *fmt, ...)
{
    /* A process has no title; that of the console belongs to its user. */
}

void process_prepare_heap(size_t n)
{
    /* The heap takes what it needs. */
}

void process_protect(void)
{
    /* Who may open a process is said by its owner's access list. */
}

bool process_is_root(void)
{
    TOKEN_ELEVATION e = {0};
    HANDLE token;
    DWORD n = 0;

    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token))
        return false;
    if (!GetTokenInformation(token, TokenElevation, &e, sizeof(e), &n))
        e.TokenIsElevated = 0;
    (void)CloseHandle(token); /* ours */
    return e.TokenIsElevated != 0;
}

int process_find_user(const char *user, const char *group, uint32_t *uid, uint32_t *gid)
{
    return ERR_UNSUPPORTED;
}

int process_can_search(const char *dir, bool set_user, uint32_t uid, uint32_t gid, const char *user)
{
    return set_user ? ERR_UNSUPPORTED : fs_readable(dir);
}

void process_user_name(uint32_t uid, char *out, size_t cap)
{
    (void)snprintf(out, cap, "%u", uid);
}

void process_user_home(uint32_t uid, char *out, size_t cap)
{
    (void)uid;
    (void)cap;
    out[0] = '\0';
}

uint32_t process_uid(void)
{
    return 0; /* users are no numbers here */
}

int process_raise_fd_limit(uint64_t *now)
{
    enum { CRT_MAX = 8192 };

    (void)_setmaxstdio(CRT_MAX); /* what holds is told below */
    *now = (uint64_t)_getmaxstdio();
    return 0;
}

size_t process_count_fds(void)
{
    DWORD n = 0;

    /* Handles of every kind. */
    return GetProcessHandleCount(GetCurrentProcess(), &n) ? n : 0;
}

int process_exe_path(char *out, size_t cap)
{
    wchar_t wide[FS_PATH_MAX];
    DWORD n = GetModuleFileNameW(NULL, wide, FS_PATH_MAX);

    if (n == 0)
        return oserr_last();
    return n >= FS_PATH_MAX ? ERR_TOOBIG : fs_path_utf8(wide, out, cap);
}

void process_ignore_sigpipe(void)
{
}

int process_notify(const char *state)
{
    return 0; /* nobody listens */
}

void process_set_title_parts(const struct str *parts, size_t n)
{
    (void)parts; /* nobody but us would see it */
    (void)n;
}

void process_guard(void)
{
    /* Who may open a process is said by its owner's access list. */
}

void process_drop_start_pages(void)
{
    /* The system trims working sets by itself. */
}

void process_allow_huge_pages(bool on)
{
    (void)on; /* they are asked for by name here, and need a privilege */
}
