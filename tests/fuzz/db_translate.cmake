set(dir ${PROJECT_SOURCE_DIR}/tests/unit/db_translate)
fuzzer(db_translate SOURCES fuzz_db_translate.c ${dir}/fixture.c ${dir}/tables.c
  DEPS db_translate db_func)
if(TARGET fuzz_db_translate)
  target_include_directories(fuzz_db_translate PRIVATE ${dir})
endif()
