/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_auth[], tests_handshake[], tests_packet[], tests_server[],
    tests_statement[], tests_value[];

TEST_MAIN(tests_packet, tests_handshake, tests_auth, tests_value, tests_server, tests_statement)
