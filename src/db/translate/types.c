/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

enum { MAX_DECIMAL = 65, MAX_SCALE = 30, LONGTEXT_LEN = 1073741823 };

/* Of the types with a length of their own: characters or bytes, and bits of integers. */
static const struct {
    int64_t len;
    uint8_t bits;
} bases[DB_T__COUNT] = {
    [DB_T_TINYINT] = {4, 7},
    [DB_T_SMALLINT] = {6, 15},
    [DB_T_MEDIUMINT] = {9, 23},
    [DB_T_INT] = {11, 31},
    [DB_T_BIGINT] = {20, 63},
    [DB_T_FLOAT] = {12, 0},
    [DB_T_DOUBLE] = {22, 0},
    [DB_T_YEAR] = {4, 12},
    [DB_T_DATE] = {10, 0},
    [DB_T_TIME] = {10, 0},
    [DB_T_DATETIME] = {19, 0},
    [DB_T_TIMESTAMP] = {19, 0},
    [DB_T_TINYTEXT] = {255, 0},
    [DB_T_TEXT] = {65535, 0},
    [DB_T_MEDIUMTEXT] = {16777215, 0},
    [DB_T_LONGTEXT] = {4294967295, 0},
    [DB_T_TINYBLOB] = {255, 0},
    [DB_T_BLOB] = {65535, 0},
    [DB_T_MEDIUMBLOB] = {16777215, 0},
    [DB_T_LONGBLOB] = {4294967295, 0},
    [DB_T_JSON] = {4294967295, 0},
    [DB_T_GEOMETRY] = {4294967295, 0},
};

static const struct db_collation *collation_of(const struct db_type *type)
{
    const struct db_collation *c = NULL;

    if (type->collation.len)
        c = db_collation_find(type->collation);
    if (!c && type->charset.len)
        c = db_charset_default(type->charset);
    return c ? c : db_collation_number(45);
}

/* Longest member of ENUM, all members of SET. */
static int64_t members_len(const struct db_type *type)
{
    int64_t most = 0, sum = 0;

    for (uint32_t i = 0; i < type->n_members; i++) {
        int64_t n = 0;

        for (size_t k = 0; k < type->members[i].len; k++)
            n += ((unsigned char)type->members[i].p[k] & 0xC0) != 0x80;
        most = MAX(most, n);
        sum += n + (i > 0);
    }
    return type->base == DB_T_SET ? sum : most;
}

static void int_of_column(struct ty *t, const struct db_type *type)
{
    t->bits = bases[type->base].bits;
    t->len = type->length > 0 ? type->length : bases[type->base].len;
    if (type->base == DB_T_BIT) {
        t->uns = true;
        t->len = type->length > 0 ? type->length : 1;
        t->bits = (uint8_t)MIN(t->len, 63);
    } else if (type->is_unsigned && type->base != DB_T_BIGINT) {
        t->bits++;
        if (type->length <= 0 && type->base != DB_T_MEDIUMINT)
            t->len--;
        if (type->length <= 0 && type->base == DB_T_MEDIUMINT)
            t->len = 8;
    }
}

struct ty ty_of_column(const struct db_type *type, bool not_null)
{
    struct ty t = {.base = type->base,
        .uns = type->is_unsigned,
        .not_null = not_null,
        .zerofill = type->zerofill,
        .members = type->members,
        .n_members = type->n_members,
        .coer = COER_IMPLICIT,
        .len = bases[type->base].len};

    if (!db_base_is_text(type->base) && !db_base_is_binary(type->base) && type->base != DB_T_JSON)
        t.coer = COER_NUMBER;
    if (db_base_is_int(type->base)) {
        int_of_column(&t, type);
    } else if (type->base == DB_T_DECIMAL) {
        t.len = type->length > 0 ? type->length : 10;
        t.dec = type->decimals > 0 ? type->decimals : 0;
    } else if (type->base == DB_T_FLOAT || type->base == DB_T_DOUBLE) {
        t.dec = type->decimals >= 0 ? type->decimals : 31;
        if (type->length > 0)
            t.len = type->length;
    } else if (db_base_is_temporal(type->base)) {
        t.dec = type->decimals > 0 ? type->decimals : 0;
        t.len += t.dec ? t.dec + 1 : 0;
    } else if (db_base_is_text(type->base)) {
        t.coll = collation_of(type);
        if (type->base == DB_T_CHAR || type->base == DB_T_VARCHAR)
            t.len = type->length >= 0 ? type->length : 1;
        else if (type->base == DB_T_ENUM || type->base == DB_T_SET)
            t.len = members_len(type);
        else
            t.len = bases[type->base].len / t.coll->max_bytes;
        if (type->base == DB_T_LONGTEXT)
            t.len = LONGTEXT_LEN;
    } else if (type->base == DB_T_BINARY || type->base == DB_T_VARBINARY) {
        t.len = type->length >= 0 ? type->length : 1;
    } else if (type->base == DB_T_JSON) {
        t.coll = db_collation_number(46);
        t.len = LONGTEXT_LEN;
    } else if (type->base == DB_T_YEAR) {
        t.uns = true;
        t.zerofill = true;
        t.bits = 12;
    }
    return t;
}

struct ty ty_int(int width, int bits)
{
    return (struct ty){.base = width <= 11 && bits <= 31 ? DB_T_INT : DB_T_BIGINT,
        .len = width,
        .bits = (uint8_t)bits,
        .coer = COER_NUMBER};
}

struct ty ty_bool(void)
{
    return (struct ty){.base = DB_T_INT, .len = 1, .bits = 1, .is_bool = true, .coer = COER_NUMBER};
}

struct ty ty_decimal(int64_t precision, int dec)
{
    return (struct ty){.base = DB_T_DECIMAL,
        .len = MIN(MAX(precision, MAX(dec, 1)), (int64_t)MAX_DECIMAL),
        .dec = (int16_t)MIN(dec, (int)MAX_SCALE),
        .coer = COER_NUMBER};
}

struct ty ty_double(void)
{
    return (struct ty){.base = DB_T_DOUBLE, .len = 23, .dec = 31, .coer = COER_NUMBER};
}

struct ty ty_text(const struct db_collation *coll, int64_t len, enum coer coer)
{
    struct ty t = {.base = DB_T_VARCHAR, .coll = coll, .len = len, .coer = (uint8_t)coer};

    if (!coll || str_eq(coll->charset, STR("binary"))) {
        t = ty_binary(len);
        t.coer = (uint8_t)coer;
        return t;
    }
    if (len * coll->max_bytes > 65535) {
        t.base = len * coll->max_bytes > 16777215 ? DB_T_LONGTEXT : DB_T_MEDIUMTEXT;
        t.len = MIN(len, (int64_t)LONGTEXT_LEN);
    }
    return t;
}

struct ty ty_binary(int64_t len)
{
    enum db_base base = len <= 65535      ? DB_T_VARBINARY
                        : len <= 16777215 ? DB_T_MEDIUMBLOB
                                          : DB_T_LONGBLOB;

    return (struct ty){.base = base, .len = MIN(len, 4294967295LL), .coer = COER_IMPLICIT};
}

struct ty ty_temporal(enum db_base base, int fsp)
{
    return (struct ty){.base = base,
        .len = bases[base].len + (fsp ? fsp + 1 : 0),
        .dec = (int16_t)fsp,
        .coer = COER_NUMBER};
}

struct ty ty_null(void)
{
    return (struct ty){.base = DB_T_NULL, .coer = COER_NULL};
}

bool ty_is_string(const struct ty *t)
{
    return db_base_is_text(t->base) || db_base_is_binary(t->base) || t->base == DB_T_GEOMETRY;
}

bool ty_is_num(const struct ty *t)
{
    return db_base_is_number(t->base);
}

static int log10_bits(int bits)
{
    return bits * 1233 / 4096 + 1;
}

int ty_int_digits(const struct ty *t)
{
    if (db_base_is_int(t->base) || t->base == DB_T_YEAR) {
        int most = t->uns ? (int)t->len : (int)t->len - 1;

        if (t->base == DB_T_BIT)
            return log10_bits((int)t->len);
        return MAX(most, 1);
    }
    if (t->base == DB_T_DECIMAL)
        return (int)(t->len - t->dec);
    if (db_base_is_temporal(t->base))
        return t->base == DB_T_DATE ? 8 : t->base == DB_T_TIME ? 7 : 14;
    if (t->base == DB_T_NULL)
        return 0;
    return 15;
}

int ty_scale(const struct ty *t)
{
    return t->base == DB_T_DECIMAL || db_base_is_temporal(t->base) ? t->dec : 0;
}

int64_t ty_chars(const struct ty *t)
{
    if (t->base == DB_T_DECIMAL)
        return t->len + (t->dec > 0) + !t->uns + (t->len == t->dec);
    if (db_base_is_text(t->base) || db_base_is_binary(t->base) || t->base == DB_T_JSON)
        return t->len;
    return t->len;
}

static bool is_bin(const struct db_collation *c)
{
    return str_ends(c->name, STR("_bin"));
}

static bool is_binary(const struct ty *t)
{
    return db_base_is_binary(t->base) || t->base == DB_T_GEOMETRY;
}

/* The collation that numbers have as text. */
static const struct db_collation *coll_of(struct tr *t, const struct ty *ty)
{
    return ty->coll ? ty->coll : t->coll;
}

static const char *coer_name(uint8_t c)
{
    static const char *const names[] = {
        "EXPLICIT", "NONE", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "IGNORABLE"};

    return names[MIN(c, 6)];
}

/* Two texts that insist equally. */
static int collate_equal(struct tr *t, const struct ty *a, const struct ty *b, const char *op,
    const struct db_collation **coll, uint8_t *coer)
{
    const struct db_collation *x = coll_of(t, a), *y = coll_of(t, b);

    *coer = a->coer;
    if (x == y) {
        *coll = x;
        return 0;
    }
    if (!str_eq(x->charset, y->charset) && a->coer != COER_EXPLICIT) {
        /* the wider charset wins */
        *coll = x->max_bytes >= y->max_bytes ? x : y;
        return 0;
    }
    if (str_eq(x->charset, y->charset) && a->coer != COER_EXPLICIT && is_bin(x) != is_bin(y)) {
        *coll = is_bin(x) ? x : y;
        return 0;
    }
    if (a->coer >= COER_LITERAL) {
        *coll = x;
        return 0;
    }
    return db_error_set(t->e, DB_E_COLLATION_MIX, zstr(t, x->name), coer_name(a->coer),
        zstr(t, y->name), coer_name(b->coer), op);
}

int ty_collate(struct tr *t, const struct ty *a, const struct ty *b, const char *op,
    const struct db_collation **coll, uint8_t *coer)
{
    if (is_binary(a) || is_binary(b)) {
        const struct ty *bin = is_binary(a) ? a : b, *other = is_binary(a) ? b : a;

        if (is_binary(other) || bin->coer <= other->coer || !ty_is_string(other)) {
            *coll = NULL;
            *coer = MIN(bin->coer, other->coer);
        } else {
            *coll = coll_of(t, other);
            *coer = other->coer;
        }
        return 0;
    }
    if (a->coer != b->coer) {
        *coll = coll_of(t, a->coer < b->coer ? a : b);
        *coer = MIN(a->coer, b->coer);
        return 0;
    }
    return collate_equal(t, a, b, op, coll, coer);
}

static struct ty merge_ints(const struct ty *a, const struct ty *b)
{
    struct ty out =
        a->bits + (a->base == DB_T_BIGINT) >= b->bits + (b->base == DB_T_BIGINT) ? *a : *b;

    out.len = MAX(a->len, b->len);
    out.bits = MAX(a->bits, b->bits);
    out.uns = a->uns && b->uns;
    out.big = a->big || b->big;
    out.is_bool = false;
    if (a->uns != b->uns) {
        int digits = MAX(ty_int_digits(a), ty_int_digits(b));

        if (a->base == DB_T_BIGINT || b->base == DB_T_BIGINT) {
            if ((a->uns ? a : b)->base == DB_T_BIGINT)
                return ty_decimal(digits, 0);
            out.base = DB_T_BIGINT;
        } else {
            out.base = DB_T_BIGINT;
        }
        out.len = MAX((int64_t)digits + 1, out.len);
    }
    return out;
}

static struct ty merge_numbers(const struct ty *a, const struct ty *b)
{
    struct ty out;

    if (a->base == DB_T_FLOAT && b->base == DB_T_FLOAT)
        return *a;
    if (a->base == DB_T_DOUBLE || b->base == DB_T_DOUBLE || a->base == DB_T_FLOAT ||
        b->base == DB_T_FLOAT)
        return ty_double();
    if (a->base == DB_T_DECIMAL || b->base == DB_T_DECIMAL) {
        int dec = MAX(ty_scale(a), ty_scale(b));

        out = ty_decimal(MAX(ty_int_digits(a), ty_int_digits(b)) + dec, dec);
        out.uns = a->uns && b->uns;
        return out;
    }
    return merge_ints(a, b);
}

static bool merge_temporal(const struct ty *a, const struct ty *b, struct ty *out)
{
    if (!db_base_is_temporal(a->base) || !db_base_is_temporal(b->base))
        return false;
    if (a->base == b->base)
        *out = ty_temporal(a->base, MAX(a->dec, b->dec));
    else
        *out = ty_temporal(DB_T_DATETIME, MAX(a->dec, b->dec));
    return true;
}

static int merge_strings(
    struct tr *t, const struct ty *a, const struct ty *b, const char *op, struct ty *out)
{
    const struct db_collation *coll = NULL;
    uint8_t coer = 0;
    bool char_only =
        (a->base == DB_T_CHAR || a->base == DB_T_BINARY) && a->base == b->base && a->len == b->len;
    int rc;

    if ((rc = ty_collate(t, a, b, op, &coll, &coer)))
        return rc;
    *out = ty_text(coll, MAX(ty_chars(a), ty_chars(b)), coer);
    if (char_only)
        out->base = a->base;
    if (db_base_is_text(a->base) && db_base_is_text(b->base) && out->base != DB_T_VARCHAR &&
        coll == a->coll && coll == b->coll) {
        if (a->base >= DB_T_TINYTEXT && a->base <= DB_T_LONGTEXT && a->len >= b->len)
            out->base = a->base;
        else if (b->base >= DB_T_TINYTEXT && b->base <= DB_T_LONGTEXT)
            out->base = b->base;
    }
    return 0;
}

int ty_merge(struct tr *t, const struct ty *a, const struct ty *b, const char *op, struct ty *out)
{
    bool not_null = a->not_null && b->not_null;
    int rc = 0;

    if (a->base == DB_T_NULL || b->base == DB_T_NULL) {
        *out = a->base == DB_T_NULL ? *b : *a;
        if (out->base == DB_T_CHAR)
            out->base = DB_T_VARCHAR;
    } else if (ty_is_num(a) && ty_is_num(b)) {
        *out = a->base == DB_T_YEAR && b->base == DB_T_YEAR ? *a : merge_numbers(a, b);
    } else if (a->base == DB_T_JSON && b->base == DB_T_JSON) {
        *out = *a;
    } else if (!merge_temporal(a, b, out)) {
        rc = merge_strings(t, a, b, op, out);
    }
    if (!rc)
        out->not_null = not_null;
    return rc;
}

struct str ty_natural(const struct ty *t)
{
    if (t->base == DB_T_DECIMAL)
        return STR("my_decimal");
    if (t->base == DB_T_TIME)
        return STR("my_time");
    if (t->base == DB_T_JSON)
        return STR("my_json");
    return db_base_is_text(t->base) && t->coll ? t->coll->name : STR_NONE;
}

struct db_type ty_type(const struct ty *t)
{
    struct db_type type = {.base = t->base,
        .length = (int32_t)MIN(t->len, (int64_t)INT32_MAX),
        .decimals = t->dec,
        .is_unsigned = t->uns,
        .zerofill = t->zerofill,
        .members = t->members,
        .n_members = t->n_members};

    if (t->base == DB_T_DOUBLE || t->base == DB_T_FLOAT)
        type.decimals = t->dec == 31 ? -1 : t->dec;
    if (t->coll && db_base_is_text(t->base)) {
        type.charset = t->coll->charset;
        type.collation = t->coll->name;
    } else if (db_base_is_binary(t->base)) {
        type.charset = STR("binary");
        type.collation = STR("binary");
    }
    return type;
}

static uint16_t type_flags(const struct ty *t)
{
    uint16_t flags = t->not_null ? DB_COL_NOT_NULL : 0;

    if (t->uns)
        flags |= DB_COL_UNSIGNED;
    if (t->zerofill)
        flags |= DB_COL_ZEROFILL;
    if (!db_base_is_text(t->base) || (t->coll && is_bin(t->coll)))
        flags |= DB_COL_BINARY;
    if (db_base_is_number(t->base) || t->base == DB_T_NULL)
        flags |= DB_COL_NUM;
    if (t->base == DB_T_BIT)
        flags &= (uint16_t)~DB_COL_NUM;
    if (t->base == DB_T_ENUM)
        flags |= DB_COL_ENUM;
    if (t->base == DB_T_SET)
        flags |= DB_COL_SET;
    if (t->base == DB_T_TIMESTAMP)
        flags |= DB_COL_TIMESTAMP;
    if (db_base_wire(t->base) == 252 || t->base == DB_T_JSON || t->base == DB_T_GEOMETRY)
        flags |= DB_COL_BLOB;
    return flags;
}

/* Bytes as the client is told, given the charset that results are sent in. */
static uint32_t wire_length(const struct ty *t, const struct db_collation *results)
{
    int64_t n = ty_chars(t);

    if (db_base_is_text(t->base) && t->coll) {
        bool blob = t->base >= DB_T_TINYTEXT && t->base <= DB_T_LONGTEXT;

        if (blob && t->base != DB_T_LONGTEXT && t->coer == COER_IMPLICIT)
            n = bases[t->base].len;
        n *= results ? results->max_bytes : t->coll->max_bytes;
    }
    return (uint32_t)MIN(n, (int64_t)UINT32_MAX);
}

void ty_column(struct tr *t, const struct item *item, struct db_column *out)
{
    const struct ty *ty = &item->v.t;
    const struct db_collation *results = db_collation_number(t->env->results);

    memset(out, 0, sizeof(*out));
    out->name = item->name;
    out->schema = item->v.schema;
    out->table = item->v.table;
    out->org_table = item->v.org_table;
    out->org_name = item->v.org_name;
    out->type = ty_type(ty);
    out->flags = (uint16_t)(type_flags(ty) | item->v.flags);
    out->length = wire_length(ty, results);
    out->charset = 63;
    if (db_base_is_text(ty->base) && ty->coll)
        out->charset = results ? results->number : ty->coll->number;
    out->decimals = (uint8_t)(ty->base == DB_T_DOUBLE || ty->base == DB_T_FLOAT ||
                                      ty->base == DB_T_DECIMAL || db_base_is_temporal(ty->base)
                                  ? ty->dec
                                  : 0);
    /* strings that are no columns */
    if (ty_is_string(ty) && !item->v.field)
        out->decimals = 31;
    /* numbers of tables are not BINARY, computed ones are */
    if (item->v.field && ty_is_num(ty))
        out->flags &= (uint16_t)~DB_COL_BINARY;
    if (ty->base == DB_T_JSON)
        out->length = UINT32_MAX;
}

struct str ty_members(struct tr *t, const struct ty *ty)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < ty->n_members; i++) {
        if (i)
            sb_lit(t, &b, ",");
        for (size_t k = 0; k < ty->members[i].len; k++) {
            if (ty->members[i].p[k] == ',' || ty->members[i].p[k] == '\\')
                sb_lit(t, &b, "\\");
            sb_add(t, &b, str_n(ty->members[i].p + k, 1));
        }
    }
    return quote_text(t, sb_str(&b));
}

int ty_how(const struct ty *t)
{
    if (t->is_bool)
        return 'b';
    if (t->base == DB_T_YEAR)
        return 'y';
    if (db_base_is_int(t->base))
        return t->uns ? 'u' : 'i';
    if (db_base_is_text(t->base))
        return 's';
    if (db_base_is_binary(t->base))
        return 'x';
    switch (t->base) {
    case DB_T_DECIMAL:
        return 'd';
    case DB_T_FLOAT:
        return 'f';
    case DB_T_DOUBLE:
        return 'r';
    case DB_T_DATE:
        return 'D';
    case DB_T_TIME:
        return 'T';
    case DB_T_DATETIME:
    case DB_T_TIMESTAMP:
        return 'E';
    case DB_T_JSON:
        return 'j';
    default:
        return 'n';
    }
}

struct str ty_how_str(struct tr *t, const struct ty *ty)
{
    int h = ty_how(ty);
    char c;

    if (h == 's')
        return cat(t, "'s:$'", coll_of(t, ty)->name);
    if (h == 'b' || h == 'u' || h == 'y')
        h = 'i';
    if (h == 'f')
        h = 'r';
    if (h == 'n')
        h = 'x';
    c = (char)h;
    return cat(t, "'$'", arena_str(t->arena, str_n(&c, 1)));
}
