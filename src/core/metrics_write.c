/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/metrics.h"

struct str metrics_content_type(enum metrics_format format)
{
    return format == METRICS_OPEN
               ? STR("application/openmetrics-text; version=1.0.0; charset=utf-8")
               : STR("text/plain; version=0.0.4; charset=utf-8");
}

/* --- numbers and texts ------------------------------------------------------------------------ */

/* v with `decimals` digits behind the point, without zeros at the end: exact, unlike a double. */
static void write_number(struct buf *b, uint64_t v, unsigned decimals)
{
    char digits[20];
    size_t n;
    uint64_t unit = 1;

    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    buf_add_u64(b, v / unit);
    v %= unit;
    if (!v)
        return;
    n = str_put_u64(digits, v + unit); /* with a 1 before it, so that no zero is lost */
    while (digits[n - 1] == '0')
        n--;
    buf_add_char(b, '.');
    buf_add(b, digits + 1, n - 1);
}

static void write_signed(struct buf *b, int64_t v, unsigned decimals)
{
    if (v < 0)
        buf_add_char(b, '-');
    write_number(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, decimals);
}

/* A bound in the form that OpenMetrics prescribes: "0.005", "1.0", "5e+06". */
static void write_bound(struct buf *b, uint64_t v, unsigned decimals)
{
    uint64_t unit = 1;
    char digits[20];
    size_t n, end;

    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    if (v % unit || v / unit < 1000000) {
        write_number(b, v, decimals);
        if (v % unit == 0)
            buf_add_lit(b, ".0");
        return;
    }
    n = end = str_put_u64(digits, v / unit);
    while (end > 1 && digits[end - 1] == '0')
        end--;
    buf_add_char(b, digits[0]);
    if (end > 1) {
        buf_add_char(b, '.');
        buf_add(b, digits + 1, end - 1);
    }
    buf_printf(b, "e+%02zu", n - 1);
}

/* Backslash and line end are escaped everywhere, a quote where asked. Bytes that are not UTF-8
 * would cost the whole scrape. */
static void write_escaped(struct buf *b, const char *s, bool quotes)
{
    bool utf8 = str_is_utf8(str_c(s));

    for (; *s; s++) {
        if (*s == '\n')
            buf_add_lit(b, "\\n");
        else if (*s == '\\' || (quotes && *s == '"'))
            buf_printf(b, "\\%c", *s);
        else
            buf_add_char(b, !utf8 && (unsigned char)*s >= 0x80 ? '?' : *s);
    }
}

/* --- families --------------------------------------------------------------------------------- */

struct writer {
    const struct metrics *m;
    const struct metrics_schema *schema;
    const struct metrics_family *family;
    unsigned index; /* of the family */
    enum metrics_format format;
    struct buf *out;
    bool begun;                  /* HELP and TYPE are written */
    unsigned at[METRICS_LABELS]; /* values of this series */
};

static const char *const write_types[] = {"counter", "gauge", "histogram"};

static void write_begin(struct writer *w)
{
    const struct metrics_family *f = w->family;
    struct str name = str_c(f->name), total = STR("_total");

    if (w->begun)
        return;
    w->begun = true;
    /* OpenMetrics names a counter without what its sample ends in. */
    if (w->format == METRICS_OPEN && f->type == METRICS_COUNTER && str_ends(name, total))
        name.len -= total.len;
    buf_printf(w->out, "# HELP " STR_F " ", STR_A(name));
    write_escaped(w->out, f->help, w->format == METRICS_OPEN);
    buf_printf(w->out, "\n# TYPE " STR_F " %s\n", STR_A(name), write_types[f->type]);
}

/* name + suffix {labels, le} and a space. bound: of a bucket, NULL: none; inf: the last bucket. */
static void write_series(struct writer *w, const char *suffix, const uint64_t *bound, bool inf)
{
    const struct metrics_family *f = w->family;
    char text[METRICS_NAME_MAX + 1];
    struct buf *b = w->out;
    bool le = bound || inf;

    buf_add_str(b, str_c(f->name));
    buf_add_str(b, str_c(suffix));
    if (f->nlabels || le)
        buf_add_char(b, '{');
    for (unsigned i = 0; i < f->nlabels; i++) {
        buf_printf(b, "%s%s=\"", i ? "," : "", w->schema->labels[f->labels[i]].name);
        write_escaped(b, metrics_value_name(w->m, f->labels[i], w->at[i], text), true);
        buf_add_char(b, '"');
    }
    if (le) {
        buf_printf(b, "%sle=\"", f->nlabels ? "," : "");
        if (inf)
            buf_add_lit(b, "+Inf");
        else
            write_bound(b, *bound, f->decimals);
        buf_add_char(b, '"');
    }
    buf_add_str(b, f->nlabels || le ? STR("} ") : STR(" "));
}

static void write_histogram(struct writer *w, uint32_t series)
{
    const struct metrics_family *f = w->family;
    uint64_t count = 0;

    for (unsigned i = 0; i <= f->nbounds; i++) {
        count += metrics_word(w->m, w->index, series, i);
        write_series(w, "_bucket", i < f->nbounds ? &f->bounds[i] : NULL, i == f->nbounds);
        buf_add_u64(w->out, count);
        buf_add_char(w->out, '\n');
    }
    write_series(w, "_sum", NULL, false);
    write_number(w->out, metrics_word(w->m, w->index, series, f->nbounds + 1), f->decimals);
    buf_add_char(w->out, '\n');
    write_series(w, "_count", NULL, false);
    buf_add_u64(w->out, count);
    buf_add_char(w->out, '\n');
}

/* Is there something to show? "other" and the like only once it was used. */
static bool write_shows(const struct writer *w, uint32_t series)
{
    const struct metrics_family *f = w->family;
    char text[METRICS_NAME_MAX + 1];

    for (unsigned i = 0; i < f->nlabels; i++)
        if (!metrics_value_name(w->m, f->labels[i], w->at[i], text))
            return false;
    if (f->type == METRICS_GAUGE)
        return metrics_word(w->m, w->index, series, 0) != 0;
    if (metrics_get(w->m, w->index, series))
        return true;
    for (unsigned i = 0; i < f->nlabels; i++) {
        const struct metrics_label *l = &w->schema->labels[f->labels[i]];

        if (!l->values && w->at[i] == l->room)
            return false;
    }
    return f->zeros;
}

static void write_one(struct writer *w)
{
    uint32_t series = metrics_at(w->m, w->index, w->at[0], w->at[1], w->at[2]);

    if (!write_shows(w, series))
        return;
    write_begin(w);
    if (w->family->type == METRICS_HISTOGRAM) {
        write_histogram(w, series);
        return;
    }
    write_series(w, "", NULL, false);
    if (w->family->type == METRICS_GAUGE)
        write_signed(w->out, (int64_t)metrics_word(w->m, w->index, series, 1), w->family->decimals);
    else
        write_number(w->out, metrics_word(w->m, w->index, series, 0), w->family->decimals);
    buf_add_char(w->out, '\n');
}

/* The next combination of values; false after the last. */
static bool write_next(struct writer *w)
{
    for (unsigned i = w->family->nlabels; i-- > 0;) {
        if (++w->at[i] < metrics_values(&w->schema->labels[w->family->labels[i]]))
            return true;
        w->at[i] = 0;
    }
    return false;
}

void metrics_write(const struct metrics *m, enum metrics_format format, struct buf *out)
{
    struct writer w = {.m = m, .schema = metrics_schema_of(m), .format = format, .out = out};

    for (w.index = 0; w.index < w.schema->nfamilies; w.index++) {
        w.family = &w.schema->families[w.index];
        w.begun = false;
        do {
            write_one(&w);
        } while (write_next(&w));
    }
    if (format == METRICS_OPEN)
        buf_add_lit(out, "# EOF\n");
}

/* --- reference -------------------------------------------------------------------------------- */

static void reference_bounds(const struct metrics_family *f, struct buf *out)
{
    buf_add_lit(out, " Buckets:");
    for (unsigned i = 0; i < f->nbounds; i++) {
        buf_add_char(out, ' ');
        write_number(out, f->bounds[i], f->decimals);
    }
    buf_add_char(out, '.');
}

void metrics_reference(const struct metrics_schema *schema, struct buf *out)
{
    buf_add_lit(out, "| Name | Type | Labels | What it says |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < schema->nfamilies; i++) {
        const struct metrics_family *f = &schema->families[i];

        buf_printf(out, "| `%s` | %s | ", f->name, write_types[f->type]);
        for (unsigned j = 0; j < f->nlabels; j++)
            buf_printf(out, "%s`%s`", j ? ", " : "", schema->labels[f->labels[j]].name);
        buf_printf(out, " | %s", f->help);
        if (f->type == METRICS_HISTOGRAM)
            reference_bounds(f, out);
        buf_add_lit(out, " |\n");
    }
}
