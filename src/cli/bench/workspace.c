/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench/bench.h"
#include "cli/bench/files.h"
#include "platform/fs.h"
#include "platform/random.h"

int bench_workspace_write(const char *folder, const char *name, struct str data, struct err *err)
{
    char path[BENCH_PATH];
    int fd = -1, rc;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return err_set(err, ERR_TOOBIG, "the path of the temporary folder is too long: %s", folder);
    /* Not fs_write_file(), which waits for the disk. */
    rc = fs_open_new(path, 0600, &fd);
    if (rc == 0)
        rc = fs_write(fd, data.p, data.len);
    fs_close(fd);
    if (rc == ERR_NOSPACE)
        return err_set(err, rc,
            "there is no space left in %s for the benchmark's files (it needs 25 MB at most): make "
            "room, or set TMPDIR to another folder",
            folder);
    return rc ? err_set(err, rc, "%s cannot be written: %s", path, err_text(rc)) : 0;
}

static int write_programs(const char *folder, struct err *err)
{
    int rc = 0;

    for (const struct bench_file *f = bench_files; f->name && rc == 0; f++)
        rc = bench_workspace_write(folder, f->name, str_n((const char *)f->data, f->size), err);
    return rc;
}

int bench_workspace_open(char out[BENCH_PATH], struct err *err)
{
    const char *parent = getenv("TMPDIR");
    char real[BENCH_PATH];
    int rc;

    if (!parent || !*parent)
        parent = "/tmp";
    /* Without links: OPcache and the benchmarks know their files by real paths. */
    rc = fs_realpath(parent, real, sizeof(real));
    if (rc == 0 && snprintf(out, BENCH_PATH, "%s/ephpm-bench.%016llx", real,
                       (unsigned long long)random_u64()) >= BENCH_PATH - 64)
        rc = ERR_TOOBIG;
    if (rc == 0)
        rc = fs_mkdir(out, 0700);
    if (rc) {
        out[0] = '\0';
        return err_set(err, rc,
            "no temporary folder can be made in %s: %s; set TMPDIR to a folder that can be "
            "written, with 25 MB of free space",
            parent, err_text(rc));
    }
    rc = write_programs(out, err);
    if (rc) {
        bench_workspace_close(out);
        out[0] = '\0';
    }
    return rc;
}

/* Removes what is in the folder and the folder; depth bounds what a program may have left there. */
static void remove_tree(const char *folder, int depth)
{
    struct fs_dir *dir;
    struct str name;

    if (depth > 16 || fs_dir_open(folder, &dir))
        return;
    while (fs_dir_next(dir, &name) == 0) {
        char path[BENCH_PATH];
        struct fs_stat st;

        if (snprintf(path, sizeof(path), "%s/" STR_F, folder, STR_A(name)) >= (int)sizeof(path))
            continue;
        if (fs_lstat(path, &st) == 0 && st.kind == FS_DIR)
            remove_tree(path, depth + 1);
        else
            (void)!fs_unlink(path); /* the folder then stays, which is all that can be done */
    }
    fs_dir_close(dir);
    (void)!fs_rmdir(folder); /* as above */
}

void bench_workspace_close(const char *folder)
{
    if (*folder)
        remove_tree(folder, 0);
}
