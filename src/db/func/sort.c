/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/func/sort.h"

#include "base/attr.h"
#include "base/mem.h"

static void merge(
    void **from, void **to, size_t low, size_t mid, size_t high, sort_cmp *cmp, void *arg)
{
    size_t i = low;
    size_t k = mid;

    for (size_t at = low; at < high; at++) {
        if (i < mid && (k >= high || cmp(arg, from[i], from[k]) <= 0))
            to[at] = from[i++];
        else
            to[at] = from[k++];
    }
}

void sort_pointers(void **items, size_t n, sort_cmp *cmp, void *arg)
{
    void **other = mem_new_array(n + 1, sizeof(*other));
    void **from = items;
    void **to = other;

    for (size_t width = 1; width < n; width *= 2) {
        void **t = from;

        for (size_t low = 0; low < n; low += 2 * width)
            merge(from, to, low, MIN(low + width, n), MIN(low + 2 * width, n), cmp, arg);
        from = to;
        to = t;
    }
    for (size_t i = 0; from != items && i < n; i++)
        items[i] = from[i];
    mem_free(other);
}
