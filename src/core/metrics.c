/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/metrics.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "platform/fs.h"
#include "platform/shm.h"

#define METRICS_MAGIC 0x73637274656d7065ull /* "epmetrcs" */

enum { METRICS_VERSION = 1, METRICS_NAME_WORDS = (METRICS_NAME_MAX + 1) / 8 };

struct metrics_header {
    uint64_t magic;
    uint32_t version;
    uint32_t nfamilies;
    uint64_t fingerprint; /* of the schema */
    uint64_t size;
    uint64_t reserved[4];
};
_Static_assert(sizeof(struct metrics_header) == 64, "layout");

/*
 * A claimed name. Whoever puts the hash into a free one has claimed it; then, or by anybody who
 * finds it without a length (its claimer may be dead), the text and at last its length are written.
 * All write the same.
 */
struct metrics_name {
    _Atomic uint64_t hash;   /* 0: free */
    _Atomic uint64_t length; /* 0: the text is not there yet */
    _Atomic uint64_t text[METRICS_NAME_WORDS];
};
_Static_assert(sizeof(struct metrics_name) == 80, "layout");

/* Where a family lies. */
struct metrics_place {
    _Atomic uint64_t *cells;
    uint32_t series;
    uint32_t width;                  /* words per series */
    uint32_t stride[METRICS_LABELS]; /* series between two values of a label */
};

struct metrics {
    const struct metrics_schema *schema;
    void *base;
    size_t size;
    struct metrics_name **names; /* per label; NULL: fixed values */
    struct metrics_place *places;
};

/* --- layout ----------------------------------------------------------------------------------- */

unsigned metrics_values(const struct metrics_label *l)
{
    return l->values ? l->room : l->room + 1;
}

static uint32_t metrics_width(const struct metrics_family *f)
{
    switch (f->type) {
    case METRICS_COUNTER:
        return 1;
    case METRICS_GAUGE:
        return 2;
    case METRICS_HISTOGRAM:
        return f->nbounds + 2;
    }
    return 0;
}

static uint32_t metrics_series_count(
    const struct metrics_schema *s, const struct metrics_family *f, uint32_t *stride)
{
    uint32_t n = 1;

    for (unsigned i = f->nlabels; i-- > 0;) {
        stride[i] = n;
        n *= metrics_values(&s->labels[f->labels[i]]);
    }
    return n;
}

/* Bytes of the segment; with m, sets where everything is. */
static size_t metrics_layout(const struct metrics_schema *s, struct metrics *m)
{
    size_t at = sizeof(struct metrics_header);

    for (unsigned i = 0; i < s->nlabels; i++) {
        if (s->labels[i].values)
            continue;
        if (m)
            m->names[i] = (struct metrics_name *)(void *)((char *)m->base + at);
        at += s->labels[i].room * sizeof(struct metrics_name);
    }
    for (unsigned i = 0; i < s->nfamilies; i++) {
        const struct metrics_family *f = &s->families[i];
        struct metrics_place p = {.width = metrics_width(f)};

        p.series = metrics_series_count(s, f, p.stride);
        if (m) {
            p.cells = (_Atomic uint64_t *)(void *)((char *)m->base + at);
            m->places[i] = p;
        }
        at += (size_t)p.series * p.width * sizeof(uint64_t);
    }
    return at;
}

static uint64_t metrics_mix(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3ull; /* FNV-1a */
    return h;
}

static uint64_t metrics_mix_text(uint64_t h, const char *s)
{
    return metrics_mix(h, s, strlen(s) + 1);
}

/* Of all that decides what a cell means. */
static uint64_t metrics_fingerprint(const struct metrics_schema *s)
{
    uint64_t h = 0xcbf29ce484222325ull;

    for (unsigned i = 0; i < s->nlabels; i++) {
        const struct metrics_label *l = &s->labels[i];

        h = metrics_mix_text(h, l->name);
        h = metrics_mix(h, &l->room, sizeof(l->room));
        for (unsigned j = 0; l->values && j < l->room; j++)
            h = metrics_mix_text(h, l->values[j]);
    }
    for (unsigned i = 0; i < s->nfamilies; i++) {
        const struct metrics_family *f = &s->families[i];

        h = metrics_mix_text(h, f->name);
        h = metrics_mix(h, &f->type, sizeof(f->type));
        h = metrics_mix(h, &f->decimals, sizeof(f->decimals));
        h = metrics_mix(h, f->labels, sizeof(f->labels));
        for (unsigned j = 0; j < f->nbounds; j++)
            h = metrics_mix(h, &f->bounds[j], sizeof(f->bounds[j]));
    }
    return h;
}

/* --- life ------------------------------------------------------------------------------------- */

int metrics_create(const struct metrics_schema *schema, int *fd)
{
    struct metrics_header *h;
    size_t size = metrics_layout(schema, NULL);
    void *base;
    int out, rc;

    rc = shm_create("ephpm-metrics", size, &out);
    if (rc)
        return rc;
    rc = shm_map(out, size, &base);
    if (rc == 0) {
        h = base;
        h->version = METRICS_VERSION;
        h->nfamilies = schema->nfamilies;
        h->fingerprint = metrics_fingerprint(schema);
        h->size = size;
        h->magic = METRICS_MAGIC;
        shm_unmap(base, size);
        *fd = out;
        return 0;
    }
    fs_close(out);
    return rc;
}

int metrics_open(const struct metrics_schema *schema, int fd, struct metrics **out)
{
    const struct metrics_header *h;
    struct metrics *m;
    size_t size = metrics_layout(schema, NULL);
    void *base;
    int rc = shm_map(fd, size, &base);

    if (rc)
        return rc;
    h = base;
    if (h->magic != METRICS_MAGIC || h->version != METRICS_VERSION || h->size != size ||
        h->nfamilies != schema->nfamilies || h->fingerprint != metrics_fingerprint(schema)) {
        shm_unmap(base, size);
        return ERR_VERSION;
    }
    m = mem_new(sizeof(*m));
    m->schema = schema;
    m->base = base;
    m->size = size;
    m->names = mem_new_array(schema->nlabels, sizeof(struct metrics_name *));
    m->places = mem_new_array(schema->nfamilies, sizeof(*m->places));
    (void)metrics_layout(schema, m);
    *out = m;
    return 0;
}

void metrics_close(struct metrics *m)
{
    if (!m)
        return;
    shm_unmap(m->base, m->size);
    mem_free(m->names);
    mem_free(m->places);
    mem_free(m);
}

const struct metrics_schema *metrics_schema_of(const struct metrics *m)
{
    return m->schema;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Relaxed: who reads the text has seen the length, whose release comes after it. */
static void metrics_write_name(struct metrics_name *n, struct str name)
{
    uint64_t words[METRICS_NAME_WORDS] = {0};

    memcpy(words, name.p, name.len);
    for (unsigned i = 0; i < METRICS_NAME_WORDS; i++)
        atomic_store_explicit(&n->text[i], words[i], memory_order_relaxed);
    /* Release: matches the acquire in metrics_value_name(). */
    atomic_store_explicit(&n->length, name.len, memory_order_release);
}

unsigned metrics_claim(struct metrics *m, unsigned label, struct str name)
{
    struct metrics_name *names = m->names[label];
    unsigned room = m->schema->labels[label].room;
    uint64_t hash;

    ENSURE(label < m->schema->nlabels && names);
    if (!name.len)
        return room;
    name = str_sub(name, 0, METRICS_NAME_MAX);
    hash = metrics_mix(0xcbf29ce484222325ull, name.p, name.len) | 1;
    for (unsigned i = 0; i < room; i++) {
        uint64_t there = 0;

        /* Relaxed: the hash alone is compared; the text is guarded by its length. */
        if (!atomic_compare_exchange_strong_explicit(
                &names[i].hash, &there, hash, memory_order_relaxed, memory_order_relaxed) &&
            there != hash)
            continue;
        if (atomic_load_explicit(&names[i].length, memory_order_relaxed) == 0)
            metrics_write_name(&names[i], name);
        return i;
    }
    return room;
}

const char *metrics_value_name(const struct metrics *m, unsigned label, unsigned place, char *text)
{
    const struct metrics_label *l = &m->schema->labels[label];
    const struct metrics_name *n;
    uint64_t words[METRICS_NAME_WORDS], length;

    if (l->values)
        return l->values[place];
    if (place >= l->room)
        return "other";
    n = &m->names[label][place];
    /* Acquire: matches the release in metrics_write_name(). */
    length = atomic_load_explicit(&n->length, memory_order_acquire);
    if (length == 0 || length > METRICS_NAME_MAX)
        return NULL;
    for (unsigned i = 0; i < METRICS_NAME_WORDS; i++)
        words[i] = atomic_load_explicit(&n->text[i], memory_order_relaxed);
    memcpy(text, words, (size_t)length);
    text[length] = '\0';
    return text;
}

/* --- recording: every word stands for itself, so all orders are relaxed ------------------------
 */

static _Atomic uint64_t *metrics_cell(const struct metrics *m, unsigned family, uint32_t series)
{
    const struct metrics_place *p = &m->places[family];

    ENSURE(family < m->schema->nfamilies && series < p->series);
    return p->cells + (size_t)series * p->width;
}

uint32_t metrics_at(const struct metrics *m, unsigned family, unsigned a, unsigned b, unsigned c)
{
    const uint32_t *stride = m->places[family].stride;

    return a * stride[0] + b * stride[1] + c * stride[2];
}

void metrics_add(struct metrics *m, unsigned family, uint32_t series, uint64_t n)
{
    atomic_fetch_add_explicit(metrics_cell(m, family, series), n, memory_order_relaxed);
}

void metrics_raise(struct metrics *m, unsigned family, uint32_t series, uint64_t value)
{
    _Atomic uint64_t *cell = metrics_cell(m, family, series);
    uint64_t now = atomic_load_explicit(cell, memory_order_relaxed);

    while (now < value && !atomic_compare_exchange_weak_explicit(
                              cell, &now, value, memory_order_relaxed, memory_order_relaxed))
        continue;
}

void metrics_set(struct metrics *m, unsigned family, uint32_t series, int64_t value)
{
    _Atomic uint64_t *cell = metrics_cell(m, family, series);

    atomic_store_explicit(cell + 1, (uint64_t)value, memory_order_relaxed);
    atomic_store_explicit(cell, 1, memory_order_relaxed);
}

void metrics_clear(struct metrics *m, unsigned family, uint32_t series)
{
    atomic_store_explicit(metrics_cell(m, family, series), 0, memory_order_relaxed);
}

static void metrics_clear_series(struct metrics *m, unsigned family, unsigned label, unsigned value)
{
    const struct metrics_family *f = &m->schema->families[family];
    const struct metrics_place *p = &m->places[family];

    for (unsigned i = 0; i < f->nlabels; i++) {
        uint32_t values = metrics_values(&m->schema->labels[f->labels[i]]);

        for (uint32_t at = 0; f->labels[i] == label && at < p->series; at++)
            if (at / p->stride[i] % values == value)
                metrics_clear(m, family, at);
    }
}

void metrics_clear_value(struct metrics *m, unsigned label, unsigned value)
{
    if (value >= m->schema->labels[label].room)
        return;
    for (unsigned i = 0; i < m->schema->nfamilies; i++)
        if (m->schema->families[i].type == METRICS_GAUGE)
            metrics_clear_series(m, i, label, value);
}

void metrics_observe(struct metrics *m, unsigned family, uint32_t series, uint64_t value)
{
    metrics_observe_many(m, family, series, value, 1, value);
}

void metrics_observe_many(
    struct metrics *m, unsigned family, uint32_t series, uint64_t value, uint64_t n, uint64_t sum)
{
    const struct metrics_family *f = &m->schema->families[family];
    _Atomic uint64_t *cell = metrics_cell(m, family, series);
    unsigned i = 0;

    while (i < f->nbounds && value > f->bounds[i])
        i++;
    atomic_fetch_add_explicit(cell + i, n, memory_order_relaxed);
    atomic_fetch_add_explicit(cell + f->nbounds + 1, sum, memory_order_relaxed);
}

uint64_t metrics_word(const struct metrics *m, unsigned family, uint32_t series, unsigned i)
{
    return atomic_load_explicit(metrics_cell(m, family, series) + i, memory_order_relaxed);
}

uint64_t metrics_get(const struct metrics *m, unsigned family, uint32_t series)
{
    const struct metrics_family *f = &m->schema->families[family];
    uint64_t n = 0;

    switch (f->type) {
    case METRICS_COUNTER:
        return metrics_word(m, family, series, 0);
    case METRICS_GAUGE:
        return metrics_word(m, family, series, 1);
    case METRICS_HISTOGRAM:
        for (unsigned i = 0; i <= f->nbounds; i++)
            n += metrics_word(m, family, series, i);
    }
    return n;
}
