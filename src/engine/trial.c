/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    TRIAL_KINDS = 33,    /* the first one is of all that have none of their own */
    TRIAL_RING = 256,    /* newest costs of a kind on a side */
    TRIAL_WORKERS = 256, /* whose requests are counted; of more, the oldest is forgotten */
    TRIAL_HEAT = 16,     /* of a new kind: so many times all places are passed until it goes */
    TRIAL_HEAT_MAX = 255,
    TRIAL_FIRST = 2,    /* requests of a kind in a worker that are warm-up in any case */
    TRIAL_HOT = 130,    /* requests of a kind in one worker: PHP compiles at the 127th call */
    TRIAL_LONG = 600,   /* and in all workers together: workers do not live long enough */
    TRIAL_LEAST = 40,   /* costs on each side before a kind is compared */
    TRIAL_ENOUGH = 200, /* and in all kinds together before anything is decided */
    TRIAL_CUT = 5,      /* a fifth of the costs is cut off at both ends */
    TRIAL_SEGMENTS = 6, /* of a path that tell kinds apart */
    TRIAL_NAME = 24     /* a longer segment is the name of a thing */
};

/* The figures are looked at again and again, so chance has many chances. */
static const double trial_sure = 4.0;    /* standard errors */
static const double trial_matters = .01; /* of the cost */
static const double trial_covers = .5;

struct trial_series {
    uint32_t ring[TRIAL_RING];
    uint64_t n;      /* costs that went into it, ever */
    uint64_t early;  /* requests before */
    uint64_t spent;  /* their cost */
    uint64_t routed; /* requests given to this side */
    uint8_t hottest; /* most requests that one worker has seen */
};

struct trial_entry {
    uint64_t kind;
    uint16_t version; /* of the place: kinds come and go */
    uint8_t heat;     /* 0: free */
    int8_t owed;      /* the side that gets the pair's second request; -1: there is none */
    struct trial_series side[2];
};

struct trial_worker {
    uint64_t id;
    uint8_t served[TRIAL_KINDS];
};

struct trial {
    uint32_t id;
    uint64_t random;
    size_t hand;
    size_t next_worker;
    struct trial_entry entries[TRIAL_KINDS];
    struct trial_worker workers[TRIAL_WORKERS];
};

struct trial *trial_new(uint32_t id, uint64_t seed)
{
    struct trial *t = mem_new(sizeof(*t));

    t->id = id;
    t->random = seed;
    for (size_t i = 0; i < TRIAL_KINDS; i++)
        t->entries[i].owed = -1;
    t->entries[0].heat = 1;
    return t;
}

void trial_free(struct trial *t)
{
    mem_free(t);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static uint64_t hash(uint64_t h, struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.p[i]) * UINT64_C(1099511628211);
    return (h ^ 0xff) * UINT64_C(1099511628211); /* where one part ends */
}

/* 17, 2024-05-01, my-first-post, 3f2a9c: of a thing, where news, wp-admin and index.php are not. */
static bool is_name(struct str segment)
{
    size_t dashes = 0;

    for (size_t i = 0; i < segment.len; i++) {
        char c = segment.p[i];

        if ((c >= '0' && c <= '9') || c == '%')
            return true;
        dashes += c == '-' || c == '_';
    }
    return segment.len > TRIAL_NAME || dashes > 1;
}

uint64_t trial_kind(struct str method, struct str script, struct str path, struct str query)
{
    uint64_t h = hash(hash(UINT64_C(14695981039346656037), method), script);
    struct str segment;
    size_t n = 0;

    while (n++ < TRIAL_SEGMENTS && str_split(&path, '/', &segment))
        h = hash(h, is_name(segment) ? STR("*") : segment);
    if (query.len && str_split(&query, '=', &segment))
        h = hash(h, str_sub(segment, 0, TRIAL_NAME));
    return h;
}

static void clear_entry(struct trial *t, size_t at, uint64_t kind)
{
    struct trial_entry *e = &t->entries[at];

    *e = (struct trial_entry){
        .kind = kind, .version = (uint16_t)(e->version + 1), .heat = TRIAL_HEAT, .owed = -1};
    for (size_t i = 0; i < TRIAL_WORKERS; i++)
        t->workers[i].served[at] = 0;
}

/* The place of a kind. Those that find none cool the others down in turn, and now and then one of
 * them takes the place of one that is cold; 0 for the rest. */
static size_t find_entry(struct trial *t, uint64_t kind)
{
    size_t unused = 0;

    for (size_t i = 1; i < TRIAL_KINDS; i++) {
        struct trial_entry *e = &t->entries[i];

        if (!e->heat) {
            unused = unused ? unused : i;
        } else if (e->kind == kind) {
            e->heat += e->heat < TRIAL_HEAT_MAX;
            return i;
        }
    }
    if (!unused) {
        t->hand = t->hand % (TRIAL_KINDS - 1) + 1;
        if (--t->entries[t->hand].heat == 0)
            unused = t->hand;
    }
    if (unused)
        clear_entry(t, unused, kind);
    return unused;
}

/* --- requests --------------------------------------------------------------------------------- */

static bool draw(struct trial *t)
{
    t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return t->random >> 63;
}

uint64_t trial_route(struct trial *t, uint64_t kind, enum trial_side *side)
{
    size_t at = find_entry(t, kind);
    struct trial_entry *e = &t->entries[at];

    if (e->owed >= 0) {
        *side = (enum trial_side)e->owed;
        e->owed = -1;
    } else {
        *side = draw(t) ? TRIAL_WITH : TRIAL_WITHOUT;
        e->owed = *side == TRIAL_WITH ? TRIAL_WITHOUT : TRIAL_WITH;
    }
    e->side[*side].routed++;
    return (uint64_t)t->id << 32 | (uint64_t)e->version << 8 | (at + 1);
}

static uint8_t *worker_served(struct trial *t, uint64_t id, size_t at)
{
    struct trial_worker *w;

    for (size_t i = 0; i < TRIAL_WORKERS; i++)
        if (t->workers[i].id == id)
            return &t->workers[i].served[at];
    w = &t->workers[t->next_worker++ % TRIAL_WORKERS];
    *w = (struct trial_worker){.id = id};
    return &w->served[at];
}

void trial_add(
    struct trial *t, uint64_t tag, enum trial_side side, uint64_t worker, uint64_t cost_ns)
{
    size_t at = (size_t)(tag & 0xff) - 1;
    struct trial_entry *e;
    struct trial_series *s;
    uint8_t *served;
    bool first;

    if (tag >> 32 != t->id || at >= TRIAL_KINDS)
        return;
    e = &t->entries[at];
    if ((tag >> 8 & 0xffff) != e->version)
        return;
    s = &e->side[side];
    served = worker_served(t, worker, at);
    first = *served < TRIAL_FIRST;
    *served += *served < UINT8_MAX;
    if (*served > s->hottest)
        s->hottest = *served;
    if (first || (s->hottest < TRIAL_HOT && s->early < TRIAL_LONG)) {
        s->early++;
        s->spent += cost_ns;
        return;
    }
    s->ring[s->n++ % TRIAL_RING] = (uint32_t)MIN(cost_ns, (uint64_t)UINT32_MAX);
}

/* --- figures ---------------------------------------------------------------------------------- */

struct mean {
    double value;
    double variance; /* of the mean */
};

static int by_cost(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The mean without both tails; its variance after Yuen, from the values with the tails drawn in. */
static struct mean trimmed_mean(const struct trial_series *s)
{
    size_t n = (size_t)MIN(s->n, (uint64_t)TRIAL_RING), cut = n / TRIAL_CUT, kept = n - 2 * cut;
    double sum = 0, drawn = 0, squares = 0, center;
    uint32_t v[TRIAL_RING];

    memcpy(v, s->ring, n * sizeof(*v));
    qsort(v, n, sizeof(*v), by_cost);
    for (size_t i = 0; i < n; i++) {
        double x = v[MIN(MAX(i, cut), n - cut - 1)];

        drawn += x;
        sum += i >= cut && i < n - cut ? x : 0;
    }
    center = drawn / (double)n;
    for (size_t i = 0; i < n; i++) {
        double x = v[MIN(MAX(i, cut), n - cut - 1)] - center;

        squares += x * x;
    }
    return (struct mean){sum / (double)kept, squares / ((double)kept * ((double)kept - 1))};
}

static bool is_compared(const struct trial_entry *e)
{
    return e->heat && e->side[TRIAL_WITH].n >= TRIAL_LEAST &&
           e->side[TRIAL_WITHOUT].n >= TRIAL_LEAST;
}

static double requests_of(const struct trial_entry *e)
{
    return (double)(e->side[TRIAL_WITH].routed + e->side[TRIAL_WITHOUT].routed);
}

static enum trial_verdict verdict(const struct trial_figures *f)
{
    double base = MIN(f->cost[TRIAL_WITH], f->cost[TRIAL_WITHOUT]);
    double gain = f->cost[TRIAL_WITHOUT] - f->cost[TRIAL_WITH];

    if (f->samples[TRIAL_WITH] < TRIAL_ENOUGH || f->samples[TRIAL_WITHOUT] < TRIAL_ENOUGH ||
        f->covered < trial_covers || base <= 0)
        return TRIAL_OPEN;
    if (fabs(gain) > trial_sure * f->error && fabs(gain) > trial_matters * base)
        return gain > 0 ? TRIAL_BEST_WITH : TRIAL_BEST_WITHOUT;
    if (fabs(gain) + trial_sure * f->error < trial_matters * base)
        return TRIAL_SAME;
    return TRIAL_OPEN;
}

void trial_judge(const struct trial *t, struct trial_figures *out)
{
    struct trial_figures f = {0};
    double all = 0, compared = 0, variance = 0;

    for (size_t i = 0; i < TRIAL_KINDS; i++) {
        all += requests_of(&t->entries[i]);
        if (is_compared(&t->entries[i]))
            compared += requests_of(&t->entries[i]);
    }
    for (size_t i = 0; i < TRIAL_KINDS; i++) {
        const struct trial_entry *e = &t->entries[i];
        double share = requests_of(e) / compared;

        if (!is_compared(e))
            continue;
        f.kinds++;
        for (int k = TRIAL_WITH; k <= TRIAL_WITHOUT; k++) {
            const struct trial_series *s = &e->side[k];
            struct mean m = trimmed_mean(s);

            f.cost[k] += share * m.value;
            variance += share * share * m.variance;
            f.samples[k] += s->n;
            f.warmup[k] += (double)s->spent - (double)s->early * m.value;
        }
    }
    f.error = sqrt(variance);
    f.requests = (uint64_t)all;
    f.covered = all > 0 ? compared / all : 0;
    f.verdict = verdict(&f);
    *out = f;
}
