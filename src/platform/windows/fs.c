/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/fs.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <stdio.h>

#include "base/mem.h"
#include "platform/fs_lock.h"
#include "platform/random.h"
#include "platform/windows/fs_path.h"
#include "platform/windows/oserr.h"

/* Others may read, write, rename and delete meanwhile, as on Unix. */
enum { FS_SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/*
 * The system says "path not found" both when a directory on the way is missing and when a file is
 * in its place; the nearest thing that exists tells which.  Cuts path.
 */
static int fs_explain_missing(wchar_t *path)
{
    wchar_t *cut;

    while ((cut = wcsrchr(path, L'\\'))) {
        DWORD attr;

        *cut = L'\0';
        attr = GetFileAttributesW(path);
        if (attr != INVALID_FILE_ATTRIBUTES)
            return attr & FILE_ATTRIBUTE_DIRECTORY ? ERR_NOTFOUND : ERR_NOTDIR;
    }
    return ERR_NOTFOUND;
}

static int fs_create(const char *path, DWORD access, DWORD how, DWORD flags, HANDLE *out)
{
    wchar_t wide[FS_PATH_MAX];
    HANDLE h;
    int rc = fs_path_wide(path, wide);

    if (rc)
        return rc;
    h = CreateFileW(wide, access, FS_SHARE, NULL, how, flags, NULL);
    if (h == INVALID_HANDLE_VALUE) {
        DWORD e = GetLastError();

        return e == ERROR_PATH_NOT_FOUND ? fs_explain_missing(wide) : oserr_code(e);
    }
    *out = h;
    return 0;
}

/* Takes the handle over, on failure too. */
static int fs_to_fd(HANDLE h, int flags, int *fd)
{
    int f = _open_osfhandle((intptr_t)h, flags | _O_BINARY | _O_NOINHERIT);

    if (f < 0) {
        (void)CloseHandle(h); /* ours */
        return ERR_MFILE;
    }
    *fd = f;
    return 0;
}

static HANDLE fs_handle(int fd)
{
    return fd < 0 ? INVALID_HANDLE_VALUE : (HANDLE)_get_osfhandle(fd);
}

static uint64_t fs_join(DWORD high, DWORD low)
{
    return ((uint64_t)high << 32) | low;
}

static bool fs_is_link(HANDLE h)
{
    FILE_ATTRIBUTE_TAG_INFO t;

    if (!GetFileInformationByHandleEx(h, FileAttributeTagInfo, &t, sizeof(t)))
        return false;
    /* Other reparse points (deduplication, cloud files) are plain files to their readers. */
    return (t.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
           (t.ReparseTag == IO_REPARSE_TAG_SYMLINK || t.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT);
}

static int fs_stat_handle(HANDLE h, struct fs_stat *out)
{
    const int64_t unix_epoch = 116444736000000000; /* in units of 100 ns since 1601 */
    BY_HANDLE_FILE_INFORMATION i;
    struct fs_stat st = {.kind = FS_FILE};

    if (GetFileType(h) != FILE_TYPE_DISK) {
        if (h == INVALID_HANDLE_VALUE)
            return ERR_INVAL;
        *out = (struct fs_stat){.kind = FS_OTHER, .mode = 0666};
        return 0;
    }
    if (!GetFileInformationByHandle(h, &i))
        return oserr_last();
    if (fs_is_link(h))
        st.kind = FS_LINK;
    else if (i.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        st.kind = FS_DIR;
    st.size = fs_join(i.nFileSizeHigh, i.nFileSizeLow);
    st.mtime_ns =
        ((int64_t)fs_join(i.ftLastWriteTime.dwHighDateTime, i.ftLastWriteTime.dwLowDateTime) -
            unix_epoch) *
        100;
    st.ino = fs_join(i.nFileIndexHigh, i.nFileIndexLow);
    st.dev = i.dwVolumeSerialNumber;
    st.mode = i.dwFileAttributes & FILE_ATTRIBUTE_READONLY ? 0444 : 0666;
    if (st.kind == FS_DIR)
        st.mode |= 0111;
    *out = st;
    return 0;
}

static int fs_stat_path(const char *path, DWORD flags, struct fs_stat *out)
{
    HANDLE h;
    int rc = fs_create(
        path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, &h);

    if (rc)
        return rc;
    rc = fs_stat_handle(h, out);
    (void)CloseHandle(h); /* ours */
    return rc;
}

int fs_stat(const char *path, struct fs_stat *out)
{
    return fs_stat_path(path, 0, out);
}

int fs_lstat(const char *path, struct fs_stat *out)
{
    return fs_stat_path(path, FILE_FLAG_OPEN_REPARSE_POINT, out);
}

int fs_fstat(int fd, struct fs_stat *out)
{
    return fs_stat_handle(fs_handle(fd), out);
}

/* Whether the access is granted: the lists of rights are too intricate for anything but trying. */
static int fs_try(const char *path, DWORD access)
{
    HANDLE h;
    int rc = fs_create(path, access, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, &h);

    if (rc)
        return rc;
    (void)CloseHandle(h); /* ours */
    return 0;
}

int fs_readable(const char *path)
{
    return fs_try(path, FILE_READ_DATA); /* for a directory the same bit means listing */
}

int fs_writable(const char *path)
{
    return fs_try(path, FILE_WRITE_DATA); /* for a directory: adding files */
}

int fs_realpath(const char *path, char *out, size_t cap)
{
    wchar_t wide[FS_PATH_MAX];
    HANDLE h;
    DWORD n;
    int rc = fs_create(path, 0, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, &h);

    if (rc)
        return rc;
    n = GetFinalPathNameByHandleW(h, wide, FS_PATH_MAX, FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    if (n == 0)
        rc = oserr_last();
    else if (n >= FS_PATH_MAX)
        rc = ERR_TOOBIG;
    (void)CloseHandle(h); /* ours */
    return rc ? rc : fs_path_utf8(wide, out, cap);
}

int fs_readlink(const char *path, char *out, size_t cap)
{
    struct fs_stat st;
    int rc = fs_lstat(path, &st);

    if (rc)
        return rc;
    /* Nothing here needs a link's text; fs_realpath() follows links. */
    return st.kind == FS_LINK ? ERR_UNSUPPORTED : ERR_INVAL;
}

int fs_open_read(const char *path, int *fd)
{
    struct fs_stat st;
    HANDLE h;
    int rc = fs_create(path, GENERIC_READ, OPEN_EXISTING, 0, &h);

    if (rc == ERR_ACCESS && fs_stat(path, &st) == 0 && st.kind == FS_DIR)
        return ERR_ISDIR;
    return rc ? rc : fs_to_fd(h, _O_RDONLY, fd);
}

int fs_open_append(const char *path, uint32_t mode, int *fd)
{
    HANDLE h;
    /* Without FILE_WRITE_DATA the system itself moves every write to the end. */
    int rc = fs_create(path, FILE_APPEND_DATA | SYNCHRONIZE | FILE_READ_ATTRIBUTES, OPEN_ALWAYS,
        FILE_ATTRIBUTE_NORMAL, &h);

    return rc ? rc : fs_to_fd(h, _O_WRONLY | _O_APPEND, fd);
}

void fs_close(int fd)
{
    if (fd >= 0)
        (void)_close(fd); /* the descriptor is gone whatever it says */
}

static int fs_temp_dir(char *out, size_t cap)
{
    wchar_t wide[MAX_PATH + 1];
    DWORD n = GetTempPathW(ARRAY_LEN(wide), wide);

    if (n == 0 || n >= ARRAY_LEN(wide))
        return ERR_NOTFOUND;
    wide[n - 1] = L'\0'; /* the separator at the end */
    return fs_path_utf8(wide, out, cap);
}

/* A new file "<prefix><random>"; name gets its path. */
static int fs_create_temp(const char *prefix, DWORD flags, char *name, size_t cap, HANDLE *out)
{
    int n = snprintf(name, cap, "%s%016llx", prefix, (unsigned long long)random_u64());

    if (n < 0 || (size_t)n >= cap)
        return ERR_TOOBIG;
    return fs_create(name, GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_NEW, flags, out);
}

int fs_open_spool(const char *dir, int *fd)
{
    char temp[FS_PATH_MAX], prefix[FS_PATH_MAX], name[FS_PATH_MAX];
    HANDLE h;
    int rc = 0, n;

    if (!dir) {
        rc = fs_temp_dir(temp, sizeof(temp));
        dir = temp;
    }
    if (rc)
        return rc;
    n = snprintf(prefix, sizeof(prefix), "%s/ephpm-spool-", dir);
    if (n < 0 || (size_t)n >= sizeof(prefix))
        return ERR_TOOBIG;
    /* Temporary: stays in memory while there is some. The name goes with the last handle. */
    rc = fs_create_temp(
        prefix, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, name, sizeof(name), &h);
    return rc ? rc : fs_to_fd(h, _O_RDWR, fd);
}

static OVERLAPPED fs_offset(uint64_t off)
{
    return (OVERLAPPED){.Offset = (DWORD)off, .OffsetHigh = (DWORD)(off >> 32)};
}

enum { FS_STEP = 1 << 26 };

int fs_pread(int fd, void *p, size_t n, uint64_t off, size_t *got)
{
    size_t done = 0;

    while (done < n) {
        OVERLAPPED o = fs_offset(off + done);
        DWORD r = 0;

        if (!ReadFile(
                fs_handle(fd), (char *)p + done, (DWORD)MIN(n - done, (size_t)FS_STEP), &r, &o)) {
            if (GetLastError() == ERROR_HANDLE_EOF)
                break;
            return oserr_last();
        }
        if (r == 0)
            break;
        done += r;
    }
    *got = done;
    return 0;
}

int fs_pwrite(int fd, const void *p, size_t n, uint64_t off)
{
    for (size_t done = 0; done < n;) {
        OVERLAPPED o = fs_offset(off + done);
        DWORD r = 0;

        if (!WriteFile(fs_handle(fd), (const char *)p + done, (DWORD)MIN(n - done, (size_t)FS_STEP),
                &r, &o))
            return oserr_last();
        done += r;
    }
    return 0;
}

bool fs_is_terminal(int fd)
{
    return _isatty(fd) != 0;
}

bool fs_write_ready(int fd)
{
    return true; /* pipes and consoles cannot be asked */
}

int fs_read_some(int fd, void *p, size_t n, size_t *got)
{
    DWORD r = 0;

    /* The other end of a pipe is gone: its end. */
    if (!ReadFile(fs_handle(fd), p, (DWORD)MIN(n, (size_t)FS_STEP), &r, NULL) &&
        GetLastError() != ERROR_BROKEN_PIPE)
        return oserr_last();
    *got = r;
    return 0;
}

int fs_write_some(int fd, const void *p, size_t n, size_t *done)
{
    DWORD r = 0;

    if (!WriteFile(fs_handle(fd), p, (DWORD)MIN(n, (size_t)FS_STEP), &r, NULL))
        return oserr_last();
    *done = r;
    return 0;
}

int fs_write(int fd, const void *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        DWORD r = 0;

        if (!WriteFile(fs_handle(fd), (const char *)p + done, (DWORD)MIN(n - done, (size_t)FS_STEP),
                &r, NULL))
            return oserr_last();
        done += r;
    }
    return 0;
}

int fs_read_file(const char *path, size_t limit, struct buf *out)
{
    enum { STEP = 65536 };
    size_t before = out->len, total = 0, got = 0;
    int fd = -1, rc = fs_open_read(path, &fd);

    if (rc)
        return rc;
    do {
        rc = fs_pread(fd, buf_reserve(out, STEP), STEP, total, &got);
        if (rc == 0 && got > limit - total)
            rc = ERR_TOOBIG;
        if (rc)
            break;
        out->len += got;
        total += got;
    } while (got);
    fs_close(fd);
    if (rc)
        out->len = before;
    return rc;
}

/* Puts the file at from in the place of to, at once. */
static int fs_replace(const char *from, const char *to)
{
    wchar_t wide_from[FS_PATH_MAX], wide_to[FS_PATH_MAX];
    int rc = fs_path_wide(from, wide_from);

    if (rc == 0)
        rc = fs_path_wide(to, wide_to);
    if (rc)
        return rc;
    if (MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        return 0;
    rc = oserr_last();
    /* A file that somebody has open is not moved over, but can be exchanged. */
    if ((rc == ERR_ACCESS || rc == ERR_BUSY) &&
        ReplaceFileW(wide_to, wide_from, NULL, REPLACEFILE_IGNORE_MERGE_ERRORS, NULL, NULL))
        rc = 0;
    return rc;
}

int fs_write_file(const char *path, const void *p, size_t n, uint32_t mode)
{
    char name[FS_PATH_MAX];
    HANDLE h;
    int fd = -1, rc = fs_create_temp(path, FILE_ATTRIBUTE_NORMAL, name, sizeof(name), &h);

    if (rc)
        return rc;
    rc = fs_to_fd(h, _O_RDWR, &fd);
    if (rc == 0)
        rc = fs_write(fd, p, n);
    /* The bytes must be on disk before the name points at them. */
    if (rc == 0 && !FlushFileBuffers(fs_handle(fd)))
        rc = oserr_last();
    fs_close(fd);
    if (rc == 0)
        rc = fs_replace(name, path);
    if (rc && fs_unlink(name) != 0)
        return rc; /* already failing */
    return rc;
}

int fs_open_new(const char *path, uint32_t mode, int *fd)
{
    HANDLE h;
    int rc;

    (void)mode; /* rights come from the folder */
    rc = fs_create(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, &h);
    return rc ? rc : fs_to_fd(h, _O_RDWR, fd);
}

int fs_sync(int fd)
{
    return FlushFileBuffers(fs_handle(fd)) ? 0 : oserr_last();
}

int fs_sync_dir(const char *path)
{
    (void)path; /* MOVEFILE_WRITE_THROUGH has waited for the name */
    return 0;
}

int fs_rename(const char *from, const char *to)
{
    return fs_replace(from, to);
}

int fs_mkdir(const char *path, uint32_t mode)
{
    wchar_t wide[FS_PATH_MAX];
    int rc = fs_path_wide(path, wide);

    if (rc == 0 && !CreateDirectoryW(wide, NULL))
        rc = oserr_last();
    return rc;
}

int fs_unlink(const char *path)
{
    wchar_t wide[FS_PATH_MAX];
    int rc = fs_path_wide(path, wide);

    if (rc == 0 && !DeleteFileW(wide))
        rc = oserr_last();
    return rc;
}

int fs_rmdir(const char *path)
{
    wchar_t wide[FS_PATH_MAX];
    int rc = fs_path_wide(path, wide);

    if (rc == 0 && !RemoveDirectoryW(wide))
        rc = oserr_last();
    return rc;
}

int fs_getcwd(char *out, size_t cap)
{
    wchar_t wide[FS_PATH_MAX];
    DWORD n = GetCurrentDirectoryW(FS_PATH_MAX, wide);

    if (n == 0)
        return oserr_last();
    return n >= FS_PATH_MAX ? ERR_TOOBIG : fs_path_utf8(wide, out, cap);
}

struct fs_dir {
    HANDLE h;
    WIN32_FIND_DATAW found;
    bool pending; /* found holds an entry that was not delivered */
    char name[MAX_PATH * 3];
};

int fs_dir_open(const char *path, struct fs_dir **out)
{
    wchar_t wide[FS_PATH_MAX];
    struct fs_stat st;
    struct fs_dir *d;
    size_t n;
    int rc = fs_stat(path, &st);

    if (rc == 0 && st.kind != FS_DIR)
        rc = ERR_NOTDIR;
    if (rc == 0)
        rc = fs_path_wide(path, wide);
    if (rc)
        return rc;
    n = wcslen(wide);
    if (n + 3 > FS_PATH_MAX)
        return ERR_TOOBIG;
    memcpy(wide + n, L"\\*", 3 * sizeof(wchar_t));
    d = mem_new(sizeof(*d));
    d->h = FindFirstFileW(wide, &d->found);
    if (d->h == INVALID_HANDLE_VALUE) {
        rc = oserr_last();
        mem_free(d);
        return rc;
    }
    d->pending = true;
    *out = d;
    return 0;
}

int fs_dir_next(struct fs_dir *d, struct str *name)
{
    for (;; d->pending = false) {
        int rc;

        if (!d->pending && !FindNextFileW(d->h, &d->found))
            return GetLastError() == ERROR_NO_MORE_FILES ? ERR_EOF : oserr_last();
        if (wcscmp(d->found.cFileName, L".") == 0 || wcscmp(d->found.cFileName, L"..") == 0)
            continue;
        rc = fs_path_utf8(d->found.cFileName, d->name, sizeof(d->name));
        if (rc)
            return rc;
        d->pending = false;
        *name = str_c(d->name);
        return 0;
    }
}

void fs_dir_close(struct fs_dir *d)
{
    if (!d)
        return;
    (void)FindClose(d->h); /* ours */
    mem_free(d);
}

/* A range beyond the text is locked: locked bytes cannot be read. */
enum { FS_LOCK_AT_HIGH = 1 };

int fs_lock(const char *path, uint64_t number, int *fd, uint64_t *holder)
{
    OVERLAPPED at = {.OffsetHigh = FS_LOCK_AT_HIGH};
    struct fs_stat st = {0};
    char text[32];
    int f = -1, rc;
    HANDLE h;
    int n = snprintf(text, sizeof(text), "%-20llu\n", (unsigned long long)number);

    rc = fs_create(path, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS,
        FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, &h);
    if (rc == 0)
        rc = fs_to_fd(h, _O_RDWR, &f);
    if (rc == 0)
        rc = fs_stat_handle(fs_handle(f), &st);
    if (rc == 0 && st.kind != FS_FILE)
        rc = st.kind == FS_LINK ? ERR_LOOP : ERR_INVAL;
    if (rc == 0 && !LockFileEx(fs_handle(f), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0,
                       1, 0, &at)) {
        rc = GetLastError() == ERROR_LOCK_VIOLATION ? ERR_BUSY : oserr_last();
        if (rc == ERR_BUSY)
            *holder = fs_lock_read(f);
    }
    if (rc == 0)
        rc = fs_pwrite(f, text, (size_t)n, 0);
    if (rc)
        fs_close(f);
    else
        *fd = f;
    return rc;
}

int fs_set_owner(const char *path, uint32_t uid, uint32_t gid)
{
    (void)path;
    (void)uid;
    (void)gid;
    return ERR_UNSUPPORTED;
}

int fs_set_owner_fd(int fd, uint32_t uid, uint32_t gid)
{
    (void)fd;
    (void)uid;
    (void)gid;
    return ERR_UNSUPPORTED;
}

int fs_open_resolved(const char *path, int *fd)
{
    return fs_open_read(path, fd);
}
