# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(lowtide_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/lowtide")
configure_package_config_file(cmake/lowtideConfig.cmake.in "${PROJECT_BINARY_DIR}/lowtideConfig.cmake"
                              INSTALL_DESTINATION "${lowtide_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lowtideConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(EXPORT lowtideTargets NAMESPACE lowtide:: DESTINATION "${lowtide_PACKAGE_DIR}")
install(FILES "${PROJECT_BINARY_DIR}/lowtideConfig.cmake" "${PROJECT_BINARY_DIR}/lowtideConfigVersion.cmake"
        DESTINATION "${lowtide_PACKAGE_DIR}")
