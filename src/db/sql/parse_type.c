/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Types, of columns and of CAST. Lengths that MySQL fills in are filled in here.
 */
#include "db/charset.h"
#include "db/sql/parser.h"

enum args { ARGS_NONE, ARGS_WIDTH, ARGS_DECIMAL, ARGS_FRACTION, ARGS_LENGTH, ARGS_SIZE, ARGS_LIST };

struct type_row {
    enum sql_word word;
    enum db_base base;
    enum args args;
};

static const struct type_row types[] = {
    {W_TINYINT, DB_T_TINYINT, ARGS_WIDTH},
    {W_INT1, DB_T_TINYINT, ARGS_WIDTH},
    {W_SMALLINT, DB_T_SMALLINT, ARGS_WIDTH},
    {W_INT2, DB_T_SMALLINT, ARGS_WIDTH},
    {W_MEDIUMINT, DB_T_MEDIUMINT, ARGS_WIDTH},
    {W_MIDDLEINT, DB_T_MEDIUMINT, ARGS_WIDTH},
    {W_INT3, DB_T_MEDIUMINT, ARGS_WIDTH},
    {W_INT, DB_T_INT, ARGS_WIDTH},
    {W_INTEGER, DB_T_INT, ARGS_WIDTH},
    {W_INT4, DB_T_INT, ARGS_WIDTH},
    {W_BIGINT, DB_T_BIGINT, ARGS_WIDTH},
    {W_INT8, DB_T_BIGINT, ARGS_WIDTH},
    {W_BIT, DB_T_BIT, ARGS_WIDTH},
    {W_DECIMAL, DB_T_DECIMAL, ARGS_DECIMAL},
    {W_DEC, DB_T_DECIMAL, ARGS_DECIMAL},
    {W_NUMERIC, DB_T_DECIMAL, ARGS_DECIMAL},
    {W_FIXED, DB_T_DECIMAL, ARGS_DECIMAL},
    {W_FLOAT, DB_T_FLOAT, ARGS_DECIMAL},
    {W_FLOAT4, DB_T_FLOAT, ARGS_DECIMAL},
    {W_DOUBLE, DB_T_DOUBLE, ARGS_DECIMAL},
    {W_REAL, DB_T_DOUBLE, ARGS_DECIMAL},
    {W_FLOAT8, DB_T_DOUBLE, ARGS_DECIMAL},
    {W_YEAR, DB_T_YEAR, ARGS_WIDTH},
    {W_DATE, DB_T_DATE, ARGS_NONE},
    {W_TIME, DB_T_TIME, ARGS_FRACTION},
    {W_DATETIME, DB_T_DATETIME, ARGS_FRACTION},
    {W_TIMESTAMP, DB_T_TIMESTAMP, ARGS_FRACTION},
    {W_CHAR, DB_T_CHAR, ARGS_LENGTH},
    {W_CHARACTER, DB_T_CHAR, ARGS_LENGTH},
    {W_NCHAR, DB_T_CHAR, ARGS_LENGTH},
    {W_VARCHAR, DB_T_VARCHAR, ARGS_LENGTH},
    {W_VARCHARACTER, DB_T_VARCHAR, ARGS_LENGTH},
    {W_BINARY, DB_T_BINARY, ARGS_LENGTH},
    {W_VARBINARY, DB_T_VARBINARY, ARGS_LENGTH},
    {W_TINYTEXT, DB_T_TINYTEXT, ARGS_NONE},
    {W_TEXT, DB_T_TEXT, ARGS_SIZE},
    {W_MEDIUMTEXT, DB_T_MEDIUMTEXT, ARGS_NONE},
    {W_LONGTEXT, DB_T_LONGTEXT, ARGS_NONE},
    {W_TINYBLOB, DB_T_TINYBLOB, ARGS_NONE},
    {W_BLOB, DB_T_BLOB, ARGS_SIZE},
    {W_MEDIUMBLOB, DB_T_MEDIUMBLOB, ARGS_NONE},
    {W_LONGBLOB, DB_T_LONGBLOB, ARGS_NONE},
    {W_ENUM, DB_T_ENUM, ARGS_LIST},
    {W_SET, DB_T_SET, ARGS_LIST},
    {W_JSON, DB_T_JSON, ARGS_NONE},
    {W_GEOMETRY, DB_T_GEOMETRY, ARGS_NONE},
    {W_POINT, DB_T_GEOMETRY, ARGS_NONE},
    {W_LINESTRING, DB_T_GEOMETRY, ARGS_NONE},
    {W_POLYGON, DB_T_GEOMETRY, ARGS_NONE},
    {W_MULTIPOINT, DB_T_GEOMETRY, ARGS_NONE},
    {W_MULTILINESTRING, DB_T_GEOMETRY, ARGS_NONE},
    {W_MULTIPOLYGON, DB_T_GEOMETRY, ARGS_NONE},
    {W_GEOMETRYCOLLECTION, DB_T_GEOMETRY, ARGS_NONE},
    {W_GEOMCOLLECTION, DB_T_GEOMETRY, ARGS_NONE},
};

static const struct type_row *find_type(const struct sql_token *t)
{
    for (size_t i = 0; t->kind == T_WORD && i < ARRAY_LEN(types); i++) {
        if (types[i].word == t->word)
            return &types[i];
    }
    return NULL;
}

/* A number that is cut to what a length holds; whether it is too big says who knows the column. */
static int32_t number(struct sql_parser *p)
{
    uint64_t n = ps_uint(p, UINT64_MAX);

    return n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

static int16_t small_number(struct sql_parser *p)
{
    int32_t n = number(p);

    return (int16_t)MIN(n, INT16_MAX);
}

static int32_t length(struct sql_parser *p)
{
    int32_t n;

    ps_expect(p, T_OPEN);
    n = number(p);
    ps_expect(p, T_CLOSE);
    return n;
}

/* (m) or (m, d) */
static void decimal_args(struct sql_parser *p, struct db_type *t)
{
    if (ps_accept(p, T_OPEN)) {
        t->length = number(p);
        if (ps_accept(p, T_COMMA))
            t->decimals = small_number(p);
        ps_expect(p, T_CLOSE);
    }
    if (t->base == DB_T_DECIMAL) {
        t->length = t->length <= 0 ? 10 : t->length;
        t->decimals = t->decimals < 0 ? 0 : t->decimals;
    } else if (t->decimals < 0 && t->length >= 0) {
        /* FLOAT(p): bits that choose the type */
        if (t->base == DB_T_FLOAT && t->length > 24)
            t->base = DB_T_DOUBLE;
        t->length = -1;
    }
}

static void members(struct sql_parser *p, struct db_type *t)
{
    struct ps_vec vec = {0};

    ps_expect(p, T_OPEN);
    do {
        struct str s = p->tok.s;

        if (!ps_is(p, T_HEX) && !ps_is(p, T_BIT) && !ps_is(p, T_STRING))
            ps_fail(p);
        ps_next(p);
        *(struct str *)ps_add(p, &vec, sizeof(s)) = s;
    } while (ps_accept(p, T_COMMA));
    ps_expect(p, T_CLOSE);
    t->members = vec.v;
    t->n_members = vec.n;
}

/* VARYING, VARCHAR behind NATIONAL and NCHAR, PRECISION, LONG's second word. */
static void type_words(struct sql_parser *p, struct db_type *t, enum sql_word w)
{
    if (w == W_DOUBLE)
        (void)ps_accept_word(p, W_PRECISION);
    if (t->base == DB_T_CHAR &&
        (ps_accept_word(p, W_VARYING) ||
            (w == W_NCHAR && (ps_accept_word(p, W_VARCHAR) || ps_accept_word(p, W_VARCHARACTER)))))
        t->base = DB_T_VARCHAR;
}

static void type_args(struct sql_parser *p, struct db_type *t, enum args args)
{
    switch (args) {
    case ARGS_NONE:
        break;
    case ARGS_WIDTH:
        if (ps_is(p, T_OPEN))
            t->length = length(p);
        if (t->base == DB_T_BIT && t->length < 0)
            t->length = 1;
        if (t->base == DB_T_YEAR)
            t->length = -1;
        break;
    case ARGS_DECIMAL:
        decimal_args(p, t);
        break;
    case ARGS_FRACTION:
        t->decimals = 0;
        if (ps_accept(p, T_OPEN)) {
            t->decimals = small_number(p);
            ps_expect(p, T_CLOSE);
        }
        break;
    case ARGS_LENGTH:
        if (ps_is(p, T_OPEN))
            t->length = length(p);
        else if (t->base == DB_T_VARCHAR || t->base == DB_T_VARBINARY)
            ps_fail(p);
        else
            t->length = 1;
        break;
    case ARGS_SIZE:
        if (ps_is(p, T_OPEN))
            t->length = length(p);
        break;
    case ARGS_LIST:
        members(p, t);
        break;
    }
}

/* TEXT(n) and BLOB(n) are the smallest type that holds n. */
static void choose_size(struct db_type *t)
{
    const struct db_collation *c = db_charset_default(t->charset);
    int64_t n = t->length;
    enum db_base tiny = t->base == DB_T_TEXT ? DB_T_TINYTEXT : DB_T_TINYBLOB;

    if ((t->base != DB_T_TEXT && t->base != DB_T_BLOB) || n < 0)
        return;
    t->length = -1;
    if (n == 0)
        return;
    if (t->base == DB_T_TEXT)
        n *= c ? c->max_bytes : 4;
    if (n < 256)
        t->base = tiny;
    else if (n >= 1 << 24)
        t->base = (enum db_base)(tiny + 3);
    else if (n >= 1 << 16)
        t->base = (enum db_base)(tiny + 2);
}

static void number_words(struct sql_parser *p, struct db_type *t)
{
    for (;;) {
        if (ps_accept_word(p, W_UNSIGNED)) {
            t->is_unsigned = true;
        } else if (ps_accept_word(p, W_ZEROFILL)) {
            t->is_unsigned = true;
            t->zerofill = true;
        } else if (!ps_accept_word(p, W_SIGNED)) {
            return;
        }
    }
}

/* CHARACTER SET x, and its short forms; BINARY: the set's _bin collation. */
static void text_words(struct sql_parser *p, struct db_type *t)
{
    bool bin = false;

    for (;;) {
        if (ps_accept_charset(p))
            t->charset = ps_charset(p);
        else if (ps_accept_word(p, W_ASCII))
            t->charset = STR("latin1");
        else if (ps_accept_word(p, W_UNICODE))
            t->charset = STR("ucs2");
        else if (ps_accept_word(p, W_BINARY))
            bin = true;
        else
            break;
    }
    if (bin && t->charset.len)
        t->collation = arena_printf(p->arena, STR_F "_bin", STR_A(t->charset));
    else if (bin)
        t->collation = STR("_bin"); /* of whatever character set the table has */
}

/* Text types in the character set binary are the binary types. */
static void become_binary(struct db_type *t)
{
    if (!str_eq(t->charset, STR("binary")) || !db_base_is_text(t->base) || t->base == DB_T_ENUM ||
        t->base == DB_T_SET)
        return;
    t->base = (enum db_base)(t->base - DB_T_CHAR + DB_T_BINARY);
    t->charset = STR_NONE;
    t->collation = STR_NONE;
}

/* LONG, LONG VARCHAR, LONG CHAR VARYING, LONG VARBINARY */
static void long_type(struct sql_parser *p, struct db_type *t)
{
    t->base = DB_T_MEDIUMTEXT;
    if (ps_accept_word(p, W_VARBINARY))
        t->base = DB_T_MEDIUMBLOB;
    else if (ps_accept_word(p, W_CHAR) || ps_accept_word(p, W_CHARACTER))
        ps_expect_word(p, W_VARYING);
    else if (!ps_accept_word(p, W_VARCHAR))
        (void)ps_accept_word(p, W_VARCHARACTER);
}

/* Types that MariaDB alone has, in dumps of it: as the text that they are written as. */
static bool maria_type(const struct sql_token *tok, struct db_type *t)
{
    static const struct {
        struct str name;
        enum db_base base;
        int32_t length;
    } rows[] = {{STR("uuid"), DB_T_CHAR, 36}, {STR("inet6"), DB_T_VARCHAR, 39},
        {STR("inet4"), DB_T_VARCHAR, 15}};

    for (size_t i = 0; tok->kind == T_WORD && i < ARRAY_LEN(rows); i++) {
        if (!str_ieq(tok->s, rows[i].name))
            continue;
        t->base = rows[i].base;
        t->length = rows[i].length;
        t->charset = STR("ascii");
        return true;
    }
    return false;
}

static void plain_type(struct sql_parser *p, struct db_type *t, bool *serial)
{
    const struct type_row *row;
    enum sql_word w = p->tok.kind == T_WORD ? p->tok.word : W_NO_WORD;
    bool national = w == W_NCHAR || w == W_NVARCHAR || w == W_NATIONAL;

    if (national)
        t->charset = STR("utf8mb3");
    if (ps_accept_word(p, W_BOOL) || ps_accept_word(p, W_BOOLEAN)) {
        t->base = DB_T_TINYINT;
        t->length = 1;
    } else if (serial && ps_accept_word(p, W_SERIAL)) {
        t->base = DB_T_BIGINT;
        t->is_unsigned = true;
        *serial = true;
    } else if (ps_accept_word(p, W_LONG)) {
        long_type(p, t);
    } else if (maria_type(&p->tok, t)) {
        ps_next(p);
    } else if (ps_accept_word(p, W_NVARCHAR)) {
        t->base = DB_T_VARCHAR;
        type_args(p, t, ARGS_LENGTH);
    } else {
        if (ps_accept_word(p, W_NATIONAL) && !ps_is_word(p, W_CHAR) &&
            !ps_is_word(p, W_CHARACTER) && !ps_is_word(p, W_VARCHAR) &&
            !ps_is_word(p, W_VARCHARACTER))
            ps_fail(p);
        row = find_type(&p->tok);
        if (!row) {
            ps_fail(p);
            return;
        }
        t->base = row->base;
        ps_next(p);
        type_words(p, t, row->word);
        type_args(p, t, row->args);
    }
}

void ps_type(struct sql_parser *p, struct db_type *t, bool *serial)
{
    *t = (struct db_type){.base = DB_T_INT, .length = -1, .decimals = -1};
    plain_type(p, t, serial);
    if (db_base_is_number(t->base)) {
        number_words(p, t);
    } else if (db_base_is_text(t->base)) {
        if (t->base == DB_T_CHAR && ps_accept_word(p, W_BYTE))
            t->charset = STR("binary");
        else
            text_words(p, t);
        choose_size(t);
        become_binary(t);
    } else {
        choose_size(t);
    }
}

static void cast_char(struct sql_parser *p, struct db_type *t)
{
    t->base = DB_T_CHAR;
    if (ps_is_word(p, W_NCHAR))
        t->charset = STR("utf8mb3");
    ps_next(p);
    (void)ps_accept_word(p, W_VARYING);
    if (ps_is(p, T_OPEN))
        t->length = length(p);
    text_words(p, t);
    if (str_eq(t->charset, STR("binary")))
        become_binary(t);
}

void ps_cast_type(struct sql_parser *p, struct db_type *t)
{
    static const enum sql_word plain[] = {W_DATE, W_TIME, W_DATETIME, W_TIMESTAMP, W_DECIMAL, W_DEC,
        W_NUMERIC, W_FIXED, W_JSON, W_YEAR, W_FLOAT, W_DOUBLE, W_REAL};

    *t = (struct db_type){.base = DB_T_BIGINT, .length = -1, .decimals = -1};
    if (ps_is_word(p, W_SIGNED) || ps_is_word(p, W_UNSIGNED)) {
        t->is_unsigned = ps_is_word(p, W_UNSIGNED);
        ps_next(p);
        if (!ps_accept_word(p, W_INT))
            (void)ps_accept_word(p, W_INTEGER);
        return;
    }
    if (ps_accept_word(p, W_INT) || ps_accept_word(p, W_INTEGER)) {
        return;
    }
    if (ps_is_word(p, W_BINARY)) {
        ps_next(p);
        t->base = DB_T_BINARY;
        if (ps_is(p, T_OPEN))
            t->length = length(p);
        return;
    }
    if (ps_is_word(p, W_CHAR) || ps_is_word(p, W_CHARACTER) || ps_is_word(p, W_NCHAR) ||
        ps_is_word(p, W_VARCHAR)) {
        cast_char(p, t);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        if (ps_is_word(p, plain[i])) {
            plain_type(p, t, NULL);
            return;
        }
    }
    ps_fail(p);
}
