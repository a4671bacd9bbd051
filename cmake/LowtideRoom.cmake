# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# Warnings are a matter of this project, never forced on those who use it.
function(lowtide_set_warnings target)
  if(NOT lowtide_DEVELOPER_MODE)
    return()
  endif()
  # -Wrestrict of g++ 12 is wrong about string concatenation; clang does not know it.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-missing-field-initializers
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Wno-sign-conversion)
  if(lowtide_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# lowtide_add_room(<room> SOURCES <cc...> HEADERS <public h...> [USES <rooms...>] [PRIVATE <libraries...>])
# One static library `lowtide_<room>` with alias `lowtide::<room>`; USES are the rooms it may include.
function(lowtide_add_room room)
  cmake_parse_arguments(ROOM "" "" "SOURCES;HEADERS;USES;PRIVATE" ${ARGN})
  set(target lowtide_${room})
  add_library(${target} STATIC ${ROOM_SOURCES})
  add_library(lowtide::${room} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${ROOM_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${room} CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  foreach(used IN LISTS ROOM_USES)
    target_link_libraries(${target} PUBLIC lowtide::${used})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ROOM_PRIVATE})
  lowtide_set_warnings(${target})
  install(TARGETS ${target} EXPORT lowtideTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endfunction()

# lowtide_add_tests(<room> SOURCES <cc...> [USES <libraries...>]): one GoogleTest program a room, `<room>_tests`.
function(lowtide_add_tests room)
  cmake_parse_arguments(TESTS "" "" "SOURCES;USES" ${ARGN})
  set(target ${room}_tests)
  add_executable(${target} ${TESTS_SOURCES})
  target_link_libraries(${target} PRIVATE ${TESTS_USES} GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE LOWTIDE_TEST_FILES="${PROJECT_SOURCE_DIR}/tests/files")
  lowtide_set_warnings(${target})
  gtest_discover_tests(${target} TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 60)
endfunction()
