/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "kv/change.h"
#include "kv/entry.h"
#include "kv/keys.h"

/* The string of a key under the lock. */
struct text {
    struct kv_spot spot;
    bool copied; /* it is in the store's scratch buffer, else only in the entry */
    size_t len;
};

/* Copies it, if that was not done. A missing one is empty. ERR_INVAL: no string. ERR_TYPE. */
static int copy(struct kv_store *s, struct text *t)
{
    int r;

    if (t->copied)
        return 0;
    r = kv_take_text(s, &t->spot);
    if (r)
        return r;
    t->copied = true;
    t->len = s->scratch.len;
    return 0;
}

/* Copies only what cannot be looked at in place. */
static int open_text(struct kv_store *s, struct str key, struct text *t)
{
    int r = 0;

    *t = (struct text){0};
    kv_spot_open(s, key, &t->spot);
    if (t->spot.e && KV_GET(t->spot.e->type) == KV_STRING &&
        !(KV_GET(t->spot.e->flags) & KV_CODING))
        t->len = KV_GET(t->spot.e->value_len);
    else
        r = copy(s, t);
    return r;
}

static void close_text(struct kv_store *s, struct text *t)
{
    kv_spot_close(s, &t->spot);
    kv_trim(s);
}

/* Bytes of it, which it has. */
static int read_part(struct kv_store *s, const struct text *t, size_t at, size_t n, char *to)
{
    if (n == 0)
        return 0;
    if (t->copied) {
        memcpy(to, s->scratch.p + at, n);
        return 0;
    }
    if (kv_entry_peek(s, t->spot.ref, at, n, to) != 0) {
        s->nonsense = true;
        return ERR_NOTFOUND;
    }
    return 0;
}

int kv_store_getrange(struct kv_store *s, struct str key, int64_t start, int64_t end,
    struct buf *buf, struct str *out)
{
    struct text t;
    size_t n = 0;
    int64_t len;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    r = open_text(s, key, &t);
    if (r == 0 && !t.spot.e)
        r = ERR_NOTFOUND;
    len = (int64_t)t.len;
    start = start < 0 ? MAX(start + len, 0) : start;
    end = end < 0 ? end + len : MIN(end, len - 1);
    buf_clear(buf);
    if (r == 0 && start <= end) {
        n = (size_t)(end - start + 1);
        r = read_part(s, &t, (size_t)start, n, buf_reserve(buf, n));
    }
    close_text(s, &t);
    if (r)
        return r;
    buf->len = n;
    *out = buf_str(buf);
    return 0;
}

/* Puts the window's bytes back. */
static int write_part(struct kv_store *s, struct text *t, size_t at, struct str bytes)
{
    struct kv_entry *e = t->spot.e;
    struct kv_value v = {.type = KV_STRING};
    size_t end = at + bytes.len;
    int r;

    if (!t->copied && kv_entry_poke(s, t->spot.ref, at, bytes)) {
        KV_SET(e->version, kv_shard_changed(t->spot.sh, t->spot.hash, false));
        return 0;
    }
    r = copy(s, t);
    if (r)
        return r;
    if (end > t->len) {
        memset(buf_reserve(&s->scratch, end - t->len), 0, end - t->len);
        s->scratch.len = t->len = end;
    }
    memcpy(s->scratch.p + at, bytes.p, bytes.len);
    v.bytes = buf_str(&s->scratch);
    return kv_put(s, &t->spot, &v, e ? KV_GET(e->deadline) : 0);
}

int kv_store_edit(
    struct kv_store *s, struct str key, size_t at, size_t n, kv_edit_cb *cb, void *arg, size_t *len)
{
    struct text t;
    char *window;
    size_t there;
    int r;

    if (key.len > KV_KEY_MAX || n > KV_VALUE_MAX || at > KV_VALUE_MAX - n)
        return ERR_TOOBIG;
    buf_clear(&s->window);
    window = buf_reserve(&s->window, MAX(n, 1));
    memset(window, 0, n);
    r = open_text(s, key, &t);
    there = at < t.len ? MIN(n, t.len - at) : 0;
    if (r == 0)
        r = read_part(s, &t, at, there, window);
    if (r == 0 && cb(arg, window, n) && n > 0)
        r = write_part(s, &t, at, str_n(window, n));
    close_text(s, &t);
    if (r == 0)
        *len = t.len;
    return r;
}

static bool overwrite(void *arg, char *bytes, size_t n)
{
    const struct str *with = arg;

    if (n)
        memcpy(bytes, with->p, n);
    return true;
}

int kv_store_setrange(struct kv_store *s, struct str key, size_t at, struct str bytes, size_t *len)
{
    /* Without bytes it does not matter where. */
    return kv_store_edit(s, key, bytes.len ? at : 0, bytes.len, overwrite, &bytes, len);
}
