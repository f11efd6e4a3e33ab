/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/json.h"

#include <assert.h>
#include <stdlib.h>

static void before_item(struct json_writer *w)
{
    if (w->more)
        buf_add_char(w->b, ',');
    w->more = true;
}

static void open_item(struct json_writer *w, char c)
{
    before_item(w);
    buf_add_char(w->b, c);
    w->more = false;
    w->depth++;
}

static void close_item(struct json_writer *w, char c)
{
    assert(w->depth > 0);
    buf_add_char(w->b, c);
    w->more = true;
    w->depth--;
}

void json_open_object(struct json_writer *w)
{
    open_item(w, '{');
}

void json_close_object(struct json_writer *w)
{
    close_item(w, '}');
}

void json_open_array(struct json_writer *w)
{
    open_item(w, '[');
}

void json_close_array(struct json_writer *w)
{
    close_item(w, ']');
}

void json_key(struct json_writer *w, const char *key)
{
    before_item(w);
    buf_add_json(w->b, str_c(key));
    buf_add_char(w->b, ':');
    w->more = false;
}

void json_str(struct json_writer *w, struct str s)
{
    if (!s.p) {
        json_null(w);
        return;
    }
    before_item(w);
    buf_add_json(w->b, s);
}

void json_int(struct json_writer *w, int64_t v)
{
    before_item(w);
    buf_printf(w->b, "%lld", (long long)v);
}

void json_uint(struct json_writer *w, uint64_t v)
{
    before_item(w);
    buf_add_u64(w->b, v);
}

void json_float(struct json_writer *w, double v)
{
    /* Infinities and not-a-number minus themselves are not zero. */
    if (v - v != 0) {
        json_null(w);
        return;
    }
    before_item(w);
    buf_printf(w->b, "%.15g", v);
}

void json_bool(struct json_writer *w, bool v)
{
    before_item(w);
    buf_add_str(w->b, v ? STR("true") : STR("false"));
}

void json_raw(struct json_writer *w, struct str json)
{
    before_item(w);
    buf_add_str(w->b, json);
}

void json_null(struct json_writer *w)
{
    before_item(w);
    buf_add_lit(w->b, "null");
}

void json_add_str(struct json_writer *w, const char *key, struct str s)
{
    json_key(w, key);
    json_str(w, s);
}

void json_add_int(struct json_writer *w, const char *key, int64_t v)
{
    json_key(w, key);
    json_int(w, v);
}

void json_add_uint(struct json_writer *w, const char *key, uint64_t v)
{
    json_key(w, key);
    json_uint(w, v);
}

void json_add_float(struct json_writer *w, const char *key, double v)
{
    json_key(w, key);
    json_float(w, v);
}

void json_add_bool(struct json_writer *w, const char *key, bool v)
{
    json_key(w, key);
    json_bool(w, v);
}

/* Reader. */

struct reader {
    struct arena *arena;
    struct str text;
    size_t pos;
    int depth;
    struct err *err;
};

static int read_value(struct reader *r, struct json_value *out);

static unsigned char peek(const struct reader *r)
{
    return r->pos < r->text.len ? (unsigned char)r->text.p[r->pos] : 0;
}

static int fail(struct reader *r, const char *what)
{
    return err_set_at(
        r->err, ERR_INVAL, 1, (int)MIN(r->pos + 1, (size_t)INT32_MAX), "JSON: %s", what);
}

static void skip_space(struct reader *r)
{
    while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\n' || peek(r) == '\r')
        r->pos++;
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != (unsigned char)c || r->pos >= r->text.len)
        return false;
    r->pos++;
    return true;
}

static bool take_hex4(struct reader *r, uint32_t *out)
{
    uint32_t u = 0;

    for (int i = 0; i < 4; i++) {
        int d = str_hex_digit((char)peek(r));

        if (d < 0)
            return false;
        u = u << 4 | (uint32_t)d;
        r->pos++;
    }
    *out = u;
    return true;
}

static void add_utf8(struct buf *b, uint32_t u)
{
    if (u < 0x80) {
        buf_add_char(b, (char)u);
        return;
    }
    if (u < 0x800) {
        buf_add_char(b, (char)(0xc0 | u >> 6));
    } else {
        if (u < 0x10000) {
            buf_add_char(b, (char)(0xe0 | u >> 12));
        } else {
            buf_add_char(b, (char)(0xf0 | u >> 18));
            buf_add_char(b, (char)(0x80 | (u >> 12 & 0x3f)));
        }
        buf_add_char(b, (char)(0x80 | (u >> 6 & 0x3f)));
    }
    buf_add_char(b, (char)(0x80 | (u & 0x3f)));
}

/* After "\u": one code unit, or a surrogate pair. */
static int read_unicode(struct reader *r, struct buf *b)
{
    uint32_t u, low;

    if (!take_hex4(r, &u))
        return fail(r, "\\u needs four hex digits");
    if (u >= 0xd800 && u <= 0xdbff) {
        if (!take(r, '\\') || !take(r, 'u') || !take_hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
            return fail(r, "half of a surrogate pair");
        u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
    } else if (u >= 0xdc00 && u <= 0xdfff) {
        return fail(r, "half of a surrogate pair");
    }
    add_utf8(b, u);
    return 0;
}

static int read_escape(struct reader *r, struct buf *b)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned char c = peek(r);
    const char *hit = c ? strchr(from, c) : NULL;

    if (c != 'u' && !hit)
        return fail(r, "unknown escape");
    r->pos++;
    if (!hit)
        return read_unicode(r, b);
    buf_add_char(b, to[hit - from]);
    return 0;
}

static int read_string_body(struct reader *r, struct buf *b)
{
    while (r->pos < r->text.len) {
        unsigned char c = peek(r);
        int rc;

        if (c < 0x20)
            return fail(r, "control character in a string");
        r->pos++;
        if (c == '"')
            return 0;
        if (c != '\\') {
            buf_add_char(b, (char)c);
            continue;
        }
        rc = read_escape(r, b);
        if (rc)
            return rc;
    }
    return fail(r, "a string is not closed");
}

static int read_string(struct reader *r, struct str *out)
{
    struct buf b = {0};
    int rc;

    if (!take(r, '"'))
        return fail(r, "a string is expected");
    rc = read_string_body(r, &b);
    if (rc == 0)
        *out = arena_str(r->arena, buf_str(&b));
    buf_fini(&b);
    return rc;
}

static bool take_digits(struct reader *r)
{
    size_t start = r->pos;

    while (peek(r) >= '0' && peek(r) <= '9')
        r->pos++;
    return r->pos > start;
}

static int read_number(struct reader *r, struct json_value *out)
{
    size_t start = r->pos;
    bool whole = true;
    struct str text;

    (void)take(r, '-');
    if (!take(r, '0') && !take_digits(r))
        return fail(r, "a value is expected");
    if (take(r, '.')) {
        whole = false;
        if (!take_digits(r))
            return fail(r, "digits are expected after the point");
    }
    if (take(r, 'e') || take(r, 'E')) {
        whole = false;
        if (!take(r, '+'))
            (void)take(r, '-');
        if (!take_digits(r))
            return fail(r, "digits are expected in the exponent");
    }
    text = arena_str(r->arena, str_sub(r->text, start, r->pos - start));
    out->kind = JSON_NUMBER;
    out->number = strtod(text.p, NULL);
    out->is_int = whole && str_i64(text, &out->i) == 0;
    return 0;
}

static int read_word(struct reader *r, struct json_value *out)
{
    struct str rest = str_sub(r->text, r->pos, r->text.len);

    if (str_starts(rest, STR("null"))) {
        out->kind = JSON_NULL;
        r->pos += 4;
    } else if (str_starts(rest, STR("true"))) {
        out->kind = JSON_BOOL;
        out->b = true;
        r->pos += 4;
    } else if (str_starts(rest, STR("false"))) {
        out->kind = JSON_BOOL;
        r->pos += 5;
    } else {
        return read_number(r, out);
    }
    return 0;
}

/* A member's key and colon. The siblings before it are compared: objects are small here. */
static int read_key(struct reader *r, const struct json_value *parent, struct json_value *child)
{
    int rc = read_string(r, &child->key);

    if (rc)
        return rc;
    for (const struct json_value *v = parent->first; v; v = v->next) {
        if (str_eq(v->key, child->key))
            return fail(r, "a key is there twice");
    }
    skip_space(r);
    if (!take(r, ':'))
        return fail(r, "':' is expected after a key");
    return 0;
}

enum { OBJECT_MAX = 1024 };

/* Arrays and objects; the opening bracket is taken. */
static int read_children(struct reader *r, struct json_value *out, char close)
{
    struct json_value **at = &out->first;

    skip_space(r);
    if (take(r, close))
        return 0;
    for (;;) {
        struct json_value *child = arena_new(r->arena, sizeof(*child));
        int rc = 0;

        skip_space(r);
        if (out->kind == JSON_OBJECT) {
            if (out->n == OBJECT_MAX)
                return fail(r, "too many members in an object");
            rc = read_key(r, out, child);
        }
        if (rc == 0)
            rc = read_value(r, child);
        if (rc)
            return rc;
        *at = child;
        at = &child->next;
        out->n++;
        skip_space(r);
        if (take(r, close))
            return 0;
        if (!take(r, ','))
            return fail(r, "',' or the closing bracket is expected");
    }
}

static int read_value(struct reader *r, struct json_value *out)
{
    int rc;

    skip_space(r);
    if (r->depth == JSON_MAX_DEPTH)
        return fail(r, "nested too deep");
    r->depth++;
    if (peek(r) == '"') {
        out->kind = JSON_STRING;
        rc = read_string(r, &out->s);
    } else if (take(r, '[')) {
        out->kind = JSON_ARRAY;
        rc = read_children(r, out, ']');
    } else if (take(r, '{')) {
        out->kind = JSON_OBJECT;
        rc = read_children(r, out, '}');
    } else {
        rc = read_word(r, out);
    }
    r->depth--;
    return rc;
}

int json_parse(struct arena *a, struct str text, struct json_value **out, struct err *err)
{
    struct reader r = {.arena = a, .text = text, .err = err};
    struct json_value *v = arena_new(a, sizeof(*v));
    int rc;

    if (!str_is_utf8(text))
        return fail(&r, "the text is not UTF-8");
    rc = read_value(&r, v);
    if (rc)
        return rc;
    skip_space(&r);
    if (r.pos != text.len)
        return fail(&r, "something follows the value");
    *out = v;
    return 0;
}

const struct json_value *json_get(const struct json_value *v, const char *key)
{
    if (!v || v->kind != JSON_OBJECT)
        return NULL;
    for (const struct json_value *m = v->first; m; m = m->next) {
        if (str_eq(m->key, str_c(key)))
            return m;
    }
    return NULL;
}

struct str json_get_str(const struct json_value *v, const char *key)
{
    const struct json_value *m = json_get(v, key);

    return m && m->kind == JSON_STRING ? m->s : STR_NONE;
}

int64_t json_get_int(const struct json_value *v, const char *key, int64_t dflt)
{
    const struct json_value *m = json_get(v, key);

    return m && m->kind == JSON_NUMBER && m->is_int ? m->i : dflt;
}

bool json_get_bool(const struct json_value *v, const char *key, bool dflt)
{
    const struct json_value *m = json_get(v, key);

    return m && m->kind == JSON_BOOL ? m->b : dflt;
}
