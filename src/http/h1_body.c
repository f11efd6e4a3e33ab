/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/h1_body.h"

#include "http/fields.h"

/* Hex digits of a chunk size, leading zeros included. */
enum { CHUNK_DIGITS_MAX = 16 };

void h1_body_init(struct h1_body *b, int64_t content_length, bool chunked)
{
    *b = (struct h1_body){.state = chunked ? H1_BODY_SIZE_FIRST : H1_BODY_LENGTH};
    if (!chunked && content_length > 0)
        b->left = (uint64_t)content_length;
}

static int refuse(struct h1_body *b, const char *reason)
{
    b->reason = reason;
    return ERR_PROTO;
}

static int on_size(struct h1_body *b, char c)
{
    int digit = str_hex_digit(c);

    if (digit >= 0) {
        if (++b->digits > CHUNK_DIGITS_MAX || b->left > (uint64_t)INT64_MAX >> 4)
            return refuse(b, "chunk size is too large");
        b->left = b->left << 4 | (uint64_t)digit;
        b->state = H1_BODY_SIZE;
        return 0;
    }
    if (b->state == H1_BODY_SIZE_FIRST)
        return refuse(b, "chunk size is missing");
    if (c == '\r')
        b->state = H1_BODY_SIZE_LF;
    else if (c == ';')
        b->state = H1_BODY_EXT;
    else
        return refuse(b, "chunk size is not a hexadecimal number");
    return 0;
}

static int on_ext(struct h1_body *b, char c)
{
    if (c == '\r') {
        b->state = H1_BODY_SIZE_LF;
        return 0;
    }
    if (field_value_is_bad(str_n(&c, 1)))
        return refuse(b, "control character in a chunk extension");
    if (++b->extra > H1_BODY_EXT_MAX)
        return refuse(b, "chunk extension is too long");
    return 0;
}

static int on_trailer(struct h1_body *b, char c)
{
    if (++b->extra > H1_BODY_TRAILER_MAX)
        return refuse(b, "trailers are too long");
    switch (b->state) {
    case H1_BODY_TRAILER_START:
        if (c == '\r') {
            b->state = H1_BODY_END_LF;
            return 0;
        }
        b->state = H1_BODY_TRAILER_NAME;
        return field_is_tchar(c) ? 0 : refuse(b, "trailer name is not a token");
    case H1_BODY_TRAILER_NAME:
        if (c == ':')
            b->state = H1_BODY_TRAILER_VALUE;
        else if (!field_is_tchar(c))
            return refuse(b, "trailer name is not a token");
        return 0;
    default:
        if (c == '\r')
            b->state = H1_BODY_TRAILER_LF;
        else if (field_value_is_bad(str_n(&c, 1)))
            return refuse(b, "control character in a trailer");
        return 0;
    }
}

/* The states in which exactly one byte may come. */
static int on_fixed(struct h1_body *b, char c)
{
    if (c != (b->state == H1_BODY_DATA_CR ? '\r' : '\n'))
        return refuse(b, "CRLF is missing in a chunked body");
    switch (b->state) {
    case H1_BODY_SIZE_LF:
        b->state = b->left > 0 ? H1_BODY_DATA : H1_BODY_TRAILER_START;
        b->extra = 0;
        break;
    case H1_BODY_DATA_CR:
        b->state = H1_BODY_DATA_LF;
        break;
    case H1_BODY_DATA_LF:
        b->state = H1_BODY_SIZE_FIRST;
        b->digits = 0;
        break;
    case H1_BODY_TRAILER_LF:
        b->state = H1_BODY_TRAILER_START;
        break;
    default:
        b->state = H1_BODY_DONE;
        break;
    }
    return 0;
}

static int on_byte(struct h1_body *b, char c)
{
    switch (b->state) {
    case H1_BODY_SIZE_FIRST:
    case H1_BODY_SIZE:
        return on_size(b, c);
    case H1_BODY_EXT:
        return on_ext(b, c);
    case H1_BODY_TRAILER_START:
    case H1_BODY_TRAILER_NAME:
    case H1_BODY_TRAILER_VALUE:
        return on_trailer(b, c);
    default:
        return on_fixed(b, c);
    }
}

/* As much of the body or chunk as data holds. */
static struct str take_data(struct h1_body *b, const char *data, size_t len)
{
    size_t n = (uint64_t)len < b->left ? len : (size_t)b->left;

    b->left -= n;
    b->received += n;
    return str_n(data, n);
}

int h1_body_next(
    struct h1_body *b, const char *data, size_t len, size_t *consumed, struct str *out, bool *done)
{
    struct str body = STR_NONE;
    size_t i = 0;

    if (b->state == H1_BODY_LENGTH) {
        body = take_data(b, data, len);
        i = body.len;
        if (b->left == 0)
            b->state = H1_BODY_DONE;
    }
    while (i < len && b->state != H1_BODY_DONE && b->state != H1_BODY_LENGTH) {
        if (b->state == H1_BODY_DATA) {
            body = take_data(b, data + i, len - i);
            i += body.len;
            if (b->left == 0)
                b->state = H1_BODY_DATA_CR;
            break;
        }
        if (on_byte(b, data[i]) != 0)
            return ERR_PROTO;
        i++;
    }
    *consumed = i;
    *out = body;
    *done = b->state == H1_BODY_DONE;
    return 0;
}
