/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/conf_value.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/json.h"

enum { SHOW_MAX = 60 };

static const uint64_t mega = 1024 * 1024;

/* Leading digits of s; *unit is what follows them. */
static int split_number(struct str s, uint64_t *n, struct str *unit)
{
    size_t len = 0;

    while (len < s.len && s.p[len] >= '0' && s.p[len] <= '9')
        len++;
    *unit = str_sub(s, len, s.len);
    return str_u64(str_sub(s, 0, len), n);
}

struct unit {
    const char *name;
    uint64_t factor;
};

static int scale(
    uint64_t n, struct str unit, const struct unit *units, size_t nunits, uint64_t *out)
{
    for (size_t i = 0; i < nunits; i++) {
        if (!str_ieq(unit, str_c(units[i].name)))
            continue;
        return __builtin_mul_overflow(n, units[i].factor, out) ? ERR_RANGE : 0;
    }
    return ERR_INVAL;
}

int conf_parse_size(struct str s, uint64_t *bytes)
{
    static const struct unit units[] = {{"", 1}, {"B", 1}, {"K", 1 << 10}, {"KB", 1 << 10},
        {"KiB", 1 << 10}, {"M", 1 << 20}, {"MB", 1 << 20}, {"MiB", 1 << 20}, {"G", 1 << 30},
        {"GB", 1 << 30}, {"GiB", 1 << 30}, {"T", UINT64_C(1) << 40}, {"TB", UINT64_C(1) << 40},
        {"TiB", UINT64_C(1) << 40}};
    uint64_t n, v;
    struct str unit;
    int rc = split_number(s, &n, &unit);

    if (rc == 0)
        rc = scale(n, unit, units, ARRAY_LEN(units), &v);
    if (rc == 0)
        *bytes = v;
    return rc;
}

int conf_parse_duration(struct str s, bool bare_ms, uint64_t *ms)
{
    static const struct unit units[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    uint64_t n, v;
    struct str unit;
    int rc = split_number(s, &n, &unit);

    if (rc == 0 && unit.len == 0)
        unit = bare_ms ? STR("ms") : STR("s");
    if (rc == 0)
        rc = scale(n, unit, units, ARRAY_LEN(units), &v);
    if (rc == 0)
        *ms = v;
    return rc;
}

static int check_range(const struct conf_row *row, int64_t v, const char *unit, struct err *why)
{
    if (row->min == 0 && row->max == 0)
        return 0;
    if (v < row->min && row->min == 0)
        return err_set(why, ERR_RANGE, "must not be negative");
    if (v < row->min)
        return err_set(why, ERR_RANGE, "must be at least %lld%s", (long long)row->min, unit);
    if (v > row->max)
        return err_set(why, ERR_RANGE, "must be at most %lld%s", (long long)row->max, unit);
    return 0;
}

static bool is_auto(const struct toml_value *v)
{
    return v->kind == TOML_STRING && str_eq(v->s, STR("auto"));
}

static int set_bool(const struct toml_value *v, void *field, struct err *why)
{
    if (v->kind != TOML_BOOL)
        return err_set(why, ERR_INVAL, "must be true or false");
    *(bool *)field = v->b;
    return 0;
}

static int set_tri(const struct toml_value *v, void *field, struct err *why)
{
    if (is_auto(v))
        *(int *)field = -1;
    else if (v->kind == TOML_BOOL)
        *(int *)field = v->b;
    else
        return err_set(why, ERR_INVAL, "must be true, false or \"auto\"");
    return 0;
}

static int set_int(
    const struct conf_row *row, const struct toml_value *v, int64_t *field, struct err *why)
{
    int rc;

    if (!row->def && is_auto(v)) {
        *field = CONF_AUTO;
        return 0;
    }
    if (v->kind != TOML_INT)
        return err_set(why, ERR_INVAL, "must be a whole number");
    rc = check_range(row, v->i, "", why);
    if (rc == 0)
        *field = v->i;
    return rc;
}

static int set_mb(
    const struct conf_row *row, const struct toml_value *v, int64_t *field, struct err *why)
{
    struct toml_value number = {.kind = TOML_INT};
    uint64_t bytes;

    if (v->kind != TOML_STRING || is_auto(v))
        return set_int(row, v, field, why);
    if (str_i64(v->s, &number.i) != 0) {
        if (conf_parse_size(v->s, &bytes) != 0 || bytes % mega != 0 || bytes / mega > INT32_MAX)
            return err_set(why, ERR_INVAL, "must be megabytes, as in 128 or \"128M\"");
        number.i = (int64_t)(bytes / mega);
    }
    return set_int(row, &number, field, why);
}

static int set_size(
    const struct conf_row *row, const struct toml_value *v, uint64_t *field, struct err *why)
{
    uint64_t bytes;
    int rc;

    if (v->kind == TOML_INT && v->i < 0)
        return err_set(why, ERR_RANGE, "must not be negative");
    if (v->kind == TOML_INT)
        bytes = (uint64_t)v->i;
    else if (v->kind != TOML_STRING)
        return err_set(why, ERR_INVAL, "must be a size, as in 1048576 or \"1MB\"");
    else if (str_starts(v->s, STR("-")))
        return err_set(why, ERR_RANGE, "must not be negative");
    else if ((rc = conf_parse_size(v->s, &bytes)) == ERR_RANGE)
        return err_set(why, ERR_RANGE, "is too large");
    else if (rc)
        return err_set(why, ERR_INVAL, "must be a size, as in 1048576 or \"1MB\"");
    if (bytes > INT64_MAX)
        return err_set(why, ERR_RANGE, "is too large");
    rc = check_range(row, (int64_t)bytes, " bytes", why);
    if (rc == 0)
        *field = bytes;
    return rc;
}

static int set_duration(
    const struct conf_row *row, const struct toml_value *v, uint64_t *field, struct err *why)
{
    const uint64_t bare = row->flags & CONF_MS ? 1 : 1000;
    const char *form = row->flags & CONF_MS ? "must be a time, as in 500 (milliseconds) or \"2s\""
                                            : "must be a time, as in 30 (seconds) or \"1500ms\"";
    uint64_t ms;
    int rc = 0;

    if ((v->kind == TOML_INT && v->i < 0) || (v->kind == TOML_FLOAT && v->f < 0) ||
        (v->kind == TOML_STRING && str_starts(v->s, STR("-"))))
        return err_set(why, ERR_RANGE, "must not be negative");
    if (v->kind == TOML_INT)
        rc = __builtin_mul_overflow((uint64_t)v->i, bare, &ms) ? ERR_RANGE : 0;
    else if (v->kind == TOML_FLOAT && v->f * (double)bare < 9e15)
        ms = (uint64_t)(v->f * (double)bare + 0.5);
    else if (v->kind == TOML_STRING)
        rc = conf_parse_duration(v->s, row->flags & CONF_MS, &ms);
    else
        rc = ERR_INVAL;
    if (rc == ERR_INVAL)
        return err_set(why, ERR_INVAL, "%s", form);
    if (rc || ms > INT64_MAX)
        return err_set(why, ERR_RANGE, "is too large");
    rc = check_range(row, (int64_t)ms, " ms", why);
    if (rc == 0)
        *field = ms;
    return rc;
}

/* "128M", "1024", "-1": what PHP reads as a quantity. */
static bool is_php_size(struct str s)
{
    uint64_t n;
    struct str unit;

    if (str_eq(s, STR("-1")))
        return true;
    if (split_number(s, &n, &unit) != 0)
        return false;
    return unit.len == 0 || (unit.len == 1 && strchr("kKmMgG", unit.p[0]) != NULL);
}

/* Strings become C strings here, and those end at a NUL. */
static int check_text(struct str s, struct err *why)
{
    if (s.len && memchr(s.p, 0, s.len))
        return err_set(why, ERR_INVAL, "must not hold a NUL character");
    return 0;
}

static int set_string(const struct conf_row *row, const struct toml_value *v, const char **field,
    struct arena *a, struct err *why)
{
    struct str s = v->s;
    bool php_size = row->flags & CONF_PHP_SIZE;
    int rc;

    if (php_size && is_auto(v)) {
        *field = NULL;
        return 0;
    }
    if (php_size && v->kind == TOML_INT)
        s = arena_printf(a, "%lld", (long long)v->i);
    else if (v->kind != TOML_STRING)
        return err_set(why, ERR_INVAL, "must be a string in quotes");
    if (php_size && !is_php_size(s))
        return err_set(why, ERR_INVAL, "must be a size as PHP writes it, as in \"128M\" or -1");
    if ((row->flags & CONF_NOT_EMPTY) && s.len == 0)
        return err_set(why, ERR_INVAL, "must not be empty");
    rc = check_text(s, why);
    if (rc == 0)
        *field = arena_str(a, s).p;
    return rc;
}

static int set_enum(
    const struct conf_row *row, const struct toml_value *v, int *field, struct err *why)
{
    struct str rest = str_c(row->names), name, want = v->s;
    struct buf list = {0};

    /* Without quotes, off and on are what people mean by false and true. */
    if (v->kind == TOML_BOOL && str_eq(rest, STR("off|on"))) {
        *field = v->b;
        return 0;
    }
    for (int i = 0; str_split(&rest, '|', &name); i++) {
        if (v->kind == TOML_STRING && name.len && str_eq(name, want)) {
            buf_fini(&list);
            *field = i;
            return 0;
        }
        if (name.len)
            buf_printf(&list, "%s\"" STR_F "\"", list.len ? ", " : "", STR_A(name));
    }
    err_set(why, ERR_INVAL, "must be one of %s", buf_cstr(&list));
    buf_fini(&list);
    return ERR_INVAL;
}

static int set_float(
    const struct conf_row *row, const struct toml_value *v, double *field, struct err *why)
{
    double d;

    if (v->kind == TOML_INT)
        d = (double)v->i;
    else if (v->kind == TOML_FLOAT && v->f - v->f == 0)
        d = v->f;
    else
        return err_set(why, ERR_INVAL, "must be a number");
    if ((row->min || row->max) && (d < (double)row->min || d > (double)row->max))
        return err_set(
            why, ERR_RANGE, "must be from %lld to %lld", (long long)row->min, (long long)row->max);
    *field = d;
    return 0;
}

static int set_list(const struct conf_row *row, const struct toml_value *v, struct conf_list *field,
    struct arena *a, struct err *why)
{
    struct conf_list list = {0};

    if (v->kind != TOML_ARRAY)
        return err_set(why, ERR_INVAL, "must be a list of strings, as in [\"a\", \"b\"]");
    if ((row->flags & CONF_NOT_EMPTY) && v->array->n == 0)
        return err_set(why, ERR_INVAL, "must not be empty");
    list.v = arena_new(a, (v->array->n + 1) * sizeof(char *));
    for (size_t i = 0; i < v->array->n; i++) {
        const struct toml_value *item = &v->array->v[i];

        if (item->kind != TOML_STRING)
            return err_set(
                why, ERR_INVAL, "must be a list of strings; item %zu is no string", i + 1);
        if (check_text(item->s, why) != 0)
            return ERR_INVAL;
        list.v[list.n++] = arena_str(a, item->s).p;
    }
    *field = list;
    return 0;
}

/* The second half of a pair: text, or a number or boolean as PHP's ini writes it. */
static int pair_text(const struct toml_value *v, struct arena *a, const char **out, struct err *why)
{
    if (v->kind == TOML_STRING && check_text(v->s, why) == 0)
        *out = arena_str(a, v->s).p;
    else if (v->kind == TOML_INT)
        *out = arena_printf(a, "%lld", (long long)v->i).p;
    else if (v->kind == TOML_FLOAT)
        *out = arena_printf(a, "%.15g", v->f).p;
    else if (v->kind == TOML_BOOL)
        *out = v->b ? "1" : "0";
    else
        return err_set(why, ERR_INVAL, "must be pairs of strings, as in [[\"name\", \"value\"]]");
    return 0;
}

static int set_pair(struct conf_pairs *pairs, struct str key, const struct toml_value *v,
    struct arena *a, struct err *why)
{
    struct conf_pair *p = &pairs->v[pairs->n];

    if (key.len == 0)
        return err_set(why, ERR_INVAL, "a name in a pair must not be empty");
    if (check_text(key, why) != 0)
        return ERR_INVAL;
    p->key = arena_str(a, key).p;
    pairs->n++;
    return pair_text(v, a, &p->value, why);
}

static size_t count_leaves(const struct toml_table *t)
{
    size_t n = 0;

    for (const struct toml_entry *e = t->first; e; e = e->next)
        n += e->value.kind == TOML_TABLE ? count_leaves(e->value.table) : 1;
    return n;
}

/* `opcache.enable = "1"` is a table in TOML, and the setting of that name here. */
static int set_table(struct conf_pairs *pairs, struct str prefix, const struct toml_table *t,
    struct arena *a, struct err *why)
{
    int rc = 0;

    for (const struct toml_entry *e = t->first; e && rc == 0; e = e->next) {
        struct str key = e->key;

        if (prefix.len)
            key = arena_printf(a, STR_F "." STR_F, STR_A(prefix), STR_A(key));
        if (e->value.kind == TOML_TABLE)
            rc = set_table(pairs, key, e->value.table, a, why);
        else
            rc = set_pair(pairs, key, &e->value, a, why);
    }
    return rc;
}

static int set_pairs(
    const struct toml_value *v, struct conf_pairs *field, struct arena *a, struct err *why)
{
    struct conf_pairs pairs = {0};
    int rc = 0;

    if (v->kind == TOML_TABLE) {
        pairs.v = arena_new(a, (count_leaves(v->table) + 1) * sizeof(*pairs.v));
        rc = set_table(&pairs, STR_NONE, v->table, a, why);
    } else if (v->kind == TOML_ARRAY) {
        pairs.v = arena_new(a, (v->array->n + 1) * sizeof(*pairs.v));
        for (size_t i = 0; i < v->array->n && rc == 0; i++) {
            const struct toml_value *item = &v->array->v[i];

            if (item->kind != TOML_ARRAY || item->array->n != 2 ||
                item->array->v[0].kind != TOML_STRING)
                return err_set(why, ERR_INVAL,
                    "must be pairs of strings, as in [[\"name\", \"value\"]]; item %zu is not one",
                    i + 1);
            rc = set_pair(&pairs, item->array->v[0].s, &item->array->v[1], a, why);
        }
    } else {
        rc = err_set(why, ERR_INVAL, "must be pairs of strings, as in [[\"name\", \"value\"]]");
    }
    if (rc == 0)
        *field = pairs;
    return rc;
}

static int set_by_kind(const struct conf_row *row, const struct toml_value *v, void *field,
    struct arena *a, struct err *why)
{
    switch (row->kind) {
    case CONF_BOOL:
        return set_bool(v, field, why);
    case CONF_TRI:
        return set_tri(v, field, why);
    case CONF_INT:
        return set_int(row, v, field, why);
    case CONF_MB:
        return set_mb(row, v, field, why);
    case CONF_SIZE:
        return set_size(row, v, field, why);
    case CONF_DURATION:
        return set_duration(row, v, field, why);
    case CONF_STRING:
        return set_string(row, v, field, a, why);
    case CONF_ENUM:
        return set_enum(row, v, field, why);
    case CONF_FLOAT:
        return set_float(row, v, field, why);
    case CONF_LIST:
        return set_list(row, v, field, a, why);
    case CONF_PAIRS:
        return set_pairs(v, field, a, why);
    case CONF_TABLES:
        return conf_tables_set(row, v, field, a, why);
    }
    return ERR_INVAL;
}

int conf_value_set(const struct conf_row *row, const struct toml_value *v, void *field,
    struct arena *a, struct err *why)
{
    int rc = set_by_kind(row, v, field, a, why);

    if (rc == 0 && row->check)
        rc = row->check(row, field, why);
    return rc;
}

void conf_value_unset(const struct conf_row *row, void *field)
{
    switch (row->kind) {
    case CONF_TRI:
        *(int *)field = -1;
        break;
    case CONF_INT:
    case CONF_MB:
        *(int64_t *)field = CONF_AUTO;
        break;
    default: /* zeroed memory is right for the rest */
        break;
    }
}

/* JSON from a variable as the TOML that it stands for; only what lists and pairs need. */
static int from_json(
    const struct json_value *j, struct arena *a, struct toml_value *out, struct err *why)
{
    struct toml_array *array;
    size_t i = 0;

    switch (j->kind) {
    case JSON_STRING:
        out->kind = TOML_STRING;
        out->s = j->s;
        return 0;
    case JSON_BOOL:
        out->kind = TOML_BOOL;
        out->b = j->b;
        return 0;
    case JSON_NUMBER:
        out->kind = j->is_int ? TOML_INT : TOML_FLOAT;
        if (j->is_int)
            out->i = j->i;
        else
            out->f = j->number;
        return 0;
    case JSON_NULL:
        return err_set(why, ERR_INVAL, "null is not a value here");
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    array = arena_new(a, sizeof(*array));
    array->v = arena_new(a, (j->n + 1) * sizeof(*array->v));
    array->n = j->n;
    for (const struct json_value *child = j->first; child; child = child->next, i++) {
        struct toml_value *at = &array->v[i];
        int rc;

        /* An object's member is the pair [key, value]. */
        if (j->kind == JSON_OBJECT) {
            struct toml_array *pair = arena_new(a, sizeof(*pair));

            pair->v = arena_new(a, 2 * sizeof(*pair->v));
            pair->n = 2;
            pair->v[0] = (struct toml_value){.kind = TOML_STRING, .s = child->key};
            *at = (struct toml_value){.kind = TOML_ARRAY, .array = pair};
            at = &pair->v[1];
        }
        rc = from_json(child, a, at, why);
        if (rc)
            return rc;
    }
    out->kind = TOML_ARRAY;
    out->array = array;
    return 0;
}

static int read_json(struct str text, struct arena *a, struct toml_value *out, struct err *why)
{
    struct json_value *j;
    struct err inner;

    if (json_parse(a, text, &j, &inner) != 0)
        return err_set(
            why, ERR_INVAL, "must be a JSON list, as in [\"a\", \"b\"] (%s)", inner.text);
    return from_json(j, a, out, why);
}

int conf_value_read(const struct conf_row *row, struct str text, struct arena *a,
    struct toml_value *out, struct err *why)
{
    struct toml_value v = {.kind = TOML_STRING, .s = text};
    int rc = 0;

    if (!str_is_utf8(text))
        return err_set(why, ERR_INVAL, "is not UTF-8 text");
    if (row->kind == CONF_LIST || row->kind == CONF_PAIRS || row->kind == CONF_TABLES) {
        rc = read_json(text, a, &v, why);
    } else if (row->kind != CONF_STRING &&
               (str_eq(text, STR("true")) || str_eq(text, STR("false")))) {
        v.kind = TOML_BOOL;
        v.b = text.p[0] == 't';
    } else if (row->kind == CONF_INT || row->kind == CONF_FLOAT) {
        /* What is no number stays a string, which the kind then refuses. */
        struct toml_value number;

        if (toml_parse_value(a, text, &number, NULL) == 0 &&
            (number.kind == TOML_INT || number.kind == TOML_FLOAT))
            v = number;
    }
    if (rc == 0)
        *out = v;
    return rc;
}

static void format_duration(const struct conf_row *row, uint64_t ms, struct buf *out)
{
    if (row->flags & CONF_MS)
        buf_add_u64(out, ms);
    else if (ms % 1000 == 0)
        buf_add_u64(out, ms / 1000);
    else
        buf_printf(out, "\"%llums\"", (unsigned long long)ms);
}

static void format_list(const struct conf_list *list, struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i)
            buf_add_lit(out, ", ");
        buf_add_json(out, str_c(list->v[i]));
    }
    buf_add_char(out, ']');
}

static void format_pairs(const struct conf_pairs *pairs, struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < pairs->n; i++) {
        buf_add_str(out, i ? STR(", [") : STR("["));
        buf_add_json(out, str_c(pairs->v[i].key));
        buf_add_lit(out, ", ");
        buf_add_json(out, str_c(pairs->v[i].value));
        buf_add_char(out, ']');
    }
    buf_add_char(out, ']');
}

static bool format_enum(const struct conf_row *row, int v, struct buf *out)
{
    struct str rest = str_c(row->names), name = STR_NONE;

    for (int i = 0; i <= v; i++) {
        if (!str_split(&rest, '|', &name))
            return false;
    }
    if (name.len == 0)
        return false;
    buf_add_json(out, name);
    return true;
}

static bool format_int(int64_t v, struct buf *out)
{
    if (v == CONF_AUTO)
        return false;
    buf_printf(out, "%lld", (long long)v);
    return true;
}

bool conf_value_format(const struct conf_row *row, const void *field, struct buf *out)
{
    const char *s;

    switch (row->kind) {
    case CONF_BOOL:
        buf_add_str(out, *(const bool *)field ? STR("true") : STR("false"));
        return true;
    case CONF_TRI:
        if (*(const int *)field < 0)
            return false;
        buf_add_str(out, *(const int *)field ? STR("true") : STR("false"));
        return true;
    case CONF_INT:
    case CONF_MB:
        return format_int(*(const int64_t *)field, out);
    case CONF_SIZE:
        buf_add_u64(out, *(const uint64_t *)field);
        return true;
    case CONF_DURATION:
        format_duration(row, *(const uint64_t *)field, out);
        return true;
    case CONF_STRING:
        s = *(const char *const *)field;
        if (s)
            buf_add_json(out, str_c(s));
        return s != NULL;
    case CONF_ENUM:
        return format_enum(row, *(const int *)field, out);
    case CONF_FLOAT:
        buf_printf(out, "%.17g", *(const double *)field);
        return true;
    case CONF_LIST:
        format_list(field, out);
        return true;
    case CONF_PAIRS:
        format_pairs(field, out);
        return true;
    case CONF_TABLES:
        conf_tables_format(row, field, false, out);
        return true;
    }
    return false;
}

void conf_value_show(const struct toml_value *v, struct buf *out)
{
    switch (v->kind) {
    case TOML_STRING:
        buf_add_json(out, str_sub(v->s, 0, SHOW_MAX));
        break;
    case TOML_DATETIME:
        buf_add_str(out, v->s);
        break;
    case TOML_INT:
        buf_printf(out, "%lld", (long long)v->i);
        break;
    case TOML_FLOAT:
        buf_printf(out, "%.15g", v->f);
        break;
    case TOML_BOOL:
        buf_add_str(out, v->b ? STR("true") : STR("false"));
        break;
    case TOML_ARRAY:
        buf_add_lit(out, "[...]");
        break;
    case TOML_TABLE:
        buf_add_lit(out, "{...}");
        break;
    }
}
