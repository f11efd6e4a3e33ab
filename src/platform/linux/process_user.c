/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "platform/linux/oserr.h"
#include "platform/process.h"

/* Room for one entry of the user or group database, given to the _r functions. */
enum { PROCESS_ENTRY_MAX = 65536 };

void process_protect(void)
{
#ifndef EPHPM_SANITIZED                       /* the leak sanitizer traces its own process */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* cannot fail with this value */
#endif
}

void process_guard(void)
{
    /* exec made the saved user the effective one. */
    if (getuid() != geteuid())
        (void)!setresuid((uid_t)-1, (uid_t)-1, getuid()); /* to the real one is always allowed */
}

bool process_is_root(void)
{
    return geteuid() == 0;
}

uint32_t process_uid(void)
{
    return geteuid();
}

/* A whole number that can be an id ((uid_t)-1 means "none"). */
static bool process_id_parse(const char *s, uint32_t *out)
{
    uint64_t v;

    if (str_u64(str_c(s), &v) != 0 || v >= UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

/* What the entry functions return for "no such": 0 without an entry, or one of these. */
static int process_entry_error(int e)
{
    return e == 0 || e == ENOENT || e == ESRCH || e == EBADF || e == EPERM ? ERR_NOTFOUND
                                                                           : oserr_code(e);
}

static int process_find_group(const char *group, uint32_t *gid, char *space)
{
    struct group g, *found = NULL;
    int e;

    if (process_id_parse(group, gid))
        return 0;
    e = getgrnam_r(group, &g, space, PROCESS_ENTRY_MAX, &found);
    if (!found)
        return process_entry_error(e);
    *gid = g.gr_gid;
    return 0;
}

int process_find_user(const char *user, const char *group, uint32_t *uid, uint32_t *gid)
{
    char *space = mem_new(PROCESS_ENTRY_MAX);
    struct passwd p, *found = NULL;
    uint32_t u = 0, g = 0;
    bool number = process_id_parse(user, &u);
    int rc = 0, e;

    e = number ? getpwuid_r(u, &p, space, PROCESS_ENTRY_MAX, &found)
               : getpwnam_r(user, &p, space, PROCESS_ENTRY_MAX, &found);
    if (found) {
        u = p.pw_uid;
        g = p.pw_gid;
    } else if (!number || !group) {
        rc = process_entry_error(e); /* a bare number will do when the group is given, too */
    }
    if (rc == 0 && group)
        rc = process_find_group(group, &g, space);
    mem_free(space);
    if (rc)
        return rc;
    *uid = u;
    *gid = g;
    return 0;
}

/* The entry of a uid; its strings lie in space. */
static bool process_read_user(uint32_t uid, struct passwd *p, char space[PROCESS_ENTRY_MAX])
{
    struct passwd *found = NULL;

    return getpwuid_r(uid, p, space, PROCESS_ENTRY_MAX, &found) == 0 && found;
}

void process_user_name(uint32_t uid, char *out, size_t cap)
{
    char *space = mem_new(PROCESS_ENTRY_MAX);
    struct passwd p;

    if (process_read_user(uid, &p, space))
        (void)snprintf(out, cap, "%s", p.pw_name);
    else
        (void)snprintf(out, cap, "%u", uid);
    mem_free(space);
}

void process_user_home(uint32_t uid, char *out, size_t cap)
{
    char *space = mem_new(PROCESS_ENTRY_MAX);
    struct passwd p;

    out[0] = '\0';
    if (process_read_user(uid, &p, space) && strlen(p.pw_dir) < cap)
        (void)snprintf(out, cap, "%s", p.pw_dir);
    mem_free(space);
}

/* Becomes the user for good and looks; an errno value, which fits an exit code. */
static int process_try_search(
    const char *dir, bool set_user, uint32_t uid, uint32_t gid, const char *user)
{
    if (set_user &&
        ((user ? initgroups(user, gid) : setgroups(1, &gid)) || setgid(gid) || setuid(uid)))
        return errno;
    return access(dir, R_OK | X_OK) ? errno : 0;
}

int process_can_search(const char *dir, bool set_user, uint32_t uid, uint32_t gid, const char *user)
{
    int status = 0;
    pid_t pid = fork();

    if (pid < 0)
        return oserr_last();
    if (pid == 0)
        _exit(process_try_search(dir, set_user, uid, gid, user));
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return oserr_last();
    if (!WIFEXITED(status))
        return ERR_IO;
    return WEXITSTATUS(status) ? oserr_code(WEXITSTATUS(status)) : 0;
}
