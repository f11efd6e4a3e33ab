/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "core/log.h"
#include "engine/master.h"
#include "platform/fs.h"

/*
 * The end of a site: its folder in server.sites_dir is gone. It leaves as a generation does, what
 * runs is finished; when none of its processes is left, its store is saved and freed, and every
 * role forgets it. If it is asked for again before that, it stays.
 *
 * A reload believes what it sees. By itself the master looks a few times before it does, since a
 * release may be moved into the folder's place; and not at all while sites_dir is not the folder
 * that it was, since what is missing may be a mount.
 */
enum { SITES_LOOK_MS = 4000, SITES_LOOKS = 3 };

static bool sites_folder_is_gone(const struct site *s)
{
    struct fs_stat st;
    int rc = fs_stat(s->folder, &st);

    return rc == ERR_NOTFOUND || rc == ERR_NOTDIR || (rc == 0 && st.kind != FS_DIR);
}

static void sites_look(struct master *m, unsigned looks)
{
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (!s->folder || s->leaving)
            continue;
        if (!sites_folder_is_gone(s)) {
            s->missed = 0;
        } else if (++s->missed >= looks) {
            s->leaving = true;
            log_info("site_leaves", F_CSTR("site", s->name), F_CSTR("missing", s->folder));
        }
    }
}

static bool sites_dir_is(struct master *m, struct fs_stat *st)
{
    return fs_stat(m->config->server.sites_dir, st) == 0 && st->kind == FS_DIR;
}

void sites_reloaded(struct master *m)
{
    struct fs_stat st;

    if (!config_is_multi(m->config) || !sites_dir_is(m, &st))
        return;
    m->sites_dir = st;
    sites_look(m, 1);
}

static void sites_on_timer(void *arg)
{
    struct master *m = arg;
    struct fs_stat st;

    if (!m->stopping && sites_dir_is(m, &st) && st.ino == m->sites_dir.ino &&
        st.dev == m->sites_dir.dev)
        sites_look(m, SITES_LOOKS);
}

void sites_init(struct master *m)
{
    if (!config_is_multi(m->config))
        return;
    sites_reloaded(m);
    m->sites_timer = net_timer_open(m->loop, sites_on_timer, m);
    net_timer_start(m->sites_timer, SITES_LOOK_MS, SITES_LOOK_MS);
}

static bool sites_has_generation(const struct site *s)
{
    list_each (it, &s->master->generations)
        if (CONTAINER_OF(it, struct generation, node)->of == s)
            return true;
    return false;
}

static void sites_end(struct site *s)
{
    struct master *m = s->master;
    struct ipc_out out;

    log_info("site_gone", F_CSTR("site", s->name));
    stores_close(s);
    databases_close(s);
    ipc_begin(&out, "site_gone");
    ipc_add(&out, "site", str_c(s->name));
    roles_tell_front(m, &out);
    metrics_clear_value(m->metrics, METRIC_LABEL_SITE, s->label);
    deploy_site_free(s);
}

void sites_sweep(struct master *m)
{
    list_each_safe (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (!s->leaving || s->op.step != OP_NONE)
            continue;
        s->recover_due = s->deploy_due = false;
        if (s->active)
            generation_drain(s->active);
        if (!sites_has_generation(s) && stores_may_close(s))
            sites_end(s);
    }
}
