/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/vars.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "db/charset.h"
#include "db/func/tz.h"

static const struct store_var_row rows[] = {
#define ROW(name, kind, flags, def, least, most, choices) \
    {STR(#name), STORE_VAR_##kind, flags, STR(def), least, most, STR(choices)},
    STORE_VAR_LIST(ROW)
#undef ROW
};

/* Modes of sql_mode in MySQL's order of bits; those with members are made of others. */
static const struct {
    struct str name;
    uint32_t bits;
} modes[] = {
    {STR("REAL_AS_FLOAT"), 1 << 0},
    {STR("PIPES_AS_CONCAT"), DB_MODE_PIPES_AS_CONCAT},
    {STR("ANSI_QUOTES"), DB_MODE_ANSI_QUOTES},
    {STR("IGNORE_SPACE"), DB_MODE_IGNORE_SPACE},
    {STR("ONLY_FULL_GROUP_BY"), DB_MODE_ONLY_FULL_GROUP_BY},
    {STR("NO_UNSIGNED_SUBTRACTION"), DB_MODE_NO_UNSIGNED_SUBTRACTION},
    {STR("NO_DIR_IN_CREATE"), 1 << 7},
    {STR("ANSI"), 1 << 18},
    {STR("NO_AUTO_VALUE_ON_ZERO"), DB_MODE_NO_AUTO_VALUE_ON_ZERO},
    {STR("NO_BACKSLASH_ESCAPES"), DB_MODE_NO_BACKSLASH_ESCAPES},
    {STR("STRICT_TRANS_TABLES"), DB_MODE_STRICT_TRANS_TABLES},
    {STR("STRICT_ALL_TABLES"), DB_MODE_STRICT_ALL_TABLES},
    {STR("NO_ZERO_IN_DATE"), DB_MODE_NO_ZERO_IN_DATE},
    {STR("NO_ZERO_DATE"), DB_MODE_NO_ZERO_DATE},
    {STR("ALLOW_INVALID_DATES"), DB_MODE_ALLOW_INVALID_DATES},
    {STR("ERROR_FOR_DIVISION_BY_ZERO"), DB_MODE_ERROR_FOR_DIVISION_BY_ZERO},
    {STR("TRADITIONAL"), 1 << 27},
    {STR("HIGH_NOT_PRECEDENCE"), DB_MODE_HIGH_NOT_PRECEDENCE},
    {STR("NO_ENGINE_SUBSTITUTION"), DB_MODE_NO_ENGINE_SUBSTITUTION},
    {STR("PAD_CHAR_TO_FULL_LENGTH"), 1U << 31},
    {STR("TIME_TRUNCATE_FRACTIONAL"), 1 << 8},
};

/* Names that are accepted and mean nothing: modes of older servers, which dumps set. */
static const struct str dead_modes[] = {STR("NO_AUTO_CREATE_USER"), STR("NO_FIELD_OPTIONS"),
    STR("NO_KEY_OPTIONS"), STR("NO_TABLE_OPTIONS"), STR("MYSQL40"), STR("MYSQL323")};

enum { MODE_ANSI = 1 << 18, MODE_TRADITIONAL = 1 << 27 };

int store_var_find(struct str name)
{
    int from = 0;

    for (; from < STORE_VAR_COUNT; from++) {
        if (str_ieq(rows[from].name, name))
            return from;
    }
    return -1;
}

const struct store_var_row *store_var_row(int var)
{
    return &rows[var];
}

static void value_own(struct store_var_value *v, struct str s)
{
    char *copy = mem_dup_str(s.p ? s.p : "", s.len);

    mem_free(v->owned);
    v->owned = copy;
    v->s = str_n(copy, s.len);
}

/* The bits of a list of modes; false: bad is the one that does not exist. */
static bool mode_bits(struct str text, uint32_t *bits, struct str *bad)
{
    struct str part;

    *bits = 0;
    while (str_split(&text, ',', &part)) {
        bool known = part.len == 0;

        for (size_t i = 0; i < ARRAY_LEN(modes) && !known; i++) {
            known = str_ieq(modes[i].name, part);
            *bits |= known ? modes[i].bits : 0;
        }
        for (size_t i = 0; i < ARRAY_LEN(dead_modes) && !known; i++)
            known = str_ieq(dead_modes[i], part);
        if (!known) {
            *bad = part;
            return false;
        }
    }
    if (*bits & MODE_ANSI)
        *bits |= 1 | DB_MODE_PIPES_AS_CONCAT | DB_MODE_ANSI_QUOTES | DB_MODE_IGNORE_SPACE |
                 DB_MODE_ONLY_FULL_GROUP_BY;
    if (*bits & MODE_TRADITIONAL)
        *bits |= DB_MODE_STRICT | DB_MODE_NO_ZERO_IN_DATE | DB_MODE_NO_ZERO_DATE |
                 DB_MODE_ERROR_FOR_DIVISION_BY_ZERO | DB_MODE_NO_ENGINE_SUBSTITUTION;
    return true;
}

static struct str mode_text(struct arena *arena, uint32_t bits)
{
    struct buf b = {0};
    struct str s;

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (!(bits & modes[i].bits))
            continue;
        if (b.len)
            buf_add_char(&b, ',');
        buf_add_str(&b, modes[i].name);
    }
    s = arena_str(arena, buf_str(&b));
    buf_fini(&b);
    return s;
}

static void set_initial(struct store_vars *vars, int var)
{
    struct store_var_value *v = &vars->v[var];
    struct str bad;
    uint32_t bits;

    v->s = rows[var].initial;
    if (rows[var].kind <= STORE_VAR_INT)
        v->i = strtoll(v->s.p, NULL, 10);
    else if (rows[var].kind == STORE_VAR_MODE && mode_bits(v->s, &bits, &bad))
        v->i = bits;
}

void store_vars_init(struct store_vars *vars, const struct db_server_config *config)
{
    memset(vars, 0, sizeof(*vars));
    for (int i = 0; i < STORE_VAR_COUNT; i++)
        set_initial(vars, i);
    vars->v[VAR_max_allowed_packet].i = config->max_packet;
    vars->v[VAR_innodb_lock_wait_timeout].i = config->lock_wait_s;
    vars->v[VAR_max_execution_time].i = config->statement_ms;
    vars->v[VAR_wait_timeout].i = config->wait_s;
    vars->v[VAR_interactive_timeout].i = config->wait_s;
    vars->v[VAR_port].i = config->port;
    vars->v[VAR_max_connections].i = config->max_connections;
    if (config->version.len)
        vars->v[VAR_version].s = config->version;
    vars->v[VAR_socket].s = config->socket;
    if (config->temp_dir.len)
        vars->v[VAR_tmpdir].s = config->temp_dir;
    if (config->stats.slow_ms) {
        char text[32];

        snprintf(text, sizeof(text), "%u.%06u", config->stats.slow_ms / 1000,
            config->stats.slow_ms % 1000 * 1000);
        value_own(&vars->v[VAR_long_query_time], str_c(text));
        vars->v[VAR_slow_query_log].i = 1;
    }
}

void store_vars_copy(struct store_vars *to, const struct store_vars *from)
{
    for (int i = 0; i < STORE_VAR_COUNT; i++) {
        to->v[i] = from->v[i];
        to->v[i].owned = NULL;
        if (from->v[i].owned)
            value_own(&to->v[i], from->v[i].s);
    }
}

void store_vars_fini(struct store_vars *vars)
{
    for (int i = 0; i < STORE_VAR_COUNT; i++)
        mem_free(vars->v[i].owned);
}

void store_var_get(
    const struct store_vars *vars, int var, struct db_value *value, struct db_type *type)
{
    const struct store_var_value *v = &vars->v[var];

    memset(value, 0, sizeof(*value));
    memset(type, 0, sizeof(*type));
    type->length = type->decimals = -1;
    switch (rows[var].kind) {
    case STORE_VAR_BOOL:
    case STORE_VAR_INT:
        value->kind = DB_V_INT;
        value->i = v->i;
        type->base = DB_T_BIGINT;
        type->is_unsigned = rows[var].kind == STORE_VAR_INT;
        if (type->is_unsigned)
            value->kind = DB_V_UINT;
        return;
    case STORE_VAR_REAL:
        value->kind = DB_V_REAL;
        value->d = strtod(v->s.p, NULL);
        type->base = DB_T_DOUBLE;
        return;
    default:
        value->kind = DB_V_TEXT;
        value->s = v->s;
        type->base = DB_T_VARCHAR;
        type->length = (int32_t)MAX(v->s.len, 64);
        type->charset = STR("utf8mb4");
        type->collation = STR("utf8mb4_general_ci");
        if (var == VAR_secure_file_priv || (var == VAR_character_set_results && !v->s.len))
            value->kind = DB_V_NULL;
    }
}

struct str store_var_text(const struct store_vars *vars, int var, char out[32])
{
    const struct store_var_value *v = &vars->v[var];

    if (rows[var].kind == STORE_VAR_BOOL)
        return v->i ? STR("ON") : STR("OFF");
    if (var == VAR_sql_select_limit && v->i == INT64_MAX)
        return STR("18446744073709551615");
    if (var == VAR_max_join_size && v->i == INT64_MAX)
        return STR("18446744073709551615");
    if (rows[var].kind == STORE_VAR_INT)
        return str_n(out, (size_t)snprintf(out, 32, "%lld", (long long)v->i));
    return v->s;
}

/* ---- checking ---- */

static void value_text(const struct db_value *value, char *out, size_t cap)
{
    switch (value->kind) {
    case DB_V_NULL:
        snprintf(out, cap, "NULL");
        break;
    case DB_V_INT:
        snprintf(out, cap, "%lld", (long long)value->i);
        break;
    case DB_V_UINT:
        snprintf(out, cap, "%llu", (unsigned long long)value->u);
        break;
    case DB_V_REAL:
        snprintf(out, cap, "%g", value->d);
        break;
    default:
        (void)str_put(out, cap, value->s);
    }
}

static int wrong_value(int var, const struct db_value *value, struct db_error *e)
{
    char text[200];

    value_text(value, text, sizeof(text));
    return db_error_set(e, DB_E_WRONG_VALUE_FOR_VAR, rows[var].name.p, text);
}

static int check_bool(
    int var, const struct db_value *value, struct store_var_new *out, struct db_error *e)
{
    if (value->kind == DB_V_INT || value->kind == DB_V_UINT) {
        if (value->i != 0 && value->i != 1)
            return wrong_value(var, value, e);
        out->i = value->i;
        return 0;
    }
    if (value->kind == DB_V_REAL)
        return db_error_set(e, DB_E_WRONG_TYPE_FOR_VAR, rows[var].name.p);
    if (value->kind == DB_V_NULL)
        return wrong_value(var, value, e);
    if (str_ieq(value->s, STR("ON")) || str_ieq(value->s, STR("TRUE")) ||
        str_eq(value->s, STR("1")))
        out->i = 1;
    else if (str_ieq(value->s, STR("OFF")) || str_ieq(value->s, STR("FALSE")) ||
             str_eq(value->s, STR("0")))
        out->i = 0;
    else
        return wrong_value(var, value, e);
    return 0;
}

static int check_int(
    int var, const struct db_value *value, struct store_var_new *out, struct db_error *e)
{
    int64_t v;

    if (value->kind == DB_V_UINT)
        v = value->u > INT64_MAX ? INT64_MAX : (int64_t)value->u;
    else if (value->kind == DB_V_INT)
        v = value->i;
    else
        return db_error_set(e, DB_E_WRONG_TYPE_FOR_VAR, rows[var].name.p);
    out->i = MIN(MAX(v, rows[var].least), rows[var].most);
    out->truncated = out->i != v;
    return 0;
}

static int check_real(struct arena *arena, int var, const struct db_value *value,
    struct store_var_new *out, struct db_error *e)
{
    double d;
    char *end;

    if (value->kind == DB_V_INT) {
        d = (double)value->i;
    } else if (value->kind == DB_V_UINT) {
        d = (double)value->u;
    } else if (value->kind == DB_V_REAL) {
        d = value->d;
    } else if (value->kind == DB_V_TEXT && value->s.len) {
        d = strtod(arena_str(arena, value->s).p, &end);
        if (*end)
            return db_error_set(e, DB_E_WRONG_TYPE_FOR_VAR, rows[var].name.p);
    } else {
        return db_error_set(e, DB_E_WRONG_TYPE_FOR_VAR, rows[var].name.p);
    }
    if (!(d >= 0))
        d = 0;
    out->s = arena_printf(arena, "%.6f", MIN(d, (double)rows[var].most));
    return 0;
}

static int check_enum(
    int var, const struct db_value *value, struct store_var_new *out, struct db_error *e)
{
    struct str rest = rows[var].choices, part;
    int64_t i = 0;

    while (str_split(&rest, ',', &part)) {
        bool by_number = (value->kind == DB_V_INT || value->kind == DB_V_UINT) && value->i == i;

        if (by_number || (value->kind == DB_V_TEXT && str_ieq(part, value->s))) {
            out->s = part;
            return 0;
        }
        i++;
    }
    return wrong_value(var, value, e);
}

static int check_mode(struct arena *arena, int var, const struct db_value *value,
    struct store_var_new *out, struct db_error *e)
{
    struct str bad;
    uint32_t bits;

    if (value->kind == DB_V_INT || value->kind == DB_V_UINT) {
        bits = (uint32_t)value->u;
    } else if (value->kind != DB_V_TEXT) {
        return wrong_value(var, value, e);
    } else if (!mode_bits(value->s, &bits, &bad)) {
        return db_error_set(e, DB_E_WRONG_VALUE_FOR_VAR, rows[var].name.p, arena_str(arena, bad).p);
    }
    out->i = bits;
    out->s = mode_text(arena, bits);
    return 0;
}

static int check_charset(int var, const struct db_value *value, struct arena *arena,
    struct store_var_new *out, struct db_error *e)
{
    const struct db_collation *c = NULL;

    if (value->kind == DB_V_NULL && var == VAR_character_set_results) {
        out->s = STR_NONE;
        return 0;
    }
    if (value->kind == DB_V_INT || value->kind == DB_V_UINT)
        c = db_collation_number((uint32_t)value->u);
    else if (value->kind == DB_V_TEXT)
        c = rows[var].kind == STORE_VAR_COLLATION ? db_collation_find(value->s)
                                                  : db_charset_default(value->s);
    else
        return wrong_value(var, value, e);
    if (!c && rows[var].kind == STORE_VAR_COLLATION)
        return db_error_set(e, DB_E_UNKNOWN_COLLATION, arena_str(arena, value->s).p);
    if (!c)
        return db_error_set(e, DB_E_UNKNOWN_CHARSET, arena_str(arena, value->s).p);
    out->s = rows[var].kind == STORE_VAR_COLLATION ? c->name : c->charset;
    return 0;
}

static int check_zone(struct arena *arena, const struct db_value *value, struct store_var_new *out,
    struct db_error *e)
{
    struct db_tz *tz;
    int64_t offset;
    char text[100];

    value_text(value, text, sizeof(text));
    if (value->kind != DB_V_TEXT)
        return db_error_set(e, DB_E_TZ, text);
    out->s = value->s;
    if (str_ieq(value->s, STR("SYSTEM"))) {
        out->s = STR("SYSTEM");
        return 0;
    }
    if (db_tz_offset(value->s, &offset))
        return 0;
    if (db_tz_open(value->s, &tz) != 0)
        return db_error_set(e, DB_E_TZ, text);
    db_tz_close(tz);
    out->s = arena_str(arena, value->s);
    return 0;
}

int store_var_check(struct arena *arena, int var, const struct db_value *value,
    struct store_var_new *out, struct db_error *e)
{
    memset(out, 0, sizeof(*out));
    switch (rows[var].kind) {
    case STORE_VAR_BOOL:
        return check_bool(var, value, out, e);
    case STORE_VAR_INT:
        return check_int(var, value, out, e);
    case STORE_VAR_REAL:
        return check_real(arena, var, value, out, e);
    case STORE_VAR_ENUM:
        return check_enum(var, value, out, e);
    case STORE_VAR_MODE:
        return check_mode(arena, var, value, out, e);
    case STORE_VAR_CHARSET:
    case STORE_VAR_COLLATION:
        return check_charset(var, value, arena, out, e);
    case STORE_VAR_ZONE:
        return check_zone(arena, value, out, e);
    case STORE_VAR_STR:
        break;
    }
    if (value->kind != DB_V_TEXT && value->kind != DB_V_NULL)
        return db_error_set(e, DB_E_WRONG_TYPE_FOR_VAR, rows[var].name.p);
    if (value->s.len > 1024)
        return wrong_value(var, value, e);
    out->s = value->s;
    return 0;
}

void store_var_set(struct store_vars *vars, int var, const struct store_var_new *value)
{
    struct store_var_value *v = &vars->v[var];

    v->i = value->i;
    if (rows[var].kind > STORE_VAR_INT)
        value_own(v, value->s);
}

void store_var_set_text(struct store_vars *vars, int var, struct str text)
{
    value_own(&vars->v[var], text);
}
