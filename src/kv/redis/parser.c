/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/parser.h"

#include <stdio.h>

#include "base/mem.h"

enum {
    FIRST_WORDS = 16,
    KEEP_WORDS = 1024, /* more are given back after the command */
    NUMBER_LINE_MAX = 64,
};

void redis_parser_init(struct redis_parser *p)
{
    *p = (struct redis_parser){.bulk = -1};
}

void redis_parser_fini(struct redis_parser *p)
{
    mem_free(p->argv);
    mem_free(p->words);
    buf_fini(&p->line);
}

static int fail(struct redis_parser *p, const char *text)
{
    p->error = text;
    return ERR_PROTO;
}

/* Room for n words; they grow as they come, not as they are announced. */
static int room(struct redis_parser *p, size_t n)
{
    size_t cap = p->cap ? p->cap : FIRST_WORDS;
    void *words, *argv;

    if (n <= p->cap)
        return 0;
    while (cap < n)
        cap *= 2;
    words = mem_try_resize(p->words, cap * sizeof(*p->words));
    if (!words)
        return fail(p, "Protocol error: out of memory");
    p->words = words;
    argv = mem_try_resize(p->argv, cap * sizeof(*p->argv));
    if (!argv)
        return fail(p, "Protocol error: out of memory");
    p->argv = argv;
    p->cap = cap;
    return 0;
}

static void start(struct redis_parser *p)
{
    p->argc = 0;
    p->at = 0;
    p->used = 0;
    p->bulk = -1;
    if (p->cap > KEEP_WORDS) {
        mem_free(p->argv);
        mem_free(p->words);
        p->argv = NULL;
        p->words = NULL;
        p->cap = 0;
    }
}

/* ---- numbers: "*3\r\n", "$5\r\n" ---- */

/* The number between the sign at p->at and the line's end, which is passed. */
static int number(
    struct redis_parser *p, struct str in, const char *bad, const char *too_long, int64_t *out)
{
    const char *from = in.p + p->at + 1, *cr;
    size_t have = in.len - p->at - 1;
    struct str digits;

    cr = have ? memchr(from, '\r', have) : NULL;
    if (!cr || (size_t)(cr - from) + 1 >= have)
        return have > NUMBER_LINE_MAX ? fail(p, too_long) : ERR_AGAIN;
    digits = str_n(from, (size_t)(cr - from));
    if (str_i64(digits, out) != 0)
        return fail(p, bad);
    p->at = (size_t)(cr - in.p) + 2;
    return 0;
}

static int header(struct redis_parser *p, struct str in, const struct redis_parser_limits *limits)
{
    int64_t n;
    int r = number(p, in, "Protocol error: invalid multibulk length",
        "Protocol error: too big mbulk count string", &n);

    if (r)
        return r;
    if (n > (int64_t)limits->args)
        return fail(p, limits->args < REDIS_ARGS_MAX
                           ? "Protocol error: unauthenticated multibulk length"
                           : "Protocol error: invalid multibulk length");
    p->left = n > 0 ? n : 0;
    return 0;
}

static int bulk_header(
    struct redis_parser *p, struct str in, const struct redis_parser_limits *limits)
{
    int64_t n;
    char c;
    int r;

    if (p->at >= in.len)
        return ERR_AGAIN;
    c = in.p[p->at];
    if (c != '$') {
        (void)snprintf(p->error_text, sizeof(p->error_text),
            "Protocol error: expected '$', got '%c'", c >= ' ' && c <= '~' ? c : '?');
        return fail(p, p->error_text);
    }
    r = number(p, in, "Protocol error: invalid bulk length",
        "Protocol error: too big bulk count string", &n);
    if (r)
        return r;
    if (n < 0 || (uint64_t)n > limits->bulk)
        return fail(p, limits->args < REDIS_ARGS_MAX && n >= 0
                           ? "Protocol error: unauthenticated bulk length"
                           : "Protocol error: invalid bulk length");
    if ((uint64_t)n + 2 > limits->request || p->at > limits->request - (size_t)n - 2)
        return fail(p, "Protocol error: request larger than max_input_buffer");
    p->bulk = n;
    return 0;
}

static int words(struct redis_parser *p, struct str in, const struct redis_parser_limits *limits)
{
    int r;

    while (p->left > 0) {
        if (p->bulk < 0) {
            r = bulk_header(p, in, limits);
            if (r)
                return r;
        }
        if (in.len - p->at < (size_t)p->bulk + 2)
            return ERR_AGAIN;
        r = room(p, p->argc + 1);
        if (r)
            return r;
        p->words[p->argc++] = (struct redis_word){p->at, (size_t)p->bulk};
        p->at += (size_t)p->bulk + 2;
        p->bulk = -1;
        p->left--;
    }
    for (size_t i = 0; i < p->argc; i++)
        p->argv[i] = str_n(in.p + p->words[i].off, p->words[i].len);
    p->used = p->at;
    p->at = 0;
    return 0;
}

/* ---- inline ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The escape behind a backslash at line[*i] in double quotes; leaves *i at its last byte. */
static char unescape(struct str line, size_t *i)
{
    static const char from[] = "nrtba", to[] = "\n\r\t\b\a";
    char c = line.p[++*i];
    const char *f;

    if (c == 'x' && *i + 2 < line.len && str_hex_digit(line.p[*i + 1]) >= 0 &&
        str_hex_digit(line.p[*i + 2]) >= 0) {
        *i += 2;
        return (char)(str_hex_digit(line.p[*i - 1]) * 16 + str_hex_digit(line.p[*i]));
    }
    f = c ? strchr(from, c) : NULL;
    return f ? to[f - from] : c;
}

/* A word in quotes that starts at line[*i]; *i is left behind its end. */
static int quoted(struct str line, size_t *i, struct buf *out)
{
    char quote = line.p[(*i)++];

    for (; *i < line.len && line.p[*i] != quote; ++*i) {
        char c = line.p[*i];

        if (c == '\\' && *i + 1 < line.len) {
            if (quote == '"')
                c = unescape(line, i);
            else if (line.p[*i + 1] == '\'')
                c = line.p[++*i];
        }
        buf_add_char(out, c);
    }
    if (*i >= line.len)
        return ERR_INVAL;
    ++*i;
    /* A space or nothing follows. */
    return *i < line.len && !is_space(line.p[*i]) ? ERR_INVAL : 0;
}

static int word(struct str line, size_t *i, struct buf *out)
{
    while (*i < line.len && !is_space(line.p[*i])) {
        if (line.p[*i] == '"' || line.p[*i] == '\'')
            return quoted(line, i, out);
        buf_add_char(out, line.p[(*i)++]);
    }
    return 0;
}

int redis_parser_split(struct redis_parser *p, struct str line)
{
    size_t i = 0, from;

    p->argc = 0;
    buf_clear(&p->line);
    for (;;) {
        while (i < line.len && is_space(line.p[i]))
            i++;
        if (i >= line.len)
            break;
        from = p->line.len;
        if (word(line, &i, &p->line) != 0 || room(p, p->argc + 1) != 0)
            return ERR_INVAL;
        p->words[p->argc++] = (struct redis_word){from, p->line.len - from};
    }
    for (size_t k = 0; k < p->argc; k++)
        p->argv[k] =
            p->words[k].len ? str_n(p->line.p + p->words[k].off, p->words[k].len) : STR("");
    return 0;
}

static int inline_command(struct redis_parser *p, struct str in)
{
    size_t max = MIN(in.len, (size_t)REDIS_INLINE_MAX);
    const char *nl = p->at < max ? memchr(in.p + p->at, '\n', max - p->at) : NULL;
    size_t len;

    if (!nl) {
        if (in.len >= REDIS_INLINE_MAX)
            return fail(p, "Protocol error: too big inline request");
        p->at = in.len;
        return ERR_AGAIN;
    }
    len = (size_t)(nl - in.p);
    p->used = len + 1;
    p->at = 0;
    if (redis_parser_split(p, str_n(in.p, len)) != 0)
        return fail(p, "Protocol error: unbalanced quotes in request");
    return 0;
}

int redis_parser_next(
    struct redis_parser *p, struct str in, const struct redis_parser_limits *limits)
{
    int r;

    if (p->left == 0) {
        if (in.len == 0)
            return ERR_AGAIN;
        if (in.p[0] != '*') {
            if (p->at == 0)
                start(p);
            return inline_command(p, in);
        }
        start(p);
        r = header(p, in, limits);
        if (r)
            return r;
    }
    return words(p, in, limits);
}

size_t redis_parser_wants(const struct redis_parser *p, size_t have)
{
    size_t end = p->bulk < 0 ? 0 : p->at + (size_t)p->bulk + 2;

    return end > have ? end - have : 0;
}
