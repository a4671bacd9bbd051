# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0

# Warnings apply to this project only, never to the projects that use it.
function(lowtide_set_warnings target)
  if(NOT lowtide_DEVELOPER_MODE)
    return()
  endif()
  # -Wrestrict of g++ 12 gives false warnings about string concatenation. clang does not have it.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-missing-field-initializers
                                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Wno-sign-conversion)
  if(lowtide_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# The headers of the standard library that most files include.
set(lowtide_COMMON_HEADERS <algorithm> <array> <bit> <cmath> <cstdint> <functional> <limits> <map> <memory> <numeric>
    <optional> <set> <span> <string> <string_view> <tuple> <utility> <vector>)

# lowtide_precompile(<target> OWNER <target> [HEADERS <header...>])
# Precompiles the common headers and HEADERS. Targets with the same OWNER share what the owner compiles, so an owner
# comes first and the others have no HEADERS. Owner and user need the same compiler flags, except
# for the level of optimisation. Headers of this project are
# given as <lowtide/...>, because a path would name the checkout, and two checkouts could not share the compiler cache.
function(lowtide_precompile target)
  cmake_parse_arguments(PRECOMPILE "" "OWNER" "HEADERS" ${ARGN})
  if(NOT lowtide_PRECOMPILED_HEADERS)
    return()
  endif()
  if(target STREQUAL PRECOMPILE_OWNER)
    target_precompile_headers(${target} PRIVATE ${lowtide_COMMON_HEADERS} ${PRECOMPILE_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM ${PRECOMPILE_OWNER})
  endif()
  # With precompiled headers, g++ gives false warnings about std::string. Builds without them keep these warnings.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-free-nonheap-object>)
endfunction()

# For tests and for code that runs for milliseconds, in builds that optimise at all.
set(lowtide_LESS_OPTIMISED $<$<CONFIG:Release,RelWithDebInfo>:-O1>)

# lowtide_add_room(<room> SOURCES <cc...> HEADERS <public h...> [USES <rooms...>] [PRIVATE <libraries...>]
#                  [PRECOMPILE <headers...>] [BATCH <files>] [COLD] [INTERNAL])
# One static library `lowtide_<room>` with alias `lowtide::<room>`; USES are the rooms it may include. PRECOMPILE names
# expensive headers that most files of this room include. BATCH is how many files are compiled together, if not the
# usual number. A COLD room takes little of the time of a plan or of a run: it is optimised less, which takes a quarter
# of its compile time away. An INTERNAL room is not installed.
function(lowtide_add_room room)
  cmake_parse_arguments(ROOM "COLD;INTERNAL" "BATCH" "SOURCES;HEADERS;USES;PRIVATE;PRECOMPILE" ${ARGN})
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
  if(ROOM_PRECOMPILE)
    lowtide_precompile(${target} OWNER ${target} HEADERS ${ROOM_PRECOMPILE})
  else()
    lowtide_precompile(${target} OWNER lowtide_base)
  endif()
  lowtide_unite_sources(${target} BATCH "${ROOM_BATCH}")
  if(ROOM_COLD)
    target_compile_options(${target} PRIVATE ${lowtide_LESS_OPTIMISED})
  endif()
  if(NOT ROOM_INTERNAL)
    set_property(GLOBAL APPEND PROPERTY lowtide_INSTALLED_ROOMS ${room})
  endif()
endfunction()

# lowtide_link_onnx(<target of a room>): links onnx privately. A static onnx is installed with the package, but a shared
# one must be installed by its users.
function(lowtide_link_onnx target)
  get_target_property(type ONNX::onnx TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set(installed "$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/lowtide/liblowtide_onnx.a")
    get_property(is_bundled GLOBAL PROPERTY lowtide_BUNDLES_ONNX)
    if(NOT is_bundled)
      set_property(GLOBAL PROPERTY lowtide_BUNDLES_ONNX ON)
      set(exclude)
      if(BUILD_SHARED_LIBS)
        set(exclude EXCLUDE_FROM_ALL)
      endif()
      install(FILES "$<TARGET_FILE:ONNX::onnx>" RENAME liblowtide_onnx.a DESTINATION "${CMAKE_INSTALL_LIBDIR}/lowtide"
              COMPONENT lowtide_static ${exclude})
      # The shared library contains onnx, too. scripts/build_onnx puts the licence into the root of its prefix.
      install(FILES "${ONNX_DIR}/../../../LICENSE" RENAME LICENSE-onnx DESTINATION "${CMAKE_INSTALL_DOCDIR}"
              COMPONENT lowtide_headers OPTIONAL)
    endif()
  else()
    set(installed ONNX::onnx)
  endif()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ONNX::onnx> "$<INSTALL_INTERFACE:${installed}>"
                                          protobuf::libprotobuf)
endfunction()

# lowtide_use_onednn(<target of a room>): the room includes the headers of oneDNN and loads its library when a model
# runs. The package contains the library, because no distribution has this version. libgomp belongs to the system.
function(lowtide_use_onednn target)
  set(folder "${CMAKE_INSTALL_LIBDIR}/lowtide")
  foreach(form static shared)
    set(exclude)
    if(BUILD_SHARED_LIBS AND form STREQUAL static OR NOT BUILD_SHARED_LIBS AND form STREQUAL shared)
      set(exclude EXCLUDE_FROM_ALL)
    endif()
    install(FILES "$<TARGET_FILE:DNNL::dnnl>" RENAME libdnnl.so.3 DESTINATION "${folder}"
            COMPONENT lowtide_${form} ${exclude})
  endforeach()
  foreach(text LICENSE THIRD-PARTY-PROGRAMS)
    install(FILES "${dnnl_DIR}/../../../share/doc/onednn/${text}" RENAME ${text}-onednn
            DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT lowtide_headers OPTIONAL)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE $<TARGET_PROPERTY:DNNL::dnnl,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${target} PRIVATE gomp ${CMAKE_DL_LIBS})
  # Programs that are linked with the installed static libraries find the library there.
  target_link_options(${target} INTERFACE "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${folder}>")
endfunction()

# lowtide_add_tests(<room> SOURCES <cc...> [USES <libraries...>] [PRECOMPILE <headers...>] [BATCH <files>])
# One GoogleTest program per room, `<room>_tests`. PRECOMPILE and BATCH as for a room.
function(lowtide_add_tests room)
  cmake_parse_arguments(TESTS "" "BATCH" "SOURCES;USES;PRECOMPILE" ${ARGN})
  set(target ${room}_tests)
  add_executable(${target} ${TESTS_SOURCES})
  target_link_libraries(${target} PRIVATE ${TESTS_USES} GTest::gmock GTest::gtest_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_definitions(${target} PRIVATE LOWTIDE_TEST_FILES="${PROJECT_SOURCE_DIR}/tests/files")
  target_compile_options(${target} PRIVATE ${lowtide_LESS_OPTIMISED})
  lowtide_set_warnings(${target})
  if(TESTS_PRECOMPILE)
    lowtide_precompile(${target} OWNER ${target} HEADERS <gmock/gmock.h> <gtest/gtest.h> ${TESTS_PRECOMPILE})
  else()
    lowtide_precompile(${target} OWNER lowtide_test_headers)
  endif()
  lowtide_unite_sources(${target} BATCH "${TESTS_BATCH}")
  gtest_discover_tests(${target} TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 60)
endfunction()
