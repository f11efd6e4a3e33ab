/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * A snapshot that anybody may have written. With an odd first byte the rest is the whole file; else
 * it is the records, which get a head, an end and the right checksum, so that they are read and not
 * just refused. Nothing crashes, and what is refused leaves the store empty.
 */
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "kv/snapshot.h"
#include "kv/snapshot_format.h"
#include "platform/fs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Records of keys, as far as the sizes lead. */
static uint64_t count_keys(struct str records)
{
    struct snap_record rec;
    uint64_t n = 0;

    while (records.len >= sizeof(rec)) {
        memcpy(&rec, records.p, sizeof(rec));
        n += rec.kind == SNAP_KEY;
        records = str_sub(records, sizeof(rec) + (size_t)rec.size, records.len);
    }
    return n;
}

static void build(struct buf *file, struct str records)
{
    struct snap_head head = {.version = SNAP_VERSION};
    struct snap_record rec = {.kind = SNAP_END, .size = sizeof(struct snap_end)};
    struct snap_end end = {.keys = count_keys(records)};
    XXH128_hash_t check;

    memcpy(head.magic, SNAP_MAGIC, sizeof(head.magic));
    buf_add(file, &head, sizeof(head));
    buf_add_str(file, records);
    buf_add(file, &rec, sizeof(rec));
    buf_add(file, &end.keys, sizeof(end.keys));
    check = XXH3_128bits(file->p, file->len);
    end.check[0] = check.low64;
    end.check[1] = check.high64;
    buf_add(file, end.check, sizeof(end.check));
}

static struct kv_store *open_store(void)
{
    struct kv_options opt = {.memory = KV_MEMORY_MIN, .policy = KV_NOEVICTION};
    struct kv_store *s;
    int fd;

    ENSURE(kv_store_create(&opt, &fd) == 0);
    ENSURE(kv_store_open(fd, &s) == 0);
    fs_close(fd);
    return s;
}

static int load(struct kv_store *s, struct str file)
{
    struct kv_snapshot_loaded loaded;
    struct err err = {0};
    int fd, r;

    ENSURE(fs_open_spool(NULL, &fd) == 0);
    ENSURE(file.len == 0 || fs_write(fd, file.p, file.len) == 0);
    r = kv_snapshot_read(s, fd, &loaded, &err);
    ENSURE(r == 0 || err.text[0]);
    fs_close(fd);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data + 1, size ? size - 1 : 0);
    struct kv_store *s = open_store();
    struct buf file = {0};

    if (size && data[0] % 2)
        buf_add_str(&file, rest);
    else
        build(&file, rest);
    if (load(s, buf_str(&file)) != 0)
        ENSURE(kv_store_count(s) == 0);
    kv_store_close(s);
    buf_fini(&file);
    return 0;
}
