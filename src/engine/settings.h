/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_SETTINGS_H
#define EPHPM_ENGINE_SETTINGS_H

/* From the configuration to what the HTTP server wants. */

#include "base/err.h"
#include "engine/config.h"
#include "engine/pool.h"
#include "http/server.h"

/* A snapshot that holds a reference to cfg. On failure err names the key and the value. */
int settings_http(struct config *cfg, struct http_settings **out, struct err *err) MUST_CHECK;

#endif
