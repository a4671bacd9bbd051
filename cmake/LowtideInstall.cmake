# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs headers, the program, and the library in one of two forms: `static`, an archive per room, or `shared`, one
# liblowtide.so. BUILD_SHARED_LIBS selects the form that `cmake --install` installs. The install components
# lowtide_static and lowtide_shared install either form from the same build.
include(CMakePackageConfigHelpers)
include(CheckLinkerFlag)

get_property(lowtide_rooms GLOBAL PROPERTY lowtide_INSTALLED_ROOMS)
get_property(lowtide_bundles_onnx GLOBAL PROPERTY lowtide_BUNDLES_ONNX)
set(lowtide_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/lowtide")
set(static COMPONENT lowtide_static)
set(shared COMPONENT lowtide_shared)
if(BUILD_SHARED_LIBS)
  list(APPEND static EXCLUDE_FROM_ALL)
else()
  list(APPEND shared EXCLUDE_FROM_ALL)
endif()

# Static: the packer's rooms have their own export, which needs no other package.
foreach(room IN LISTS lowtide_rooms)
  set(export lowtideTargets)
  if(room IN_LIST lowtide_PACKER_ROOMS)
    set(export lowtidePackTargets)
  endif()
  install(TARGETS lowtide_${room} EXPORT ${export} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${static}
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT lowtide_headers)
endforeach()
install(TARGETS lowtide_pack EXPORT lowtidePackTargets)
install(EXPORT lowtidePackTargets NAMESPACE lowtide:: DESTINATION "${lowtide_PACKAGE_DIR}" ${static})
if(NOT lowtide_PACKER_ONLY)
  install(TARGETS lowtide_lowtide EXPORT lowtideTargets)
  install(EXPORT lowtideTargets NAMESPACE lowtide:: DESTINATION "${lowtide_PACKAGE_DIR}" ${static})
endif()

# Shared: the objects of all rooms in one library, which exports the names of namespace lowtide and hides all others.
list(TRANSFORM lowtide_rooms REPLACE "(.+)" "$<TARGET_OBJECTS:lowtide_\\1>" OUTPUT_VARIABLE objects)
add_library(lowtide_shared SHARED ${objects})
list(TRANSFORM lowtide_rooms PREPEND lowtide:: OUTPUT_VARIABLE libraries)
target_link_libraries(lowtide_shared PRIVATE ${libraries})
target_include_directories(lowtide_shared INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_features(lowtide_shared INTERFACE cxx_std_20)
set_target_properties(lowtide_shared PROPERTIES
  OUTPUT_NAME lowtide EXPORT_NAME lowtide LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN/lowtide")
if(NOT BUILD_SHARED_LIBS AND NOT lowtide_DEVELOPER_MODE)
  set_target_properties(lowtide_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
set(script "${PROJECT_SOURCE_DIR}/cmake/lowtide.map")
check_linker_flag(CXX "-Wl,--version-script=${script}" lowtide_LINKER_HAS_VERSION_SCRIPTS)
if(lowtide_LINKER_HAS_VERSION_SCRIPTS)
  target_link_options(lowtide_shared PRIVATE "-Wl,--version-script=${script}")
  set_target_properties(lowtide_shared PROPERTIES LINK_DEPENDS "${script}")
endif()
install(TARGETS lowtide_shared EXPORT lowtideSharedTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${shared})
install(EXPORT lowtideSharedTargets NAMESPACE lowtide:: DESTINATION "${lowtide_PACKAGE_DIR}" ${shared})

configure_package_config_file(cmake/lowtideConfig.cmake.in "${PROJECT_BINARY_DIR}/lowtideConfig.cmake"
                              INSTALL_DESTINATION "${lowtide_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lowtideConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lowtideConfig.cmake" "${PROJECT_BINARY_DIR}/lowtideConfigVersion.cmake"
        DESTINATION "${lowtide_PACKAGE_DIR}" COMPONENT lowtide_headers)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT lowtide_headers)

# For build systems other than CMake. The prefix is relative to the file, so the installation can be moved.
# lowtide_add_pkg_config(<name> <form> LIBS <words...> [REQUIRES <packages...>])
function(lowtide_add_pkg_config name form)
  cmake_parse_arguments(PC "" "" "LIBS;REQUIRES" ${ARGN})
  file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  list(JOIN PC_LIBS " " libs)
  list(JOIN PC_REQUIRES " " requires)
  set(file "${PROJECT_BINARY_DIR}/pkgconfig/${form}/${name}.pc")
  configure_file(cmake/lowtide.pc.in "${file}" @ONLY)
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" ${${form}})
endfunction()

# A static linker reads from left to right, so the highest layer comes first.
set(links ${lowtide_rooms})
list(REVERSE links)
set(pack_links ${links})
list(TRANSFORM lowtide_OTHER_ROOMS REPLACE ".*/" "" OUTPUT_VARIABLE others)  # names without the folder of a house
list(REMOVE_ITEM pack_links ${others})
list(TRANSFORM links PREPEND -llowtide_)
list(TRANSFORM pack_links PREPEND -llowtide_)
lowtide_add_pkg_config(lowtide-pack static LIBS ${pack_links} -pthread)
lowtide_add_pkg_config(lowtide-pack shared LIBS -llowtide)
if(NOT lowtide_PACKER_ONLY)
  set(requires libcrypto)
  if(lowtide_WITH_ONNX)
    list(APPEND requires protobuf)
  endif()
  if(lowtide_bundles_onnx)
    list(APPEND links "\${libdir}/lowtide/liblowtide_onnx.a")
  endif()
  if(lowtide_WITH_ONEDNN)
    list(APPEND links "-Wl,-rpath,\${libdir}/lowtide" -lgomp -ldl)
  endif()
  lowtide_add_pkg_config(lowtide static LIBS ${links} -pthread REQUIRES ${requires})
  lowtide_add_pkg_config(lowtide shared LIBS -llowtide)
endif()
