/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/*
 * Functions whose type or text depends on more than the table of call.c can say.
 */

/* A call with its arguments translated. */
struct call {
    struct tr *t;
    struct scope *s;
    const struct sql_expr *e;
    struct val *v;
    uint32_t n;
    struct val *out;
};

static void done(struct call *c, struct ty ty, struct str sql)
{
    val_set(c->out, ty, sql, PREC_ATOM);
}

static bool all_not_null(const struct call *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (!c->v[i].t.not_null)
            return false;
    }
    return true;
}

int merge_values(struct tr *t, struct val *v, uint32_t n, const char *op, struct ty *out)
{
    int rc;

    *out = v[0].t;
    for (uint32_t i = 1; i < n; i++) {
        struct ty ty = *out;

        if ((rc = ty_merge(t, &ty, &v[i].t, op, out)))
            return rc;
    }
    return 0;
}

/* The arguments from `from` on, each as the type, with commas. */
static struct str list_as(struct call *c, uint32_t from, const struct ty *ty)
{
    struct sb b = {0};

    for (uint32_t i = from; i < c->n; i++)
        sb_cat(c->t, &b, "$$", i > from ? STR(",") : STR_NONE, val_as(c->t, &c->v[i], ty));
    return sb_str(&b);
}

static int coalesce(struct call *c)
{
    struct ty ty;
    int rc;

    if ((rc = merge_values(c->t, c->v, c->n, "coalesce", &ty)))
        return rc;
    ty.not_null = false;
    for (uint32_t i = 0; i < c->n; i++)
        ty.not_null |= c->v[i].t.not_null;
    done(c, ty,
        c->n == 1 ? val_as(c->t, &c->v[0], &ty) : cat(c->t, "coalesce($)", list_as(c, 0, &ty)));
    return 0;
}

static int if_call(struct call *c)
{
    struct ty ty;
    int rc;

    if ((rc = merge_values(c->t, c->v + 1, 2, "if", &ty)))
        return rc;
    done(c, ty,
        cat(c->t, "CASE WHEN $ THEN $ ELSE $ END", val_cond(c->t, &c->v[0], PREC_OR),
            val_as(c->t, &c->v[1], &ty), val_as(c->t, &c->v[2], &ty)));
    return 0;
}

static int nullif_call(struct call *c)
{
    struct val eq;
    struct ty ty = c->v[0].t;
    int rc;

    if ((rc = compare(c->t, &c->v[0], SQL_OP_EQ, &c->v[1], &eq)))
        return rc;
    ty.not_null = false;
    done(c, ty, cat(c->t, "CASE WHEN $ THEN NULL ELSE $ END", eq.sql, val_sql(c->t, &c->v[0])));
    return 0;
}

static int isnull(struct call *c)
{
    struct ty ty = ty_bool();

    ty.not_null = true;
    val_set(c->out, ty, cat(c->t, "$ IS NULL", val_paren(c->t, &c->v[0], PREC_ORDER)), PREC_CMP);
    return 0;
}

/* How all values compare: as their merged type. */
static int how_of(struct call *c, uint32_t from, struct str *how, struct ty *ty)
{
    int rc;

    if ((rc = merge_values(c->t, c->v + from, c->n - from, zstr(c->t, c->e->name), ty)))
        return rc;
    *how = ty_how_str(c->t, ty);
    return 0;
}

static int extreme(struct call *c)
{
    struct ty ty;
    struct str how;
    int rc;

    if ((rc = how_of(c, 0, &how, &ty)))
        return rc;
    ty.not_null = all_not_null(c);
    done(c, ty,
        cat(c->t, "$($,$)",
            str_ieq(c->e->name, STR("GREATEST")) ? STR("m_greatest") : STR("m_least"), how,
            list_as(c, 0, &ty)));
    return 0;
}

static int field(struct call *c)
{
    struct ty ty, sum;
    bool texts = true, numbers = true;
    struct str how;
    int rc;

    for (uint32_t i = 0; i < c->n; i++) {
        texts &= ty_is_string(&c->v[i].t);
        numbers &= ty_is_num(&c->v[i].t);
    }
    if (texts || numbers) {
        if ((rc = how_of(c, 0, &how, &sum)))
            return rc;
    } else {
        sum = ty_double();
        how = STR("'r'");
    }
    ty = ty_int(3, 31);
    ty.not_null = true;
    done(c, ty, cat(c->t, "m_field($,$)", how, list_as(c, 0, &sum)));
    return 0;
}

static int elt(struct call *c)
{
    struct ty ty;
    int rc;

    if ((rc = merge_values(c->t, c->v + 1, c->n - 1, "elt", &ty)))
        return rc;
    if (!ty_is_string(&ty))
        ty = ty_text(c->t->coll, ty_chars(&ty), COER_LITERAL);
    ty.not_null = false;
    done(c, ty, cat(c->t, "m_elt($,$)", val_int(c->t, &c->v[0]), list_as(c, 1, &ty)));
    return 0;
}

static int concat(struct call *c)
{
    const struct db_collation *coll = c->v[0].t.coll;
    uint8_t coer = c->v[0].t.coer;
    int64_t len = ty_chars(&c->v[0].t);
    struct ty sum = c->v[0].t;
    int rc;

    if (!ty_is_string(&sum))
        sum = ty_text(coll = c->t->coll, len, sum.coer = COER_LITERAL);
    for (uint32_t i = 1; i < c->n; i++) {
        struct ty ty = c->v[i].t;

        if (!ty_is_string(&ty))
            ty = ty_text(c->t->coll, ty_chars(&ty), COER_LITERAL);
        if ((rc = ty_collate(c->t, &sum, &ty, "concat", &coll, &coer)))
            return rc;
        len += ty_chars(&c->v[i].t);
        sum = ty_text(coll, len, coer);
    }
    sum = ty_text(db_base_is_binary(sum.base) ? NULL : coll, len, sum.coer);
    sum.not_null = all_not_null(c);
    done(c, sum, cat(c->t, "m_concat($)", list_as(c, 0, &sum)));
    return 0;
}

static int round_call(struct call *c)
{
    struct ty x;
    struct str sql = val_exact(c->t, &c->v[0], &x);
    bool truncate = str_ieq(c->e->name, STR("TRUNCATE"));
    int64_t digits = 0;
    bool known = true;
    struct ty ty;

    if (truncate && c->n != 2)
        return bad_count(c->t, c->e->name);
    if (c->n == 2) {
        known = c->v[1].lit && c->v[1].lit->kind == SQL_INT;
        digits = known ? (int64_t)MIN(c->v[1].lit->u, (uint64_t)30) : 0;
    }
    if (x.base == DB_T_DECIMAL) {
        int dec = known ? (int)MIN(digits, (int64_t)x.dec) : x.dec;

        if (!known && c->v[1].constant)
            dec = 0;
        ty = ty_decimal(ty_int_digits(&x) + dec + (truncate || dec == x.dec ? 0 : 1), dec);
    } else if (db_base_is_int(x.base) || x.base == DB_T_YEAR) {
        ty = ty_int((int)x.len, x.bits);
        ty.base = x.base == DB_T_BIGINT ? DB_T_BIGINT : DB_T_INT;
        ty.uns = x.uns;
        ty.big = x.big;
    } else {
        ty = ty_double();
        if (known && (c->n == 2 || !truncate))
            ty.dec = (int16_t)digits;
        ty.len = known ? 17 + (digits ? digits + 1 : 0) : 23;
    }
    ty.not_null = all_not_null(c);
    done(c, ty,
        c->n == 2 ? cat(c->t, "$($,$)", truncate ? STR("m_truncate") : STR("m_round"), sql,
                        val_int(c->t, &c->v[1]))
                  : cat(c->t, "m_round($)", sql));
    return 0;
}

/* ABS, CEIL, FLOOR */
static int number_call(struct call *c)
{
    struct ty x, ty;
    struct str sql = val_num(c->t, &c->v[0], &x);
    bool abs = str_ieq(c->e->name, STR("ABS"));
    const char *f = abs ? "m_abs" : str_ieq(c->e->name, STR("FLOOR")) ? "m_floor" : "m_ceil";

    ty = x;
    ty.is_bool = false;
    if (abs && db_base_is_int(x.base))
        ty.base = DB_T_BIGINT;
    if (!abs && x.base == DB_T_DECIMAL) {
        int digits = ty_int_digits(&x) + (x.dec > 0);

        ty = digits > 18 ? ty_decimal(digits, 0) : ty_int(digits + 1, 62);
        if (digits <= 9)
            ty.base = DB_T_INT;
    } else if (!abs && !db_base_is_int(x.base)) {
        ty = ty_double();
        ty.len = 17;
        ty.dec = 0;
    }
    ty.not_null = c->v[0].t.not_null;
    done(c, ty, cat(c->t, "$($)", str_c(f), sql));
    return 0;
}

static int mod_call(struct call *c)
{
    return arith(c->t, &c->v[0], SQL_OP_MOD, &c->v[1], c->out);
}

static int instr_call(struct call *c)
{
    const struct db_collation *coll;
    struct ty ty = ty_int(11, 31);
    uint8_t coer;
    int rc;

    if ((rc = ty_collate(c->t, &c->v[0].t, &c->v[1].t, "instr", &coll, &coer)))
        return rc;
    ty.not_null = all_not_null(c);
    done(c, ty,
        cat(c->t, "m_locate('$',$,$)", coll ? coll->name : STR("binary"), val_text(c->t, &c->v[1]),
            val_text(c->t, &c->v[0])));
    return 0;
}

/* NOW(fsp) and its family */
static int now_call(struct call *c)
{
    static const struct {
        struct str name;
        const char *function;
        enum db_base base;
    } rows[] = {
        {{"NOW", 3}, "m_now", DB_T_DATETIME},
        {{"CURRENT_TIMESTAMP", 17}, "m_now", DB_T_DATETIME},
        {{"LOCALTIME", 9}, "m_now", DB_T_DATETIME},
        {{"LOCALTIMESTAMP", 14}, "m_now", DB_T_DATETIME},
        {{"SYSDATE", 7}, "m_sysdate", DB_T_DATETIME},
        {{"CURTIME", 7}, "m_curtime", DB_T_TIME},
        {{"CURRENT_TIME", 12}, "m_curtime", DB_T_TIME},
        {{"UTC_TIMESTAMP", 13}, "m_utc_timestamp", DB_T_DATETIME},
        {{"UTC_TIME", 8}, "m_utc_time", DB_T_TIME},
    };
    int fsp = 0;
    struct ty ty;

    if (c->n && (!c->v[0].lit || c->v[0].lit->kind != SQL_INT))
        return db_error_set(c->t->e, DB_E_WRONG_ARGUMENTS, zstr(c->t, c->e->name));
    if (c->n && c->v[0].lit->u > 6)
        return db_error_set(c->t->e, DB_E_TOO_BIG_PRECISION,
            (int)MIN(c->v[0].lit->u, (uint64_t)INT32_MAX), zstr(c->t, c->e->name), 6);
    if (c->n)
        fsp = (int)c->v[0].lit->u;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!str_ieq(rows[i].name, c->e->name))
            continue;
        ty = ty_temporal(rows[i].base, fsp);
        if (ty.base == DB_T_TIME)
            ty.len = 8 + (fsp ? fsp + 1 : 0);
        ty.not_null = true;
        done(c, ty,
            fsp ? cat(c->t, "$(#)", str_c(rows[i].function), fsp)
                : cat(c->t, "$()", str_c(rows[i].function)));
        c->out->impure = i == 4;
        return 0;
    }
    return ERR_INVAL;
}

static int unix_timestamp(struct call *c)
{
    struct ty ty = ty_int(17, 40);

    ty.base = DB_T_BIGINT;
    if (!c->n) {
        done(c, ty, STR("m_unix_timestamp()"));
        return 0;
    }
    /* a TIMESTAMP as it lies is as good as its local form, and needs no zone */
    if (db_base_is_temporal(c->v[0].t.base) && c->v[0].t.dec)
        ty = ty_decimal(17 + c->v[0].t.dec, c->v[0].t.dec);
    else if (ty_is_string(&c->v[0].t) && !lit_is_string(&c->v[0]))
        ty = ty_decimal(23, 6);
    done(c, ty,
        ty.base == DB_T_DECIMAL && ty_is_string(&c->v[0].t)
            ? cat(c->t, "m_cast_decimal(m_unix_timestamp($),23,6)", val_sql(c->t, &c->v[0]))
            : cat(c->t, "m_unix_timestamp($)", val_sql(c->t, &c->v[0])));
    return 0;
}

static int from_unixtime(struct call *c)
{
    struct ty ty, x;
    struct str sql = val_num(c->t, &c->v[0], &x);

    if (c->n == 2) {
        done(c, ty_text(c->t->coll, 240, COER_LITERAL),
            cat(c->t, "m_from_unixtime($,$)", sql, val_text(c->t, &c->v[1])));
        return 0;
    }
    ty = ty_temporal(DB_T_DATETIME, x.base == DB_T_DECIMAL  ? MIN(x.dec, 6)
                                    : x.base == DB_T_DOUBLE ? 6
                                                            : 0);
    done(c, ty, cat(c->t, "m_from_unixtime($)", sql));
    return 0;
}

static int timestamp_unit(struct call *c)
{
    bool diff = str_ieq(c->e->name, STR("TIMESTAMPDIFF"));
    struct ty ty = ty_int(21, 63);

    if (!diff) {
        const struct ty *x = &c->v[1].t;

        ty = x->base == DB_T_DATE && c->e->unit >= SQL_UNIT_DAY && c->e->unit <= SQL_UNIT_YEAR
                 ? ty_temporal(DB_T_DATE, 0)
             : db_base_is_temporal(x->base) ? ty_temporal(DB_T_DATETIME, x->dec)
                                            : ty_text(c->t->coll, 19, COER_LITERAL);
    }
    done(c, ty,
        cat(c->t, "$('$',$,$)", diff ? STR("m_timestampdiff") : STR("m_timestampadd"),
            str_c(unit_text(c->e->unit)), val_sql(c->t, &c->v[0]), val_sql(c->t, &c->v[1])));
    return 0;
}

static int str_to_date(struct call *c)
{
    enum db_base base = DB_T_DATETIME;
    int fsp = 6;

    if (lit_is_string(&c->v[1])) {
        struct str f = c->v[1].lit->s;
        bool date = false, time = false;

        fsp = 0;
        for (size_t i = 0; i + 1 < f.len; i++) {
            if (f.p[i] != '%')
                continue;
            i++;
            time |= strchr("fHhIiklprSsT", f.p[i]) != NULL;
            date |= strchr("abcDdejMmUuVvWwXxYy", f.p[i]) != NULL;
            fsp = f.p[i] == 'f' ? 6 : fsp;
        }
        base = date && time ? DB_T_DATETIME : time ? DB_T_TIME : DB_T_DATE;
    }
    done(c, ty_temporal(base, base == DB_T_DATE ? 0 : fsp),
        cat(c->t, "m_str_to_date($,$)", val_text(c->t, &c->v[0]), val_text(c->t, &c->v[1])));
    return 0;
}

static int hex_call(struct call *c)
{
    const struct ty *x = &c->v[0].t;
    bool number = ty_is_num(x) && (x->big || !db_base_is_int(x->base));
    int64_t bytes = ty_chars(x) * (db_base_is_text(x->base) && x->coll ? x->coll->max_bytes : 1);
    struct ty ty = ty_text(c->t->coll, ty_is_num(x) ? 16 : bytes * 2, COER_LITERAL);

    ty.not_null = x->not_null;
    done(c, ty,
        cat(c->t, "$($)", number ? STR("m_hex_num") : STR("m_hex"), val_sql(c->t, &c->v[0])));
    return 0;
}

static int format_call(struct call *c)
{
    struct ty x, ty = ty_text(c->t->coll, 60, COER_LITERAL);
    struct str sql = val_num(c->t, &c->v[0], &x);

    done(c, ty,
        c->n == 3
            ? cat(c->t, "m_format($,$,$)", sql, val_int(c->t, &c->v[1]), val_text(c->t, &c->v[2]))
            : cat(c->t, "m_format($,$)", sql, val_int(c->t, &c->v[1])));
    return 0;
}

/* CHARSET, COLLATION, COERCIBILITY: known before anything runs */
static int about_text(struct call *c)
{
    static const uint8_t coercibility[] = {0, 1, 2, 3, 4, 5, 6};
    const struct ty *x = &c->v[0].t;
    const struct db_collation *coll = x->coll ? x->coll : db_collation_number(63);

    if (str_ieq(c->e->name, STR("COERCIBILITY"))) {
        struct ty ty = ty_int(10, 31);

        ty.not_null = true;
        done(c, ty, cat(c->t, "#", (int)coercibility[MIN(x->coer, 6)]));
        return 0;
    }
    done(c, ty_text(c->t->coll, 64, COER_SYSTEM),
        quote_text(c->t, str_ieq(c->e->name, STR("CHARSET")) ? coll->charset : coll->name));
    return 0;
}

static int char_call(struct call *c)
{
    struct sb b = {0};
    const struct db_collation *coll = NULL;

    if (c->e->charset.len && !(coll = db_charset_default(c->e->charset)))
        return db_error_set(c->t->e, DB_E_UNKNOWN_CHARSET, zstr(c->t, c->e->charset));
    if (coll && str_eq(coll->charset, STR("binary")))
        coll = NULL;
    for (uint32_t i = 0; i < c->n; i++)
        sb_cat(c->t, &b, ",$", val_int(c->t, &c->v[i]));
    done(c, coll ? ty_text(coll, c->n * 4, COER_LITERAL) : ty_binary(c->n * 4),
        cat(c->t, "m_char('$'$)", coll ? coll->charset : STR_NONE, sb_str(&b)));
    return 0;
}

static int last_insert_id(struct call *c)
{
    struct ty ty = ty_int(21, 63), x;

    ty.uns = true;
    ty.not_null = !c->n;
    if (!c->n) {
        done(c, ty, STR("m_last_insert_id()"));
        return 0;
    }
    done(c, ty, cat(c->t, "m_last_insert_id($)", val_num(c->t, &c->v[0], &x)));
    c->out->impure = true;
    c->out->constant = false;
    return 0;
}

static int sec_to_time(struct call *c)
{
    struct ty x;
    struct str sql = val_num(c->t, &c->v[0], &x);

    done(c,
        ty_temporal(DB_T_TIME, x.base == DB_T_DECIMAL  ? MIN(x.dec, 6)
                               : x.base == DB_T_DOUBLE ? 6
                                                       : 0),
        cat(c->t, "m_sec_to_time($)", sql));
    return 0;
}

static int maketime(struct call *c)
{
    struct ty x;
    struct str seconds = val_num(c->t, &c->v[2], &x);

    done(c, ty_temporal(DB_T_TIME, x.base == DB_T_DECIMAL ? MIN(x.dec, 6) : 0),
        cat(c->t, "m_maketime($,$,$)", val_int(c->t, &c->v[0]), val_int(c->t, &c->v[1]), seconds));
    return 0;
}

static int pass(struct call *c)
{
    struct ty ty = c->v[c->n - 1].t;

    val_set(c->out, ty, val_sql(c->t, &c->v[c->n - 1]), c->v[c->n - 1].prec);
    c->out->natural = c->v[c->n - 1].natural;
    return 0;
}

static const struct {
    struct str name;
    int8_t least, most;
    int (*run)(struct call *c);
} rows[] = {
#define N(text) {text, sizeof(text) - 1}
    {N("ABS"), 1, 1, number_call},
    {N("ANY_VALUE"), 1, 1, pass},
    {N("CEIL"), 1, 1, number_call},
    {N("CEILING"), 1, 1, number_call},
    {N("CHAR"), 1, 100, char_call},
    {N("CHARSET"), 1, 1, about_text},
    {N("COALESCE"), 1, 100, coalesce},
    {N("COERCIBILITY"), 1, 1, about_text},
    {N("COLLATION"), 1, 1, about_text},
    {N("CONCAT"), 1, 100, concat},
    {N("CURRENT_TIME"), 0, 1, now_call},
    {N("CURRENT_TIMESTAMP"), 0, 1, now_call},
    {N("CURTIME"), 0, 1, now_call},
    {N("ELT"), 2, 100, elt},
    {N("FIELD"), 2, 100, field},
    {N("FLOOR"), 1, 1, number_call},
    {N("FORMAT"), 2, 3, format_call},
    {N("FROM_UNIXTIME"), 1, 2, from_unixtime},
    {N("GREATEST"), 2, 100, extreme},
    {N("HEX"), 1, 1, hex_call},
    {N("IF"), 3, 3, if_call},
    {N("IFNULL"), 2, 2, coalesce},
    {N("INSTR"), 2, 2, instr_call},
    {N("ISNULL"), 1, 1, isnull},
    {N("LAST_INSERT_ID"), 0, 1, last_insert_id},
    {N("LEAST"), 2, 100, extreme},
    {N("LOCALTIME"), 0, 1, now_call},
    {N("LOCALTIMESTAMP"), 0, 1, now_call},
    {N("MAKETIME"), 3, 3, maketime},
    {N("MOD"), 2, 2, mod_call},
    {N("NAME_CONST"), 2, 2, pass},
    {N("NOW"), 0, 1, now_call},
    {N("NULLIF"), 2, 2, nullif_call},
    {N("ROUND"), 1, 2, round_call},
    {N("SEC_TO_TIME"), 1, 1, sec_to_time},
    {N("STR_TO_DATE"), 2, 2, str_to_date},
    {N("SYSDATE"), 0, 1, now_call},
    {N("TIMESTAMPADD"), 2, 2, timestamp_unit},
    {N("TIMESTAMPDIFF"), 2, 2, timestamp_unit},
    {N("TRUNCATE"), 2, 2, round_call},
    {N("UNIX_TIMESTAMP"), 0, 1, unix_timestamp},
    {N("UTC_TIME"), 0, 1, now_call},
    {N("UTC_TIMESTAMP"), 0, 1, now_call},
};

int val_special(
    struct tr *t, struct scope *s, const struct sql_expr *e, bool *known, struct val *out)
{
    struct call c = {.t = t, .s = s, .e = e, .n = e->list.n, .out = out};
    int rc;

    *known = false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!str_ieq(rows[i].name, e->name))
            continue;
        *known = true;
        if ((int)c.n < rows[i].least || (int)c.n > rows[i].most)
            return bad_count(t, e->name);
        c.v = arena_new(t->arena, sizeof(*c.v) * MAX(c.n, 1));
        for (uint32_t k = 0; k < c.n; k++) {
            if ((rc = val_of1(t, s, e->list.v[k], &c.v[k])))
                return rc;
        }
        *out = (struct val){.constant = true};
        for (uint32_t k = 0; k < c.n; k++)
            val_mix(out, &c.v[k]);
        return rows[i].run(&c);
    }
    return 0;
}

int val_case(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    uint32_t n = e->list.n / 2;
    struct val a, cond, *v = arena_new(t->arena, sizeof(*v) * (n + 1));
    struct str *when = arena_new(t->arena, sizeof(*when) * (n + 1));
    struct sb b = {0};
    struct ty ty;
    int rc;

    *out = (struct val){.constant = true};
    if (e->a && (rc = val_of1(t, s, e->a, &a)))
        return rc;
    for (uint32_t i = 0; i < n; i++) {
        struct val w;

        if ((rc = val_of1(t, s, e->list.v[i * 2], &w)) ||
            (rc = val_of1(t, s, e->list.v[i * 2 + 1], &v[i])))
            return rc;
        cond = w;
        if (e->a && (rc = compare(t, &a, SQL_OP_EQ, &w, &cond)))
            return rc;
        val_mix(out, &cond);
        val_mix(out, &v[i]);
        when[i] = val_cond(t, &cond, PREC_OR);
    }
    v[n] =
        (struct val){.lit = &(struct sql_expr){.kind = SQL_NULL}, .t = ty_null(), .constant = true};
    if (e->b && (rc = val_of1(t, s, e->b, &v[n])))
        return rc;
    val_mix(out, &v[n]);
    if ((rc = merge_values(t, v, n + 1, "case", &ty)))
        return rc;
    sb_lit(t, &b, "CASE");
    for (uint32_t i = 0; i < n; i++)
        sb_cat(t, &b, " WHEN $ THEN $", when[i], val_as(t, &v[i], &ty));
    sb_cat(t, &b, " ELSE $ END", val_as(t, &v[n], &ty));
    val_set(out, ty, sb_str(&b), PREC_ATOM);
    return 0;
}

/* ---- CAST ---- */

static struct ty cast_text(struct tr *t, const struct val *a, const struct db_type *type)
{
    const struct db_collation *coll = t->coll;

    if (type->charset.len)
        coll = db_charset_default(type->charset);
    if (coll && str_eq(coll->charset, t->coll->charset))
        coll = t->coll;
    return ty_text(coll, type->length >= 0 ? type->length : ty_chars(&a->t), COER_IMPLICIT);
}

/* DATE, DATETIME, TIME and YEAR. */
static struct str cast_temporal(
    struct tr *t, struct val *a, const struct db_type *type, int fsp, struct ty *ty)
{
    struct str x = val_sql(t, a);

    switch (type->base) {
    case DB_T_DATE:
        *ty = ty_temporal(DB_T_DATE, 0);
        return cat(t, "m_cast_date($)", x);
    case DB_T_TIME:
        *ty = ty_temporal(DB_T_TIME, fsp);
        return cat(t, "m_cast_time($,#)", x, fsp);
    case DB_T_YEAR:
        *ty = ty_of_column(type, false);
        return cat(t, "m_cast_year($)", x);
    default:
        *ty = ty_temporal(DB_T_DATETIME, fsp);
        return cat(t, "m_cast_datetime($,#)", x, fsp);
    }
}

int val_cast(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    const struct db_type *type = e->type;
    struct val a;
    struct ty ty, num = {0};
    struct str sql;
    int fsp = type->decimals > 0 ? type->decimals : 0;
    char how;
    int rc;

    if ((rc = val_of1(t, s, e->a, &a)))
        return rc;
    *out = (struct val){.constant = true};
    val_mix(out, &a);
    if (fsp > 6 && db_base_is_temporal(type->base))
        return db_error_set(t->e, DB_E_TOO_BIG_PRECISION, fsp, "CAST", 6);
    switch (type->base) {
    case DB_T_DATE:
    case DB_T_DATETIME:
    case DB_T_TIMESTAMP:
    case DB_T_TIME:
    case DB_T_YEAR:
        sql = cast_temporal(t, &a, type, fsp, &ty);
        break;
    case DB_T_DECIMAL:
        ty = ty_decimal(type->length > 0 ? type->length : 10, fsp);
        if (type->length > 65 || fsp > 30)
            return db_error_set(t->e, DB_E_TOO_BIG_PRECISION, type->length, "CAST", 65);
        sql = ty_is_string(&a.t) ? val_sql(t, &a) : val_exact(t, &a, &num);
        sql = cat(t, "m_cast_decimal($,#,#)", sql, (int)ty.len, (int)ty.dec);
        break;
    case DB_T_DOUBLE:
    case DB_T_FLOAT:
        ty = ty_double();
        ty.base = type->base;
        sql = cat(t, "$($)", type->base == DB_T_FLOAT ? STR("m_cast_float") : STR("m_cast_double"),
            val_num(t, &a, &num));
        break;
    case DB_T_JSON:
        ty = (struct ty){.base = DB_T_JSON,
            .len = 4294967295,
            .coll = db_collation_number(46),
            .coer = COER_IMPLICIT};
        how = (char)ty_how(&a.t);
        sql = cat(t, "m_cast_json('$',$)", arena_str(t->arena, str_n(&how, 1)), val_sql(t, &a));
        break;
    case DB_T_BINARY:
    case DB_T_VARBINARY:
        ty = ty_binary(type->length >= 0 ? type->length
                                         : ty_chars(&a.t) * (a.t.coll ? a.t.coll->max_bytes : 1));
        sql = type->length >= 0 ? cat(t, "m_cast_binary($,#)", val_blob(t, &a), (int)type->length)
                                : val_blob(t, &a);
        break;
    case DB_T_CHAR:
    case DB_T_VARCHAR:
        ty = cast_text(t, &a, type);
        if (type->length < 0)
            sql = db_base_is_binary(ty.base) ? val_blob(t, &a) : val_text(t, &a);
        else
            sql = cat(t, "m_cast_char($,#)", val_text(t, &a), (int)type->length);
        break;
    default:
        ty = ty_int(type->is_unsigned ? 20 : 21, type->is_unsigned ? 64 : 63);
        ty.uns = type->is_unsigned;
        ty.big = ty.uns;
        ty.base = DB_T_BIGINT;
        ty.len = 20;
        sql = ty_is_string(&a.t) ? val_sql(t, &a) : val_num(t, &a, &num);
        /* a DECIMAL is rounded, where a text would be cut */
        if (!ty_is_string(&a.t) && num.base == DB_T_DECIMAL)
            sql = cat(t, "m_int($)", sql);
        sql =
            cat(t, "$($)", type->is_unsigned ? STR("m_cast_unsigned") : STR("m_cast_signed"), sql);
        break;
    }
    ty.not_null = a.t.not_null && !ty_is_string(&a.t);
    val_set(out, ty, sql, PREC_ATOM);
    return 0;
}
