/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* process_spawn(): fork and exec. Between the two only async-signal-safe calls are made. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/linux/oserr.h"
#include "platform/process.h"

enum { SPAWN_FDS_MAX = 64, SPAWN_GROUPS_MAX = 4096 };

/* The leak sanitizer traces its own process, which must be allowed then; and a process with two
 * users does not read its options from the environment. */
#ifdef EPHPM_SANITIZED
enum { SPAWN_GUARDS = 0 };
#else
enum { SPAWN_GUARDS = 1 };
#endif

/* What the child needs, prepared before the fork. */
struct spawn {
    const struct process_spawn *want;
    char *const *env;
    gid_t *groups;
    size_t ngroups;
    bool set_user; /* wanted, and not what we are already */
    pid_t parent;
    int report; /* an errno goes here; closed by exec */
    int moved[SPAWN_FDS_MAX];
};

static int spawn_check(const struct process_spawn *s)
{
    if (!s->exe || !s->argv || s->nfds > SPAWN_FDS_MAX)
        return ERR_INVAL;
    for (size_t i = 0; i < s->nfds; i++) {
        if (s->fds[i].from < 0 || s->fds[i].to < 0)
            return ERR_INVAL;
        for (size_t j = 0; j < i; j++)
            if (s->fds[j].to == s->fds[i].to)
                return ERR_INVAL;
    }
    return 0;
}

/* Looks the groups up here: the child may not read the user database. */
static int spawn_find_groups(struct spawn *sp)
{
    const struct process_spawn *s = sp->want;
    int n = 64;

    if (!sp->set_user)
        return 0;
    sp->groups = mem_new_array(SPAWN_GROUPS_MAX, sizeof(*sp->groups));
    if (!s->user) {
        sp->groups[0] = s->gid;
        sp->ngroups = 1;
        return 0;
    }
    n = SPAWN_GROUPS_MAX;
    if (getgrouplist(s->user, s->gid, sp->groups, &n) < 0)
        return ERR_TOOBIG;
    sp->ngroups = (size_t)n;
    return 0;
}

NORETURN static void spawn_fail(const struct spawn *sp)
{
    int e = errno;

    while (write(sp->report, &e, sizeof(e)) < 0 && errno == EINTR)
        continue;
    _exit(127);
}

static void spawn_reset_signals(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        (void)sigaction(sig, &dfl, NULL); /* refused for KILL, STOP and libc's own */
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); /* cannot fail */
}

static void spawn_mark_all_cloexec(void)
{
    struct rlimit r = {0};
    int max;

    if (syscall(SYS_close_range, 3, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    /* An old kernel. */
    (void)getrlimit(RLIMIT_NOFILE, &r); /* leaves 0 */
    max = (int)MIN(r.rlim_cur, (rlim_t)65536);
    for (int fd = 3; fd < max; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* most are not open */
}

/*
 * Everything from 3 on closes at exec, except for the copies made last.  Sources and targets may
 * overlap, so the sources (and our pipe) first move above all targets.
 */
static void spawn_set_fds(struct spawn *sp)
{
    const struct process_spawn *s = sp->want;
    int above = 3, fd;

    for (size_t i = 0; i < s->nfds; i++)
        above = MAX(above, s->fds[i].to + 1);
    fd = fcntl(sp->report, F_DUPFD_CLOEXEC, above);
    if (fd < 0)
        spawn_fail(sp);
    sp->report = fd;
    for (size_t i = 0; i < s->nfds; i++) {
        sp->moved[i] = fcntl(s->fds[i].from, F_DUPFD_CLOEXEC, above);
        if (sp->moved[i] < 0)
            spawn_fail(sp);
    }
    spawn_mark_all_cloexec();
    for (size_t i = 0; i < s->nfds; i++)
        if (dup2(sp->moved[i], s->fds[i].to) < 0)
            spawn_fail(sp);
}

NORETURN static void spawn_child(struct spawn *sp)
{
    const struct process_spawn *s = sp->want;

    spawn_reset_signals();
    spawn_set_fds(sp);
    if (sp->set_user) {
        uid_t outer = s->guarded && SPAWN_GUARDS ? s->guard_uid : s->uid;

        if (setgroups(sp->ngroups, sp->groups) < 0 || setgid(s->gid) < 0 ||
            setresuid(outer, s->uid, outer) < 0)
            spawn_fail(sp);
    }
    /* After the change of user, which clears it. */
    if (s->die_with_parent) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
            spawn_fail(sp);
        if (getppid() != sp->parent)
            _exit(127); /* it ended before the line above; nobody is left to tell */
    }
    execve(s->exe, s->argv, sp->env);
    spawn_fail(sp);
}

/* The child's errno from the pipe, 0 when exec closed it. */
static int spawn_read_report(int fd)
{
    int e = 0;
    ssize_t n;

    do {
        n = read(fd, &e, sizeof(e));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(e) ? e : 0;
}

static int spawn_fork(struct spawn *sp, int report_fds[2], pid_t *pid)
{
    sigset_t all, old;
    pid_t p;
    int rc = 0;

    /* No handler of ours may run in the child. */
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old); /* cannot fail */
    p = fork();
    if (p == 0)
        spawn_child(sp);
    if (p < 0)
        rc = oserr_last();
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* cannot fail */
    close(report_fds[1]);
    if (rc == 0)
        *pid = p;
    return rc;
}

int process_spawn(const struct process_spawn *s, int64_t *pid)
{
    struct spawn sp = {.want = s, .env = s->env ? s->env : environ, .parent = getpid()};
    int fds[2], rc = spawn_check(s), e;
    pid_t p = 0;

    if (rc)
        return rc;
    sp.set_user = s->set_user && (geteuid() == 0 || geteuid() != s->uid || getegid() != s->gid);
    rc = spawn_find_groups(&sp);
    if (rc == 0 && pipe2(fds, O_CLOEXEC) < 0)
        rc = oserr_last();
    if (rc) {
        mem_free(sp.groups);
        return rc;
    }
    sp.report = fds[1];
    rc = spawn_fork(&sp, fds, &p);
    if (rc == 0) {
        e = spawn_read_report(fds[0]);
        if (e) {
            rc = oserr_code(e);
            while (waitpid(p, NULL, 0) < 0 && errno == EINTR)
                continue;
        }
    }
    close(fds[0]);
    mem_free(sp.groups);
    if (rc == 0)
        *pid = p;
    return rc;
}

int process_exec(const char *exe, char *const *argv)
{
    (void)execv(exe, argv); /* comes back only when it fails */
    return oserr_last();
}
