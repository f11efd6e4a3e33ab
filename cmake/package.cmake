# Installation and packages: cpack makes a .deb for the system and a .tar.gz that runs from anywhere.
#
#   bin/ephpm                        the program
#   bin/ephpm-php                    link to the PHP worker that is used unless configured
#   lib/ephpm/phpX.Y/ephpm-php       the worker, one folder for each version of PHP
#   lib/ephpm/phpX.Y/libphp.so       link to Debian's library of exactly that version: all of them
#                                    have the same SONAME, so the name alone may load another one
#   share/ephpm/php                  caches and locks for PHP frameworks; the stub for editors
#   share/ephpm/demo, share/doc/ephpm, share/man/man8
#   /etc/ephpm/ephpm.toml, systemd unit (only in the .deb)
#
# One program that has PHP inside needs no worker: bin/ephpm, and bin/ephpm-php is a link to it.
if(NOT TARGET ephpm OR NOT TARGET ephpm-php)
  return()
endif()

# Of src/php/CMakeLists.txt.
set(php_version ${EPHPM_PHP_MINOR})
set(php_dir lib/ephpm/php${php_version})

install(TARGETS ephpm RUNTIME DESTINATION bin COMPONENT main)
if(NOT EPHPM_ONE_FILE)
  install(TARGETS ephpm-php RUNTIME DESTINATION ${php_dir} COMPONENT main)
endif()

# install() has no links; they are made in the build folder and copied.
set(links ${CMAKE_BINARY_DIR}/package)
file(MAKE_DIRECTORY ${links})
if(EPHPM_ONE_FILE)
  file(CREATE_LINK ephpm ${links}/ephpm-php SYMBOLIC)
else()
  file(CREATE_LINK ../${php_dir}/ephpm-php ${links}/ephpm-php SYMBOLIC)
endif()
install(FILES ${links}/ephpm-php DESTINATION bin COMPONENT main)
if(EPHPM_PHP_LIBRARY MATCHES "\\.so")
  file(CREATE_LINK ${EPHPM_PHP_LIBRARY} ${links}/libphp.so SYMBOLIC)
  install(FILES ${links}/libphp.so DESTINATION ${php_dir} COMPONENT main)
endif()

install(DIRECTORY demo DESTINATION share/ephpm COMPONENT main)
install(DIRECTORY php DESTINATION share/ephpm COMPONENT main)
install(FILES src/php/functions/ephpm.stub.php DESTINATION share/ephpm/php COMPONENT main)
install(DIRECTORY docs/ DESTINATION share/doc/ephpm COMPONENT main FILES_MATCHING PATTERN "*.md")
install(FILES README.md DESTINATION share/doc/ephpm COMPONENT main)
install(FILES LICENSE DESTINATION share/doc/ephpm RENAME copyright COMPONENT main)
install(FILES packaging/ephpm.toml DESTINATION share/doc/ephpm/examples COMPONENT main)
execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/packaging/ephpm.8
  OUTPUT_FILE ${links}/ephpm.8.gz COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${links}/ephpm.8.gz DESTINATION share/man/man8 COMPONENT main)

install(FILES packaging/ephpm.toml DESTINATION /etc/ephpm COMPONENT system)
install(FILES packaging/ephpm.service DESTINATION lib/systemd/system COMPONENT system)

set(CPACK_PACKAGE_NAME ephpm)
set(CPACK_PACKAGE_VENDOR "The ephpm developers")
set(CPACK_PACKAGE_CONTACT "The ephpm developers <ephpm@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "PHP application server")
set(CPACK_PACKAGE_DESCRIPTION "Web server and PHP runtime in one: serves PHP applications from PHP
processes of its own, deploys new code without dropping a request.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME ephpm-${PROJECT_VERSION}-php${php_version}-linux-amd64)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package-generator.cmake)
set(CPACK_EPHPM_BUILD_DIR ${CMAKE_BINARY_DIR})

set(CPACK_DEBIAN_FILE_NAME ephpm_${PROJECT_VERSION}+php${php_version}_amd64.deb)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION}+php${php_version})
set(CPACK_DEBIAN_PACKAGE_SECTION httpd)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libphp.so has no shlibs information, so its package is named.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libphp${php_version}-embed")
if(php_version VERSION_LESS 8.5) # part of PHP itself from then on
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", php${php_version}-opcache")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "php${php_version}-mbstring, php${php_version}-xml, php${php_version}-curl, php${php_version}-sqlite3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "php${php_version}-intl, php${php_version}-mysql")
if(EPHPM_ONE_FILE)
  # PHP is inside, and extensions may be loaded all the same.
  string(REPLACE "-linux-" "-static-linux-" CPACK_PACKAGE_FILE_NAME ${CPACK_PACKAGE_FILE_NAME})
  string(REPLACE "_amd64" "+static_amd64" CPACK_DEBIAN_FILE_NAME ${CPACK_DEBIAN_FILE_NAME})
  string(APPEND CPACK_DEBIAN_PACKAGE_VERSION "+static")
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, tzdata")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "php${php_version}-intl")
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/postinst;${PROJECT_SOURCE_DIR}/packaging/prerm"
  "${PROJECT_SOURCE_DIR}/packaging/postrm;${PROJECT_SOURCE_DIR}/packaging/conffiles")
include(CPack)
