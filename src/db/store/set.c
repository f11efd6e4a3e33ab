/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * SET. All values of a statement are computed and checked before the first is set, so that one that
 * is refused leaves everything as it was.
 */

#include <stdlib.h>

#include "base/err.h"
#include "db/charset.h"
#include "db/store/sess.h"

/* One assignment, checked. */
struct item {
    const struct sql_set *set;
    int var;         /* of SYSTEM */
    bool is_default; /* = DEFAULT */
    bool global;
    bool session;
    struct store_var_new value;
    struct db_value raw; /* of USER */
    struct db_type type;
    const struct db_collation *collation; /* of NAMES */
};

/* ---- checking ---- */

static int check_scope(
    struct db_session *s, struct item *it, const struct store_var_row *row, struct db_error *e)
{
    enum sql_scope scope = it->set->scope;

    (void)s;
    it->global = scope >= SQL_SCOPE_GLOBAL;
    it->session = !it->global;
    if (row->flags & VAR_R)
        return db_error_set(e, DB_E_READ_ONLY_VARIABLE, row->name.p, "read only");
    if (it->global && !(row->flags & VAR_G))
        return db_error_set(e, DB_E_LOCAL_VARIABLE, row->name.p);
    if (it->session && !(row->flags & VAR_S))
        return db_error_set(e, DB_E_GLOBAL_VARIABLE, row->name.p);
    if (it->session && row->flags & VAR_N)
        return db_error_text(e, DB_E_READ_ONLY_VARIABLE,
            "SESSION variable '%s' is read-only. Use SET GLOBAL to assign the value", row->name.p);
    return 0;
}

/* What a variable would be without ever having been set. */
static int check_default(struct db_session *s, struct item *it, struct db_error *e)
{
    struct store_vars fresh;
    struct db_value value;
    struct db_type type;
    int code;

    it->is_default = true;
    if (it->session) {
        pthread_mutex_lock(&s->db->mutex);
        store_var_get(&s->db->globals, it->var, &value, &type);
        if (value.kind == DB_V_TEXT)
            value.s = arena_str(&s->arena, value.s);
        pthread_mutex_unlock(&s->db->mutex);
        return store_var_check(&s->arena, it->var, &value, &it->value, e);
    }
    store_vars_init(&fresh, &s->server->config);
    store_var_get(&fresh, it->var, &value, &type);
    if (value.kind == DB_V_TEXT)
        value.s = arena_str(&s->arena, value.s);
    code = store_var_check(&s->arena, it->var, &value, &it->value, e);
    store_vars_fini(&fresh);
    return code;
}

static int check_system(struct db_session *s, struct item *it, struct db_error *e)
{
    const struct sql_set *set = it->set;
    struct db_value value;
    struct db_type type;

    it->var = store_var_find(set->name);
    if (it->var < 0)
        return db_error_set(e, DB_E_UNKNOWN_VARIABLE, arena_str(&s->arena, set->name).p);
    if (check_scope(s, it, store_var_row(it->var), e) != 0)
        return ERR_INVAL;
    if ((it->var == VAR_tx_isolation || it->var == VAR_transaction_isolation ||
            it->var == VAR_transaction_read_only || it->var == VAR_tx_read_only) &&
        set->scope == SQL_SCOPE_NONE && s->in_tx && s->sql_tx)
        return db_error_set(e, DB_E_TX_IN_PROGRESS);
    if (!set->value || set->value->kind == SQL_DEFAULT)
        return check_default(s, it, e);
    if (eval_expr(s, set->value, &value, &type, e) != 0)
        return ERR_INVAL;
    if (store_var_check(&s->arena, it->var, &value, &it->value, e) != 0)
        return ERR_INVAL;
    if (it->value.truncated) {
        struct str name = store_var_row(it->var)->name, text = eval_text(s, &value);

        sess_warn_name(s, DB_WARNING, DB_E_TRUNCATED_WRONG, name.p, text.p);
    }
    return 0;
}

static int check_names(struct db_session *s, struct item *it, struct db_error *e)
{
    const struct sql_set *set = it->set;
    bool is_default = str_ieq(set->name, STR("DEFAULT"));
    struct str name = is_default ? STR("utf8mb4") : set->name;

    it->collation = db_charset_default(name);
    if (!it->collation)
        return db_error_set(e, DB_E_UNKNOWN_CHARSET, arena_str(&s->arena, name).p);
    if (set->collation.len == 0 || str_ieq(set->collation, STR("DEFAULT")))
        return 0;
    const struct db_collation *c = db_collation_find(set->collation);

    if (!c)
        return db_error_set(e, DB_E_UNKNOWN_COLLATION, arena_str(&s->arena, set->collation).p);
    if (!str_eq(c->charset, it->collation->charset))
        return db_error_set(e, DB_E_COLLATION_CHARSET, c->name.p, it->collation->charset.p);
    it->collation = c;
    return 0;
}

static int check(struct db_session *s, struct item *it, struct db_error *e)
{
    switch (it->set->kind) {
    case SQL_SET_USER:
        return eval_expr(s, it->set->value, &it->raw, &it->type, e);
    case SQL_SET_SYSTEM:
        return check_system(s, it, e);
    case SQL_SET_NAMES:
    case SQL_SET_CHARSET:
        return check_names(s, it, e);
    case SQL_SET_TRANSACTION:
        if (it->set->scope == SQL_SCOPE_NONE && s->in_tx)
            return db_error_set(e, DB_E_TX_IN_PROGRESS);
        return 0;
    case SQL_SET_NOTHING:
        return 0;
    }
    return 0;
}

/* ---- setting ---- */

static void set_charset_pair(struct store_vars *vars, int var, struct str value)
{
    static const int pairs[][2] = {
        {VAR_character_set_connection, VAR_collation_connection},
        {VAR_character_set_database, VAR_collation_database},
        {VAR_character_set_server, VAR_collation_server},
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (var == pairs[i][0])
            store_var_set_text(vars, pairs[i][1], db_charset_default(value)->name);
        else if (var == pairs[i][1])
            store_var_set_text(vars, pairs[i][0], db_collation_find(value)->charset);
    }
}

/* Variables that have two names. */
static void set_alias(struct store_vars *vars, int var)
{
    static const int pairs[][2] = {
        {VAR_tx_isolation, VAR_transaction_isolation},
        {VAR_tx_read_only, VAR_transaction_read_only},
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        for (int j = 0; j < 2; j++) {
            if (var != pairs[i][j])
                continue;
            vars->v[pairs[i][!j]].i = vars->v[var].i;
            store_var_set_text(vars, pairs[i][!j], vars->v[var].s);
        }
    }
}

/* autocommit = 1 ends the transaction that is open. */
static int set_autocommit(struct db_session *s, bool on, struct db_error *e)
{
    bool was = store_var_int(&s->vars, VAR_autocommit) != 0;
    int code = 0;

    if (on && !was)
        code = tx_implicit_commit(s, e);
    s->vars.v[VAR_autocommit].i = on;
    return code;
}

static int set_session(struct db_session *s, struct item *it, struct db_error *e)
{
    struct store_var_value *v = &s->vars.v[it->var];

    switch (it->var) {
    case VAR_autocommit:
        return set_autocommit(s, it->value.i != 0, e);
    case VAR_last_insert_id:
    case VAR_identity:
        s->f.last_insert_id = (uint64_t)it->value.i;
        return 0;
    case VAR_timestamp: /* kept in microseconds; 0 is the clock again */
        v->i = it->is_default ? 0 : (int64_t)(strtod(it->value.s.p, NULL) * 1e6);
        return 0;
    case VAR_rand_seed1:
    case VAR_rand_seed2:
        s->f.rand[it->var == VAR_rand_seed2] = (uint64_t)it->value.i;
        break;
    case VAR_tx_read_only:
    case VAR_transaction_read_only:
        if (it->set->scope == SQL_SCOPE_NONE) { /* of the next transaction only */
            s->next_access = true;
            s->next_read_only = it->value.i != 0;
            return 0;
        }
        break;
    default:
        break;
    }
    store_var_set(&s->vars, it->var, &it->value);
    set_charset_pair(&s->vars, it->var, v->s);
    set_alias(&s->vars, it->var);
    if (it->var == VAR_time_zone)
        sess_set_zone(s, v->s);
    if (it->var == VAR_foreign_key_checks)
        tx_foreign_keys(s);
    return 0;
}

static void set_global(struct db_session *s, struct item *it)
{
    if (it->var == VAR_max_allowed_packet)
        it->value.i = MIN(it->value.i, (int64_t)s->server->config.max_packet);
    pthread_mutex_lock(&s->db->mutex);
    store_var_set(&s->db->globals, it->var, &it->value);
    set_charset_pair(&s->db->globals, it->var, s->db->globals.v[it->var].s);
    set_alias(&s->db->globals, it->var);
    pthread_mutex_unlock(&s->db->mutex);
}

static void set_names(struct db_session *s, const struct item *it)
{
    struct str charset = it->collation->charset, collation = it->collation->name;

    store_var_set_text(&s->vars, VAR_character_set_client, charset);
    store_var_set_text(&s->vars, VAR_character_set_results, charset);
    if (it->set->kind == SQL_SET_CHARSET) {
        charset = store_var_str(&s->vars, VAR_character_set_database);
        collation = store_var_str(&s->vars, VAR_collation_database);
    }
    store_var_set_text(&s->vars, VAR_character_set_connection, charset);
    store_var_set_text(&s->vars, VAR_collation_connection, collation);
}

static void set_transaction(struct db_session *s, const struct sql_set *set)
{
    struct store_vars *vars = &s->vars;

    if (set->scope == SQL_SCOPE_NONE) { /* all levels are the strictest here */
        if (set->access) {
            s->next_access = true;
            s->next_read_only = set->access == 1;
        }
        return;
    }
    if (set->scope >= SQL_SCOPE_GLOBAL) {
        pthread_mutex_lock(&s->db->mutex);
        vars = &s->db->globals;
    }
    if (set->isolation.len) {
        store_var_set_text(vars, VAR_transaction_isolation, set->isolation);
        set_alias(vars, VAR_transaction_isolation);
    }
    if (set->access) {
        vars->v[VAR_transaction_read_only].i = set->access == 1;
        set_alias(vars, VAR_transaction_read_only);
    }
    if (set->scope >= SQL_SCOPE_GLOBAL)
        pthread_mutex_unlock(&s->db->mutex);
}

static int apply(struct db_session *s, struct item *it, struct db_error *e)
{
    switch (it->set->kind) {
    case SQL_SET_USER:
        sess_user_var_set(s, it->set->name, &it->raw, it->type.base);
        return 0;
    case SQL_SET_SYSTEM:
        if (it->session)
            return set_session(s, it, e);
        set_global(s, it);
        return 0;
    case SQL_SET_NAMES:
    case SQL_SET_CHARSET:
        set_names(s, it);
        return 0;
    case SQL_SET_TRANSACTION:
        set_transaction(s, it->set);
        return 0;
    case SQL_SET_NOTHING:
        sess_warn_name(s, DB_WARNING, DB_E_NOT_SUPPORTED_YET,
            arena_printf(&s->arena, "SET " STR_F, STR_A(it->set->name)).p);
        return 0;
    }
    return 0;
}

int set_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct item *items = arena_new(&s->arena, (stmt->n_sets + 1) * sizeof(*items));
    int code = 0;

    for (uint32_t i = 0; i < stmt->n_sets && code == 0; i++) {
        items[i].set = &stmt->sets[i];
        code = check(s, &items[i], e);
    }
    for (uint32_t i = 0; i < stmt->n_sets && code == 0; i++)
        code = apply(s, &items[i], e);
    sess_vars_changed(s);
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}
