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
 * Keys are bytes, at most 32 KiB. Strings, ints and floats come back as what they were, anything else by serialize(), or
 * arrays and objects by igbinary where that extension is loaded. A value is at most 64 MiB. A ttl is in seconds, 0 means
 * none.
 */

/**
 * The value of a key.
 *
 * @param string $key at most 32768 bytes
 * @return mixed null when there is none, and for hashes, lists and sets of the Redis protocol
 * @throws ValueError if the key is too long
 */
function ephpm_kv_get(string $key): mixed {}

/**
 * Gives a key a value; what was there is replaced.
 *
 * @param string $key at most 32768 bytes
 * @param mixed $value whatever serialize() takes; at most 67108864 bytes
 * @param int $ttl seconds to live, 0: for ever
 * @return bool false when there is no memory for it; then the key has its old value, or none
 * @throws ValueError if the key or the value is too large, or the ttl is negative
 */
function ephpm_kv_set(string $key, mixed $value, int $ttl = 0): bool {}

/**
 * Gives a key a value if it has none: of several that try at once, one gets true.
 *
 * @param string $key at most 32768 bytes
 * @param mixed $value whatever serialize() takes; at most 67108864 bytes
 * @param int $ttl seconds to live, 0: for ever
 * @return bool false when it has one, or when there is no memory for it
 * @throws ValueError if the key or the value is too large, or the ttl is negative
 */
function ephpm_kv_setnx(string $key, mixed $value, int $ttl = 0): bool {}

/**
 * Deletes a key.
 *
 * @param string $key at most 32768 bytes
 * @return int<0, 1> how many keys were deleted
 * @throws ValueError if the key is too long
 */
function ephpm_kv_del(string $key): int {}

/**
 * Whether a key has a value, which may be null.
 *
 * @param string $key at most 32768 bytes
 * @throws ValueError if the key is too long
 */
function ephpm_kv_exists(string $key): bool {}

/**
 * Adds 1 to the value, in one step. A missing key counts as 0; an existing one keeps its deadline.
 *
 * @param string $key at most 32768 bytes
 * @return int|false the sum; false when the value is no integer, the sum would not fit, or there is no memory for it
 * @throws ValueError if the key is too long
 */
function ephpm_kv_incr(string $key): int|false {}

/**
 * Subtracts 1, otherwise like ephpm_kv_incr().
 *
 * @param string $key at most 32768 bytes
 * @return int|false the difference
 * @throws ValueError if the key is too long
 */
function ephpm_kv_decr(string $key): int|false {}

/**
 * Adds a number, otherwise like ephpm_kv_incr().
 *
 * @param string $key at most 32768 bytes
 * @param int $delta may be negative
 * @return int|false the sum
 * @throws ValueError if the key is too long
 */
function ephpm_kv_incr_by(string $key, int $delta): int|false {}

/**
 * Subtracts a number, otherwise like ephpm_kv_incr().
 *
 * @param string $key at most 32768 bytes
 * @param int $delta may be negative
 * @return int|false the difference
 * @throws ValueError if the key is too long
 */
function ephpm_kv_decr_by(string $key, int $delta): int|false {}

/**
 * Sets a new deadline.
 *
 * @param string $key at most 32768 bytes
 * @param int $ttl seconds from now; 0 deletes the key at once
 * @return bool false when there is no such key
 * @throws ValueError if the key is too long or the ttl negative
 */
function ephpm_kv_expire(string $key, int $ttl): bool {}

/**
 * How long a key still lives.
 *
 * @param string $key at most 32768 bytes
 * @return int seconds, rounded up; -1 without a deadline, -2 without the key
 * @throws ValueError if the key is too long
 */
function ephpm_kv_ttl(string $key): int {}

/**
 * How long a key still lives, in milliseconds.
 *
 * @param string $key at most 32768 bytes
 * @return int milliseconds; -1 without a deadline, -2 without the key
 * @throws ValueError if the key is too long
 */
function ephpm_kv_pttl(string $key): int {}

/**
 * The values of several keys, each as ephpm_kv_get() gives it.
 *
 * @template TKey of array-key
 * @param array<TKey, string|int> $keys
 * @return array<TKey, mixed> under the indexes that the keys have; null for missing ones
 * @throws ValueError if a key is too long
 * @throws TypeError if a key is neither string nor int
 */
function ephpm_kv_mget(array $keys): array {}

/**
 * Gives several keys their values, all of them or none. For others that change something it is one step.
 *
 * @param array<array-key, mixed> $values by key
 * @param int $ttl seconds to live for each, 0: for ever
 * @return bool false when there is no memory for all
 * @throws ValueError if a key or a value is too large, or the ttl is negative
 */
function ephpm_kv_mset(array $values, int $ttl = 0): bool {}

/**
 * Changes a value if it is exactly the expected one, type included, in one step.
 *
 * @param string $key at most 32768 bytes
 * @param mixed $expected null: the key has no value
 * @param mixed $value null: the key is deleted
 * @param int $ttl seconds to live, 0: for ever
 * @return bool false when the value is another one, or when there is no memory for the new one
 * @throws ValueError if the key or the value is too large, or the ttl is negative
 */
function ephpm_kv_cas(string $key, mixed $expected, mixed $value, int $ttl = 0): bool {}

/**
 * Keys that start with a prefix. Looks at all keys of the site, so it is for maintenance.
 *
 * @param string $prefix all bytes count as they are, "*" too
 * @param int $limit at most so many keys
 * @return list<string> in no order
 * @throws ValueError if the limit is less than 1
 */
function ephpm_kv_keys(string $prefix = "", int $limit = 1000): array {}

/**
 * Waits until a key's version is beyond the one that was seen last. Start with version 0, which does not wait. A version
 * counts changes of the value, deletion and expiry among them; a missing key has one, too. May rarely return without a
 * change. The worker serves nobody else meanwhile, and waiting counts as execution time for max_execution_time. The
 * request ends when its client goes, unless ignore_user_abort is on.
 *
 * @param string $key at most 32768 bytes
 * @param int $last_version as it was returned by the last call; negative: 0
 * @param int $timeout_ms 0 and less: looks only
 * @return array{value: mixed, version: int}|false false when there was no change in time; value as ephpm_kv_get() gives
 *     it
 * @throws ValueError if the key is too long
 */
function ephpm_kv_wait(string $key, int $last_version, int $timeout_ms): array|false {}

/**
 * Deletes all keys of the site, its sessions included.
 *
 * @return true
 */
function ephpm_kv_flush_all(): bool {}

/*
 * Hashes: keys that hold fields, each with a value of its own. A key that is not there is an empty hash, and a hash
 * without fields is gone. Of a key that holds a value, and of ephpm_kv_get() and the like for a key that holds a hash,
 * nothing comes and nothing changes: null, false, 0 or [].
 */

/**
 * Sets a field of a hash. The key keeps its deadline.
 *
 * @param string $key at most 32768 bytes
 * @param string $field at most 32768 bytes
 * @param mixed $value whatever serialize() takes
 * @return bool false when there is no memory for it, and for a key that holds a value
 * @throws ValueError if the key, the field or the value is too large
 */
function ephpm_kv_hset(string $key, string $field, mixed $value): bool {}

/**
 * The value of a field.
 *
 * @param string $key at most 32768 bytes
 * @param string $field at most 32768 bytes
 * @return mixed null when there is none
 * @throws ValueError if the key or the field is too long
 */
function ephpm_kv_hget(string $key, string $field): mixed {}

/**
 * Deletes a field; with the last one the key goes.
 *
 * @param string $key at most 32768 bytes
 * @param string $field at most 32768 bytes
 * @return int<0, 1> how many fields were deleted
 * @throws ValueError if the key or the field is too long
 */
function ephpm_kv_hdel(string $key, string $field): int {}

/**
 * All fields as they were at one moment.
 *
 * @param string $key at most 32768 bytes
 * @return array<string, mixed> in no order
 * @throws ValueError if the key is too long
 */
function ephpm_kv_hgetall(string $key): array {}

/** @return array<string, mixed> this worker, under the names of FPM's status */
function fpm_get_status(): array {}
