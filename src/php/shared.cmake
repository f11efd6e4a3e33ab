# The distribution's libphp.so.
find_library(PHP_LIBRARY_${PHP_MINOR} NAMES libphp${PHP_MINOR}.so libphp.so
  HINTS ${PHP_PREFIX}/lib NO_DEFAULT_PATH)
find_library(PHP_LIBRARY_${PHP_MINOR} NAMES libphp${PHP_MINOR}.so)
set(PHP_LIBRARY ${PHP_LIBRARY_${PHP_MINOR}})
if(NOT PHP_LIBRARY)
  message(FATAL_ERROR "libphp for PHP ${PHP_MINOR} not found: install libphp${PHP_MINOR}-embed")
endif()
message(STATUS "PHP ${PHP_FULL_VERSION}: ${PHP_LIBRARY}")

set(PHP_LINK_DIR ${CMAKE_BINARY_DIR}/lib/php${PHP_MINOR})
file(MAKE_DIRECTORY ${PHP_LINK_DIR})
file(CREATE_LINK ${PHP_LIBRARY} ${PHP_LINK_DIR}/libphp.so SYMBOLIC)
set(EPHPM_PHP_LIBRARY ${PHP_LIBRARY} CACHE INTERNAL "The libphp that ephpm-php is linked with")

# Debian gives each SAPI a folder of its own, and php-config tells the command line's.
php_config(--ini-path PHP_CLI_INI_PATH)
php_config(--ini-dir PHP_CLI_INI_SCAN)
string(REGEX REPLACE "/cli$" "/cgi" PHP_CGI_INI_PATH "${PHP_CLI_INI_PATH}")
string(REGEX REPLACE "/cli/conf.d$" "/cgi/conf.d" PHP_CGI_INI_SCAN "${PHP_CLI_INI_SCAN}")
set(PHP_DEFINITIONS
  EPHPM_CLI_INI_PATH="${PHP_CLI_INI_PATH}" EPHPM_CLI_INI_SCAN="${PHP_CLI_INI_SCAN}"
  EPHPM_CGI_INI_PATH="${PHP_CGI_INI_PATH}" EPHPM_CGI_INI_SCAN="${PHP_CGI_INI_SCAN}")
set(PHP_LINK_LIBRARIES ${PHP_LINK_DIR}/libphp.so)
# What is in the program beside PHP is nothing for extensions, which may bring another version of it.
set(PHP_LINK_OPTIONS LINKER:--exclude-libs=libbrotlienc.a:libbrotlidec.a:libbrotlicommon.a:libzstd.a)
# At a start the dynamic loader looks thousands of symbols up, in one library after the other. Those of
# OpenSSL and of C++ are most of them: where PHP's own libraries need these, they come right behind it.
execute_process(COMMAND ldd ${PHP_LIBRARY} OUTPUT_VARIABLE php_needs ERROR_QUIET)
set(early)
foreach(library crypto stdc\\+\\+)
  if(php_needs MATCHES "lib${library}\\.so\\.[0-9]+ => ([^ \n]+)")
    list(APPEND early ${CMAKE_MATCH_1})
  endif()
endforeach()
if(early AND NOT EPHPM_SANITIZE)
  list(APPEND PHP_LINK_LIBRARIES -Wl,--push-state,--no-as-needed ${early} -Wl,--pop-state)
endif()
