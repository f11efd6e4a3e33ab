/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Addresses of names; the same on every system. */
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <netdb.h>
#include <sys/socket.h>
#endif

#include <string.h>

#include "platform/sock_addr.h"

int sock_resolve(const char *host, uint16_t port, struct sock_addr *out, size_t cap, size_t *n)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
    size_t found = 0;

    if (getaddrinfo(host, NULL, &hints, &all) != 0)
        return ERR_NOTFOUND;
    for (struct addrinfo *a = all; a && found < cap; a = a->ai_next) {
        struct sockaddr_storage ss = {0};

        if (a->ai_addrlen > sizeof(ss))
            continue;
        memcpy(&ss, a->ai_addr, a->ai_addrlen);
        out[found] = sock_from_os(&ss);
        out[found++].port = port;
    }
    freeaddrinfo(all);
    if (found == 0)
        return ERR_NOTFOUND;
    *n = found;
    return 0;
}

int sock_connect_name(const char *host, uint16_t port, sock_t *out)
{
    struct sock_addr to[SOCK_RESOLVE_MAX];
    size_t n;
    int rc = sock_resolve(host, port, to, ARRAY_LEN(to), &n);

    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        rc = sock_connect(&to[i], out);
        if (rc == 0)
            break;
    }
    return rc;
}
