/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/snapshot.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "kv/change.h"
#include "kv/codec.h"
#include "kv/snapshot_format.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/random.h"

#define BUFFER      (256u << 10)
#define STEP_KEYS   1000
#define READS       4 /* of a collection that changes, then it is copied at once */
#define MODE        0600
#define TEMP_SUFFIX ".tmp-"

struct kv_snapshot {
    struct kv_store *s;
    char *path;
    char *temp; /* NULL: it has its name, or is gone */
    int fd;
    int error;
    struct buf out;        /* not written yet */
    XXH3_state_t *check;   /* over what was added to out */
    uint64_t cursor;       /* of the scan */
    uint64_t keys;         /* written */
    uint64_t records;      /* of the kind SNAP_KEY */
    struct buf value;      /* of the key that is being written */
    struct kv_items items; /* the same of a collection */
};

/* ---- the file ---- */

static int fail(const struct kv_snapshot *n, int r, struct err *err)
{
    (void)err_set(err, r, "%s: the snapshot cannot be written: %s", n->path, err_text(r));
    return r;
}

/* The folder that the path names a file in; in buf. */
static const char *folder_of(const char *path, struct buf *buf)
{
    ptrdiff_t slash = str_rchr(str_c(path), '/');

    buf_clear(buf);
    if (slash < 0)
        buf_add_lit(buf, ".");
    else
        buf_add(buf, path, slash == 0 ? 1 : (size_t)slash);
    return buf_cstr(buf);
}

/* What saves that were killed have left. Who still writes one fails by that, which is as well. */
static void remove_temps(const char *path)
{
    struct str name = str_sub(str_c(path), (size_t)(str_rchr(str_c(path), '/') + 1), SIZE_MAX);
    struct buf folder = {0}, start = {0}, full = {0};
    struct fs_dir *d;
    struct str it;

    buf_add_str(&start, name);
    buf_add_lit(&start, TEMP_SUFFIX);
    if (fs_dir_open(folder_of(path, &folder), &d) == 0) {
        while (fs_dir_next(d, &it) == 0) {
            if (!str_starts(it, buf_str(&start)))
                continue;
            buf_clear(&full);
            buf_printf(&full, STR_F "/" STR_F, STR_A(buf_str(&folder)), STR_A(it));
            (void)!fs_unlink(buf_cstr(&full)); /* the next save tries again */
        }
        fs_dir_close(d);
    }
    buf_fini(&folder);
    buf_fini(&start);
    buf_fini(&full);
}

static void flush(struct kv_snapshot *n)
{
    if (n->error == 0 && n->out.len)
        n->error = fs_write(n->fd, n->out.p, n->out.len);
    buf_clear(&n->out);
}

static void add(struct kv_snapshot *n, const void *p, size_t len)
{
    if (len == 0)
        return;
    (void)XXH3_128bits_update(n->check, p, len); /* cannot fail for a state and bytes */
    if (n->out.len + len > BUFFER)
        flush(n);
    buf_add(&n->out, p, len);
}

static void add_record(
    struct kv_snapshot *n, struct snap_record *r, struct str key, struct str body)
{
    r->key_len = (uint16_t)key.len;
    r->size = (uint32_t)(key.len + body.len);
    n->records += r->kind == SNAP_KEY;
    add(n, r, sizeof(*r));
    add(n, key.p, key.len);
    add(n, body.p, body.len);
}

/* ---- values ---- */

static struct str bytes_of(const struct kv_value *v)
{
    switch (v->type) {
    case KV_INT:
        return str_n((const char *)&v->i, sizeof(v->i));
    case KV_FLOAT:
        return str_n((const char *)&v->f, sizeof(v->f));
    default:
        return v->bytes;
    }
}

/* ERR_TYPE: a collection. Does not count as reading it. */
static int write_plain(struct kv_snapshot *n, struct str key)
{
    struct snap_record rec = {.kind = SNAP_KEY};
    struct kv_spot spot;
    struct kv_value v;
    uint64_t deadline = 0;
    int r;

    kv_spot_open(n->s, key, &spot);
    r = kv_take_stored(n->s, &spot, &n->value, &v);
    if (r == 0)
        deadline = KV_GET(spot.e->deadline);
    kv_spot_close(n->s, &spot);
    if (r == 0)
        r = kv_finish(n->s, key, &n->value, &v);
    if (r)
        return r;
    rec.type = (uint8_t)v.type;
    rec.until = deadline ? kv_deadline_wall(n->s, deadline) : 0;
    add_record(n, &rec, key, bytes_of(&v));
    return 0;
}

static void add_element(struct buf *body, enum kv_type type, const struct kv_item *item)
{
    bool has_value = type == KV_HASH || type == KV_LIST;
    struct str value = has_value ? bytes_of(&item->value) : STR_NONE;
    struct snap_element e = {.member_len = type == KV_LIST ? 0 : (uint16_t)item->member.len,
        .value_len = (uint32_t)value.len,
        .type = has_value ? (uint8_t)item->value.type : 0,
        .score = type == KV_ZSET ? item->score : 0};

    buf_add(body, &e, sizeof(e));
    buf_add(body, item->member.p, e.member_len);
    buf_add_str(body, value);
}

/* What was read of it, in as many records as it needs. */
static void write_elements(
    struct kv_snapshot *n, struct str key, const struct kv_info *info, bool first)
{
    struct snap_record rec = {.kind = first ? SNAP_KEY : SNAP_MORE, .type = (uint8_t)info->type};
    struct kv_item item;
    bool more = kv_items_next(&n->items, &item);

    while (more) {
        buf_clear(&n->value);
        rec.count = 0;
        for (; more && n->value.len < SNAP_FRAME; more = kv_items_next(&n->items, &item)) {
            add_element(&n->value, info->type, &item);
            rec.count++;
        }
        rec.until = rec.kind == SNAP_KEY && info->until != KV_NO_TTL ? info->until : 0;
        add_record(n, &rec, rec.kind == SNAP_KEY ? key : STR_NONE, buf_str(&n->value));
        rec.kind = SNAP_MORE;
    }
}

/* ERR_AGAIN: it was changed between two steps. *told: a record of the key is in the file. */
static int write_collection(struct kv_snapshot *n, struct str key, size_t most, bool *told)
{
    struct kv_info info;
    uint64_t at = 0, version = 0;
    bool first = true;
    int r;

    do {
        r = kv_coll_read(n->s, key, &at, most, &info, &n->items);
        if (r)
            return r;
        if (!first && info.version != version)
            return ERR_AGAIN;
        version = info.version;
        write_elements(n, key, &info, first);
        *told = true;
        first = false;
    } while (at && n->error == 0);
    return 0;
}

static void write_key(struct kv_snapshot *n, struct str key)
{
    struct snap_record gone = {.kind = SNAP_GONE};
    bool told = false;
    int r = ERR_AGAIN;

    for (int i = 0; i < READS && (r == ERR_AGAIN || r == ERR_TYPE); i++) {
        r = write_plain(n, key);
        if (r == ERR_TYPE)
            r = write_collection(n, key, i < READS - 1 ? KV_SNAPSHOT_ELEMENTS : SIZE_MAX, &told);
    }
    if (r == 0)
        n->keys++;
    else if (told)
        add_record(n, &gone, key, STR_NONE);
}

static bool on_key(void *arg, struct str key)
{
    struct kv_snapshot *n = arg;

    write_key(n, key);
    return n->error == 0;
}

/* ---- life ---- */

int kv_snapshot_begin(
    struct kv_store *s, const char *path, struct kv_snapshot **out, struct err *err)
{
    struct snap_head head = {.version = SNAP_VERSION, .created = (int64_t)(clock_wall_us() / 1000)};
    struct kv_snapshot *n = mem_new(sizeof(*n));
    struct buf name = {0};
    int r;

    n->s = s;
    n->fd = -1;
    n->path = mem_dup_str(path, strlen(path));
    remove_temps(path);
    buf_printf(&name, "%s" TEMP_SUFFIX "%016llx", path, (unsigned long long)random_u64());
    r = fs_open_new(buf_cstr(&name), MODE, &n->fd);
    if (r) {
        r = fail(n, r, err);
        buf_fini(&name);
        kv_snapshot_end(n);
        return r;
    }
    n->temp = mem_dup_str(name.p, name.len);
    buf_fini(&name);
    n->check = XXH3_createState();
    ENSURE(n->check);
    (void)XXH3_128bits_reset(n->check); /* cannot fail */
    memcpy(head.magic, SNAP_MAGIC, sizeof(head.magic));
    add(n, &head, sizeof(head));
    *out = n;
    return 0;
}

static void add_end(struct kv_snapshot *n)
{
    struct snap_record rec = {.kind = SNAP_END, .size = sizeof(struct snap_end)};
    struct snap_end end = {.keys = n->records};
    XXH128_hash_t check;

    add(n, &rec, sizeof(rec));
    add(n, &end.keys, sizeof(end.keys));
    check = XXH3_128bits_digest(n->check);
    end.check[0] = check.low64;
    end.check[1] = check.high64;
    add(n, end.check, sizeof(end.check));
    flush(n);
}

/* To the disk, then to its name, then that to the disk. */
static void put_in_place(struct kv_snapshot *n)
{
    struct buf folder = {0};

    if (n->error == 0)
        n->error = fs_sync(n->fd);
    if (n->error == 0)
        n->error = fs_rename(n->temp, n->path);
    if (n->error == 0) {
        mem_free(n->temp);
        n->temp = NULL;
        n->error = fs_sync_dir(folder_of(n->path, &folder));
    }
    buf_fini(&folder);
}

int kv_snapshot_step(struct kv_snapshot *n, size_t keys, struct err *err)
{
    if (n->error == 0)
        kv_store_scan(n->s, &n->cursor, STR("*"), keys, on_key, n);
    if (n->error == 0 && n->cursor)
        return ERR_AGAIN;
    if (n->error == 0)
        add_end(n);
    put_in_place(n);
    return n->error ? fail(n, n->error, err) : 0;
}

uint64_t kv_snapshot_keys(const struct kv_snapshot *n)
{
    return n->keys;
}

void kv_snapshot_end(struct kv_snapshot *n)
{
    if (!n)
        return;
    fs_close(n->fd);
    if (n->temp)
        (void)!fs_unlink(n->temp); /* else the next save does */
    if (n->check)
        (void)XXH3_freeState(n->check); /* cannot fail */
    buf_fini(&n->out);
    buf_fini(&n->value);
    kv_items_fini(&n->items);
    mem_free(n->temp);
    mem_free(n->path);
    mem_free(n);
}

int kv_snapshot_save(struct kv_store *s, const char *path, uint64_t *keys, struct err *err)
{
    struct kv_snapshot *n;
    int r = kv_snapshot_begin(s, path, &n, err);

    if (r)
        return r;
    do
        r = kv_snapshot_step(n, STEP_KEYS, err);
    while (r == ERR_AGAIN);
    if (keys)
        *keys = n->keys;
    kv_snapshot_end(n);
    return r;
}
