/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_CONFIG_WARN_H
#define EPHPM_ENGINE_CONFIG_WARN_H

/* Private to config.c: checks of the whole, once every key is in place. */

#include "engine/config.h"

/* Combinations that cannot work, and values of parts that are not built. */
int config_verify(const struct config *cfg, struct err *err) MUST_CHECK;
/* Fills cfg->warnings and cfg->notices. */
void config_collect_warnings(struct config *cfg);

#endif
