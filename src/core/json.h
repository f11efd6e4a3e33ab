/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_JSON_H
#define EPHPM_CORE_JSON_H

/*
 * JSON: a writer that puts commas by itself, and a strict reader (RFC 8259) for short texts such as
 * lists in environment variables and control messages.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Writer.  Values go to the buf in order; inside an object each is preceded by json_key().  Opens
 * and closes must match (debug-asserted). Zero-initialise with JSON_WRITER(buf).
 */
struct json_writer {
    struct buf *b;
    /* private to json.c */
    int depth;
    bool more; /* a comma is due before the next item */
};
#define JSON_WRITER(buf_) ((struct json_writer){.b = (buf_)})

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
void json_str(struct json_writer *w, struct str s); /* p == NULL: null */
void json_int(struct json_writer *w, int64_t v);
void json_uint(struct json_writer *w, uint64_t v);
void json_float(struct json_writer *w, double v); /* null when not finite */
void json_bool(struct json_writer *w, bool v);
void json_null(struct json_writer *w);
void json_raw(struct json_writer *w, struct str json); /* a value that is JSON already */
/* Key and value in one. */
void json_add_str(struct json_writer *w, const char *key, struct str s);
void json_add_int(struct json_writer *w, const char *key, int64_t v);
void json_add_uint(struct json_writer *w, const char *key, uint64_t v);
void json_add_float(struct json_writer *w, const char *key, double v);
void json_add_bool(struct json_writer *w, const char *key, bool v);

/* Reader. */
enum { JSON_MAX_DEPTH = 64 };
enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
    enum json_kind kind;
    bool b;
    double number;
    bool is_int; /* the number is an integer that fits i */
    int64_t i;
    struct str s;             /* JSON_STRING, and the key of a member; a NUL follows */
    struct str key;           /* set in members of an object */
    struct json_value *first; /* children of arrays and objects, in order */
    struct json_value *next;
    size_t n;
};

/* The whole text is one value; the tree lives in the arena and borrows nothing. Duplicate keys are
 * an error. ERR_INVAL with text and column. */
int json_parse(
    struct arena *a, struct str text, struct json_value **out, struct err *err) MUST_CHECK;
/* A member of an object, or NULL (also when v is NULL or no object). */
const struct json_value *json_get(const struct json_value *v, const char *key);
/* The string of a member, or STR_NONE. */
struct str json_get_str(const struct json_value *v, const char *key);
/* The integer of a member, or dflt. */
int64_t json_get_int(const struct json_value *v, const char *key, int64_t dflt);
bool json_get_bool(const struct json_value *v, const char *key, bool dflt);

#endif
