/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "db/ddl/build.h"

/* What a type may say of itself; the rows are MySQL's limits. */
enum length_kind {
    NO_LENGTH,
    INT_WIDTH,
    BITS,
    DIGITS,
    REAL_DIGITS,
    YEAR_WIDTH,
    FRACTION,
    CHARACTERS,
    ANY_SIZE, /* TEXT(n), BLOB(n): picks the type */
};

static const struct {
    enum length_kind kind;
    int32_t max;
    int32_t width; /* of ZEROFILL, when none is said; length when none is said */
} limits[DB_T__COUNT] = {
    [DB_T_TINYINT] = {INT_WIDTH, 255, 3},
    [DB_T_SMALLINT] = {INT_WIDTH, 255, 5},
    [DB_T_MEDIUMINT] = {INT_WIDTH, 255, 8},
    [DB_T_INT] = {INT_WIDTH, 255, 10},
    [DB_T_BIGINT] = {INT_WIDTH, 255, 20},
    [DB_T_BIT] = {BITS, 64, 1},
    [DB_T_DECIMAL] = {DIGITS, 65, 10},
    [DB_T_FLOAT] = {REAL_DIGITS, 255, 12},
    [DB_T_DOUBLE] = {REAL_DIGITS, 255, 22},
    [DB_T_YEAR] = {YEAR_WIDTH, 4, 4},
    [DB_T_TIME] = {FRACTION, 6, 0},
    [DB_T_DATETIME] = {FRACTION, 6, 0},
    [DB_T_TIMESTAMP] = {FRACTION, 6, 0},
    [DB_T_CHAR] = {CHARACTERS, 255, 1},
    [DB_T_VARCHAR] = {CHARACTERS, 65535, 1},
    [DB_T_BINARY] = {CHARACTERS, 255, 1},
    [DB_T_VARBINARY] = {CHARACTERS, 65535, 1},
    [DB_T_TINYTEXT] = {ANY_SIZE, 0, 0},
    [DB_T_TEXT] = {ANY_SIZE, 0, 0},
    [DB_T_TINYBLOB] = {ANY_SIZE, 0, 0},
    [DB_T_BLOB] = {ANY_SIZE, 0, 0},
};

/* CHARACTER SET binary makes bytes of text. */
static enum db_base binary_of(enum db_base base)
{
    switch (base) {
    case DB_T_CHAR:
        return DB_T_BINARY;
    case DB_T_VARCHAR:
        return DB_T_VARBINARY;
    case DB_T_TINYTEXT:
        return DB_T_TINYBLOB;
    case DB_T_TEXT:
        return DB_T_BLOB;
    case DB_T_MEDIUMTEXT:
        return DB_T_MEDIUMBLOB;
    case DB_T_LONGTEXT:
        return DB_T_LONGBLOB;
    default:
        return base;
    }
}

int build_charset(struct build *b, struct str *charset, struct str *collation, struct str inherit,
    struct str inherit_collation)
{
    const struct db_collation *c;
    struct str set = *charset;

    if (collation->len == 0 || str_ieq(*collation, STR("DEFAULT"))) {
        if (set.len == 0 || str_ieq(set, STR("DEFAULT"))) {
            *charset = inherit;
            *collation = inherit_collation;
            return 0;
        }
        if (!(c = db_charset_default(set)))
            return db_error_set(b->e, DB_E_UNKNOWN_CHARSET, arena_str(b->arena, set).p);
    } else {
        const struct db_collation *of_set = NULL;

        if (!(c = db_collation_find(*collation)))
            return db_error_set(b->e, DB_E_UNKNOWN_COLLATION, arena_str(b->arena, *collation).p);
        if (set.len > 0 && !str_ieq(set, STR("DEFAULT")) && !(of_set = db_charset_default(set)))
            return db_error_set(b->e, DB_E_UNKNOWN_CHARSET, arena_str(b->arena, set).p);
        if (of_set && !str_eq(of_set->charset, c->charset))
            return db_error_set(b->e, DB_E_COLLATION_CHARSET, arena_str(b->arena, c->name).p,
                arena_str(b->arena, of_set->charset).p);
    }
    *charset = c->charset;
    *collation = c->name;
    return 0;
}

static uint32_t bytes_of_character(const struct db_type *t)
{
    const struct db_collation *c = db_collation_find(t->collation);

    return db_base_is_binary(t->base) ? 1 : c ? c->max_bytes : 4;
}

/* TEXT(300): the smallest type that has room. */
static void pick_size(struct db_type *t)
{
    static const enum db_base texts[] = {DB_T_TINYTEXT, DB_T_TEXT, DB_T_MEDIUMTEXT, DB_T_LONGTEXT};
    static const enum db_base blobs[] = {DB_T_TINYBLOB, DB_T_BLOB, DB_T_MEDIUMBLOB, DB_T_LONGBLOB};
    uint64_t bytes = (uint64_t)t->length * bytes_of_character(t);
    int i = bytes < 256 ? 0 : bytes < 65536 ? 1 : bytes < 16777216 ? 2 : 3;

    if (t->base == DB_T_TEXT && t->length > 0)
        t->base = texts[i];
    else if (t->base == DB_T_BLOB && t->length > 0)
        t->base = blobs[i];
    t->length = -1;
}

static int type_characters(struct build *b, const char *column, struct db_type *t)
{
    int32_t max = limits[t->base].max;

    if (t->length < 0)
        t->length = limits[t->base].width;
    if (t->base == DB_T_VARCHAR)
        max = 65535 / (int32_t)bytes_of_character(t);
    if (t->length <= max)
        return 0;
    if (b->strict || t->base == DB_T_CHAR || t->base == DB_T_BINARY)
        return db_error_set(b->e, DB_E_TOO_BIG_FIELD, column, max);
    t->base = t->base == DB_T_VARCHAR ? DB_T_TEXT : DB_T_BLOB;
    pick_size(t);
    return 0;
}

static int type_digits(struct build *b, const char *column, struct db_type *t)
{
    int32_t decimals = t->decimals < 0 ? 0 : t->decimals;
    bool is_real = t->base == DB_T_FLOAT || t->base == DB_T_DOUBLE;

    if (is_real && t->length >= 0 && t->decimals < 0) { /* FLOAT(p) */
        if (t->length > 53)
            return db_error_set(b->e, DB_E_WRONG_FIELD_SPEC, column);
        t->base = t->length > 24 ? DB_T_DOUBLE : t->base;
        t->length = -1;
        return 0;
    }
    if (is_real && t->length < 0) {
        t->decimals = -1;
        return 0;
    }
    if (t->length <= 0 && !is_real)
        t->length = limits[t->base].width;
    if (decimals > 30)
        return db_error_set(b->e, DB_E_TOO_BIG_SCALE, decimals, column, 30);
    if (t->length > limits[t->base].max)
        return is_real ? db_error_set(b->e, DB_E_TOO_BIG_DISPLAY, column, limits[t->base].max)
                       : db_error_set(
                             b->e, DB_E_TOO_BIG_PRECISION, t->length, column, limits[t->base].max);
    if (decimals > t->length)
        return db_error_set(b->e, DB_E_M_BIGGER_THAN_D, column);
    t->decimals = (int16_t)decimals;
    return 0;
}

static int type_width(struct build *b, const char *column, struct db_type *t)
{
    if (t->length > limits[t->base].max)
        return db_error_set(b->e, DB_E_TOO_BIG_DISPLAY, column, limits[t->base].max);
    if (t->base == DB_T_BIT) {
        if (t->length == 0)
            return db_error_set(b->e, DB_E_INVALID_FIELD_SIZE, column);
        t->length = t->length < 0 ? 1 : t->length;
        return 0;
    }
    if (t->zerofill && t->length <= 0)
        t->length = limits[t->base].width;
    else if (!t->zerofill && !(t->base == DB_T_TINYINT && t->length == 1))
        t->length = -1; /* a width means nothing, and MySQL 8 forgets it */
    return 0;
}

static struct str trim_end(struct str s)
{
    while (s.len > 0 && s.p[s.len - 1] == ' ')
        s.len--;
    return s;
}

static int type_members(struct build *b, const char *column, struct db_type *t)
{
    struct str *v = arena_new(b->arena, (t->n_members + 1) * sizeof(*v));
    const char *what = t->base == DB_T_SET ? "SET" : "ENUM";

    if (t->base == DB_T_SET && t->n_members > 64)
        return db_error_set(b->e, DB_E_TOO_BIG_SET, column);
    for (uint32_t i = 0; i < t->n_members; i++) {
        v[i] = arena_str(b->arena, trim_end(t->members[i]));
        if (t->base == DB_T_SET && str_chr(v[i], ',') >= 0)
            return db_error_set(b->e, DB_E_ILLEGAL_VALUE, "set", arena_str(b->arena, v[i]).p);
        for (uint32_t j = 0; j < i && b->strict && t->n_members <= 1024; j++) {
            bool same = str_ends(t->collation, STR("_bin")) || str_ends(t->collation, STR("_cs"))
                            ? str_eq(v[i], v[j])
                            : str_ieq(v[i], v[j]);

            if (same)
                return db_error_set(
                    b->e, DB_E_DUPLICATED_VALUE, column, arena_str(b->arena, v[i]).p, what);
        }
    }
    t->members = v;
    return 0;
}

int build_type(struct build *b, struct str column, struct db_type *t)
{
    const char *name = arena_str(b->arena, column).p;
    int r;

    if (t->base == DB_T_GEOMETRY)
        return db_error_set(b->e, DB_E_NOT_SUPPORTED_YET, "spatial types");
    if (db_base_is_text(t->base)) {
        r = build_charset(b, &t->charset, &t->collation, b->t.charset, b->t.collation);
        if (r)
            return r;
        if (str_eq(t->charset, STR("binary")))
            t->base = binary_of(t->base);
    }
    if (!db_base_is_text(t->base))
        t->charset = t->collation = STR_NONE;
    t->is_unsigned = t->is_unsigned || t->zerofill;
    if (t->base == DB_T_ENUM || t->base == DB_T_SET)
        return type_members(b, name, t);
    switch (limits[t->base].kind) {
    case INT_WIDTH:
    case BITS:
        return type_width(b, name, t);
    case DIGITS:
    case REAL_DIGITS:
        return type_digits(b, name, t);
    case YEAR_WIDTH:
        if (t->length >= 0 && t->length != 4)
            return db_error_set(b->e, DB_E_YEAR_LENGTH);
        t->length = -1;
        return 0;
    case FRACTION:
        if (t->decimals > 6)
            return db_error_set(b->e, DB_E_TOO_BIG_PRECISION, (int)t->decimals, name, 6);
        t->decimals = t->decimals < 0 ? 0 : t->decimals;
        return 0;
    case CHARACTERS:
        return type_characters(b, name, t);
    case ANY_SIZE:
        pick_size(t);
        return 0;
    default:
        t->length = -1;
        return 0;
    }
}

static int check_auto(struct build *b, const struct sql_column_def *def, const char *name)
{
    if (!db_base_is_int(def->type.base) || def->type.base == DB_T_BIT || def->generated)
        return db_error_set(b->e, DB_E_WRONG_FIELD_SPEC, name);
    if (def->default_value)
        return db_error_set(b->e, DB_E_INVALID_DEFAULT, name);
    return 0;
}

/* The column alone, without what it adds to other lists. */
static int make_column(struct build *b, const struct sql_column_def *def, struct build_column *out)
{
    const char *name = arena_str(b->arena, def->name).p;
    struct db_cat_column c = {.name = arena_str(b->arena, def->name), .type = def->type};
    int r;

    if ((r = build_name(b, def->name, DB_E_WRONG_COLUMN_NAME)) ||
        (r = build_type(b, def->name, &c.type)))
        return r;
    if (def->auto_increment && (r = check_auto(b, def, name)))
        return r;
    if (def->on_update_now && c.type.base != DB_T_TIMESTAMP && c.type.base != DB_T_DATETIME)
        return db_error_set(b->e, DB_E_INVALID_ON_UPDATE, name);
    if (def->comment.len > 4096)
        return db_error_set(b->e, DB_E_TOO_LONG_FIELD_COMMENT, name, 1024UL);
    c.not_null = def->nullable == SQL_NULL_NO || def->auto_increment;
    c.auto_increment = def->auto_increment;
    c.on_update_now = def->on_update_now;
    c.invisible = def->invisible;
    c.comment = arena_str(b->arena, def->comment);
    if (def->generated) {
        c.generated = build_print(b->arena, def->generated);
        c.stored = def->stored;
    } else if ((r = build_default(b, &c, def->default_value))) {
        return r;
    }
    out->c = c;
    out->null_said = def->nullable == SQL_NULL_YES;
    out->changed = true;
    return 0;
}

/* Keys and checks written at the column. */
static int add_attributes(struct build *b, const struct sql_column_def *def)
{
    struct sql_key_part part = {.column = def->name};
    struct sql_key key = {.parts = &part, .n_parts = 1};
    int r = 0;

    if (def->primary) {
        key.kind = SQL_KEY_PRIMARY;
        r = build_add_key(b, &key);
    }
    if (!r && def->unique) {
        key.kind = SQL_KEY_UNIQUE;
        r = build_add_key(b, &key);
    }
    for (uint32_t i = 0; !r && i < def->n_checks; i++)
        r = build_add_check(b, &def->checks[i], def->name);
    return r;
}

int build_add_column(struct build *b, const struct sql_column_def *def, uint32_t place)
{
    struct build_column c = {.old = -1};
    int r;

    if (build_column_find(b, def->name) >= 0)
        return db_error_set(b->e, DB_E_DUP_FIELD, arena_str(b->arena, def->name).p);
    if (b->n_columns >= 1017)
        return db_error_set(b->e, DB_E_TOO_MANY_FIELDS);
    if ((r = make_column(b, def, &c)))
        return r;
    (void)!BUILD_MORE(b, columns);
    memmove(&b->columns[place + 1], &b->columns[place],
        (b->n_columns - 1 - place) * sizeof(*b->columns));
    b->columns[place] = c;
    return add_attributes(b, def);
}

int build_change_column(struct build *b, const struct sql_column_def *def, uint32_t at)
{
    struct build_column c = {.old = b->columns[at].old};
    int r = make_column(b, def, &c);

    if (r)
        return r;
    b->columns[at] = c;
    return add_attributes(b, def);
}

static bool is_now(const struct sql_expr *v)
{
    static const struct str names[] = {
        STR("NOW"), STR("CURRENT_TIMESTAMP"), STR("LOCALTIME"), STR("LOCALTIMESTAMP")};

    for (size_t i = 0; v->kind == SQL_CALL && i < sizeof(names) / sizeof(*names); i++) {
        if (str_ieq(v->name, names[i]))
            return true;
    }
    return false;
}

static bool is_literal(const struct sql_expr *v)
{
    if (v->kind == SQL_UNARY && (v->op == SQL_OP_NEG || v->op == SQL_OP_PLUS))
        return v->a->kind >= SQL_INT && v->a->kind <= SQL_DOUBLE;
    return (v->kind >= SQL_NULL && v->kind <= SQL_TEMPORAL);
}

static bool has_no_literal_default(enum db_base base)
{
    return (base >= DB_T_TINYTEXT && base <= DB_T_LONGTEXT) ||
           (base >= DB_T_TINYBLOB && base <= DB_T_LONGBLOB) || base == DB_T_JSON;
}

static int default_now(struct build *b, struct db_cat_column *c, const struct sql_expr *v)
{
    uint64_t decimals = v->list.n > 0 && v->list.v[0]->kind == SQL_INT ? v->list.v[0]->u : 0;

    if ((c->type.base != DB_T_TIMESTAMP && c->type.base != DB_T_DATETIME) ||
        decimals != (uint64_t)c->type.decimals)
        return db_error_set(b->e, DB_E_INVALID_DEFAULT, c->name.p);
    c->default_kind = DB_DEFAULT_NOW;
    return 0;
}

int build_default(struct build *b, struct db_cat_column *c, const struct sql_expr *v)
{
    if (!v) {
        if (!c->not_null)
            c->default_kind = DB_DEFAULT_NULL;
        return 0;
    }
    if (is_now(v) && !v->is_paren)
        return default_now(b, c, v);
    if (v->is_paren || !is_literal(v)) {
        c->default_kind = DB_DEFAULT_EXPR;
        c->default_text = build_print(b->arena, v);
        return 0;
    }
    if (v->kind == SQL_NULL) {
        if (c->not_null)
            return db_error_set(b->e, DB_E_INVALID_DEFAULT, c->name.p);
        c->default_kind = DB_DEFAULT_NULL;
        return 0;
    }
    if (has_no_literal_default(c->type.base)) {
        if (b->strict)
            return db_error_set(b->e, DB_E_BLOB_DEFAULT, c->name.p);
        if (v->kind == SQL_STRING && v->s.len == 0) {
            c->default_kind = c->not_null ? DB_DEFAULT_NONE : DB_DEFAULT_NULL;
            return 0;
        }
        c->default_kind = DB_DEFAULT_EXPR; /* MariaDB has it, and dumps of it are not strict */
        c->default_text = build_print(b->arena, v);
        return 0;
    }
    c->default_kind = DB_DEFAULT_VALUE;
    return build_literal(b, c, v, &c->default_text);
}

struct str build_zero(struct build *b, const struct db_cat_column *c)
{
    const struct db_type *t = &c->type;
    struct buf text = {0};
    struct str out;

    if (db_base_is_int(t->base) || t->base == DB_T_YEAR)
        return STR("0");
    if (t->base == DB_T_FLOAT || t->base == DB_T_DOUBLE)
        return STR("0.0");
    switch (t->base) {
    case DB_T_DECIMAL:
        return t->decimals > 0 ? arena_printf(b->arena, "'0.%0*d'", (int)t->decimals, 0)
                               : STR("'0'");
    case DB_T_DATE:
        return STR("'0000-00-00'");
    case DB_T_TIME:
    case DB_T_DATETIME:
    case DB_T_TIMESTAMP:
        return arena_printf(b->arena, "'%s00:00:00%s%.*s'",
            t->base == DB_T_TIME ? "" : "0000-00-00 ", t->decimals > 0 ? "." : "",
            t->decimals > 0 ? (int)t->decimals : 0, "000000");
    case DB_T_JSON:
        return STR("'null'");
    case DB_T_BINARY:
        return arena_printf(b->arena, "x'%0*d'", (int)t->length * 2, 0);
    case DB_T_ENUM:
        sqlite_string(&text, t->n_members > 0 ? t->members[0] : STR_NONE);
        out = arena_str(b->arena, buf_str(&text));
        buf_fini(&text);
        return out;
    default:
        return db_base_is_binary(t->base) ? STR("x''") : STR("''");
    }
}
