# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# lowtide_make_kernel(<template> <name> [<key> <value>]...)
# Makes a kernel of source/<template>.c.in, where @KEY@ stands for a value and @NAME@ for the name of the kernel, and
# appends it to `kernels`. Requires: source_folder.
function(lowtide_make_kernel template NAME)
  while(ARGN)
    list(POP_FRONT ARGN key value)
    set(${key} "${value}")
  endwhile()
  set(made "${CMAKE_CURRENT_BINARY_DIR}/made/${NAME}.c")
  configure_file("${source_folder}/${template}.c.in" "${made}" @ONLY)
  set(kernels ${kernels} "${made}" PARENT_SCOPE)
endfunction()
