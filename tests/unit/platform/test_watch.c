/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/watch.h"

#include "platform/fs.h"
#include "platform/sock.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_watch[];

struct watch_seen {
    int dir;
    unsigned count;
    char names[1024];
};

static void watch_note(void *arg, int dir, const char *name)
{
    struct watch_seen *s = arg;
    size_t n = strlen(s->names);

    s->dir = dir;
    s->count++;
    (void)snprintf(s->names + n, sizeof(s->names) - n, "%d:%s ", dir, name);
}

static void test_watch_tells_what_changed(void)
{
    struct watch *w = NULL;
    struct watch_seen seen = {0};
    struct tmpdir t;
    char want[32];
    int a = -1, b = -1, again = -1;

    tmpdir_init(&t);
    tmpdir_write(&t, "a/old", "x");
    tmpdir_write(&t, "b/old", "x");
    CHECK_INT(watch_open(&w), 0);
    CHECK_INT(watch_add(w, tmpdir_path(&t, "a"), &a), 0);
    CHECK_INT(watch_add(w, tmpdir_path(&t, "b"), &b), 0);
    CHECK_INT(watch_add(w, tmpdir_path(&t, "a"), &again), 0);
    CHECK(a != b);
    CHECK_INT(again, a);
    watch_read(w, watch_note, &seen); /* does not block */
    CHECK_INT(seen.count, 0);
    tmpdir_write(&t, "a/new", "x");
    CHECK_INT(sock_wait_readable(watch_fd(w), 1000), 0);
    watch_read(w, watch_note, &seen);
    (void)snprintf(want, sizeof(want), "%d:new ", a);
    CHECK(strstr(seen.names, want) != NULL);
    seen = (struct watch_seen){0};
    CHECK_INT(fs_unlink(tmpdir_path(&t, "b/old")), 0);
    watch_read(w, watch_note, &seen);
    (void)snprintf(want, sizeof(want), "%d:old ", b);
    CHECK_STR(str_c(seen.names), want);
    watch_remove(w, b);
    watch_remove(w, b);
    seen = (struct watch_seen){0};
    tmpdir_write(&t, "b/x", "x");
    watch_read(w, watch_note, &seen);
    CHECK_INT(seen.count, 0);
    tmpdir_fini(&t);
    watch_read(w, watch_note, &seen);
    (void)snprintf(want, sizeof(want), "%d: ", a);
    CHECK(strstr(seen.names, want) != NULL); /* the directory itself is gone */
    watch_close(w);
    watch_close(NULL);
}

static void test_watch_add_needs_a_directory(void)
{
    struct watch *w = NULL;
    struct tmpdir t;
    int id = -1;

    tmpdir_init(&t);
    tmpdir_write(&t, "f", "x");
    CHECK_INT(watch_open(&w), 0);
    CHECK_INT(watch_add(w, tmpdir_path(&t, "f"), &id), ERR_NOTDIR);
    CHECK_INT(watch_add(w, tmpdir_path(&t, "no"), &id), ERR_NOTFOUND);
    CHECK_INT(id, -1);
    watch_close(w);
    tmpdir_fini(&t);
}

const struct test tests_watch[] = {
    TEST(test_watch_tells_what_changed),
    TEST(test_watch_add_needs_a_directory),
    TEST_END,
};
