/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/linux/oserr.h"

#include <stddef.h>

static const struct {
    int os;
    int code;
} oserr_table[] = {
    {ENOMEM, ERR_NOMEM},
    {EINVAL, ERR_INVAL},
    {EBADF, ERR_INVAL},
    {ENOTSOCK, ERR_INVAL},
    {EDOM, ERR_RANGE},
    {ERANGE, ERR_RANGE},
    {EOVERFLOW, ERR_RANGE},
    {ENOENT, ERR_NOTFOUND},
    {ESRCH, ERR_NOTFOUND},
    {ECHILD, ERR_NOTFOUND},
    {ENODEV, ERR_NOTFOUND},
    {EADDRNOTAVAIL, ERR_NOTFOUND},
    {EEXIST, ERR_EXISTS},
    {ENOTEMPTY, ERR_EXISTS},
    {EACCES, ERR_ACCESS},
    {EPERM, ERR_ACCESS},
    {EROFS, ERR_ACCESS},
    {EAGAIN, ERR_AGAIN},
    {ENOBUFS, ERR_AGAIN},
    {EINPROGRESS, ERR_AGAIN},
    {EPIPE, ERR_CLOSED},
    {ECONNRESET, ERR_CLOSED},
    {ECONNABORTED, ERR_CLOSED},
    {ENOTCONN, ERR_CLOSED},
    {ESHUTDOWN, ERR_CLOSED},
    {ETIMEDOUT, ERR_TIMEOUT},
    {E2BIG, ERR_TOOBIG},
    {EFBIG, ERR_TOOBIG},
    {EMSGSIZE, ERR_TOOBIG},
    {ENAMETOOLONG, ERR_TOOBIG},
    {EPROTO, ERR_PROTO},
    {ENOSYS, ERR_UNSUPPORTED},
    {EOPNOTSUPP, ERR_UNSUPPORTED},
    {EAFNOSUPPORT, ERR_UNSUPPORTED},
    {ENOEXEC, ERR_UNSUPPORTED},
    {ENXIO, ERR_UNSUPPORTED},
    {EBUSY, ERR_BUSY},
    {ETXTBSY, ERR_BUSY},
    {ETOOMANYREFS, ERR_FULL},
    {EADDRINUSE, ERR_ADDRINUSE},
    {ENOSPC, ERR_NOSPACE},
    {EDQUOT, ERR_NOSPACE},
    {EMFILE, ERR_MFILE},
    {ENFILE, ERR_MFILE},
    {EINTR, ERR_INTR},
    {ELOOP, ERR_LOOP},
    {EISDIR, ERR_ISDIR},
    {ENOTDIR, ERR_NOTDIR},
    {ECONNREFUSED, ERR_REFUSED},
};

int oserr_code(int e)
{
    for (size_t i = 0; i < ARRAY_LEN(oserr_table); i++)
        if (oserr_table[i].os == e)
            return oserr_table[i].code;
    return ERR_IO;
}
