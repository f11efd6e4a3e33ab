fuzzer(db_decimal SOURCES fuzz_db_decimal.c DEPS db)
fuzzer(db_datetime SOURCES fuzz_db_datetime.c DEPS db)
