fuzzer(kv SOURCES fuzz_kv.c DEPS kv)
fuzzer(snapshot SOURCES fuzz_snapshot.c DEPS kv)
