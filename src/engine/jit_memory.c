/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/jit_memory.h"

#include "base/buf.h"
#include "base/mem.h"
#include "core/json.h"
#include "platform/fs.h"

static const char *const choices[] = {"default", "on", "off"};

const char *jit_choice_name(enum jit_choice c)
{
    return choices[c];
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t get_count(const struct json_value *v, const char *key)
{
    int64_t n = json_get_int(v, key, 0);

    return n > 0 ? (uint64_t)n : 0;
}

static double get_number(const struct json_value *v, const char *key)
{
    const struct json_value *n = json_get(v, key);

    return n && n->kind == JSON_NUMBER && n->number > 0 ? n->number : 0;
}

static bool get_record(const struct json_value *v, struct jit_record *out)
{
    struct str choice = json_get_str(v, "choice");
    struct jit_record r = {
        .site = json_get_str(v, "site"),
        .root = json_get_str(v, "root"),
        .revision = json_get_str(v, "revision"),
        .stamp = get_count(v, "stamp"),
        .php = json_get_str(v, "php"),
        .jit = json_get_str(v, "jit"),
        .reason = json_get_str(v, "reason"),
        .wall_us = get_count(v, "time_us"),
        .figures = {.cost = {get_number(v, "on_ns"), get_number(v, "off_ns")},
            .error = get_number(v, "error_ns"),
            .samples = {get_count(v, "on_samples"), get_count(v, "off_samples")},
            .kinds = (unsigned)MIN(get_count(v, "kinds"), (uint64_t)UINT32_MAX),
            .covered = get_number(v, "covered")},
    };
    size_t i = 0;

    while (i < ARRAY_LEN(choices) && !str_eq(choice, str_c(choices[i])))
        i++;
    if (i == ARRAY_LEN(choices) || !r.site.p || !r.root.p || !r.php.p || !r.jit.p || !r.reason.p)
        return false;
    r.choice = (enum jit_choice)i;
    *out = r;
    return true;
}

int jit_memory_load(
    struct arena *a, const char *path, struct jit_record **out, size_t *n, struct err *err)
{
    struct jit_record *v = arena_new(a, JIT_MEMORY_RECORDS * sizeof(*v));
    struct json_value *top = NULL;
    const struct json_value *list;
    struct buf text = {0};
    size_t count = 0;
    int rc = fs_read_file(path, JIT_MEMORY_BYTES, &text);

    if (rc == ERR_NOTFOUND)
        rc = 0;
    else if (rc)
        rc = err_set(err, rc, "%s", err_text(rc));
    else
        rc = json_parse(a, buf_str(&text), &top, err);
    buf_fini(&text);
    if (rc)
        return rc;
    list = json_get(top, "measured");
    if (top && (!list || list->kind != JSON_ARRAY))
        return err_set(err, ERR_INVAL, "it has no list \"measured\"");
    for (const struct json_value *e = list ? list->first : NULL; e; e = e->next)
        if (count < JIT_MEMORY_RECORDS && get_record(e, &v[count]))
            count++;
    *out = v;
    *n = count;
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_record(struct json_writer *w, const struct jit_record *r)
{
    json_open_object(w);
    json_add_str(w, "site", r->site);
    json_add_str(w, "root", r->root);
    if (r->revision.p)
        json_add_str(w, "revision", r->revision);
    json_add_uint(w, "stamp", r->stamp);
    json_add_str(w, "php", r->php);
    json_add_str(w, "jit", r->jit);
    json_add_str(w, "choice", str_c(jit_choice_name(r->choice)));
    json_add_str(w, "reason", r->reason);
    json_add_uint(w, "on_ns", (uint64_t)r->figures.cost[TRIAL_WITH]);
    json_add_uint(w, "off_ns", (uint64_t)r->figures.cost[TRIAL_WITHOUT]);
    json_add_uint(w, "error_ns", (uint64_t)r->figures.error);
    json_add_uint(w, "on_samples", r->figures.samples[TRIAL_WITH]);
    json_add_uint(w, "off_samples", r->figures.samples[TRIAL_WITHOUT]);
    json_add_uint(w, "kinds", r->figures.kinds);
    json_add_float(w, "covered", r->figures.covered);
    json_add_uint(w, "time_us", r->wall_us);
    json_close_object(w);
}

static bool is_same_revision(const struct jit_record *a, const struct jit_record *b)
{
    return str_eq(a->site, b->site) && str_eq(a->root, b->root) &&
           (a->revision.p != NULL) == (b->revision.p != NULL) &&
           (!a->revision.p || str_eq(a->revision, b->revision));
}

int jit_memory_keep(const char *path, const struct jit_record *r, struct err *err)
{
    struct jit_record *v = NULL;
    struct arena a = {0};
    struct buf text = {0};
    struct json_writer w = JSON_WRITER(&text);
    size_t n = 0, kept = 1;
    struct err unread;
    int rc;

    if (jit_memory_load(&a, path, &v, &n, &unread))
        n = 0; /* who loaded it has said so; it is replaced */
    json_open_object(&w);
    json_key(&w, "measured");
    json_open_array(&w);
    put_record(&w, r);
    for (size_t i = 0; i < n && kept < JIT_MEMORY_RECORDS; i++) {
        if (is_same_revision(&v[i], r))
            continue;
        put_record(&w, &v[i]);
        kept++;
    }
    json_close_array(&w);
    json_close_object(&w);
    buf_add_char(&text, '\n');
    rc = fs_write_file(path, text.p, text.len, 0600);
    buf_fini(&text);
    arena_fini(&a);
    return rc ? err_set(err, rc, "%s", err_text(rc)) : 0;
}

const struct jit_record *jit_memory_find(
    const struct jit_record *v, size_t n, const struct jit_record *like)
{
    for (size_t i = 0; i < n; i++) {
        const struct jit_record *r = &v[i];

        if (!str_eq(r->site, like->site) || !str_eq(r->root, like->root) ||
            !str_eq(r->php, like->php) || !str_eq(r->jit, like->jit))
            continue;
        if (like->revision.p ? r->revision.p && str_eq(r->revision, like->revision)
                             : r->stamp == like->stamp)
            return r;
    }
    return NULL;
}
