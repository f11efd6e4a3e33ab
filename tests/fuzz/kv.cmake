fuzzer(kv SOURCES fuzz_kv.c DEPS kv)
