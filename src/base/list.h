/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_LIST_H
#define EPHPM_BASE_LIST_H

/*
 * Intrusive doubly linked circular list.  A head is a struct list that list_init() made; a member
 * embeds a struct list and is found again with CONTAINER_OF.  A member that is in no list points to
 * itself (list_init), so list_remove() may be called twice.
 */

#include <stdbool.h>

#include "base/attr.h"

struct list {
    struct list *next;
    struct list *prev;
};

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_insert_after(struct list *at, struct list *n)
{
    n->next = at->next;
    n->prev = at;
    at->next->prev = n;
    at->next = n;
}

/* At the end of the list. */
static inline void list_push(struct list *head, struct list *n)
{
    list_insert_after(head->prev, n);
}

/* At its start. */
static inline void list_push_front(struct list *head, struct list *n)
{
    list_insert_after(head, n);
}

static inline void list_remove(struct list *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
    list_init(n);
}

/* First member, or NULL. */
static inline struct list *list_first(struct list *head)
{
    return list_empty(head) ? NULL : head->next;
}

/* Takes the first member out, or NULL. */
static inline struct list *list_pop(struct list *head)
{
    struct list *n = list_first(head);

    if (n)
        list_remove(n);
    return n;
}

#define list_each(it, head) for (struct list *it = (head)->next; it != (head); it = it->next)
/* The body may remove it. */
#define list_each_safe(it, head)                                              \
    for (struct list *it = (head)->next, *it##_next = it->next; it != (head); \
        it = it##_next, it##_next = it->next)

#endif
