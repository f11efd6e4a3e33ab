/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_WINDOWS_FS_PATH_H
#define EPHPM_PLATFORM_WINDOWS_FS_PATH_H

/*
 * Paths: ours (UTF-8, '/') to the system's (UTF-16, '\\') and back; for the files of this folder.
 *
 * Windows gives names a second meaning in many ways: devices in every directory (NUL, COM1.txt),
 * streams (x.php:stream, x.php::$DATA), dots and spaces at the end that are dropped (x.php.), '\\'
 * as a separator, device namespaces (//./, //?/).  No file has such a name, so they are
 * ERR_NOTFOUND here and no check further up can be passed by with them.  Network paths are refused,
 * too.
 */

#include <stddef.h>
#include <wchar.h>

#include "base/attr.h"

enum { FS_PATH_MAX = 4096 };

/* ERR_NOTFOUND for a name as above or text that is no UTF-8, ERR_TOOBIG. */
int fs_path_wide(const char *path, wchar_t out[FS_PATH_MAX]) MUST_CHECK;
/* Without a "\\\\?\\" in front. ERR_TOOBIG. */
int fs_path_utf8(const wchar_t *path, char *out, size_t cap) MUST_CHECK;

#endif
