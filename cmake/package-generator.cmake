# Read by cpack before each generator: the .deb is for /usr and brings what belongs to the system.
set(main "${CPACK_EPHPM_BUILD_DIR};ephpm;main;/")
set(system "${CPACK_EPHPM_BUILD_DIR};ephpm;system;/")
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_INSTALL_CMAKE_PROJECTS "${main};${system}")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
  set(CPACK_INSTALL_CMAKE_PROJECTS "${main}")
endif()
