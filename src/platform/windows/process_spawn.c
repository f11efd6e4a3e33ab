/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* process_spawn() with CreateProcessW. */
#include <io.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "platform/process.h"
#include "platform/windows/fs_path.h"
#include "platform/windows/oserr.h"
#include "platform/windows/process.h"

enum { SPAWN_FDS_MAX = 64, SPAWN_NUMBER_MAX = 256, SPAWN_LINE_MAX = 32767 };

/* Flags of one entry of the table that the C runtime hands to a child. */
enum { CRT_OPEN = 0x01, CRT_PIPE = 0x08, CRT_DEVICE = 0x40 };

/*
 * The C runtimes of both sides agree on this block (lpReserved2): int32 count, uint8 flags[count],
 * HANDLE handles[count], packed.  The child finds its descriptors under the same numbers.
 */
struct spawn_block {
    size_t count;
    HANDLE handles[SPAWN_NUMBER_MAX];
    BYTE bytes[4 + SPAWN_NUMBER_MAX * (1 + sizeof(HANDLE))];
    WORD size;
    HANDLE inherited[3 + SPAWN_FDS_MAX]; /* the duplicates, closed after the start */
    DWORD ninherited;
};

/* Quoted so that the child's runtime gets the same word back. */
static void spawn_add_word(struct buf *b, const char *word)
{
    size_t slashes = 0;

    buf_add_char(b, '"');
    for (; *word; word++) {
        if (*word == '\\') {
            slashes++;
        } else {
            /* Backslashes count only before a quote, where each is doubled. */
            for (; *word == '"' && slashes; slashes--)
                buf_add_char(b, '\\');
            if (*word == '"')
                buf_add_char(b, '\\');
            slashes = 0;
        }
        buf_add_char(b, *word);
    }
    for (; slashes; slashes--)
        buf_add_char(b, '\\');
    buf_add_char(b, '"');
}

/* UTF-8 with its NULs to UTF-16; freed by the caller. */
static int spawn_wide(const struct buf *b, wchar_t **out)
{
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, b->p, (int)b->len, NULL, 0);
    wchar_t *w;

    if (n <= 0)
        return ERR_INVAL;
    w = mem_new_array((size_t)n, sizeof(*w));
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, b->p, (int)b->len, w, n) != n) {
        mem_free(w);
        return ERR_INVAL;
    }
    *out = w;
    return 0;
}

static int spawn_command_line(char *const *argv, wchar_t **out)
{
    struct buf b = {0};
    int rc = ERR_TOOBIG;

    for (size_t i = 0; argv[i]; i++) {
        if (i)
            buf_add_char(&b, ' ');
        spawn_add_word(&b, argv[i]);
    }
    buf_add_char(&b, '\0');
    if (b.len <= SPAWN_LINE_MAX)
        rc = spawn_wide(&b, out);
    buf_fini(&b);
    return rc;
}

static int spawn_environment(char *const *env, wchar_t **out)
{
    struct buf b = {0};
    int rc;

    if (!env)
        return 0; /* NULL inherits */
    for (size_t i = 0; env[i]; i++)
        buf_add(&b, env[i], strlen(env[i]) + 1);
    if (b.len == 0)
        buf_add_char(&b, '\0');
    buf_add_char(&b, '\0');
    rc = spawn_wide(&b, out);
    buf_fini(&b);
    return rc;
}

/* An inheritable duplicate of the descriptor's handle, entered under its number in the child. */
static int spawn_pass_fd(struct spawn_block *k, int from, int to)
{
    HANDLE h = (HANDLE)_get_osfhandle(from), copy;

    if (h == INVALID_HANDLE_VALUE || h == (HANDLE)(intptr_t)-2)
        return ERR_INVAL;
    if (!DuplicateHandle(
            GetCurrentProcess(), h, GetCurrentProcess(), &copy, 0, TRUE, DUPLICATE_SAME_ACCESS))
        return oserr_last();
    k->inherited[k->ninherited++] = copy;
    k->handles[to] = copy;
    k->count = MAX(k->count, (size_t)to + 1);
    return 0;
}

static void spawn_close_passed(struct spawn_block *k)
{
    while (k->ninherited)
        (void)CloseHandle(k->inherited[--k->ninherited]); /* ours */
}

static BYTE spawn_crt_flags(HANDLE h)
{
    if (!h)
        return 0;
    switch (GetFileType(h)) {
    case FILE_TYPE_PIPE:
        return CRT_OPEN | CRT_PIPE;
    case FILE_TYPE_CHAR:
        return CRT_OPEN | CRT_DEVICE;
    default:
        return CRT_OPEN;
    }
}

static int spawn_fill_block(struct spawn_block *k, const struct process_spawn *s)
{
    BYTE *p = k->bytes;
    uint32_t count;
    int rc = 0;

    for (int fd = 0; fd < 3 && rc == 0; fd++)
        if (_get_osfhandle(fd) >= 0)
            rc = spawn_pass_fd(k, fd, fd);
    for (size_t i = 0; i < s->nfds && rc == 0; i++) {
        if (s->fds[i].to < 3 || s->fds[i].to >= SPAWN_NUMBER_MAX || k->handles[s->fds[i].to])
            rc = ERR_INVAL;
        else
            rc = spawn_pass_fd(k, s->fds[i].from, s->fds[i].to);
    }
    if (rc)
        return rc;
    count = (uint32_t)k->count;
    memcpy(p, &count, sizeof(count));
    p += sizeof(count);
    for (size_t i = 0; i < k->count; i++)
        *p++ = spawn_crt_flags(k->handles[i]);
    for (size_t i = 0; i < k->count; i++, p += sizeof(HANDLE)) {
        HANDLE h = k->handles[i] ? k->handles[i] : INVALID_HANDLE_VALUE;

        memcpy(p, &h, sizeof(h));
    }
    k->size = (WORD)(p - k->bytes);
    return 0;
}

/* The job whose processes end with this one; made at first use, closed by the system. */
static HANDLE spawn_job(void)
{
    static SRWLOCK lock = SRWLOCK_INIT;
    static HANDLE job;
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    HANDLE result;

    AcquireSRWLockExclusive(&lock);
    if (!job) {
        job = CreateJobObjectW(NULL, NULL);
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        if (job && !SetInformationJobObject(
                       job, JobObjectExtendedLimitInformation, &limits, sizeof(limits))) {
            (void)CloseHandle(job); /* ours */
            job = NULL;
        }
    }
    result = job;
    ReleaseSRWLockExclusive(&lock);
    return result;
}

static int spawn_create(const struct process_spawn *s, wchar_t *line, wchar_t *env,
    struct spawn_block *k, PROCESS_INFORMATION *pi)
{
    wchar_t exe[FS_PATH_MAX];
    STARTUPINFOEXW si = {.StartupInfo = {.cb = sizeof(si), .dwFlags = STARTF_USESTDHANDLES}};
    DWORD flags = CREATE_UNICODE_ENVIRONMENT | CREATE_SUSPENDED | EXTENDED_STARTUPINFO_PRESENT;
    SIZE_T size = 0;
    int rc = fs_path_wide(s->exe, exe);

    if (rc)
        return rc;
    si.StartupInfo.hStdInput = k->handles[0];
    si.StartupInfo.hStdOutput = k->handles[1];
    si.StartupInfo.hStdError = k->handles[2];
    si.StartupInfo.cbReserved2 = k->size;
    si.StartupInfo.lpReserved2 = k->bytes;
    (void)InitializeProcThreadAttributeList(NULL, 1, 0, &size); /* tells the size, by failing */
    si.lpAttributeList = mem_new(size);
    if (!InitializeProcThreadAttributeList(si.lpAttributeList, 1, 0, &size)) {
        rc = oserr_last();
        mem_free(si.lpAttributeList);
        return rc;
    }
    /* Only these handles go to the child, whatever else is inheritable at this moment. */
    if (!UpdateProcThreadAttribute(si.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
            k->inherited, k->ninherited * sizeof(HANDLE), NULL, NULL) ||
        !CreateProcessW(exe, line, NULL, NULL, TRUE, flags, env, NULL, &si.StartupInfo, pi))
        rc = oserr_last();
    DeleteProcThreadAttributeList(si.lpAttributeList);
    mem_free(si.lpAttributeList);
    return rc;
}

/* The process exists but has not run: puts it into the job and the table, then lets it go. */
static int spawn_release(const struct process_spawn *s, PROCESS_INFORMATION *pi)
{
    int rc = 0;

    if (s->die_with_parent) {
        HANDLE job = spawn_job();

        if (!job || !AssignProcessToJobObject(job, pi->hProcess))
            rc = oserr_last();
    }
    if (rc == 0)
        rc = process_children_add(pi->dwProcessId, pi->hProcess);
    if (rc) {
        (void)TerminateProcess(pi->hProcess, 1); /* ours, and it did nothing yet */
        (void)CloseHandle(pi->hProcess);         /* ours */
    } else {
        (void)ResumeThread(pi->hThread); /* cannot fail for our own child */
    }
    (void)CloseHandle(pi->hThread); /* ours */
    return rc;
}

int process_spawn(const struct process_spawn *s, int64_t *pid)
{
    struct spawn_block *k;
    PROCESS_INFORMATION pi = {0};
    wchar_t *line = NULL, *env = NULL;
    int rc;

    if (!s->exe || !s->argv || s->nfds > SPAWN_FDS_MAX)
        return ERR_INVAL;
    if (s->set_user)
        return ERR_UNSUPPORTED;
    k = mem_new(sizeof(*k));
    rc = spawn_command_line(s->argv, &line);
    if (rc == 0)
        rc = spawn_environment(s->env, &env);
    if (rc == 0)
        rc = spawn_fill_block(k, s);
    if (rc == 0)
        rc = spawn_create(s, line, env, k, &pi);
    spawn_close_passed(k);
    mem_free(k);
    mem_free(line);
    mem_free(env);
    if (rc == 0)
        rc = spawn_release(s, &pi);
    if (rc == 0)
        *pid = pi.dwProcessId;
    return rc;
}
