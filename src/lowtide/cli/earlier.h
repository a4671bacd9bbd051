// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lowtide/import/imported.h"

// What the program has for earlier systems. Two files define these functions: commands/earlier/part.cc, and
// without_earlier.cc for a build that leaves the earlier systems out (lowtide_WITH_EARLIER=OFF).
namespace lowtide::cli_internal {

struct CommandSpec;

// In the order of the help.
[[nodiscard]] std::vector<CommandSpec> earlier_commands();

// The formats of models beside ONNX. Without any, the commands have no options for them.
[[nodiscard]] std::span<const ModelFormat> earlier_model_formats();

// The names of the commands that this build does not have.
[[nodiscard]] std::vector<std::string_view> left_out_earlier_commands();

}  // namespace lowtide::cli_internal
