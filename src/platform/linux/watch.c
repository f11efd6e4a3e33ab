/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/watch.h"

#include <errno.h>
#include <stdalign.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/linux/oserr.h"

struct watch {
    int fd;
};

int watch_open(struct watch **out)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    struct watch *w;

    if (fd < 0)
        return oserr_last();
    w = mem_new(sizeof(*w));
    w->fd = fd;
    *out = w;
    return 0;
}

void watch_close(struct watch *w)
{
    if (!w)
        return;
    close(w->fd);
    mem_free(w);
}

int watch_fd(const struct watch *w)
{
    return w->fd;
}

int watch_add(struct watch *w, const char *dir, int *id)
{
    /* The kernel gives the same number for the same directory, and never a used one again. */
    int wd = inotify_add_watch(w->fd, dir,
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE |
            IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);

    if (wd < 0)
        return oserr_last();
    *id = wd;
    return 0;
}

void watch_remove(struct watch *w, int id)
{
    (void)inotify_rm_watch(w->fd, id); /* gone already when the directory is */
}

static void watch_deliver(const struct inotify_event *e, watch_cb *cb, void *arg)
{
    if (e->mask & IN_Q_OVERFLOW)
        cb(arg, -1, "");
    else if (!(e->mask & IN_IGNORED))
        cb(arg, e->wd, e->len ? e->name : "");
}

void watch_read(struct watch *w, watch_cb *cb, void *arg)
{
    alignas(struct inotify_event) char space[8192];

    for (;;) {
        ssize_t n = read(w->fd, space, sizeof(space));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        for (char *p = space; p < space + n;) {
            const struct inotify_event *e = (const void *)p;

            p += sizeof(*e) + e->len;
            watch_deliver(e, cb, arg);
        }
    }
}
