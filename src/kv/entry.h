/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_ENTRY_H
#define EPHPM_KV_ENTRY_H

/* Building an entry and copying out of one. */

#include "kv/layout.h"
#include "kv/shard.h"

/* Is this the entry's key? Without the lock it may be anything, which is not followed. */
bool kv_entry_has_key(
    const struct kv_store *s, struct kv_entry *e, uint32_t room, uint64_t hash, struct str key);

/*
 * A block with this content that is not linked yet, in the spot's shard. May evict, so the spot is
 * to be found again. ERR_FULL.
 */
int kv_entry_build(struct kv_store *s, const struct kv_spot *spot, const struct kv_value *v,
    uint64_t deadline, uint32_t *ref) MUST_CHECK;
/* The same for an element of the collection at the spot: its key is the member, `score` stands
 * where an entry has its deadline. */
int kv_entry_build_part(struct kv_store *s, const struct kv_spot *spot, struct str member,
    const struct kv_value *v, double score, uint32_t *ref) MUST_CHECK;
/* A block for `size` bytes of a part; it holds nothing yet. May evict. ERR_FULL. */
int kv_entry_take(
    struct kv_store *s, const struct kv_spot *spot, uint32_t size, uint32_t *ref) MUST_CHECK;
/* Frees a block and the pages of its value. Not linked any more. */
void kv_entry_free(struct kv_store *s, uint32_t shard, uint32_t ref);
/* The same, and what a collection consists of; all: at once, however large it is, see
 * kv_tree_drop(). */
void kv_entry_drop(struct kv_store *s, uint32_t shard, uint32_t ref, bool all);
/* The head of a collection's entry that was checked (kv_shard_is_entry). */
void kv_entry_head(struct kv_entry *e, struct kv_head *out);
/* The pages of a large value: number i. key_len as it was checked: the entry's own may change. */
uint32_t kv_entry_page(struct kv_entry *e, uint32_t key_len, uint32_t i);

/* Copies the value; bytes to buf. ERR_CORRUPT: its lengths make no sense. ERR_TYPE: a
 * collection. */
int kv_entry_copy(
    const struct kv_store *s, uint32_t ref, struct buf *buf, struct kv_value *out) MUST_CHECK;
/* The word that holds an int or a float. */
_Atomic uint64_t *kv_entry_word(struct kv_entry *e, uint32_t key_len);
/* Appends in place if there is room in the block. */
bool kv_entry_extend(struct kv_store *s, const struct kv_spot *spot, struct str tail);

/* Bytes `at` to at + n of a string, which it has. ERR_CORRUPT. */
int kv_entry_peek(const struct kv_store *s, uint32_t ref, size_t at, size_t n, char *to) MUST_CHECK;
/* Overwrites them in place if that is one store: readers see all of them or none. */
bool kv_entry_poke(struct kv_store *s, uint32_t ref, size_t at, struct str bytes);

/* Bytes to and from the segment, word by word. */
void kv_copy_in(_Atomic uint64_t *to, const char *p, size_t n);
void kv_copy_out(char *to, const _Atomic uint64_t *from, size_t n);

#endif
