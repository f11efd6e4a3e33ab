# Compiler settings for the whole tree; sanitizers and fuzzing are whole-tree choices too.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

set(EPHPM_SANITIZE "" CACHE STRING "Sanitizers for the whole tree, e.g. address,undefined or thread")
option(EPHPM_TESTS "Build the tests" ON)
option(EPHPM_FUZZ "Build the fuzzers (clang)" OFF)
set(EPHPM_PHP_CONFIG "" CACHE STRING "php-config of the PHP to build against; empty finds Debian's")

add_compile_options(
  -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
  -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-unused-parameter -Wno-missing-field-initializers
  -fno-strict-aliasing -fno-common -g)
add_compile_definitions(_GNU_SOURCE EPHPM_VERSION="${PROJECT_VERSION}")
if(NOT WIN32)
  add_compile_options(-fstack-protector-strong -fPIE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_definitions(_FORTIFY_SOURCE=2)
  endif()
endif()
if(EPHPM_SANITIZE)
  add_compile_options(-fsanitize=${EPHPM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${EPHPM_SANITIZE})
  add_compile_definitions(EPHPM_SANITIZED=1)
endif()
if(EPHPM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()
