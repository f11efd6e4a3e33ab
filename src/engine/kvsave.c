/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/kvsave.h"

#include <pthread.h>

#include "base/list.h"
#include "base/mem.h"
#include "core/log.h"
#include "kv/keys.h"
#include "kv/snapshot.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/wake.h"

enum { KVSAVE_SAY_AGAIN_MS = 3600 * 1000 };

/* What a site waits for. */
enum kvsave_due { KVSAVE_IDLE, KVSAVE_DUE_LOAD, KVSAVE_DUE_REFUSE, KVSAVE_DUE_SAVE };

struct kvsave_site {
    struct list node;
    char *name;
    char *path;
    struct kv_store *store; /* the thread's, while it has a job of this site */
    enum kvsave_due due;
    bool loaded;
    bool leaving;          /* nobody asks for it any more */
    struct kv_store *last; /* then: whose mapping it is, ours to close */
    uint64_t number;       /* then: for the callback */
    uint64_t changes;      /* of the store when it was saved last */
    uint64_t saved_ms;     /* when that was, since 1970; 0: not yet */
    uint64_t keys;         /* in the file */
    bool failed;           /* the last save */
    uint64_t said_ms;      /* when that was logged, monotonic */
};

/* What the thread does, and how it ended. */
struct kvsave_job {
    struct kvsave_site *site;
    enum kvsave_due what;
    uint64_t began_ms;
    /* results */
    int rc;     /* of reading or writing the file */
    int rights; /* of trying whether it can be written, after reading */
    struct err err, rights_err;
    struct kv_snapshot_loaded loaded;
    uint64_t keys, changes;
};

struct kvsave {
    struct net_loop *loop;
    char *folder;
    kvsave_ready_cb *cb;
    kvsave_gone_cb *gone;
    void *arg;
    struct list sites;
    struct net_timer *timer;
    struct net_timer *start; /* jobs begin on the loop, never inside kvsave_add() */
    int bell;                /* the thread rings it when it is done */
    struct net_watch *watch;
    pthread_t thread;
    bool running;
    struct kvsave_job job;
};

/* --- the thread ------------------------------------------------------------------------------- */

static void kvsave_read_file(struct kvsave_job *j)
{
    struct kvsave_site *s = j->site;
    struct kv_snapshot *test = NULL;
    struct buf as = {0};

    if (j->what == KVSAVE_DUE_REFUSE) {
        kv_store_flush(s->store); /* of what was read in part */
        j->rc = kv_snapshot_set_aside(s->path, &as);
        if (j->rc == 0)
            j->rc = err_set(&j->err, ERR_CORRUPT,
                "%s: reading the snapshot ended the process again and again; it is kept as %s",
                s->path, buf_cstr(&as));
        buf_fini(&as);
    } else {
        j->rc = kv_snapshot_load(s->store, s->path, &j->loaded, &j->err);
    }
    if (j->rc && j->rc != ERR_NOTFOUND && j->rc != ERR_CORRUPT && j->rc != ERR_VERSION)
        return;
    j->changes = kv_store_changes(s->store);
    j->rights = kv_snapshot_begin(s->store, s->path, &test, &j->rights_err);
    kv_snapshot_end(test);
}

static void kvsave_write_file(struct kvsave_job *j)
{
    j->changes = kv_store_changes(j->site->store);
    j->rc = kv_snapshot_save(j->site->store, j->site->path, &j->keys, &j->err);
}

static void *kvsave_work(void *arg)
{
    struct kvsave *v = arg;

    if (v->job.what == KVSAVE_DUE_SAVE)
        kvsave_write_file(&v->job);
    else
        kvsave_read_file(&v->job);
    wake_bell_ring(v->bell);
    return NULL;
}

/* --- results ---------------------------------------------------------------------------------- */

static void kvsave_read_done(struct kvsave *v, const struct kvsave_job *j)
{
    struct kvsave_site *s = j->site;
    const struct kv_snapshot_loaded *l = &j->loaded;
    bool refused = j->rc == ERR_CORRUPT || j->rc == ERR_VERSION;

    if (refused)
        log_error("kv_snapshot_refused", F_CSTR("site", s->name), F_CSTR("error", j->err.text));
    if ((j->rc && j->rc != ERR_NOTFOUND && !refused) || j->rights) {
        if (!s->leaving)
            v->cb(v->arg, s->name, j->rights ? j->rights_err.text : j->err.text);
        return;
    }
    s->loaded = true;
    s->changes = j->changes;
    if (j->rc == 0) {
        s->saved_ms = (uint64_t)l->created;
        s->keys = l->keys;
        log_info("kv_snapshot_loaded", F_CSTR("site", s->name), F_UINT("keys", l->keys),
            F_UINT("expired", l->expired), F_UINT("ms", clock_mono_ms() - j->began_ms),
            F_CSTR("file", s->path));
    }
    if (j->rc == 0 && l->full)
        log_warn("kv_snapshot_larger_than_store", F_CSTR("site", s->name),
            F_UINT("left_out", l->full), F_CSTR("setting", "kv.memory_limit"));
    if (!s->leaving)
        v->cb(v->arg, s->name, NULL);
}

static void kvsave_write_done(const struct kvsave_job *j, bool last)
{
    struct kvsave_site *s = j->site;
    uint64_t now = clock_mono_ms();

    if (j->rc) {
        if (!s->failed || last || now - s->said_ms >= KVSAVE_SAY_AGAIN_MS) {
            log_error("kv_snapshot_failed", F_CSTR("site", s->name), F_CSTR("error", j->err.text));
            s->said_ms = now;
        }
        s->failed = true;
        return;
    }
    if (s->failed)
        log_info("kv_snapshot_works_again", F_CSTR("site", s->name), F_CSTR("file", s->path));
    s->failed = false;
    s->changes = j->changes;
    s->keys = j->keys;
    s->saved_ms = clock_wall_us() / 1000;
    if (last)
        log_info("kv_snapshot_saved", F_CSTR("site", s->name), F_UINT("keys", j->keys),
            F_UINT("ms", now - j->began_ms), F_CSTR("file", s->path));
    else
        log_debug("kv_snapshot_saved", F_CSTR("site", s->name), F_UINT("keys", j->keys),
            F_UINT("ms", now - j->began_ms));
}

static bool kvsave_has_changed(const struct kvsave_site *s)
{
    return s->loaded && (s->failed || kv_store_changes(s->store) != s->changes);
}

static void kvsave_site_free(struct kvsave_site *s)
{
    list_remove(&s->node);
    kv_store_close(s->store);
    kv_store_close(s->last);
    mem_free(s->path);
    mem_free(s->name);
    mem_free(s);
}

static void kvsave_let_go(struct kvsave *v, struct kvsave_site *s)
{
    uint64_t number = s->number;

    kvsave_site_free(s);
    v->gone(v->arg, number);
}

/* A job of a site that leaves is over. What could not be saved is lost, and that is logged. */
static void kvsave_go_on_leaving(
    struct kvsave *v, struct kvsave_site *s, const struct kvsave_job *job)
{
    if (!s->leaving)
        return;
    if (kvsave_has_changed(s) && !(job->what == KVSAVE_DUE_SAVE && job->rc))
        s->due = KVSAVE_DUE_SAVE;
    else
        kvsave_let_go(v, s);
}

static void kvsave_finish(struct kvsave *v, bool last)
{
    struct kvsave_job job = v->job;

    (void)pthread_join(v->thread, NULL); /* ours, and joined once */
    v->running = false;
    if (job.what == KVSAVE_DUE_SAVE)
        kvsave_write_done(&job, last || job.site->leaving);
    else
        kvsave_read_done(v, &job);
    if (!last)
        kvsave_go_on_leaving(v, job.site, &job);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* First what leaves, since a site of its name may come again and read the file; then reading, for
 * which somebody waits. */
static struct kvsave_site *kvsave_next(struct kvsave *v)
{
    struct kvsave_site *found = NULL;

    list_each (it, &v->sites) {
        struct kvsave_site *s = CONTAINER_OF(it, struct kvsave_site, node);

        if (s->due == KVSAVE_IDLE)
            continue;
        if (s->leaving)
            return s;
        if (!found || (s->due != KVSAVE_DUE_SAVE && found->due == KVSAVE_DUE_SAVE))
            found = s;
    }
    return found;
}

static void kvsave_start(void *arg)
{
    struct kvsave *v = arg;
    struct kvsave_site *s = v->running ? NULL : kvsave_next(v);
    int rc;

    if (!s)
        return;
    v->job = (struct kvsave_job){.site = s, .what = s->due, .began_ms = clock_mono_ms()};
    rc = pthread_create(&v->thread, NULL, kvsave_work, v);
    if (rc) { /* no memory for its stack: later */
        net_timer_start(v->start, 1000, 0);
        return;
    }
    s->due = KVSAVE_IDLE;
    v->running = true;
}

static void kvsave_on_bell(void *arg, int events)
{
    struct kvsave *v = arg;

    (void)events;
    wake_bell_clear(v->bell);
    if (v->running)
        kvsave_finish(v, false);
    kvsave_start(v);
}

static void kvsave_on_timer(void *arg)
{
    struct kvsave *v = arg;

    list_each (it, &v->sites) {
        struct kvsave_site *s = CONTAINER_OF(it, struct kvsave_site, node);

        /* The thread has its store. */
        if (v->running && v->job.site == s)
            continue;
        if (kvsave_has_changed(s))
            s->due = KVSAVE_DUE_SAVE;
    }
    kvsave_start(v);
}

/* --- life ------------------------------------------------------------------------------------- */

int kvsave_open(struct net_loop *l, const struct config_kv *config, kvsave_ready_cb *cb,
    kvsave_gone_cb *gone, void *arg, struct kvsave **out)
{
    struct kvsave *v = mem_new(sizeof(*v));
    int rc;

    v->loop = l;
    list_init(&v->sites);
    v->bell = -1;
    rc = wake_bell_open(&v->bell);
    if (rc == 0)
        rc = net_watch_open(l, (sock_t)v->bell, kvsave_on_bell, v, &v->watch);
    if (rc) {
        fs_close(v->bell);
        mem_free(v);
        return rc;
    }
    net_watch_set(v->watch, NET_READ);
    v->folder = mem_dup_str(config->persist, strlen(config->persist));
    v->cb = cb;
    v->gone = gone;
    v->arg = arg;
    v->start = net_timer_open(l, kvsave_start, v);
    v->timer = net_timer_open(l, kvsave_on_timer, v);
    net_timer_start(v->timer, config->persist_interval, config->persist_interval);
    *out = v;
    return 0;
}

struct kvsave_site *kvsave_add(
    struct kvsave *v, const char *name, const struct kv_store *store, enum kvsave_how how)
{
    struct kvsave_site *s = mem_new(sizeof(*s));
    struct buf path = {0};

    buf_printf(&path, "%s/%s.kv", v->folder, name);
    s->path = mem_dup_str(path.p, path.len);
    buf_fini(&path);
    s->name = mem_dup_str(name, strlen(name));
    s->store = kv_store_open_other(store);
    s->loaded = how == KVSAVE_LOADED;
    if (how != KVSAVE_LOADED)
        s->due = how == KVSAVE_LOAD ? KVSAVE_DUE_LOAD : KVSAVE_DUE_REFUSE;
    list_push(&v->sites, &s->node);
    net_timer_start(v->start, 0, 0);
    return s;
}

void kvsave_again(struct kvsave *v, struct kvsave_site *s)
{
    if (s->loaded || s->due != KVSAVE_IDLE || (v->running && v->job.site == s))
        return;
    s->due = KVSAVE_DUE_LOAD;
    net_timer_start(v->start, 0, 0);
}

void kvsave_remove(struct kvsave *v, struct kvsave_site *s, struct kv_store *store, uint64_t number)
{
    s->leaving = true;
    s->number = number;
    s->last = store;
    if (v->running && v->job.site == s)
        return; /* kvsave_finish() goes on */
    if (kvsave_has_changed(s)) {
        s->due = KVSAVE_DUE_SAVE;
        net_timer_start(v->start, 0, 0);
    } else {
        kvsave_let_go(v, s);
    }
}

void kvsave_write_status(const struct kvsave_site *s, struct json_writer *w)
{
    json_key(w, "snapshot");
    json_open_object(w);
    json_add_str(w, "file", str_c(s->path));
    json_add_uint(w, "saved", s->saved_ms / 1000);
    json_add_uint(w, "keys", s->keys);
    json_add_str(w, "state",
        !s->loaded  ? STR("not loaded")
        : s->failed ? STR("failed")
                    : STR("good"));
    json_close_object(w);
}

/* At the end, on this thread. */
static void kvsave_save_last(struct kvsave_site *s)
{
    struct kvsave_job job = {.site = s, .what = KVSAVE_DUE_SAVE, .began_ms = clock_mono_ms()};

    if (!kvsave_has_changed(s))
        return;
    kvsave_write_file(&job);
    kvsave_write_done(&job, true);
}

void kvsave_close(struct kvsave *v)
{
    if (!v)
        return;
    v->cb = NULL;
    if (v->running && v->job.what == KVSAVE_DUE_SAVE)
        kvsave_finish(v, true);
    else if (v->running)
        (void)pthread_join(v->thread, NULL); /* what it read is not saved: nothing came after it */
    list_each_safe (it, &v->sites) {
        struct kvsave_site *s = CONTAINER_OF(it, struct kvsave_site, node);

        kvsave_save_last(s);
        kvsave_site_free(s);
    }
    net_timer_close(v->timer);
    net_timer_close(v->start);
    net_watch_close(v->watch);
    fs_close(v->bell);
    mem_free(v->folder);
    mem_free(v);
}
