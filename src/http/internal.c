/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/internal.h"

enum { INTERNAL_MAPPING_MAX = 4096 /* bytes of the header that PHP is given */ };

static bool is_for_site(const struct http_internal *in, const struct http_exchange *x)
{
    return in->site.len == 0 || str_eq(in->site, x->site.name);
}

const struct http_internal *internal_find(const struct http_exchange *x, struct str path)
{
    const struct http_internal *best = NULL;

    for (size_t i = 0; i < x->settings->ninternal; i++) {
        const struct http_internal *in = &x->settings->internal[i];

        if (str_under(path, in->path) && is_for_site(in, x) &&
            (!best || in->path.len > best->path.len))
            best = in;
    }
    return best;
}

static int look_up(struct http_exchange *x, struct str path, const struct file_cache_entry **e)
{
    return file_cache_lookup(x->server->files, path, net_loop_now(x->server->loop), e);
}

/* Where a folder really is, or an empty str. */
static struct str real_folder(struct http_exchange *x, struct str dir)
{
    const struct file_cache_entry *e;

    if (look_up(x, dir, &e) || e->st.kind != FS_DIR)
        return STR_NONE;
    return arena_str(&x->arena, e->resolved);
}

/* Does the file exist, and in that folder, which is where it really is? */
static bool is_file_in(struct http_exchange *x, struct str full, struct str folder)
{
    const struct file_cache_entry *e;

    if (folder.len == 0 || look_up(x, full, &e) || e->st.kind != FS_FILE)
        return false;
    if (folder.len > 1 && !str_under(e->resolved, folder))
        return false;
    x->route.file = full;
    x->route.stat = e->st;
    return true;
}

static const char *accel_file(struct http_exchange *x, struct str *full)
{
    struct str named = x->answer.accel_redirect, path;
    ptrdiff_t q = str_chr(named, '?');
    const struct http_internal *in;

    if (q >= 0)
        named.len = (size_t)q;
    /* Symfony encodes the slashes too, from version 6.4 on. */
    if (str_istarts(named, STR("%2F")))
        named = arena_printf(&x->arena, "/" STR_F, STR_A(str_sub(named, 3, named.len)));
    if (uri_decode_path(named, &x->arena, &path))
        return "no path, or one that leads out of the root";
    in = internal_find(x, path);
    if (in) {
        *full = arena_printf(
            &x->arena, STR_F STR_F, STR_A(in->dir), STR_A(str_sub(path, in->path.len, path.len)));
        return is_file_in(x, *full, real_folder(x, in->dir)) ? NULL
                                                             : "not a file of the internal folder";
    }
    if (router_is_source(&x->settings->route, path))
        return "PHP source is never sent";
    *full = arena_printf(&x->arena, STR_F STR_F, STR_A(x->site.root), STR_A(path));
    return is_file_in(x, *full, x->site.root) ? NULL : "not a file below the document root";
}

static const char *sendfile_file(struct http_exchange *x, struct str *full)
{
    *full = arena_str(&x->arena, x->answer.sendfile);
    if (!full->len || full->p[0] != '/')
        return "not an absolute path";
    for (size_t i = 0; i < x->settings->ninternal; i++) {
        const struct http_internal *in = &x->settings->internal[i];

        if (is_for_site(in, x) && is_file_in(x, *full, real_folder(x, in->dir)))
            return NULL;
    }
    if (router_is_source(&x->settings->route, *full))
        return "PHP source is never sent";
    return is_file_in(x, *full, x->site.root)
               ? NULL
               : "not a file below the document root or of an internal folder";
}

const char *internal_file(struct http_exchange *x, struct str *file)
{
    return x->answer.accel_redirect.p ? accel_file(x, file) : sendfile_file(x, file);
}

struct str internal_mapping(struct http_exchange *x)
{
    struct str out = STR_NONE;

    for (size_t i = 0; i < x->settings->ninternal; i++) {
        const struct http_internal *in = &x->settings->internal[i];
        struct str dir;

        if (!is_for_site(in, x))
            continue;
        /* The application compares it with the file's real path. */
        dir = real_folder(x, in->dir);
        if (dir.len == 0)
            dir = in->dir;
        if (out.len + dir.len + in->path.len + 8 > INTERNAL_MAPPING_MAX)
            break;
        out = arena_printf(&x->arena, STR_F "%s" STR_F "/=" STR_F "/", STR_A(out),
            out.len ? ", " : "", STR_A(dir), STR_A(in->path));
    }
    return out;
}
