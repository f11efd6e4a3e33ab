fuzzer(resp SOURCES fuzz_resp.c DEPS cli_resp)
