/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Message pairs: SOCK_SEQPACKET with descriptors (SCM_RIGHTS). */
#include <errno.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "platform/linux/oserr.h"
#include "platform/sock.h"

int sock_pair(sock_t out[2])
{
    int s[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, s) < 0)
        return oserr_last();
    out[0] = s[0];
    out[1] = s[1];
    return 0;
}

int sock_stream_pair(sock_t out[2])
{
    int s[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, s) < 0)
        return oserr_last();
    out[0] = s[0];
    out[1] = s[1];
    return 0;
}

int sock_send_msg(sock_t s, const void *p, size_t n, const int *fds, size_t nfds)
{
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * SOCK_MSG_FDS)] = {0};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = n};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t r;

    /* An empty message would look like the end to the other side. */
    if (n == 0 || nfds > SOCK_MSG_FDS)
        return ERR_INVAL;
    if (n > SOCK_MSG_MAX)
        return ERR_TOOBIG;
    if (nfds) {
        struct cmsghdr *c;

        m.msg_control = control;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
        c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
        memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
    }
    do {
        r = sendmsg(s, &m, MSG_NOSIGNAL);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? oserr_last() : 0;
}

/* Collects the received descriptors; those beyond the room (there are none) would be closed. */
static size_t sock_take_fds(struct msghdr *m, int *fds)
{
    size_t n = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        size_t count;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            if (n < SOCK_MSG_FDS)
                fds[n++] = fd;
            else
                close(fd);
        }
    }
    return n;
}

int sock_recv_msg(sock_t s, void *p, size_t cap, size_t *got, int *fds, size_t *nfds)
{
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * SOCK_MSG_FDS)];
    struct iovec iov = {.iov_base = p, .iov_len = cap};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
    size_t n;
    ssize_t r;

    do {
        m.msg_controllen = sizeof(control);
        r = recvmsg(s, &m, MSG_CMSG_CLOEXEC);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return oserr_last();
    n = sock_take_fds(&m, fds);
    if (r > 0 && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        *got = (size_t)r;
        *nfds = n;
        return 0;
    }
    while (n)
        close(fds[--n]);
    if (r == 0)
        return ERR_EOF;
    /* Descriptors get lost when this process may not open more. */
    return m.msg_flags & MSG_TRUNC ? ERR_TOOBIG : ERR_MFILE;
}
