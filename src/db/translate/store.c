/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/sql/parse.h"
#include "db/translate/internal.h"

/*
 * Values on their way into columns: func/ converts and checks (m_st_...), unless the types say that
 * nothing can happen.
 */

/* Of func/list.h; func/ is not above. */
enum {
    ST_NOT_NULL = 1,
    ST_IGNORE = 2,
    ST_MULTI = 4,
    ST_TYPED_JSON = 8,
    ST_NUMBER = 16,
    ST_AUTO = 32
};

static int int_bits(enum db_base base)
{
    switch (base) {
    case DB_T_TINYINT:
        return 8;
    case DB_T_SMALLINT:
        return 16;
    case DB_T_MEDIUMINT:
        return 24;
    case DB_T_INT:
        return 32;
    default:
        return 64;
    }
}

/* What stands between the value and the column's name in the call. */
static struct str call_args(struct tr *t, const struct db_cat_column *c)
{
    const struct db_type *type = &c->type;
    struct ty ty = ty_of_column(type, false);
    char text[32];

    switch (type->base) {
    case DB_T_TINYINT:
    case DB_T_SMALLINT:
    case DB_T_MEDIUMINT:
    case DB_T_INT:
    case DB_T_BIGINT:
        return cat(t, "#,#,", int_bits(type->base), (int)type->is_unsigned);
    case DB_T_BIT:
    case DB_T_BINARY:
    case DB_T_VARBINARY:
        return cat(t, "#,", (int)ty.len);
    case DB_T_DECIMAL:
        return cat(t, "#,#,#,", (int)ty.len, (int)ty.dec, (int)type->is_unsigned);
    case DB_T_FLOAT:
    case DB_T_DOUBLE:
        return cat(t, "#,#,#,", type->decimals >= 0 ? (int)type->length : -1,
            type->decimals >= 0 ? (int)type->decimals : -1, (int)type->is_unsigned);
    case DB_T_DATETIME:
    case DB_T_TIMESTAMP:
    case DB_T_TIME:
        return cat(t, "#,", (int)ty.dec);
    case DB_T_CHAR:
    case DB_T_VARCHAR:
        return cat(t, "#,'$',", (int)ty.len, ty.coll->charset);
    case DB_T_TINYTEXT:
    case DB_T_TEXT:
    case DB_T_MEDIUMTEXT:
    case DB_T_LONGTEXT:
        return cat(t, "$,'$',",
            arena_str(t->arena, str_n(text, str_put_u64(text, db_base_bytes(type->base)))),
            ty.coll->charset);
    case DB_T_TINYBLOB:
    case DB_T_BLOB:
    case DB_T_MEDIUMBLOB:
    case DB_T_LONGBLOB:
        return cat(t, "$,",
            arena_str(t->arena, str_n(text, str_put_u64(text, db_base_bytes(type->base)))));
    case DB_T_ENUM:
    case DB_T_SET:
        return cat(t, "$,'$',", ty_members(t, &ty), ty.coll->name);
    default:
        return STR_NONE;
    }
}

static const char *function_of(enum db_base base)
{
    switch (base) {
    case DB_T_BIT:
        return "m_st_bit";
    case DB_T_DECIMAL:
        return "m_st_decimal";
    case DB_T_FLOAT:
        return "m_st_float";
    case DB_T_DOUBLE:
        return "m_st_double";
    case DB_T_YEAR:
        return "m_st_year";
    case DB_T_DATE:
        return "m_st_date";
    case DB_T_TIME:
        return "m_st_time";
    case DB_T_DATETIME:
        return "m_st_datetime";
    case DB_T_TIMESTAMP:
        return "m_st_timestamp";
    case DB_T_CHAR:
        return "m_st_char";
    case DB_T_VARCHAR:
        return "m_st_varchar";
    case DB_T_BINARY:
        return "m_st_binary";
    case DB_T_VARBINARY:
        return "m_st_varbinary";
    case DB_T_ENUM:
        return "m_st_enum";
    case DB_T_SET:
        return "m_st_set";
    case DB_T_JSON:
        return "m_st_json";
    default:
        break;
    }
    if (db_base_is_int(base))
        return "m_st_int";
    return db_base_is_text(base) ? "m_st_text" : "m_st_blob";
}

static struct str call(
    struct tr *t, const struct db_cat_column *c, struct str value, int flags, struct str row)
{
    return cat(t, "$($,$$,$,#)", str_c(function_of(c->type.base)), value, call_args(t, c),
        quote_text(t, c->name), row, flags);
}

struct str tr_store_call(struct arena *arena, const struct db_cat_column *column, struct str value)
{
    struct tr t = {.arena = arena};

    return call(&t, column, value, column->not_null ? ST_NOT_NULL : 0, STR("1"));
}

/* ---- when nothing can happen ---- */

static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    }
    return true;
}

static bool fits_int(const struct db_cat_column *c, const struct ty *col, const struct val *v)
{
    if (!db_base_is_int(v->t.base) || v->t.big || c->type.base == DB_T_BIT)
        return false;
    if (col->uns && !(v->t.uns || v->t.is_bool || (v->lit && v->lit->kind == SQL_INT)))
        return false;
    return v->t.bits <= MIN(col->bits, 63);
}

static bool fits_text(const struct ty *col, const struct val *v)
{
    bool wide = str_eq(col->coll->charset, STR("utf8mb4"));

    if (!lit_is_string(v)) {
        /* of a column or an expression: what is as wide and no longer */
        return v->source && v->t.coll && db_base_is_text(v->t.base) && v->t.base != DB_T_ENUM &&
               v->t.base != DB_T_SET && (wide || v->t.coll->charset.p == col->coll->charset.p) &&
               v->t.len <= col->len && col->base != DB_T_CHAR && v->t.base != DB_T_LONGTEXT;
    }
    if (!v->lit || !str_is_utf8(v->lit->s) || (!wide && !is_ascii(v->lit->s)))
        return false;
    if (col->base == DB_T_CHAR && str_ends(v->lit->s, STR(" ")))
        return false;
    if (col->base == DB_T_CHAR || col->base == DB_T_VARCHAR)
        return v->t.len <= col->len;
    return (int64_t)v->lit->s.len <= (int64_t)db_base_bytes(col->base);
}

static bool fits_temporal(struct tr *t, const struct db_cat_column *c, const struct ty *col,
    struct val *v, struct str *out)
{
    struct str s;

    if (c->type.base == DB_T_TIMESTAMP && !t->env->utc)
        return false;
    if (v->lit && lit_is_string(v) && (c->type.base == DB_T_DATE || col->dec == 0) &&
        c->type.base != DB_T_TIME) {
        s = v->lit->s;
        if (s.len != (c->type.base == DB_T_DATE ? 10u : 19u) || str_starts(s, STR("0000")) ||
            str_find(s, STR("-00")) >= 0 || c->type.base == DB_T_TIMESTAMP)
            return false;
        *out = c->type.base == DB_T_DATE ? val_temporal(t, v, DB_T_DATE, 0)
                                         : val_temporal(t, v, DB_T_DATETIME, 0);
        return out->len && out->p[0] == '?';
    }
    if (!str_starts(v->sql, STR("m_now(")) && !str_starts(v->sql, STR("m_curdate(")))
        return false;
    *out = v->sql;
    return (v->t.base == c->type.base ||
               (v->t.base == DB_T_DATETIME && c->type.base == DB_T_TIMESTAMP)) &&
           v->t.dec == col->dec;
}

static bool is_needless(struct tr *t, const struct db_cat_column *c, const struct ty *col,
    struct val *v, struct str *out)
{
    if (val_is_null(v)) {
        *out = STR("NULL");
        return !c->not_null;
    }
    if (c->not_null && !v->t.not_null)
        return false;
    if (db_base_is_temporal(c->type.base))
        return fits_temporal(t, c, col, v, out);
    *out = STR_NONE;
    if (db_base_is_int(c->type.base) && fits_int(c, col, v))
        *out = val_sql(t, v);
    else if (db_base_is_text(c->type.base) && c->type.base != DB_T_ENUM &&
             c->type.base != DB_T_SET && fits_text(col, v))
        *out = val_text(t, v);
    else if ((c->type.base == DB_T_BLOB || c->type.base == DB_T_MEDIUMBLOB ||
                 c->type.base == DB_T_LONGBLOB || c->type.base == DB_T_VARBINARY) &&
             v->lit && (v->lit->kind == SQL_STRING || v->lit->kind == SQL_HEX) &&
             (int64_t)v->lit->s.len <= MIN(col->len, (int64_t)db_base_bytes(c->type.base)))
        *out = val_blob(t, v);
    else if (c->type.base == DB_T_DOUBLE && v->t.base == DB_T_DOUBLE && c->type.decimals < 0 &&
             !c->type.is_unsigned && v->lit)
        *out = val_sql(t, v);
    return out->p != NULL;
}

/* The value in a form that says to the function what it is. */
static struct str source_form(
    struct tr *t, const struct db_cat_column *c, struct val *v, int *flags)
{
    struct ty num;
    bool to_number = db_base_is_number(c->type.base);

    if (c->type.base == DB_T_JSON) {
        if (v->t.base == DB_T_JSON)
            *flags |= ST_TYPED_JSON;
        else if (v->t.base == DB_T_DECIMAL || v->t.big)
            *flags |= ST_NUMBER;
        return val_sql(t, v);
    }
    if (to_number &&
        (db_base_is_temporal(v->t.base) || v->t.base == DB_T_ENUM || v->t.base == DB_T_SET ||
            (v->lit && v->lit->kind == SQL_HEX)) &&
        !(c->type.base == DB_T_BIT && v->lit) &&
        !(c->type.base == DB_T_YEAR && db_base_is_temporal(v->t.base)))
        return val_num(t, v, &num);
    if (db_base_is_text(c->type.base) &&
        (v->t.base == DB_T_FLOAT || v->t.base == DB_T_YEAR || v->t.zerofill) && v->sql.p)
        return c->type.base == DB_T_ENUM || c->type.base == DB_T_SET ? val_sql(t, v)
                                                                     : val_text(t, v);
    return val_sql(t, v);
}

int store_value(struct tr *t, const struct db_cat_column *c, struct val *v,
    struct store_flags flags, struct str *out)
{
    struct ty col = ty_of_column(&c->type, c->not_null);
    int st = 0;
    struct str value;

    if (v->n_row)
        return db_error_set(t->e, DB_E_OPERAND_COLUMNS, 1);
    if (v->t.base != DB_T_NULL || v->lit)
        (void)val_sql(t, v);
    if (is_needless(t, c, &col, v, out))
        return 0;
    if (c->not_null)
        st |= ST_NOT_NULL;
    if (flags.ignore)
        st |= ST_IGNORE;
    if (flags.multi)
        st |= ST_MULTI;
    if (c->auto_increment)
        st |= ST_AUTO;
    value = source_form(t, c, v, &st);
    *out = call(t, c, value, st,
        flags.row > 0   ? cat(t, "#", flags.row)
        : flags.row < 0 ? cat(t, "m_row(#)", flags.row == -1 ? 1 : 0)
                        : STR("1"));
    return 0;
}

/* ---- defaults ---- */

int col_is_generated(const struct db_cat_column *c)
{
    return c->generated.len > 0;
}

static struct str zero_of(struct tr *t, const struct db_cat_column *c)
{
    struct ty ty = ty_of_column(&c->type, true);
    static const char dec[] = "0.000000000000000000000000000000";
    static const char time[] = "0000-00-00 00:00:00.000000";

    if (db_base_is_int(c->type.base) || c->type.base == DB_T_YEAR)
        return STR("0");
    if (c->type.base == DB_T_FLOAT || c->type.base == DB_T_DOUBLE)
        return STR("0.0");
    if (c->type.base == DB_T_DECIMAL)
        return cat(t, "'$'", str_n(dec, ty.dec ? (size_t)ty.dec + 2 : 1));
    if (c->type.base == DB_T_DATE)
        return STR("'0000-00-00'");
    if (c->type.base == DB_T_TIME)
        return cat(t, "'$'", str_n(time + 11, ty.dec ? (size_t)ty.dec + 9 : 8));
    if (db_base_is_temporal(c->type.base))
        return cat(t, "'$'", str_n(time, ty.dec ? (size_t)ty.dec + 20 : 19));
    if (c->type.base == DB_T_ENUM && c->type.n_members)
        return quote_text(t, c->type.members[0]);
    if (c->type.base == DB_T_JSON)
        return STR("'null'");
    if (c->type.base == DB_T_BINARY)
        return cat(t, "zeroblob(#)", (int)ty.len);
    return db_base_is_binary(c->type.base) ? STR("x''") : STR("''");
}

static struct str default_value(struct tr *t, const struct db_cat_column *c)
{
    int64_t i;

    if ((db_base_is_int(c->type.base) || c->type.base == DB_T_YEAR) &&
        !str_i64(c->default_text, &i))
        return param_int(t, i);
    if (c->type.base == DB_T_FLOAT || c->type.base == DB_T_DOUBLE)
        return cat(t, "CAST($ AS REAL)", quote_text(t, c->default_text));
    if (db_base_is_binary(c->type.base))
        return param_blob(t, c->default_text);
    if (c->type.base == DB_T_TIMESTAMP && !t->env->utc)
        return cat(t, "m_ts_utc($)", param_text(t, c->default_text));
    return param_text(t, c->default_text);
}

static struct str now_of(struct tr *t, const struct db_cat_column *c)
{
    int fsp = c->type.decimals > 0 ? c->type.decimals : 0;
    struct str f = c->type.base == DB_T_TIMESTAMP ? STR("m_utc_timestamp") : STR("m_now");

    if (c->type.base == DB_T_DATE)
        return STR("m_curdate()");
    return fsp ? cat(t, "$(#)", f, fsp) : cat(t, "$()", f);
}

static int default_expr(struct tr *t, const struct db_cat_column *c, struct scope *s,
    struct store_flags flags, struct str *out)
{
    struct sql_parse_options options = {.mode = 0, .version = 80036};
    struct sql_expr *e;
    struct val v;
    struct str text = t->text;
    int rc;

    if ((rc = sql_parse_expr(t->arena, c->default_text, &options, &e, t->e)))
        return rc;
    t->text = c->default_text;
    rc = val_of1(t, s, e, &v);
    t->text = text;
    return rc ? rc : store_value(t, c, &v, flags, out);
}

int store_default(struct tr *t, const struct db_cat_table *table, const struct db_cat_column *c,
    struct scope *s, bool explicit_default, struct store_flags flags, struct str *out)
{
    (void)table;
    *out = STR_NONE;
    switch (c->default_kind) {
    case DB_DEFAULT_VALUE:
        *out = default_value(t, c);
        return 0;
    case DB_DEFAULT_NOW:
        *out = now_of(t, c);
        return 0;
    case DB_DEFAULT_EXPR:
        return default_expr(t, c, s, flags, out);
    default:
        break;
    }
    if (!c->not_null || c->auto_increment) {
        *out = STR("NULL");
        return 0;
    }
    (void)explicit_default;
    if ((t->env->mode & DB_MODE_STRICT) && !flags.ignore && c->type.base != DB_T_ENUM)
        return db_error_set(t->e, DB_E_NO_DEFAULT, zstr(t, c->name));
    *out = zero_of(t, c);
    return 0;
}
