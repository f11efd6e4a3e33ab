fuzzer(sql SOURCES fuzz_sql.c DEPS db_sql)
fuzzer(sql_digest SOURCES fuzz_sql_digest.c DEPS db_sql)
