// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace lowtide::cli_internal {

// Runs a command line, whose words do not include the program's name. Returns the exit code.
[[nodiscard]] int run(const std::vector<std::string>& words) noexcept;

}  // namespace lowtide::cli_internal
