/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/platform/tmpdir.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "platform/fs.h"
#include "platform/random.h"

void tmpdir_init(struct tmpdir *t)
{
    const char *base = getenv("TMPDIR");

    if (!base || !*base)
        base = getenv("TEMP");
    if (!base || !*base)
        base = "/tmp";
    *t = (struct tmpdir){0};
    (void)snprintf(
        t->path, sizeof(t->path), "%s/ephpm-test-%016llx", base, (unsigned long long)random_u64());
    for (char *p = t->path; *p; p++)
        if (*p == '\\')
            *p = '/';
    ENSURE(fs_mkdir(t->path, 0700) == 0);
}

static void tmpdir_remove(const char *path)
{
    struct fs_dir *d = NULL;
    struct fs_stat st;
    struct str name;

    if (fs_lstat(path, &st) != 0)
        return;
    if (st.kind != FS_DIR) {
        ENSURE(fs_unlink(path) == 0);
        return;
    }
    ENSURE(fs_dir_open(path, &d) == 0);
    while (fs_dir_next(d, &name) == 0) {
        char child[1024];

        (void)snprintf(child, sizeof(child), "%s/" STR_F, path, STR_A(name));
        tmpdir_remove(child);
    }
    fs_dir_close(d);
    ENSURE(fs_rmdir(path) == 0);
}

void tmpdir_fini(struct tmpdir *t)
{
    tmpdir_remove(t->path);
}

const char *tmpdir_path(struct tmpdir *t, const char *name)
{
    char *out = t->space[t->turn++ % 4];
    size_t n = strlen(t->path), m = strlen(name);

    ENSURE(n + m + 2 <= sizeof(t->space[0]));
    memcpy(out, t->path, n);
    out[n] = '/';
    memcpy(out + n + 1, name, m + 1);
    return out;
}

void tmpdir_write(struct tmpdir *t, const char *name, const char *text)
{
    char part[512];

    for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
        int rc;

        (void)snprintf(part, sizeof(part), "%.*s", (int)(p - name), name);
        rc = fs_mkdir(tmpdir_path(t, part), 0700);
        ENSURE(rc == 0 || rc == ERR_EXISTS);
    }
    ENSURE(fs_write_file(tmpdir_path(t, name), text, strlen(text), 0600) == 0);
}
