/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

/* A session variable that is a switch; on when it is not known. */
static bool switch_on(const struct tr_env *env, struct str name)
{
    struct db_value v = {0};
    struct db_type type = {0};

    if (!env || !env->system_var || !env->system_var(env->arg, SQL_SCOPE_SESSION, name, &v, &type))
        return true;
    if (v.kind == DB_V_TEXT)
        return !str_ieq(v.s, STR("OFF")) && !str_eq(v.s, STR("0"));
    return v.i != 0;
}

void build_init(struct build *b, struct arena *arena, const struct tr_env *env,
    const struct ddl_defaults *defaults, struct db_error *e)
{
    *b = (struct build){.arena = arena, .env = env, .defaults = defaults, .e = e};
    b->strict = env && (env->mode & DB_MODE_STRICT);
    b->fk_checks = switch_on(env, STR("foreign_key_checks"));
    b->t.auto_column = b->t.rowid_column = -1;
    b->t.engine = STR("InnoDB");
    b->t.schema = defaults->schema;
    b->t.charset = defaults->charset;
    b->t.collation = defaults->collation;
    b->t.created = defaults->now;
}

void *build_more(struct arena *arena, void **list, uint32_t *n, uint32_t *cap, size_t size)
{
    if (*n == *cap) {
        uint32_t more = *cap ? *cap * 2 : 8;
        void *grown = arena_new(arena, more * size);

        if (*n > 0)
            memcpy(grown, *list, *n * size);
        *list = grown;
        *cap = more;
    }
    return (char *)*list + (*n)++ * size;
}

static void take_key(struct build *b, const struct db_cat_table *old, uint32_t at)
{
    const struct db_cat_key *k = &old->keys[at];
    struct build_key *key = BUILD_MORE(b, keys);

    key->k = *k;
    key->old = (int32_t)at;
    key->n_parts = k->n_parts;
    key->parts = arena_new(b->arena, k->n_parts * sizeof(*key->parts));
    for (uint32_t i = 0; i < k->n_parts; i++) {
        const struct db_cat_part *p = &k->parts[i];

        key->parts[i] = (struct build_part){.expr = p->expr, .length = p->length, .desc = p->desc};
        if (p->column >= 0)
            key->parts[i].column = old->columns[p->column].name;
    }
}

void build_of(struct build *b, const struct db_cat_table *old)
{
    b->old = old;
    b->t = *old;
    for (uint32_t i = 0; i < old->n_columns; i++) {
        struct build_column *c = BUILD_MORE(b, columns);

        c->c = old->columns[i];
        c->old = (int32_t)i;
    }
    for (uint32_t i = 0; i < old->n_keys; i++)
        take_key(b, old, i);
    for (uint32_t i = 0; i < old->n_fks; i++)
        *(struct db_cat_fk *)BUILD_MORE(b, fks) = old->fks[i];
    b->kept_fks = b->n_fks;
    for (uint32_t i = 0; i < old->n_checks; i++)
        *(struct db_cat_check *)BUILD_MORE(b, checks) = old->checks[i];
}

int32_t build_column_find(const struct build *b, struct str name)
{
    for (uint32_t i = 0; i < b->n_columns; i++) {
        if (str_ieq(b->columns[i].c.name, name))
            return (int32_t)i;
    }
    return -1;
}

int32_t build_key_find(const struct build *b, struct str name)
{
    for (uint32_t i = 0; i < b->n_keys; i++) {
        if (str_ieq(b->keys[i].k.name, name))
            return (int32_t)i;
    }
    return -1;
}

static size_t characters(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

int build_name(struct build *b, struct str name, enum db_error_name bad)
{
    struct str copy = arena_str(b->arena, name);

    if (characters(name) > 64)
        return db_error_set(b->e, DB_E_TOO_LONG_IDENT, copy.p);
    if (name.len == 0 || name.p[name.len - 1] == ' ' || memchr(name.p, '\0', name.len))
        return db_error_set(b->e, bad, copy.p);
    return 0;
}
