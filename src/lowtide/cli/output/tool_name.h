// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace lowtide::cli_internal {

// "lowtide 0.1.0"
[[nodiscard]] std::string tool_name();

}  // namespace lowtide::cli_internal
