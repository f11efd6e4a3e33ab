/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_store[], tests_glob[], tests_evict[], tests_scan[], tests_wait[],
    tests_codec[], tests_keys[], tests_range[], tests_model[], tests_coll[], tests_coll_model[],
    tests_threads[], tests_killed[], tests_lock[], tests_lock_process[], tests_snapshot[],
    tests_snapshot_linux[];

TEST_MAIN(tests_store, tests_glob, tests_evict, tests_scan, tests_wait, tests_codec, tests_keys,
    tests_range, tests_model, tests_coll, tests_coll_model, tests_threads, tests_killed, tests_lock,
    tests_lock_process, tests_snapshot, tests_snapshot_linux)
