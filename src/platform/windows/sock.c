/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <winsock2.h>
#include <ws2tcpip.h>

#include <string.h>

#include "platform/fs.h"
#include "platform/sock_addr.h"
#include "platform/windows/oserr.h"

int sock_startup(void)
{
    WSADATA data;
    int e = WSAStartup(MAKEWORD(2, 2), &data);

    return e ? oserr_code((unsigned long)e) : 0;
}

static int sock_error(void)
{
    return oserr_code((unsigned long)WSAGetLastError());
}

/* The system's form of an address; its length, or 0 when there is none. */
static int sock_to_os(const struct sock_addr *a, struct sockaddr_storage *out)
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
    }
    return a;
}

static void sock_set_option(SOCKET s, int level, int name, DWORD value)
{
    (void)setsockopt(s, level, name, (const char *)&value, sizeof(value)); /* an optimisation */
}

void sock_set_blocking(sock_t s, bool on)
{
    u_long non_blocking = on ? 0 : 1;

    (void)ioctlsocket(s, FIONBIO, &non_blocking); /* cannot fail for a socket */
}

static int sock_open(int family, SOCKET *out)
{
    SOCKET s = WSASocketW(
        family, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);

    if (s == INVALID_SOCKET)
        return sock_error();
    *out = s;
    return 0;
}

int sock_listen(const struct sock_addr *at, int backlog, sock_t *out)
{
    struct sockaddr_storage ss;
    int len = sock_to_os(at, &ss), rc;
    SOCKET s;

    if (len == 0)
        return ERR_INVAL;
    rc = sock_open(ss.ss_family, &s);
    if (rc)
        return rc;
    /* SO_REUSEADDR would let others take the port over. */
    sock_set_option(s, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 1);
    if (at->family == SOCK_INET6)
        sock_set_option(s, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind(s, (struct sockaddr *)&ss, len) != 0 || listen(s, backlog) != 0) {
        rc = sock_error();
        closesocket(s);
        return rc;
    }
    sock_set_blocking(s, false);
    *out = s;
    return 0;
}

int sock_listen_local(const char *path, uint32_t mode, int backlog, sock_t *out)
{
    return ERR_UNSUPPORTED;
}

int sock_connect_local(const char *path, sock_t *out)
{
    return ERR_UNSUPPORTED;
}

int sock_connect(const struct sock_addr *to, sock_t *out)
{
    struct sockaddr_storage ss;
    int len = sock_to_os(to, &ss), rc;
    SOCKET s;

    if (len == 0)
        return ERR_INVAL;
    rc = sock_open(ss.ss_family, &s);
    if (rc)
        return rc;
    if (connect(s, (struct sockaddr *)&ss, len) != 0) {
        rc = sock_error();
        closesocket(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sock_connect_start(const struct sock_addr *to, sock_t *out)
{
    struct sockaddr_storage ss;
    int len = sock_to_os(to, &ss), rc;
    SOCKET s;

    if (len == 0)
        return ERR_INVAL;
    rc = sock_open(ss.ss_family, &s);
    if (rc)
        return rc;
    sock_set_blocking(s, false);
    sock_set_option(s, IPPROTO_TCP, TCP_NODELAY, 1);
    if (connect(s, (struct sockaddr *)&ss, len) != 0 && WSAGetLastError() != WSAEWOULDBLOCK) {
        rc = sock_error();
        closesocket(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sock_connect_end(sock_t s)
{
    int e = 0, len = sizeof(e);

    if (getsockopt(s, SOL_SOCKET, SO_ERROR, (char *)&e, &len) != 0)
        return sock_error();
    return e ? oserr_code((unsigned long)e) : 0;
}

int sock_accept(sock_t l, sock_t *out, struct sock_addr *peer)
{
    struct sockaddr_storage ss = {0};
    SOCKET s;
    int len;

    /* A connection that died in the queue is no reason to stop: take the next one. */
    do {
        len = sizeof(ss);
        s = accept(l, (struct sockaddr *)&ss, &len);
    } while (s == INVALID_SOCKET && WSAGetLastError() == WSAECONNRESET);
    if (s == INVALID_SOCKET)
        return sock_error();
    (void)SetHandleInformation((HANDLE)s, HANDLE_FLAG_INHERIT, 0); /* cannot fail for a socket */
    sock_set_blocking(s, false);
    sock_set_option(s, IPPROTO_TCP, TCP_NODELAY, 1);
    *out = s;
    if (peer)
        *peer = sock_from_os(&ss);
    return 0;
}

int sock_local_addr(sock_t s, struct sock_addr *out)
{
    struct sockaddr_storage ss = {0};
    int len = sizeof(ss);

    if (getsockname(s, (struct sockaddr *)&ss, &len) != 0)
        return sock_error();
    *out = sock_from_os(&ss);
    return 0;
}

int sock_peer_addr(sock_t s, struct sock_addr *out)
{
    struct sockaddr_storage ss = {0};
    int len = sizeof(ss);

    if (getpeername(s, (struct sockaddr *)&ss, &len) != 0)
        return sock_error();
    *out = sock_from_os(&ss);
    return 0;
}

int sock_recv(sock_t s, void *p, size_t n, size_t *got)
{
    int r = recv(s, p, (int)MIN(n, (size_t)INT32_MAX), 0);

    if (r < 0)
        return sock_error();
    if (r == 0)
        return ERR_EOF;
    *got = (size_t)r;
    return 0;
}

int sock_sendv(sock_t s, const struct str *parts, size_t n, bool more, size_t *sent)
{
    enum { PARTS_MAX = 64 };
    WSABUF bufs[PARTS_MAX];
    DWORD done = 0;

    n = MIN(n, (size_t)PARTS_MAX);
    for (size_t i = 0; i < n; i++)
        bufs[i] = (WSABUF){.len = (ULONG)MIN(parts[i].len, (size_t)INT32_MAX),
            .buf = (CHAR *)(uintptr_t)parts[i].p};
    if (WSASend(s, bufs, (DWORD)n, &done, 0, NULL, NULL) != 0)
        return sock_error();
    *sent = done;
    return 0;
}

/* TransmitFile() would wait for the peer, so this goes through memory. */
int sock_sendfile(sock_t s, int fd, uint64_t off, size_t n, size_t *sent)
{
    char chunk[32768];
    struct str part;
    size_t got = 0;
    int rc = fs_pread(fd, chunk, MIN(n, sizeof(chunk)), off, &got);

    if (rc)
        return rc;
    part = str_n(chunk, got);
    if (got == 0) {
        *sent = 0;
        return 0;
    }
    return sock_sendv(s, &part, 1, false, sent);
}

uint64_t sock_untaken(sock_t s)
{
    (void)s;
    return 0;
}

void sock_shutdown_send(sock_t s)
{
    (void)shutdown(s, SD_SEND); /* fails only when the connection is gone */
}

void sock_shutdown_wake(sock_t s, bool both)
{
    (void)shutdown(s, both ? SD_BOTH : SD_RECEIVE); /* as above */
    (void)CancelIoEx((HANDLE)s, NULL);              /* shutdown() alone may leave it waiting */
}

void sock_set_timeouts(sock_t s, unsigned recv_ms, unsigned send_ms)
{
    DWORD r = recv_ms, w = send_ms;

    (void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, (const char *)&r, sizeof(r)); /* cannot fail */
    (void)setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, (const char *)&w, sizeof(w));
}

void sock_set_reset_on_close(sock_t s)
{
    struct linger l = {.l_onoff = 1, .l_linger = 0};

    /* An ordinary close otherwise. */
    (void)setsockopt(s, SOL_SOCKET, SO_LINGER, (const char *)&l, sizeof(l));
}

void sock_close(sock_t s)
{
    if (s != SOCK_NONE)
        (void)closesocket(s); /* gone whatever it says */
}

int sock_stream_pair(sock_t out[2])
{
    return ERR_UNSUPPORTED;
}

int sock_pair(sock_t out[2])
{
    return ERR_UNSUPPORTED;
}

int sock_send_msg(sock_t s, const void *p, size_t n, const int *fds, size_t nfds)
{
    return ERR_UNSUPPORTED;
}

int sock_recv_msg(sock_t s, void *p, size_t cap, size_t *got, int *fds, size_t *nfds)
{
    return ERR_UNSUPPORTED;
}

int sock_wait_readable(sock_t s, int timeout_ms)
{
    WSAPOLLFD f = {.fd = s, .events = POLLRDNORM};
    int r = WSAPoll(&f, 1, timeout_ms);

    if (r < 0)
        return sock_error();
    return r == 0 ? ERR_TIMEOUT : 0;
}

int sock_wait_any(const sock_t *s, size_t n, int timeout_ms, bool *ready)
{
    WSAPOLLFD f[SOCK_WAIT_MAX];
    int r;

    if (n > SOCK_WAIT_MAX)
        return ERR_INVAL;
    for (size_t i = 0; i < n; i++)
        f[i] = (WSAPOLLFD){.fd = s[i], .events = POLLRDNORM};
    r = WSAPoll(f, (ULONG)n, timeout_ms);
    if (r < 0)
        return sock_error();
    for (size_t i = 0; i < n; i++)
        ready[i] = f[i].revents != 0;
    return r == 0 ? ERR_TIMEOUT : 0;
}
