# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds or builds the target lowtide::lowtide for the extension module, and says which. The first of these that is there
# is taken:
#
#   -Dlowtide_DIR=PREFIX/lib/cmake/lowtide   an installed Lowtide, in its static form
#   LOWTIDE_BUILD in the environment         a build folder of this checkout
#   CMAKE_PREFIX_PATH                        an installed Lowtide of the same version
#   build/release                            the build folder of scripts/demo, if it can run models
#   otherwise                                the sources of this checkout, several files at a time
#
# A build folder is brought up to date before it is used. Sets lowtide_ONEDNN, the file of the library that the kernels
# load, and lowtide_LICENSE_FOLDERS and lowtide_ONNX_LICENSE.

cmake_path(SET lowtide_root NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/..")
file(STRINGS "${lowtide_root}/CMakeLists.txt" lowtide_project REGEX "^project\\(lowtide VERSION")
string(REGEX REPLACE ".*VERSION ([0-9.]+).*" "\\1" lowtide_version "${lowtide_project}")

# Sets `answer` to whether a build folder is one of this checkout whose libraries fit into the extension.
function(lowtide_is_complete_build answer folder)
  set(${answer} FALSE PARENT_SCOPE)
  if(EXISTS "${folder}/CMakeCache.txt")
    load_cache("${folder}" READ_WITH_PREFIX built_ CMAKE_HOME_DIRECTORY lowtide_WITH_ONNX lowtide_PACKER_ONLY
               lowtide_WITH_RUNTIME BUILD_SHARED_LIBS)
    cmake_path(COMPARE "${built_CMAKE_HOME_DIRECTORY}/" EQUAL "${lowtide_root}" is_of_this_checkout)
    if(is_of_this_checkout AND built_lowtide_WITH_ONNX AND NOT built_lowtide_PACKER_ONLY
       AND NOT built_BUILD_SHARED_LIBS AND (built_lowtide_WITH_RUNTIME OR NOT DEFINED built_lowtide_WITH_RUNTIME))
      set(${answer} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Brings a build folder up to date, and installs its libraries and headers into the folder of the extension.
macro(lowtide_use_build folder)
  message(STATUS "Lowtide: links the libraries of ${folder}, after it has brought them up to date")
  string(TIMESTAMP lowtide_begin "%s")
  set(lowtide_prefix "${CMAKE_CURRENT_BINARY_DIR}/lowtide-prefix")
  execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" COMMAND_ERROR_IS_FATAL ANY)
  foreach(component lowtide_headers lowtide_static)
    execute_process(COMMAND "${CMAKE_COMMAND}" --install "${folder}" --prefix "${lowtide_prefix}"
                            --component ${component} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  string(TIMESTAMP lowtide_end "%s")
  math(EXPR lowtide_seconds "${lowtide_end} - ${lowtide_begin}")
  message(STATUS "Lowtide: the libraries are up to date (${lowtide_seconds} s)")
  find_package(lowtide CONFIG REQUIRED COMPONENTS onnx static PATHS "${lowtide_prefix}" NO_DEFAULT_PATH)
  # Only for this run of CMake. The next one must bring the libraries up to date again.
  set(lowtide_found_DIR "${lowtide_DIR}")
  unset(lowtide_DIR CACHE)
  set(lowtide_DIR "${lowtide_found_DIR}")
endmacro()

lowtide_is_complete_build(lowtide_demo_is_built "${lowtide_root}build/release")
if(NOT lowtide_DIR AND DEFINED ENV{LOWTIDE_BUILD})
  lowtide_is_complete_build(lowtide_is_built "$ENV{LOWTIDE_BUILD}")
  if(NOT lowtide_is_built)
    message(FATAL_ERROR "LOWTIDE_BUILD names $ENV{LOWTIDE_BUILD}, which is not a build of ${lowtide_root} with "
                        "everything in static libraries. Build it, or unset LOWTIDE_BUILD.")
  endif()
  lowtide_use_build("$ENV{LOWTIDE_BUILD}")
endif()
if(NOT lowtide_DIR)
  # Only folders that the caller names, because a system folder may have a Lowtide that the caller does not know of.
  find_package(lowtide ${lowtide_version} EXACT QUIET CONFIG COMPONENTS onnx static NO_SYSTEM_ENVIRONMENT_PATH
               NO_CMAKE_PACKAGE_REGISTRY NO_CMAKE_SYSTEM_PATH NO_CMAKE_SYSTEM_PACKAGE_REGISTRY)
endif()
if(NOT lowtide_DIR AND lowtide_demo_is_built)
  lowtide_use_build("${lowtide_root}build/release")
endif()

set(lowtide_LICENSE_FOLDERS)
if(lowtide_DIR)
  find_package(lowtide CONFIG REQUIRED COMPONENTS onnx static)
  message(STATUS "Lowtide: links ${lowtide_DIR}, and compiles only the extension")
  cmake_path(SET lowtide_ONEDNN NORMALIZE "${lowtide_DIR}/../../lowtide/libdnnl.so.3")
  cmake_path(SET lowtide_LICENSE_FOLDERS NORMALIZE "${lowtide_DIR}/../../../share/doc/lowtide")
else()
  message(STATUS "Lowtide: compiles the library from ${lowtide_root}, which takes several minutes of CPU time. An "
                 "installed Lowtide in CMAKE_PREFIX_PATH or the build of scripts/demo would save this.")
  set(lowtide_DEVELOPER_MODE OFF)
  set(BUILD_SHARED_LIBS OFF)
  # The options of the preset `release`.
  set(lowtide_UNITY_BATCH 10)
  set(lowtide_PRECOMPILED_HEADERS OFF)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG -ffunction-sections -fdata-sections")
  add_subdirectory("${lowtide_root}" lowtide EXCLUDE_FROM_ALL)
  find_package(ONNX CONFIG REQUIRED)
  set(lowtide_ONNX_LICENSE "${ONNX_DIR}/../../../LICENSE")  # where scripts/build_onnx puts it
  if(lowtide_WITH_ONEDNN)
    find_package(dnnl CONFIG REQUIRED)
    set(lowtide_ONEDNN "$<TARGET_FILE:DNNL::dnnl>")
    list(APPEND lowtide_LICENSE_FOLDERS "${dnnl_DIR}/../../../share/doc/onednn")
  endif()
endif()
