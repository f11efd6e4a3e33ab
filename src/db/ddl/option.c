/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

static const struct {
    struct str said;
    struct str name;
} engines[] = {
    {STR("InnoDB"), STR("InnoDB")}, {STR("MyISAM"), STR("MyISAM")}, {STR("MEMORY"), STR("MEMORY")},
    {STR("HEAP"), STR("MEMORY")}, {STR("CSV"), STR("CSV")}, {STR("ARCHIVE"), STR("ARCHIVE")},
    {STR("BLACKHOLE"), STR("BLACKHOLE")}, {STR("MERGE"), STR("MRG_MYISAM")},
    {STR("MRG_MYISAM"), STR("MRG_MYISAM")}, {STR("Aria"), STR("InnoDB")}, /* of dumps by MariaDB */
};

/* Options that mean nothing here and are printed again. */
static const struct str kept[] = {STR("MIN_ROWS"), STR("MAX_ROWS"), STR("AVG_ROW_LENGTH"),
    STR("PACK_KEYS"), STR("STATS_PERSISTENT"), STR("STATS_AUTO_RECALC"), STR("STATS_SAMPLE_PAGES"),
    STR("CHECKSUM"), STR("DELAY_KEY_WRITE"), STR("KEY_BLOCK_SIZE"), STR("INSERT_METHOD")};

static int set_engine(struct build *b, struct str value)
{
    for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++) {
        if (str_ieq(engines[i].said, value)) {
            b->t.engine = engines[i].name;
            return 0;
        }
    }
    if (b->env && (b->env->mode & DB_MODE_NO_ENGINE_SUBSTITUTION))
        return db_error_set(b->e, DB_E_UNKNOWN_ENGINE, arena_str(b->arena, value).p);
    b->t.engine = STR("InnoDB");
    return 0;
}

static bool is_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.p[i]);

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
    }
    return s.len > 0;
}

/* "A=1 B=2" with the option set; a value of 0 or DEFAULT takes it out where that is its default. */
static void keep_option(struct build *b, struct str name, struct str value)
{
    struct str rest = b->t.options, part;
    struct buf text = {0};
    bool gone = str_ieq(value, STR("DEFAULT")) ||
                (str_eq(value, STR("0")) && !str_istarts(name, STR("STATS_")) &&
                    !str_eq(name, STR("PACK_KEYS")));

    while (rest.len > 0 && str_split(&rest, ' ', &part)) {
        if (str_istarts(part, name) && part.len > name.len && part.p[name.len] == '=')
            continue;
        if (text.len > 0)
            buf_add_char(&text, ' ');
        buf_add_str(&text, part);
    }
    if (!gone)
        buf_printf(&text, "%s" STR_F "=" STR_F, text.len > 0 ? " " : "", STR_A(name), STR_A(value));
    b->t.options = arena_str(b->arena, buf_str(&text));
    buf_fini(&text);
}

static struct str upper(struct arena *arena, struct str s)
{
    char *p = arena_bytes(arena, s.len + 1);

    for (size_t i = 0; i < s.len; i++)
        p[i] = str_upper_char(s.p[i]);
    p[s.len] = '\0';
    return str_n(p, s.len);
}

static int set_row_format(struct build *b, struct str value)
{
    static const struct str formats[] = {STR("DEFAULT"), STR("DYNAMIC"), STR("FIXED"),
        STR("COMPRESSED"), STR("REDUNDANT"), STR("COMPACT"), STR("PAGE")};

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (str_ieq(formats[i], value)) {
            b->t.row_format = i == 0 ? STR_NONE : upper(b->arena, value);
            return 0;
        }
    }
    return db_error_set(b->e, DB_E_SYNTAX);
}

static int set_option(struct build *b, const struct sql_option *o)
{
    uint64_t n;

    if (str_ieq(o->name, STR("ENGINE")) || str_ieq(o->name, STR("TYPE")))
        return set_engine(b, o->value);
    if (str_ieq(o->name, STR("ROW_FORMAT")))
        return set_row_format(b, o->value);
    if (str_ieq(o->name, STR("AUTO_INCREMENT"))) {
        if (!str_u64(o->value, &n))
            b->auto_increment = n;
        return 0;
    }
    if (str_ieq(o->name, STR("COMMENT"))) {
        if (o->value.len > 8192)
            return db_error_set(
                b->e, DB_E_TOO_LONG_TABLE_COMMENT, arena_str(b->arena, b->t.name).p, 2048UL);
        b->t.comment = arena_str(b->arena, o->value);
        return 0;
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        if (str_ieq(o->name, kept[i]) && is_word(o->value))
            keep_option(b, kept[i], o->value);
    }
    return 0;
}

int build_options(struct build *b, const struct sql_option *options, uint32_t n)
{
    struct str charset = STR_NONE, collation = STR_NONE;
    int r;

    for (uint32_t i = 0; i < n; i++) {
        if (str_ieq(options[i].name, STR("CHARSET")))
            charset = options[i].value;
        else if (str_ieq(options[i].name, STR("COLLATE")))
            collation = options[i].value;
        else if ((r = set_option(b, &options[i])))
            return r;
    }
    if (charset.len == 0 && collation.len == 0)
        return 0;
    if ((r = build_charset(b, &charset, &collation, b->defaults->charset, b->defaults->collation)))
        return r;
    b->t.charset = charset;
    b->t.collation = collation;
    return 0;
}
