# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# Called with -DFROM=<folder> -DHELPERS=<a.c|b.c> -DKERNELS=<a.c|b.c> -DCALLERS=<a.c|b.c> -DTO=<folder>. Writes the
# texts of all files as C++ string literals (kernel_texts.cc), and one C file that includes helpers and kernels and
# lists the kernels (compiled_kernels.c). Callers are kernels that call another library, which is not there.

# Appends a literal with its name, the stem of the file, to `texts`.
macro(add_text path)
  cmake_path(GET path STEM name)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${FROM}" OUTPUT_VARIABLE full_path)
  file(READ "${full_path}" text)
  string(FIND "${text}" ")lowtide_text" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${path} contains the end of a literal")
  endif()
  string(APPEND texts "    {\"${name}\", R\"lowtide_text(${text})lowtide_text\"},\n")
  string(APPEND includes "#include \"${full_path}\"\n")
endmacro()

string(REPLACE "|" ";" helper_files "${HELPERS}")
string(REPLACE "|" ";" kernel_files "${KERNELS}")
string(REPLACE "|" ";" caller_files "${CALLERS}")
set(texts "")
set(includes "")
foreach(path IN LISTS helper_files)
  add_text("${path}")
endforeach()
set(helper_texts "${texts}")
set(texts "")
set(callers "")
set(rows "")
foreach(path IN LISTS kernel_files)
  add_text("${path}")
  # A function whose arguments are in a list, for each kernel.
  if(NOT text MATCHES "void lowtide_${name}\\(const struct lowtide_${name} \\*p,([^)]*)\\)")
    message(FATAL_ERROR "${path} does not define lowtide_${name}")
  endif()
  string(REGEX MATCHALL "," commas "${CMAKE_MATCH_1}")
  list(LENGTH commas last)
  set(arguments "p")
  foreach(number RANGE ${last})
    string(APPEND arguments ", at[${number}]")
  endforeach()
  string(APPEND callers "static void call_${name}(const void *p, void *const *at) { lowtide_${name}(${arguments}); }\n")
  string(APPEND rows "    {\"${name}\", call_${name}},\n")
endforeach()

set(compiled_includes "${includes}")
foreach(path IN LISTS caller_files)
  add_text("${path}")
endforeach()

set(made "// Made by embed.cmake; do not edit.\n")
file(WRITE "${TO}/compiled_kernels.c" "${made}#include <math.h>
#include <stddef.h>
#include <stdint.h>

${compiled_includes}
#include \"lowtide/c_source/c_kernels/compiled_kernels.h\"

${callers}
const struct CompiledCKernel *lowtide_compiled_c_kernels(void) {
  static const struct CompiledCKernel kernels[] = {
${rows}    {0, 0},
  };
  return kernels;
}
")
file(WRITE "${TO}/kernel_texts.cc" "${made}#include \"lowtide/c_source/c_kernels/kernel_texts.h\"

namespace lowtide::c_kernels_internal {

const std::vector<NamedText>& helper_texts() {
  static const std::vector<NamedText> texts = {
${helper_texts}  };
  return texts;
}

const std::vector<NamedText>& kernel_texts() {
  static const std::vector<NamedText> texts = {
${texts}  };
  return texts;
}

}  // namespace lowtide::c_kernels_internal
")
