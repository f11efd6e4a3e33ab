/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_KV_H
#define EPHPM_KV_KV_H

/*
 * The key-value store: one segment of shared memory, read and written by every process of a site.
 *
 * Files in reading order: layout.h (what lies where in the segment, and the rules of touching it),
 * region.c (making and opening it), shard.c (locks, buckets and chains), slab.c (pages and blocks),
 * evict.c (room for more), repair.c (after a process died), entry.c (building an entry, copying
 * one out), codec.c (compressed values), read.c (reading without a lock), change.c (what changes
 * have in common), store.c (what users call; store.h), wait.c (sleeping until a key changes),
 * lock.c (locks that outlast a call; lock.h), scan.c and glob.c (listing keys), keys.c, many.c and
 * range.c (what else users call; keys.h), snapshot.c and snapshot_load.c (a store in a file). It
 * uses platform, base and the libraries that compress.
 *
 * Collections (collections.h): op.c (one operation: what it makes, what it replaces, publishing or
 * undoing), tree.c (counted trees, copied along the way of a change), items.c (elements copied
 * out), coll.c (what the kinds have in common), hash.c, list.c, set.c, zset.c.
 *
 * Invariants:
 *  - No process can make another one wait but by holding a shard's lock, and the kernel gives the
 *    lock of a dead process to the next one.
 *  - A reader takes no lock and trusts nothing: it copies, then looks whether what it copied was
 *    still in place, at most KV_TRIES times; then it takes the lock. Therefore memory is used again
 *    at once, and nobody has to know which readers there are.
 *  - What a reader can reach is complete: an entry is written first and linked by one store.
 *    Replacing is one store as well. So a process may die anywhere: what is lost is at most what it
 *    had not linked yet, and the next locker finds that and frees it.
 *  - What a collection's entry reaches is never changed, only copied: the same holds for trees of a
 *    million elements. Who reads or changes a collection holds its shard's lock.
 *  - Freeing takes a bounded time: a collection of more than 512 elements becomes garbage of its
 *    shard, of which every change there frees a node (at most 74 elements), the role kv the rest
 *    within seconds, and who finds no memory all.
 *  - Nothing is returned at or after its deadline.
 */

#endif
