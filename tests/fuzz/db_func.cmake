fuzzer(db_json SOURCES fuzz_db_json.c DEPS db_func)
fuzzer(db_text SOURCES fuzz_db_text.c DEPS db_func)
