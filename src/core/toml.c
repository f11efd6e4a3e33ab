/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/toml.h"

#include "core/toml_scan.h"

/*
 * Who made a table decides what may still be added to it:
 *   IMPLICIT  [a.b] made a: [a] may follow once
 *   HEADER    [a]: neither another [a] nor dotted keys from outside
 *   DOTTED    a.b = 1 made a: more dotted keys and [x.a.sub], but no [x.a]
 *   INLINE    a = {...}: closed
 */
enum origin { IMPLICIT, HEADER, DOTTED, INLINE };

static int parse_value(struct toml_cursor *c, struct toml_value *out);

static size_t hash(struct str s)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.p[i]) * 16777619u;
    return h;
}

static struct toml_table *table_new(struct toml_cursor *c, enum origin origin)
{
    struct toml_table *t = arena_new(c->arena, sizeof(*t));

    t->origin = origin;
    return t;
}

static struct toml_entry *table_find(const struct toml_table *t, struct str key)
{
    struct toml_entry *e = t->nbuckets ? t->buckets[hash(key) & (t->nbuckets - 1)] : NULL;

    while (e && !str_eq(e->key, key))
        e = e->chain;
    return e;
}

static void table_grow(struct arena *a, struct toml_table *t)
{
    t->nbuckets = t->nbuckets ? t->nbuckets * 2 : 8;
    t->buckets = arena_new(a, t->nbuckets * sizeof(struct toml_entry *));
    for (struct toml_entry *e = t->first; e; e = e->next) {
        struct toml_entry **at = &t->buckets[hash(e->key) & (t->nbuckets - 1)];

        e->chain = *at;
        *at = e;
    }
}

/* A key as it was read, before it is looked up. */
struct key {
    struct str name;
    int line, col;
};

static struct toml_entry *table_add(
    struct toml_cursor *c, struct toml_table *t, const struct key *key)
{
    struct toml_entry *e = arena_new(c->arena, sizeof(*e)), **at;

    e->key = key->name;
    e->line = e->value.line = key->line;
    e->col = e->value.col = key->col;
    if (t->n >= t->nbuckets)
        table_grow(c->arena, t);
    at = &t->buckets[hash(e->key) & (t->nbuckets - 1)];
    e->chain = *at;
    *at = e;
    if (t->last)
        t->last->next = e;
    else
        t->first = e;
    t->last = e;
    t->n++;
    return e;
}

static struct toml_table *entry_make_table(
    struct toml_cursor *c, struct toml_entry *e, enum origin origin)
{
    e->value.kind = TOML_TABLE;
    e->value.table = table_new(c, origin);
    return e->value.table;
}

/* A new zeroed element. */
static struct toml_value *array_push(struct toml_cursor *c, struct toml_array *a)
{
    if (a->n == a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 4;
        struct toml_value *v = arena_new(c->arena, cap * sizeof(*v));

        if (a->n)
            memcpy(v, a->v, a->n * sizeof(*v));
        a->v = v;
        a->cap = cap;
    }
    return &a->v[a->n++];
}

static int fail_duplicate(struct toml_cursor *c, const struct key *key, int first)
{
    return err_set_at(c->err, ERR_INVAL, key->line, key->col,
        "\"" STR_F "\" is set twice (first in line %d)", STR_A(key->name), first);
}

static int fail_no_table(struct toml_cursor *c, const struct key *key, int first)
{
    return err_set_at(c->err, ERR_INVAL, key->line, key->col,
        "\"" STR_F "\" cannot be extended: line %d made it something else", STR_A(key->name),
        first);
}

static int parse_key_part(struct toml_cursor *c, struct key *out)
{
    size_t n = 0;

    out->line = c->line;
    out->col = toml_column(c);
    if (toml_peek(c, 0) == '"' || toml_peek(c, 0) == '\'')
        return toml_scan_string(c, false, &out->name);
    while (toml_is_bare(toml_peek(c, n)))
        n++;
    if (n == 0)
        return toml_fail_char(c, "a key is expected");
    out->name = arena_str(c->arena, str_n(c->text.p + c->pos, n));
    c->pos += n;
    return 0;
}

/* Spaces, then a dot with spaces around it? */
static bool take_dot(struct toml_cursor *c)
{
    toml_skip_blank(c);
    if (toml_peek(c, 0) != '.')
        return false;
    c->pos++;
    toml_skip_blank(c);
    return true;
}

/* The table under a key on the way of a header, made when missing. */
static int step_header(struct toml_cursor *c, struct toml_table **at, const struct key *key)
{
    struct toml_entry *e = table_find(*at, key->name);

    if (!e) {
        *at = entry_make_table(c, table_add(c, *at, key), IMPLICIT);
        return 0;
    }
    if (e->value.kind == TOML_TABLE && e->value.table->origin != INLINE) {
        *at = e->value.table;
        return 0;
    }
    if (e->value.kind == TOML_ARRAY && e->value.array->of_tables) {
        *at = e->value.array->v[e->value.array->n - 1].table;
        return 0;
    }
    return fail_no_table(c, key, e->line);
}

/* The same on the way of a dotted key, which may not enter what a header made. */
static int step_dotted(struct toml_cursor *c, struct toml_table **at, const struct key *key)
{
    struct toml_entry *e = table_find(*at, key->name);

    if (!e) {
        *at = entry_make_table(c, table_add(c, *at, key), DOTTED);
        return 0;
    }
    if (e->value.kind != TOML_TABLE || e->value.table->origin == INLINE ||
        e->value.table->origin == HEADER)
        return fail_no_table(c, key, e->line);
    e->value.table->origin = DOTTED;
    *at = e->value.table;
    return 0;
}

typedef int step_fn(struct toml_cursor *c, struct toml_table **at, const struct key *key);

/* Reads a.b.c: enters a and b, leaves c in *last. */
static int parse_path(
    struct toml_cursor *c, step_fn *step, struct toml_table **at, struct key *last)
{
    int rc = parse_key_part(c, last);

    for (int depth = 0; rc == 0 && take_dot(c); depth++) {
        if (depth == TOML_MAX_DEPTH)
            return toml_fail(c, "more than %d parts in a key", TOML_MAX_DEPTH);
        rc = step(c, at, last);
        if (rc == 0)
            rc = parse_key_part(c, last);
    }
    return rc;
}

static int parse_pair(struct toml_cursor *c, struct toml_table *t)
{
    struct toml_value value = {0};
    struct toml_entry *e;
    struct key key;
    int rc = parse_path(c, step_dotted, &t, &key);

    if (rc)
        return rc;
    if (toml_peek(c, 0) != '=')
        return toml_fail_char(c, "'=' is expected after a key");
    c->pos++;
    e = table_find(t, key.name);
    if (e)
        return fail_duplicate(c, &key, e->line);
    toml_skip_blank(c);
    rc = parse_value(c, &value);
    if (rc == 0)
        table_add(c, t, &key)->value = value;
    return rc;
}

/* Spaces, newlines and comments inside an array. */
static int skip_space(struct toml_cursor *c)
{
    int rc;

    do {
        toml_skip_blank(c);
        rc = toml_skip_comment(c);
    } while (rc == 0 && toml_take_newline(c));
    return rc;
}

static int parse_array(struct toml_cursor *c, struct toml_value *out)
{
    struct toml_array *a = arena_new(c->arena, sizeof(*a));
    int rc;

    c->pos++;
    for (;;) {
        rc = skip_space(c);
        if (rc)
            return rc;
        if (toml_peek(c, 0) == ']')
            break;
        rc = parse_value(c, array_push(c, a));
        if (rc == 0)
            rc = skip_space(c);
        if (rc)
            return rc;
        if (toml_peek(c, 0) == ']')
            break;
        if (toml_peek(c, 0) != ',')
            return toml_fail_char(c, "',' or ']' is expected in an array");
        c->pos++;
    }
    c->pos++;
    out->kind = TOML_ARRAY;
    out->array = a;
    return 0;
}

static int parse_inline(struct toml_cursor *c, struct toml_value *out)
{
    struct toml_table *t = table_new(c, INLINE);
    int rc;

    c->pos++;
    toml_skip_blank(c);
    while (toml_peek(c, 0) != '}' || t->n) {
        rc = parse_pair(c, t);
        if (rc)
            return rc;
        toml_skip_blank(c);
        if (toml_peek(c, 0) == '}')
            break;
        if (toml_peek(c, 0) != ',')
            return toml_fail_char(c, "',' or '}' is expected in an inline table");
        c->pos++;
        toml_skip_blank(c);
    }
    c->pos++;
    out->kind = TOML_TABLE;
    out->table = t;
    return 0;
}

static int parse_value(struct toml_cursor *c, struct toml_value *out)
{
    int rc;

    out->line = c->line;
    out->col = toml_column(c);
    if (c->depth == TOML_MAX_DEPTH)
        return toml_fail(c, "values are nested more than %d deep", TOML_MAX_DEPTH);
    c->depth++;
    switch (toml_peek(c, 0)) {
    case '"':
    case '\'':
        out->kind = TOML_STRING;
        rc = toml_scan_string(c, true, &out->s);
        break;
    case '[':
        rc = parse_array(c, out);
        break;
    case '{':
        rc = parse_inline(c, out);
        break;
    default:
        rc = toml_scan_plain(c, out);
        break;
    }
    c->depth--;
    return rc;
}

/* [[name]]: one more table of an array. */
static int open_element(struct toml_cursor *c, struct toml_table *parent, const struct key *key,
    struct toml_table **out)
{
    struct toml_entry *e = table_find(parent, key->name);
    struct toml_value *v;

    if (!e) {
        e = table_add(c, parent, key);
        e->value.kind = TOML_ARRAY;
        e->value.array = arena_new(c->arena, sizeof(*e->value.array));
        e->value.array->of_tables = true;
    }
    if (e->value.kind != TOML_ARRAY || !e->value.array->of_tables)
        return fail_no_table(c, key, e->line);
    v = array_push(c, e->value.array);
    v->kind = TOML_TABLE;
    v->line = key->line;
    v->col = key->col;
    *out = v->table = table_new(c, HEADER);
    return 0;
}

/* [name] */
static int open_table(struct toml_cursor *c, struct toml_table *parent, const struct key *key,
    struct toml_table **out)
{
    struct toml_entry *e = table_find(parent, key->name);

    if (!e) {
        *out = entry_make_table(c, table_add(c, parent, key), HEADER);
        return 0;
    }
    if (e->value.kind != TOML_TABLE)
        return fail_no_table(c, key, e->line);
    if (e->value.table->origin != IMPLICIT)
        return fail_duplicate(c, key, e->line);
    e->value.table->origin = HEADER;
    *out = e->value.table;
    return 0;
}

static int parse_header(struct toml_cursor *c, struct toml_table *root, struct toml_table **out)
{
    bool element = toml_peek(c, 1) == '[';
    struct toml_table *parent = root;
    struct key key;
    int rc;

    c->pos += element ? 2 : 1;
    toml_skip_blank(c);
    rc = parse_path(c, step_header, &parent, &key);
    if (rc)
        return rc;
    if (toml_peek(c, 0) != ']' || (element && toml_peek(c, 1) != ']'))
        return toml_fail_char(c, element ? "']]' is expected" : "']' is expected");
    c->pos += element ? 2 : 1;
    return element ? open_element(c, parent, &key, out) : open_table(c, parent, &key, out);
}

static int parse_line(struct toml_cursor *c, struct toml_table *root, struct toml_table **section)
{
    int rc = 0;

    toml_skip_blank(c);
    if (toml_peek(c, 0) == '[')
        rc = parse_header(c, root, section);
    else if (!toml_at_end(c) && toml_peek(c, 0) != '#' && toml_peek(c, 0) != '\n' &&
             !(toml_peek(c, 0) == '\r' && toml_peek(c, 1) == '\n'))
        rc = parse_pair(c, *section);
    if (rc)
        return rc;
    toml_skip_blank(c);
    rc = toml_skip_comment(c);
    if (rc == 0 && !toml_at_end(c) && !toml_take_newline(c))
        return toml_fail_char(c, "the end of the line is expected");
    return rc;
}

/* Finds the first byte that is not UTF-8, for the message. */
static int fail_utf8(struct toml_cursor *c)
{
    size_t start = 0, end = 0;

    /* The line with the first bad byte; lines before it are valid on their own. */
    for (;;) {
        ptrdiff_t nl = str_chr(str_sub(c->text, start, c->text.len), '\n');

        end = nl < 0 ? c->text.len : start + (size_t)nl + 1;
        if (!str_is_utf8(str_sub(c->text, start, end - start)) || end == c->text.len)
            break;
        start = end;
        c->line++;
    }
    c->line_start = c->col_pos = c->pos = start;
    while (c->pos < end) {
        size_t n = 1;

        while (n < 4 && !str_is_utf8(str_sub(c->text, c->pos, n)))
            n++;
        if (!str_is_utf8(str_sub(c->text, c->pos, n)))
            break;
        c->pos += n;
    }
    return toml_fail(c, "the byte 0x%02x is not UTF-8 text", toml_peek(c, 0));
}

static int check_text(struct toml_cursor *c)
{
    if (c->text.len > TOML_MAX_TEXT)
        return err_set(c->err, ERR_TOOBIG, "larger than %d bytes", TOML_MAX_TEXT);
    if (!str_is_utf8(c->text))
        return fail_utf8(c);
    if (str_starts(c->text, STR("\xef\xbb\xbf")))
        c->pos = c->line_start = c->col_pos = 3;
    return 0;
}

int toml_parse(struct arena *a, struct str text, struct toml_table **out, struct err *err)
{
    struct toml_cursor c;
    struct toml_table *root, *section;
    int rc;

    toml_cursor_init(&c, a, text, err);
    rc = check_text(&c);
    root = section = table_new(&c, HEADER);
    while (rc == 0 && !toml_at_end(&c))
        rc = parse_line(&c, root, &section);
    if (rc == 0)
        *out = root;
    return rc;
}

int toml_parse_value(struct arena *a, struct str text, struct toml_value *out, struct err *err)
{
    struct toml_value v = {0};
    struct toml_cursor c;
    int rc;

    toml_cursor_init(&c, a, text, err);
    rc = check_text(&c);
    if (rc == 0) {
        toml_skip_blank(&c);
        rc = parse_value(&c, &v);
    }
    if (rc)
        return rc;
    toml_skip_blank(&c);
    if (!toml_at_end(&c))
        return toml_fail_char(&c, "the end of the value is expected");
    *out = v;
    return 0;
}

const struct toml_value *toml_get(const struct toml_table *t, struct str key)
{
    const struct toml_entry *e = table_find(t, key);

    return e ? &e->value : NULL;
}

const char *toml_kind_name(enum toml_kind kind)
{
    static const char *const names[] = {
        "string", "integer", "float", "boolean", "date", "array", "table"};

    return names[kind];
}
