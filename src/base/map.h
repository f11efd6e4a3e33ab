/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_MAP_H
#define EPHPM_BASE_MAP_H

/*
 * Hash map from byte strings to pointers.  Keys are copied and owned by the map, values are not.
 * The hash is seeded per map (map_init), so that peers who choose keys cannot aim for collisions.
 * One thread.  Order of iteration is arbitrary; do not change the map while iterating, except for
 * map_del() of the key just delivered.
 */

#include "base/str.h"

struct map_slot;

struct map {
    size_t count;
    /* private to map.c */
    struct map_slot *slots;
    size_t cap;
    size_t used; /* live and deleted */
    uint64_t seed;
};

void map_init(struct map *m, uint64_t seed);
/* Frees the keys and the table; the values are the caller's. */
void map_fini(struct map *m);
/* The value, or NULL. */
void *map_get(const struct map *m, struct str key);
/* Sets and returns the value it replaces, or NULL. value must not be NULL. */
void *map_set(struct map *m, struct str key, void *value);
/* Removes and returns the value, or NULL. */
void *map_del(struct map *m, struct str key);
/*
 * Iteration: size_t it = 0; while (map_next(m, &it, &key, &value)) ...
 * key is valid until it is deleted.
 */
bool map_next(const struct map *m, size_t *it, struct str *key, void **value);

#endif
