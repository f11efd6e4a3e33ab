/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/lock.h"

#include <stdio.h>

#include "kv/entry.h"
#include "kv/shard.h"
#include "platform/clock.h"
#include "platform/process.h"

#define OWNER_MAX 64 /* bytes of an owner as text */

void kv_owner_init(struct kv_owner *o, uint64_t number)
{
    *o = (struct kv_owner){.pid = process_id(), .number = number};
    if (process_start_time(o->pid, &o->start) != 0)
        o->start = 0;
}

static struct kv_value owner_value(const struct kv_owner *o, char text[OWNER_MAX])
{
    int n = snprintf(text, OWNER_MAX, "%lld %llu %llu", (long long)o->pid,
        (unsigned long long)o->start, (unsigned long long)o->number);

    return (struct kv_value){.type = KV_STRING, .bytes = str_n(text, (size_t)n), .kept = true};
}

/* Of a value that is none: pid 0, which no process has. */
static struct kv_owner owner_parse(const struct kv_value *v)
{
    struct str rest = v->type == KV_STRING ? v->bytes : STR_NONE, pid, start;
    struct kv_owner o;

    if (!str_split(&rest, ' ', &pid) || !str_split(&rest, ' ', &start) ||
        str_i64(pid, &o.pid) != 0 || str_u64(start, &o.start) != 0 || str_u64(rest, &o.number) != 0)
        return (struct kv_owner){0};
    return o;
}

static bool owner_is(const struct kv_owner *a, const struct kv_owner *b)
{
    return a->pid == b->pid && a->start == b->start && a->number == b->number;
}

static bool owner_runs(const struct kv_owner *o)
{
    return o->pid > 0 && process_runs(o->pid, o->start);
}

/* ---- taking ---- */

struct take {
    struct kv_store *s;
    struct str key;
    const struct kv_owner *me;
    struct kv_lock_wait *wait;
    struct kv_value mine;
    uint64_t end; /* ms; 0: never */
    /* the key as it was seen last */
    uint64_t version;
    struct kv_value value; /* bytes in buf */
    struct buf buf;
};

/* ERR_AGAIN: another one has it. */
static int take_free(struct take *t)
{
    int r = kv_store_set(t->s, t->key, &t->mine, KV_ONLY_NEW, 0);

    return r == ERR_EXISTS ? ERR_AGAIN : r;
}

/* From the dead, if the value is still theirs. */
static int take_over(struct take *t)
{
    int r = kv_store_cas(t->s, t->key, &t->value, &t->mine, 0);

    t->wait->taken_over = r == 0;
    return r == ERR_BUSY ? ERR_AGAIN : r;
}

/* How long to sleep. */
static int time_left(const struct take *t)
{
    uint64_t now = clock_mono_ms();

    if (!t->end)
        return KV_LOCK_LOOK_MS;
    return now < t->end ? (int)MIN(t->end - now, (uint64_t)KV_LOCK_LOOK_MS) : 0;
}

/* Sleeps until the key is another one than before, or it is time to look at its owner. */
static int wait_and_take(struct take *t)
{
    struct kv_owner holder;
    int r = kv_store_wait(t->s, t->key, t->version, time_left(t), &t->buf, &t->value, &t->version);

    if (r == ERR_NOTFOUND)
        return take_free(t);
    if (r != 0 && r != ERR_TIMEOUT)
        return r;
    holder = owner_parse(&t->value);
    if (owner_is(&holder, t->me))
        return 0;
    return owner_runs(&holder) ? ERR_AGAIN : take_over(t);
}

int kv_lock_take(
    struct kv_store *s, struct str key, const struct kv_owner *me, struct kv_lock_wait *wait)
{
    struct take t = {.s = s, .key = key, .me = me, .wait = wait};
    char text[OWNER_MAX];
    int r;

    wait->taken_over = false;
    t.mine = owner_value(me, text);
    r = take_free(&t);
    if (r != ERR_AGAIN)
        return r;
    if (wait->timeout >= 0)
        t.end = clock_mono_ms() + (uint64_t)wait->timeout;
    for (;;) {
        r = wait_and_take(&t);
        if (r != ERR_AGAIN && r != ERR_INTR)
            break;
        if (wait->stop && wait->stop(wait->arg)) {
            r = ERR_INTR;
            break;
        }
        if (t.end && clock_mono_ms() >= t.end) {
            r = ERR_TIMEOUT;
            break;
        }
    }
    buf_fini(&t.buf);
    return r;
}

/* ---- giving back ---- */

int kv_lock_release(struct kv_store *s, struct str key, const struct kv_owner *me)
{
    struct buf buf = {0};
    struct kv_owner holder;
    struct kv_spot spot;
    struct kv_value v;
    int r = ERR_NOTFOUND;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e && kv_entry_copy(s, spot.ref, &buf, &v) == 0) {
        holder = owner_parse(&v);
        r = owner_is(&holder, me) ? 0 : ERR_BUSY;
    }
    if (r == 0)
        kv_spot_remove(s, &spot);
    kv_spot_close(s, &spot);
    buf_fini(&buf);
    return r;
}

struct sweep {
    struct kv_store *s;
    struct str prefix;
    struct buf buf;
    size_t freed;
};

static bool sweep_key(void *arg, struct str key)
{
    struct sweep *w = arg;
    struct kv_owner holder;
    struct kv_value v;

    if (!str_starts(key, w->prefix) || kv_store_get(w->s, key, &w->buf, &v) != 0)
        return true;
    holder = owner_parse(&v);
    if (holder.pid > 0 && !owner_runs(&holder))
        w->freed += kv_lock_release(w->s, key, &holder) == 0;
    return true;
}

size_t kv_lock_sweep(struct kv_store *s, uint64_t *cursor, struct str prefix, size_t count)
{
    struct sweep w = {.s = s, .prefix = prefix};

    kv_store_scan(s, cursor, STR("*"), count, sweep_key, &w);
    buf_fini(&w.buf);
    return w.freed;
}
