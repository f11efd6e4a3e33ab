# Toolchain for Windows (x86-64), on Debian: mingw-w64 with POSIX threads; tests run under wine.
# Libraries come from the folder that tools/build-windows-deps.sh fills.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

set(EPHPM_WINDOWS_DEPS ${CMAKE_CURRENT_LIST_DIR}/../build/windows-deps CACHE PATH
  "Prefix of tools/build-windows-deps.sh")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EPHPM_WINDOWS_DEPS)
if(NOT EXISTS ${EPHPM_WINDOWS_DEPS}/.complete)
  message(STATUS "Building the Windows dependencies")
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../tools/build-windows-deps.sh ${EPHPM_WINDOWS_DEPS}
    RESULT_VARIABLE EPHPM_WINDOWS_DEPS_RESULT)
  if(NOT EPHPM_WINDOWS_DEPS_RESULT EQUAL 0)
    message(FATAL_ERROR "tools/build-windows-deps.sh ${EPHPM_WINDOWS_DEPS} failed")
  endif()
endif()

set(CMAKE_FIND_ROOT_PATH ${EPHPM_WINDOWS_DEPS} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Never the build machine's own .pc files.
set(ENV{PKG_CONFIG_LIBDIR} ${EPHPM_WINDOWS_DEPS}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${EPHPM_WINDOWS_DEPS}/include)

# Windows 8 on: WaitOnAddress.  C99 printf, so that %zu and %lld mean what they say.  gmtime_r().
set(CMAKE_C_FLAGS_INIT "-D_WIN32_WINNT=0x0602 -D__USE_MINGW_ANSI_STDIO=1 -D_POSIX_THREAD_SAFE_FUNCTIONS=200112L")
# One file to ship: libgcc and winpthreads go in.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

find_program(EPHPM_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(EPHPM_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${EPHPM_WINE})
endif()
