/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Lines "name: value" as the fields of a request from a trusted proxy, and from another peer. */
#include "base/mem.h"
#include "http/forwarded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size), line, name;
    struct sock_addr peer = {.family = SOCK_INET4, .ip = {10, 0, 0, 1}};
    struct forwarded_net net;
    struct forwarded_rules rules = {&net, 1, false};
    struct arena a = {0};
    struct forwarded out;
    struct fields f;

    ENSURE(forwarded_net_parse(STR("10.0.0.0/8"), &net) == 0);
    fields_init(&f, &a);
    while (str_split(&rest, '\n', &line)) {
        (void)str_split(&line, ':', &name); /* an empty line leaves an empty name */
        fields_add(&f, name, str_trim(line));
    }
    forwarded_resolve(&rules, &peer, false, &f, &out);
    ENSURE(out.trusted && out.port >= -1 && out.port <= 65535);
    ENSURE(out.client.family == SOCK_INET4 || out.client.family == SOCK_INET6);
    peer.ip[0] = 11;
    forwarded_resolve(&rules, &peer, true, &f, &out);
    ENSURE(!out.trusted && out.https && out.host.len == 0 && out.port == -1);
    ENSURE(sock_ip_equal(&out.client, &peer));
    arena_fini(&a);
    return 0;
}
