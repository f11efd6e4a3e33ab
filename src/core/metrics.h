/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_METRICS_H
#define EPHPM_CORE_METRICS_H

/*
 * Counters, gauges and histograms in shared memory, and the text that Prometheus reads.
 *
 * What there is is said by a schema: tables of labels and of families, the same in every process of
 * the server. A label has a fixed list of values, or values that are claimed by name as they come
 * up (sites), of which there is room for a fixed number; all beyond share the value "other". So
 * the number of series is bounded, and known when the segment is made: every family is a plain
 * array over the values of its labels, and a series is an index into it.
 *
 *   | header | names of each label that is claimed | cells of family 0 | of family 1 | ...
 *
 *   counter    | u64 |
 *   gauge      | u64: 1 when it was set | i64 |
 *   histogram  | u64 per bucket, the last is +Inf | u64 sum |
 *
 * One process makes the segment and passes its descriptor on; each of them opens it. Any of them
 * may record, read and write it out at any time, and be killed at any time: a cell is one atomic
 * word, and a name that was half written is written again by the next one who claims it. There is
 * no lock. Only processes that trust one another may share it.
 *
 * Values are whole numbers of a small unit; `decimals` says how many of its digits stand behind the
 * point in the output (9: nanoseconds that are shown as seconds). Recording never fails and never
 * allocates. A struct metrics may be used by several threads.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct metrics;

enum metrics_type { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };
enum { METRICS_LABELS = 3, METRICS_NAME_MAX = 63 };

struct metrics_label {
    const char *name;
    const char *const *values; /* NULL: claimed by name */
    unsigned room;             /* how many values, or how many names can be claimed */
};

struct metrics_family {
    const char *name; /* of a counter: with its _total */
    enum metrics_type type;
    unsigned decimals; /* of values, sum and bounds: 0 to 9 */
    bool zeros;        /* counters and histograms: also those that never counted */
    unsigned nlabels;
    unsigned labels[METRICS_LABELS]; /* places in the schema's labels */
    const uint64_t *bounds;          /* HISTOGRAM: upper bounds, ascending; +Inf follows */
    unsigned nbounds;
    const char *help;
};

/* All static. */
struct metrics_schema {
    const struct metrics_label *labels;
    unsigned nlabels;
    const struct metrics_family *families;
    unsigned nfamilies;
};

/* A segment for the schema. Errors as shm_create(). */
int metrics_create(const struct metrics_schema *schema, int *fd) MUST_CHECK;
/* Maps it; fd stays the caller's. ERR_VERSION: it was made for another schema. Else as shm_map().
 */
int metrics_open(const struct metrics_schema *schema, int fd, struct metrics **out) MUST_CHECK;
void metrics_close(struct metrics *m); /* NULL is fine */

/* The value of a claimed label that stands for name, which is cut to METRICS_NAME_MAX bytes. When
 * there is no room: the one of "other". Stays the same as long as the segment lives. */
unsigned metrics_claim(struct metrics *m, unsigned label, struct str name);

/* The series of a family at these values of its labels, in their order; the rest is 0. */
uint32_t metrics_at(const struct metrics *m, unsigned family, unsigned a, unsigned b, unsigned c);

/* Counters. */
void metrics_add(struct metrics *m, unsigned family, uint32_t series, uint64_t n);
/* A counter that is kept elsewhere: sets it, never to less than it is. */
void metrics_raise(struct metrics *m, unsigned family, uint32_t series, uint64_t value);
/* Gauges. One that was cleared, or was never set, is not shown. */
void metrics_set(struct metrics *m, unsigned family, uint32_t series, int64_t value);
void metrics_clear(struct metrics *m, unsigned family, uint32_t series);
/* Clears all gauges of that value of a claimed label, whatever their other labels are: what it
 * names is gone. Nothing happens to "other", which is many. */
void metrics_clear_value(struct metrics *m, unsigned label, unsigned value);
/* Histograms. */
void metrics_observe(struct metrics *m, unsigned family, uint32_t series, uint64_t value);
/* n values that were counted elsewhere: none is above value, and sum is what they are together. */
void metrics_observe_many(
    struct metrics *m, unsigned family, uint32_t series, uint64_t value, uint64_t n, uint64_t sum);
/* Value of a counter, of a gauge as unsigned, or the count of a histogram. */
uint64_t metrics_get(const struct metrics *m, unsigned family, uint32_t series);

/* --- metrics_write.c -------------------------------------------------------------------------- */

enum metrics_format {
    METRICS_TEXT, /* Prometheus text format 0.0.4 */
    METRICS_OPEN  /* OpenMetrics 1.0 */
};

/* The Content-Type. Static. */
struct str metrics_content_type(enum metrics_format format);
/* Appends all families that have a series to show. Its size is bounded by the schema. */
void metrics_write(const struct metrics *m, enum metrics_format format, struct buf *out);
/* The families as a table in Markdown. */
void metrics_reference(const struct metrics_schema *schema, struct buf *out);

/* --- between the files ------------------------------------------------------------------------ */

/* The value of a label at a place: NULL when the place was never claimed; "other" behind the last.
 * text holds METRICS_NAME_MAX + 1 bytes. */
const char *metrics_value_name(const struct metrics *m, unsigned label, unsigned place, char *text);
/* Values of a label, with "other". */
unsigned metrics_values(const struct metrics_label *l);
const struct metrics_schema *metrics_schema_of(const struct metrics *m);
/* A word of a series. */
uint64_t metrics_word(const struct metrics *m, unsigned family, uint32_t series, unsigned i);

#endif
