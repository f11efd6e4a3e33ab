/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * Accept-Encoding and Accept.  The first byte is the set of codings on offer; what is chosen is
 * offered and accepted.
 */

#include "base/mem.h"
#include "http/error_page.h"
#include "http/negotiate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct negotiate n;
    enum coding c;
    unsigned set;
    struct str s;

    if (size < 1)
        return 0;
    set = data[0] & CODING_ALL;
    s = str_n((const char *)data + 1, size - 1);
    n = negotiate_parse(s);
    for (int i = 0; i < CODING_COUNT; i++)
        ENSURE(n.q[i] <= 1000);
    c = negotiate_choose(&n, set);
    ENSURE(c == CODING_IDENTITY || ((set & CODING_BIT(c)) && n.q[c] > 0));
    ENSURE(negotiate_accept_q(s, STR("text"), STR("html")) <= 1000);
    ENSURE(error_page_choose(s) <= ERROR_PAGE_JSON);
    return 0;
}
