/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_VARS_H
#define EPHPM_DB_STORE_VARS_H

/*
 * Values of the system variables (var_list.h): each session has a set, made as a copy of its
 * database's, which SET GLOBAL changes. Not locked: a database's set is read and changed under its
 * mutex, a session's by its thread.
 */

#include "db/error.h"
#include "db/store/server.h"
#include "db/store/var_list.h"
#include "db/value.h"

struct arena;

enum store_var_kind {
    STORE_VAR_BOOL,
    STORE_VAR_INT,
    STORE_VAR_STR,
    STORE_VAR_REAL,
    STORE_VAR_ENUM,
    STORE_VAR_MODE,
    STORE_VAR_CHARSET,
    STORE_VAR_COLLATION,
    STORE_VAR_ZONE,
};

struct store_var_row {
    struct str name;
    enum store_var_kind kind;
    int flags;
    struct str initial;
    int64_t least, most;
    struct str choices;
};

struct store_var_value {
    int64_t i;    /* of BOOL and INT; the bits of MODE */
    struct str s; /* of the others, and MODE's text */
    char *owned;  /* s points here, or NULL: it is static or as long-lived */
};

struct store_vars {
    struct store_var_value v[STORE_VAR_COUNT];
};

void store_vars_init(struct store_vars *vars, const struct db_server_config *config);
void store_vars_copy(struct store_vars *to, const struct store_vars *from);
void store_vars_fini(struct store_vars *vars);

/* By name in any case; -1. */
int store_var_find(struct str name);
const struct store_var_row *store_var_row(int var);

/* What SELECT @@x sees. Bytes live until the variable is set again. */
void store_var_get(
    const struct store_vars *vars, int var, struct db_value *value, struct db_type *type);
/* What SHOW VARIABLES prints, into out (at least 32 bytes) or pointing at the value. */
struct str store_var_text(const struct store_vars *vars, int var, char out[32]);

/* A value that was checked. */
struct store_var_new {
    int64_t i;
    struct str s;   /* borrowed */
    bool truncated; /* out of range: i is the nearest; warning 1292 */
};
/* Checks a value for the variable: 1231, 1232, 1115, 1273, 1298. MODE's text lies in the arena. */
int store_var_check(struct arena *arena, int var, const struct db_value *value,
    struct store_var_new *out, struct db_error *e) MUST_CHECK;
void store_var_set(struct store_vars *vars, int var, const struct store_var_new *value);
void store_var_set_text(struct store_vars *vars, int var, struct str text);

static inline int64_t store_var_int(const struct store_vars *vars, enum store_var var)
{
    return vars->v[var].i;
}

static inline struct str store_var_str(const struct store_vars *vars, enum store_var var)
{
    return vars->v[var].s;
}

#endif
