/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/plans.h"

#include "base/mem.h"

enum {
    MAX_PLANS = 512,
    MAX_BYTES = 4 << 20,
    MAX_ONE = 64 << 10, /* a larger one is not kept */
};

void store_plans_init(struct store_plans *p, uint64_t seed)
{
    pthread_mutex_init(&p->mutex, NULL);
    map_init(&p->map, seed);
    list_init(&p->used);
    p->n = 0;
    p->size = 0;
}

/* The mutex is held. */
static void drop(struct store_plans *p, struct store_plan *plan)
{
    list_remove(&plan->link);
    (void)map_del(&p->map, plan->key);
    p->n--;
    p->size -= plan->size;
    store_plan_unref(plan);
}

void store_plans_fini(struct store_plans *p)
{
    while (!list_empty(&p->used))
        drop(p, CONTAINER_OF(p->used.next, struct store_plan, link));
    map_fini(&p->map);
    pthread_mutex_destroy(&p->mutex);
}

struct store_plan *store_plan_new(struct store_tables *tables)
{
    struct store_plan *plan = mem_new(sizeof(*plan));

    atomic_init(&plan->refs, 1);
    arena_init(&plan->arena);
    list_init(&plan->link);
    plan->tables = tables;
    return plan;
}

void store_plan_unref(struct store_plan *p)
{
    /* acq_rel: what other holders read of it is read before it goes */
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
        return;
    store_tables_unref(p->tables);
    arena_fini(&p->arena);
    mem_free(p);
}

struct store_plan *store_plans_get(struct store_plans *p, struct str key)
{
    struct store_plan *plan;

    pthread_mutex_lock(&p->mutex);
    if ((plan = map_get(&p->map, key))) {
        atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
        list_remove(&plan->link);
        list_push(&p->used, &plan->link);
    }
    pthread_mutex_unlock(&p->mutex);
    return plan;
}

void store_plans_put(struct store_plans *p, struct str key, struct store_plan *plan)
{
    size_t size = arena_used(&plan->arena) + 2 * key.len + sizeof(*plan);

    if (size > MAX_ONE || plan->key.p)
        return;
    pthread_mutex_lock(&p->mutex);
    if (!map_get(&p->map, key)) {
        while (p->n >= MAX_PLANS || p->size + size > MAX_BYTES)
            drop(p, CONTAINER_OF(p->used.next, struct store_plan, link));
        atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
        plan->key = arena_str(&plan->arena, key);
        plan->size = size;
        (void)map_set(&p->map, plan->key, plan);
        list_push(&p->used, &plan->link);
        p->n++;
        p->size += size;
    }
    pthread_mutex_unlock(&p->mutex);
}
