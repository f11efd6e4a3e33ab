/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/sql/parser.h"

#include "db/charset.h"

/* ---- tokens ---- */

/* Strings beside one another are one. */
static void join_strings(struct sql_parser *p, struct sql_token *t)
{
    struct sql_lexer look = p->lexer;
    struct sql_token more;
    struct str all = t->s;
    size_t cap = 0;

    for (;;) {
        sql_lexer_next(&look, &more);
        if (more.kind != T_STRING || str_lower_char(p->text.p[more.pos]) == 'n')
            break;
        if (all.len + more.s.len > cap) {
            char *grown;

            cap = (all.len + more.s.len) * 2;
            grown = arena_bytes(p->arena, cap);
            if (all.len)
                memcpy(grown, all.p, all.len);
            all.p = grown;
        }
        if (more.s.len)
            memcpy((char *)(uintptr_t)all.p + all.len, more.s.p, more.s.len);
        all.len += more.s.len;
        t->end = more.end;
        p->lexer = look;
    }
    t->s = all;
}

static void read_token(struct sql_parser *p, struct sql_token *t)
{
    sql_lexer_next(&p->lexer, t);
    if (t->kind == T_STRING)
        join_strings(p, t);
}

void ps_next(struct sql_parser *p)
{
    if (p->failed)
        return;
    p->prev_end = p->tok.end;
    if (p->ahead_n == 0) {
        read_token(p, &p->tok);
        return;
    }
    p->tok = p->ahead[p->ahead_first];
    p->ahead_first = (p->ahead_first + 1) % PS_AHEAD;
    p->ahead_n--;
}

const struct sql_token *ps_peek(struct sql_parser *p, uint32_t n)
{
    if (p->failed)
        return &p->tok;
    while (p->ahead_n < n) {
        read_token(p, &p->ahead[(p->ahead_first + p->ahead_n) % PS_AHEAD]);
        p->ahead_n++;
    }
    return &p->ahead[(p->ahead_first + n - 1) % PS_AHEAD];
}

bool ps_peek_word(struct sql_parser *p, uint32_t n, enum sql_word w)
{
    const struct sql_token *t = ps_peek(p, n);

    return t->kind == T_WORD && t->word == w;
}

bool ps_accept(struct sql_parser *p, enum sql_token_kind kind)
{
    if (p->tok.kind != kind)
        return false;
    ps_next(p);
    return true;
}

bool ps_accept_word(struct sql_parser *p, enum sql_word w)
{
    if (!ps_is_word(p, w))
        return false;
    ps_next(p);
    return true;
}

bool ps_accept_words(struct sql_parser *p, enum sql_word a, enum sql_word b)
{
    if (!ps_is_word(p, a) || !ps_peek_word(p, 1, b))
        return false;
    ps_next(p);
    ps_next(p);
    return true;
}

void ps_expect(struct sql_parser *p, enum sql_token_kind kind)
{
    if (!ps_accept(p, kind))
        ps_fail(p);
}

void ps_expect_word(struct sql_parser *p, enum sql_word w)
{
    if (!ps_accept_word(p, w))
        ps_fail(p);
}

/* ---- errors ---- */

static void stop(struct sql_parser *p)
{
    p->failed = true;
    p->tok = (struct sql_token){.kind = T_END, .pos = p->tok.pos, .end = p->tok.end};
    p->ahead_n = 0;
}

/* What is left of the text from pos, as MySQL shows it: without ; and space at its end, and at most
 * 80 characters. */
static struct str rest_of_text(const struct sql_parser *p, uint32_t pos)
{
    struct str s = str_sub(p->text, pos, p->text.len);
    size_t n = 0;

    while (s.len > 0 && (strchr("; \t\r\n\v\f", s.p[s.len - 1]) && s.p[s.len - 1]))
        s.len--;
    for (size_t chars = 0; n < s.len; n++) {
        if (((unsigned char)s.p[n] & 0xC0) != 0x80 && chars++ == 80)
            break;
    }
    return str_n(s.p, n);
}

static void fail_text(struct sql_parser *p, uint32_t pos, const char *what)
{
    struct str near = rest_of_text(p, pos);
    char text[400];
    int line = 1;

    if (p->failed)
        return;
    /* Lines behind the last token do not count. */
    if (near.len == 0)
        pos = MIN(pos, p->prev_end);
    for (const char *at = p->text.p, *end = at + pos;
        at && at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        line++;
    str_put(text, sizeof(text), near);
    (void)db_error_set(p->e, DB_E_PARSE, what, text, line);
    stop(p);
}

void ps_fail_at(struct sql_parser *p, uint32_t pos)
{
    fail_text(p, pos,
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL "
        "server version for the right syntax to use");
}

void ps_fail(struct sql_parser *p)
{
    /* MySQL's error begins behind a comma, and behind an @ alone. */
    bool behind = ps_is(p, T_COMMA) || (ps_is(p, T_USER_VAR) && p->tok.s.len == 0);

    ps_fail_at(p, behind ? p->tok.end : p->tok.pos);
}

void ps_error(struct sql_parser *p, enum db_error_name name, struct str what)
{
    char text[300];

    if (p->failed)
        return;
    str_put(text, sizeof(text), what);
    (void)db_error_set(p->e, name, text);
    stop(p);
}

void ps_refuse(struct sql_parser *p, const char *what)
{
    if (p->failed)
        return;
    p->refused = what;
    stop(p);
}

bool ps_enter(struct sql_parser *p)
{
    if (++p->nesting > PS_MAX_NESTING)
        fail_text(p, p->tok.pos, "The statement is nested too deeply");
    return !p->failed;
}

void ps_leave(struct sql_parser *p)
{
    p->nesting--;
}

/* ---- memory ---- */

static void check_memory(struct sql_parser *p)
{
    if (UNLIKELY(arena_used(p->arena) - p->memory > PS_MAX_MEMORY))
        ps_error(p, DB_E_OUT_OF_MEMORY, STR_NONE);
}

void *ps_new(struct sql_parser *p, size_t size)
{
    check_memory(p);
    return arena_new(p->arena, size);
}

void *ps_add(struct sql_parser *p, struct ps_vec *vec, size_t size)
{
    if (vec->n == vec->cap) {
        uint32_t cap = vec->cap ? vec->cap * 2 : 4;
        char *grown;

        check_memory(p);
        grown = arena_new(p->arena, cap * size);
        if (vec->n)
            memcpy(grown, vec->v, vec->n * size);
        vec->v = grown;
        vec->cap = cap;
    }
    return (char *)vec->v + vec->n++ * size;
}

void ps_add_expr(struct sql_parser *p, struct ps_vec *vec, struct sql_expr *e)
{
    *(struct sql_expr **)ps_add(p, vec, sizeof(struct sql_expr *)) = e;
}

struct str ps_text(const struct sql_parser *p, uint32_t from)
{
    return p->prev_end > from ? str_sub(p->text, from, p->prev_end - from) : STR_NONE;
}

struct str ps_lower(struct sql_parser *p, struct str s)
{
    char *out = arena_bytes(p->arena, s.len + 1);

    for (size_t i = 0; i < s.len; i++)
        out[i] = str_lower_char(s.p[i]);
    return str_n(out, s.len);
}

struct str ps_upper(struct sql_parser *p, struct str s)
{
    char *out = arena_bytes(p->arena, s.len + 1);

    for (size_t i = 0; i < s.len; i++)
        out[i] = str_upper_char(s.p[i]);
    return str_n(out, s.len);
}

/* ---- names ---- */

bool ps_token_is_name(const struct sql_token *t)
{
    return t->kind == T_NAME || (t->kind == T_WORD && !t->reserved);
}

struct str ps_name(struct sql_parser *p)
{
    struct str s = p->tok.s;

    if (!ps_is_name(p)) {
        ps_fail(p);
        return STR("?");
    }
    ps_next(p);
    return s;
}

struct str ps_string(struct sql_parser *p)
{
    struct str s = p->tok.s;

    ps_expect(p, T_STRING);
    return p->failed ? STR_NONE : s;
}

struct str ps_name_or_string(struct sql_parser *p)
{
    return ps_is(p, T_STRING) ? ps_string(p) : ps_name(p);
}

struct sql_name ps_table_name(struct sql_parser *p)
{
    struct sql_name n = {0};

    n.name = ps_name(p);
    if (ps_accept(p, T_DOT)) {
        n.schema = n.name;
        n.name = ps_name(p);
    }
    return n;
}

struct sql_names ps_name_list(struct sql_parser *p)
{
    struct ps_vec vec = {0};

    ps_expect(p, T_OPEN);
    do {
        *(struct str *)ps_add(p, &vec, sizeof(struct str)) = ps_name(p);
    } while (ps_accept(p, T_COMMA));
    ps_expect(p, T_CLOSE);
    return (struct sql_names){vec.v, vec.n};
}

struct str ps_charset(struct sql_parser *p)
{
    const struct db_collation *known;
    struct str s;

    if (ps_is_word(p, W_BINARY)) {
        ps_next(p);
        return STR("binary");
    }
    s = ps_name_or_string(p);
    known = db_charset_default(s);
    return known ? known->charset : ps_lower(p, s);
}

bool ps_accept_charset(struct sql_parser *p)
{
    if (ps_accept_word(p, W_CHARSET))
        return true;
    if ((ps_is_word(p, W_CHARACTER) || ps_is_word(p, W_CHAR)) && ps_peek_word(p, 1, W_SET)) {
        ps_next(p);
        ps_next(p);
        return true;
    }
    return false;
}

uint64_t ps_uint(struct sql_parser *p, uint64_t max)
{
    uint64_t u = p->tok.u;

    if (!ps_is(p, T_INT) || u > max)
        ps_fail(p);
    ps_next(p);
    return p->failed ? 0 : u;
}

bool ps_accept_if_exists(struct sql_parser *p)
{
    return ps_accept_words(p, W_IF, W_EXISTS);
}

bool ps_accept_if_not_exists(struct sql_parser *p)
{
    if (!ps_is_word(p, W_IF) || !ps_peek_word(p, 1, W_NOT))
        return false;
    ps_next(p);
    ps_next(p);
    ps_expect_word(p, W_EXISTS);
    return true;
}

void ps_skip_parens(struct sql_parser *p)
{
    uint32_t open = 0;

    do {
        if (ps_is(p, T_OPEN))
            open++;
        else if (ps_is(p, T_CLOSE))
            open--;
        else if (ps_is(p, T_END) || ps_is(p, T_BAD) || ps_is(p, T_SEMICOLON))
            ps_fail(p);
        ps_next(p);
    } while (open > 0 && !p->failed);
}
