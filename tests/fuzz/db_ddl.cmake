fuzzer(ddl_load SOURCES fuzz_ddl_load.c DEPS db_ddl)
fuzzer(ddl SOURCES fuzz_ddl.c DEPS db_ddl)
