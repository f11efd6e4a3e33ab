/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/sqlsplit.h"

enum { SPLIT_PLAIN, SPLIT_QUOTED, SPLIT_LINE_COMMENT, SPLIT_COMMENT };

void sqlsplit_init(struct sqlsplit *s)
{
    *s = (struct sqlsplit){.at_line = 1, .delimiter = ";"};
}

void sqlsplit_fini(struct sqlsplit *s)
{
    buf_fini(&s->text);
}

void sqlsplit_add(struct sqlsplit *s, struct str text)
{
    buf_add_str(&s->text, text);
}

static struct str split_rest(const struct sqlsplit *s)
{
    return str_sub(buf_str(&s->text), s->at, s->text.len);
}

static void split_step(struct sqlsplit *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->at_line += s->text.p[s->at + i] == '\n';
    s->at += n;
}

static bool split_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* "-- " or "--" at the end of a line. */
static bool split_is_dashes(struct str rest)
{
    return str_starts(rest, STR("--")) && (rest.len == 2 || split_is_space(rest.p[2]));
}

/* A whole line "DELIMITER x" where a statement would begin: taken out. False: not all of it is
 * there. */
static bool split_delimiter(struct sqlsplit *s, bool end)
{
    struct str rest = split_rest(s), word;
    ptrdiff_t nl = str_chr(rest, '\n');
    size_t n = nl < 0 ? rest.len : (size_t)nl + 1;

    if (nl < 0 && !end)
        return false;
    word = str_trim(str_sub(rest, sizeof("DELIMITER") - 1, n - (sizeof("DELIMITER") - 1)));
    if (word.len)
        (void)str_put(s->delimiter, sizeof(s->delimiter), word);
    split_step(s, n);
    buf_consume(&s->text, s->at);
    s->at = 0;
    s->begun = false;
    return true;
}

/* Comments that a server runs. */
static bool split_is_code(struct str rest)
{
    return str_starts(rest, STR("/*!")) || str_starts(rest, STR("/*M!"));
}

/* One step in text that is neither quoted nor comment. */
static void split_plain(struct sqlsplit *s, struct str rest)
{
    char c = *rest.p;

    bool comment =
        c == '#' || split_is_dashes(rest) || (str_starts(rest, STR("/*")) && !split_is_code(rest));

    s->begun = s->begun || !split_is_space(c);
    if (!s->solid && !comment && !split_is_space(c)) {
        s->solid = true;
        s->line = s->at_line;
    }
    if (c == '\'' || c == '"' || c == '`') {
        s->state = SPLIT_QUOTED;
        s->quote = c;
    } else if (c == '#' || split_is_dashes(rest)) {
        s->state = SPLIT_LINE_COMMENT;
    } else if (str_starts(rest, STR("/*"))) {
        s->state = SPLIT_COMMENT;
        split_step(s, 1);
    }
    split_step(s, 1);
}

static void split_other(struct sqlsplit *s, struct str rest)
{
    char c = *rest.p;
    size_t n = 1;

    if (s->state == SPLIT_QUOTED && c == '\\' && s->quote != '`' && !s->no_backslash)
        n = MIN(rest.len, (size_t)2);
    else if (s->state == SPLIT_QUOTED && c == s->quote)
        s->state = SPLIT_PLAIN; /* a doubled one begins again */
    else if (s->state == SPLIT_LINE_COMMENT && c == '\n')
        s->state = SPLIT_PLAIN;
    else if (s->state == SPLIT_COMMENT && str_starts(rest, STR("*/"))) {
        s->state = SPLIT_PLAIN;
        n = 2;
    }
    split_step(s, n);
}

/* What is there up to s->at, and `skip` bytes after it are not part of it. */
static bool split_give(struct sqlsplit *s, size_t skip, struct str *out)
{
    *out = str_trim(str_sub(buf_str(&s->text), 0, s->at));
    split_step(s, skip);
    skip = s->solid;
    s->begun = s->solid = false;
    return skip != 0;
}

bool sqlsplit_next(struct sqlsplit *s, bool end, struct str *statement)
{
    enum { AHEAD = 16 }; /* bytes that decide what a place is, if no line ends before */

    buf_consume(&s->text, s->begun ? 0 : s->at); /* the statement before */
    s->at = s->begun ? s->at : 0;
    while (s->at < s->text.len) {
        struct str rest = split_rest(s), delimiter = str_c(s->delimiter);

        if (rest.len < AHEAD && !end && str_chr(rest, '\n') < 0)
            return false;
        if (s->state != SPLIT_PLAIN) {
            split_other(s, rest);
        } else if (!s->solid && str_istarts(rest, STR("DELIMITER "))) {
            if (!split_delimiter(s, end))
                return false;
        } else if (str_starts(rest, delimiter)) {
            if (split_give(s, delimiter.len, statement))
                return true;
            buf_consume(&s->text, s->at);
            s->at = 0;
        } else {
            split_plain(s, rest);
        }
    }
    return end && s->begun && split_give(s, 0, statement);
}
