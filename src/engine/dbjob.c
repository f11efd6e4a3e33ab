/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/dbjob.h"

#include <pthread.h>

#include "base/list.h"
#include "base/mem.h"
#include "db/store/server.h"

enum { DBJOBS_MAX = 16, DBJOBS_STACK = 1 << 20 };

struct dbjob_run {
    struct list node;
    struct dbjobs *of;
    struct dbjob job;
    char *database, *path;
    pthread_t thread;
    struct db_error error;
    struct buf report;
};

struct dbjobs {
    struct db_server *engine;
    dbjob_done_cb *done;
    void *arg;
    sock_t pair[2]; /* a thread writes a byte to the second when it is through */
    struct net_watch *watch;
    unsigned running;
    pthread_mutex_t lock;
    struct list ended; /* its lock */
};

static void *dbjob_main(void *arg)
{
    struct dbjob_run *r = arg;
    struct dbjobs *j = r->of;
    struct str byte = STR("!");
    size_t sent;
    int rc = 0;

    switch (r->job.kind) {
    case DBJOB_OPEN:
        rc = db_server_open(j->engine, r->job.database, &r->error);
        break;
    case DBJOB_BACKUP:
        rc = db_server_backup(j->engine, r->job.database, r->path, &r->error);
        break;
    case DBJOB_CHECK:
        rc = db_server_check(j->engine, r->job.database, &r->report, &r->error);
        break;
    }
    if (rc && !r->error.number)
        (void)db_error_text(&r->error, DB_E_UNKNOWN, "%s", err_text(rc));
    ENSURE(pthread_mutex_lock(&j->lock) == 0);
    list_push(&j->ended, &r->node);
    ENSURE(pthread_mutex_unlock(&j->lock) == 0);
    (void)!sock_sendv(j->pair[1], &byte, 1, false, &sent); /* full: it is readable anyway */
    return NULL;
}

static void dbjob_free(struct dbjob_run *r)
{
    buf_fini(&r->report);
    mem_free(r->database);
    mem_free(r->path);
    mem_free(r);
}

static struct dbjob_run *dbjobs_take(struct dbjobs *j)
{
    struct list *it;

    ENSURE(pthread_mutex_lock(&j->lock) == 0);
    it = list_pop(&j->ended);
    ENSURE(pthread_mutex_unlock(&j->lock) == 0);
    return it ? CONTAINER_OF(it, struct dbjob_run, node) : NULL;
}

static void dbjobs_on_ended(void *arg, int events)
{
    struct dbjobs *j = arg;
    struct dbjob_run *r;
    char waste[DBJOBS_MAX];
    size_t got;

    (void)events;
    (void)!sock_recv(j->pair[0], waste, sizeof(waste), &got); /* the list says more */
    while ((r = dbjobs_take(j)) != NULL) {
        (void)pthread_join(r->thread, NULL); /* it has ended, or is about to */
        j->running--;
        j->done(j->arg, &r->job, &r->error, buf_str(&r->report));
        dbjob_free(r);
    }
}

int dbjobs_new(struct net_loop *loop, struct db_server *engine, dbjob_done_cb *done, void *arg,
    struct dbjobs **out)
{
    struct dbjobs *j = mem_new(sizeof(*j));
    int rc;

    j->engine = engine;
    j->done = done;
    j->arg = arg;
    list_init(&j->ended);
    rc = sock_stream_pair(j->pair);
    if (rc == 0)
        rc = net_watch_open(loop, j->pair[0], dbjobs_on_ended, j, &j->watch);
    if (rc) {
        mem_free(j);
        return rc;
    }
    ENSURE(pthread_mutex_init(&j->lock, NULL) == 0);
    net_watch_set(j->watch, NET_READ);
    *out = j;
    return 0;
}

int dbjobs_start(struct dbjobs *j, const struct dbjob *job)
{
    struct dbjob_run *r;
    pthread_attr_t attr;
    int rc;

    if (j->running >= DBJOBS_MAX)
        return ERR_BUSY;
    r = mem_new(sizeof(*r));
    r->of = j;
    r->job = *job;
    r->database = mem_dup_str(job->database.p, job->database.len);
    r->path = mem_dup_str(job->path.p, job->path.len);
    r->job.database = str_c(r->database);
    r->job.path = str_c(r->path);
    rc = pthread_attr_init(&attr);
    if (rc == 0) {
        (void)pthread_attr_setstacksize(&attr, DBJOBS_STACK); /* else it has the usual one */
        rc = pthread_create(&r->thread, &attr, dbjob_main, r);
        (void)pthread_attr_destroy(&attr);
    }
    if (rc) {
        dbjob_free(r);
        return ERR_NOMEM;
    }
    j->running++;
    return 0;
}

void dbjobs_free(struct dbjobs *j)
{
    struct dbjob_run *r;

    if (!j)
        return;
    net_watch_close(j->watch);
    while (j->running) {
        (void)!sock_wait_readable(j->pair[0], 100); /* the list says more */
        while ((r = dbjobs_take(j)) != NULL) {
            (void)pthread_join(r->thread, NULL); /* as above */
            j->running--;
            dbjob_free(r);
        }
    }
    sock_close(j->pair[0]);
    sock_close(j->pair[1]);
    (void)pthread_mutex_destroy(&j->lock); /* no thread is left */
    mem_free(j);
}
