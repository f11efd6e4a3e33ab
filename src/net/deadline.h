/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_NET_DEADLINE_H
#define EPHPM_NET_DEADLINE_H

/*
 * Deadlines: many timeouts of few different lengths, on one timer.
 *
 * A class has one length, so members that are appended when they are armed stand in the order in
 * which they expire: arming and disarming are O(1) and make no system call. A struct deadline is
 * embedded in its object, is in at most one class at a time, and must be disarmed before the
 * object's memory goes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/loop.h"

struct deadline;
/* The member has been taken out already; it may be armed again or freed. */
typedef void deadline_cb(struct deadline *d);

struct deadline {
    struct list node;
    uint64_t at; /* loop milliseconds, valid while armed */
    struct deadline_class *in;
};

struct deadline_class {
    /* private to deadline.c */
    struct list members;
    struct list node;
    struct deadline_set *set;
    uint64_t ms; /* 0: off, arming does nothing */
    deadline_cb *cb;
};

/* The classes of one loop and their timer. */
struct deadline_set {
    /* private to deadline.c */
    struct net_loop *loop;
    struct net_timer *timer;
    struct list classes;
    uint64_t armed_for; /* 0: not armed */
};

void deadline_set_init(struct deadline_set *s, struct net_loop *l);
/* All classes must be empty. */
void deadline_set_fini(struct deadline_set *s);
void deadline_class_init(
    struct deadline_class *c, struct deadline_set *s, uint64_t ms, deadline_cb *cb);
/* Changes the length for members armed from now on (an earlier one may then fire up to the old
 * length late). */
void deadline_class_set_ms(struct deadline_class *c, uint64_t ms);

void deadline_init(struct deadline *d);
/* Starts (again): expires c->ms from now. Takes it out of its old class. */
void deadline_arm(struct deadline *d, struct deadline_class *c);
void deadline_disarm(struct deadline *d);
static inline bool deadline_armed(const struct deadline *d)
{
    return d->in != NULL;
}

#endif
