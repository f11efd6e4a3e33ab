/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * The parts of base/str.h that work on other people's bytes.  Input: a pattern or number, a NUL, a
 * text.  The glob is compared with a plain recursive one on short inputs.
 */
#include "base/str.h"

#include "base/buf.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Only for patterns of literals, '?', '*' and '**', where it is obvious. */
static bool fuzz_glob_plain(struct str p, struct str s)
{
    struct str p1 = str_sub(p, 1, p.len), s1 = str_sub(s, 1, s.len);

    if (p.len == 0)
        return s.len == 0;
    if (str_starts(p, STR("**"))) {
        while (p.len && p.p[0] == '*')
            p = str_sub(p, 1, p.len);
        for (size_t i = 0; i <= s.len; i++)
            if (fuzz_glob_plain(p, str_sub(s, i, s.len)))
                return true;
        return false;
    }
    if (p.p[0] == '*')
        return fuzz_glob_plain(p1, s) || (s.len && s.p[0] != '/' && fuzz_glob_plain(p, s1));
    if (s.len == 0)
        return false;
    return (p.p[0] == '?' ? s.p[0] != '/' : p.p[0] == s.p[0]) && fuzz_glob_plain(p1, s1);
}

static void fuzz_number(struct str s)
{
    struct buf b = {0};
    uint64_t u, again = 0;
    int64_t i;

    if (str_u64(s, &u) == 0) {
        buf_add_u64(&b, u);
        ENSURE(str_u64(buf_str(&b), &again) == 0 && again == u);
        ENSURE(u > INT64_MAX || (str_i64(s, &i) == 0 && (uint64_t)i == u));
    }
    buf_clear(&b);
    buf_add_json(&b, s);
    ENSURE(str_is_utf8(buf_str(&b)));
    buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size), pattern, text, part;
    size_t bytes = 0, parts = 0;
    bool match;

    if (!str_split(&rest, '\0', &pattern))
        return 0;
    text = rest.p ? rest : STR("");
    match = str_glob(pattern, text);
    if (pattern.len <= 8 && text.len <= 8 && str_chr(pattern, '[') < 0 &&
        str_chr(pattern, '\\') < 0)
        ENSURE(match == fuzz_glob_plain(pattern, text));
    fuzz_number(pattern);
    ENSURE(str_distance(pattern, text) == str_distance(text, pattern));
    ENSURE((str_distance(pattern, text) == 0) ==
           str_eq(str_sub(pattern, 0, 64), str_sub(text, 0, 64)));
    for (rest = pattern; str_split(&rest, ',', &part); parts++)
        bytes += part.len;
    ENSURE(parts == 0 || bytes + parts - 1 == pattern.len);
    return 0;
}
