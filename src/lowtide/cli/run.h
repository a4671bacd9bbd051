// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

namespace lowtide::cli_internal {

// The command line without the program's name. Returns the exit code; nothing is thrown.
[[nodiscard]] int run(const std::vector<std::string>& words) noexcept;

}  // namespace lowtide::cli_internal
