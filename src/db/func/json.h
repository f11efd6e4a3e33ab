/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_JSON_H
#define EPHPM_DB_FUNC_JSON_H

/*
 * JSON documents as MySQL has them: object keys are unique, sorted by length and then bytes;
 * integers are kept apart from doubles. Documents lie in an arena and are nested 100 deep at most.
 * Pure.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "db/decimal.h"

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_INT,
    JSON_UINT, /* above INT64_MAX */
    JSON_DOUBLE,
    JSON_DECIMAL, /* s is its text */
    JSON_STRING,
    JSON_OPAQUE, /* s: a date or time; printed as a string */
    JSON_ARRAY,
    JSON_OBJECT,
};

enum { JSON_MAX_DEPTH = 100 };

struct json;

struct json_member {
    struct str key;
    struct json *value;
};

struct json {
    enum json_kind kind;
    uint32_t n; /* of items or members */
    uint32_t cap;
    union {
        int64_t i;
        uint64_t u;
        double d;
        struct str s;
        struct json **items;
        struct json_member *members;
    };
};

struct json_error {
    const char *text; /* static */
    size_t position;  /* in bytes */
    bool too_deep;
};

/* ERR_INVAL: bad is filled. Strings that need no unescaping are borrowed from s. */
int json_doc_parse(
    struct arena *arena, struct str s, struct json **out, struct json_error *bad) MUST_CHECK;
/* MySQL's normal form: {"a": 1, "b": [1, 2.0]} */
void json_print(struct buf *out, const struct json *j);
void json_pretty(struct buf *out, const struct json *j);
/* A string with quotes and escapes. */
void json_print_string(struct buf *out, struct str s);

struct json *json_new(struct arena *arena, enum json_kind kind);
struct json *json_new_int(struct arena *arena, int64_t v);
struct json *json_new_string(struct arena *arena, struct str s);
void json_append(struct arena *arena, struct json *array, struct json *item);
void json_insert_at(struct arena *arena, struct json *array, uint32_t at, struct json *item);
/* Sets or replaces. For many keys in any order: json_add_member() each, then json_sort_members().
 */
void json_put(struct arena *arena, struct json *object, struct str key, struct json *value);
/* Adds without looking whether it is there. */
void json_add_member(struct arena *arena, struct json *object, struct str key, struct json *value);
/* Puts the members in order; of equal keys the last one stays. */
void json_sort_members(struct json *object);
struct json *json_member(const struct json *object, struct str key);
void json_remove_member(struct json *object, struct str key);
void json_remove_item(struct json *array, uint32_t at);
/* How deep it is nested: 1 for a scalar. */
int json_depth(const struct json *j);

/* MySQL's order of JSON values: null < numbers < strings < objects < arrays < booleans. */
int json_cmp(const struct json *a, const struct json *b);
/* The same of texts; what is no JSON is a string. */
int json_text_cmp(struct str a, struct str b);
/* JSON_CONTAINS() */
bool json_contains(const struct json *doc, const struct json *candidate);
bool json_overlaps(const struct json *a, const struct json *b);
/* "INTEGER", "OBJECT", ... */
struct str json_type_name(const struct json *j);
double json_double(const struct json *j);

/* ---- paths: $.a[0]."b c"[last-1][1 to 3].*[*]**.x ---- */

enum json_step_kind {
    JSON_STEP_KEY,
    JSON_STEP_ANY_KEY,
    JSON_STEP_CELL,
    JSON_STEP_RANGE,
    JSON_STEP_ANY_CELL,
    JSON_STEP_ANY, /* ** */
};

struct json_step {
    enum json_step_kind kind;
    struct str key;
    uint32_t from;
    uint32_t to;
    bool from_last; /* counted from the end: last is 0 */
    bool to_last;
};

struct json_path {
    struct json_step *steps;
    uint32_t n;
    bool many; /* has wildcards or ranges */
};

/* ERR_INVAL; *position: the character where it goes wrong, from 1. */
int json_path_parse(
    struct arena *arena, struct str s, struct json_path *out, size_t *position) MUST_CHECK;
/* All that the path finds, in order, each once; an array of the arena. */
struct json **json_find(
    struct arena *arena, struct json *doc, const struct json_path *path, uint32_t *n);
/* The place that a path without wildcards names, without its last step: the parent, or NULL. */
struct json *json_find_parent(struct json *doc, const struct json_path *path);
/* The index that a CELL means in an array of n; false: before its first. */
bool json_cell(const struct json_step *step, uint32_t n, uint32_t *index);

#endif
