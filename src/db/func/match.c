/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * MATCH ... AGAINST without an index: words of the texts are compared with those that are looked
 * for. The relevance is the number of words found; it orders rows as far as applications ask.
 */
#include "db/func/compare.h"
#include "db/func/utf8.h"

enum { SHORTEST = 3, MOST_WORDS = 64 };

static bool word_char(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '\'' || c >= 0x80;
}

/* The next word of s from *i on. */
static bool next_word(struct str s, size_t *i, struct str *word)
{
    size_t from;

    while (*i < s.len && !word_char((unsigned char)s.p[*i]))
        (*i)++;
    from = *i;
    while (*i < s.len && word_char((unsigned char)s.p[*i]))
        (*i)++;
    *word = str_sub(s, from, *i - from);
    return word->len > 0;
}

/* How often the word (or what begins with it) is in the arguments from 1 on. */
static int64_t count(struct call *c, struct str word, bool prefix)
{
    struct collation coll = collation_get(STR("utf8mb4_0900_ai_ci"));
    int64_t n = 0;

    for (int i = 1; i < c->n; i++) {
        struct str s = call_str(c, i);
        struct str w;
        size_t at = 0;

        while (next_word(s, &at, &w)) {
            if (prefix)
                w = str_sub(w, 0, utf8_offset(w, utf8_count(word)));
            n += collation_cmp(coll, w, word) == 0;
        }
    }
    return n;
}

void fn_match(struct call *c)
{
    struct str words;
    struct str w;
    size_t i = 0;
    int64_t n = 0;

    if (call_null(c, 0))
        return;
    words = call_str(c, 0);
    for (int k = 0; k < MOST_WORDS && next_word(words, &i, &w); k++) {
        if (utf8_count(w) >= SHORTEST)
            n += count(c, w, false);
    }
    ret_double(c, (double)n);
}

/* One term of the boolean mode at *i: sign, word or "phrase", star. */
struct term {
    char sign;
    struct str text;
    bool prefix;
    bool phrase;
};

static bool next_term(struct str s, size_t *i, struct term *t)
{
    *t = (struct term){.sign = ' '};
    for (; *i < s.len && !word_char((unsigned char)s.p[*i]) && s.p[*i] != '"'; (*i)++) {
        if (s.p[*i] == '+' || s.p[*i] == '-' || s.p[*i] == '~')
            t->sign = s.p[*i];
        else if (s.p[*i] == ' ')
            t->sign = ' ';
    }
    if (*i >= s.len)
        return false;
    if (s.p[*i] == '"') {
        size_t from = ++*i;

        while (*i < s.len && s.p[*i] != '"')
            (*i)++;
        t->text = str_sub(s, from, *i - from);
        t->phrase = true;
        *i += *i < s.len;
        return true;
    }
    (void)next_word(s, i, &t->text); /* there is one */
    if (*i < s.len && s.p[*i] == '*') {
        t->prefix = true;
        (*i)++;
    }
    return true;
}

static bool contains(struct call *c, struct str phrase)
{
    struct str needle = arena_printf(&c->arena, "%%" STR_F "%%", STR_A(phrase));

    for (int i = 1; i < c->n; i++) {
        if (like_match(needle, call_str(c, i), STR(""), collation_get(STR("utf8mb4_0900_ai_ci"))))
            return true;
    }
    return false;
}

void fn_match_boolean(struct call *c)
{
    struct str words;
    struct term t;
    size_t i = 0;
    int64_t sum = 0;
    bool excluded = false;

    if (call_null(c, 0))
        return;
    words = call_str(c, 0);
    for (int k = 0; k < MOST_WORDS && next_term(words, &i, &t); k++) {
        int64_t n = t.phrase ? contains(c, t.text) : count(c, t.text, t.prefix);

        if ((t.sign == '+' && n == 0) || (t.sign == '-' && n > 0))
            excluded = true;
        if (t.sign != '-')
            sum += n;
    }
    ret_double(c, excluded ? 0 : (double)sum);
}
