/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* LCS: the longest common subsequence of two strings, by the table of all pairs of positions. */
#include "base/mem.h"
#include "kv/redis/state.h"

#define CELLS_MAX ((size_t)16 << 20) /* of the table: 64 MiB, and about 50 ms */

struct lcs {
    struct str a, b;
    uint32_t *table; /* [a.len + 1][b.len + 1]: length of what the first i and j bytes share */
    bool len, idx, with_len;
    int64_t min_len;
    char *result; /* the last byte is at `at` = 0 */
    size_t at;
    size_t matches;
};

/* A stretch that both have; ends are included. */
struct match {
    size_t a_start, a_end, b_start, b_end;
};

static uint32_t *cell(const struct lcs *l, size_t i, size_t j)
{
    return &l->table[i * (l->b.len + 1) + j];
}

static bool parse(struct redis_call *c, struct lcs *l)
{
    for (size_t i = 3; i < c->argc; i++) {
        if (call_is(c, i, "len")) {
            l->len = true;
        } else if (call_is(c, i, "idx")) {
            l->idx = true;
        } else if (call_is(c, i, "withmatchlen")) {
            l->with_len = true;
        } else if (call_is(c, i, "minmatchlen") && i + 1 < c->argc) {
            if (!call_int(c, ++i, &l->min_len))
                return false;
        } else {
            call_syntax_error(c);
            return false;
        }
    }
    if (l->len && l->idx) {
        reply_error(c->reply, "ERR If you want both the length and indexes, please just use IDX.");
        return false;
    }
    return true;
}

/* Both strings, in the server's two buffers. A missing key is empty. */
static bool read_both(struct redis_call *c, struct lcs *l)
{
    struct kv_value v[2];
    struct buf *bufs[2] = {&c->server->buf, &c->server->buf2};

    for (size_t i = 0; i < 2; i++) {
        int r = call_get_string_to(c, c->argv[1 + i], bufs[i], &v[i]);

        if (r == ERR_TYPE) {
            reply_error(c->reply, "ERR The specified keys must contain string values");
            return false;
        }
        if (r && r != ERR_NOTFOUND) {
            call_store_error(c, r);
            return false;
        }
        if (r)
            v[i].bytes = STR_NONE;
    }
    l->a = v[0].bytes;
    l->b = v[1].bytes;
    return true;
}

static void fill(struct lcs *l)
{
    for (size_t i = 1; i <= l->a.len; i++)
        for (size_t j = 1; j <= l->b.len; j++) {
            uint32_t up = *cell(l, i - 1, j), left = *cell(l, i, j - 1);

            *cell(l, i, j) =
                l->a.p[i - 1] == l->b.p[j - 1] ? *cell(l, i - 1, j - 1) + 1 : MAX(up, left);
        }
}

static void reply_match(struct redis_call *c, struct lcs *l, const struct match *m)
{
    size_t len = m->a_end - m->a_start + 1;

    if ((int64_t)len < l->min_len)
        return;
    l->matches++;
    reply_array(c->reply, l->with_len ? 3 : 2);
    reply_array(c->reply, 2);
    reply_int(c->reply, (int64_t)m->a_start);
    reply_int(c->reply, (int64_t)m->a_end);
    reply_array(c->reply, 2);
    reply_int(c->reply, (int64_t)m->b_start);
    reply_int(c->reply, (int64_t)m->b_end);
    if (l->with_len)
        reply_int(c->reply, (int64_t)len);
}

/* From the end back to the start: the bytes go to the result, with IDX stretches to the reply. */
static void walk(struct redis_call *c, struct lcs *l)
{
    size_t i = l->a.len, j = l->b.len;
    struct match m = {0};
    bool open = false;

    while (i > 0 && j > 0) {
        bool same = l->a.p[i - 1] == l->b.p[j - 1];

        if (same) {
            l->result[--l->at] = l->a.p[i - 1];
            if (open && m.a_start == i && m.b_start == j) {
                m.a_start--;
                m.b_start--;
            } else {
                if (open && l->idx)
                    reply_match(c, l, &m);
                m = (struct match){i - 1, i - 1, j - 1, j - 1};
                open = true;
            }
            i--;
            j--;
        } else if (*cell(l, i - 1, j) > *cell(l, i, j - 1)) {
            i--;
        } else {
            j--;
        }
    }
    if (open && l->idx)
        reply_match(c, l, &m);
}

static void answer(struct redis_call *c, struct lcs *l)
{
    uint32_t len = *cell(l, l->a.len, l->b.len);
    size_t at;

    if (l->len) {
        reply_int(c->reply, len);
        return;
    }
    l->at = len;
    if (!l->idx) {
        walk(c, l);
        reply_bulk(c->reply, str_n(l->result, len));
        return;
    }
    reply_map(c->reply, 2);
    reply_bulk_c(c->reply, "matches");
    at = reply_deferred(c->reply);
    walk(c, l);
    reply_deferred_array(c->reply, at, l->matches);
    reply_bulk_c(c->reply, "len");
    reply_int(c->reply, len);
}

void redis_cmd_lcs(struct redis_call *c)
{
    struct lcs l = {0};
    size_t cells;

    if (!parse(c, &l) || !read_both(c, &l))
        return;
    if (!mem_mul(l.a.len + 1, l.b.len + 1, &cells) || cells > CELLS_MAX) {
        reply_error(c->reply,
            "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
        return;
    }
    l.table = mem_try_new(cells * sizeof(*l.table));
    l.result = mem_try_new(MIN(l.a.len, l.b.len) + 1);
    if (l.table && l.result) {
        fill(&l);
        answer(c, &l);
    } else {
        reply_error(
            c->reply, "ERR Insufficient memory, failed allocating transient memory for LCS");
    }
    mem_free(l.table);
    mem_free(l.result);
}
