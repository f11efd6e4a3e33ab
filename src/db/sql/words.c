/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/sql/words.h"

enum { WORD_MAX = 32 };

static const struct {
    struct str text;
    enum sql_word_class class;
} words[W__COUNT] = {
#define ROW(name, c) [W_##name] = {STR(#name), SQL_WORD_##c},
    SQL_WORD_LIST(ROW)
#undef ROW
};

/* The first word of each initial letter; that of the next letter ends its range. */
static const enum sql_word first[27] = {W_ACCESSIBLE, W_BACKUP, W_CACHE, W_DATA, W_EACH, W_FALSE,
    W_GENERATED, W_HANDLER, W_IDENTIFIED, W_JOIN, W_KEY, W_LAG, W_MASTER, W_NAMES, W_OF, W_PACKAGE,
    W_QUARTER, W_RANGE, W_SAVEPOINT, W_TABLE, W_UNBOUNDED, W_VALIDATION, W_WAIT, W_XA, W_YEAR,
    W_ZEROFILL, W__COUNT};

enum sql_word sql_word_find(struct str s)
{
    char upper[WORD_MAX];
    int lo, hi;

    if (s.len < 2 || s.len > WORD_MAX)
        return W_NO_WORD;
    for (size_t i = 0; i < s.len; i++)
        upper[i] = str_upper_char(s.p[i]);
    if (upper[0] < 'A' || upper[0] > 'Z')
        return W_NO_WORD;
    lo = (int)first[upper[0] - 'A'];
    hi = (int)first[upper[0] - 'A' + 1] - 1;
    while (lo <= hi) {
        int mid = (lo + hi) / 2;
        int c = str_cmp(str_n(upper, s.len), words[mid].text);

        if (c == 0)
            return (enum sql_word)mid;
        if (c < 0)
            hi = mid - 1;
        else
            lo = mid + 1;
    }
    return W_NO_WORD;
}

enum sql_word_class sql_word_class(enum sql_word w)
{
    return words[w].class;
}

struct str sql_word_text(enum sql_word w)
{
    return words[w].text;
}
