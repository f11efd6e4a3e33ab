/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/ipc.h"

#include "base/mem.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/shm.h"

enum {
    IPC_SEND_MS = 1000,
    IPC_INLINE_MAX = SOCK_MSG_MAX / 2 /* a longer value goes into a segment of its own */
};

/* The item that says which descriptor the long value is in. */
#define IPC_SEGMENT "segment"

void ipc_begin(struct ipc_out *m, const char *op)
{
    uint16_t n = (uint16_t)strlen(op);

    *m = (struct ipc_out){.segment = -1};
    buf_add(&m->buf, &n, sizeof(n));
    buf_add(&m->buf, op, n);
}

void ipc_add(struct ipc_out *m, const char *key, struct str value)
{
    uint16_t k = (uint16_t)strlen(key);
    uint32_t v = (uint32_t)value.len;

    ENSURE(value.len < UINT32_MAX);
    buf_add(&m->buf, &k, sizeof(k));
    buf_add(&m->buf, &v, sizeof(v));
    buf_add(&m->buf, key, k);
    buf_add_str(&m->buf, value);
    buf_add_char(&m->buf, '\0');
}

void ipc_add_u64(struct ipc_out *m, const char *key, uint64_t value)
{
    struct buf b = {0};

    buf_add_u64(&b, value);
    ipc_add(m, key, buf_str(&b));
    buf_fini(&b);
}

void ipc_add_fd(struct ipc_out *m, int fd)
{
    ENSURE(m->nfds < SOCK_MSG_FDS);
    m->fds[m->nfds++] = fd;
}

int ipc_add_long(struct ipc_out *m, const char *key, struct str value)
{
    int rc;

    ENSURE(m->segment < 0);
    if (value.len <= IPC_INLINE_MAX) {
        ipc_add(m, key, value);
        return 0;
    }
    rc = shm_create("ephpm-message", value.len, &m->segment);
    if (rc == 0)
        rc = fs_pwrite(m->segment, value.p, value.len, 0);
    if (rc) {
        fs_close(m->segment);
        m->segment = -1;
        return rc;
    }
    ipc_add_u64(m, IPC_SEGMENT, m->nfds);
    ipc_add_fd(m, m->segment);
    return 0;
}

int ipc_send(sock_t s, struct ipc_out *m)
{
    uint64_t start = clock_mono_ns();
    int rc = ERR_TOOBIG;

    if (m->buf.len <= SOCK_MSG_MAX) {
        do {
            rc = sock_send_msg(s, m->buf.p, m->buf.len, m->fds, m->nfds);
            if (rc == ERR_AGAIN)
                clock_sleep_ms(1);
        } while (rc == ERR_AGAIN && clock_mono_ns() - start < IPC_SEND_MS * 1000000ull);
    }
    buf_fini(&m->buf);
    fs_close(m->segment);
    m->segment = -1;
    return rc;
}

/* Walks one item; false at the end or when the bytes are no item. */
static bool ipc_item(struct str *rest, struct str *key, struct str *value)
{
    uint16_t k;
    uint32_t v;
    size_t need;

    if (rest->len < sizeof(k) + sizeof(v))
        return false;
    memcpy(&k, rest->p, sizeof(k));
    memcpy(&v, rest->p + sizeof(k), sizeof(v));
    need = sizeof(k) + sizeof(v) + k + (size_t)v + 1;
    if (rest->len < need)
        return false;
    *key = str_n(rest->p + sizeof(k) + sizeof(v), k);
    *value = str_n(key->p + k, v);
    if (value->p[v] != '\0')
        return false;
    *rest = str_sub(*rest, need, rest->len);
    return true;
}

static int ipc_check(struct ipc_in *m, struct str all)
{
    struct str rest, key, value;
    uint16_t n;

    if (all.len < sizeof(n))
        return ERR_CORRUPT;
    memcpy(&n, all.p, sizeof(n));
    if (all.len < sizeof(n) + n)
        return ERR_CORRUPT;
    m->op = str_n(all.p + sizeof(n), n);
    m->items = str_sub(all, sizeof(n) + n, all.len);
    rest = m->items;
    while (ipc_item(&rest, &key, &value))
        ;
    return rest.len ? ERR_CORRUPT : 0;
}

int ipc_recv(sock_t s, struct ipc_in *m)
{
    size_t got = 0;
    int rc;

    *m = (struct ipc_in){.bytes = mem_new(SOCK_MSG_MAX)};
    rc = sock_recv_msg(s, m->bytes, SOCK_MSG_MAX, &got, m->fds, &m->nfds);
    if (rc == 0)
        rc = ipc_check(m, str_n(m->bytes, got));
    if (rc)
        ipc_done(m);
    return rc;
}

void ipc_done(struct ipc_in *m)
{
    for (size_t i = 0; i < m->nfds; i++)
        fs_close(m->fds[i]);
    mem_free(m->bytes);
    *m = (struct ipc_in){0};
}

bool ipc_is(const struct ipc_in *m, const char *op)
{
    return str_eq(m->op, str_c(op));
}

struct str ipc_get(const struct ipc_in *m, const char *key)
{
    struct str rest = m->items, k, v;

    while (ipc_item(&rest, &k, &v))
        if (str_eq(k, str_c(key)))
            return v;
    return STR_NONE;
}

const char *ipc_get_c(const struct ipc_in *m, const char *key)
{
    struct str v = ipc_get(m, key);

    return v.p ? v.p : "";
}

uint64_t ipc_get_u64(const struct ipc_in *m, const char *key)
{
    uint64_t v = 0;

    return str_u64(ipc_get(m, key), &v) ? 0 : v;
}

int ipc_get_long(const struct ipc_in *m, const char *key, size_t max, struct buf *out)
{
    struct str value = ipc_get(m, key);
    uint64_t i = ipc_get_u64(m, IPC_SEGMENT);
    struct fs_stat st;
    size_t got = 0;
    int rc;

    if (!ipc_get(m, IPC_SEGMENT).p) {
        buf_add_str(out, value);
        return 0;
    }
    if (i >= m->nfds)
        return ERR_PROTO;
    rc = fs_fstat(m->fds[i], &st);
    if (rc == 0 && st.size > max)
        rc = ERR_TOOBIG;
    if (rc == 0)
        rc = fs_pread(m->fds[i], buf_reserve(out, (size_t)st.size), (size_t)st.size, 0, &got);
    out->len += rc ? 0 : got;
    return rc;
}

bool ipc_next(const struct ipc_in *m, size_t *it, struct str *key, struct str *value)
{
    struct str rest = str_sub(m->items, *it, m->items.len);

    if (!ipc_item(&rest, key, value))
        return false;
    *it = m->items.len - rest.len;
    return true;
}

int ipc_take_fd(struct ipc_in *m, size_t i)
{
    int fd;

    if (i >= m->nfds)
        return -1;
    fd = m->fds[i];
    m->fds[i] = -1;
    return fd;
}
