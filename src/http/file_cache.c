/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/file_cache.h"

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "platform/random.h"
#include "platform/watch.h"

enum { PATH_MAX_BYTES = 4096, SUFFIX_MAX = 8 };

/* A watched folder. It stays while an entry lies in it or a folder below it is watched. */
struct dir {
    struct str path;    /* owned */
    int id;             /* of the watch; -1: none could be had */
    struct dir *parent; /* NULL above the top */
    unsigned refs;
};

/* A shared descriptor; one reference is the cache's while it keeps it. */
struct shared_file {
    struct file_cache_file pub;
    unsigned refs;
    char *content;
    struct str coded[CODING_COUNT]; /* owned */
    size_t *coded_total;            /* the cache's count; NULL once the cache let go */
};

struct entry {
    struct file_cache_entry pub;
    struct list used;    /* in cache.positive or cache.negative, coldest first */
    struct list in_open; /* in cache.open, coldest first, while file is set */
    struct dir *dir;     /* NULL: not watched */
    struct shared_file *file;
    uint64_t expires_ms;
    uint64_t used_ms;        /* last time that its file was taken */
    unsigned siblings_known; /* CODING_BIT set */
    unsigned siblings;       /* those that exist */
    struct fs_stat sibling_st[CODING_COUNT];
    char etag[COND_ETAG_MAX];
};

struct file_cache {
    struct file_cache_config cfg;
    struct map entries; /* path -> entry */
    struct map dirs;    /* path -> dir */
    struct map ids;     /* watch id (its bytes) -> dir */
    struct list positive;
    struct list negative;
    struct list open;
    size_t negatives;
    size_t open_files;
    size_t coded_total;
    size_t inline_total;
    uint64_t swept_ms;
    struct watch *watch; /* NULL: none */
    uint64_t hits;
    uint64_t misses;
};

static struct str id_key(const int *id)
{
    return str_n((const char *)id, sizeof(*id));
}

static struct str own(struct str s)
{
    return str_n(mem_dup_str(s.p, s.len), s.len);
}

static void disown(struct str *s)
{
    mem_free((void *)(uintptr_t)s->p);
    *s = STR_NONE;
}

/* The folder of a path, without a slash at the end; empty for the top and for names alone. */
static struct str parent_of(struct str path)
{
    ptrdiff_t slash = str_rchr(path, '/');

    return slash < 0 ? STR_NONE : str_sub(path, 0, (size_t)slash);
}

/* Folders */

static void dir_watch(struct file_cache *c, struct dir *d)
{
    int id;

    d->id = -1;
    if (!c->watch || c->ids.count >= c->cfg.max_watches)
        return;
    if (watch_add(c->watch, d->path.p, &id))
        return;
    /* One folder under two paths (a bind mount) has one watch; it serves the first. */
    if (map_get(&c->ids, id_key(&id)))
        return;
    d->id = id;
    (void)map_set(&c->ids, id_key(&id), d);
}

static void dir_put(struct file_cache *c, struct dir *d)
{
    while (d && --d->refs == 0) {
        struct dir *parent = d->parent;

        if (d->id >= 0) {
            (void)map_del(&c->ids, id_key(&d->id));
            watch_remove(c->watch, d->id);
        }
        (void)map_del(&c->dirs, d->path);
        disown(&d->path);
        mem_free(d);
        d = parent;
    }
}

/* Folders above are watched as well as may be: many are not ours to read. */
static struct dir *dir_get(struct file_cache *c, struct str path)
{
    struct dir *top = NULL, *below = NULL;

    for (; path.len > 0; path = parent_of(path)) {
        struct dir *d = map_get(&c->dirs, path);
        bool found = d != NULL;

        if (!found) {
            d = mem_new(sizeof(*d));
            d->path = own(path);
            (void)map_set(&c->dirs, d->path, d);
            dir_watch(c, d);
        }
        d->refs++;
        if (below)
            below->parent = d;
        else
            top = d;
        below = d;
        if (found)
            break;
    }
    return top;
}

/* Descriptors */

static void file_unref(struct shared_file *f)
{
    if (--f->refs > 0)
        return;
    fs_close(f->pub.fd);
    mem_free(f->content);
    for (size_t i = 0; i < CODING_COUNT; i++)
        disown(&f->coded[i]);
    mem_free(f);
}

static void entry_drop_file(struct file_cache *c, struct entry *e)
{
    if (!e->file)
        return;
    for (size_t i = 0; i < CODING_COUNT; i++)
        c->coded_total -= e->file->coded[i].len;
    c->inline_total -= e->file->pub.content.len;
    e->file->coded_total = NULL;
    file_unref(e->file);
    e->file = NULL;
    list_remove(&e->in_open);
    c->open_files--;
}

static void limit_open(struct file_cache *c, size_t keep)
{
    while (c->open_files > keep)
        entry_drop_file(c, CONTAINER_OF(list_first(&c->open), struct entry, in_open));
}

static bool same_file(const struct fs_stat *a, const struct fs_stat *b)
{
    return a->ino == b->ino && a->dev == b->dev && a->size == b->size &&
           a->mtime_ns == b->mtime_ns && a->kind == b->kind && a->mode == b->mode;
}

/* Entries */

static void entry_set_stat(struct entry *e, const struct fs_stat *st)
{
    e->pub.st = *st;
    e->pub.etag = STR_NONE;
    if (st->kind == FS_FILE)
        e->pub.etag = str_n(e->etag, cond_etag_format(st->mtime_ns, st->size, e->etag));
}

static void entry_detach(struct file_cache *c, struct entry *e)
{
    dir_put(c, e->dir);
    e->dir = NULL;
}

static void entry_free(struct file_cache *c, struct entry *e)
{
    (void)map_del(&c->entries, e->pub.path);
    list_remove(&e->used);
    if (e->pub.error)
        c->negatives--;
    entry_drop_file(c, e);
    entry_detach(c, e);
    disown(&e->pub.path);
    disown(&e->pub.resolved);
    mem_free(e);
}

static void entry_attach(struct file_cache *c, struct entry *e)
{
    if (e->dir && e->dir->id >= 0)
        return;
    entry_detach(c, e);
    if (!c->watch)
        return;
    e->dir = dir_get(c, parent_of(e->pub.path));
    if (e->dir && e->dir->id < 0)
        entry_detach(c, e);
}

/* Looks at the file system. The watch is set first, so that no change falls between. */
static void entry_fill(struct file_cache *c, struct entry *e, uint64_t now_ms)
{
    char resolved[PATH_MAX_BYTES];
    struct fs_stat st = {0};
    bool straight = true;
    int err;

    entry_attach(c, e);
    err = fs_stat(e->pub.path.p, &st);
    if (!err)
        err = fs_realpath(e->pub.path.p, resolved, sizeof(resolved));
    disown(&e->pub.resolved);
    if (e->pub.error)
        c->negatives--;
    e->pub.error = err;
    if (err) {
        c->negatives++;
        st = (struct fs_stat){0};
        st.kind = FS_OTHER;
    } else {
        e->pub.resolved = own(str_c(resolved));
        straight = str_eq(e->pub.resolved, e->pub.path);
    }
    if (e->file && !same_file(&st, &e->file->pub.st))
        entry_drop_file(c, e);
    entry_set_stat(e, &st);
    e->siblings_known = 0;
    e->expires_ms = now_ms + (e->dir && straight ? c->cfg.valid_ms : c->cfg.unwatched_ms);
}

static void entry_touch(struct file_cache *c, struct entry *e)
{
    list_remove(&e->used);
    list_push(e->pub.error ? &c->negative : &c->positive, &e->used);
}

static void evict(struct file_cache *c)
{
    struct list *l;

    while (c->entries.count > c->cfg.max_entries || c->negatives > c->cfg.max_entries / 4 + 1) {
        l = c->negatives > c->cfg.max_entries / 4 ? list_first(&c->negative)
                                                  : list_first(&c->positive);
        if (!l)
            l = list_first(&c->negative);
        entry_free(c, CONTAINER_OF(l, struct entry, used));
    }
}

/* The up-to-date entry of a path. */
static int entry_get(struct file_cache *c, struct str path, uint64_t now_ms, struct entry **out)
{
    struct entry *e = map_get(&c->entries, path);

    if (e && now_ms < e->expires_ms) {
        c->hits++;
        entry_touch(c, e);
        *out = e;
        return 0;
    }
    c->misses++;
    if (!e) {
        if (path.len == 0 || str_chr(path, '\0') >= 0)
            return ERR_INVAL;
        if (path.len >= PATH_MAX_BYTES)
            return ERR_TOOBIG;
        e = mem_new(sizeof(*e));
        list_init(&e->used);
        list_init(&e->in_open);
        e->pub.path = own(path);
        (void)map_set(&c->entries, e->pub.path, e);
    }
    entry_fill(c, e, now_ms);
    entry_touch(c, e);
    evict(c);
    *out = e;
    return 0;
}

struct file_cache *file_cache_new(const struct file_cache_config *cfg)
{
    struct file_cache *c = mem_new(sizeof(*c));
    uint64_t seed = 0;

    c->cfg = *cfg;
    c->cfg.max_entries = MAX(cfg->max_entries, (size_t)4);
    random_bytes(&seed, sizeof(seed));
    map_init(&c->entries, seed);
    map_init(&c->dirs, seed);
    map_init(&c->ids, seed);
    list_init(&c->positive);
    list_init(&c->negative);
    list_init(&c->open);
    /* Without notices entries are looked at more often, that is all. */
    if (cfg->max_watches > 0 && watch_open(&c->watch))
        c->watch = NULL;
    return c;
}

void file_cache_invalidate_all(struct file_cache *c)
{
    struct list *l;

    while ((l = list_first(&c->positive)) != NULL)
        entry_free(c, CONTAINER_OF(l, struct entry, used));
    while ((l = list_first(&c->negative)) != NULL)
        entry_free(c, CONTAINER_OF(l, struct entry, used));
}

void file_cache_free(struct file_cache *c)
{
    if (!c)
        return;
    file_cache_invalidate_all(c);
    watch_close(c->watch);
    map_fini(&c->entries);
    map_fini(&c->dirs);
    map_fini(&c->ids);
    mem_free(c);
}

int file_cache_lookup(
    struct file_cache *c, struct str path, uint64_t now_ms, const struct file_cache_entry **out)
{
    struct entry *e;
    int err = entry_get(c, path, now_ms, &e);

    if (err)
        return err;
    if (e->pub.error)
        return e->pub.error;
    *out = &e->pub;
    return 0;
}

/* Of a small file. Without it the descriptor serves as well. */
static void read_content(struct shared_file *f)
{
    size_t want = (size_t)f->pub.st.size, got = 0;

    f->content = mem_new(want);
    if (fs_pread(f->pub.fd, f->content, want, 0, &got) == 0 && got == want)
        f->pub.content = str_n(f->content, want);
}

static int open_file(struct file_cache *c, struct entry *e)
{
    struct shared_file *f;
    struct fs_stat st;
    int fd = -1, err;

    err = fs_open_resolved(e->pub.resolved.p, &fd);
    if (err == ERR_MFILE && c->open_files > 0) {
        limit_open(c, 0);
        err = fs_open_resolved(e->pub.resolved.p, &fd);
    }
    if (err)
        return err;
    err = fs_fstat(fd, &st);
    if (!err && st.kind != FS_FILE)
        err = ERR_INVAL;
    if (err) {
        fs_close(fd);
        return err;
    }
    if (!same_file(&st, &e->pub.st))
        entry_set_stat(e, &st);
    f = mem_new(sizeof(*f));
    f->pub.fd = fd;
    f->pub.st = st;
    f->refs = 1;
    f->coded_total = &c->coded_total;
    if (st.size <= c->cfg.inline_bytes && c->inline_total + st.size <= c->cfg.inline_total)
        read_content(f);
    c->inline_total += f->pub.content.len;
    e->file = f;
    list_push(&c->open, &e->in_open);
    c->open_files++;
    return 0;
}

/* Closes what nobody used for long; looks once a second, the coldest first. */
static void close_inactive(struct file_cache *c, uint64_t now_ms)
{
    struct list *l;

    if (!c->cfg.inactive_ms || now_ms - c->swept_ms < 1000)
        return;
    c->swept_ms = now_ms;
    while ((l = list_first(&c->open)) != NULL) {
        struct entry *e = CONTAINER_OF(l, struct entry, in_open);

        if (now_ms - e->used_ms < c->cfg.inactive_ms)
            return;
        entry_drop_file(c, e);
    }
}

int file_cache_open(
    struct file_cache *c, struct str path, uint64_t now_ms, struct file_cache_file **out)
{
    struct shared_file *f;
    struct entry *e;
    int err = entry_get(c, path, now_ms, &e);

    if (err)
        return err;
    if (e->pub.error)
        return e->pub.error;
    if (e->pub.st.kind != FS_FILE)
        return e->pub.st.kind == FS_DIR ? ERR_ISDIR : ERR_INVAL;
    if (!e->file) {
        err = open_file(c, e);
        if (err)
            return err;
    } else {
        list_remove(&e->in_open);
        list_push(&c->open, &e->in_open);
    }
    e->used_ms = now_ms;
    f = e->file;
    f->refs++;
    close_inactive(c, now_ms);
    limit_open(c, c->cfg.max_open);
    *out = &f->pub;
    return 0;
}

void file_cache_ref(struct file_cache_file *f)
{
    CONTAINER_OF(f, struct shared_file, pub)->refs++;
}

void file_cache_put(struct file_cache_file *f)
{
    if (f)
        file_unref(CONTAINER_OF(f, struct shared_file, pub));
}

struct str file_cache_coded(const struct file_cache_file *f, enum coding coding)
{
    return CONTAINER_OF(f, struct shared_file, pub)->coded[coding];
}

void file_cache_keep_coded(
    struct file_cache *c, struct file_cache_file *f, enum coding coding, struct str body)
{
    struct shared_file *s = CONTAINER_OF(f, struct shared_file, pub);

    if (!s->coded_total || s->coded[coding].p || c->coded_total + body.len > c->cfg.coded_bytes)
        return;
    s->coded[coding] = own(body);
    c->coded_total += body.len;
}

bool file_cache_sibling(
    struct file_cache *c, struct str path, enum coding coding, uint64_t now_ms, struct fs_stat *out)
{
    unsigned bit = CODING_BIT(coding);
    struct entry *e;

    if (coding == CODING_IDENTITY || entry_get(c, path, now_ms, &e) || e->pub.error)
        return false;
    if (!(e->siblings_known & bit)) {
        char name[PATH_MAX_BYTES + SUFFIX_MAX];
        struct str suffix = coding_suffix(coding);
        struct fs_stat *st = &e->sibling_st[coding];

        memcpy(name, path.p, path.len);
        memcpy(name + path.len, suffix.p, suffix.len);
        name[path.len + suffix.len] = '\0';
        e->siblings_known |= bit;
        e->siblings &= ~bit;
        if (fs_lstat(name, st) == 0 && st->kind == FS_FILE)
            e->siblings |= bit;
    }
    if (!(e->siblings & bit))
        return false;
    *out = e->sibling_st[coding];
    return true;
}

/* Notices */

int file_cache_watch_fd(const struct file_cache *c)
{
    return c->watch ? watch_fd(c->watch) : -1;
}

static bool lies_under(struct str path, struct str dir)
{
    return path.len > dir.len && str_under(path, dir);
}

static void invalidate_list(struct file_cache *c, struct list *list, struct str dir)
{
    list_each_safe (l, list) {
        struct entry *e = CONTAINER_OF(l, struct entry, used);

        if (lies_under(e->pub.path, dir))
            entry_free(c, e);
    }
}

/* dir is a copy: the folder's own may go with its last entry. */
static void invalidate_under(struct file_cache *c, struct str dir)
{
    struct str copy = own(dir);

    invalidate_list(c, &c->positive, copy);
    invalidate_list(c, &c->negative, copy);
    disown(&copy);
}

/* A name came, went or changed: its own entry, the entry whose sibling it is, all below it. */
static void invalidate_name(struct file_cache *c, const struct dir *d, struct str name)
{
    struct buf b = {0};
    struct entry *e;
    struct str path;

    buf_add_str(&b, d->path);
    buf_add_char(&b, '/');
    buf_add_str(&b, name);
    path = buf_str(&b);
    for (int i = CODING_IDENTITY + 1; i < CODING_COUNT; i++) {
        struct str suffix = coding_suffix((enum coding)i);

        if (!str_ends(path, suffix))
            continue;
        e = map_get(&c->entries, str_sub(path, 0, path.len - suffix.len));
        if (e)
            e->siblings_known = 0;
    }
    e = map_get(&c->entries, path);
    if (e)
        entry_free(c, e);
    if (map_get(&c->dirs, path))
        invalidate_under(c, path);
    buf_fini(&b);
}

static void on_notice(void *arg, int id, const char *name)
{
    struct file_cache *c = arg;
    struct dir *d;

    if (id < 0) {
        file_cache_invalidate_all(c);
        return;
    }
    d = map_get(&c->ids, id_key(&id));
    if (!d)
        return; /* a late notice of a watch that was removed */
    if (name[0] == '\0')
        invalidate_under(c, d->path);
    else
        invalidate_name(c, d, str_c(name));
}

void file_cache_on_watch(struct file_cache *c)
{
    if (c->watch)
        watch_read(c->watch, on_notice, c);
}

struct file_cache_stats file_cache_stats(const struct file_cache *c)
{
    return (struct file_cache_stats){
        .entries = c->entries.count,
        .watches = c->ids.count,
        .open_files = c->open_files,
        .hits = c->hits,
        .misses = c->misses,
    };
}
