# External libraries, as imported targets: libuv, llhttp, zlib, brotli, zstd, threads.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

# Brotli and zstd are optional only where they are not packaged (cross builds).
pkg_check_modules(BROTLI IMPORTED_TARGET libbrotlienc libbrotlidec)
pkg_check_modules(ZSTD IMPORTED_TARGET libzstd)
if(NOT WIN32 AND NOT (BROTLI_FOUND AND ZSTD_FOUND))
  message(FATAL_ERROR "libbrotli-dev and libzstd-dev are needed")
endif()

# llhttp: a library on Debian 13, generated C sources in node-llhttp on Debian 12.
pkg_check_modules(LLHTTP IMPORTED_TARGET libllhttp)
if(LLHTTP_FOUND AND NOT WIN32)
  add_library(llhttp INTERFACE)
  target_link_libraries(llhttp INTERFACE PkgConfig::LLHTTP)
else()
  set(LLHTTP_SOURCE_DIR /usr/share/llhttp CACHE PATH "Folder of llhttp's api.c, http.c, llhttp.c")
  set(LLHTTP_INCLUDE_DIR /usr/share/include/llhttp CACHE PATH "Folder of llhttp.h")
  if(NOT EXISTS ${LLHTTP_SOURCE_DIR}/llhttp.c)
    message(FATAL_ERROR "llhttp not found: install libllhttp-dev (Debian 13) or node-llhttp (Debian 12)")
  endif()
  add_library(llhttp STATIC ${LLHTTP_SOURCE_DIR}/api.c ${LLHTTP_SOURCE_DIR}/http.c
    ${LLHTTP_SOURCE_DIR}/llhttp.c)
  target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE_DIR})
  target_compile_options(llhttp PRIVATE -w)
endif()
