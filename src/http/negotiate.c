/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/negotiate.h"

static const struct {
    struct str name;
    struct str suffix;
} codings[CODING_COUNT] = {
    [CODING_IDENTITY] = {{"identity", 8}, {"", 0}},
    [CODING_GZIP] = {{"gzip", 4}, {".gz", 3}},
    [CODING_ZSTD] = {{"zstd", 4}, {".zst", 4}},
    [CODING_BR] = {{"br", 2}, {".br", 3}},
};

enum { Q_UNSET = 0xffff, Q_FULL = 1000 };

struct str coding_name(enum coding c)
{
    return codings[c].name;
}

struct str coding_suffix(enum coding c)
{
    return codings[c].suffix;
}

/* qvalue = 0 or 1, with up to three decimals (12.4.2), in thousandths; false when malformed. */
static bool parse_q(struct str s, uint16_t *out)
{
    unsigned q, unit = 100;

    if (s.len < 1 || s.len > 5 || (s.p[0] != '0' && s.p[0] != '1'))
        return false;
    if (s.len > 1 && s.p[1] != '.')
        return false;
    q = s.p[0] == '1' ? Q_FULL : 0;
    for (size_t i = 2; i < s.len; i++, unit /= 10) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        q += (unsigned)(s.p[i] - '0') * unit;
    }
    if (q > Q_FULL)
        return false;
    *out = (uint16_t)q;
    return true;
}

/* Takes "name *( ; param )" apart; q is Q_FULL without a q parameter. */
static bool parse_member(struct str member, struct str *name, uint16_t *q)
{
    struct str part;

    *q = Q_FULL;
    if (!str_split(&member, ';', &part))
        return false;
    *name = str_trim(part);
    while (str_split(&member, ';', &part)) {
        part = str_trim(part);
        if (str_istarts(part, STR("q=")) && !parse_q(str_sub(part, 2, part.len), q))
            return false;
    }
    return name->len > 0;
}

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return s.len > 0;
}

static int coding_find(struct str name)
{
    if (str_ieq(name, STR("x-gzip")))
        return CODING_GZIP;
    for (int c = 0; c < CODING_COUNT; c++) {
        if (str_ieq(name, codings[c].name))
            return c;
    }
    return -1;
}

static struct negotiate identity_only(void)
{
    struct negotiate n = {.q = {[CODING_IDENTITY] = Q_FULL}};

    return n;
}

struct negotiate negotiate_parse(struct str accept_encoding)
{
    struct negotiate n = {.q = {Q_UNSET, Q_UNSET, Q_UNSET, Q_UNSET}};
    uint16_t any = Q_UNSET;
    struct str rest = accept_encoding, member, name = STR_NONE;

    while (str_split(&rest, ',', &member)) {
        uint16_t q;
        int c;

        member = str_trim(member);
        if (member.len == 0) /* empty list members are allowed (5.6.1) */
            continue;
        if (!parse_member(member, &name, &q) || !is_token(name))
            return identity_only();
        if (str_eq(name, STR("*"))) {
            any = q;
            continue;
        }
        c = coding_find(name);
        if (c >= 0)
            n.q[c] = q;
    }
    n.identity_named = n.q[CODING_IDENTITY] != Q_UNSET;
    for (int c = 0; c < CODING_COUNT; c++) {
        if (n.q[c] != Q_UNSET)
            continue;
        if (c == CODING_IDENTITY)
            n.q[c] = any == 0 ? 0 : Q_FULL; /* acceptable unless excluded */
        else
            n.q[c] = any == Q_UNSET ? 0 : any;
    }
    return n;
}

enum coding negotiate_choose(const struct negotiate *n, unsigned set)
{
    enum coding best = CODING_IDENTITY;
    unsigned best_q = 0;

    for (int c = CODING_COUNT - 1; c > CODING_IDENTITY; c--) {
        if ((set & CODING_BIT(c)) && n->q[c] > best_q) {
            best = (enum coding)c;
            best_q = n->q[c];
        }
    }
    if (n->identity_named && n->q[CODING_IDENTITY] > best_q)
        return CODING_IDENTITY;
    return best;
}

unsigned negotiate_accept_q(struct str accept, struct str type, struct str subtype)
{
    struct str member, name = STR_NONE;
    unsigned found = 0;
    int rank = 0; /* 1: any, 2: type / any, 3: exact */

    if (!accept.p)
        return Q_FULL;
    while (str_split(&accept, ',', &member)) {
        ptrdiff_t slash;
        struct str t, s;
        uint16_t q;
        int r = 0;

        if (!parse_member(member, &name, &q))
            continue;
        slash = str_chr(name, '/');
        if (slash < 0)
            continue;
        t = str_sub(name, 0, (size_t)slash);
        s = str_sub(name, (size_t)slash + 1, name.len);
        if (str_ieq(t, type))
            r = str_ieq(s, subtype) ? 3 : str_eq(s, STR("*")) ? 2 : 0;
        else if (str_eq(t, STR("*")) && str_eq(s, STR("*")))
            r = 1;
        if (r > rank) {
            rank = r;
            found = q;
        }
    }
    return found;
}
