/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <dirent.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* Both tables: for kernels that do not answer the question about one socket. */
static unsigned long inode_from_tables(
    const struct sock_addr *local, const struct sock_addr *remote)
{
    unsigned long inode = socket_inode("/proc/net/tcp", false, local, remote);

    return inode ? inode : socket_inode("/proc/net/tcp6", true, local, remote);
}

struct diag_question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

static struct diag_question diag_make(const struct sock_addr *local, const struct sock_addr *remote)
{
    bool v6 = local->family == SOCK_INET6;
    struct diag_question q = {
        .head = {.nlmsg_len = sizeof(q),
            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
            .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = v6 ? AF_INET6 : AF_INET,
            .sdiag_protocol = IPPROTO_TCP,
            .idiag_states = ~0u,
            .id = {.idiag_sport = htons(local->port),
                .idiag_dport = htons(remote->port),
                .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };

    memcpy(q.body.id.idiag_src, local->ip, v6 ? 16 : 4);
    memcpy(q.body.id.idiag_dst, remote->ip, v6 ? 16 : 4);
    return q;
}

/* Asks the kernel about this one socket, a matter of microseconds. False: it gives no answer. */
static bool diag_inode(
    const struct sock_addr *local, const struct sock_addr *remote, unsigned long *inode)
{
    struct diag_question q = diag_make(local, remote);
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } reply;
    const struct inet_diag_msg *found;
    bool mine;
    int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t n = -1;

    if (s < 0)
        return false;
    if (send(s, &q, sizeof(q), 0) == (ssize_t)sizeof(q))
        n = recv(s, &reply, sizeof(reply), MSG_DONTWAIT); /* it was answered within send() */
    close(s);
    if (n < (ssize_t)sizeof(reply.head) || !NLMSG_OK(&reply.head, (uint32_t)n))
        return false;
    if (reply.head.nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *e = NLMSG_DATA(&reply.head);

        *inode = 0;
        return e->error == -ENOENT;
    }
    if (reply.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        reply.head.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return false;
    found = NLMSG_DATA(&reply.head);
    /* The socket that listens at the local address is the kernel's answer when nobody is connected.
     */
    mine = found->idiag_uid == geteuid() || geteuid() == 0;
    *inode = mine && found->id.idiag_dport == q.body.id.idiag_dport ? found->idiag_inode : 0;
    return true;
}

uint64_t process_tcp_inode(const struct sock_addr *local, const struct sock_addr *remote)
{
    unsigned long inode;

    if (local->family != remote->family ||
        (local->family != SOCK_INET4 && local->family != SOCK_INET6))
        return 0;
    return diag_inode(local, remote, &inode) ? inode : inode_from_tables(local, remote);
}

bool process_holds_socket(int64_t pid, uint64_t inode)
{
    char dir[64], path[400], want[64], link[64];
    bool found = false;
    struct dirent *e;
    DIR *d;

    (void)snprintf(want, sizeof(want), "socket:[%llu]", (unsigned long long)inode);
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
