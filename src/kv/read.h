/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_READ_H
#define EPHPM_KV_READ_H

/* Reading without the lock, as far as that goes. */

#include "kv/layout.h"

/* The value and when it ends, ns, 0: never. ERR_NOTFOUND. With buf NULL the value is not copied. */
int kv_read(struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out,
    uint64_t *deadline) MUST_CHECK;

#endif
