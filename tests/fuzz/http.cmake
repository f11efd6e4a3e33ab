fuzzer(h1_parser SOURCES fuzz_h1_parser.c DEPS http)
fuzzer(uri SOURCES fuzz_uri.c DEPS http)
fuzzer(proxy_protocol SOURCES fuzz_proxy_protocol.c DEPS http)
fuzzer(forwarded SOURCES fuzz_forwarded.c DEPS http)
