// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "lowtide/tflite/micro/tail.h"

// Words for the arena that TensorFlow Lite Micro needs.
namespace lowtide::cli_internal {

// Names of operators, for messages.
[[nodiscard]] std::vector<std::string> quoted_names(const std::vector<std::string>& operators);

// "on a Cortex-M (pointers of 4 bytes)".
[[nodiscard]] std::string where_it_runs(MicroBuild build);

}  // namespace lowtide::cli_internal
