/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <math.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "kv/keys.h"
#include "kv/snapshot.h"
#include "kv/snapshot_format.h"
#include "platform/clock.h"
#include "platform/fs.h"

#define CHUNK 65536u

/* One way through the file. The first only looks (s is NULL), the second puts. */
struct reader {
    int fd;
    uint64_t at, size; /* what of the file was asked of the system; all of it */
    char *chunk;       /* the last piece that was read */
    size_t chunk_len, chunk_at;
    XXH3_state_t *check;
    struct kv_store *s;
    struct kv_snapshot_loaded *out;
    struct buf body;
    struct buf items; /* struct kv_item of a body's elements */
    struct buf key;   /* of the collection that SNAP_MORE goes on with */
    unsigned type;    /* its type; 0: there is none */
    bool skip;        /* it is not put: expired, or no room */
    uint64_t keys;
    int64_t now;
    struct err *err;
};

static int damaged(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_CORRUPT, "%s", what);
}

/* ---- bytes ---- */

static uint64_t left_of(const struct reader *r)
{
    return r->size - r->at + (r->chunk_len - r->chunk_at);
}

/* n bytes; who asks for more than are left is told so before. */
static int take(struct reader *r, void *to, size_t n, bool counts)
{
    char *p = to;
    size_t part, got;
    int rc;

    if (n > left_of(r))
        return damaged(r, "it ends too early");
    while (n > 0) {
        if (r->chunk_at == r->chunk_len) {
            rc = fs_pread(r->fd, r->chunk, CHUNK, r->at, &got);
            if (rc)
                return err_set(r->err, rc, "%s", err_text(rc));
            if (got == 0)
                return damaged(r, "it ends too early");
            r->at += got;
            r->chunk_len = got;
            r->chunk_at = 0;
        }
        part = MIN(n, r->chunk_len - r->chunk_at);
        memcpy(p, r->chunk + r->chunk_at, part);
        if (counts)
            (void)XXH3_128bits_update(r->check, p, part); /* cannot fail for a state and bytes */
        r->chunk_at += part;
        p += part;
        n -= part;
    }
    return 0;
}

/* ---- what a record says ---- */

static bool is_plain(unsigned type)
{
    return type == KV_STRING || type == KV_INT || type == KV_FLOAT || type == KV_SERIALIZED;
}

/* A string or a number out of its bytes. False: they are none. */
static bool get_plain(unsigned type, struct str bytes, struct kv_value *v)
{
    *v = (struct kv_value){.type = (enum kv_type)type};
    switch (type) {
    case KV_INT:
    case KV_FLOAT:
        if (bytes.len != sizeof(v->i))
            return false;
        if (type == KV_INT)
            memcpy(&v->i, bytes.p, sizeof(v->i));
        else
            memcpy(&v->f, bytes.p, sizeof(v->f));
        return true;
    default:
        v->bytes = bytes;
        return is_plain(type) && bytes.len <= KV_VALUE_MAX;
    }
}

/* The next element off *rest. */
static bool get_element(enum kv_type type, struct str *rest, struct kv_item *item)
{
    bool has_value = type == KV_HASH || type == KV_LIST;
    struct snap_element e;

    if (rest->len < sizeof(e))
        return false;
    memcpy(&e, rest->p, sizeof(e));
    *rest = str_sub(*rest, sizeof(e), rest->len);
    if (e.zero || e.member_len > KV_MEMBER_MAX || (type == KV_LIST && e.member_len) ||
        (!has_value && (e.type || e.value_len)) || (type != KV_ZSET && e.score != 0) ||
        isnan(e.score) || rest->len < (size_t)e.member_len + e.value_len)
        return false;
    *item = (struct kv_item){.member = str_n(rest->p, e.member_len), .score = e.score};
    if (has_value && !get_plain(e.type, str_n(rest->p + e.member_len, e.value_len), &item->value))
        return false;
    *rest = str_sub(*rest, (size_t)e.member_len + e.value_len, rest->len);
    return true;
}

static bool get_elements(struct reader *r, unsigned type, struct str body, uint32_t count)
{
    struct kv_item item;

    buf_clear(&r->items);
    for (uint32_t i = 0; i < count; i++) {
        if (!get_element((enum kv_type)type, &body, &item))
            return false;
        buf_add(&r->items, &item, sizeof(item));
    }
    return body.len == 0 && count > 0;
}

/* ---- putting ---- */

static int64_t ttl_of(const struct reader *r, const struct snap_record *rec)
{
    return rec->until ? MAX(rec->until - r->now, 1) : 0;
}

/* Of a key that was put, or could not be. ERR_FULL is no end: the next one may be smaller. */
static int settle(struct reader *r, struct str key, int rc)
{
    r->skip = rc != 0;
    if (rc == ERR_FULL) {
        r->out->full++;
        (void)!kv_store_del(r->s, key); /* the first part of it, if there is one */
        return 0;
    }
    if (rc)
        return err_set(r->err, rc, "%s", err_text(rc));
    return 0;
}

static int put_plain(
    struct reader *r, const struct snap_record *rec, struct str key, const struct kv_value *v)
{
    int rc = kv_store_set(r->s, key, v, KV_TTL_AT, rec->until);

    r->out->keys += rc == 0;
    return settle(r, key, rc);
}

static int put_first(struct reader *r, const struct snap_record *rec, struct str key)
{
    int rc = kv_coll_replace(
        r->s, key, (enum kv_type)rec->type, (void *)r->items.p, rec->count, ttl_of(r, rec));

    if (rc == 0 && rec->until)
        rc = kv_store_expire_at(r->s, key, rec->until, 0);
    /* Its time was over just now, or it gave way at once. */
    if (rc == ERR_NOTFOUND)
        rc = 0;
    r->out->keys += rc == 0;
    return settle(r, key, rc);
}

static int put_more(struct reader *r, const struct snap_record *rec)
{
    struct str key = buf_str(&r->key);
    int rc;

    if (r->skip)
        return 0;
    /* What gave way meanwhile does not come back in part. */
    if (!kv_store_exists(r->s, key)) {
        r->skip = true;
        return 0;
    }
    rc = kv_coll_add(r->s, key, (enum kv_type)r->type, (void *)r->items.p, rec->count);
    r->out->keys -= rc == ERR_FULL;
    return settle(r, key, rc);
}

/* ---- records ---- */

static int on_key(struct reader *r, const struct snap_record *rec, struct str body)
{
    struct str key = str_sub(body, 0, rec->key_len);
    bool is_coll = kv_is_coll((enum kv_type)rec->type);
    struct kv_value v;

    body = str_sub(body, rec->key_len, body.len);
    r->type = is_coll ? rec->type : 0;
    if (rec->until < 0 || (!is_coll && rec->count) ||
        !(is_coll ? get_elements(r, r->type, body, rec->count) : get_plain(rec->type, body, &v)))
        return damaged(r, "a key has no value");
    buf_clear(&r->key);
    buf_add_str(&r->key, key);
    r->keys++;
    r->skip = rec->until && rec->until <= r->now;
    if (!r->s)
        return 0;
    if (r->skip) {
        r->out->expired++;
        (void)!kv_store_del(r->s, key); /* as it is in the store already, or in an earlier record */
        return 0;
    }
    return is_coll ? put_first(r, rec, key) : put_plain(r, rec, key, &v);
}

static int on_more(struct reader *r, const struct snap_record *rec, struct str body)
{
    if (!r->type || rec->type != r->type || rec->key_len || rec->until ||
        !get_elements(r, r->type, body, rec->count))
        return damaged(r, "a collection has no elements");
    return r->s ? put_more(r, rec) : 0;
}

static int on_gone(struct reader *r, const struct snap_record *rec, struct str body)
{
    if (rec->type || rec->until || rec->count || rec->key_len != body.len)
        return damaged(r, "a deleted key has a value");
    r->type = 0;
    if (r->s)
        (void)!kv_store_del(r->s, body); /* that it is not there is as well */
    return 0;
}

static int on_end(struct reader *r, const struct snap_record *rec)
{
    struct snap_end end;
    XXH128_hash_t check;
    int rc;

    if (rec->type || rec->until || rec->count || rec->key_len || rec->size != sizeof(end))
        return damaged(r, "its end makes no sense");
    rc = take(r, &end.keys, sizeof(end.keys), true);
    if (rc)
        return rc;
    check = XXH3_128bits_digest(r->check);
    rc = take(r, end.check, sizeof(end.check), false);
    if (rc)
        return rc;
    if (end.check[0] != check.low64 || end.check[1] != check.high64 || end.keys != r->keys)
        return damaged(r, "its checksum is wrong");
    return left_of(r) ? damaged(r, "something follows its end") : ERR_EOF;
}

/* ERR_EOF: that was the end, and all is well. */
static int next_record(struct reader *r)
{
    struct snap_record rec;
    struct str body;
    int rc = take(r, &rec, sizeof(rec), true);

    if (rc)
        return rc;
    if (rec.kind == SNAP_END && rec.zero == 0)
        return on_end(r, &rec);
    if (rec.zero || rec.size > SNAP_BODY_MAX || rec.key_len > MIN(rec.size, KV_KEY_MAX))
        return damaged(r, "a record makes no sense");
    if (rec.size > left_of(r))
        return damaged(r, "it ends too early");
    buf_clear(&r->body);
    rc = take(r, buf_reserve(&r->body, MAX(rec.size, 1)), rec.size, true);
    if (rc)
        return rc;
    r->body.len = rec.size;
    body = buf_str(&r->body);
    switch (rec.kind) {
    case SNAP_KEY:
        return on_key(r, &rec, body);
    case SNAP_MORE:
        return on_more(r, &rec, body);
    case SNAP_GONE:
        return on_gone(r, &rec, body);
    default:
        return damaged(r, "a record of an unknown kind");
    }
}

static int read_head(struct reader *r)
{
    struct snap_head head;

    if (r->size < sizeof(head))
        return damaged(r, "it is no snapshot of the store");
    if (take(r, &head, sizeof(head), true) != 0)
        return r->err->code;
    if (memcmp(head.magic, SNAP_MAGIC, sizeof(head.magic)) != 0)
        return damaged(r, "it is no snapshot of the store");
    if (head.version != SNAP_VERSION)
        return err_set(r->err, ERR_VERSION,
            "it has version %lu of the format; this server knows version %u",
            (unsigned long)head.version, SNAP_VERSION);
    if (head.zero)
        return damaged(r, "its head makes no sense");
    r->out->created = head.created;
    return 0;
}

/* From the start to the end. */
static int walk(struct reader *r, struct kv_store *s)
{
    int rc;

    r->at = r->chunk_len = r->chunk_at = 0;
    r->keys = 0;
    r->type = 0;
    r->s = s;
    (void)XXH3_128bits_reset(r->check); /* cannot fail */
    rc = read_head(r);
    while (rc == 0)
        rc = next_record(r);
    return rc == ERR_EOF ? 0 : rc;
}

/* ---- the file ---- */

int kv_snapshot_read(struct kv_store *s, int fd, struct kv_snapshot_loaded *out, struct err *err)
{
    struct kv_snapshot_loaded loaded = {0};
    struct err local = {0};
    struct reader r = {.fd = fd,
        .out = &loaded,
        .err = err ? err : &local,
        .now = (int64_t)(clock_wall_us() / 1000)};
    struct fs_stat st;
    int rc = fs_fstat(fd, &st);

    if (rc)
        return err_set(r.err, rc, "%s", err_text(rc));
    if (st.kind != FS_FILE)
        return err_set(r.err, ERR_INVAL, "it is no file");
    r.size = st.size;
    r.chunk = mem_new(CHUNK);
    r.check = XXH3_createState();
    ENSURE(r.check);
    rc = walk(&r, NULL);
    if (rc == 0)
        rc = walk(&r, s);
    (void)XXH3_freeState(r.check); /* cannot fail */
    mem_free(r.chunk);
    buf_fini(&r.body);
    buf_fini(&r.items);
    buf_fini(&r.key);
    if (rc == 0)
        *out = loaded;
    return rc;
}

/* A name that nothing has yet. */
int kv_snapshot_set_aside(const char *path, struct buf *as)
{
    unsigned long long now = clock_wall_us() / 1000000;
    struct fs_stat st;

    for (unsigned i = 0;; i++) {
        buf_clear(as);
        buf_printf(as, "%s.damaged-%llu", path, now);
        if (i)
            buf_printf(as, "-%u", i);
        if (fs_lstat(buf_cstr(as), &st) == ERR_NOTFOUND)
            return fs_rename(path, buf_cstr(as));
    }
}

int kv_snapshot_load(
    struct kv_store *s, const char *path, struct kv_snapshot_loaded *out, struct err *err)
{
    struct err why = {0};
    struct buf aside = {0};
    int fd = -1, rc = fs_open_read(path, &fd), moved;

    if (rc)
        return err_set(err, rc, "%s: the snapshot cannot be read: %s", path, err_text(rc));
    rc = kv_snapshot_read(s, fd, out, &why);
    fs_close(fd);
    if (rc == 0)
        return 0;
    if (rc != ERR_CORRUPT && rc != ERR_VERSION)
        return err_set(err, rc, "%s: the snapshot cannot be read: %s", path, why.text);
    moved = kv_snapshot_set_aside(path, &aside);
    if (moved)
        (void)err_set(err, rc, "%s: the snapshot is refused: %s; it cannot be moved aside: %s",
            path, why.text, err_text(moved));
    else
        (void)err_set(err, rc, "%s: the snapshot is refused: %s; it is kept as %s", path, why.text,
            buf_cstr(&aside));
    buf_fini(&aside);
    return rc;
}
