/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_SOCK_ADDR_H
#define EPHPM_PLATFORM_SOCK_ADDR_H

/* What the socket files of the systems share. Private to src/platform. */

#include "platform/sock.h"

/* An IPv4-mapped IPv6 address becomes INET4. */
void sock_addr_normalize(struct sock_addr *a);

struct sockaddr_storage;
/* From the system's form. */
struct sock_addr sock_from_os(const struct sockaddr_storage *s);

#endif
