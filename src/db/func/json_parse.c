/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "db/func/json.h"
#include "db/func/utf8.h"

struct parser {
    struct arena *arena;
    struct str s;
    size_t i;
    struct json_error *bad;
};

static int fail(struct parser *p, const char *text)
{
    *p->bad = (struct json_error){.text = text, .position = p->i};
    return ERR_INVAL;
}

static void skip(struct parser *p)
{
    while (p->i < p->s.len && (p->s.p[p->i] == ' ' || p->s.p[p->i] == '\t' ||
                                  p->s.p[p->i] == '\n' || p->s.p[p->i] == '\r'))
        p->i++;
}

static bool at(const struct parser *p, char c)
{
    return p->i < p->s.len && p->s.p[p->i] == c;
}

static int hex4(struct parser *p, uint32_t *out)
{
    *out = 0;
    for (int k = 0; k < 4; k++, p->i++) {
        int d = p->i < p->s.len ? str_hex_digit(p->s.p[p->i]) : -1;

        if (d < 0)
            return fail(p, "Incorrect hex digit after \\u escape in string.");
        *out = *out << 4 | (uint32_t)d;
    }
    return 0;
}

static int unicode_escape(struct parser *p, struct buf *b)
{
    uint32_t c;
    uint32_t low;
    int rc = hex4(p, &c);

    if (rc)
        return rc;
    if (c >= 0xD800 && c < 0xDC00) {
        if (!(at(p, '\\') && p->i + 1 < p->s.len && p->s.p[p->i + 1] == 'u'))
            return fail(p, "The surrogate pair in string is invalid.");
        p->i += 2;
        rc = hex4(p, &low);
        if (rc)
            return rc;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail(p, "The surrogate pair in string is invalid.");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    } else if (c >= 0xDC00 && c < 0xE000) {
        return fail(p, "The surrogate pair in string is invalid.");
    }
    utf8_encode(b, c);
    return 0;
}

static int escape(struct parser *p, struct buf *b)
{
    static const char letters[] = "btnfr\"\\/";
    static const char plain[] = "\b\t\n\f\r\"\\/";
    const char *found;
    char c;

    p->i++;
    if (p->i >= p->s.len)
        return fail(p, "Missing a closing quotation mark in string.");
    c = p->s.p[p->i];
    if (c == 'u') {
        p->i++;
        return unicode_escape(p, b);
    }
    found = c ? strchr(letters, c) : NULL;
    if (!found)
        return fail(p, "Invalid escape character in string.");
    buf_add_char(b, plain[found - letters]);
    p->i++;
    return 0;
}

static int string(struct parser *p, struct str *out)
{
    struct buf b = {0};
    size_t from = ++p->i;
    bool copied = false;
    int rc = 0;

    for (;;) {
        if (p->i >= p->s.len) {
            rc = fail(p, "Missing a closing quotation mark in string.");
            break;
        }
        if (p->s.p[p->i] == '"')
            break;
        if ((unsigned char)p->s.p[p->i] < 0x20) {
            rc = fail(p, "Invalid encoding in string.");
            break;
        }
        if (p->s.p[p->i] != '\\') {
            p->i++;
            continue;
        }
        buf_add(&b, p->s.p + from, p->i - from);
        copied = true;
        rc = escape(p, &b);
        if (rc)
            break;
        from = p->i;
    }
    if (!rc && copied) {
        buf_add(&b, p->s.p + from, p->i - from);
        *out = arena_str(p->arena, buf_str(&b));
    } else if (!rc) {
        *out = str_sub(p->s, from, p->i - from);
    }
    if (!rc)
        p->i++;
    buf_fini(&b);
    return rc;
}

static bool digits(struct parser *p)
{
    size_t from = p->i;

    while (p->i < p->s.len && p->s.p[p->i] >= '0' && p->s.p[p->i] <= '9')
        p->i++;
    return p->i > from;
}

static int number(struct parser *p, struct json **out)
{
    size_t from = p->i;
    bool real = false;
    struct str text;
    struct json *j = json_new(p->arena, JSON_INT);

    if (at(p, '-'))
        p->i++;
    if (at(p, '0')) {
        p->i++;
    } else if (!digits(p)) {
        return fail(p, "Invalid value.");
    }
    if (at(p, '.')) {
        real = true;
        p->i++;
        if (!digits(p))
            return fail(p, "Miss fraction part in number.");
    }
    if (at(p, 'e') || at(p, 'E')) {
        real = true;
        p->i++;
        if (at(p, '+') || at(p, '-'))
            p->i++;
        if (!digits(p))
            return fail(p, "Miss exponent in number.");
    }
    text = str_sub(p->s, from, p->i - from);
    if (!real && str_i64(text, &j->i) == 0) {
        *out = j;
        return 0;
    }
    if (!real && str_u64(text, &j->u) == 0) {
        j->kind = JSON_UINT;
        *out = j;
        return 0;
    }
    j->kind = JSON_DOUBLE;
    j->d = strtod(arena_str(p->arena, text).p, NULL);
    if (!isfinite(j->d)) {
        p->i = from;
        return fail(p, "Number too big to be stored in double.");
    }
    *out = j;
    return 0;
}

static bool word(struct parser *p, struct str w)
{
    if (!str_starts(str_sub(p->s, p->i, w.len), w))
        return false;
    p->i += w.len;
    return true;
}

static int value(struct parser *p, int depth, struct json **out);

/* NOLINTNEXTLINE(misc-no-recursion): JSON_MAX_DEPTH */
static int array(struct parser *p, int depth, struct json **out)
{
    struct json *a = json_new(p->arena, JSON_ARRAY);
    struct json *item;
    int rc;

    p->i++;
    skip(p);
    for (; !at(p, ']');) {
        rc = value(p, depth + 1, &item);
        if (rc)
            return rc;
        json_append(p->arena, a, item);
        skip(p);
        if (at(p, ']'))
            break;
        if (!at(p, ','))
            return fail(p, "Missing a comma or ] after an array element.");
        p->i++;
        skip(p);
        if (at(p, ']'))
            return fail(p, "Invalid value.");
    }
    p->i++;
    *out = a;
    return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): JSON_MAX_DEPTH */
static int object(struct parser *p, int depth, struct json **out)
{
    struct json *o = json_new(p->arena, JSON_OBJECT);
    struct json *item;
    struct str key;
    int rc;

    p->i++;
    skip(p);
    for (; !at(p, '}');) {
        if (!at(p, '"'))
            return fail(p, "Missing a name for object member.");
        rc = string(p, &key);
        if (rc)
            return rc;
        skip(p);
        if (!at(p, ':'))
            return fail(p, "Missing a colon after a name of object member.");
        p->i++;
        rc = value(p, depth + 1, &item);
        if (rc)
            return rc;
        json_add_member(p->arena, o, key, item);
        skip(p);
        if (at(p, '}'))
            break;
        if (!at(p, ','))
            return fail(p, "Missing a comma or } after an object member.");
        p->i++;
        skip(p);
        if (at(p, '}'))
            return fail(p, "Missing a name for object member.");
    }
    p->i++;
    json_sort_members(o);
    *out = o;
    return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): JSON_MAX_DEPTH */
static int value(struct parser *p, int depth, struct json **out)
{
    skip(p);
    if (depth > JSON_MAX_DEPTH) {
        (void)fail(p, "The JSON document exceeds the maximum depth.");
        p->bad->too_deep = true;
        return ERR_INVAL;
    }
    if (p->i >= p->s.len)
        return fail(p, depth == 1 ? "The document is empty." : "Invalid value.");
    switch (p->s.p[p->i]) {
    case '[':
        return array(p, depth, out);
    case '{':
        return object(p, depth, out);
    case '"':
        *out = json_new(p->arena, JSON_STRING);
        return string(p, &(*out)->s);
    case 't':
    case 'f':
    case 'n':
        if (word(p, STR("true")))
            *out = json_new(p->arena, JSON_TRUE);
        else if (word(p, STR("false")))
            *out = json_new(p->arena, JSON_FALSE);
        else if (word(p, STR("null")))
            *out = json_new(p->arena, JSON_NULL);
        else
            return fail(p, "Invalid value.");
        return 0;
    default:
        return number(p, out);
    }
}

int json_doc_parse(struct arena *arena, struct str s, struct json **out, struct json_error *bad)
{
    struct parser p = {.arena = arena, .s = s, .bad = bad};
    struct json *j = NULL;
    int rc;

    if (!str_is_utf8(s))
        return fail(&p, "Invalid encoding in string.");
    rc = value(&p, 1, &j);
    if (rc)
        return rc;
    skip(&p);
    if (p.i < s.len)
        return fail(&p, "The document root must not be followed by other values.");
    *out = j;
    return 0;
}
