/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/file_cache.h"

#include <stdio.h>

#include "unit/platform/tmpdir.h"
#include "unit/test.h"

/* A temporary folder by its resolved name, and room for the path of a file in it. */
struct place {
    struct tmpdir tmp;
    char dir[512];
    char path[1024];
};

static void place_make(struct place *p)
{
    tmpdir_init(&p->tmp);
    CHECK_INT(fs_realpath(p->tmp.path, p->dir, sizeof(p->dir)), 0);
}

static void place_end(struct place *p)
{
    tmpdir_fini(&p->tmp);
}

static struct str at(struct place *p, const char *name)
{
    (void)snprintf(p->path, sizeof(p->path), "%s/%s", p->dir, name);
    return str_c(p->path);
}

static void put(struct place *p, const char *name, const char *text)
{
    CHECK_INT(fs_write_file(at(p, name).p, text, strlen(text), 0644), 0);
}

static const struct file_cache_config watched = {.max_entries = 100,
    .max_open = 10,
    .max_watches = 100,
    .valid_ms = 30000,
    .unwatched_ms = 1000};
static const struct file_cache_config unwatched = {
    .max_entries = 100, .max_open = 10, .max_watches = 0, .valid_ms = 30000, .unwatched_ms = 1000};

static uint64_t size_of(struct file_cache *c, struct place *p, const char *name, uint64_t now)
{
    const struct file_cache_entry *e = NULL;
    int err = file_cache_lookup(c, at(p, name), now, &e);

    return err ? (uint64_t)(int64_t)err : e->st.size;
}

static void test_file_cache_lookup_remembers(void)
{
    struct file_cache *c = file_cache_new(&unwatched);
    const struct file_cache_entry *e = NULL;
    struct place p;

    place_make(&p);
    put(&p, "a.txt", "12345");
    CHECK_INT(file_cache_lookup(c, at(&p, "a.txt"), 0, &e), 0);
    CHECK_INT(e->st.size, 5);
    CHECK_INT(e->st.kind, FS_FILE);
    CHECK_STR(e->path, p.path);
    CHECK_STR(e->resolved, p.path);
    CHECK(e->etag.len > 4 && str_ends(e->etag, STR("-5\"")));
    CHECK_INT(file_cache_lookup(c, str_c(p.dir), 0, &e), 0);
    CHECK_INT(e->st.kind, FS_DIR);
    CHECK_INT(e->etag.len, 0);
    CHECK_INT(size_of(c, &p, "none", 0), ERR_NOTFOUND);
    CHECK_INT(size_of(c, &p, "a.txt/x", 0), ERR_NOTDIR);
    put(&p, "a.txt", "123");
    put(&p, "none", "1");
    CHECK_INT(size_of(c, &p, "a.txt", 999), 5);
    CHECK_INT(size_of(c, &p, "none", 999), ERR_NOTFOUND);
    CHECK_INT(size_of(c, &p, "a.txt", 1000), 3);
    CHECK_INT(size_of(c, &p, "none", 1000), 1);
    CHECK_INT(file_cache_stats(c).hits, 2);
    CHECK_INT(file_cache_stats(c).watches, 0);
    CHECK_INT(file_cache_lookup(c, STR(""), 0, &e), ERR_INVAL);
    CHECK_INT(file_cache_lookup(c, STR("/tmp\0x"), 0, &e), ERR_INVAL);
    file_cache_invalidate_all(c);
    CHECK_INT(file_cache_stats(c).entries, 0);
    file_cache_free(c);
    file_cache_free(NULL);
    place_end(&p);
}

static void test_file_cache_refuses_long_path(void)
{
    struct file_cache *c = file_cache_new(&unwatched);
    const struct file_cache_entry *e = NULL;
    static char path[5000];

    memset(path, 'a', sizeof(path));
    path[0] = '/';
    CHECK_INT(file_cache_lookup(c, str_n(path, sizeof(path)), 0, &e), ERR_TOOBIG);
    CHECK_INT(file_cache_stats(c).entries, 0);
    file_cache_free(c);
}

static void test_file_cache_notices_changes(void)
{
    struct file_cache *c = file_cache_new(&watched);
    struct fs_stat st;
    struct place p;

    place_make(&p);
    if (file_cache_watch_fd(c) < 0) { /* no notices on this system */
        file_cache_free(c);
        place_end(&p);
        return;
    }
    put(&p, "a", "1");
    CHECK_INT(size_of(c, &p, "a", 0), 1);
    CHECK_INT(size_of(c, &p, "b", 0), ERR_NOTFOUND);
    CHECK(!file_cache_sibling(c, at(&p, "a"), CODING_GZIP, 0, &st));
    file_cache_on_watch(c);
    CHECK_INT(file_cache_stats(c).entries, 2);
    put(&p, "a", "12");
    put(&p, "b", "1");
    CHECK_INT(size_of(c, &p, "a", 29999), 1); /* not read yet */
    file_cache_on_watch(c);
    CHECK_INT(size_of(c, &p, "a", 1), 2);
    CHECK_INT(size_of(c, &p, "b", 1), 1);
    CHECK(!file_cache_sibling(c, at(&p, "a"), CODING_GZIP, 1, &st));
    put(&p, "a.gz", "123");
    file_cache_on_watch(c);
    CHECK(file_cache_sibling(c, at(&p, "a"), CODING_GZIP, 1, &st));
    CHECK_INT(st.size, 3);
    CHECK(!file_cache_sibling(c, at(&p, "a"), CODING_BR, 1, &st));
    CHECK_INT(fs_unlink(at(&p, "a.gz").p), 0);
    CHECK_INT(fs_unlink(at(&p, "b").p), 0);
    file_cache_on_watch(c);
    CHECK(!file_cache_sibling(c, at(&p, "a"), CODING_GZIP, 1, &st));
    CHECK_INT(size_of(c, &p, "b", 1), ERR_NOTFOUND);
    file_cache_free(c);
    place_end(&p);
}

static void test_file_cache_notices_renamed_folder_above(void)
{
    struct file_cache *c = file_cache_new(&watched);
    char from[1024], to[1024];
    struct place p;

    place_make(&p);
    if (file_cache_watch_fd(c) < 0) {
        file_cache_free(c);
        place_end(&p);
        return;
    }
    CHECK_INT(fs_mkdir(at(&p, "pub").p, 0755), 0);
    CHECK_INT(fs_mkdir(at(&p, "pub/css").p, 0755), 0);
    CHECK_INT(fs_mkdir(at(&p, "new").p, 0755), 0);
    CHECK_INT(fs_mkdir(at(&p, "new/css").p, 0755), 0);
    put(&p, "pub/css/a", "1");
    put(&p, "new/css/a", "12");
    CHECK_INT(size_of(c, &p, "pub/css/a", 0), 1);
    file_cache_on_watch(c);
    (void)snprintf(from, sizeof(from), "%s/pub", p.dir);
    (void)snprintf(to, sizeof(to), "%s/old", p.dir);
    CHECK_INT(rename(from, to), 0);
    (void)snprintf(to, sizeof(to), "%s/new", p.dir);
    CHECK_INT(rename(to, from), 0);
    file_cache_on_watch(c);
    CHECK_INT(size_of(c, &p, "pub/css/a", 1), 2);
    file_cache_invalidate_all(c);
    CHECK_INT(file_cache_stats(c).watches, 0);
    file_cache_free(c);
    place_end(&p);
}

/* A path that is not its own resolved name, as with a symbolic link on the way. */
static void test_file_cache_trusts_indirect_paths_briefly(void)
{
    struct file_cache *c = file_cache_new(&watched);
    const struct file_cache_entry *e = NULL;
    struct place p;
    char direct[1024];

    place_make(&p);
    put(&p, "one", "1");
    (void)snprintf(direct, sizeof(direct), "%s/one", p.dir);
    CHECK_INT(size_of(c, &p, "one", 0), 1);
    CHECK_INT(file_cache_lookup(c, at(&p, "./one"), 0, &e), 0);
    CHECK_STR(e->resolved, direct);
    put(&p, "one", "123");
    CHECK_INT(size_of(c, &p, "./one", 999), 1);
    CHECK_INT(size_of(c, &p, "./one", 1000), 3); /* no notice is needed for it */
    file_cache_free(c);
    place_end(&p);
}

static void test_file_cache_open_shares_descriptor(void)
{
    struct file_cache *c = file_cache_new(&unwatched);
    struct file_cache_file *a = NULL, *b = NULL, *d = NULL;
    char text[8];
    struct place p;
    size_t n = 0;

    place_make(&p);
    put(&p, "a", "old");
    CHECK_INT(file_cache_open(c, at(&p, "a"), 0, &a), 0);
    CHECK_INT(file_cache_open(c, at(&p, "a"), 0, &b), 0);
    CHECK(a == b);
    put(&p, "a", "newer");
    CHECK_INT(file_cache_open(c, at(&p, "a"), 5000, &d), 0);
    CHECK(d != a);
    CHECK_INT(d->st.size, 5);
    /* Whoever is sending the old file still can. */
    CHECK_INT(fs_pread(a->fd, text, sizeof(text), 0, &n), 0);
    CHECK_STR(str_n(text, n), "old");
    file_cache_put(a);
    CHECK_INT(file_cache_open(c, str_c(p.dir), 0, &a), ERR_ISDIR);
    CHECK_INT(file_cache_open(c, at(&p, "x"), 0, &a), ERR_NOTFOUND);
    CHECK_INT(file_cache_stats(c).open_files, 1);
    file_cache_free(c);
    CHECK_INT(fs_pread(d->fd, text, sizeof(text), 0, &n), 0);
    CHECK_STR(str_n(text, n), "newer");
    file_cache_put(b);
    file_cache_put(d);
    file_cache_put(NULL);
    place_end(&p);
}

static void test_file_cache_open_uses_what_it_opened(void)
{
    struct file_cache *c = file_cache_new(&unwatched);
    struct file_cache_file *f = NULL;
    struct place p;

    place_make(&p);
    put(&p, "a", "1");
    CHECK_INT(size_of(c, &p, "a", 0), 1);
    put(&p, "a", "123");
    CHECK_INT(file_cache_open(c, at(&p, "a"), 1, &f), 0);
    CHECK_INT(f->st.size, 3);
    CHECK_INT(size_of(c, &p, "a", 1), 3);
    file_cache_put(f);
    file_cache_free(c);
    place_end(&p);
}

static struct file_cache_file *opened(struct file_cache *c, struct place *p, const char *name)
{
    struct file_cache_file *f = NULL;

    CHECK_INT(file_cache_open(c, at(p, name), 0, &f), 0);
    return f;
}

static void test_file_cache_keeps_content_of_small_files(void)
{
    static const struct {
        const char *text;
        bool kept;
    } rows[] = {{"", true}, {"1", true}, {"1234", true}, {"12345", false}};
    struct file_cache_config cfg = unwatched;
    struct file_cache *c;
    struct place p;

    cfg.inline_bytes = 4;
    cfg.inline_total = 4;
    c = file_cache_new(&cfg);
    place_make(&p);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct file_cache_file *f;

        test_row(rows[i].text);
        put(&p, "a", rows[i].text);
        file_cache_invalidate_all(c);
        f = opened(c, &p, "a");
        CHECK_INT(f->content.p != NULL, rows[i].kept);
        if (rows[i].kept)
            CHECK_STR(f->content, rows[i].text);
        file_cache_put(f);
    }
    test_row(NULL);
    file_cache_free(c);
    place_end(&p);
}

static void test_file_cache_bounds_all_contents(void)
{
    struct file_cache_config cfg = unwatched;
    struct file_cache_file *a, *b;
    struct file_cache *c;
    struct place p;

    cfg.inline_bytes = 4;
    cfg.inline_total = 6;
    c = file_cache_new(&cfg);
    place_make(&p);
    put(&p, "a", "123");
    put(&p, "b", "1234");
    a = opened(c, &p, "a");
    b = opened(c, &p, "b");
    CHECK_STR(a->content, "123");
    CHECK(b->content.p == NULL); /* together more than 6 bytes */
    file_cache_put(b);
    file_cache_invalidate_all(c);
    b = opened(c, &p, "b");
    CHECK_STR(b->content, "1234"); /* what left the cache makes room */
    CHECK_STR(a->content, "123");
    file_cache_put(a);
    file_cache_put(b);
    file_cache_free(c);
    place_end(&p);
}

static void test_file_cache_closes_what_nobody_uses(void)
{
    struct file_cache_config cfg = unwatched;
    struct file_cache_file *f = NULL;
    struct file_cache *c;
    struct place p;

    cfg.inactive_ms = 5000;
    cfg.unwatched_ms = 100000;
    c = file_cache_new(&cfg);
    place_make(&p);
    put(&p, "a", "1");
    put(&p, "b", "1");
    file_cache_put(opened(c, &p, "a"));
    file_cache_put(opened(c, &p, "b"));
    CHECK_INT(file_cache_stats(c).open_files, 2);
    CHECK_INT(file_cache_open(c, at(&p, "b"), 4999, &f), 0);
    file_cache_put(f);
    CHECK_INT(file_cache_stats(c).open_files, 2);
    CHECK_INT(file_cache_open(c, at(&p, "b"), 6000, &f), 0);
    file_cache_put(f);
    CHECK_INT(file_cache_stats(c).open_files, 1);
    CHECK_INT(file_cache_stats(c).entries, 2);
    file_cache_free(c);
    place_end(&p);
}

static void test_file_cache_keeps_coded_bodies(void)
{
    struct file_cache_config cfg = unwatched;
    struct file_cache_file *a, *b;
    struct file_cache *c;
    struct place p;

    cfg.coded_bytes = 10;
    c = file_cache_new(&cfg);
    place_make(&p);
    put(&p, "a", "1");
    put(&p, "b", "1");
    a = opened(c, &p, "a");
    b = opened(c, &p, "b");
    CHECK(file_cache_coded(a, CODING_GZIP).p == NULL);
    file_cache_keep_coded(c, a, CODING_GZIP, STR("12345"));
    CHECK_STR(file_cache_coded(a, CODING_GZIP), "12345");
    CHECK(file_cache_coded(a, CODING_BR).p == NULL);
    CHECK(file_cache_coded(b, CODING_GZIP).p == NULL);
    file_cache_keep_coded(c, a, CODING_GZIP, STR("again")); /* the first one stays */
    CHECK_STR(file_cache_coded(a, CODING_GZIP), "12345");
    file_cache_keep_coded(c, b, CODING_GZIP, STR("123456")); /* no room */
    CHECK(file_cache_coded(b, CODING_GZIP).p == NULL);
    file_cache_keep_coded(c, b, CODING_BR, STR("67890"));
    CHECK_STR(file_cache_coded(b, CODING_BR), "67890");
    /* A file that left the cache keeps what it has for its holders, gets no more, and makes room.
     */
    file_cache_invalidate_all(c);
    CHECK_STR(file_cache_coded(a, CODING_GZIP), "12345");
    file_cache_keep_coded(c, a, CODING_BR, STR("1"));
    CHECK(file_cache_coded(a, CODING_BR).p == NULL);
    file_cache_put(a);
    file_cache_put(b);
    a = opened(c, &p, "a");
    CHECK(file_cache_coded(a, CODING_GZIP).p == NULL);
    file_cache_keep_coded(c, a, CODING_GZIP, STR("1234567890"));
    CHECK_STR(file_cache_coded(a, CODING_GZIP), "1234567890");
    file_cache_free(c);
    CHECK_STR(file_cache_coded(a, CODING_GZIP), "1234567890");
    file_cache_put(a);
    place_end(&p);
}

static void test_file_cache_ref_is_one_more_holder(void)
{
    struct file_cache *c = file_cache_new(&unwatched);
    struct file_cache_file *f;
    struct place p;
    char text[8];
    size_t n = 0;

    place_make(&p);
    put(&p, "a", "text");
    f = opened(c, &p, "a");
    file_cache_ref(f);
    file_cache_free(c);
    file_cache_put(f);
    CHECK_INT(fs_pread(f->fd, text, sizeof(text), 0, &n), 0);
    CHECK_STR(str_n(text, n), "text");
    file_cache_put(f);
    place_end(&p);
}

static void test_file_cache_is_bounded(void)
{
    struct file_cache_config cfg = {.max_entries = 8,
        .max_open = 2,
        .max_watches = 100,
        .valid_ms = 30000,
        .unwatched_ms = 1000};
    struct file_cache *c = file_cache_new(&cfg);
    struct file_cache_file *f;
    struct place p;
    char name[32];

    place_make(&p);
    put(&p, "hot", "1");
    for (int i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "f%d", i);
        put(&p, name, "1");
        CHECK_INT(file_cache_open(c, at(&p, name), 0, &f), 0);
        file_cache_put(f);
        (void)snprintf(name, sizeof(name), "missing%d", i);
        CHECK_INT(size_of(c, &p, name, 0), ERR_NOTFOUND);
        CHECK_INT(size_of(c, &p, "hot", 0), 1);
        CHECK(file_cache_stats(c).entries <= 8);
        CHECK(file_cache_stats(c).open_files <= 2);
    }
    /* "hot" was looked at once, and missing names did not push it out. */
    CHECK_INT(file_cache_stats(c).hits, 19);
    file_cache_free(c);
    place_end(&p);
}

static void test_file_cache_without_room_for_watches_looks_again(void)
{
    struct file_cache_config cfg = {.max_entries = 100,
        .max_open = 10,
        .max_watches = 1,
        .valid_ms = 30000,
        .unwatched_ms = 1000};
    struct file_cache *c = file_cache_new(&cfg);
    struct place p;

    place_make(&p);
    CHECK_INT(fs_mkdir(at(&p, "d").p, 0755), 0);
    CHECK_INT(fs_mkdir(at(&p, "e").p, 0755), 0);
    put(&p, "d/a", "1");
    put(&p, "e/a", "1");
    CHECK_INT(size_of(c, &p, "d/a", 0), 1);
    CHECK_INT(size_of(c, &p, "e/a", 0), 1);
    CHECK(file_cache_stats(c).watches <= 1);
    put(&p, "e/a", "12");
    CHECK_INT(size_of(c, &p, "e/a", 999), 1);
    CHECK_INT(size_of(c, &p, "e/a", 1000), 2);
    file_cache_free(c);
    place_end(&p);
}

const struct test tests_file_cache[] = {
    TEST(test_file_cache_lookup_remembers),
    TEST(test_file_cache_refuses_long_path),
    TEST(test_file_cache_notices_changes),
    TEST(test_file_cache_notices_renamed_folder_above),
    TEST(test_file_cache_trusts_indirect_paths_briefly),
    TEST(test_file_cache_open_shares_descriptor),
    TEST(test_file_cache_open_uses_what_it_opened),
    TEST(test_file_cache_keeps_content_of_small_files),
    TEST(test_file_cache_bounds_all_contents),
    TEST(test_file_cache_closes_what_nobody_uses),
    TEST(test_file_cache_keeps_coded_bodies),
    TEST(test_file_cache_ref_is_one_more_holder),
    TEST(test_file_cache_is_bounded),
    TEST(test_file_cache_without_room_for_watches_looks_again),
    TEST_END,
};
