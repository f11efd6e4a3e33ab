# External libraries, as imported targets: libuv, llhttp, zlib, brotli, zstd, SQLite,
# PCRE2, OpenSSL, threads.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

if(EPHPM_ONE_FILE)
  # Archives, of the folder that PHP's own come from; their headers are the system's.
  execute_process(COMMAND ${EPHPM_PHP_CONFIG} --libphp-static OUTPUT_VARIABLE archive RESULT_VARIABLE rc
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(GET archive PARENT_PATH archives)
  if(NOT EPHPM_PHP_CONFIG OR NOT rc EQUAL 0 OR NOT EXISTS ${archives}/deps/libuv_a.a)
    message(FATAL_ERROR "EPHPM_ONE_FILE needs a PHP of sdk/build with static libraries: "
      "run sdk/build, then give -DEPHPM_PHP_CONFIG=.../bin/php-config "
      "(it is \"${EPHPM_PHP_CONFIG}\")")
  endif()
  function(static_library name)
    list(TRANSFORM ARGN PREPEND ${archives}/deps/lib)
    list(TRANSFORM ARGN APPEND .a)
    add_library(PkgConfig::${name} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(PkgConfig::${name} INTERFACE ${ARGN})
    set(${name}_FOUND TRUE PARENT_SCOPE)
  endfunction()
  static_library(LIBUV uv_a)
  static_library(ZLIB z)
  static_library(BROTLI brotlienc brotlidec brotlicommon)
  static_library(ZSTD zstd)
  static_library(SQLITE sqlite3)
  # libedit, in PHP's readline, has a function of this name.
  add_compile_definitions(map_init=ephpm_map_init)
  # PHP has PCRE2 inside, by names of its own.
  add_library(PkgConfig::PCRE2 INTERFACE IMPORTED GLOBAL)
  foreach(function code_free compile get_error_message get_ovector_count get_ovector_pointer match
      match_context_create match_context_free match_data_create_from_pattern match_data_free pattern_info
      set_depth_limit set_match_limit)
    set_property(TARGET PkgConfig::PCRE2 APPEND PROPERTY
      INTERFACE_COMPILE_DEFINITIONS pcre2_${function}_8=php_pcre2_${function})
  endforeach()
  static_library(OPENSSL ssl crypto)
else()
  pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
  pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
  # Brotli and zstd are optional only where they are not packaged (cross builds).
  pkg_check_modules(BROTLI IMPORTED_TARGET libbrotlienc libbrotlidec)
  pkg_check_modules(ZSTD IMPORTED_TARGET libzstd)
  # These go into the program where their archives are at hand: a start of php uses none of them, and
  # each library is opened, mapped, and asked for all the symbols of those behind it.
  function(prefer_archives name)
    foreach(library IN LISTS ARGN)
      find_library(${name}_${library} lib${library}.a)
      if(NOT ${name}_${library})
        return()
      endif()
      list(APPEND archives ${${name}_${library}})
    endforeach()
    set_target_properties(PkgConfig::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives};m")
  endfunction()
  if(NOT WIN32)
    prefer_archives(BROTLI brotlienc brotlidec brotlicommon)
    prefer_archives(ZSTD zstd)
    pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
    pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
    pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET openssl)
  endif()
endif()
if(NOT WIN32 AND NOT (BROTLI_FOUND AND ZSTD_FOUND))
  message(FATAL_ERROR "libbrotli-dev and libzstd-dev are needed")
endif()

# llhttp: a library on Debian 13, generated C sources in node-llhttp on Debian 12.
if(NOT EPHPM_ONE_FILE)
  pkg_check_modules(LLHTTP IMPORTED_TARGET libllhttp)
endif()
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
