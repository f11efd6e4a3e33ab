/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "platform/clock.h"

enum {
    THREADS_STACK = 1 << 20, /* address space; what is not used costs no memory */
    THREADS_KEEP = 32,       /* waiting at the same time */
    THREADS_KEEP_S = 60,     /* for a job, then it ends */
    THREADS_CLOSE_MS = 2000
};

struct mysql_threads {
    mysql_job_cb *run;
    struct db_stats *stats;
    pthread_mutex_t lock;
    pthread_cond_t more; /* a job, or the end */
    struct list jobs;    /* that no thread has taken */
    unsigned njobs;
    unsigned idle;    /* threads that wait */
    unsigned threads; /* all of them */
    bool closing;
};

static void threads_lock(struct mysql_threads *t)
{
    ENSURE(pthread_mutex_lock(&t->lock) == 0);
}

static void threads_unlock(struct mysql_threads *t)
{
    ENSURE(pthread_mutex_unlock(&t->lock) == 0);
}

/* The next job, or NULL when the thread shall end. Holds the lock. */
static struct list *threads_wait(struct mysql_threads *t)
{
    uint64_t until = clock_wall_us() / 1000000 + THREADS_KEEP_S;
    struct timespec at = {.tv_sec = (time_t)until};
    int rc = 0;

    if (t->njobs == 0 && t->idle >= THREADS_KEEP)
        return NULL;
    t->idle++;
    db_count(&t->stats->threads_cached, 1);
    while (t->njobs == 0 && !t->closing && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&t->more, &t->lock, &at);
    t->idle--;
    db_uncount(&t->stats->threads_cached, 1);
    if (t->njobs == 0)
        return NULL;
    t->njobs--;
    return list_pop(&t->jobs);
}

static void *threads_main(void *arg)
{
    struct mysql_threads *t = arg;
    struct list *job;

    threads_lock(t);
    while ((job = threads_wait(t)) != NULL) {
        threads_unlock(t);
        t->run(job);
        threads_lock(t);
    }
    t->threads--;
    threads_unlock(t);
    return NULL;
}

struct mysql_threads *mysql_threads_new(mysql_job_cb *run, struct db_stats *stats)
{
    struct mysql_threads *t = mem_new(sizeof(*t));

    t->run = run;
    t->stats = stats;
    list_init(&t->jobs);
    ENSURE(pthread_mutex_init(&t->lock, NULL) == 0);
    ENSURE(pthread_cond_init(&t->more, NULL) == 0);
    return t;
}

static int threads_start(struct mysql_threads *t)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    int rc;

    if (pthread_attr_init(&attr))
        return ERR_NOMEM;
    (void)pthread_attr_setstacksize(&attr, THREADS_STACK); /* else it has the usual one */
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED); /* cannot fail */
    /* Signals are the loop's. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, &attr, threads_main, t);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return rc ? ERR_NOMEM : 0;
}

int mysql_threads_run(struct mysql_threads *t, struct list *job)
{
    int rc = 0;

    threads_lock(t);
    list_push(&t->jobs, job);
    t->njobs++;
    if (t->idle >= t->njobs) {
        ENSURE(pthread_cond_signal(&t->more) == 0);
    } else {
        rc = threads_start(t);
        if (rc == 0) {
            t->threads++;
            db_count(&t->stats->threads_created, 1);
        } else { /* a waiting one may have it already, but it needs the lock to take it */
            list_remove(job);
            t->njobs--;
        }
    }
    threads_unlock(t);
    return rc;
}

bool mysql_threads_close(struct mysql_threads *t)
{
    uint64_t end = clock_mono_ms() + THREADS_CLOSE_MS;
    unsigned n;

    threads_lock(t);
    t->closing = true;
    (void)pthread_cond_broadcast(&t->more);
    threads_unlock(t);
    do {
        threads_lock(t);
        n = t->threads;
        threads_unlock(t);
        if (n)
            clock_sleep_ms(1);
    } while (n && clock_mono_ms() < end);
    return n == 0;
}

void mysql_threads_free(struct mysql_threads *t)
{
    if (!t)
        return;
    (void)pthread_mutex_destroy(&t->lock); /* nobody is left */
    (void)pthread_cond_destroy(&t->more);
    mem_free(t);
}
