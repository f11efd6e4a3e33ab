/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/fs_lock.h"
#include "platform/linux/oserr.h"

static enum fs_kind fs_kind_of(mode_t m)
{
    switch (m & S_IFMT) {
    case S_IFREG:
        return FS_FILE;
    case S_IFDIR:
        return FS_DIR;
    case S_IFLNK:
        return FS_LINK;
    case S_IFSOCK:
        return FS_SOCKET;
    default:
        return FS_OTHER;
    }
}

static int fs_stat_result(int rc, const struct stat *st, struct fs_stat *out)
{
    if (rc < 0)
        return oserr_last();
    *out = (struct fs_stat){
        .kind = fs_kind_of(st->st_mode),
        .size = (uint64_t)st->st_size,
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .ino = st->st_ino,
        .dev = st->st_dev,
        .mode = st->st_mode & 07777,
        .uid = st->st_uid,
    };
    return 0;
}

int fs_stat(const char *path, struct fs_stat *out)
{
    struct stat st;

    return fs_stat_result(stat(path, &st), &st, out);
}

int fs_lstat(const char *path, struct fs_stat *out)
{
    struct stat st;

    return fs_stat_result(lstat(path, &st), &st, out);
}

int fs_fstat(int fd, struct fs_stat *out)
{
    struct stat st;

    return fs_stat_result(fstat(fd, &st), &st, out);
}

int fs_readable(const char *path)
{
    struct fs_stat st;
    int rc = fs_stat(path, &st);

    if (rc)
        return rc;
    /* With the effective ids, which opening it will use. */
    if (faccessat(AT_FDCWD, path, st.kind == FS_DIR ? X_OK : R_OK, AT_EACCESS) < 0)
        return oserr_last();
    return 0;
}

int fs_writable(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0 ? oserr_last() : 0;
}

static int fs_copy_out(const char *s, char *out, size_t cap)
{
    size_t n = strlen(s);

    if (n >= cap)
        return ERR_TOOBIG;
    memcpy(out, s, n + 1);
    return 0;
}

int fs_realpath(const char *path, char *out, size_t cap)
{
    char full[PATH_MAX];

    if (!realpath(path, full))
        return oserr_last();
    return fs_copy_out(full, out, cap);
}

int fs_readlink(const char *path, char *out, size_t cap)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target) - 1);

    if (n < 0)
        return oserr_last();
    target[n] = '\0';
    return fs_copy_out(target, out, cap);
}

static int fs_open(const char *path, int flags, mode_t mode, int *fd)
{
    int f;

    do {
        f = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    } while (f < 0 && errno == EINTR);
    if (f < 0)
        return oserr_last();
    *fd = f;
    return 0;
}

int fs_open_read(const char *path, int *fd)
{
    return fs_open(path, O_RDONLY | O_NONBLOCK, 0, fd);
}

int fs_open_resolved(const char *path, int *fd)
{
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_NO_SYMLINKS};
    long f = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

    if (f < 0 &&
        (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a filter that knows it not */
        f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (f < 0)
        return oserr_last();
    *fd = (int)f;
    return 0;
}

int fs_open_append(const char *path, uint32_t mode, int *fd)
{
    /* A pipe that nobody reads must neither hold the opening nor a write. */
    return fs_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, (mode_t)mode, fd);
}

int fs_open_new(const char *path, uint32_t mode, int *fd)
{
    return fs_open(path, O_WRONLY | O_CREAT | O_EXCL, (mode_t)mode, fd);
}

void fs_close(int fd)
{
    if (fd >= 0)
        (void)close(fd); /* the descriptor is gone whatever it says */
}

/* Opens a new file "<prefix>XXXXXX" into *fd; name gets its path. */
static int fs_open_temp(const char *prefix, char *name, size_t cap, int *fd)
{
    int n = snprintf(name, cap, "%sXXXXXX", prefix), f;

    if (n < 0 || (size_t)n >= cap)
        return ERR_TOOBIG;
    f = mkostemp(name, O_CLOEXEC);
    if (f < 0)
        return oserr_last();
    *fd = f;
    return 0;
}

int fs_open_spool(const char *dir, int *fd)
{
    char prefix[PATH_MAX], name[PATH_MAX];
    int rc, n;

    if (!dir)
        dir = getenv("TMPDIR");
    if (!dir || !*dir)
        dir = "/tmp";
    rc = fs_open(dir, O_TMPFILE | O_RDWR | O_EXCL, 0600, fd);
    /* EISDIR comes from kernels, EOPNOTSUPP from file systems that do not know O_TMPFILE. */
    if (rc != ERR_UNSUPPORTED && rc != ERR_ISDIR && rc != ERR_INVAL)
        return rc;
    n = snprintf(prefix, sizeof(prefix), "%s/ephpm-spool-", dir);
    if (n < 0 || (size_t)n >= sizeof(prefix))
        return ERR_TOOBIG;
    rc = fs_open_temp(prefix, name, sizeof(name), fd);
    if (rc == 0)
        (void)unlink(name); /* at worst an empty name stays behind */
    return rc;
}

int fs_pread(int fd, void *p, size_t n, uint64_t off, size_t *got)
{
    size_t done = 0;

    while (done < n) {
        ssize_t r = pread(fd, (char *)p + done, n - done, (off_t)(off + done));

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return oserr_last();
        if (r == 0)
            break;
        done += (size_t)r;
    }
    *got = done;
    return 0;
}

int fs_pwrite(int fd, const void *p, size_t n, uint64_t off)
{
    for (size_t done = 0; done < n;) {
        ssize_t r = pwrite(fd, (const char *)p + done, n - done, (off_t)(off + done));

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return oserr_last();
        done += (size_t)r;
    }
    return 0;
}

bool fs_is_terminal(int fd)
{
    return isatty(fd) == 1;
}

bool fs_write_ready(int fd)
{
    struct pollfd f = {.fd = fd, .events = POLLOUT};

    return poll(&f, 1, 0) != 0;
}

int fs_read_some(int fd, void *p, size_t n, size_t *got)
{
    for (;;) {
        struct pollfd f = {.fd = fd, .events = POLLIN};
        ssize_t r = read(fd, p, n);

        if (r >= 0) {
            *got = (size_t)r;
            return 0;
        }
        if (errno == EAGAIN)
            (void)poll(&f, 1, -1); /* read() says what is wrong */
        else if (errno != EINTR)
            return oserr_last();
    }
}

int fs_write_some(int fd, const void *p, size_t n, size_t *done)
{
    for (;;) {
        struct pollfd f = {.fd = fd, .events = POLLOUT};
        ssize_t r = write(fd, p, n);

        if (r >= 0) {
            *done = (size_t)r;
            return 0;
        }
        if (errno == EAGAIN)
            (void)poll(&f, 1, -1); /* write() says what is wrong */
        else if (errno != EINTR)
            return oserr_last();
    }
}

int fs_write(int fd, const void *p, size_t n)
{
    enum { REST_WAIT_MS = 100 };

    for (size_t done = 0; done < n;) {
        ssize_t r = write(fd, (const char *)p + done, n - done);

        if (r >= 0) {
            done += (size_t)r;
            continue;
        }
        if (errno == EINTR)
            continue;
        /* Half a line is out: give its reader a moment, so that the rest is not lost. */
        if (errno == EAGAIN && done) {
            struct pollfd f = {.fd = fd, .events = POLLOUT};

            if (poll(&f, 1, REST_WAIT_MS) > 0)
                continue;
            return ERR_AGAIN;
        }
        return oserr_last();
    }
    return 0;
}

static int fs_read_all(int fd, size_t limit, struct buf *out)
{
    enum { STEP = 65536 };
    size_t total = 0;

    for (;;) {
        ssize_t r = read(fd, buf_reserve(out, STEP), STEP);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return oserr_last();
        if (r == 0)
            return 0;
        if ((size_t)r > limit - total)
            return ERR_TOOBIG;
        total += (size_t)r;
        out->len += (size_t)r;
    }
}

int fs_read_file(const char *path, size_t limit, struct buf *out)
{
    size_t before = out->len;
    int fd = -1, rc = fs_open_read(path, &fd);

    if (rc)
        return rc;
    rc = fs_read_all(fd, limit, out); /* says ERR_ISDIR by itself */
    fs_close(fd);
    if (rc)
        out->len = before;
    return rc;
}

int fs_write_file(const char *path, const void *p, size_t n, uint32_t mode)
{
    char name[PATH_MAX];
    int fd = -1, rc = fs_open_temp(path, name, sizeof(name), &fd);

    if (rc)
        return rc;
    rc = fs_write(fd, p, n);
    /* The bytes must be on disk before the name points at them. */
    if (rc == 0 && (fchmod(fd, (mode_t)mode) < 0 || fsync(fd) < 0 || rename(name, path) < 0))
        rc = oserr_last();
    fs_close(fd);
    if (rc)
        (void)unlink(name); /* already failing */
    return rc;
}

int fs_sync(int fd)
{
    return fsync(fd) < 0 ? oserr_last() : 0;
}

int fs_sync_dir(const char *path)
{
    int fd = -1, rc = fs_open(path, O_RDONLY | O_DIRECTORY, 0, &fd);

    if (rc == 0)
        rc = fs_sync(fd);
    fs_close(fd);
    /* A file system that cannot does it by itself, or not at all. */
    return rc == ERR_INVAL ? 0 : rc;
}

int fs_rename(const char *from, const char *to)
{
    return rename(from, to) < 0 ? oserr_last() : 0;
}

int fs_mkdir(const char *path, uint32_t mode)
{
    return mkdir(path, (mode_t)mode) < 0 ? oserr_last() : 0;
}

int fs_set_owner(const char *path, uint32_t uid, uint32_t gid)
{
    struct stat st;
    int fd, rc = 0;

    /* Not by name: who may write in the folder above could put a link or a file of root there. */
    fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return oserr_last();
    if (fstat(fd, &st) < 0)
        rc = oserr_last();
    else if (!S_ISDIR(st.st_mode) && !S_ISSOCK(st.st_mode))
        rc = ERR_NOTDIR;
    else if (fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0)
        rc = oserr_last();
    close(fd);
    return rc;
}

int fs_set_owner_fd(int fd, uint32_t uid, uint32_t gid)
{
    return fchown(fd, uid, gid) < 0 ? oserr_last() : 0;
}

int fs_unlink(const char *path)
{
    return unlink(path) < 0 ? oserr_last() : 0;
}

int fs_rmdir(const char *path)
{
    return rmdir(path) < 0 ? oserr_last() : 0;
}

int fs_getcwd(char *out, size_t cap)
{
    char full[PATH_MAX];

    if (!getcwd(full, sizeof(full)))
        return oserr_last();
    return fs_copy_out(full, out, cap);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* 0 when f is the plain file that has the name; ERR_AGAIN: it has lost the name meanwhile. */
static int fs_lock_check(int f, const char *path)
{
    struct stat st, named;

    if (fstat(f, &st) < 0)
        return oserr_last();
    if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
        return ERR_INVAL;
    if (lstat(path, &named) < 0)
        return errno == ENOENT ? ERR_AGAIN : oserr_last();
    return named.st_ino == st.st_ino && named.st_dev == st.st_dev ? 0 : ERR_AGAIN;
}

int fs_lock(const char *path, uint64_t number, int *fd, uint64_t *holder)
{
    char text[32];
    int f = -1, rc;
    int n = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)number);

    do {
        fs_close(f);
        f = -1;
        rc = fs_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600, &f);
        if (rc == 0)
            rc = fs_lock_check(f, path);
        if (rc == 0 && flock(f, LOCK_EX | LOCK_NB) < 0) {
            rc = errno == EWOULDBLOCK ? ERR_BUSY : oserr_last();
            if (rc == ERR_BUSY)
                *holder = fs_lock_read(f);
        } else if (rc == 0) {
            rc =
                fs_lock_check(f, path); /* who unlinked it may have made another, and locked that */
        }
    } while (rc == ERR_AGAIN);
    if (rc == 0 && ftruncate(f, 0) < 0)
        rc = oserr_last();
    if (rc == 0)
        rc = fs_pwrite(f, text, (size_t)n, 0);
    if (rc)
        fs_close(f);
    else
        *fd = f;
    return rc;
}

/* --- directories ------------------------------------------------------------------------------ */

struct fs_dir {
    DIR *d;
};

int fs_dir_open(const char *path, struct fs_dir **out)
{
    DIR *d = opendir(path);
    struct fs_dir *r;

    if (!d)
        return oserr_last();
    r = mem_new(sizeof(*r));
    r->d = d;
    *out = r;
    return 0;
}

int fs_dir_next(struct fs_dir *d, struct str *name)
{
    for (;;) {
        struct dirent *e;

        errno = 0;
        e = readdir(d->d);
        if (!e)
            return errno ? oserr_last() : ERR_EOF;
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            *name = str_c(e->d_name);
            return 0;
        }
    }
}

void fs_dir_close(struct fs_dir *d)
{
    if (!d)
        return;
    (void)closedir(d->d); /* nothing was written */
    mem_free(d);
}
