/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_SOCK_H
#define EPHPM_PLATFORM_SOCK_H

/*
 * Sockets. sock_t is an int descriptor on Unix and a SOCKET on Windows; SOCK_NONE is none. All are
 * non-blocking and close-on-exec. Errors are err.h codes; ERR_AGAIN means "would block".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

#ifdef _WIN32
typedef uintptr_t sock_t;
#else
typedef int sock_t;
#endif
#define SOCK_NONE ((sock_t) - 1)

enum sock_family { SOCK_UNSPEC, SOCK_INET4, SOCK_INET6, SOCK_LOCAL };

/* An address in a form that can be compared and printed. For SOCK_LOCAL only family is meaningful.
 */
struct sock_addr {
    enum sock_family family;
    uint16_t port;
    uint8_t ip[16]; /* 4 bytes used for INET4; an IPv4-mapped INET6 is given as INET4 */
    uint32_t scope; /* INET6 link-local scope id */
};

enum { SOCK_ADDR_TEXT = 64 };

/* Process-wide start (Winsock); call once before anything here. */
int sock_startup(void) MUST_CHECK;

/* "127.0.0.1:80", "[::1]:80", "*:80", ":80", "80" (the last three: any IPv4 address). Numeric only.
 */
int sock_addr_parse(struct str text, struct sock_addr *out) MUST_CHECK;
/* IP literal alone, no port, no brackets; a scope suffix "%eth0" is dropped. */
int sock_ip_parse(struct str text, struct sock_addr *out) MUST_CHECK;
/* Without brackets and port: "127.0.0.1", "::1"; "" for SOCK_LOCAL. Writes a NUL; returns the
 * length. */
size_t sock_ip_format(const struct sock_addr *a, char out[SOCK_ADDR_TEXT]);
/* With port, brackets for IPv6; "unix:" for SOCK_LOCAL. */
size_t sock_addr_format(const struct sock_addr *a, char out[SOCK_ADDR_TEXT]);
bool sock_ip_equal(const struct sock_addr *a, const struct sock_addr *b);
bool sock_ip_is_loopback(const struct sock_addr *a);
/* "10.0.0.0/8", "::1", "127.0.0.1"; bits is the prefix length. */
int sock_cidr_parse(struct str text, struct sock_addr *net, unsigned *bits) MUST_CHECK;
bool sock_cidr_contains(const struct sock_addr *net, unsigned bits, const struct sock_addr *ip);

/* Bound and listening TCP socket (SO_REUSEADDR on Unix, exclusive on Windows). ERR_ADDRINUSE,
 * ERR_ACCESS. */
int sock_listen(const struct sock_addr *at, int backlog, sock_t *out) MUST_CHECK;
/* Unix-domain listener with mode; a stale socket file (nobody listens) is replaced, a live one is
 * ERR_ADDRINUSE, a file that is no socket is ERR_EXISTS, too long a path ERR_TOOBIG. The file stays
 * when the socket is closed. */
int sock_listen_local(const char *path, uint32_t mode, int backlog, sock_t *out) MUST_CHECK;
/* Blocking-mode connected client socket for command-line tools. ERR_NOTFOUND, ERR_REFUSED. */
int sock_connect_local(const char *path, sock_t *out) MUST_CHECK;
/* The same over TCP. */
int sock_connect(const struct sock_addr *to, sock_t *out) MUST_CHECK;
/* The same by a name or a numeric address; all addresses of a name are tried. Blocks. ERR_NOTFOUND
 * when there is no such name. */
int sock_connect_name(const char *host, uint16_t port, sock_t *out) MUST_CHECK;
/* The addresses of a name or a numeric address, at most cap. Blocks. ERR_NOTFOUND when there is
 * none.
 */
enum { SOCK_RESOLVE_MAX = 16 };
int sock_resolve(
    const char *host, uint16_t port, struct sock_addr *out, size_t cap, size_t *n) MUST_CHECK;
/* Starts a connection without waiting for it; TCP_NODELAY is set. The socket becomes writable when
 * it is decided, and sock_connect_end() then says how. ERR_REFUSED may come from either. */
int sock_connect_start(const struct sock_addr *to, sock_t *out) MUST_CHECK;
int sock_connect_end(sock_t s) MUST_CHECK;
/* A non-blocking connected socket and its peer (peer may be NULL); TCP_NODELAY is set. ERR_AGAIN,
 * ERR_MFILE. */
int sock_accept(sock_t l, sock_t *out, struct sock_addr *peer) MUST_CHECK;
int sock_local_addr(sock_t s, struct sock_addr *out) MUST_CHECK;
int sock_peer_addr(sock_t s, struct sock_addr *out) MUST_CHECK;

/* Up to n bytes. *got > 0, or ERR_AGAIN, ERR_EOF at orderly end, ERR_CLOSED on reset, ERR_IO. */
int sock_recv(sock_t s, void *p, size_t n, size_t *got) MUST_CHECK;
/* Sends parts in order; *sent may be less than the sum. No SIGPIPE. more: more will follow at once
 * (MSG_MORE). */
int sock_sendv(sock_t s, const struct str *parts, size_t n, bool more, size_t *sent) MUST_CHECK;
/* Sends from a file at off; *sent may be less than n, 0 when the file ended. May raise SIGPIPE
 * (process_ignore_sigpipe). */
int sock_sendfile(sock_t s, int fd, uint64_t off, size_t n, size_t *sent) MUST_CHECK;
/* Bytes that were sent and that the peer has not taken yet; 0 where the system does not tell. */
uint64_t sock_untaken(sock_t s);
/* Sends FIN. */
void sock_shutdown_send(sock_t s);
/* Nothing more is read (or sent, when both): wakes a thread that waits for it in a blocking call,
 * which then finds the end. May be called from any thread, while the socket is open. */
void sock_shutdown_wake(sock_t s, bool both);
/* A blocking sock_recv() or sock_sendv() waits at most so long, then says ERR_AGAIN; 0: for ever.
 */
void sock_set_timeouts(sock_t s, unsigned recv_ms, unsigned send_ms);
/* Makes close() send RST. */
void sock_set_reset_on_close(sock_t s);
void sock_set_blocking(sock_t s, bool on);
void sock_close(sock_t s); /* SOCK_NONE is fine */

/*
 * Message pairs between roles (Unix only; ERR_UNSUPPORTED elsewhere): one message is delivered
 * whole (SOCK_SEQPACKET) and may carry descriptors. Non-blocking. ERR_EOF when the other side
 * closed.
 */
/* A connected pair of local byte streams (Unix only; ERR_UNSUPPORTED elsewhere). */
int sock_stream_pair(sock_t out[2]) MUST_CHECK;

enum { SOCK_MSG_MAX = 65536, SOCK_MSG_FDS = 16 };
int sock_pair(sock_t out[2]) MUST_CHECK;
/* ERR_INVAL for an empty message, ERR_TOOBIG, ERR_AGAIN, ERR_CLOSED. */
int sock_send_msg(sock_t s, const void *p, size_t n, const int *fds, size_t nfds) MUST_CHECK;
/* fds must hold SOCK_MSG_FDS; the received ones are the caller's to close. ERR_TOOBIG when cap was
 * too small, ERR_MFILE when descriptors were lost; in both cases the message is gone. */
int sock_recv_msg(sock_t s, void *p, size_t cap, size_t *got, int *fds, size_t *nfds) MUST_CHECK;
/* Waits until readable, at most timeout_ms (-1: for ever). ERR_TIMEOUT, ERR_INTR. */
int sock_wait_readable(sock_t s, int timeout_ms) MUST_CHECK;

/* Waits until one of n sockets (at most SOCK_WAIT_MAX) is readable or has ended; ready[i] says
 * which. ERR_TIMEOUT, ERR_INTR. */
enum { SOCK_WAIT_MAX = 64 };
int sock_wait_any(const sock_t *s, size_t n, int timeout_ms, bool *ready) MUST_CHECK;

#endif
