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
# CMake adds the build tree's directory to the RPATH and takes it out on installation; this one stays.
set(EPHPM_PHP_DIR /usr/lib/ephpm CACHE PATH "Where php<version>/libphp.so links are installed")
set(PHP_LINK_OPTIONS "LINKER:-rpath,${EPHPM_PHP_DIR}/php${PHP_MINOR}")
