/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_IPC_H
#define EPHPM_ENGINE_IPC_H

/*
 * Control messages between roles (master - front, master - prototype), over message sockets.
 *
 * A message is an operation name and items (key, value); it may carry descriptors. Rates are low:
 * forks, switches, probes, never requests. Both ends are the same version of the program.
 *
 *   | u16 length of op | op | items: | u16 length of key | u32 length of value | key | value NUL |
 * ... |
 *
 * Received messages are bounds-checked all the same: a worker's process image is not the
 * prototype's any more once PHP code ran in it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "platform/sock.h"

/* A message being built. Zero-initialise through ipc_begin(). The descriptors stay the caller's. */
struct ipc_out {
    struct buf buf;
    int fds[SOCK_MSG_FDS];
    size_t nfds;
    int segment; /* private to ipc.c: of ipc_add_long(), -1 for none */
};

void ipc_begin(struct ipc_out *m, const char *op);
void ipc_add(struct ipc_out *m, const char *key, struct str value);
void ipc_add_u64(struct ipc_out *m, const char *key, uint64_t value);
void ipc_add_fd(struct ipc_out *m, int fd);
/*
 * A value that may be longer than a message can be: it travels in shared memory then. One such
 * value in a message, which must be sent. ERR_NOMEM, ERR_MFILE: it was not added.
 */
int ipc_add_long(struct ipc_out *m, const char *key, struct str value) MUST_CHECK;
/*
 * Sends and frees m. ERR_TOOBIG (over SOCK_MSG_MAX), ERR_CLOSED (the peer is gone), ERR_AGAIN (the
 * peer does not read: after a second of trying; it hangs).
 */
int ipc_send(sock_t s, struct ipc_out *m) MUST_CHECK;

/* A received message. It owns its bytes and the descriptors that were not taken. */
struct ipc_in {
    struct str op;
    struct str items; /* private to ipc.c */
    char *bytes;
    int fds[SOCK_MSG_FDS];
    size_t nfds;
};

/* ERR_AGAIN: none now. ERR_EOF: the peer closed. ERR_CORRUPT: not a message. */
int ipc_recv(sock_t s, struct ipc_in *m) MUST_CHECK;
/* Frees, closes what was not taken. */
void ipc_done(struct ipc_in *m);
bool ipc_is(const struct ipc_in *m, const char *op);
/* The first value of the key, NUL-terminated, valid until ipc_done(); p == NULL when there is none.
 */
struct str ipc_get(const struct ipc_in *m, const char *key);
/* The value as a C string, never NULL. */
const char *ipc_get_c(const struct ipc_in *m, const char *key);
uint64_t ipc_get_u64(const struct ipc_in *m, const char *key);
/* What ipc_add_long() added is appended to out; nothing when there is none. ERR_TOOBIG: it is
 * longer than max. */
int ipc_get_long(const struct ipc_in *m, const char *key, size_t max, struct buf *out) MUST_CHECK;
/* Iterates all items: size_t it = 0; while (ipc_next(m, &it, &key, &value)). */
bool ipc_next(const struct ipc_in *m, size_t *it, struct str *key, struct str *value);
/* Takes descriptor i out of the message; -1 when there is none. */
int ipc_take_fd(struct ipc_in *m, size_t i);

#endif
