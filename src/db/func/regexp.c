/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Regular expressions, by PCRE2. Compiled patterns that are constant stay with the argument. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "db/func/call.h"
#include "db/func/utf8.h"

enum { MATCH_LIMIT = 10000000, DEPTH_LIMIT = 100000 };

/* What one call works with. */
struct regexp {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    int keep; /* argument to keep the code with, or -1: free it */
    struct str text;
    bool bytes;
};

static void free_code(void *p)
{
    pcre2_code_free(p);
}

static void bad_pattern(struct call *c, int code)
{
    PCRE2_UCHAR text[160];

    (void)pcre2_get_error_message(code, text, sizeof(text)); /* cut when longer */
    CALL_RAISE(c, DB_E_INVALID_REGEXP, (const char *)text);
}

/* Options of the match type; false: unknown letter (an error was raised). */
static bool options_of(struct call *c, struct str type, uint32_t *options)
{
    for (size_t i = 0; i < type.len; i++) {
        switch (type.p[i]) {
        case 'c':
            *options &= ~PCRE2_CASELESS;
            break;
        case 'i':
            *options |= PCRE2_CASELESS;
            break;
        case 'm':
            *options |= PCRE2_MULTILINE;
            break;
        case 'n':
            *options |= PCRE2_DOTALL;
            break;
        case 'u':
            break;
        default:
            CALL_RAISE(c, DB_E_WRONG_ARGUMENTS, c->name);
            return false;
        }
    }
    return true;
}

/* The arguments coll, text, pattern and the match type at `type`. */
static bool begin(struct call *c, int type, struct regexp *r)
{
    uint32_t options = 0;
    struct str pattern = call_str(c, 2);
    PCRE2_SIZE offset;
    int error;

    *r = (struct regexp){.keep = -1, .text = call_str(c, 1)};
    if (!collation_is_cs(call_coll(c, 0)))
        options |= PCRE2_CASELESS;
    if (c->n > type && !options_of(c, call_str(c, type), &options))
        return false;
    r->bytes = call_blob(c, 1) || call_blob(c, 2) || !str_is_utf8(pattern) || !str_is_utf8(r->text);
    if (!r->bytes)
        options |= PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK;
    if (pattern.len == 0) {
        CALL_RAISE(c, DB_E_INVALID_REGEXP, "the pattern is empty");
        return false;
    }
    r->code = sqlite3_get_auxdata(c->sq, 2);
    if (r->code) { /* compiled for these options? */
        uint32_t had;

        (void)pcre2_pattern_info(r->code, PCRE2_INFO_ARGOPTIONS, &had); /* cannot fail */
        if (had == options)
            r->keep = -2;
        else
            r->code = NULL;
    }
    if (!r->code) {
        r->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.len, options, &error, &offset, NULL);
        if (!r->code) {
            bad_pattern(c, error);
            return false;
        }
        r->keep = 2;
    }
    r->match = pcre2_match_data_create_from_pattern(r->code, NULL);
    r->limits = pcre2_match_context_create(NULL);
    if (!r->match || !r->limits) {
        sqlite3_result_error_nomem(c->sq);
        c->failed = true;
        return false;
    }
    (void)pcre2_set_match_limit(r->limits, MATCH_LIMIT); /* cannot fail */
    (void)pcre2_set_depth_limit(r->limits, DEPTH_LIMIT);
    return true;
}

static void end(struct call *c, struct regexp *r)
{
    pcre2_match_data_free(r->match);
    pcre2_match_context_free(r->limits);
    if (r->code && r->keep >= 0)
        sqlite3_set_auxdata(c->sq, r->keep, r->code, free_code);
}

/* The first match from byte `from` on; false: none, or an error was raised. */
static bool next(struct call *c, struct regexp *r, size_t from, size_t *start, size_t *stop)
{
    PCRE2_SIZE *at;
    int rc = pcre2_match(r->code, (PCRE2_SPTR)r->text.p, r->text.len, from, 0, r->match, r->limits);

    if (rc == PCRE2_ERROR_NOMATCH)
        return false;
    if (rc < 0) {
        bad_pattern(c, rc);
        return false;
    }
    at = pcre2_get_ovector_pointer(r->match);
    *start = at[0];
    *stop = at[1] < at[0] ? at[0] : at[1];
    return true;
}

static size_t step(const struct regexp *r, size_t at)
{
    if (at >= r->text.len)
        return at + 1;
    if (r->bytes)
        return at + 1;
    (void)utf8_next(r->text, &at); /* only the way counts */
    return at;
}

/* Byte of character pos (from 1), or false: beyond the text. */
static bool position(struct call *c, const struct regexp *r, int64_t pos, size_t *at)
{
    size_t count = r->bytes ? r->text.len : utf8_count(r->text);

    if (pos < 1 || (uint64_t)pos > count + 1) {
        CALL_RAISE(c, DB_E_INVALID_REGEXP, "Index out of bounds in regular expression search.");
        return false;
    }
    *at = r->bytes ? (size_t)pos - 1 : utf8_offset(r->text, (size_t)pos - 1);
    return true;
}

/* Match number `nth` from there on. */
static bool find(
    struct call *c, struct regexp *r, size_t from, int64_t nth, size_t *start, size_t *stop)
{
    for (;; nth--) {
        if (from > r->text.len || !next(c, r, from, start, stop))
            return false;
        if (nth <= 1)
            return true;
        from = *stop > *start ? *stop : step(r, *stop);
    }
}

void fn_regexp(struct call *c)
{
    fn_regexp_like(c);
}

void fn_regexp_like(struct call *c)
{
    struct regexp r;
    size_t start;
    size_t stop;

    if (call_any_null(c))
        return;
    if (begin(c, 3, &r)) {
        bool found = next(c, &r, 0, &start, &stop);

        if (!c->failed)
            ret_bool(c, found);
    }
    end(c, &r);
}

static int64_t number(struct call *c, int i, int64_t otherwise)
{
    return i < c->n ? call_i64(c, i) : otherwise;
}

void fn_regexp_instr(struct call *c)
{
    struct regexp r;
    size_t from;
    size_t start;
    size_t stop;

    if (call_any_null(c))
        return;
    if (begin(c, 6, &r) && position(c, &r, number(c, 3, 1), &from)) {
        if (find(c, &r, from, number(c, 4, 1), &start, &stop)) {
            size_t at = number(c, 5, 0) ? stop : start;

            ret_i64(c, (int64_t)(r.bytes ? at : utf8_count(str_sub(r.text, 0, at))) + 1);
        } else if (!c->failed) {
            ret_i64(c, 0);
        }
    }
    end(c, &r);
}

void fn_regexp_substr(struct call *c)
{
    struct regexp r;
    size_t from;
    size_t start;
    size_t stop;

    if (call_any_null(c))
        return;
    if (begin(c, 5, &r) && position(c, &r, number(c, 3, 1), &from) &&
        find(c, &r, from, number(c, 4, 1), &start, &stop))
        ret_str(c, str_sub(r.text, start, stop - start));
    end(c, &r);
}

/* $1 and \1 are groups, \x is x. */
static void add_replacement(struct buf *out, struct regexp *r, struct str with)
{
    PCRE2_SIZE *at = pcre2_get_ovector_pointer(r->match);
    uint32_t groups = pcre2_get_ovector_count(r->match);

    for (size_t i = 0; i < with.len; i++) {
        char x = with.p[i];

        if ((x == '$' || x == '\\') && i + 1 < with.len) {
            char d = with.p[i + 1];

            if (d >= '0' && d <= '9') {
                uint32_t g = (uint32_t)(d - '0');

                i++;
                if (g < groups && at[2 * g] != PCRE2_UNSET)
                    buf_add(out, r->text.p + at[2 * g], at[2 * g + 1] - at[2 * g]);
                continue;
            }
            if (x == '\\') {
                buf_add_char(out, d);
                i++;
                continue;
            }
        }
        buf_add_char(out, x);
    }
}

static void replace(struct call *c, struct regexp *r, size_t from, int64_t nth)
{
    struct str with = call_str(c, 3);
    struct buf b = {0};
    size_t done = 0;
    size_t start;
    size_t stop;
    int64_t n = 0;

    while (from <= r->text.len && next(c, r, from, &start, &stop)) {
        n++;
        if (nth == 0 || n == nth) {
            buf_add(&b, r->text.p + done, start - done);
            add_replacement(&b, r, with);
            done = stop;
            if (nth || !ret_fits(c, b.len))
                break;
        }
        from = stop > start ? stop : step(r, stop);
    }
    buf_add(&b, r->text.p + done, r->text.len - done);
    if (c->failed)
        buf_fini(&b);
    else
        ret_buf(c, &b, r->bytes && call_blob(c, 1));
}

void fn_regexp_replace(struct call *c)
{
    struct regexp r;
    size_t from;

    if (call_any_null(c))
        return;
    if (begin(c, 6, &r) && position(c, &r, number(c, 4, 1), &from))
        replace(c, &r, from, MAX(number(c, 5, 0), 0));
    end(c, &r);
}
