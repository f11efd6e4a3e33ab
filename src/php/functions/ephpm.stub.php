<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

/**
 * What PHP code can call in every request.
 * @generate-class-entries
 */

/** Ends the response; the script goes on without a client. False when it had ended before. */
function fastcgi_finish_request(): bool {}

/** @return array<string, string> the request's headers, names in Title-Case */
function getallheaders(): array {}

/** @alias getallheaders */
function apache_request_headers(): array {}

/** @return array<string, string> the response's headers so far; of a repeated one the last */
function apache_response_headers(): array {}

/**
 * Sends the headers set so far: with 100 to 199 as an informational response (103 Early Hints), else as the head of
 * the response. Returns the status, 0 when it could not.
 */
function headers_send(int $status = 200): int {}

/*
 * The key-value store, which all workers of a site share and which outlives requests and deploys. These functions are
 * there when the site has a store.
 *
 * Keys are bytes, at most 32 KiB. Strings, ints and floats come back as what they were, anything else by serialize().
 * A value is at most 64 MiB. A ttl is in seconds, 0 means none. ValueError is thrown for what is too large, and for a
 * negative ttl.
 */

/** The value, null when there is none. */
function ephpm_kv_get(string $key): mixed {}

/** False when there is no memory for it. The key has no deadline but this ttl afterwards. */
function ephpm_kv_set(string $key, mixed $value, int $ttl = 0): bool {}

/** The same if the key is not there, else false. */
function ephpm_kv_setnx(string $key, mixed $value, int $ttl = 0): bool {}

/** How many keys were deleted: 1 or 0. */
function ephpm_kv_del(string $key): int {}

function ephpm_kv_exists(string $key): bool {}

/** The new value. A missing key counts as 0. False: the value is no integer, or it would not fit. */
function ephpm_kv_incr(string $key): int|false {}

function ephpm_kv_decr(string $key): int|false {}

function ephpm_kv_incr_by(string $key, int $delta): int|false {}

function ephpm_kv_decr_by(string $key, int $delta): int|false {}

/** A new deadline from now on, 0: deletes at once. False when there is no such key. */
function ephpm_kv_expire(string $key, int $ttl): bool {}

/** Seconds left, rounded up; -1 without a deadline, -2 without the key. */
function ephpm_kv_ttl(string $key): int {}

/** The same in milliseconds. */
function ephpm_kv_pttl(string $key): int {}

/** @return array the values of these keys, under the indexes that the keys have; null for missing ones */
function ephpm_kv_mget(array $keys): array {}

/** Sets each key to its value, one after the other; false when one could not be set. */
function ephpm_kv_mset(array $values, int $ttl = 0): bool {}

/** Sets the value if the one there is exactly $expected (null: if there is none), else false. */
function ephpm_kv_cas(string $key, mixed $expected, mixed $value, int $ttl = 0): bool {}

/**
 * Hashes: keys that hold fields, each with a value of its own. A key that is not there is an empty hash, and a hash
 * without fields is gone. Of a key that holds a value, and of ephpm_kv_get() and the like for a key that holds a hash,
 * nothing comes and nothing changes: null, false, 0 or [].
 */

/** Sets a field, which has at most 32 KiB. False when there is no memory for it. The key keeps its deadline. */
function ephpm_kv_hset(string $key, string $field, mixed $value): bool {}

/** The field's value, null when there is none. */
function ephpm_kv_hget(string $key, string $field): mixed {}

/** How many fields were deleted: 1 or 0. */
function ephpm_kv_hdel(string $key, string $field): int {}

/** @return array<string, mixed> all fields as they were at one moment, in no order */
function ephpm_kv_hgetall(string $key): array {}

/** @return list<string> keys that start with the prefix, in no order */
function ephpm_kv_keys(string $prefix = "", int $limit = 1000): array {}

/**
 * Waits until the key's version is beyond $last_version, at most so long; false when it was not. Start with version 0,
 * which does not wait. The worker serves nobody else meanwhile.
 * @return array{value: mixed, version: int}|false
 */
function ephpm_kv_wait(string $key, int $last_version, int $timeout_ms): array|false {}

/** Deletes all keys of the site. */
function ephpm_kv_flush_all(): bool {}

/** @return array<string, mixed> this worker, under the names of FPM's status */
function fpm_get_status(): array {}
