/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_SHAPE_H
#define EPHPM_ENGINE_SHAPE_H

/*
 * Values derived from the machine, the mode and the PHP version, where the configuration does not
 * pin them. Pure: the same inputs give the same shape; nothing is allocated.
 *
 * Memory: budget = limit of the container or the machine.  OPcache takes 18 % of it (64-512 MB);
 * each worker may use (budget - opcache - 64 MB) / workers, at least 128M.  Workers: 4 per core,
 * since a classic PHP request spends most of its time waiting for a database, between 2 and 64, and
 * no more than budget / 64 MB.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "engine/config.h"
#include "platform/sysinfo.h"

enum shape_workers_source { SHAPE_WORKERS_EXPLICIT, SHAPE_WORKERS_QUOTA, SHAPE_WORKERS_CORES };

/* Each derived value, and whether the configuration pinned it (then it has a '*' in the startup
 * line). Numbers of -1 are "PHP's own default, nothing is emitted". */
struct shape {
    enum config_mode mode;
    struct sysinfo_memory memory;
    struct sysinfo_cpu cpu;

    int64_t workers;
    int64_t workers_min;
    enum shape_workers_source workers_source;
    int64_t queue_size;
    uint64_t shed_after;        /* ms */
    uint64_t max_worker_memory; /* bytes, 0: no limit */

    int64_t opcache_mb;
    int64_t interned_mb;
    int64_t max_files;
    int64_t revalidate_freq;
    bool validate_timestamps;
    enum config_jit jit;    /* TRACING, FUNCTION or DISABLE */
    const char *jit_reason; /* static */
    int64_t jit_buffer_mb;  /* 0 with the JIT off */
    char memory_limit[32];
    char realpath_size[32]; /* "": PHP's default */
    int64_t realpath_ttl;
    int64_t assertions;
    bool display_errors;
    bool sessions_in_store; /* session.save_handler = ephpm */
    bool vm_without_jit;    /* shape_without_jit() */

    struct {
        bool opcache_mb, interned_mb, max_files, revalidate_freq, validate_timestamps, jit,
            jit_buffer_mb, memory_limit, realpath_size, realpath_ttl, assertions;
    } pinned;
    const char *warnings[4]; /* static; NULL after the last */
};

/* php_version: "8.2.29" (a suffix such as "-1+deb12" is fine). ERR_INVAL when it is no version. */
int shape_resolve(const struct config *cfg, enum config_mode mode,
    const struct sysinfo_memory *memory, const struct sysinfo_cpu *cpu, const char *php_version,
    struct shape *out, struct err *err) MUST_CHECK;

/* This PHP's interpreter cannot have the JIT: it is off, and a setting that asks for it is a
 * warning. Between shape_resolve() and shape_adopt_ini(). */
void shape_without_jit(struct shape *s);

/*
 * Takes over what the user's ini files (file) and the settings that PHP is given besides them
 * (entries, which win) say of the same things, so that the startup lines and max_worker_memory tell
 * what is in force.
 */
void shape_adopt_ini(
    struct shape *s, const struct config *cfg, struct str file, struct str entries);

/* The startup lines, without time and newline. */
void shape_line_autotune(const struct shape *s, struct buf *out);
void shape_line_jit(const struct shape *s, struct buf *out);

/* Bytes of a PHP quantity ("128M"); UINT64_MAX for "-1" and for what does not parse. */
uint64_t shape_php_bytes(const char *text);

#endif
