/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_INI_H
#define EPHPM_ENGINE_INI_H

/*
 * PHP's settings as text, one name=value per line, for module startup (struct embed_config's ini).
 *
 * Order, later lines win: derived values, explicit keys of [php], php.values and
 * php.admin_values, ini_overrides, in multi-site mode the hardening, whose disable_functions is a
 * union with the operator's list, and what [[php.site]] says of the site. Derived values are left
 * out for names that the user's own files set: php.ini_file, and those of php.ini_scan_dir or
 * $PHP_INI_SCAN_DIR.
 *
 * When serving, sessions are in the site's store, unless the user names a session.save_handler or a
 * place for them, session.save_path.
 */

#include "base/buf.h"
#include "base/err.h"
#include "engine/config.h"
#include "engine/shape.h"

/* The settings of one site. */
struct ini_site {
    const char *open_basedir; /* directories for open_basedir, ':'-separated; NULL: none */
    const char
        *state_dir; /* private directory with tmp/ and sessions/ in it; NULL: PHP's defaults */
    const struct config_php_site *own; /* its [[php.site]]; NULL: none */
    bool store;                        /* it has a key-value store */
    const char *db_socket;             /* of its database; NULL: it has none */
};

/*
 * Appends the text, and tells the shape what the ini files and the text settle (shape_adopt_ini).
 * site may be NULL.  Reads the user's ini files only for the names in them; PHP
 * reads them again. ERR_NOTFOUND, ERR_ACCESS, ... with err when that file cannot be read.
 */
int ini_build(const struct config *cfg, struct shape *shape, const struct ini_site *site,
    struct buf *out, struct err *err) MUST_CHECK;

/*
 * The same with the content of the ini_file given (p == NULL: none). Pure.
 */
void ini_build_text(const struct config *cfg, const struct shape *shape,
    const struct ini_site *site, struct str ini_file, struct buf *out);

/* Do the user's ini files or pairs say whether there is a JIT, and how? site may be NULL. */
bool ini_sets_jit(const struct config *cfg, const struct ini_site *site);

/* Appends the *.ini files of the ':'-separated directories (NULL: none) in PHP's order. What cannot
 * be read is left out. */
void ini_read_dirs(const char *dirs, struct buf *out);

/* name=value with the quotes that PHP's ini scanner needs, and a newline. Control characters become
 * spaces. */
void ini_add(struct buf *out, const char *name, struct str value);
/*
 * The value that an ini text gives to a name, quotes taken off; false when it sets none.  Comments
 * do not count, nor do [PATH=...] and [HOST=...] sections, whose settings hold for some requests
 * only.  Borrows from text.
 */
bool ini_text_get(struct str text, struct str name, struct str *value);
/* The derived lines (name=value), without those whose name the ini_file text sets. */
void ini_merge_file_wins(struct str ini_file, struct str derived, struct buf *out);

#endif
