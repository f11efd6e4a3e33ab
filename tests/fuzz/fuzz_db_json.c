/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* JSON documents and paths (before and after the first line break): what is printed reads as an
 * equal document that prints the same, and every path that is read can be followed. */
#include <stdint.h>

#include "base/mem.h"
#include "db/func/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_n((const char *)data, size);
    ptrdiff_t line = str_chr(s, '\n');
    struct str text = line < 0 ? s : str_sub(s, 0, (size_t)line);
    struct str rest = line < 0 ? s : str_sub(s, (size_t)line + 1, size);
    struct arena arena = {0};
    struct buf out = {0};
    struct buf again = {0};
    struct json *j;
    struct json *k;
    struct json_error bad;
    struct json_path path;
    size_t position = 0;
    uint32_t n;

    if (json_doc_parse(&arena, text, &j, &bad) == 0) {
        json_print(&out, j);
        ENSURE(json_doc_parse(&arena, buf_str(&out), &k, &bad) == 0);
        ENSURE(json_cmp(j, k) == 0);
        json_print(&again, k);
        ENSURE(str_eq(buf_str(&out), buf_str(&again)));
        ENSURE(json_depth(j) <= JSON_MAX_DEPTH);
        ENSURE(json_overlaps(j, k) || ((j->kind == JSON_ARRAY || j->kind == JSON_OBJECT) && !j->n));
        if (json_path_parse(&arena, rest, &path, &position) == 0) {
            (void)json_find(&arena, j, &path, &n); /* that it ends is what counts */
            if (!path.many)
                (void)json_find_parent(j, &path);
        }
    } else {
        ENSURE(bad.position <= text.len);
    }
    buf_fini(&out);
    buf_fini(&again);
    arena_fini(&arena);
    return 0;
}
