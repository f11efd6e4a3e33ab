/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* A request target to a path, and the host in it. Decoding a decoded path's encoding changes
 * nothing. */
#include "base/mem.h"
#include "http/host.h"
#include "http/uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(struct arena *a, struct str path)
{
    struct buf encoded = {0};
    struct str again;

    ENSURE(path.len > 0 && path.p[0] == '/' && strlen(path.p) == path.len);
    ENSURE(str_find(path, STR("//")) < 0 && str_find(path, STR("/../")) < 0);
    ENSURE(str_find(path, STR("/./")) < 0);
    ENSURE(!str_ends(path, STR("/..")) && !str_ends(path, STR("/.")));
    uri_encode_path(path, &encoded);
    ENSURE(uri_decode_path(buf_str(&encoded), a, &again) == 0 && str_eq(again, path));
    buf_fini(&encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str target = str_n((const char *)data, size), path;
    struct arena a = {0};
    struct host h;
    struct uri u;
    int status = 0;

    if (uri_parse(STR("GET"), target, &a, &u, &status) == 0) {
        ENSURE(u.request_uri.p[0] == '/' && u.path.p[0] == '/');
        if (uri_decode_path(u.path, &a, &path) == 0)
            check_path(&a, path);
        target = u.form == URI_ABSOLUTE ? u.authority : target;
    } else {
        ENSURE(status == 400);
    }
    if (uri_decode_path(target, &a, &path) == 0)
        check_path(&a, path);
    if (host_parse(target, &a, &h) == 0) {
        ENSURE(h.name.len > 0 && h.port >= -1 && h.port <= 65535);
        (void)host_site_key(&h, &path); /* either answer is fine */
    }
    arena_fini(&a);
    return 0;
}
