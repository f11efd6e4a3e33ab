fuzzer(sock_addr SOURCES fuzz_sock_addr.c DEPS platform)
