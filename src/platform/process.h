/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_PROCESS_H
#define EPHPM_PLATFORM_PROCESS_H

/*
 * Processes, users, limits and signals. Roles are started with process_spawn(); forking without
 * exec happens only in a prototype (process_fork_adopted).  On Windows what has no counterpart
 * returns ERR_UNSUPPORTED.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct process_fd {
    int from; /* descriptor here */
    int to;   /* number there; below 3 (standard input, output, error) on Unix only */
};

struct process_spawn {
    const char *exe;   /* absolute path */
    char *const *argv; /* NULL-terminated */
    char *const *env;  /* NULL-terminated; NULL inherits */
    const struct process_fd *fds;
    size_t nfds;       /* of 0, 1, 2 those are inherited that are not named; nothing else is */
    uint32_t uid, gid; /* dropped to when set_user */
    const char *user;  /* name for supplementary groups */
    bool set_user;
    bool guarded; /* with set_user: real and saved user are guard_uid, see process_guard() */
    uint32_t guard_uid;
    bool die_with_parent; /* the child is killed when this process ends */
};

/* Starts exe. A failure of exec in the child is returned here as its code. *pid is reaped with
 * process_reap(). */
int process_spawn(const struct process_spawn *s, int64_t *pid) MUST_CHECK;

/* Becomes the program exe (absolute path), same descriptors and environment. Returns only when it
 * fails. */
int process_exec(const char *exe, char *const *argv) MUST_CHECK;

enum process_end { PROCESS_RUNNING, PROCESS_EXITED, PROCESS_SIGNALED };
struct process_status {
    int64_t pid;
    enum process_end end;
    int code; /* exit code or signal number */
    bool core_dumped;
    uint64_t cpu_ns; /* user and system time of it and of the children that it waited for */
};
/* Takes one ended child. ERR_AGAIN when none has ended, ERR_NOTFOUND when there are no children. */
int process_reap(struct process_status *out) MUST_CHECK;
/* "SIGSEGV" and so on. */
const char *process_signal_name(int sig);

int process_kill(int64_t pid, int sig) MUST_CHECK;
bool process_alive(int64_t pid);
/* When a process started, in the system's own unit: with its pid it names the process for good,
 * since pids are used again. ERR_NOTFOUND: it has ended, if only a moment ago and nobody has reaped
 * it yet; ERR_UNSUPPORTED: it is there, but cannot be asked. */
int process_start_time(int64_t pid, uint64_t *start) MUST_CHECK;
/* Does the process of that pid and start time still run? start 0, or one that cannot be asked: is
 * there a process with that pid? */
bool process_runs(int64_t pid, uint64_t start);
int64_t process_id(void);
int64_t process_parent_id(void);

/*
 * Forks so that the new process becomes a child of the nearest subreaper (the master) and not of
 * the caller: forks twice, the middle process ends at once and is reaped here.  In the new process
 * returns 0 with *pid = 0, after its parent is the subreaper, and with the given death signal
 * armed.  In the caller *pid is the new process. Caller must be single-threaded.
 */
int process_fork_adopted(int64_t reaper, int64_t *pid) MUST_CHECK;
/* A plain child, for work that ends soon (warm-up). Reaped with process_wait(). */
int process_fork(int64_t *pid) MUST_CHECK;
int process_wait(int64_t pid, struct process_status *out) MUST_CHECK;
/* Orphans below this process become its children. */
int process_become_reaper(void) MUST_CHECK;
/* This process is killed (SIGKILL) when its parent ends; checks that the parent still is expected.
 */
int process_die_with_parent(int64_t expected_parent) MUST_CHECK;
/* A descriptor that polls readable when pid ends. */
int process_open_pidfd(int64_t pid, int *fd) MUST_CHECK;
NORETURN void process_exit_now(int code); /* _exit: no handlers, no flushing */

/* The title that ps shows. Call process_title_init first in main; it may move argv/environ. */
void process_title_init(int argc, char **argv);
/* The same from parts, without formatting: for each request. */
void process_set_title_parts(const struct str *parts, size_t n);
void process_set_title(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* The title as a user's program sets it: as long as there is room, the kernel's short name stays.
 * ERR_UNSUPPORTED without process_title_init(). */
int process_title_put(struct str title) MUST_CHECK;
/* What that set last; valid until the next title. */
struct str process_title(void);

/* Other processes of the same user cannot look into this one or trace it, and it dumps no core. */
void process_protect(void);
/*
 * Called first by a process that was spawned as guarded: it keeps the user's access to files, but
 * other processes of that user cannot send it signals, since its real and saved user are another.
 */
void process_guard(void);
/* Unmaps pages of executables and libraries that were only needed to start; they come back from the
 * page cache when they are used again. For a process that lives long and does little. */
void process_drop_start_pages(void);
/* Whether this process, and children it makes from now on, get huge pages where they ask for them.
 * A process that is forked from often wants none: its children would copy them in small pieces. */
void process_allow_huge_pages(bool on);

/* For a short-lived process that will use about n bytes of heap: takes them at once, which costs
 * less than a page at a time. Without effect where the system cannot. */
void process_prepare_heap(size_t n);

bool process_is_root(void);
/* ERR_NOTFOUND when there is no such user/group (name or number). group NULL: the user's own; a
 * number that is in no database is taken when the group is given, too. */
int process_find_user(const char *user, const char *group, uint32_t *uid, uint32_t *gid) MUST_CHECK;
/* May that user (with set_user; else this process) list and enter the directory? Asked in a child
 * that becomes the user; user NULL: without supplementary groups. 0 or an error. */
int process_can_search(
    const char *dir, bool set_user, uint32_t uid, uint32_t gid, const char *user) MUST_CHECK;
/* Name of a uid into out; falls back to the number. */
void process_user_name(uint32_t uid, char *out, size_t cap);
/* The user's home directory; empty when there is none, or it is longer than cap. */
void process_user_home(uint32_t uid, char *out, size_t cap);
uint32_t process_uid(void);
/* Raises the soft descriptor limit to the hard one; *now is what holds afterwards. */
int process_raise_fd_limit(uint64_t *now) MUST_CHECK;
/* Number of descriptors open in this process. */
size_t process_count_fds(void);

/* What names the TCP socket of this machine that is bound to local and connected to remote; 0:
 * there is none, it is another user's (whose processes process_holds_socket() could not look into),
 * or it cannot be known. Microseconds. */
struct sock_addr;
uint64_t process_tcp_inode(const struct sock_addr *local, const struct sock_addr *remote);
/* Does pid hold that socket? False when it cannot be known. Looks at each of its descriptors in
 * /proc. */
bool process_holds_socket(int64_t pid, uint64_t inode);

/* Path of the running executable. */
int process_exe_path(char *out, size_t cap) MUST_CHECK;
/* Installs an async-signal-safe handler; system calls are interrupted (ERR_INTR), not restarted.
 * Portable signal numbers only. */
int process_on_signal(int sig, void (*handler)(int sig)) MUST_CHECK;
/* Ignores SIGPIPE. */
void process_ignore_sigpipe(void);
/* What a terminal or a service manager sends to all processes at once; for one that ends when
 * another one tells it to. */
void process_ignore_stop(void);
/* One datagram to $NOTIFY_SOCKET ("READY=1"); 0 also when the variable is not set. */
int process_notify(const char *state);

#endif
