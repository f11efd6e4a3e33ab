/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/static.h"

#include "http/mime.h"
#include "http/negotiate.h"

enum { NS_PER_S = 1000000000 };

/* What is known while a plan is made. */
struct planner {
    const struct static_config *cfg;
    const struct static_ask *ask;
    struct arena *arena;
    struct static_plan *plan;
    struct str type;
    struct str accept_encoding;
    struct str etag_file; /* of the file itself */
    struct str etag;      /* of what is sent */
    int64_t mtime;
    bool vary;
    struct cond cond;
    size_t nranges;
    struct range ranges[RANGE_MAX];
    enum range_result range;
};

static struct str get(const struct fields *f, struct str name)
{
    const struct str *v = fields_get(f, name);

    if (!v)
        return STR_NONE;
    return v->p ? *v : STR("");
}

/* All fields of a list-valued name as one. */
static struct str get_list(const struct fields *f, struct str name)
{
    struct str v;

    if (!fields_join(f, name, &v))
        return STR_NONE;
    return v.p ? v : STR("");
}

static int64_t seconds_of(const struct fs_stat *st)
{
    return st->mtime_ns > 0 ? st->mtime_ns / NS_PER_S : 0;
}

static struct str etag_of(struct planner *p, const struct fs_stat *st)
{
    char text[COND_ETAG_MAX];
    size_t n;

    if (!p->cfg->etag)
        return STR_NONE;
    n = cond_etag_format(st->mtime_ns, st->size, text);
    return arena_str(p->arena, str_n(text, n));
}

/* Codings with a sibling that is not older than the file; st has a place for each. */
static unsigned find_siblings(struct planner *p, struct fs_stat st[CODING_COUNT])
{
    const struct static_ask *ask = p->ask;
    unsigned set = 0;

    if (!p->cfg->precompressed || !ask->sibling)
        return 0;
    for (int c = CODING_IDENTITY + 1; c < CODING_COUNT; c++) {
        if (ask->sibling(ask->sibling_arg, (enum coding)c, &st[c]) &&
            seconds_of(&st[c]) >= p->mtime)
            set |= CODING_BIT(c);
    }
    return set;
}

static enum coding choose_encoding(struct planner *p)
{
    const struct static_config *cfg = p->cfg;
    uint64_t size = p->ask->st->size;
    struct compress_ask ask = {.status = 200,
        .body_size = (int64_t)MIN(size, (uint64_t)INT64_MAX),
        .content_type = p->type,
        .cache_control = cfg->cache_control,
        .accept_encoding = p->accept_encoding};
    enum coding c;
    bool vary;

    if (!cfg->compress || (cfg->compress_max > 0 && size > cfg->compress_max))
        return CODING_IDENTITY;
    c = compress_decide(cfg->compress, &ask, &vary);
    p->vary |= vary;
    return c;
}

/* Selects the representation: which bytes, under which coding and ETag. */
static void choose_representation(struct planner *p)
{
    struct static_plan *plan = p->plan;
    struct fs_stat siblings[CODING_COUNT];
    unsigned set = find_siblings(p, siblings);
    struct negotiate n = negotiate_parse(p->accept_encoding);
    enum coding encode = choose_encoding(p);

    p->vary |= set != 0;
    p->etag = p->etag_file;
    plan->length = p->ask->st->size;
    /* Ranges are of the file itself, so that parts of different answers fit together. */
    if (p->range != RANGE_WHOLE)
        return;
    plan->variant = negotiate_choose(&n, set);
    if (plan->variant != CODING_IDENTITY) {
        plan->length = siblings[plan->variant].size;
        p->etag = etag_of(p, &siblings[plan->variant]);
        return;
    }
    plan->encode = encode;
    if (encode != CODING_IDENTITY && p->etag.len > 0)
        p->etag = arena_printf(p->arena, "W/" STR_F, STR_A(p->etag_file));
}

static void read_conditions(struct planner *p)
{
    const struct fields *f = p->ask->request;

    p->cond = (struct cond){
        .if_match = get_list(f, STR("If-Match")),
        .if_none_match = get_list(f, STR("If-None-Match")),
        .if_modified_since = get(f, STR("If-Modified-Since")),
        .if_unmodified_since = get(f, STR("If-Unmodified-Since")),
        .if_range = get(f, STR("If-Range")),
    };
}

static void read_range(struct planner *p)
{
    struct str range = get(p->ask->request, STR("Range"));

    p->range = RANGE_WHOLE;
    /* Range means something for GET only (14.2). */
    if (!range.p || p->plan->head || !cond_range_applies(&p->cond, p->etag_file, p->mtime))
        return;
    p->range = range_parse(range, p->ask->st->size, p->ranges, &p->nranges);
}

/* The fields that 200, 206 and 304 share. */
static void add_validators(struct planner *p)
{
    struct fields *f = &p->plan->fields;
    char date[COND_DATE_LEN];

    cond_date_format(p->mtime, date);
    fields_add(f, STR("Last-Modified"), arena_str(p->arena, str_n(date, sizeof(date))));
    if (p->etag.len > 0)
        fields_add(f, STR("ETag"), p->etag);
    if (p->cfg->cache_control.len > 0)
        fields_add(f, STR("Cache-Control"), p->cfg->cache_control);
    if (p->vary)
        fields_add(f, STR("Vary"), STR("Accept-Encoding"));
}

static void add_segment(struct static_plan *plan, struct str mem, uint64_t off, uint64_t len)
{
    if (plan->head || len == 0)
        return;
    plan->segments[plan->nsegments++] = (struct static_segment){mem, off, len};
}

static void refuse(struct planner *p, int status)
{
    p->plan->status = status;
    p->plan->error_page = true;
    p->plan->variant = p->plan->encode = CODING_IDENTITY;
    p->plan->length = 0;
}

static struct str take_text(struct planner *p, struct buf *b)
{
    struct str s = arena_str(p->arena, buf_str(b));

    buf_clear(b);
    return s;
}

static void plan_multipart(struct planner *p)
{
    struct static_plan *plan = p->plan;
    uint64_t size = p->ask->st->size;
    char text[RANGE_BOUNDARY_LEN];
    struct str boundary;
    struct buf b = {0};

    range_boundary(p->ask->boundary, text);
    boundary = str_n(text, sizeof(text));
    plan->length = 0;
    for (size_t i = 0; i < p->nranges; i++) {
        struct range r = p->ranges[i];
        struct str head;

        range_add_part_head(&b, boundary, p->type, r, size);
        head = take_text(p, &b);
        add_segment(plan, head, 0, head.len);
        add_segment(plan, STR_NONE, r.first, r.last - r.first + 1);
        plan->length += head.len + (r.last - r.first + 1);
    }
    range_add_part_end(&b, boundary);
    plan->length += b.len;
    add_segment(plan, take_text(p, &b), 0, sizeof("\r\n----\r\n") - 1 + RANGE_BOUNDARY_LEN);
    buf_fini(&b);
    fields_add(&plan->fields, STR("Content-Type"),
        arena_printf(p->arena, "multipart/byteranges; boundary=" STR_F, STR_A(boundary)));
}

static void plan_partial(struct planner *p)
{
    struct static_plan *plan = p->plan;
    struct range r = p->ranges[0];
    struct buf b = {0};

    plan->status = 206;
    if (p->nranges > 1) {
        plan_multipart(p);
    } else {
        range_add_content_range(&b, r, p->ask->st->size);
        fields_add(&plan->fields, STR("Content-Type"), p->type);
        fields_add(&plan->fields, STR("Content-Range"), take_text(p, &b));
        buf_fini(&b);
        plan->length = r.last - r.first + 1;
        add_segment(plan, STR_NONE, r.first, plan->length);
    }
    add_validators(p);
    fields_add(&plan->fields, STR("Accept-Ranges"), STR("bytes"));
}

static void plan_unsatisfiable(struct planner *p)
{
    struct buf b = {0};

    refuse(p, 416);
    range_add_unsatisfied(&b, p->ask->st->size);
    fields_add(&p->plan->fields, STR("Content-Range"), take_text(p, &b));
    buf_fini(&b);
}

static void plan_whole(struct planner *p)
{
    struct static_plan *plan = p->plan;
    uint64_t bytes = plan->length;

    plan->status = 200;
    fields_add(&plan->fields, STR("Content-Type"), p->type);
    add_validators(p);
    if (plan->variant != CODING_IDENTITY || plan->encode != CODING_IDENTITY) {
        enum coding c = plan->variant != CODING_IDENTITY ? plan->variant : plan->encode;

        fields_add(&plan->fields, STR("Content-Encoding"), coding_name(c));
    }
    if (plan->encode != CODING_IDENTITY)
        plan->length = 0;
    else
        fields_add(&plan->fields, STR("Accept-Ranges"), STR("bytes"));
    add_segment(plan, STR_NONE, 0, bytes);
}

void static_plan(const struct static_config *cfg, const struct static_ask *ask, struct arena *a,
    struct static_plan *out)
{
    struct planner p = {.cfg = cfg, .ask = ask, .arena = a, .plan = out};

    *out = (struct static_plan){.status = 200};
    fields_init(&out->fields, a);
    out->head = str_eq(ask->method, STR("HEAD"));
    if (!out->head && !str_eq(ask->method, STR("GET"))) {
        refuse(&p, 405);
        fields_add(&out->fields, STR("Allow"), STR("GET, HEAD"));
        return;
    }
    p.type = mime_of_path(ask->path)->type;
    p.mtime = seconds_of(ask->st);
    p.etag_file = etag_of(&p, ask->st);
    p.accept_encoding = get_list(ask->request, STR("Accept-Encoding"));
    read_conditions(&p);
    read_range(&p);
    choose_representation(&p);
    switch (cond_check(&p.cond, true, p.etag, p.mtime)) {
    case COND_FAILED:
        refuse(&p, 412);
        return;
    case COND_NOT_MODIFIED:
        out->status = 304;
        out->length = 0;
        out->variant = out->encode = CODING_IDENTITY;
        add_validators(&p);
        return;
    case COND_SEND:
        break;
    }
    if (p.range == RANGE_PARTIAL)
        plan_partial(&p);
    else if (p.range == RANGE_UNSATISFIABLE)
        plan_unsatisfiable(&p);
    else
        plan_whole(&p);
}
