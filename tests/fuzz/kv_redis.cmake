fuzzer(redis_parser SOURCES fuzz_redis_parser.c DEPS kv_redis)
fuzzer(redis_server SOURCES fuzz_redis_server.c DEPS kv_redis)
