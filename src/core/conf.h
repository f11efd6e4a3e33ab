/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_CONF_H
#define EPHPM_CORE_CONF_H

/*
 * Configuration from tables.
 *
 * A row says the key, the kind of its value, where in the caller's struct the value lives, the
 * default, the bounds and the help text.  Reading a file, the environment and the command line,
 * checking, dumping and the reference page all come from the rows.  Precedence: command line >
 * environment > file > default.
 *
 * struct conf is the work of one load: it fills the caller's zeroed struct (base) and remembers
 * where each value came from.  Everything the values point to lives in the arena given to
 * conf_init().  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* The C type at the offset is in brackets. */
enum conf_kind {
    CONF_BOOL,     /* [bool] true, false */
    CONF_TRI,      /* [int] true, false, "auto": 1, 0, -1 */
    CONF_INT,      /* [int64_t]; CONF_AUTO when it has no default and is not set */
    CONF_SIZE,     /* [uint64_t] bytes: 10485760, "64MB", "64K" (powers of 1024) */
    CONF_MB,       /* [int64_t] megabytes: 128, "128M"; CONF_AUTO when unset */
    CONF_DURATION, /* [uint64_t] milliseconds: 30, "30", "30s", "1500ms", "5m", "2h", "1d" */
    CONF_STRING,   /* [const char *] NULL when it has no default and is not set */
    CONF_ENUM,     /* [int] index in the row's names */
    CONF_FLOAT,    /* [double] */
    CONF_LIST,     /* [struct conf_list] of strings */
    CONF_PAIRS,    /* [struct conf_pairs] [["k", "v"], ...] or an inline table / section */
    CONF_TABLES,   /* [struct conf_tables] a section [[key]] for each, or [{...}, ...] */
};

#define CONF_AUTO INT64_MIN

struct conf_list {
    const char **v;
    size_t n;
};

struct conf_pair {
    const char *key;
    const char *value;
};

struct conf_pairs {
    struct conf_pair *v;
    size_t n;
};

/* n items of the row's `item->size` bytes. */
struct conf_tables {
    void *v;
    size_t n;
};

enum conf_flag {
    CONF_RELOADABLE = 1 << 0,   /* a reload applies it; without it only a restart does */
    CONF_SECRET = 1 << 1,       /* dumps as *** */
    CONF_SITE_STARTUP = 1 << 2, /* fixed at PHP module startup: a change needs a new generation */
    CONF_MS = 1 << 3,           /* CONF_DURATION: a bare number is milliseconds, not seconds */
    CONF_NOT_EMPTY = 1 << 4,    /* an empty string or list is an error */
    CONF_PHP_SIZE = 1 << 5, /* CONF_STRING: a size as PHP writes it ("128M", -1); "auto": unset */
    CONF_REQUIRED = 1 << 6, /* in a table of CONF_TABLES: an error when it is not there */
};

enum conf_source { CONF_FROM_DEFAULT, CONF_FROM_FILE, CONF_FROM_ENV, CONF_FROM_CLI };

struct conf;
struct conf_row;

/* A check beyond kind and bounds; value points at the field. On error fills why and returns its
 * code. */
typedef int conf_check_cb(const struct conf_row *row, const void *value, struct err *why);

/* What a table of a CONF_TABLES row may hold: keys without dots, offsets into an item of `size`
 * bytes. No tables in tables, no aliases. */
struct conf_item {
    const struct conf_row *rows;
    size_t nrows;
    size_t size;
};

struct conf_row {
    const char *key; /* dotted: "server.timeouts.idle" */
    enum conf_kind kind;
    size_t offset;
    const char *def;   /* as written in TOML; NULL: unset (or "derived", see help) */
    int64_t min, max;  /* for numbers; both 0: only the type's own bounds */
    const char *names; /* CONF_ENUM: "off|sse|all" */
    unsigned flags;
    conf_check_cb *check;
    const char *alias;            /* this row is another name of that key; offset and def unused */
    const struct conf_item *item; /* CONF_TABLES */
    const char *help;
};

/* A key that is known and refused when set; with a trailing '.' also every key below it. */
struct conf_refused {
    const char *key;
    const char *reason; /* NULL: "not available in this version" */
};

/* The table of one program. All arrays are static. */
struct conf_table {
    const struct conf_row *rows;
    size_t nrows;
    const struct conf_refused *refused;
    size_t nrefused;
    const char *env_prefix; /* "EPHPM_" */
    const char *const
        *env_allowed; /* NULL-terminated: variables with the prefix that are no keys */
};

/* Where a value came from. */
struct conf_mark {
    enum conf_source source;
    const char
        *where; /* "ephpm.toml:3:1", "EPHPM_SERVER__LISTEN", "--listen"; NULL for a default */
};

struct conf {
    const struct conf_table *table;
    struct arena *arena;
    void *base;
    struct conf_mark *marks; /* one per row, in the arena */
};

/* Fills base with the defaults. base and arena stay the caller's and must outlive the conf. */
void conf_init(struct conf *c, const struct conf_table *table, void *base, struct arena *arena);

/*
 * The three sources; call in this order, since each overrides what is there.  On error *err has
 * code, text (key, value, place) and position, and base is half filled: throw it away.
 */
/* text: a TOML document; name is used in messages. */
int conf_read_text(struct conf *c, const char *name, struct str text, struct err *err) MUST_CHECK;
/* ERR_NOTFOUND when there is no such file, ERR_ISDIR, ERR_ACCESS, ERR_TOOBIG, ERR_INVAL. */
int conf_read_file(struct conf *c, const char *path, struct err *err) MUST_CHECK;
/* env: NULL-terminated "NAME=value" strings. Lists and pairs are JSON. */
int conf_read_env(struct conf *c, const char *const *env, struct err *err) MUST_CHECK;
/* One value as plain text (lists as JSON); where is what messages and dumps call it ("--listen").
 */
int conf_set(struct conf *c, const char *key, const char *value, enum conf_source source,
    const char *where, struct err *err) MUST_CHECK;

/* Index of a key (aliases resolved), or -1. */
int conf_find(const struct conf_table *t, struct str key);
/* The known key nearest to an unknown one, or NULL when none is near. */
const char *conf_suggest(const struct conf_table *t, struct str key);
/* Default mark for an unknown key. */
struct conf_mark conf_mark_of(const struct conf *c, const char *key);
static inline bool conf_is_set(const struct conf *c, const char *key)
{
    return conf_mark_of(c, key).source != CONF_FROM_DEFAULT;
}
/* The value of row i as TOML; "auto" (quoted) where unset and derived. */
void conf_format(const struct conf *c, size_t i, struct buf *out);
/* Every key, value and source, as a TOML document with comments; secrets as ***. */
void conf_dump(const struct conf *c, struct buf *out);
/* The table as Markdown. */
void conf_reference(const struct conf_table *t, struct buf *out);
/* "default", "file", "environment", "command line". */
const char *conf_source_name(enum conf_source s);

/* Explicitly set values with their marks as text, and back: a round trip gives an equal struct. */
void conf_serialize(const struct conf *c, struct buf *out);
int conf_deserialize(struct conf *c, struct str text, struct err *err) MUST_CHECK;

/* The parsers of the kinds, for other users. Whole of s. ERR_INVAL, ERR_RANGE. */
int conf_parse_size(struct str s, uint64_t *bytes) MUST_CHECK;
/* bare_ms: a number without a unit is milliseconds. */
int conf_parse_duration(struct str s, bool bare_ms, uint64_t *ms) MUST_CHECK;

#endif
