/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "net/deadline.h"

#include "base/mem.h"

static void deadline_schedule(struct deadline_set *s, uint64_t at)
{
    uint64_t now = net_loop_now(s->loop);

    if (s->armed_for && s->armed_for <= at)
        return;
    s->armed_for = at;
    net_timer_start(s->timer, at > now ? at - now : 0, 0);
}

static void deadline_expire(struct deadline_class *c, uint64_t now)
{
    struct list *first;

    while ((first = list_first(&c->members)) != NULL) {
        struct deadline *d = CONTAINER_OF(first, struct deadline, node);

        if (d->at > now)
            return;
        deadline_disarm(d);
        c->cb(d);
    }
}

static void deadline_fired(void *arg)
{
    struct deadline_set *s = arg;
    uint64_t now = net_loop_now(s->loop);
    uint64_t next = 0;

    s->armed_for = 0;
    list_each (it, &s->classes)
        deadline_expire(CONTAINER_OF(it, struct deadline_class, node), now);
    list_each (it, &s->classes) {
        struct list *first = list_first(&CONTAINER_OF(it, struct deadline_class, node)->members);
        uint64_t at = first ? CONTAINER_OF(first, struct deadline, node)->at : 0;

        if (at && (!next || at < next))
            next = at;
    }
    if (next)
        deadline_schedule(s, next);
}

void deadline_set_init(struct deadline_set *s, struct net_loop *l)
{
    *s = (struct deadline_set){.loop = l};
    s->timer = net_timer_open(l, deadline_fired, s);
    list_init(&s->classes);
}

void deadline_set_fini(struct deadline_set *s)
{
    net_timer_close(s->timer);
    list_each (it, &s->classes)
        ENSURE(list_empty(&CONTAINER_OF(it, struct deadline_class, node)->members));
}

void deadline_class_init(
    struct deadline_class *c, struct deadline_set *s, uint64_t ms, deadline_cb *cb)
{
    *c = (struct deadline_class){.set = s, .ms = ms, .cb = cb};
    list_init(&c->members);
    list_push(&s->classes, &c->node);
}

void deadline_class_set_ms(struct deadline_class *c, uint64_t ms)
{
    c->ms = ms;
}

void deadline_init(struct deadline *d)
{
    *d = (struct deadline){0};
    list_init(&d->node);
}

void deadline_arm(struct deadline *d, struct deadline_class *c)
{
    deadline_disarm(d);
    if (c->ms == 0)
        return;
    d->in = c;
    d->at = net_loop_now(c->set->loop) + c->ms;
    list_push(&c->members, &d->node);
    if (list_first(&c->members) == &d->node)
        deadline_schedule(c->set, d->at);
}

void deadline_disarm(struct deadline *d)
{
    if (!d->in)
        return;
    list_remove(&d->node);
    d->in = NULL;
}
