/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/entry.h"

#include <assert.h>

#include "kv/evict.h"
#include "kv/slab.h"
#include "kv/tree.h"

#define EVICT_TRIES 100

/* ---- bytes ---- */

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is a word's lowest");

/* The 1 to 7 bytes at p as a word, the rest 0. The compiler's own way for memcpy() is a loop. */
static uint64_t part_at(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;
    uint32_t first, last;

    if (n < sizeof(first))
        return u[0] | (uint64_t)u[n / 2] << 8 * (n / 2) | (uint64_t)u[n - 1] << 8 * (n - 1);
    memcpy(&first, p, sizeof(first));
    memcpy(&last, p + n - sizeof(last), sizeof(last));
    return first | (uint64_t)last << 8 * (n - sizeof(last));
}

void kv_copy_in(_Atomic uint64_t *to, const char *p, size_t n)
{
    uint64_t w;

    for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
        memcpy(&w, p, sizeof(w));
        KV_SET(*to++, w);
    }
    if (n)
        KV_SET(*to, part_at(p, n));
}

void kv_copy_out(char *to, const _Atomic uint64_t *from, size_t n)
{
    uint64_t w;

    for (; n >= sizeof(w); n -= sizeof(w), to += sizeof(w)) {
        w = KV_GET(*from++);
        memcpy(to, &w, sizeof(w));
    }
    if (n == 0)
        return;
    for (w = KV_GET(*from); n > 0; n--, w >>= 8)
        *to++ = (char)w;
}

static bool is_equal(const _Atomic uint64_t *from, const char *p, size_t n)
{
    uint64_t w;

    for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
        memcpy(&w, p, sizeof(w));
        if (KV_GET(*from++) != w)
            return false;
    }
    /* What lies behind the key's last byte does not count. */
    return n == 0 || (KV_GET(*from) ^ part_at(p, n)) << 8 * (sizeof(w) - n) == 0;
}

bool kv_entry_has_key(
    const struct kv_store *s, struct kv_entry *e, uint32_t room, uint64_t hash, struct str key)
{
    return KV_GET(e->hash) == hash && KV_GET(e->key_len) == key.len &&
           key.len <= room - sizeof(*e) && is_equal(kv_key_words(e), key.p, key.len);
}

static _Atomic uint64_t *body_of(struct kv_entry *e, uint32_t key_len)
{
    return kv_key_words(e) + kv_pad(key_len) / 8;
}

_Atomic uint64_t *kv_entry_word(struct kv_entry *e, uint32_t key_len)
{
    return body_of(e, key_len);
}

/* ---- pages of a large value ---- */

static _Atomic uint32_t *page_numbers(struct kv_entry *e, uint32_t key_len)
{
    return (_Atomic uint32_t *)(void *)body_of(e, key_len);
}

uint32_t kv_entry_page(struct kv_entry *e, uint32_t key_len, uint32_t i)
{
    return KV_GET(page_numbers(e, key_len)[i]);
}

/* Gives the first n pages back, those that really are this entry's. */
static void free_pages(
    struct kv_store *s, uint32_t shard, uint32_t ref, uint32_t key_len, uint32_t n)
{
    struct kv_shard *sh = &s->shards[shard];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = kv_entry_page(kv_at(s, ref), key_len, i);

        if (p >= s->plan.npages || KV_GET(s->pages[p].owner) != kv_owner(shard, KV_DATA) ||
            s->pages[p].entry != ref) {
            s->nonsense = true;
            return;
        }
        sh->used -= KV_PAGE;
        kv_slab_release(s, sh, p);
    }
}

/* The tries end: others may take what was freed for us. */
static int take_page(struct kv_store *s, uint32_t shard, uint32_t *page)
{
    int r = ERR_FULL;

    for (int i = 0; i < EVICT_TRIES && r == ERR_FULL; i++) {
        r = kv_slab_claim(s, kv_owner(shard, KV_DATA), page);
        if (r == ERR_FULL && kv_evict_page(s, shard) != 0)
            break;
    }
    return r;
}

static int fill_pages(
    struct kv_store *s, uint32_t shard, uint32_t ref, uint32_t key_len, struct str bytes)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t n = kv_pages_for((uint32_t)bytes.len), p;
    int r;

    for (uint32_t i = 0; i < n; i++) {
        struct str part = str_sub(bytes, (size_t)i * KV_PAGE, KV_PAGE);

        r = take_page(s, shard, &p);
        if (r) {
            free_pages(s, shard, ref, key_len, i);
            return r;
        }
        s->pages[p].entry = ref;
        s->pages[p].used = 0;
        s->shards[shard].used += KV_PAGE;
        KV_SET(page_numbers(e, key_len)[i], p);
        kv_copy_in((_Atomic uint64_t *)(void *)kv_page_at(s, p), part.p, part.len);
    }
    return 0;
}

/* ---- building ---- */

static int take_block(struct kv_store *s, uint32_t shard, uint32_t size, uint32_t *ref)
{
    unsigned class = kv_slab_class(size);
    int r = ERR_FULL;

    for (int i = 0; i < EVICT_TRIES && r == ERR_FULL; i++) {
        r = kv_slab_take(s, shard, class, ref);
        if (r == ERR_FULL && kv_evict_block(s, shard, class) != 0)
            break;
    }
    return r;
}

/* What an entry or an element is made of, and where. */
struct plan {
    const struct kv_spot *spot;
    struct str key;
    const struct kv_value *v;
    uint64_t deadline;
    unsigned flags;
};

static int build(struct kv_store *s, const struct plan *plan, uint32_t *ref)
{
    const struct kv_value *v = plan->v;
    bool is_word = v->type == KV_INT || v->type == KV_FLOAT;
    uint32_t len = is_word ? 8 : (uint32_t)v->bytes.len, shard = plan->spot->shard;
    uint32_t key_len = (uint32_t)plan->key.len, to;
    unsigned flags = plan->flags | (kv_entry_size(key_len, len, 0) > KV_PAGE ? KV_PAGED : 0);
    struct kv_entry *e;
    int r;

    /* Else everything would give way, and it would still not fit. */
    if (flags & KV_PAGED && kv_pages_for(len) > s->plan.npages / 2)
        return ERR_FULL;
    r = take_block(s, shard, kv_entry_size(key_len, len, flags), &to);
    if (r)
        return r;
    e = kv_at(s, to);
    KV_SET(e->hash, plan->spot->hash);
    KV_SET(e->deadline, plan->deadline);
    KV_SET(e->value_len, len);
    KV_SET(e->key_len, (uint16_t)key_len);
    KV_SET(e->flags, (uint8_t)(flags | (v->coding & KV_CODING) | (v->kept ? KV_KEPT : 0)));
    KV_SET(e->type, (uint8_t)v->type);
    kv_copy_in(kv_key_words(e), plan->key.p, key_len);
    if (v->type == KV_INT)
        kv_copy_in(body_of(e, key_len), (const char *)&v->i, 8);
    else if (v->type == KV_FLOAT)
        kv_copy_in(body_of(e, key_len), (const char *)&v->f, 8);
    else if (!(flags & KV_PAGED))
        kv_copy_in(body_of(e, key_len), v->bytes.p, len);
    else if ((r = fill_pages(s, shard, to, key_len, v->bytes)) != 0)
        kv_slab_give(s, shard, to);
    if (r)
        return r;
    *ref = to;
    return 0;
}

int kv_entry_build(struct kv_store *s, const struct kv_spot *spot, const struct kv_value *v,
    uint64_t deadline, uint32_t *ref)
{
    struct plan plan = {spot, spot->key, v, deadline, 0};
    int r = build(s, &plan, ref);

    /* As if it had been read: it is not the first to go. */
    if (r == 0)
        KV_SET(*kv_mark_of(s, *ref), kv_is_coll(v->type) ? KV_MARK_COLL : 1);
    return r;
}

int kv_entry_build_part(struct kv_store *s, const struct kv_spot *spot, struct str member,
    const struct kv_value *v, double score, uint32_t *ref)
{
    struct plan plan = {.spot = spot, .key = member, .v = v, .flags = KV_PART};

    memcpy(&plan.deadline, &score, sizeof(score));
    return build(s, &plan, ref);
}

int kv_entry_take(struct kv_store *s, const struct kv_spot *spot, uint32_t size, uint32_t *ref)
{
    return take_block(s, spot->shard, size, ref);
}

void kv_entry_head(struct kv_entry *e, struct kv_head *out)
{
    kv_copy_out((char *)out, body_of(e, KV_GET(e->key_len)), sizeof(*out));
}

void kv_entry_drop(struct kv_store *s, uint32_t shard, uint32_t ref, bool all)
{
    struct kv_entry *e = kv_at(s, ref);

    if (kv_is_coll((enum kv_type)KV_GET(e->type)))
        kv_tree_drop(s, shard, e, all);
    kv_entry_free(s, shard, ref);
}

void kv_entry_free(struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t key_len = KV_GET(e->key_len), len = KV_GET(e->value_len);
    unsigned flags = KV_GET(e->flags);

    /* Odd before the pages are anybody else's. */
    KV_SET(e->seq, KV_GET(e->seq) | 1);
    if (kv_room(s, ref) < kv_entry_size(key_len, len, flags))
        s->nonsense = true;
    else if (flags & KV_PAGED)
        free_pages(s, shard, ref, key_len, kv_pages_for(len));
    kv_slab_give(s, shard, ref);
}

/* ---- copying out ---- */

static int copy_paged(
    const struct kv_store *s, struct kv_entry *e, uint32_t key_len, uint32_t len, struct buf *buf)
{
    uint32_t seq = KV_GET(e->seq), p, n;
    char *to;

    /* Not for a length that was never one. */
    to = buf_reserve(buf, len);
    for (uint32_t i = 0; i < kv_pages_for(len); i++, to += n) {
        n = MIN(len - i * KV_PAGE, KV_PAGE);
        p = KV_GET(page_numbers(e, key_len)[i]);
        if (p >= s->plan.npages || KV_GET(e->seq) != seq)
            return ERR_CORRUPT;
        kv_copy_out(to, (const _Atomic uint64_t *)(const void *)kv_page_at(s, p), n);
    }
    buf->len = len;
    return 0;
}

int kv_entry_copy(const struct kv_store *s, uint32_t ref, struct buf *buf, struct kv_value *out)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t len = KV_GET(e->value_len), key_len = KV_GET(e->key_len);
    unsigned flags = KV_GET(e->flags), type = KV_GET(e->type);
    uint64_t w;
    int r = 0;

    if (key_len > KV_KEY_MAX || len > KV_VALUE_MAX ||
        kv_entry_size(key_len, len, flags) > kv_room(s, ref))
        return ERR_CORRUPT;
    out->type = (enum kv_type)type;
    out->coding = flags & KV_CODING;
    out->kept = flags & KV_KEPT;
    buf->len = 0;
    switch (type) {
    case KV_INT:
    case KV_FLOAT:
        if (len != sizeof(w))
            return ERR_CORRUPT;
        w = KV_GET(*body_of(e, key_len));
        memcpy(&out->i, &w, sizeof(w));
        memcpy(&out->f, &w, sizeof(w));
        break;
    case KV_STRING:
    case KV_SERIALIZED:
        if (flags & KV_PAGED) {
            r = copy_paged(s, e, key_len, len, buf);
        } else {
            kv_copy_out(buf_reserve(buf, MAX(len, 1)), body_of(e, key_len), len);
            buf->len = len;
        }
        out->bytes = buf_str(buf);
        break;
    case KV_HASH:
    case KV_LIST:
    case KV_SET:
    case KV_ZSET:
        return ERR_TYPE;
    default:
        return ERR_CORRUPT;
    }
    return r;
}

bool kv_entry_extend(struct kv_store *s, const struct kv_spot *spot, struct str tail)
{
    struct kv_entry *e = spot->e;
    uint32_t len = KV_GET(e->value_len), index, part = len % 8;
    _Atomic uint64_t *to;
    unsigned class;
    uint64_t w;

    if (KV_GET(e->flags) & (KV_PAGED | KV_CODING) ||
        !kv_slab_locate(s, spot->shard, spot->ref, &class, &index) || tail.len > KV_PAGE ||
        kv_entry_size((uint32_t)spot->key.len, len + (uint32_t)tail.len, 0) > kv_slab_size(class))
        return false;
    to = body_of(e, (uint32_t)spot->key.len) + len / 8;
    if (part) {
        size_t n = MIN(tail.len, 8 - part);

        /* The bytes before stay as they are, which is all that readers look at. */
        w = KV_GET(*to);
        memcpy((char *)&w + part, tail.p, n);
        KV_SET(*to++, w);
        tail = str_sub(tail, n, tail.len);
        len += (uint32_t)n;
    }
    kv_copy_in(to, tail.p, tail.len);
    KV_SET(e->value_len, len + (uint32_t)tail.len);
    return true;
}

/* ---- parts of a string ---- */

/* The words of byte `at`, and how many bytes there are from it on in one piece; NULL: nonsense. */
static _Atomic uint64_t *piece_at(const struct kv_store *s, uint32_t ref, size_t at, size_t *left)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t len = KV_GET(e->value_len), key_len = KV_GET(e->key_len), p;
    unsigned flags = KV_GET(e->flags);

    if (at >= len || key_len > KV_KEY_MAX || kv_entry_size(key_len, len, flags) > kv_room(s, ref))
        return NULL;
    if (!(flags & KV_PAGED)) {
        *left = len - at;
        return body_of(e, key_len) + at / 8;
    }
    p = kv_entry_page(e, key_len, (uint32_t)(at / KV_PAGE));
    if (p >= s->plan.npages)
        return NULL;
    *left = MIN(len - at, KV_PAGE - at % KV_PAGE);
    return (_Atomic uint64_t *)(void *)kv_page_at(s, p) + at % KV_PAGE / 8;
}

int kv_entry_peek(const struct kv_store *s, uint32_t ref, size_t at, size_t n, char *to)
{
    const _Atomic uint64_t *from;
    size_t left, skip, part;
    uint64_t w;

    for (; n > 0; n -= part, at += part, to += part) {
        from = piece_at(s, ref, at, &left);
        if (!from)
            return ERR_CORRUPT;
        skip = at % 8;
        part = MIN(n, skip ? MIN(left, 8 - skip) : left);
        if (skip == 0) {
            kv_copy_out(to, from, part);
            continue;
        }
        w = KV_GET(*from);
        memcpy(to, (const char *)&w + skip, part);
    }
    return 0;
}

bool kv_entry_poke(struct kv_store *s, uint32_t ref, size_t at, struct str bytes)
{
    _Atomic uint64_t *to;
    size_t left;
    uint64_t w;

    if (bytes.len == 0 || bytes.len > 8 - at % 8)
        return false;
    to = piece_at(s, ref, at, &left);
    if (!to || bytes.len > left)
        return false;
    w = KV_GET(*to);
    memcpy((char *)&w + at % 8, bytes.p, bytes.len);
    KV_SET(*to, w);
    return true;
}
