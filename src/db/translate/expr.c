/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

const char *unit_text(enum sql_unit unit)
{
    static const char *const names[] = {"",
#define NAME(id, text) text,
        SQL_UNIT_LIST(NAME)
#undef NAME
    };

    return names[unit];
}

struct str expr_text(struct tr *t, const struct sql_expr *e)
{
    return e->end > e->pos && e->end <= t->text.len ? str_sub(t->text, e->pos, e->end - e->pos)
                                                    : STR_NONE;
}

static int param(struct tr *t, const struct sql_expr *e, struct val *out)
{
    const struct db_type *types = t->env->param_types;

    if (t->inline_values)
        return db_error_text(t->e, DB_E_PARSE, "Parameters are not allowed here");
    *out = (struct val){.prec = PREC_ATOM, .is_param = true, .constant = true};
    out->t = ty_text(t->coll, 16383, COER_LITERAL);
    if (types && e->u < t->env->n_param_types) {
        out->t = ty_of_column(&types[e->u], false);
        out->t.coer = COER_LITERAL;
        if (db_base_is_text(out->t.base))
            out->t = ty_text(t->coll, 16383, COER_LITERAL);
        if (out->t.base == DB_T_DOUBLE || out->t.base == DB_T_FLOAT)
            out->t = ty_double();
        out->t.big = db_base_is_int(out->t.base) && out->t.uns;
    }
    out->sql = param_client(t, (uint32_t)e->u);
    return 0;
}

static int user_var(struct tr *t, const struct sql_expr *e, struct val *out)
{
    struct db_type type = {.base = DB_T_NULL};

    *out = (struct val){.prec = PREC_ATOM};
    t->not_cacheable = true;
    out->impure = true;
    out->sql = cat(t, "m_user_var($)", quote_text(t, e->name));
    if (t->env->user_var && t->env->user_var(t->env->arg, e->name, &type) &&
        type.base != DB_T_NULL) {
        out->t = ty_of_column(&type, false);
        if (db_base_is_int(type.base)) {
            out->t = ty_int(20, 63);
            out->t.uns = type.is_unsigned;
            out->t.big = type.is_unsigned;
        } else if (db_base_is_text(type.base)) {
            out->t.base = DB_T_LONGTEXT;
            out->t.len = 4294967295 / 4;
        } else if (db_base_is_temporal(type.base)) {
            out->t = ty_text(t->coll, 26, COER_IMPLICIT);
        } else if (type.base == DB_T_DECIMAL) {
            out->t = ty_decimal(65, 30);
        }
    } else {
        out->t = ty_text(t->coll, 4294967295 / 4, COER_IMPLICIT);
    }
    out->t.coer = COER_IMPLICIT;
    return 0;
}

static int user_assign(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a;
    char how;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    t->not_cacheable = true;
    *out = (struct val){.impure = true};
    val_mix(out, &a);
    out->constant = false;
    how = (char)ty_how(&a.t);
    val_set(out, a.t.base == DB_T_NULL ? ty_text(t->coll, 0, COER_IMPLICIT) : a.t,
        cat(t, "m_set_var('$',$,$)", arena_str(t->arena, str_n(&how, 1)), quote_text(t, e->name),
            val_sql(t, &a)),
        PREC_ATOM);
    out->t.coer = COER_IMPLICIT;
    return 0;
}

static int system_var(struct tr *t, const struct sql_expr *e, struct val *out)
{
    struct db_value v = {0};
    struct db_type type = {.base = DB_T_NULL};

    if (!t->env->system_var || !t->env->system_var(t->env->arg, e->scope, e->name, &v, &type))
        return db_error_set(t->e, DB_E_UNKNOWN_VARIABLE, zstr(t, e->name));
    t->not_cacheable = true;
    *out = (struct val){.prec = PREC_ATOM, .constant = true};
    if (v.kind == DB_V_UINT && v.u > INT64_MAX) {
        char digits[24];

        v.s = arena_str(t->arena, str_n(digits, str_put_u64(digits, v.u)));
        v.kind = DB_V_TEXT;
        out->t.big = true;
    } else if (v.kind == DB_V_UINT) {
        v.kind = DB_V_INT;
        v.i = (int64_t)v.u;
    }
    out->sql = param_value(t, &v);
    out->t = ty_of_column(&type, false);
    if (db_base_is_int(type.base)) {
        out->t = ty_int(type.length == 1 ? 1 : 21, type.length == 1 ? 1 : 63);
        out->t.base = DB_T_BIGINT;
        out->t.uns = type.is_unsigned;
        out->t.big = type.is_unsigned && v.kind == DB_V_TEXT;
    } else if (db_base_is_text(type.base) || type.base == DB_T_NULL) {
        out->t = ty_text(db_collation_number(33), (int64_t)v.s.len, COER_SYSTEM);
    }
    return 0;
}

static int is_test(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a;
    const struct db_cat_column *c = NULL;
    struct str not = e->not ? STR("NOT ") : STR_NONE;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    if (a.source && a.source->cols[a.column].cat && !a.source->nullable)
        c = a.source->cols[a.column].cat;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_set(out, ty_bool(), STR_NONE, PREC_CMP);
    out->t.not_null = true;
    if (e->test == SQL_TEST_TRUE || e->test == SQL_TEST_FALSE) {
        out->sql = cat(t, "$ IS $$", val_cond(t, &a, PREC_ORDER), not,
            e->test == SQL_TEST_TRUE ? STR("TRUE") : STR("FALSE"));
        return 0;
    }
    /* MySQL finds zero dates where NULL cannot be */
    if (c && c->not_null && !e->not&&(c->type.base == DB_T_DATE || c->type.base == DB_T_DATETIME))
        out->sql = cat(t, "substr($,1,10) = '0000-00-00'", val_sql(t, &a));
    else
        out->sql = cat(t, "$ IS $NULL", val_paren(t, &a, PREC_ORDER), not);
    return 0;
}

static int collate(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    const struct db_collation *coll = db_collation_find(e->name);
    int rc;

    if (!coll)
        return db_error_set(t->e, DB_E_UNKNOWN_COLLATION, zstr(t, e->name));
    if ((rc = val_of1(t, s, e->a, out)))
        return rc;
    if (out->t.coll && !str_eq(out->t.coll->charset, coll->charset) && out->t.coer != COER_NUMBER &&
        db_base_is_text(out->t.base))
        return db_error_set(
            t->e, DB_E_COLLATION_CHARSET, zstr(t, coll->name), zstr(t, out->t.coll->charset));
    if (!db_base_is_text(out->t.base)) {
        struct ty ty = ty_text(coll, ty_chars(&out->t), COER_EXPLICIT);

        ty.not_null = out->t.not_null;
        val_set(out, ty, val_text(t, out), PREC_ATOM);
    }
    (void)val_sql(t, out);
    out->lit = NULL;
    out->t.coll = coll;
    out->t.coer = COER_EXPLICIT;
    if (out->t.base == DB_T_ENUM || out->t.base == DB_T_SET)
        out->t.base = DB_T_CHAR;
    return 0;
}

static int convert_using(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    const struct db_collation *coll = db_charset_default(e->charset);
    struct val a;
    struct ty ty;
    int rc;

    if (!coll)
        return db_error_set(t->e, DB_E_UNKNOWN_CHARSET, zstr(t, e->charset));
    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    if (str_eq(coll->charset, STR("binary"))) {
        ty = ty_binary(ty_chars(&a.t) * (a.t.coll ? a.t.coll->max_bytes : 1));
        ty.coer = COER_IMPLICIT;
        val_set(out, ty, val_blob(t, &a), PREC_ATOM);
    } else {
        if (str_eq(coll->charset, t->coll->charset))
            coll = t->coll;
        ty = ty_text(coll, ty_chars(&a.t), COER_IMPLICIT);
        val_set(out, ty, cat(t, "m_convert($,'$')", val_sql(t, &a), coll->charset), PREC_ATOM);
    }
    out->t.not_null = false;
    return 0;
}

static int row(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    int rc;

    *out = (struct val){.constant = true, .prec = PREC_ATOM};
    out->row = arena_new(t->arena, sizeof(*out->row) * e->list.n);
    out->n_row = e->list.n;
    for (uint32_t i = 0; i < e->list.n; i++) {
        if ((rc = val_of(t, s, e->list.v[i], &out->row[i])))
            return rc;
        val_mix(out, &out->row[i]);
    }
    return 0;
}

static int arrow(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_mix(out, &b);
    val_set(out,
        (struct ty){.base = DB_T_JSON,
            .len = 4294967295,
            .coll = db_collation_number(46),
            .coer = COER_IMPLICIT},
        cat(t, "m_json_extract($,$)", val_sql(t, &a), val_text(t, &b)), PREC_ATOM);
    if (e->is_all)
        val_set(out, ty_text(db_collation_number(46), 1073741823, COER_IMPLICIT),
            cat(t, "m_json_unquote($)", out->sql), PREC_ATOM);
    return 0;
}

static int match(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a;
    struct sb b = {0};
    struct ty ty = ty_double();
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    *out = (struct val){0};
    for (uint32_t i = 0; i < e->list.n; i++) {
        struct val c;

        if ((rc = val_of1(t, s, e->list.v[i], &c)))
            return rc;
        sb_cat(t, &b, ",$", val_text(t, &c));
    }
    ty.not_null = true;
    ty.len = 12;
    val_set(out, ty,
        cat(t, "$($$)", e->match == SQL_MATCH_BOOLEAN ? STR("m_match_boolean") : STR("m_match"),
            val_text(t, &a), sb_str(&b)),
        PREC_ATOM);
    return 0;
}

static int trim(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    /* b is the text when something to remove was given, else a */
    const struct sql_expr *text = e->b ? e->b : e->a;
    struct val a, b = {.constant = true};
    struct str more = STR_NONE;
    const char *side = e->side == SQL_SIDE_BOTH      ? "both"
                       : e->side == SQL_SIDE_LEADING ? "leading"
                                                     : "trailing";
    struct ty ty;
    int rc;

    if ((rc = val_of1(t, s, text, &a)))
        return rc;
    if (e->b) {
        if ((rc = val_of1(t, s, e->a, &b)))
            return rc;
        more = cat(t, ",$,'$'", val_sql(t, &b), str_c(side));
    } else if (e->side != SQL_SIDE_BOTH) {
        more = cat(t, ",' ','$'", str_c(side));
    }
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_mix(out, &b);
    ty = ty_is_string(&a.t) ? a.t : ty_text(t->coll, ty_chars(&a.t), COER_LITERAL);
    if (db_base_is_text(ty.base))
        ty = ty_text(ty.coll, ty.len, ty.coer);
    val_set(out, ty, cat(t, "m_trim($$)", val_sql(t, &a), more), PREC_ATOM);
    return 0;
}

static int values_of(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    for (struct scope *at = s; at; at = at->outer) {
        if (!at->values)
            continue;
        for (uint32_t i = 0; i < at->values->n_cols; i++) {
            if (!str_ieq(at->values->cols[i].name, e->a->name))
                continue;
            val_of_col(t, at->values, i, out);
            return 0;
        }
    }
    /* outside of ON DUPLICATE KEY UPDATE it is NULL, if the column is there */
    return val_of1(t, s, e->a, out) ? ERR_INVAL : (val_set(out, out->t, STR("NULL"), PREC_ATOM), 0);
}

static int default_of(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    const struct db_cat_column *c;
    struct source *src;
    struct str sql;
    int rc;

    if (!e->a)
        return db_error_text(t->e, DB_E_PARSE, "DEFAULT is not allowed here");
    if ((rc = val_of1(t, s, e->a, out)))
        return rc;
    src = out->source;
    if (!src || !(c = src->cols[out->column].cat))
        return db_error_set(t->e, DB_E_NO_DEFAULT, zstr(t, e->a->name));
    if ((rc = store_default(t, src->table, c, s, true, (struct store_flags){0}, &sql)))
        return rc;
    val_set(out, out->t, sql.len ? sql : STR("NULL"), PREC_ATOM);
    out->t.not_null = false;
    return 0;
}

static int extract(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_set(out,
        ty_int(e->unit == SQL_UNIT_YEAR                ? 4
               : e->unit < SQL_UNIT_SECOND_MICROSECOND ? 2
                                                       : 11,
            31),
        cat(t, "m_extract('$',$)", str_c(unit_text(e->unit)), val_sql(t, &a)), PREC_ATOM);
    return 0;
}

static int two_calls(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, b;
    char how[2];
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)) || (rc = val_of1(t, s, e->b, &b)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    val_mix(out, &b);
    how[0] = (char)ty_how(&a.t);
    how[1] = (char)ty_how(&b.t);
    if (e->kind == SQL_SOUNDS_LIKE)
        val_set(out, ty_bool(), cat(t, "m_sounds_like($,$)", val_text(t, &a), val_text(t, &b)),
            PREC_ATOM);
    else
        val_set(out, ty_bool(),
            cat(t, "m_member_of('$',$,$)", arena_str(t->arena, str_n(how, 2)), val_sql(t, &a),
                val_sql(t, &b)),
            PREC_ATOM);
    return 0;
}

static int dispatch(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    typedef int (*translate_fn)(struct tr *, struct scope *, const struct sql_expr *, struct val *);
    static const translate_fn rows[] = {
        [SQL_COLUMN] = resolve_column,
        [SQL_USER_ASSIGN] = user_assign,
        [SQL_UNARY] = val_unary,
        [SQL_BINARY] = val_binary,
        [SQL_IS] = is_test,
        [SQL_LIKE] = val_like,
        [SQL_REGEXP] = val_regexp,
        [SQL_SOUNDS_LIKE] = two_calls,
        [SQL_MEMBER_OF] = two_calls,
        [SQL_BETWEEN] = val_between,
        [SQL_IN] = val_in,
        [SQL_IN_QUERY] = val_in_query,
        [SQL_QUANTIFIED] = val_quantified,
        [SQL_EXISTS] = val_exists,
        [SQL_SUBQUERY] = val_subquery,
        [SQL_ROW] = row,
        [SQL_CASE] = val_case,
        [SQL_CAST] = val_cast,
        [SQL_CONVERT_USING] = convert_using,
        [SQL_COLLATE] = collate,
        [SQL_CALL] = val_call,
        [SQL_GROUP_CONCAT] = val_group_concat,
        [SQL_DATE_ADD] = val_date_add,
        [SQL_EXTRACT] = extract,
        [SQL_TRIM] = trim,
        [SQL_VALUES_OF] = values_of,
        [SQL_ARROW] = arrow,
        [SQL_MATCH] = match,
        [SQL_DEFAULT] = default_of,
    };

    if (e->kind < ARRAY_LEN(rows) && rows[e->kind])
        return rows[e->kind](t, s, e, out);
    switch (e->kind) {
    case SQL_PARAM:
        return param(t, e, out);
    case SQL_USER_VAR:
        return user_var(t, e, out);
    case SQL_SYSTEM_VAR:
        return system_var(t, e, out);
    case SQL_STAR:
        return db_error_text(t->e, DB_E_PARSE, "'*' is not allowed here");
    default:
        return val_literal(t, e, out);
    }
}

int val_of(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    int rc;

    memset(out, 0, sizeof(*out));
    if (t->depth >= TR_MAX_DEPTH)
        return too_deep(t);
    t->depth++;
    rc = dispatch(t, s, e, out);
    t->depth--;
    return rc;
}

int val_of1(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    int rc = val_of(t, s, e, out);

    if (!rc && out->n_row)
        return db_error_set(t->e, DB_E_OPERAND_COLUMNS, 1);
    return rc;
}
