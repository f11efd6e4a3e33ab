/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_WINDOWS_OSERR_H
#define EPHPM_PLATFORM_WINDOWS_OSERR_H

/* Windows error numbers (of GetLastError and WSAGetLastError) as codes of base/err.h; for the files
 * of this folder. */

/* The code of an error number; ERR_IO for those without a better one, never 0. */
int oserr_code(unsigned long e);
/* The code of GetLastError(). */
int oserr_last(void);

#endif
