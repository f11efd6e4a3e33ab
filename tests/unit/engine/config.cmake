unit_test(engine_config
  SOURCES main_config.c test_config.c test_config_warn.c test_ini.c test_shape.c
  DEPS engine_config)

# docs/configuration.md is printed from the tables and must not lag behind them.
add_executable(gen-config-reference ${PROJECT_SOURCE_DIR}/tools/gen-config-reference.c)
target_link_libraries(gen-config-reference PRIVATE engine_config)
add_test(NAME unit.engine.config_reference
  COMMAND gen-config-reference ${PROJECT_SOURCE_DIR}/docs/configuration.md)
