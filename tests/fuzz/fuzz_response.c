/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * Response heads.  Input: two bytes of status, then lines "name:value" separated by NUL NUL, as an
 * application might emit them.  Whatever comes in, the head that is written is one head: it has one
 * empty line, at its end, and no field that could change the framing.
 */

#include "base/mem.h"
#include "http/compress.h"
#include "http/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_fields(struct fields *f, struct str s)
{
    while (s.len > 0) {
        ptrdiff_t end = str_find(s, STR("\0\0"));
        struct str line = str_sub(s, 0, end < 0 ? s.len : (size_t)end);
        ptrdiff_t colon = str_chr(line, ':');
        size_t cut = colon < 0 ? line.len : (size_t)colon;

        fields_add(f, str_sub(line, 0, cut), str_sub(line, cut + (colon >= 0), line.len));
        s = end < 0 ? STR_NONE : str_sub(s, (size_t)end + 2, s.len);
    }
}

/* Lines as a client sees them; ends the process when they are not what was meant. */
static void check_head(struct str head, size_t fields, bool length)
{
    struct str line = STR_NONE;
    size_t lines = 0, lengths = 0;

    ENSURE(str_ends(head, STR("\r\n\r\n")));
    ENSURE(str_find(head, STR("\r\n\r\n")) == (ptrdiff_t)head.len - 4);
    ENSURE(str_chr(head, '\0') < 0);
    head.len -= 4;
    while (str_split(&head, '\n', &line)) {
        ENSURE(str_chr(line, '\r') == (head.p ? (ptrdiff_t)line.len - 1 : -1));
        lines++;
        lengths += str_istarts(line, STR("content-length:"));
        ENSURE(!str_istarts(line, STR("transfer-encoding:")));
    }
    ENSURE(lines == 1 + fields + (length ? 1 : 0));
    ENSURE(lengths == (length ? 1 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct response_send send = {.framing = RESPONSE_LENGTH, .length = 5};
    struct compress_policy policy = {true, 1, 0, CODING_ALL};
    struct arena a = {0};
    struct response_head h;
    struct response_raw raw;
    struct buf out = {0};
    struct fields f;
    bool vary;

    if (size < 2)
        return 0;
    fields_init(&f, &a);
    read_fields(&f, str_n((const char *)data + 2, size - 2));
    raw = (struct response_raw){.status = (int)(int16_t)(data[0] << 8 | data[1]),
        .reason = str_n((const char *)data + 2, MIN(size - 2, (size_t)20)),
        .fields = &f};
    response_check(&raw, &a, NULL, NULL, &h);
    ENSURE(h.status >= 200 && h.status <= 599 && h.content_length >= -1);
    if (compress_decide_fields(
            &policy, h.status, h.content_length, &h.fields, STR("gzip"), &vary) == CODING_GZIP)
        compress_apply(&h.fields, CODING_GZIP, &a);
    if (vary)
        compress_add_vary(&h.fields, &a);
    response_write_head(&out, &h, &send);
    check_head(buf_str(&out), h.fields.count, !h.no_body);
    buf_fini(&out);
    arena_fini(&a);
    return 0;
}
