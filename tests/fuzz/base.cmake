fuzzer(str SOURCES fuzz_str.c DEPS base)
