# A PHP of our own: an archive, linked in as a whole, for extensions that are loaded may want any of it.
if(NOT EXISTS ${PHP_ARCHIVE})
  message(FATAL_ERROR "${PHP_CONFIG} names ${PHP_ARCHIVE}, which is not there: run sdk/build again")
endif()
message(STATUS "PHP ${PHP_FULL_VERSION}: ${PHP_ARCHIVE}")
set(EPHPM_PHP_LIBRARY ${PHP_ARCHIVE} CACHE INTERNAL "The libphp that ephpm-php is linked with")
php_config(--static-libs PHP_STATIC_LIBS)
separate_arguments(PHP_STATIC_LIBS UNIX_COMMAND "${PHP_STATIC_LIBS}")

# Functions of PHP that ours take the place of. With a library the dynamic linker prefers those of the
# executable; in one file the linker sends PHP's calls to ours.
set(PHP_REPLACED zend_interned_strings_dtor php_info_print_table_row)
set(PHP_WRAPPED php_load_extension php_load_shlib zend_load_extension zend_load_extension_handle)
# Our own patches have hooks for the timer.
if(NOT EXISTS ${PHP_INCLUDE_DIR}/Zend/zend_ephpm.h)
  list(APPEND PHP_REPLACED zend_set_timeout zend_unset_timeout)
endif()
set(PHP_DEFINITIONS EPHPM_PHP_STATIC=1 EPHPM_SYSTEM_INI="/etc/php/${PHP_MINOR}")
foreach(name IN LISTS PHP_REPLACED)
  list(APPEND PHP_DEFINITIONS ${name}=__wrap_${name})
  # Wanted from the start: PHP's archive comes after ours, which is not looked through again.
  list(APPEND PHP_LINK_OPTIONS LINKER:--undefined=__wrap_${name})
endforeach()
foreach(name IN LISTS PHP_REPLACED PHP_WRAPPED)
  list(APPEND PHP_LINK_OPTIONS LINKER:--wrap=${name})
endforeach()

# Debian's PHP uses a PCRE of the system, and its extensions want that one's functions. PHP's own copy
# has names of its own for them.
execute_process(COMMAND ${CMAKE_NM} -g --defined-only ${PHP_ARCHIVE} OUTPUT_VARIABLE symbols
  ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T php_pcre2_[a-z_0-9]+" symbols "${symbols}")
list(REMOVE_DUPLICATES symbols)
foreach(symbol IN LISTS symbols)
  string(REGEX REPLACE " T php_(.*)" "\\1" name "${symbol}")
  list(APPEND PHP_LINK_OPTIONS LINKER:--defsym=${name}_8=php_${name})
endforeach()

# What extensions may use is PHP's. The libraries inside must not be taken by those that an extension
# brings along, which can be of other versions; OPcache's entry has the name that each Zend extension
# gives its own.
list(APPEND PHP_LINK_OPTIONS LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/static.map)
foreach(item IN LISTS PHP_STATIC_LIBS)
  if(item MATCHES "^-l(.+)$")
    list(APPEND PHP_HIDDEN lib${CMAKE_MATCH_1}.a)
  elseif(item MATCHES "([^/]+\\.a)$")
    list(APPEND PHP_HIDDEN ${CMAKE_MATCH_1})
  endif()
endforeach()
list(APPEND PHP_HIDDEN libgcc.a libgcc_eh.a libstdc++.a)
list(JOIN PHP_HIDDEN ":" PHP_HIDDEN)
list(APPEND PHP_LINK_OPTIONS LINKER:--exclude-libs=${PHP_HIDDEN} -static-libgcc)
set(PHP_LINK_LIBRARIES "$<LINK_LIBRARY:WHOLE_ARCHIVE,${PHP_ARCHIVE}>" ${PHP_STATIC_LIBS})
