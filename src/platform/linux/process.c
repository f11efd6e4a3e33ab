/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "platform/fs.h"
#include "platform/linux/oserr.h"

enum { PROCESS_STAT_MAX = 4096 }; /* bytes of /proc/PID/stat */

static uint64_t process_time_ns(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static void process_status_from_os(
    pid_t pid, int st, const struct rusage *used, struct process_status *out)
{
    *out = (struct process_status){.pid = pid};
    out->cpu_ns = process_time_ns(&used->ru_utime) + process_time_ns(&used->ru_stime);
    if (WIFSIGNALED(st)) {
        out->end = PROCESS_SIGNALED;
        out->code = WTERMSIG(st);
        out->core_dumped = WCOREDUMP(st);
    } else {
        out->end = PROCESS_EXITED;
        out->code = WEXITSTATUS(st);
    }
}

int process_reap(struct process_status *out)
{
    struct rusage used;
    int st;
    pid_t pid;

    do {
        pid = wait4(-1, &st, WNOHANG, &used);
    } while (pid < 0 && errno == EINTR);
    if (pid < 0)
        return oserr_last();
    if (pid == 0)
        return ERR_AGAIN;
    process_status_from_os(pid, st, &used, out);
    return 0;
}

int process_wait(int64_t pid, struct process_status *out)
{
    struct rusage used;
    int st;
    pid_t got;

    if (pid <= 0)
        return ERR_INVAL;
    do {
        got = wait4((pid_t)pid, &st, 0, &used);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return oserr_last();
    process_status_from_os(got, st, &used, out);
    return 0;
}

const char *process_signal_name(int sig)
{
    static const struct {
        int sig;
        const char *name;
    } names[] = {
        {SIGHUP, "SIGHUP"},
        {SIGINT, "SIGINT"},
        {SIGQUIT, "SIGQUIT"},
        {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"},
        {SIGABRT, "SIGABRT"},
        {SIGBUS, "SIGBUS"},
        {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"},
        {SIGUSR1, "SIGUSR1"},
        {SIGSEGV, "SIGSEGV"},
        {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"},
        {SIGALRM, "SIGALRM"},
        {SIGTERM, "SIGTERM"},
        {SIGCHLD, "SIGCHLD"},
        {SIGCONT, "SIGCONT"},
        {SIGSTOP, "SIGSTOP"},
        {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"},
        {SIGVTALRM, "SIGVTALRM"},
        {SIGPROF, "SIGPROF"},
        {SIGSYS, "SIGSYS"},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].sig == sig)
            return names[i].name;
    return "unknown signal";
}

int process_kill(int64_t pid, int sig)
{
    /* 0 and negative numbers mean whole groups. */
    if (pid <= 0)
        return ERR_INVAL;
    return kill((pid_t)pid, sig) < 0 ? oserr_last() : 0;
}

bool process_alive(int64_t pid)
{
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* From "pid (name) state parent ...": the name may hold anything, ")" too. */
static int process_parse_stat(struct str text, uint64_t *start)
{
    enum { FIELD_STATE = 3, FIELD_START = 22 };
    ptrdiff_t paren = str_rchr(text, ')');
    struct str rest, field = STR_NONE;

    if (paren < 0)
        return ERR_UNSUPPORTED;
    rest = str_trim(str_sub(text, (size_t)paren + 1, text.len));
    for (int i = FIELD_STATE; i <= FIELD_START; i++) {
        if (!str_split(&rest, ' ', &field))
            return ERR_UNSUPPORTED;
        if (i == FIELD_STATE && (str_eq(field, STR("Z")) || str_eq(field, STR("X"))))
            return ERR_NOTFOUND;
    }
    return str_u64(field, start) == 0 ? 0 : ERR_UNSUPPORTED;
}

int process_start_time(int64_t pid, uint64_t *start)
{
    struct buf text = {0};
    char path[32];
    int r;

    (void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    r = pid > 0 ? fs_read_file(path, PROCESS_STAT_MAX, &text) : ERR_NOTFOUND;
    if (r == 0)
        r = process_parse_stat(buf_str(&text), start);
    else
        r = process_alive(pid) ? ERR_UNSUPPORTED : ERR_NOTFOUND; /* /proc may be closed to us */
    buf_fini(&text);
    return r;
}

bool process_runs(int64_t pid, uint64_t start)
{
    uint64_t is;
    int r = process_start_time(pid, &is);

    return r == 0 ? start == 0 || is == start : r != ERR_NOTFOUND;
}

int64_t process_id(void)
{
    return getpid();
}

int64_t process_parent_id(void)
{
    return getppid();
}

int process_become_reaper(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? oserr_last() : 0;
}

int process_die_with_parent(int64_t expected_parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
        return oserr_last();
    /* It may have ended before the line above. */
    return getppid() == (pid_t)expected_parent ? 0 : ERR_NOTFOUND;
}

int process_open_pidfd(int64_t pid, int *fd)
{
    int f;

    if (pid <= 0)
        return ERR_INVAL;
    f = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0); /* close-on-exec by definition */
    if (f < 0)
        return oserr_last();
    *fd = f;
    return 0;
}

/*
 * What writes the counters of a build that is being trained, gcc's and clang's: their libraries do
 * it in a handler of exit(), which is left out here. In any other build there is neither.
 */
extern void __gcov_exit(void) __attribute__((weak));              /* NOLINT: its name */
extern int __llvm_profile_write_file(void) __attribute__((weak)); /* NOLINT: its name */

void process_exit_now(int code)
{
    if (__gcov_exit)
        __gcov_exit();
    if (__llvm_profile_write_file)
        (void)__llvm_profile_write_file(); /* it says itself what failed */
    _exit(code);
}

int process_raise_fd_limit(uint64_t *now)
{
    struct rlimit r, raised;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return oserr_last();
    raised = (struct rlimit){.rlim_cur = r.rlim_max, .rlim_max = r.rlim_max};
    if (r.rlim_cur != r.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        r = raised;
    *now = (uint64_t)r.rlim_cur;
    return 0;
}

size_t process_count_fds(void)
{
    struct fs_dir *d = NULL;
    struct str name;
    size_t n = 0;

    if (fs_dir_open("/proc/self/fd", &d) != 0)
        return 0;
    while (fs_dir_next(d, &name) == 0)
        n++;
    fs_dir_close(d);
    return n - 1; /* without the directory's own */
}

int process_exe_path(char *out, size_t cap)
{
    return fs_readlink("/proc/self/exe", out, cap);
}

int process_on_signal(int sig, void (*handler)(int sig))
{
    struct sigaction sa = {.sa_handler = handler};

    (void)sigemptyset(&sa.sa_mask); /* cannot fail */
    return sigaction(sig, &sa, NULL) < 0 ? oserr_last() : 0;
}

void process_ignore_stop(void)
{
    static const int sigs[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

    for (size_t i = 0; i < ARRAY_LEN(sigs); i++)
        (void)signal(sigs[i], SIG_IGN); /* cannot fail for these */
}

void process_ignore_sigpipe(void)
{
    (void)signal(SIGPIPE, SIG_IGN); /* cannot fail for this signal */
}

int process_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t n = path ? strlen(path) : 0;
    ssize_t r;
    int s, rc = 0;

    if (n == 0)
        return 0;
    if (n >= sizeof(un.sun_path))
        return ERR_TOOBIG;
    memcpy(un.sun_path, path, n);
    if (un.sun_path[0] == '@')
        un.sun_path[0] = '\0'; /* a name in the abstract space */
    s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return oserr_last();
    do {
        r = sendto(s, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&un,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        rc = oserr_last();
    close(s);
    return rc;
}
