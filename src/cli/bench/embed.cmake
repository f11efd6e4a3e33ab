# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
# Files as a C table: cmake -DOUT=x.c -DFILES=a.php;b.php -P embed.cmake
set(rows "")
set(arrays "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} id)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${id}[] = {\n${bytes}\n};\n")
  string(APPEND rows "    {\"${name}\", ${id}, sizeof(${id})},\n")
endforeach()
file(WRITE ${OUT} "/* Made of the files of src/cli/bench/php. */
#include \"cli/bench/files.h\"

${arrays}
const struct bench_file bench_files[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
