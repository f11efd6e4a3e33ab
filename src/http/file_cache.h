/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_FILE_CACHE_H
#define EPHPM_HTTP_FILE_CACHE_H

/*
 * Cache of what a path is: its stat, its ETag, where it really lies, whether it has precompressed
 * siblings, an open descriptor; also that it does not exist.
 *
 * An entry is dropped by a change notice for its name, or for a folder above it, and looked at
 * again when valid_ms is over.  Where no notice can be had (no room for another watch, a symbolic
 * link on the way, a missing folder) it is looked at again after unwatched_ms.  Paths are absolute
 * and have the site's root resolved already, so that swapping a "current" link yields other paths.
 *
 * One thread.  Time is passed in (monotonic milliseconds).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "http/cond.h"
#include "http/negotiate.h"
#include "platform/fs.h"

struct file_cache;

struct file_cache_config {
    size_t max_entries;    /* least recently used ones go first; a quarter may be negative */
    size_t max_open;       /* descriptors kept open while nobody uses them */
    size_t max_watches;    /* watched folders; 0: no notices */
    uint32_t inactive_ms;  /* open files that nobody used for so long are closed; 0: never */
    size_t inline_total;   /* of all contents kept */
    size_t inline_bytes;   /* of an open file that is not larger, the content is kept, too */
    size_t coded_bytes;    /* of coded (compressed) bodies kept in all */
    uint32_t valid_ms;     /* of a watched entry */
    uint32_t unwatched_ms; /* of any other */
};

/* Borrowed from the cache: valid until the next call of any file_cache function. */
struct file_cache_entry {
    struct str path;     /* NUL follows */
    struct str resolved; /* fs_realpath() of it, NUL follows; empty when error is set */
    int error;           /* 0, or what fs_stat() or fs_realpath() said (negative entry) */
    struct fs_stat st;
    struct str etag; /* cond_etag_format(); of regular files */
};

/* An open file shared by everyone who sends it now. */
struct file_cache_file {
    int fd;
    struct fs_stat st;  /* of the descriptor */
    struct str content; /* the whole file, when it is small; p == NULL else */
};

struct file_cache *file_cache_new(const struct file_cache_config *cfg);
/* Files handed out stay open until they are put. NULL is fine. */
void file_cache_free(struct file_cache *c);

/* 0, or the entry's error (ERR_NOTFOUND, ERR_NOTDIR, ERR_ACCESS, ERR_LOOP, ERR_IO, ERR_TOOBIG).
 * *out is set on success only. */
int file_cache_lookup(struct file_cache *c, struct str path, uint64_t now_ms,
    const struct file_cache_entry **out) MUST_CHECK;
/* An open regular file; ERR_ISDIR, ERR_INVAL for other kinds, else as above and ERR_MFILE. If it
 * was replaced since the lookup, the answer is the new file: use its st. Give it back with
 * file_cache_put(). */
int file_cache_open(struct file_cache *c, struct str path, uint64_t now_ms,
    struct file_cache_file **out) MUST_CHECK;
/* A body of this file that was kept for a coding, valid while f is held; p == NULL when there is
 * none. */
struct str file_cache_coded(const struct file_cache_file *f, enum coding coding);
/* Keeps one, copied, while there is room for it and until the file leaves the cache. */
void file_cache_keep_coded(
    struct file_cache *c, struct file_cache_file *f, enum coding coding, struct str body);
/* One more holder. */
void file_cache_ref(struct file_cache_file *f);
/* NULL is fine. May be called after file_cache_free(). */
void file_cache_put(struct file_cache_file *f);
/* Is there a regular file (no link) path + coding_suffix(coding)?  Remembered with the path's
 * entry. */
bool file_cache_sibling(struct file_cache *c, struct str path, enum coding coding, uint64_t now_ms,
    struct fs_stat *out);

/* Poll it for reading and call file_cache_on_watch() then; -1 when there are no notices. */
int file_cache_watch_fd(const struct file_cache *c);
void file_cache_on_watch(struct file_cache *c);
/* Forgets everything (deploy, reload). */
void file_cache_invalidate_all(struct file_cache *c);

struct file_cache_stats {
    size_t entries;
    size_t watches;
    size_t open_files; /* kept by the cache */
    uint64_t hits;
    uint64_t misses;
};
struct file_cache_stats file_cache_stats(const struct file_cache *c);

#endif
