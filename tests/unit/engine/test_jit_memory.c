/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/jit_memory.h"

#include "platform/fs.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

static struct tmpdir dir;
static char path[512];

static const char *new_file(void)
{
    tmpdir_init(&dir);
    (void)snprintf(path, sizeof(path), "%s", tmpdir_path(&dir, "jit.json"));
    return path;
}

static struct jit_record record(const char *root, const char *revision, uint64_t stamp)
{
    return (struct jit_record){.site = STR("default"),
        .root = str_c(root),
        .revision = revision ? str_c(revision) : STR_NONE,
        .stamp = stamp,
        .php = STR("8.2.29 HYBRID 1 2"),
        .jit = STR("tracing 64"),
        .choice = JIT_OFF,
        .reason = STR("costs \"more\""),
        .figures = {.cost = {42000, 30000},
            .error = 120,
            .samples = {300, 301},
            .kinds = 2,
            .covered = .75},
        .wall_us = 1700000000000000};
}

static size_t load(struct arena *a, struct jit_record **v)
{
    struct err err = {0};
    size_t n = 0;

    CHECK_INT(jit_memory_load(a, path, v, &n, &err), 0);
    return n;
}

static void keep(const char *root, const char *revision, uint64_t stamp)
{
    struct jit_record r = record(root, revision, stamp);
    struct err err = {0};

    CHECK_INT(jit_memory_keep(path, &r, &err), 0);
}

static void test_jit_memory_round_trip(void)
{
    struct arena a = {0};
    struct jit_record *v;

    (void)new_file();
    CHECK_INT(load(&a, &v), 0); /* there is no file */
    keep("/srv/1", "v1", 7);
    CHECK_INT(load(&a, &v), 1);
    CHECK_STR(v[0].root, "/srv/1");
    CHECK_STR(v[0].revision, "v1");
    CHECK_STR(v[0].reason, "costs \"more\"");
    CHECK(v[0].stamp == 7 && v[0].choice == JIT_OFF && v[0].wall_us == 1700000000000000);
    CHECK(v[0].figures.cost[TRIAL_WITH] == 42000 && v[0].figures.cost[TRIAL_WITHOUT] == 30000);
    CHECK(v[0].figures.samples[TRIAL_WITHOUT] == 301 && v[0].figures.kinds == 2);
    CHECK(v[0].figures.covered == .75 && v[0].figures.error == 120);
    arena_fini(&a);
    tmpdir_fini(&dir);
}

static void test_jit_memory_finds_the_revision(void)
{
    static const struct {
        const char *root, *revision;
        uint64_t stamp;
        int want; /* stamp of the record; 0: none */
    } rows[] = {
        {"/srv/1", "v1", 99, 1}, /* a name says more than files */
        {"/srv/1", "v2", 1, 2},
        {"/srv/1", "v3", 1, 0},
        {"/srv/1", NULL, 1, 1}, /* whatever it was called */
        {"/srv/1", NULL, 3, 3},
        {"/srv/1", NULL, 4, 0},
        {"/srv/2", NULL, 1, 0},
    };
    struct arena a = {0};
    struct jit_record *v;
    size_t n;

    (void)new_file();
    keep("/srv/1", "v1", 1);
    keep("/srv/1", "v2", 2);
    keep("/srv/1", NULL, 8);
    keep("/srv/1", NULL, 3); /* in place of the one before */
    n = load(&a, &v);
    CHECK_INT(n, 3);
    CHECK_INT(v[0].stamp, 3); /* newest first */
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct jit_record like = record(rows[i].root, rows[i].revision, rows[i].stamp);
        const struct jit_record *r = jit_memory_find(v, n, &like);

        test_row(rows[i].revision ? rows[i].revision : "none");
        CHECK_INT(r ? (long long)r->stamp : 0, rows[i].want);
        like.jit = STR("tracing 32");
        CHECK(jit_memory_find(v, n, &like) == NULL);
        like.jit = STR("tracing 64");
        like.php = STR("8.4.1 HYBRID 1 2");
        CHECK(jit_memory_find(v, n, &like) == NULL);
    }
    test_row(NULL);
    arena_fini(&a);
    tmpdir_fini(&dir);
}

static void test_jit_memory_is_bounded(void)
{
    struct arena a = {0};
    struct jit_record *v;
    char name[16];
    size_t n;

    (void)new_file();
    for (unsigned i = 1; i <= JIT_MEMORY_RECORDS + 20; i++) {
        (void)snprintf(name, sizeof(name), "v%u", i);
        keep("/srv/1", name, i);
    }
    n = load(&a, &v);
    CHECK_INT(n, JIT_MEMORY_RECORDS);
    CHECK_INT(v[0].stamp, JIT_MEMORY_RECORDS + 20);
    CHECK_INT(v[n - 1].stamp, 21);
    arena_fini(&a);
    tmpdir_fini(&dir);
}

static void test_jit_memory_replaces_a_bad_file(void)
{
    static const struct {
        const char *text;
        int rc;
    } rows[] = {
        {"", ERR_INVAL},
        {"{", ERR_INVAL},
        {"[]", ERR_INVAL},
        {"{\"measured\": 1}", ERR_INVAL},
        {"{\"measured\": [1, {}, {\"site\": \"default\", \"choice\": \"on\"}, null]}", 0},
        {"{\"measured\": [{\"site\": \"a\", \"root\": \"b\", \"php\": \"c\", \"jit\": \"d\", "
         "\"reason\": \"\", \"choice\": \"maybe\"}]}",
            0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct arena a = {0};
        struct jit_record *v = NULL;
        struct err err = {0};
        size_t n = 0;

        test_row(rows[i].text);
        CHECK_INT(fs_write_file(new_file(), rows[i].text, strlen(rows[i].text), 0600), 0);
        CHECK_INT(jit_memory_load(&a, path, &v, &n, &err), rows[i].rc);
        CHECK_INT(n, 0);
        keep("/srv/1", NULL, 1);
        CHECK_INT(load(&a, &v), 1);
        arena_fini(&a);
        tmpdir_fini(&dir);
    }
    test_row(NULL);
}

static void test_jit_memory_says_what_cannot_be_written(void)
{
    struct jit_record r = record("/srv/1", NULL, 1);
    struct err err = {0};

    CHECK(jit_memory_keep("/nonexistent/jit.json", &r, &err) != 0);
    CHECK(err.text[0] != '\0');
}

const struct test tests_jit_memory[] = {
    TEST(test_jit_memory_round_trip),
    TEST(test_jit_memory_finds_the_revision),
    TEST(test_jit_memory_is_bounded),
    TEST(test_jit_memory_replaces_a_bad_file),
    TEST(test_jit_memory_says_what_cannot_be_written),
    TEST_END,
};
