/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Addresses and nets as text: what parses prints as something that parses to the same. */
#include "base/mem.h"
#include "platform/sock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_n((const char *)data, size);
    char text[SOCK_ADDR_TEXT];
    struct sock_addr a, b;
    unsigned bits;

    if (sock_addr_parse(s, &a) == 0) {
        size_t n = sock_addr_format(&a, text);

        ENSURE(n < sizeof(text) && text[n] == '\0');
        ENSURE(sock_addr_parse(str_n(text, n), &b) == 0);
        ENSURE(sock_ip_equal(&a, &b) && a.port == b.port);
    }
    if (sock_ip_parse(s, &a) == 0) {
        size_t n = sock_ip_format(&a, text);

        ENSURE(n < sizeof(text) && sock_ip_parse(str_n(text, n), &b) == 0);
        ENSURE(sock_ip_equal(&a, &b));
    }
    if (sock_cidr_parse(s, &a, &bits) == 0) {
        ENSURE(bits <= (a.family == SOCK_INET4 ? 32 : 128));
        ENSURE(sock_cidr_contains(&a, bits, &a));
    }
    return 0;
}
