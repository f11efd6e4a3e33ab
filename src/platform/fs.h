/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_FS_H
#define EPHPM_PLATFORM_FS_H

/*
 * Files. Paths are UTF-8 C strings, '/'-separated on every system. Errors are err.h codes; every
 * descriptor is close-on-exec. fd is an int on every system (a CRT descriptor on Windows).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

enum fs_kind { FS_FILE, FS_DIR, FS_LINK, FS_SOCKET, FS_OTHER };

struct fs_stat {
    enum fs_kind kind;
    uint64_t size;
    int64_t mtime_ns; /* since 1970 */
    uint64_t ino;
    uint64_t dev;
    uint32_t mode; /* permission bits */
    uint32_t uid;
};

/* Follows links. ERR_NOTFOUND, ERR_NOTDIR, ERR_ACCESS, ERR_LOOP, ERR_IO. */
int fs_stat(const char *path, struct fs_stat *out) MUST_CHECK;
/* Does not follow a link in the last component. */
int fs_lstat(const char *path, struct fs_stat *out) MUST_CHECK;
int fs_fstat(int fd, struct fs_stat *out) MUST_CHECK;
/* May this process read (or search, for a directory) it? 0 or an error. */
int fs_readable(const char *path) MUST_CHECK;
int fs_writable(const char *path) MUST_CHECK;
/* Absolute path without links, "." and ".."; written over out (cap bytes with NUL). ERR_TOOBIG. */
int fs_realpath(const char *path, char *out, size_t cap) MUST_CHECK;
/* Target of a link, NUL-terminated. ERR_INVAL when it is not a link. */
int fs_readlink(const char *path, char *out, size_t cap) MUST_CHECK;

/* Opens for reading. A FIFO or device does not block. */
int fs_open_read(const char *path, int *fd) MUST_CHECK;
/* Opens a path that fs_realpath() gave for reading; a link in any component, which somebody must
 * have put there since, is ERR_LOOP. */
int fs_open_resolved(const char *path, int *fd) MUST_CHECK;
/* Opens for appending, created with mode when missing. */
int fs_open_append(const char *path, uint32_t mode, int *fd) MUST_CHECK;
/* Creates a file for writing. ERR_EXISTS: there is something of that name. */
int fs_open_new(const char *path, uint32_t mode, int *fd) MUST_CHECK;
/* Closes; -1 is fine. For descriptors of every kind of this layer. */
void fs_close(int fd);
/* A file without a name for reading and writing, in dir (NULL: $TMPDIR or /tmp). Gone when the last
 * descriptor is. */
int fs_open_spool(const char *dir, int *fd) MUST_CHECK;
/* At an offset, whole or error; pread returns the count in *got (0 at the end). ERR_NOSPACE when
 * the disk is full. */
int fs_pread(int fd, void *p, size_t n, uint64_t off, size_t *got) MUST_CHECK;
int fs_pwrite(int fd, const void *p, size_t n, uint64_t off) MUST_CHECK;
/* Appends all of it in one system call where possible (log lines). ERR_AGAIN: a full non-blocking
 * pipe. */
int fs_write(int fd, const void *p, size_t n) MUST_CHECK;
/* Reads what is there from a file, pipe or terminal (0 at the end); waits for it. */
int fs_read_some(int fd, void *p, size_t n, size_t *got) MUST_CHECK;
/* Writes some of it (n > 0) and says how much; waits while a non-blocking descriptor takes nothing.
 */
int fs_write_some(int fd, const void *p, size_t n, size_t *done) MUST_CHECK;
bool fs_is_terminal(int fd);
/* False when a write to this pipe, terminal or socket would wait now. True for files. */
bool fs_write_ready(int fd);

/* Whole file into out (appended). ERR_TOOBIG beyond limit, ERR_ISDIR for a directory. */
int fs_read_file(const char *path, size_t limit, struct buf *out) MUST_CHECK;
/* Replaces path atomically (temporary file in the same directory, rename). */
int fs_write_file(const char *path, const void *p, size_t n, uint32_t mode) MUST_CHECK;

/* Waits until what was written to the file is on the disk; the same for the names in a directory,
 * where the system has that. */
int fs_sync(int fd) MUST_CHECK;
int fs_sync_dir(const char *path) MUST_CHECK;
/* In one step; a file of that name is replaced. */
int fs_rename(const char *from, const char *to) MUST_CHECK;
/* Creates one directory; an existing one is ERR_EXISTS. */
int fs_mkdir(const char *path, uint32_t mode) MUST_CHECK;
/* Of a directory or a socket, links are not followed. Root only. ERR_UNSUPPORTED where files have
 * no numeric owner. */
int fs_set_owner(const char *path, uint32_t uid, uint32_t gid) MUST_CHECK;
/* The same of an open file. */
int fs_set_owner_fd(int fd, uint32_t uid, uint32_t gid) MUST_CHECK;
int fs_unlink(const char *path) MUST_CHECK;
int fs_rmdir(const char *path) MUST_CHECK;
/* The current directory. */
int fs_getcwd(char *out, size_t cap) MUST_CHECK;

/*
 * Takes the lock that the file of that name stands for; the file is made for its user alone when it
 * is missing, and stays. The lock is held as long as *fd is open, here or in a process that got it
 * from this one, so any death frees it. `number` is kept in the file for others to read: ERR_BUSY
 * is that somebody holds the lock, *holder the number that he left there (0: none yet). ERR_LOOP: a
 * link, ERR_INVAL: no plain file, or one with several names.
 */
int fs_lock(const char *path, uint64_t number, int *fd, uint64_t *holder) MUST_CHECK;

/* Directory reading: each entry's name (not "." and ".."), valid until the next call. ERR_EOF at
 * the end. */
struct fs_dir;
int fs_dir_open(const char *path, struct fs_dir **out) MUST_CHECK;
int fs_dir_next(struct fs_dir *d, struct str *name) MUST_CHECK;
void fs_dir_close(struct fs_dir *d);

#endif
