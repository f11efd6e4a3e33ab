/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_CONFIG_TABLE_H
#define EPHPM_ENGINE_CONFIG_TABLE_H

/* Private to config*.c: the rows behind struct config, and the checks that rows name. */

#include "core/conf.h"

extern const struct conf_table config_table;

int config_check_listen(const struct conf_row *row, const void *value, struct err *why);
int config_check_listen_or_none(const struct conf_row *row, const void *value, struct err *why);
int config_check_cidrs(const struct conf_row *row, const void *value, struct err *why);
int config_check_index(const struct conf_row *row, const void *value, struct err *why);
int config_check_fallback(const struct conf_row *row, const void *value, struct err *why);
int config_check_headers(const struct conf_row *row, const void *value, struct err *why);
int config_check_header_value(const struct conf_row *row, const void *value, struct err *why);
int config_check_error_pages(const struct conf_row *row, const void *value, struct err *why);
int config_check_ini(const struct conf_row *row, const void *value, struct err *why);
int config_check_env(const struct conf_row *row, const void *value, struct err *why);
int config_check_urls(const struct conf_row *row, const void *value, struct err *why);
int config_check_one_line(const struct conf_row *row, const void *value, struct err *why);
int config_check_prefix(const struct conf_row *row, const void *value, struct err *why);
int config_check_metrics_path(const struct conf_row *row, const void *value, struct err *why);
int config_check_absolute(const struct conf_row *row, const void *value, struct err *why);
int config_check_path_ini(const struct conf_row *row, const void *value, struct err *why);
int config_check_site(const struct conf_row *row, const void *value, struct err *why);
int config_check_sites(const struct conf_row *row, const void *value, struct err *why);
int config_check_internal(const struct conf_row *row, const void *value, struct err *why);
int config_check_filled(const struct conf_row *row, const void *value, struct err *why);

#endif
