/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/snapshot.h"

#include <pthread.h>

#include "base/mem.h"
#include "kv/collections.h"
#include "platform/clock.h"
#include "unit/kv/bed.h"
#include "unit/platform/tmpdir.h"

#define FILE_MAX MB(16)

static void save(struct bed *b, const char *path)
{
    struct err err = {0};

    if (kv_snapshot_save(b->s, path, NULL, &err) != 0)
        test_fail(__FILE__, __LINE__, "save: %s", err.text);
}

static struct kv_snapshot_loaded load(struct bed *b, const char *path)
{
    struct kv_snapshot_loaded loaded = {0};
    struct err err = {0};

    if (kv_snapshot_load(b->s, path, &loaded, &err) != 0)
        test_fail(__FILE__, __LINE__, "load: %s", err.text);
    return loaded;
}

static struct kv_item item(const char *member, const char *value, double score)
{
    return (struct kv_item){.member = str_c(member), .value = bed_string(value), .score = score};
}

/* One of each type, with keys and members of any bytes. */
static void fill_all(struct bed *b)
{
    struct kv_value values[] = {bed_string("text"), bed_int(INT64_MIN),
        {.type = KV_FLOAT, .f = -0.1}, {.type = KV_SERIALIZED, .bytes = STR("a:0:{}")}};
    struct kv_item items[] = {item("a", "one", 1), item("b\n\xff", "", -2.5), item("", "x", 1e300)};
    char key[4] = {0, '\n', (char)0xff, 0};

    items[1].value = bed_int(-7);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        key[3] = (char)i;
        CHECK_INT(kv_store_set(b->s, str_n(key, 4), &values[i], 0, i == 1 ? 100000000 : 0), 0);
    }
    CHECK_INT(kv_store_set(b->s, STR(""), &values[0], 0, 0), 0);
    CHECK_INT(kv_coll_replace(b->s, STR("hash"), KV_HASH, items, 3, 0), 0);
    CHECK_INT(kv_coll_replace(b->s, STR("list"), KV_LIST, items, 3, 200000000), 0);
    CHECK_INT(kv_coll_replace(b->s, STR("set"), KV_SET, items, 3, 0), 0);
    CHECK_INT(kv_coll_replace(b->s, STR("zset"), KV_ZSET, items, 3, 0), 0);
}

static bool is_same_value(const struct kv_value *a, const struct kv_value *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == KV_INT)
        return a->i == b->i;
    return a->type == KV_FLOAT ? a->f == b->f : str_eq(a->bytes, b->bytes);
}

static void check_same_items(struct bed *a, struct bed *b, struct str key, enum kv_type type)
{
    struct kv_items of_a = {0}, of_b = {0};
    struct kv_item x, y;

    CHECK_INT(kv_coll_all(a->s, key, type, &of_a), 0);
    CHECK_INT(kv_coll_all(b->s, key, type, &of_b), 0);
    CHECK_INT(of_a.n, of_b.n);
    /* Those of hashes and sets are in the order of each store. */
    while (kv_items_next(&of_a, &x)) {
        if (type == KV_HASH) {
            CHECK_INT(kv_hash_get(b->s, key, x.member, &b->buf, &y.value), 0);
            CHECK(is_same_value(&x.value, &y.value));
        } else if (type == KV_SET) {
            CHECK_INT(kv_coll_has(b->s, key, type, x.member), 0);
        } else if (kv_items_next(&of_b, &y)) {
            CHECK(type == KV_LIST ? is_same_value(&x.value, &y.value)
                                  : str_eq(x.member, y.member) && x.score == y.score);
        }
    }
    kv_items_fini(&of_a);
    kv_items_fini(&of_b);
}

struct two {
    struct bed *a, *b;
};

static bool check_same_key(void *arg, struct str key)
{
    struct two *t = arg;
    struct kv_info x = {0}, y = {0};
    struct kv_value v;

    CHECK_INT(kv_store_info(t->a->s, key, &x), 0);
    CHECK_INT(kv_store_info(t->b->s, key, &y), 0);
    CHECK(x.type == y.type && x.until == y.until);
    if (kv_is_coll(x.type)) {
        check_same_items(t->a, t->b, key, x.type);
    } else {
        CHECK_INT(kv_store_get(t->a->s, key, &t->a->buf, &v), 0);
        CHECK_INT(kv_store_get(t->b->s, key, &t->b->buf, &t->b->v), 0);
        CHECK(is_same_value(&v, &t->b->v));
    }
    return !test_failures;
}

static void check_same(struct bed *a, struct bed *b)
{
    struct two t = {a, b};
    uint64_t cursor = 0;

    CHECK_INT(kv_store_count(a->s), kv_store_count(b->s));
    do
        kv_store_scan(a->s, &cursor, STR("*"), 1000, check_same_key, &t);
    while (cursor);
}

static void test_snapshot_all_types_come_back(void)
{
    struct kv_snapshot_loaded loaded;
    struct bed a, b;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&a, MB(16), KV_NOEVICTION);
    bed_open(&b, MB(4), KV_NOEVICTION);
    fill_all(&a);
    save(&a, tmpdir_path(&t, "s"));
    loaded = load(&b, tmpdir_path(&t, "s"));
    CHECK(loaded.keys == 9 && loaded.expired == 0 && loaded.full == 0);
    check_same(&a, &b);
    /* Once more, over what is there. */
    CHECK_INT(load(&b, tmpdir_path(&t, "s")).keys, 9);
    check_same(&a, &b);
    bed_close(&a);
    bed_close(&b);
    tmpdir_fini(&t);
}

static void test_snapshot_of_an_empty_store(void)
{
    struct bed b;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    save(&b, tmpdir_path(&t, "s"));
    CHECK_INT(load(&b, tmpdir_path(&t, "s")).keys, 0);
    CHECK_INT(kv_store_count(b.s), 0);
    bed_close(&b);
    tmpdir_fini(&t);
}

/* Large values, compressed ones, and collections of several records. */
static void test_snapshot_of_much(void)
{
    char *large = mem_new(MB(1)), name[24];
    struct kv_value v = {.type = KV_STRING, .bytes = {large, MB(1)}};
    struct kv_compression c = {KV_GZIP, 1, 64};
    struct bed a, b;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&a, MB(32), KV_NOEVICTION);
    bed_open(&b, MB(32), KV_NOEVICTION);
    CHECK_INT(kv_store_compress(b.s, &c), 0);
    for (size_t i = 0; i < MB(1); i++)
        large[i] = (char)(i * i >> 7);
    CHECK_INT(kv_store_set(a.s, STR("large"), &v, 0, 0), 0);
    for (unsigned i = 0; i < 3000; i++) {
        size_t added;
        struct kv_item it = {.value = {.type = KV_STRING, .bytes = {large, i}}, .score = i};

        (void)snprintf(name, sizeof(name), "%u", i);
        it.member = str_c(name);
        CHECK_INT(kv_hash_set(a.s, STR("hash"), &it, 1, 0, &added), 0);
        CHECK_INT(kv_list_push(a.s, STR("list"), KV_TAIL, &it.value, 1, 0, &(uint64_t){0}), 0);
        CHECK_INT(kv_zset_add(a.s, STR("zset"), &it, 1, 0, &(struct kv_zadd){0}), 0);
        v.bytes.len = i;
        CHECK_INT(kv_store_set(a.s, str_c(name), &v, 0, 0), 0);
    }
    save(&a, tmpdir_path(&t, "s"));
    (void)load(&b, tmpdir_path(&t, "s"));
    check_same(&a, &b);
    save(&b, tmpdir_path(&t, "s"));
    kv_store_flush(a.s);
    (void)load(&a, tmpdir_path(&t, "s"));
    check_same(&a, &b);
    bed_close(&a);
    bed_close(&b);
    tmpdir_fini(&t);
    mem_free(large);
}

static void test_snapshot_time_goes_on_meanwhile(void)
{
    struct kv_value v = bed_string("x");
    struct kv_item it = item("a", "b", 0);
    struct kv_snapshot_loaded loaded;
    struct bed a, b;
    struct tmpdir t;
    uint64_t begin;
    int64_t ms;

    tmpdir_init(&t);
    bed_open(&a, MB(2), KV_NOEVICTION);
    bed_open(&b, MB(2), KV_NOEVICTION);
    do { /* again when the machine stood still, and they were not saved any more */
        begin = clock_mono_ms();
        CHECK_INT(kv_store_set(a.s, STR("short"), &v, 0, 300), 0);
        CHECK_INT(kv_coll_replace(a.s, STR("hash"), KV_HASH, &it, 1, 300), 0);
        CHECK_INT(kv_store_set(a.s, STR("long"), &v, 0, 100000), 0);
        save(&a, tmpdir_path(&t, "s"));
    } while (clock_mono_ms() - begin >= 300);
    clock_sleep_ms(350);
    loaded = load(&b, tmpdir_path(&t, "s"));
    CHECK(loaded.keys == 1 && loaded.expired == 2);
    CHECK_INT(kv_store_count(b.s), 1);
    CHECK_INT(kv_store_ttl(b.s, STR("long"), &ms), 0);
    CHECK(ms > 50000 && ms <= 100000 - 350);
    bed_close(&a);
    bed_close(&b);
    tmpdir_fini(&t);
}

/* ---- damage ---- */

static int try_bytes(struct bed *b, const char *path, struct str bytes, struct err *err)
{
    struct kv_snapshot_loaded loaded;
    int fd = -1, r;

    CHECK_INT(fs_write_file(path, bytes.p, bytes.len, 0600), 0);
    CHECK_INT(fs_open_read(path, &fd), 0);
    r = kv_snapshot_read(b->s, fd, &loaded, err);
    fs_close(fd);
    return r;
}

static void check_refused(struct bed *b, const char *path, struct str bytes)
{
    struct err err = {0};
    int r = try_bytes(b, path, bytes, &err);

    CHECK(r == ERR_CORRUPT || r == ERR_VERSION);
    CHECK(err.text[0]);
    CHECK_INT(kv_store_count(b->s), 0);
}

static void test_snapshot_damaged_file_is_refused(void)
{
    static const char flips[] = {1, (char)0x80, (char)0xff};
    struct buf file = {0};
    struct bed a, b;
    struct tmpdir t;
    const char *path;

    tmpdir_init(&t);
    path = tmpdir_path(&t, "s");
    bed_open(&a, MB(2), KV_NOEVICTION);
    bed_open(&b, MB(2), KV_NOEVICTION);
    fill_all(&a);
    save(&a, path);
    CHECK_INT(fs_read_file(path, FILE_MAX, &file), 0);
    for (size_t i = 0; i < file.len && !test_failures; i++) {
        for (size_t k = 0; k < ARRAY_LEN(flips); k++) {
            file.p[i] ^= flips[k];
            check_refused(&b, path, buf_str(&file));
            file.p[i] ^= flips[k];
        }
        check_refused(&b, path, str_n(file.p, i));
    }
    buf_add_char(&file, 0);
    check_refused(&b, path, buf_str(&file));
    buf_fini(&file);
    bed_close(&a);
    bed_close(&b);
    tmpdir_fini(&t);
}

static unsigned count_names(const char *dir, const char *start)
{
    struct fs_dir *d;
    struct str name;
    unsigned n = 0;

    CHECK_INT(fs_dir_open(dir, &d), 0);
    while (fs_dir_next(d, &name) == 0)
        n += str_starts(name, str_c(start));
    fs_dir_close(d);
    return n;
}

static void test_snapshot_damaged_file_is_kept_aside(void)
{
    struct kv_snapshot_loaded loaded;
    struct err err = {0};
    struct bed b;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_snapshot_load(b.s, tmpdir_path(&t, "s"), &loaded, &err), ERR_NOTFOUND);
    CHECK(strstr(err.text, tmpdir_path(&t, "s")) != NULL);
    for (unsigned i = 1; i <= 3; i++) {
        tmpdir_write(&t, "s", "no snapshot, but as long as the head of one would be");
        CHECK_INT(kv_snapshot_load(b.s, tmpdir_path(&t, "s"), &loaded, &err), ERR_CORRUPT);
        CHECK(strstr(err.text, "s.damaged-") != NULL);
        CHECK_INT(count_names(t.path, "s.damaged-"), i);
    }
    CHECK_INT(count_names(t.path, "s"), 3);
    bed_close(&b);
    tmpdir_fini(&t);
}

/* ---- what cannot be ---- */

static void test_snapshot_folder_is_missing(void)
{
    struct err err = {0};
    struct bed b;
    struct tmpdir t;
    int r;

    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    r = kv_snapshot_save(b.s, tmpdir_path(&t, "no/such/s"), NULL, &err);
    CHECK(r == ERR_NOTFOUND || r == ERR_NOTDIR);
    CHECK(strstr(err.text, "no/such/s") != NULL);
    bed_close(&b);
    tmpdir_fini(&t);
}

static void test_snapshot_of_a_killed_save_is_removed(void)
{
    struct bed b;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    tmpdir_write(&t, "s.tmp-0123456789abcdef", "half");
    tmpdir_write(&t, "other.tmp-0123456789abcdef", "another one's");
    save(&b, tmpdir_path(&t, "s"));
    CHECK_INT(count_names(t.path, "s.tmp-"), 0);
    CHECK_INT(count_names(t.path, "other.tmp-"), 1);
    CHECK_INT(count_names(t.path, "s"), 1);
    bed_close(&b);
    tmpdir_fini(&t);
}

static void test_snapshot_given_up_leaves_the_old_one(void)
{
    struct kv_snapshot *n;
    struct err err = {0};
    struct bed b;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "a", "first"), 0);
    save(&b, tmpdir_path(&t, "s"));
    for (int i = 0; i < 200; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "%d", i);
        CHECK_INT(bed_set(&b, name, "second"), 0);
    }
    CHECK_INT(kv_snapshot_begin(b.s, tmpdir_path(&t, "s"), &n, &err), 0);
    CHECK_INT(kv_snapshot_step(n, 1, &err), ERR_AGAIN);
    CHECK(kv_snapshot_keys(n) > 0);
    CHECK_INT(count_names(t.path, "s"), 2);
    kv_snapshot_end(n);
    CHECK_INT(count_names(t.path, "s"), 1);
    kv_store_flush(b.s);
    CHECK_INT(load(&b, tmpdir_path(&t, "s")).keys, 1);
    CHECK_STR(bed_get(&b, "a"), "first");
    bed_close(&b);
    tmpdir_fini(&t);
}

static void test_snapshot_larger_than_the_store(void)
{
    char bytes[1000] = {0}, name[24];
    struct kv_value v = {.type = KV_STRING, .bytes = {bytes, sizeof(bytes)}};
    struct kv_snapshot_loaded loaded;
    struct bed a, small, cache;
    struct tmpdir t;

    tmpdir_init(&t);
    bed_open(&a, MB(32), KV_NOEVICTION);
    bed_open(&small, MB(2), KV_NOEVICTION);
    bed_open(&cache, MB(2), KV_ALLKEYS_LRU);
    for (unsigned i = 0; i < 8000; i++) {
        struct kv_item it = {.value = v, .score = i};

        (void)snprintf(name, sizeof(name), "%u", i);
        CHECK_INT(kv_store_set(a.s, str_c(name), &v, 0, 0), 0);
        it.member = str_c(name);
        CHECK_INT(kv_hash_set(a.s, STR("hash"), &it, 1, 0, &(size_t){0}), 0);
    }
    save(&a, tmpdir_path(&t, "s"));
    loaded = load(&small, tmpdir_path(&t, "s"));
    CHECK(loaded.keys > 1000 && loaded.full > 1000 && loaded.keys + loaded.full == 8001);
    CHECK_INT(kv_store_count(small.s), loaded.keys);
    loaded = load(&cache, tmpdir_path(&t, "s"));
    /* How many are left depends on when the hash came, which is too large for the store. */
    CHECK(kv_store_count(cache.s) < 3000);
    CHECK(loaded.full <= 1 && loaded.keys + loaded.full == 8001);
    CHECK_INT(bed_stats(&cache).dropped, 0);
    bed_close(&a);
    bed_close(&small);
    bed_close(&cache);
    tmpdir_fini(&t);
}

/* ---- while others write ---- */

#define FIELDS 1500

struct writer {
    struct kv_store *s;
    _Atomic int stop;
};

/* All fields of the hash have one value, which changes in one step. */
static void *write_always(void *arg)
{
    struct writer *w = arg;
    struct kv_item *items = mem_new_array(FIELDS, sizeof(*items));
    char(*names)[16] = mem_new_array(FIELDS, sizeof(*names));
    size_t added;

    for (int i = 0; i < FIELDS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%d", i % 10000);
        items[i].member = str_c(names[i]);
    }
    for (int64_t n = 1; !w->stop; n++) {
        for (int i = 0; i < FIELDS; i++)
            items[i].value = bed_int(n);
        if (n % 7 == 0)
            (void)!kv_store_del(w->s, STR("hash"));
        CHECK_INT(kv_hash_set(w->s, STR("hash"), items, FIELDS, 0, &added), 0);
        if (n % 5 == 0)
            clock_sleep_ms(1);
    }
    mem_free(items);
    mem_free(names);
    return NULL;
}

static void test_snapshot_collection_is_of_one_moment(void)
{
    struct writer w = {0};
    struct bed a, b;
    struct tmpdir t;
    pthread_t thread;

    tmpdir_init(&t);
    bed_open(&a, MB(32), KV_NOEVICTION);
    bed_open(&b, MB(32), KV_NOEVICTION);
    w.s = kv_store_open_other(a.s);
    CHECK_INT(pthread_create(&thread, NULL, write_always, &w), 0);
    for (int i = 0; i < 20; i++) {
        struct kv_items items = {0};
        struct kv_item it;
        int64_t n = 0;

        save(&a, tmpdir_path(&t, "s"));
        kv_store_flush(b.s);
        (void)load(&b, tmpdir_path(&t, "s"));
        CHECK_INT(kv_coll_all(b.s, STR("hash"), KV_HASH, &items), 0);
        CHECK(items.n == FIELDS || items.n == 0);
        while (kv_items_next(&items, &it)) {
            CHECK(n == 0 || n == it.value.i);
            n = it.value.i;
        }
        kv_items_fini(&items);
    }
    w.stop = 1;
    CHECK_INT(pthread_join(thread, NULL), 0);
    kv_store_close(w.s);
    bed_close(&a);
    bed_close(&b);
    tmpdir_fini(&t);
}

static void test_snapshot_changes_are_seen(void)
{
    struct kv_item it = item("a", "b", 0);
    uint64_t was;
    struct bed b;

    bed_open(&b, MB(16), KV_NOEVICTION);
    was = kv_store_changes(b.s);
#define CHECK_CHANGED(call)                  \
    do {                                     \
        CHECK_INT(call, 0);                  \
        CHECK(kv_store_changes(b.s) != was); \
        was = kv_store_changes(b.s);         \
    } while (0)
    CHECK_CHANGED(bed_set(&b, "a", "b"));
    CHECK_CHANGED(kv_store_expire(b.s, STR("a"), 100000));
    CHECK_CHANGED(kv_store_expire_at(b.s, STR("a"), INT64_MAX, 0));
    CHECK_CHANGED(kv_store_persist(b.s, STR("a")));
    CHECK_CHANGED(kv_store_incr(b.s, STR("n"), 1, &b.v.i));
    CHECK_CHANGED(kv_hash_set(b.s, STR("h"), &it, 1, 0, &(size_t){0}));
    CHECK_STR(bed_get(&b, "a"), "b");
    CHECK(kv_store_changes(b.s) == was);
    CHECK_CHANGED(kv_store_del(b.s, STR("a")));
    bed_close(&b);
}

const struct test tests_snapshot[] = {TEST(test_snapshot_all_types_come_back),
    TEST(test_snapshot_of_an_empty_store), TEST(test_snapshot_of_much),
    TEST(test_snapshot_time_goes_on_meanwhile), TEST(test_snapshot_damaged_file_is_refused),
    TEST(test_snapshot_damaged_file_is_kept_aside), TEST(test_snapshot_folder_is_missing),
    TEST(test_snapshot_of_a_killed_save_is_removed),
    TEST(test_snapshot_given_up_leaves_the_old_one), TEST(test_snapshot_larger_than_the_store),
    TEST(test_snapshot_collection_is_of_one_moment), TEST(test_snapshot_changes_are_seen),
    TEST_END};
