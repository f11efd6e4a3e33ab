/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_store[], tests_glob[], tests_evict[], tests_scan[], tests_wait[],
    tests_codec[], tests_keys[], tests_range[], tests_model[], tests_coll[], tests_coll_model[],
    tests_threads[], tests_lock[], tests_snapshot[];

/* Without the tests that fork. */
TEST_MAIN(tests_store, tests_glob, tests_evict, tests_scan, tests_wait, tests_codec, tests_keys,
    tests_range, tests_model, tests_coll, tests_coll_model, tests_threads, tests_lock,
    tests_snapshot)
