# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
# The PHP programs go into the executable.
set(BENCH_PHP run probe start loop recursion sieve matrix nested float strings sort hash objects
  closures regex json format template walk iterator exists include hello include50 autoload50)
list(TRANSFORM BENCH_PHP REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/bench/php/\\1.php")
set(BENCH_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/bench_files.c)
add_custom_command(OUTPUT ${BENCH_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} "-DOUT=${BENCH_EMBEDDED}" "-DFILES=${BENCH_PHP}"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/embed.cmake
  DEPENDS ${BENCH_PHP} ${CMAKE_CURRENT_SOURCE_DIR}/bench/embed.cmake
  COMMENT "Embedding the benchmarks' PHP programs" VERBATIM)

# What unit tests link: no process, no socket.
component(cli_bench_pure SOURCES bench/stats.c bench/elf.c bench/url.c DEPS core platform base LIBS m)
component(cli_bench
  SOURCES bench/bench.c bench/suites.c bench/program.c bench/workspace.c bench/child.c bench/rounds.c
    bench/machine.c bench/report.c bench/http.c bench/http_report.c bench/load.c ${BENCH_EMBEDDED}
  DEPS cli_bench_pure http net core platform base)

# In ephpm-php.
component(cli_bench_role SOURCES bench/php_role.c DEPS cli_bench_pure php core platform base)
