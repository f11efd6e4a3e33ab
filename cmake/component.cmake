# component(NAME SOURCES a.c ... DEPS lower ... [LIBS imported ...])
# A static library src/NAME that sees only src/ as its include root.
function(component name)
  cmake_parse_arguments(C "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_library(${name} STATIC ${C_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${C_DEPS} ${C_LIBS})
endfunction()

# unit_test(NAME SOURCES test_a.c ... DEPS component ...)
# One binary per component, registered as unit.NAME.
function(unit_test name)
  cmake_parse_arguments(C "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(unit_${name} ${C_SOURCES} ${PROJECT_SOURCE_DIR}/tests/unit/test.c)
  target_include_directories(unit_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(unit_${name} PRIVATE ${C_DEPS})
  add_test(NAME unit.${name} COMMAND unit_${name})
endfunction()

# fuzzer(NAME SOURCES fuzz_x.c DEPS component ...)
# Built only with EPHPM_FUZZ; runs its corpus plus a fixed number of inputs as fuzz.NAME.
function(fuzzer name)
  cmake_parse_arguments(C "" "" "SOURCES;DEPS" ${ARGN})
  if(NOT EPHPM_FUZZ)
    return()
  endif()
  add_executable(fuzz_${name} ${C_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${C_DEPS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/corpus/${name})
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} -runs=20000 -max_len=8192 -seed=1
    -artifact_prefix=${CMAKE_BINARY_DIR}/ ${CMAKE_BINARY_DIR}/corpus/${name} ${corpus})
endfunction()
