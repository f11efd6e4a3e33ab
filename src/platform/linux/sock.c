/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/linux/oserr.h"
#include "platform/sock_addr.h"

int sock_startup(void)
{
    return 0;
}

/* The system's form of an address; its length, or 0 when there is none. */
static socklen_t sock_to_os(const struct sock_addr *a, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof(*out));
    if (a->family == SOCK_INET4) {
        struct sockaddr_in *in = (void *)out;

        in->sin_family = AF_INET;
        in->sin_port = htons(a->port);
        memcpy(&in->sin_addr, a->ip, 4);
        return sizeof(*in);
    }
    if (a->family == SOCK_INET6) {
        struct sockaddr_in6 *in6 = (void *)out;

        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(a->port);
        in6->sin6_scope_id = a->scope;
        memcpy(&in6->sin6_addr, a->ip, 16);
        return sizeof(*in6);
    }
    return 0;
}

struct sock_addr sock_from_os(const struct sockaddr_storage *s)
{
    struct sock_addr a = {0};

    if (s->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)s;

        a.family = SOCK_INET4;
        a.port = ntohs(in->sin_port);
        memcpy(a.ip, &in->sin_addr, 4);
    } else if (s->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)s;

        a.family = SOCK_INET6;
        a.port = ntohs(in6->sin6_port);
        a.scope = in6->sin6_scope_id;
        memcpy(a.ip, &in6->sin6_addr, 16);
        sock_addr_normalize(&a);
    } else if (s->ss_family == AF_UNIX) {
        a.family = SOCK_LOCAL;
    }
    return a;
}

static void sock_set_option(int s, int level, int name, int value)
{
    (void)setsockopt(s, level, name, &value, sizeof(value)); /* an optimisation, or unsupported */
}

int sock_listen(const struct sock_addr *at, int backlog, sock_t *out)
{
    struct sockaddr_storage ss;
    socklen_t len = sock_to_os(at, &ss);
    int s, rc;

    if (len == 0)
        return ERR_INVAL;
    s = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return oserr_last();
    sock_set_option(s, SOL_SOCKET, SO_REUSEADDR, 1);
    if (at->family == SOCK_INET6)
        sock_set_option(s, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind(s, (struct sockaddr *)&ss, len) < 0 || listen(s, backlog) < 0) {
        rc = oserr_last();
        close(s);
        return rc;
    }
    *out = s;
    return 0;
}

static int sock_local_name(const char *path, struct sockaddr_un *un)
{
    size_t n = strlen(path);

    memset(un, 0, sizeof(*un));
    un->sun_family = AF_UNIX;
    if (n >= sizeof(un->sun_path))
        return ERR_TOOBIG;
    memcpy(un->sun_path, path, n);
    return 0;
}

/* Makes room at un: 0 when nothing is there or a stale socket was removed. */
static int sock_local_clear(const struct sockaddr_un *un)
{
    struct stat st;
    int s, e;

    if (lstat(un->sun_path, &st) < 0)
        return errno == ENOENT ? 0 : oserr_last();
    if (!S_ISSOCK(st.st_mode))
        return ERR_EXISTS;
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return oserr_last();
    e = connect(s, (const struct sockaddr *)un, sizeof(*un)) < 0 ? errno : 0;
    close(s);
    /* Only a refusal proves that nobody listens; EAGAIN is a listener with a full queue. */
    if (e == 0 || e == EAGAIN || e == EPROTOTYPE)
        return ERR_ADDRINUSE;
    if (e == ENOENT)
        return 0;
    if (e != ECONNREFUSED)
        return oserr_code(e);
    return unlink(un->sun_path) < 0 && errno != ENOENT ? oserr_last() : 0;
}

int sock_listen_local(const char *path, uint32_t mode, int backlog, sock_t *out)
{
    struct sockaddr_un un;
    int s, rc = sock_local_name(path, &un);

    if (rc == 0)
        rc = sock_local_clear(&un);
    if (rc)
        return rc;
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return oserr_last();
    if (bind(s, (struct sockaddr *)&un, sizeof(un)) < 0) {
        rc = oserr_last();
        close(s);
        return rc;
    }
    /* Nobody can connect before listen(), so the mode holds from the first connection on. */
    if (chmod(path, (mode_t)mode) < 0 || listen(s, backlog) < 0) {
        rc = oserr_last();
        (void)unlink(path); /* ours, and already failing */
        close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sock_connect_local(const char *path, sock_t *out)
{
    struct sockaddr_un un;
    int s, rc = sock_local_name(path, &un);

    if (rc)
        return rc;
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return oserr_last();
    if (connect(s, (struct sockaddr *)&un, sizeof(un)) < 0) {
        rc = oserr_last();
        close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sock_connect(const struct sock_addr *to, sock_t *out)
{
    struct sockaddr_storage ss;
    socklen_t len = sock_to_os(to, &ss);
    int s, rc;

    if (len == 0)
        return ERR_INVAL;
    s = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0)
        return oserr_last();
    if (connect(s, (struct sockaddr *)&ss, len) < 0) {
        rc = oserr_last();
        close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sock_connect_start(const struct sock_addr *to, sock_t *out)
{
    struct sockaddr_storage ss;
    socklen_t len = sock_to_os(to, &ss);
    int s, rc;

    if (len == 0)
        return ERR_INVAL;
    s = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0)
        return oserr_last();
    sock_set_option(s, IPPROTO_TCP, TCP_NODELAY, 1);
    if (connect(s, (struct sockaddr *)&ss, len) < 0 && errno != EINPROGRESS) {
        rc = oserr_last();
        close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sock_connect_end(sock_t s)
{
    int e = 0;
    socklen_t len = sizeof(e);

    if (getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &len) < 0)
        return oserr_last();
    return e ? oserr_code(e) : 0;
}

int sock_accept(sock_t l, sock_t *out, struct sock_addr *peer)
{
    struct sockaddr_storage ss = {0};
    socklen_t len;
    int s;

    /* A connection that died in the queue is no reason to stop: take the next one. */
    do {
        len = sizeof(ss);
        s = accept4(l, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (s < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO));
    if (s < 0)
        return oserr_last();
    if (ss.ss_family != AF_UNIX)
        sock_set_option(s, IPPROTO_TCP, TCP_NODELAY, 1);
    *out = s;
    if (peer)
        *peer = sock_from_os(&ss);
    return 0;
}

int sock_local_addr(sock_t s, struct sock_addr *out)
{
    struct sockaddr_storage ss = {0};
    socklen_t len = sizeof(ss);

    if (getsockname(s, (struct sockaddr *)&ss, &len) < 0)
        return oserr_last();
    *out = sock_from_os(&ss);
    return 0;
}

int sock_peer_addr(sock_t s, struct sock_addr *out)
{
    struct sockaddr_storage ss = {0};
    socklen_t len = sizeof(ss);

    if (getpeername(s, (struct sockaddr *)&ss, &len) < 0)
        return oserr_last();
    *out = sock_from_os(&ss);
    return 0;
}

int sock_recv(sock_t s, void *p, size_t n, size_t *got)
{
    ssize_t r;

    do {
        r = recv(s, p, n, 0);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return oserr_last();
    if (r == 0)
        return ERR_EOF;
    *got = (size_t)r;
    return 0;
}

int sock_sendv(sock_t s, const struct str *parts, size_t n, bool more, size_t *sent)
{
    enum { PARTS_MAX = 64 };
    struct iovec iov[PARTS_MAX];
    struct msghdr m = {.msg_iov = iov};
    int flags = MSG_NOSIGNAL;
    ssize_t r;

    /* What does not fit goes with the caller's next call, like any other rest. */
    if (more || n > PARTS_MAX)
        flags |= MSG_MORE;
    m.msg_iovlen = MIN(n, (size_t)PARTS_MAX);
    for (size_t i = 0; i < m.msg_iovlen; i++)
        iov[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i].p, .iov_len = parts[i].len};
    do {
        /* For one part the kernel has less to copy in and to check this way. */
        r = n == 1 ? send(s, parts[0].p, parts[0].len, flags) : sendmsg(s, &m, flags);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return oserr_last();
    *sent = (size_t)r;
    return 0;
}

int sock_sendfile(sock_t s, int fd, uint64_t off, size_t n, size_t *sent)
{
    off_t at = (off_t)off;
    ssize_t r;

    do {
        r = sendfile(s, fd, &at, n);
    } while (r < 0 && errno == EINTR);
    if (r < 0)
        return oserr_last();
    *sent = (size_t)r;
    return 0;
}

uint64_t sock_untaken(sock_t s)
{
    int n = 0;

    return ioctl(s, SIOCOUTQ, &n) == 0 && n > 0 ? (uint64_t)n : 0;
}

void sock_shutdown_send(sock_t s)
{
    (void)shutdown(s, SHUT_WR); /* fails only when the connection is gone */
}

void sock_shutdown_wake(sock_t s, bool both)
{
    (void)shutdown(s, both ? SHUT_RDWR : SHUT_RD); /* as above */
}

void sock_set_timeouts(sock_t s, unsigned recv_ms, unsigned send_ms)
{
    struct timeval r = {recv_ms / 1000, (suseconds_t)(recv_ms % 1000) * 1000};
    struct timeval w = {send_ms / 1000, (suseconds_t)(send_ms % 1000) * 1000};

    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &r, sizeof(r)); /* cannot fail for a socket */
    (void)setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &w, sizeof(w));
}

void sock_set_reset_on_close(sock_t s)
{
    struct linger l = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(s, SOL_SOCKET, SO_LINGER, &l, sizeof(l)); /* an ordinary close otherwise */
}

void sock_set_blocking(sock_t s, bool on)
{
    int flags = fcntl(s, F_GETFL);

    if (flags >= 0)
        (void)fcntl(s, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK); /* cannot fail */
}

void sock_close(sock_t s)
{
    if (s != SOCK_NONE)
        (void)close(s); /* the descriptor is gone whatever it says */
}

int sock_wait_readable(sock_t s, int timeout_ms)
{
    struct pollfd f = {.fd = s, .events = POLLIN};
    int r = poll(&f, 1, timeout_ms);

    if (r < 0)
        return oserr_last();
    return r == 0 ? ERR_TIMEOUT : 0;
}

int sock_wait_any(const sock_t *s, size_t n, int timeout_ms, bool *ready)
{
    struct pollfd f[SOCK_WAIT_MAX];
    int r;

    if (n > SOCK_WAIT_MAX)
        return ERR_INVAL;
    for (size_t i = 0; i < n; i++)
        f[i] = (struct pollfd){.fd = s[i], .events = POLLIN};
    r = poll(f, (nfds_t)n, timeout_ms);
    if (r < 0)
        return oserr_last();
    for (size_t i = 0; i < n; i++)
        ready[i] = f[i].revents != 0;
    return r == 0 ? ERR_TIMEOUT : 0;
}
