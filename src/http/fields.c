/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/fields.h"

#include "base/mem.h"

enum { FIELDS_FIRST_CAP = 16 };

/* tchar of RFC 9110 section 5.6.2. */
static const bool tchar_table[256] = {
    ['!'] = true,
    ['#'] = true,
    ['$'] = true,
    ['%'] = true,
    ['&'] = true,
    ['\''] = true,
    ['*'] = true,
    ['+'] = true,
    ['-'] = true,
    ['.'] = true,
    ['^'] = true,
    ['_'] = true,
    ['`'] = true,
    ['|'] = true,
    ['~'] = true,
    ['0' ... '9'] = true,
    ['A' ... 'Z'] = true,
    ['a' ... 'z'] = true,
};

void fields_init(struct fields *f, struct arena *arena)
{
    *f = (struct fields){.arena = arena};
}

void fields_reserve(struct fields *f, size_t n)
{
    struct field *items;
    size_t size = 0;

    if (n <= f->cap)
        return;
    ENSURE(mem_mul(n, sizeof(*items), &size));
    items = arena_new(f->arena, size);
    if (f->count > 0)
        memcpy(items, f->items, f->count * sizeof(*items));
    f->items = items;
    f->cap = n;
}

void fields_add(struct fields *f, struct str name, struct str value)
{
    if (f->count == f->cap)
        fields_reserve(f, f->cap == 0 ? FIELDS_FIRST_CAP : f->cap * 2);
    f->items[f->count++] = (struct field){name, value};
}

const struct str *fields_get(const struct fields *f, struct str name)
{
    for (size_t i = 0; i < f->count; i++) {
        if (str_ieq(f->items[i].name, name))
            return &f->items[i].value;
    }
    return NULL;
}

size_t fields_count(const struct fields *f, struct str name)
{
    size_t n = 0;

    for (size_t i = 0; i < f->count; i++)
        n += str_ieq(f->items[i].name, name);
    return n;
}

bool fields_join(const struct fields *f, struct str name, struct str *out)
{
    struct str sep = str_ieq(name, STR("cookie")) ? STR("; ") : STR(", ");
    size_t n = 0, size = 0, at = 0;
    char *p;

    for (size_t i = 0; i < f->count; i++) {
        if (!str_ieq(f->items[i].name, name))
            continue;
        if (n++ == 0)
            *out = f->items[i].value;
        size += f->items[i].value.len + sep.len;
    }
    if (n < 2)
        return n == 1;
    p = arena_bytes(f->arena, size);
    for (size_t i = 0; i < f->count; i++) {
        struct str v = f->items[i].value;

        if (!str_ieq(f->items[i].name, name))
            continue;
        if (at > 0) {
            memcpy(p + at, sep.p, sep.len);
            at += sep.len;
        }
        if (v.len > 0)
            memcpy(p + at, v.p, v.len);
        at += v.len;
    }
    *out = str_n(p, at);
    return true;
}

bool fields_has_token(const struct fields *f, struct str name, struct str token)
{
    for (size_t i = 0; i < f->count; i++) {
        struct str rest = f->items[i].value, item, first;

        if (!str_ieq(f->items[i].name, name))
            continue;
        while (field_list_next(&rest, &item)) {
            if (str_split(&item, ';', &first) && str_ieq(str_trim(first), token))
                return true;
        }
    }
    return false;
}

bool field_list_next(struct str *rest, struct str *item)
{
    while (rest->len > 0) {
        bool quoted = false;
        size_t i = 0;
        struct str part;

        for (; i < rest->len; i++) {
            char c = rest->p[i];

            if (quoted && c == '\\' && i + 1 < rest->len)
                i++;
            else if (c == '"')
                quoted = !quoted;
            else if (c == ',' && !quoted)
                break;
        }
        part = str_trim(str_n(rest->p, i));
        *rest = i < rest->len ? str_n(rest->p + i + 1, rest->len - i - 1) : STR_NONE;
        if (part.len > 0) {
            *item = part;
            return true;
        }
    }
    return false;
}

bool field_is_tchar(char c)
{
    return tchar_table[(unsigned char)c];
}

bool field_is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!tchar_table[(unsigned char)s.p[i]])
            return false;
    }
    return s.len > 0;
}

static bool is_bad_value_byte(unsigned char c)
{
    return (c < 0x20 && c != '\t') || c == 0x7f;
}

bool field_value_is_bad(struct str value)
{
    const uint64_t ones = 0x0101010101010101ULL, high = 0x8080808080808080ULL;
    size_t i = 0;

    /* Eight bytes at a time: is any below 0x20 or equal to 0x7f?  The sums may err towards "yes"
     * next to a hit (borrows), never towards "no", and the byte loop then decides. */
    for (; i + 8 <= value.len; i += 8) {
        uint64_t w, low, del;

        memcpy(&w, value.p + i, 8);
        low = (w - ones * 0x20) & ~w;
        del = w ^ (ones * 0x7f);
        del = (del - ones) & ~del;
        if (((low | del) & high) == 0)
            continue;
        for (size_t k = 0; k < 8; k++) {
            if (is_bad_value_byte((unsigned char)value.p[i + k]))
                return true;
        }
    }
    for (; i < value.len; i++) {
        if (is_bad_value_byte((unsigned char)value.p[i]))
            return true;
    }
    return false;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool field_is_variable(struct str name, bool underscores)
{
    if (name.len == 0 || str_ieq(name, STR("proxy")) || str_ieq(name, STR("transfer-encoding")))
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_alnum(name.p[i]) && name.p[i] != '-' && !(underscores && name.p[i] == '_'))
            return false;
    }
    return true;
}
