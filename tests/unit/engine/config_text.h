/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_ENGINE_CONFIG_TEXT_H
#define EPHPM_TESTS_UNIT_ENGINE_CONFIG_TEXT_H

/* Loads a configuration from a text, through a temporary file named test.toml in the working
 * directory. */

#include "engine/config.h"
#include "platform/fs.h"
#include "unit/test.h"

#define CONFIG_TEXT_FILE "test_config.toml"

static inline int config_text_try(
    const char *text, enum config_mode mode, struct config **out, struct err *err)
{
    struct config_source src = {.mode = mode, .path = CONFIG_TEXT_FILE, .path_explicit = true};
    int rc = fs_write_file(CONFIG_TEXT_FILE, text, strlen(text), 0600);

    if (rc == 0)
        rc = config_load(&src, out, err);
    CHECK_INT(fs_unlink(CONFIG_TEXT_FILE), 0);
    return rc;
}

/* The snapshot; a text that does not load fails the test and gives the defaults. */
static inline struct config *config_text(const char *text, enum config_mode mode)
{
    struct config *cfg = NULL;
    struct err err;

    if (config_text_try(text, mode, &cfg, &err) != 0) {
        struct config_source none = {.mode = mode};

        test_fail(__FILE__, __LINE__, "%s", err.text);
        CHECK_INT(config_load(&none, &cfg, &err), 0);
    }
    return cfg;
}

#endif
