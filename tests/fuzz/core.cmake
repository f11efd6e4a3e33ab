fuzzer(toml SOURCES fuzz_toml.c DEPS core)
fuzzer(json SOURCES fuzz_json.c DEPS core)
# Here because it feeds TOML: the tables behind it are the engine's.
if(TARGET engine_config)
  fuzzer(config SOURCES fuzz_config.c DEPS engine_config)
endif()
