/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_TRIAL_H
#define EPHPM_ENGINE_TRIAL_H

/*
 * What a site's requests cost with the JIT and without: who gets which request, and what the
 * figures say. Pure: no clock, no I/O; the same calls give the same answers.
 *
 * Requests are told apart by kind (method, script, shape of the path), since a mean over all of
 * them would compare the traffic of two pools and not two ways of running it. Of two requests of a
 * kind in a row one goes to each side, in an order that is drawn anew for each pair: a client with
 * a rhythm of its own does not meet always the same side. The commonest kinds have a series each;
 * all others share the first one.
 *
 * What comes before a side is warm is counted apart: the first requests of each worker, and all
 * until one worker has seen so many of the kind that whatever runs once in a request is compiled.
 * Of the newest costs after that, both tails are cut off, and what is left is compared kind by
 * kind and weighted by each kind's share of the requests.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum trial_side { TRIAL_WITH, TRIAL_WITHOUT }; /* the JIT */
enum trial_verdict {
    TRIAL_OPEN,         /* not enough is known */
    TRIAL_BEST_WITH,    /* fewer CPU time with the JIT, by more than chance */
    TRIAL_BEST_WITHOUT, /* and without */
    TRIAL_SAME          /* what differs, if anything, is less than one per cent */
};

/* Nanoseconds are of CPU time in one request. */
struct trial_figures {
    enum trial_verdict verdict;
    double cost[2];      /* mean, by side; 0 while nothing can be compared */
    double error;        /* standard error of their difference */
    double warmup[2];    /* what warming a side took in all beyond the cost of its requests */
    uint64_t samples[2]; /* costs that are compared */
    uint64_t requests;   /* of which that many were given out */
    unsigned kinds;      /* that are compared */
    double covered;      /* their share of the requests, 0 to 1 */
};

struct trial;

/* About 80 KB. id tells the tags of one trial from those of another. */
struct trial *trial_new(uint32_t id, uint64_t seed);
void trial_free(struct trial *t); /* NULL is fine */

/* The kind of a request. Numbers and names of things in a path are left out ("/post/17" is
 * "/post/18"), and of a query all but the first name. */
uint64_t trial_kind(struct str method, struct str script, struct str path, struct str query);
/* The side for the next request of a kind, and a tag (never 0) for trial_add(). */
uint64_t trial_route(struct trial *t, uint64_t kind, enum trial_side *side);
/* What a request cost. A tag of another trial, or of a kind that had to make room, is ignored. */
void trial_add(
    struct trial *t, uint64_t tag, enum trial_side side, uint64_t worker, uint64_t cost_ns);
/* Takes up to 2 ms. */
void trial_judge(const struct trial *t, struct trial_figures *out);

#endif
