/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/conf.h"

#include "base/mem.h"
#include "core/conf_value.h"
#include "core/toml.h"
#include "platform/fs.h"

enum { FILE_MAX = 1 << 20, KEY_MAX = 256 };

static const char not_available[] = "not available in this version";

static struct toml_value row_default(const struct conf *c, const struct conf_row *row)
{
    struct toml_value v = {0};
    struct err err;
    int rc = toml_parse_value(c->arena, str_c(row->def), &v, &err);

    /* A table whose defaults do not parse is our bug, and the first start of any build shows it. */
    ENSURE(rc == 0);
    return v;
}

void conf_init(struct conf *c, const struct conf_table *table, void *base, struct arena *arena)
{
    *c = (struct conf){.table = table, .arena = arena, .base = base};
    c->marks = arena_new(arena, (table->nrows + 1) * sizeof(*c->marks));
    for (size_t i = 0; i < table->nrows; i++) {
        const struct conf_row *row = &table->rows[i];
        struct toml_value v;
        struct err err;

        if (row->alias)
            continue;
        conf_value_unset(row, conf_field(c, row));
        if (!row->def)
            continue;
        v = row_default(c, row);
        ENSURE(conf_value_set(row, &v, conf_field(c, row), arena, &err) == 0);
    }
}

static ptrdiff_t find_row(const struct conf_table *t, struct str key)
{
    for (size_t i = 0; i < t->nrows; i++) {
        if (str_eq(key, str_c(t->rows[i].key)))
            return (ptrdiff_t)i;
    }
    return -1;
}

int conf_find(const struct conf_table *t, struct str key)
{
    ptrdiff_t i = find_row(t, key);

    if (i >= 0 && t->rows[i].alias)
        i = find_row(t, str_c(t->rows[i].alias));
    return (int)i;
}

struct conf_mark conf_mark_of(const struct conf *c, const char *key)
{
    int i = conf_find(c->table, str_c(key));

    return i < 0 ? (struct conf_mark){0} : c->marks[i];
}

const char *conf_source_name(enum conf_source s)
{
    static const char *const names[] = {"default", "file", "environment", "command line"};

    return names[s];
}

/* "db." stands for "db" and everything below it; other entries for themselves. */
static bool refused_matches(const char *entry, struct str key)
{
    struct str e = str_c(entry);

    if (!str_ends(e, STR(".")))
        return str_eq(e, key);
    return str_starts(key, e) || str_eq(key, str_sub(e, 0, e.len - 1));
}

static const struct conf_refused *find_refused(const struct conf_table *t, struct str key)
{
    for (size_t i = 0; i < t->nrefused; i++) {
        if (refused_matches(t->refused[i].key, key))
            return &t->refused[i];
    }
    return NULL;
}

static struct str last_part(struct str key)
{
    ptrdiff_t dot = str_rchr(key, '.');

    return str_sub(key, (size_t)(dot + 1), key.len);
}

const char *conf_suggest(const struct conf_table *t, struct str key)
{
    const char *best = NULL;
    int limit = (int)MIN(MAX(key.len / 4, (size_t)1), (size_t)4) + 1;

    for (size_t i = 0; i < t->nrows; i++) {
        int d = str_distance(key, str_c(t->rows[i].key));

        if (d < limit) {
            limit = d;
            best = t->rows[i].key;
        }
    }
    /* The right name in the wrong section. */
    for (size_t i = 0; i < t->nrows && !best; i++) {
        if (str_eq(last_part(key), last_part(str_c(t->rows[i].key))))
            best = t->rows[i].key;
    }
    return best;
}

/* Is the key the name of a section, that is, do rows or refused keys lie below it? */
static bool is_section(const struct conf_table *t, struct str key)
{
    for (size_t i = 0; i < t->nrows + t->nrefused; i++) {
        struct str k = str_c(i < t->nrows ? t->rows[i].key : t->refused[i - t->nrows].key);

        if (str_starts(k, key) && k.len > key.len + 1 && k.p[key.len] == '.')
            return true;
    }
    return false;
}

/* Nearest section name, into out. */
static bool suggest_section(const struct conf_table *t, struct str key, struct str *out)
{
    int limit = (int)MIN(MAX(key.len / 3, (size_t)1), (size_t)3) + 1;
    bool found = false;

    for (size_t i = 0; i < t->nrows; i++) {
        struct str s = str_c(t->rows[i].key);
        ptrdiff_t dot;

        while ((dot = str_rchr(s, '.')) > 0) {
            int d;

            s = str_sub(s, 0, (size_t)dot);
            d = str_distance(key, s);
            if (d < limit) {
                limit = d;
                *out = s;
                found = true;
            }
        }
    }
    return found;
}

/* A value on its way into the struct: where it stands, for messages and marks. */
struct origin {
    enum conf_source source;
    const char *where;
    int line, col; /* 0: no position */
};

static int fail_unknown(
    const struct conf *c, struct str key, bool table, const struct origin *o, struct err *err)
{
    const char *near = table ? NULL : conf_suggest(c->table, key);
    struct str section = STR_NONE;
    const char *what = table ? "section" : "key";

    if (near)
        section = str_c(near);
    else if (table && !suggest_section(c->table, key, &section))
        section = STR_NONE;
    key = str_sub(key, 0, KEY_MAX / 2);
    if (section.p)
        return err_set_at(err, ERR_INVAL, o->line, o->col,
            "%s: unknown %s " STR_F " (did you mean " STR_F "?)", o->where, what, STR_A(key),
            STR_A(section));
    return err_set_at(
        err, ERR_INVAL, o->line, o->col, "%s: unknown %s " STR_F, o->where, what, STR_A(key));
}

static int fail_refused(
    const struct conf_refused *r, struct str key, const struct origin *o, struct err *err)
{
    return err_set_at(err, ERR_UNSUPPORTED, o->line, o->col, "%s: " STR_F ": %s", o->where,
        STR_A(str_sub(key, 0, KEY_MAX / 2)), r->reason ? r->reason : not_available);
}

/* Also a list of tables in which one key is secret. */
static bool is_secret(const struct conf_row *row)
{
    bool secret = (row->flags & CONF_SECRET) != 0;

    for (size_t i = 0; row->item && i < row->item->nrows; i++)
        secret = secret || (row->item->rows[i].flags & CONF_SECRET);
    return secret;
}

static int fail_value(const struct conf_row *row, const struct toml_value *v, struct str text,
    const struct origin *o, const struct err *why, struct err *err)
{
    struct buf shown = {0};

    if (is_secret(row))
        buf_add_lit(&shown, "***");
    else if (v)
        conf_value_show(v, &shown);
    else
        buf_add_json(&shown, str_sub(text, 0, 60));
    /* What is wrong within a list of tables has a place of its own. */
    err_set_at(err, why->code, why->line ? why->line : o->line, why->line ? why->col : o->col,
        "%s: %s = %s: %s", o->where, row->key, buf_cstr(&shown), why->text);
    buf_fini(&shown);
    return why->code;
}

/* Stores v (or, when v is NULL, text) in row i, which may be an alias. */
static int put(struct conf *c, size_t i, const struct toml_value *v, struct str text,
    const struct origin *o, struct err *err)
{
    const struct conf_row *row = &c->table->rows[i];
    int main_index = conf_find(c->table, str_c(row->key));
    const struct conf_row *target;
    struct toml_value read;
    struct conf_mark *mark;
    struct err why;
    int rc = 0;

    ENSURE(main_index >= 0);
    target = &c->table->rows[main_index];
    mark = &c->marks[main_index];
    /* One source can only name a value twice by using both of its names. */
    if (mark->source == o->source && o->source != CONF_FROM_CLI)
        return err_set_at(err, ERR_EXISTS, o->line, o->col,
            "%s: %s is set twice: %s and %s are the same key (first in %s)", o->where, target->key,
            target->key, row->alias ? row->key : "its other name", mark->where);
    if (!v) {
        rc = conf_value_read(target, text, c->arena, &read, &why);
        if (rc == 0)
            v = &read;
    }
    if (rc == 0)
        rc = conf_value_set(target, v, conf_field(c, target), c->arena, &why);
    if (rc)
        return fail_value(row, v == &read ? NULL : v, text, o, &why, err);
    mark->source = o->source;
    mark->where = o->where;
    return 0;
}

/* What a walk through a document carries along. */
struct walk {
    struct conf *c;
    const char *name;
    struct err *err;
};

static int walk_table(const struct walk *w, const struct toml_table *t, struct str prefix);

static int walk_entry(const struct walk *w, const struct toml_entry *e, struct str key)
{
    const struct conf_table *t = w->c->table;
    struct origin o = {.source = CONF_FROM_FILE, .line = e->line, .col = e->col};
    const struct conf_refused *refused = find_refused(t, key);
    ptrdiff_t i = find_row(t, key);
    bool table = e->value.kind == TOML_TABLE;

    o.where = arena_printf(w->c->arena, "%s:%d:%d", w->name, e->line, e->col).p;
    /* A quoted key with a dot in it is not the path that it looks like. */
    if (str_chr(e->key, '.') >= 0)
        return fail_unknown(w->c, key, false, &o, w->err);
    if (i >= 0)
        return put(w->c, (size_t)i, &e->value, STR_NONE, &o, w->err);
    if (refused)
        return fail_refused(refused, key, &o, w->err);
    if (!is_section(t, key))
        return fail_unknown(w->c, key, table || e->value.kind == TOML_ARRAY, &o, w->err);
    if (!table)
        return err_set_at(w->err, ERR_INVAL, o.line, o.col,
            "%s: " STR_F " is a section: write [" STR_F "]", o.where, STR_A(key), STR_A(key));
    return walk_table(w, e->value.table, key);
}

static int walk_table(const struct walk *w, const struct toml_table *t, struct str prefix)
{
    for (const struct toml_entry *e = t->first; e; e = e->next) {
        struct str key = e->key;
        int rc;

        if (prefix.len)
            key = arena_printf(w->c->arena, STR_F "." STR_F, STR_A(prefix), STR_A(e->key));
        rc = walk_entry(w, e, key);
        if (rc)
            return rc;
    }
    return 0;
}

int conf_read_text(struct conf *c, const char *name, struct str text, struct err *err)
{
    struct walk w = {.c = c, .name = name, .err = err};
    struct toml_table *root;
    struct err inner;
    int rc = toml_parse(c->arena, text, &root, &inner);

    if (rc && inner.line)
        return err_set_at(err, rc, inner.line, inner.col, "%s:%d:%d: %s", name, inner.line,
            inner.col, inner.text);
    if (rc)
        return err_set(err, rc, "%s: %s", name, inner.text);
    return walk_table(&w, root, STR_NONE);
}

int conf_read_file(struct conf *c, const char *path, struct err *err)
{
    struct buf text = {0};
    int rc = fs_read_file(path, FILE_MAX, &text);

    if (rc == ERR_ISDIR)
        err_set(err, rc, "%s: is a directory, a file is expected", path);
    else if (rc == ERR_TOOBIG)
        err_set(err, rc, "%s: larger than %d bytes, not a configuration file", path, FILE_MAX);
    else if (rc)
        err_set(err, rc, "%s: cannot be read: %s", path, err_text(rc));
    else
        rc = conf_read_text(c, path, buf_str(&text), err);
    buf_fini(&text);
    return rc;
}

/* "SERVER__TIMEOUTS__IDLE" as "server.timeouts.idle". */
static struct str env_key(struct arena *a, struct str name)
{
    char *p = arena_bytes(a, name.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '_' && i + 1 < name.len && name.p[i + 1] == '_') {
            p[n++] = '.';
            i++;
        } else {
            p[n++] = str_lower_char(name.p[i]);
        }
    }
    p[n] = 0;
    return str_n(p, n);
}

/* The variable of a key, for "did you mean". */
static struct str env_name(struct arena *a, const char *prefix, const char *key)
{
    size_t n = strlen(prefix), len = strlen(key);
    char *p = arena_bytes(a, n + 2 * len + 1);

    memcpy(p, prefix, n);
    for (size_t i = 0; i < len; i++) {
        if (key[i] == '.') {
            p[n++] = '_';
            p[n++] = '_';
        } else {
            p[n++] = str_upper_char(key[i]);
        }
    }
    p[n] = 0;
    return str_n(p, n);
}

static bool env_is_allowed(const struct conf_table *t, struct str name)
{
    for (const char *const *p = t->env_allowed; p && *p; p++) {
        if (str_eq(name, str_c(*p)))
            return true;
    }
    return false;
}

static int put_env(struct conf *c, struct str name, struct str value, struct err *err)
{
    const struct conf_table *t = c->table;
    struct str key = env_key(c->arena, str_sub(name, strlen(t->env_prefix), name.len));
    struct origin o = {.source = CONF_FROM_ENV, .where = arena_str(c->arena, name).p};
    const struct conf_refused *refused = find_refused(t, key);
    ptrdiff_t i = find_row(t, key);
    const char *near;

    if (i >= 0)
        return put(c, (size_t)i, NULL, arena_str(c->arena, value), &o, err);
    if (refused)
        return fail_refused(refused, key, &o, err);
    near = conf_suggest(t, key);
    if (near)
        return err_set(err, ERR_INVAL, "%.*s: unknown variable (did you mean %s?)", KEY_MAX,
            o.where, env_name(c->arena, t->env_prefix, near).p);
    return err_set(err, ERR_INVAL, "%.*s: unknown variable: there is no key " STR_F, KEY_MAX,
        o.where, STR_A(str_sub(key, 0, KEY_MAX / 2)));
}

int conf_read_env(struct conf *c, const char *const *env, struct err *err)
{
    struct str prefix = str_c(c->table->env_prefix);

    for (; env && *env; env++) {
        struct str line = str_c(*env);
        ptrdiff_t eq = str_chr(line, '=');
        struct str name;
        int rc;

        if (eq < 0 || !str_starts(line, prefix))
            continue;
        name = str_sub(line, 0, (size_t)eq);
        if (env_is_allowed(c->table, name))
            continue;
        rc = put_env(c, name, str_sub(line, (size_t)eq + 1, line.len), err);
        if (rc)
            return rc;
    }
    return 0;
}

int conf_set(struct conf *c, const char *key, const char *value, enum conf_source source,
    const char *where, struct err *err)
{
    struct origin o = {.source = source, .where = arena_str(c->arena, str_c(where)).p};
    const struct conf_refused *refused = find_refused(c->table, str_c(key));
    ptrdiff_t i = find_row(c->table, str_c(key));

    if (i >= 0)
        return put(c, (size_t)i, NULL, arena_str(c->arena, str_c(value)), &o, err);
    if (refused)
        return fail_refused(refused, str_c(key), &o, err);
    return fail_unknown(c, str_c(key), false, &o, err);
}

/* One line of conf_serialize(): [source, "where", "key", value] */
static int put_serialized(struct conf *c, struct str line, struct err *err)
{
    struct toml_value v;
    const struct toml_value *item;
    struct origin o = {0};
    int rc = toml_parse_value(c->arena, line, &v, err);
    ptrdiff_t i;

    if (rc)
        return rc;
    if (v.kind != TOML_ARRAY || v.array->n != 4)
        return err_set(err, ERR_CORRUPT, "serialized configuration: bad line");
    item = v.array->v;
    if (item[0].kind != TOML_INT || item[0].i <= CONF_FROM_DEFAULT || item[0].i > CONF_FROM_CLI ||
        item[1].kind != TOML_STRING || item[2].kind != TOML_STRING)
        return err_set(err, ERR_CORRUPT, "serialized configuration: bad line");
    i = find_row(c->table, item[2].s);
    if (i < 0)
        return err_set(err, ERR_CORRUPT, "serialized configuration: unknown key");
    o.source = (enum conf_source)item[0].i;
    o.where = item[1].s.p;
    return put(c, (size_t)i, &item[3], STR_NONE, &o, err);
}

int conf_deserialize(struct conf *c, struct str text, struct err *err)
{
    struct str line;

    while (str_split(&text, '\n', &line)) {
        int rc = line.len ? put_serialized(c, line, err) : 0;

        if (rc)
            return rc;
    }
    return 0;
}
