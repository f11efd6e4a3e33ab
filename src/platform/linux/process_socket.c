/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/process.h"
#include "platform/sock.h"

/* An address as /proc/net/tcp and tcp6 print it: 32-bit words in host order, hex. */
static void socket_hex(const struct sock_addr *a, bool v6, char out[48])
{
    uint8_t ip[16] = {0};
    uint32_t w[4];
    size_t words = v6 ? 4 : 1, n = 0;

    if (!v6) {
        memcpy(ip, a->ip, 4);
    } else if (a->family == SOCK_INET4) {
        ip[10] = ip[11] = 0xff;
        memcpy(ip + 12, a->ip, 4);
    } else {
        memcpy(ip, a->ip, 16);
    }
    memcpy(w, ip, sizeof(ip));
    for (size_t i = 0; i < words; i++)
        n += (size_t)snprintf(out + n, 48 - n, "%08X", w[i]);
    (void)snprintf(out + n, 48 - n, ":%04X", a->port);
}

/* Inode of the socket in one table, 0 when it is not there. */
static unsigned long socket_inode(
    const char *table, bool v6, const struct sock_addr *local, const struct sock_addr *remote)
{
    char l[48], r[48], line[512], gl[64], gr[64];
    unsigned long inode, found = 0;
    FILE *f = fopen(table, "re");

    if (!f)
        return 0;
    socket_hex(local, v6, l);
    socket_hex(remote, v6, r);
    while (!found && fgets(line, sizeof(line), f)) {
        if (sscanf(line, " %*d: %63s %63s %*s %*s %*s %*s %*s %*s %lu", gl, gr, &inode) == 3 &&
            strcmp(gl, l) == 0 && strcmp(gr, r) == 0)
            found = inode;
    }
    (void)fclose(f); /* it was only read */
    return found;
}

bool process_holds_tcp(int64_t pid, const struct sock_addr *local, const struct sock_addr *remote)
{
    char dir[64], path[400], want[64], link[64];
    unsigned long inode = socket_inode("/proc/net/tcp", false, local, remote);
    bool found = false;
    struct dirent *e;
    DIR *d;

    if (!inode)
        inode = socket_inode("/proc/net/tcp6", true, local, remote);
    if (!inode)
        return false;
    (void)snprintf(want, sizeof(want), "socket:[%lu]", inode);
    (void)snprintf(dir, sizeof(dir), "/proc/%lld/fd", (long long)pid);
    d = opendir(dir);
    if (!d)
        return false;
    while (!found && (e = readdir(d)) != NULL) {
        ssize_t n;

        (void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        n = readlink(path, link, sizeof(link) - 1);
        if (n > 0) {
            link[n] = '\0';
            found = strcmp(link, want) == 0;
        }
    }
    (void)closedir(d); /* it was only read */
    return found;
}
